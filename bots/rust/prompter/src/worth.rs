//! What a position is worth without looking ahead: the judgement of `planner`, and more, by numbers that were tuned.

use crate::rules::{Card, Rules, KINDS, NONE, WILD};
use crate::table::{Pile, Table};

pub const WIN: i32 = 100_000;
/// A pay-off card played: the measure of all others.
pub const PAYOFF: i32 = 800;
/// By the number of cards missing below a pay-off card.
const NEAR: usize = 4;

/// What lines are judged by. `prompter tuning` finds the numbers, and weights.rs holds them.
#[derive(Clone, Debug)]
pub struct Worths {
    pub empty_hand: i32,
    pub card_left: i32,
    pub wild_left: i32,
    /// By the number of cards missing below the own pay-off card, and below that of an opponent.
    pub near: [i32; NEAR],
    pub danger: [i32; NEAR],
    /// How much the dangers of the other stacks count beside the greatest, in per cent.
    pub danger_rest: i32,
    /// For each rank on an open stack that a side stack of an opponent can follow.
    pub gift: i32,
    /// Discards: of a wild card; for each rank of the card; of a card that lies so far below the own pay-off card; of a
    /// card of which another stays in the hand.
    pub wild_thrown: i32,
    pub high_first: i32,
    pub thrown_below: [i32; 4],
    pub thrown_double: i32,
    /// What it costs that a card lies on an equal one, a wild card on another, another on a wild card; a lower one on a
    /// higher one, and for each rank between; a higher one on a lower one, and for each rank.
    pub equal: i32,
    pub under_wild: i32,
    pub wild_buried: i32,
    pub lower: [i32; 2],
    pub higher: [i32; 2],
}

impl Worths {
    /// All of them, to be tuned.
    pub fn list_numbers(&mut self) -> Vec<&mut i32> {
        let Worths { empty_hand, card_left, wild_left, near, danger, danger_rest, gift, .. } = self;
        let Worths { wild_thrown, high_first, thrown_below, thrown_double, .. } = self;
        let Worths { equal, under_wild, wild_buried, lower, higher, .. } = self;
        let alone = [empty_hand, card_left, wild_left, danger_rest, gift, wild_thrown, high_first, thrown_double];
        let burials = [equal, under_wild, wild_buried];
        let lists = near.iter_mut().chain(danger).chain(thrown_below).chain(lower).chain(higher);
        alone.into_iter().chain(burials).chain(lists).collect()
    }

    /// What it costs to have one card lie on another, by the lower one.
    pub fn list_burials(&self) -> [[i32; KINDS]; KINDS] {
        std::array::from_fn(|below| std::array::from_fn(|above| self.cost_burial(below as i32, above as i32)))
    }

    fn cost_burial(&self, below: i32, above: i32) -> i32 {
        if below == i32::from(NONE) || above == below - 1 {
            0
        } else if above == below {
            self.equal
        } else if below == i32::from(WILD) {
            self.wild_buried
        } else if above == i32::from(WILD) {
            self.under_wild
        } else if above < below {
            self.lower[0] + self.lower[1] * (below - above - 1)
        } else {
            self.higher[0] + self.higher[1] * (above - below)
        }
    }

    /// What it is worth to lack so many cards below one's pay-off card, with some wild cards.
    pub fn nearness(&self, missing: u32, wilds: u32) -> i32 {
        self.near.get(missing.saturating_sub(wilds) as usize).copied().unwrap_or(0)
    }
}

/// What the burials in a side stack cost.
pub fn clutter(rules: &Rules, cards: &[Card]) -> i32 {
    cards.windows(2).map(|pair| rules.burials[pair[0] as usize][pair[1] as usize]).sum()
}

/// What a discard is worth on a stack with this top, whatever the pay-off card.
pub fn discard(rules: &Rules, card: Card, top: Card) -> i32 {
    let worths = &rules.worths;
    let own = if card == WILD { worths.wild_thrown } else { worths.high_first * i32::from(card) };
    own - rules.burials[top as usize][card as usize]
}

/// What it costs to leave a stack of this height to the opponents.
pub fn danger(rules: &Rules, table: &Table, height: usize) -> i32 {
    let opponents = rules.opponents(table.seat).map(|seat| &table.seats[seat]);
    let playing = opponents.filter(|seat| !seat.out && seat.left > 0 && seat.top != NONE);
    let lacks = playing.map(|seat| count_lacks(rules, height, seat.top, &seat.sides[..rules.side_count])).min();
    lacks.and_then(|lacks| rules.worths.danger.get(lacks).copied()).unwrap_or(0)
}

/// Counts the cards that a seat needs from its hand until its pay-off card fits on a stack.
fn count_lacks(rules: &Rules, height: usize, payoff: Card, sides: &[Pile]) -> usize {
    let mut taken = [0; crate::rules::PILES];
    let (mut lacks, mut at) = (0, height);
    for _ in 0..rules.top {
        if rules.fits(payoff, at) {
            break;
        }
        let wanted = [(at + 1) as Card, if rules.wild_fits(at) { WILD } else { NONE }];
        let found = wanted
            .iter()
            .filter(|&&card| card != NONE)
            .find_map(|&card| (0..sides.len()).find(|&index| sides[index].below(taken[index]) == card));
        match found {
            Some(index) => taken[index] += 1,
            None => lacks += 1,
        }
        at = (at + 1) % rules.top;
    }
    lacks
}
