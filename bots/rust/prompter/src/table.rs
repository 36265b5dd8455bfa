//! A position with every card in its place, and what plays, discards and passes do to it.
//!
//! It leaves out what a search of a few turns can do without: suits and loading, the order of completed stacks, the
//! limits on the length of a game. The referee's list of legal actions has the last word on what is played.

use crate::chance::Chance;
use crate::rules::{Card, Rules, StockOut, KINDS, NONE, PILES, SEATS, WILD};

/// Of a side stack that is higher, the lowest cards are forgotten.
pub const DEPTH: usize = 24;
pub const HEIGHTS: usize = 14;

#[derive(Clone, Copy)]
pub struct Pile {
    cards: [Card; DEPTH],
    size: u8,
}

impl Pile {
    pub const EMPTY: Pile = Pile { cards: [NONE; DEPTH], size: 0 };

    pub fn cards(&self) -> &[Card] {
        &self.cards[..self.size as usize]
    }

    pub fn cards_mut(&mut self) -> &mut [Card] {
        &mut self.cards[..self.size as usize]
    }

    pub fn is_empty(&self) -> bool {
        self.size == 0
    }

    /// The top card, `NONE` where there is none.
    pub fn top(&self) -> Card {
        self.below(0)
    }

    /// The card under `depth` others.
    pub fn below(&self, depth: usize) -> Card {
        match (self.size as usize).checked_sub(depth + 1) {
            Some(place) => self.cards[place],
            None => NONE,
        }
    }

    pub fn push(&mut self, card: Card) {
        if self.size as usize == DEPTH {
            self.cards.copy_within(1.., 0);
            self.size -= 1;
        }
        self.cards[self.size as usize] = card;
        self.size += 1;
    }

    pub fn pop(&mut self) -> Card {
        let card = self.top();
        self.size = self.size.saturating_sub(1);
        card
    }

    /// Whether a side stack in descending order takes a card; a wild card keeps every rank that it may stand for.
    pub fn accepts(&self, rules: &Rules, card: Card) -> bool {
        if !rules.descending || self.is_empty() {
            return true;
        }
        let wilds = rules.wild_fits << 1;
        let naturals = self.cards().iter().rposition(|&card| card != WILD);
        let mut following = naturals.map_or(u16::MAX, |place| 0b11 << self.cards[place] >> 1);
        for _ in naturals.map_or(0, |place| place + 1)..self.size as usize {
            let top = if following & wilds == 0 { wilds } else { following & wilds };
            following = top | top >> 1;
        }
        following & if card == WILD { wilds } else { 1 << card } != 0
    }
}

/// The ranks that come off the top of a side stack one after another, each one higher than the last, as bits.
pub fn list_run(cards: &[Card]) -> u16 {
    let pairs = cards.iter().rev().zip(cards.iter().rev().skip(1));
    let follows = pairs.take_while(|(&card, &next)| next == card + 1 && next != WILD);
    follows.fold(cards.last().map_or(0, |&top| 1 << top), |run, (_, &next)| run | 1 << next)
}

/// The places where a count is not 0, as bits.
pub fn list_present(counts: &[u8]) -> u16 {
    counts.iter().enumerate().fold(0, |bits, (place, &count)| bits | u16::from(count > 0) << place)
}

#[derive(Clone)]
pub struct Seat {
    /// How many of each card are in the hand, and how many in all.
    pub hand: [u8; KINDS],
    pub held: u8,
    /// Cards in the pay-off pile, and its top.
    pub left: u8,
    pub top: Card,
    pub sides: [Pile; PILES],
    pub out: bool,
    /// The cards that it could have played when its last turn ended, as bits: it hardly holds them.
    pub unplayed: u16,
}

/// How a game ended, as far as a search goes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Ending {
    Won(usize),
    StockOut,
    Stalemate,
    /// A new deal follows, beyond which nothing is known.
    Redeal,
}

/// Where a card comes from; seats are counted as at the table.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Source {
    Payoff(u8),
    Hand(Card),
    Side(u8, u8),
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Step {
    /// A card onto a centre stack of this height.
    Play(Source, u8),
    /// A card of the hand onto a side stack.
    Discard(Card, u8),
    Pass,
}

/// The cards that nobody has seen yet, in the order in which they come: each pile runs bottom to top.
#[derive(Clone, Default)]
pub struct World {
    pub payoffs: [Vec<Card>; SEATS],
    pub stock: Vec<Card>,
}

#[derive(Clone)]
pub struct Table {
    pub seats: [Seat; SEATS],
    /// How many centre stacks there are of each height; which is which does not matter.
    pub heights: [u8; HEIGHTS],
    pub centre_cards: u16,
    pub centre_wilds: u16,
    /// Whose turn it is.
    pub seat: usize,
    pub turns: u16,
    /// Cards of the world's stock that are still there, and cards that came back from the centre, which lie under them.
    pub stock: u16,
    pub recycled: [u8; KINDS],
    pub recycled_count: u16,
    pub moved: bool,
    pub filling: bool,
    pub passes: u8,
    pub ending: Option<Ending>,
    pub chance: Chance,
}

impl Table {
    /// A table without cards.
    pub fn bare(rules: &Rules) -> Table {
        let sides = [Pile::EMPTY; PILES];
        let seat = Seat { hand: [0; KINDS], held: 0, left: 0, top: NONE, sides, out: false, unplayed: 0 };
        let mut heights = [0; HEIGHTS];
        heights[0] = rules.slots.unwrap_or(1) as u8;
        Table {
            seats: std::array::from_fn(|_| seat.clone()),
            heights,
            centre_cards: 0,
            centre_wilds: 0,
            seat: 0,
            turns: 0,
            stock: 0,
            recycled: [0; KINDS],
            recycled_count: 0,
            moved: false,
            filling: false,
            passes: 0,
            ending: None,
            chance: Chance(0),
        }
    }

    pub fn own(&self) -> &Seat {
        &self.seats[self.seat]
    }

    /// Cards that can still be drawn.
    pub fn supply(&self) -> usize {
        (self.stock + self.recycled_count) as usize
    }

    pub fn take_step(&mut self, rules: &Rules, world: &World, step: Step) {
        match step {
            Step::Play(source, height) => self.play(rules, world, source, height as usize),
            Step::Discard(card, side) => self.discard(rules, world, card, side as usize),
            Step::Pass => self.pass(rules, world),
        }
    }

    /// Puts a card onto a centre stack of this height, turns up and draws what follows.
    pub fn play(&mut self, rules: &Rules, world: &World, source: Source, height: usize) {
        let card = self.take(world, source);
        self.moved = true;
        self.passes = 0;
        self.centre_cards += 1;
        self.centre_wilds += u16::from(card == WILD);
        self.raise(rules, height);
        let team = rules.teams[self.seat];
        if rules.allies(self.seat).all(|ally| self.seats[ally].left == 0) {
            self.ending = Some(Ending::Won(team));
        } else if self.own().held == 0 {
            self.refill(rules, world);
        }
    }

    fn take(&mut self, world: &World, source: Source) -> Card {
        match source {
            Source::Hand(card) => {
                self.take_from_hand(card);
                card
            }
            Source::Payoff(seat) => {
                let owner = &mut self.seats[seat as usize];
                let card = owner.top;
                owner.left = owner.left.saturating_sub(1);
                let next = (owner.left as usize).checked_sub(1);
                owner.top = next.and_then(|place| world.payoffs[seat as usize].get(place)).copied().unwrap_or(NONE);
                card
            }
            Source::Side(seat, index) => self.seats[seat as usize].sides[index as usize].pop(),
        }
    }

    fn take_from_hand(&mut self, card: Card) {
        let own = &mut self.seats[self.seat];
        own.hand[card as usize] = own.hand[card as usize].saturating_sub(1);
        own.held = own.held.saturating_sub(1);
    }

    fn raise(&mut self, rules: &Rules, height: usize) {
        self.heights[height] = self.heights[height].saturating_sub(1);
        if height + 1 == rules.top {
            self.heights[0] += 1;
            self.recycle(rules);
        } else {
            self.heights[height + 1] += 1;
        }
        if rules.slots.is_none() {
            self.heights[0] = 1;
        }
    }

    /// Gives the cards of a completed stack back: one of each rank, but for its share of the wild cards.
    fn recycle(&mut self, rules: &Rules) {
        let top = rules.top as u16;
        let wilds = (self.centre_wilds * top + self.centre_cards / 2) / self.centre_cards.max(1);
        let wilds = wilds.min(top);
        self.centre_wilds -= wilds.min(self.centre_wilds);
        self.centre_cards -= top.min(self.centre_cards);
        for rank in 1..=rules.top {
            self.recycled[rank] += 1;
        }
        for _ in 0..wilds {
            let rank = 1 + self.chance.below(rules.top);
            if self.recycled[rank] > 0 {
                self.recycled[rank] -= 1;
                self.recycled[WILD as usize] += 1;
            }
        }
        self.recycled_count += top;
    }

    /// Fills the hand of the seat to act; a stock that is too short may end the game.
    fn refill(&mut self, rules: &Rules, world: &World) {
        let held = self.own().held as usize;
        let needed = rules.hand_size.saturating_sub(held);
        let supply = self.supply();
        let short = match rules.stock_out {
            StockOut::Need => supply < needed,
            StockOut::Empty => supply == 0 && needed > 0,
            StockOut::PlayOn => false,
        };
        if short {
            self.ending = Some(Ending::StockOut);
            return;
        }
        for _ in 0..needed.min(supply) {
            let card = self.draw(world);
            let own = &mut self.seats[self.seat];
            own.hand[card as usize] += 1;
            own.held += 1;
        }
    }

    fn draw(&mut self, world: &World) -> Card {
        if self.stock > 0 {
            self.stock -= 1;
            return world.stock.get(self.stock as usize).copied().unwrap_or(1);
        }
        let mut place = self.chance.below(self.recycled_count as usize) as u16;
        self.recycled_count -= 1;
        for card in 1..KINDS {
            let count = u16::from(self.recycled[card]);
            if place < count {
                self.recycled[card] -= 1;
                return card as Card;
            }
            place -= count;
        }
        1
    }

    /// Discards, which ends the turn, or fills an empty side stack where that comes first.
    pub fn discard(&mut self, rules: &Rules, world: &World, card: Card, side: usize) {
        self.take_from_hand(card);
        self.moved = true;
        self.passes = 0;
        let pile = &mut self.seats[self.seat].sides[side];
        let filled = rules.fills && pile.is_empty();
        pile.push(card);
        if !filled {
            self.end_turn(rules, world);
        } else if self.own().held == 0 {
            self.begin_turn(rules, world, self.seat);
        } else {
            self.filling = true;
        }
    }

    pub fn pass(&mut self, rules: &Rules, world: &World) {
        if !self.moved {
            self.passes += 1;
            let playing = self.seats[..rules.seats].iter().filter(|seat| !seat.out).count();
            if self.passes as usize >= playing {
                self.ending = Some(if rules.stalemate_ends { Ending::Stalemate } else { Ending::Redeal });
                return;
            }
        }
        self.end_turn(rules, world);
    }

    fn end_turn(&mut self, rules: &Rules, world: &World) {
        self.seats[self.seat].unplayed = list_present(&self.heights[..rules.top]) << 1;
        if rules.refill_at_end {
            self.refill(rules, world);
            if self.ending.is_some() {
                return;
            }
        }
        let mut next = (self.seat + 1) % rules.seats;
        while self.seats[next].out && next != self.seat {
            next = (next + 1) % rules.seats;
        }
        self.begin_turn(rules, world, next);
    }

    pub fn begin_turn(&mut self, rules: &Rules, world: &World, seat: usize) {
        self.seat = seat;
        self.turns += 1;
        self.moved = false;
        self.filling = false;
        if !rules.refill_at_end || self.own().held == 0 {
            self.refill(rules, world);
        }
    }
}

/// The side stacks that a discard of this card may go to: of several empty ones the first.
pub fn list_discards<'a>(rules: &'a Rules, sides: &'a [Pile], card: Card) -> impl Iterator<Item = usize> + 'a {
    let first_empty = sides.iter().position(Pile::is_empty);
    let only = if rules.fills { first_empty } else { None };
    (0..sides.len()).filter(move |&index| match only {
        Some(empty) => index == empty,
        None if sides[index].is_empty() => Some(index) == first_empty,
        None => sides[index].accepts(rules, card),
    })
}
