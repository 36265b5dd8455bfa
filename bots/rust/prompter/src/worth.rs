//! What a position is worth without looking ahead, in hundredths of a card or so: the judgement of `planner`.

use crate::rules::{Card, Rules, KINDS, NONE, WILD};
use crate::table::{Pile, Table};

pub const PAYOFF: i32 = 800;
pub const WIN: i32 = 100_000;
pub const EMPTY_HAND: i32 = 400;
pub const CARD_LEFT: i32 = -50;
pub const WILD_LEFT: i32 = 250;
const WILD_THROWN: i32 = -300;
const HIGH_FIRST: i32 = 3;
/// By the number of cards missing below the own pay-off card, and below that of an opponent.
const NEAR: [i32; 4] = [300, 200, 100, 40];
const DANGER: [i32; 4] = [600, 300, 120, 50];

static BURIAL: [[i32; KINDS]; KINDS] = list_burials();

const fn list_burials() -> [[i32; KINDS]; KINDS] {
    let mut costs = [[0; KINDS]; KINDS];
    let mut below = 0;
    while below < KINDS {
        let mut above = 0;
        while above < KINDS {
            costs[below][above] = cost_burial(below as i32, above as i32);
            above += 1;
        }
        below += 1;
    }
    costs
}

const fn cost_burial(below: i32, above: i32) -> i32 {
    if below == NONE as i32 || above == below || above == below - 1 {
        0
    } else if below == WILD as i32 {
        200
    } else if above == WILD as i32 {
        25
    } else if above < below {
        25 + 12 * (below - above - 1)
    } else {
        80 + 6 * (above - below)
    }
}

/// What it costs to have one card lie on another.
pub fn burial(below: Card, above: Card) -> i32 {
    BURIAL[below as usize][above as usize]
}

/// What the burials in a side stack cost, as if only its lowest `size` cards were there.
pub fn clutter(cards: &[Card], size: usize) -> i32 {
    cards[..size].windows(2).map(|pair| burial(pair[0], pair[1])).sum()
}

/// What a discard is worth on a stack with this top.
pub fn discard(card: Card, top: Card) -> i32 {
    (if card == WILD { WILD_THROWN } else { HIGH_FIRST * i32::from(card) }) - burial(top, card)
}

/// What it is worth to lack so many cards below one's pay-off card, with some wild cards.
pub fn nearness(missing: u32, wilds: u32) -> i32 {
    NEAR.get(missing.saturating_sub(wilds) as usize).copied().unwrap_or(0)
}

/// What it costs to leave a stack of this height to the opponents.
pub fn danger(rules: &Rules, table: &Table, height: usize) -> i32 {
    let opponents = rules.opponents(table.seat).map(|seat| &table.seats[seat]);
    let playing = opponents.filter(|seat| !seat.out && seat.left > 0 && seat.top != NONE);
    let lacks = playing.map(|seat| count_lacks(rules, height, seat.top, &seat.sides[..rules.side_count])).min();
    lacks.and_then(|lacks| DANGER.get(lacks).copied()).unwrap_or(0)
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
