//! What is seen: events, and the table as a seat sees it.

use crate::cards::{Card, Pile};
use crate::parameters::{name_rank, Derived, PayoffCount, SideVisible};
use crate::state::State;

/// A pile, named absolutely: `0h 0p 0s2 c1 stock aside`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PileName {
    Hand(usize),
    Payoff(usize),
    Side(usize, usize),
    Centre(usize),
    Stock,
    Aside,
}

impl std::fmt::Display for PileName {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            PileName::Hand(seat) => write!(out, "{seat}h"),
            PileName::Payoff(seat) => write!(out, "{seat}p"),
            PileName::Side(seat, index) => write!(out, "{seat}s{index}"),
            PileName::Centre(slot) => write!(out, "c{slot}"),
            PileName::Stock => out.write_str("stock"),
            PileName::Aside => out.write_str("aside"),
        }
    }
}

/// What happened at the table, unmasked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    Deal { hands: Vec<Pile>, payoffs: Vec<usize>, sides: Vec<Vec<Pile>>, stock: usize },
    Turn { seat: usize },
    Move { seat: usize, source: PileName, target: PileName, card: Card },
    Flip { seat: usize, card: Card },
    Draw { seat: usize, cards: Pile },
    Shuffle { source: PileName, target: PileName, count: usize },
    Count { seat: usize, left: Option<Vec<usize>> },
    Pass { seat: usize },
}

/// Takes what happens; somebody who only counts wins does not, and saves the time.
pub trait Audience {
    fn hear(&mut self, event: impl FnOnce() -> Event);
}

impl Audience for Vec<Event> {
    fn hear(&mut self, event: impl FnOnce() -> Event) {
        self.push(event());
    }
}

/// Nobody listens.
pub struct Silence;

impl Audience for Silence {
    fn hear(&mut self, _: impl FnOnce() -> Event) {}
}

/// The table as a seat sees it.
pub struct View<'a> {
    pub state: &'a State,
    pub seat: usize,
    /// Whether the counts of pay-off cards are seen.
    pub counts: bool,
    /// Whether only the tops of side stacks are seen.
    pub squared: bool,
}

impl View<'_> {
    /// The view of a seat, or of a spectator, who sees the hand of the seat to act and all that was once face up.
    pub fn new<'a>(derived: &Derived, state: &'a State, seat: Option<usize>) -> View<'a> {
        let counts = seat.is_none_or(|seat| match derived.rules.payoff_count {
            PayoffCount::Public => true,
            PayoffCount::OnRequest => state.announced,
            PayoffCount::OnRequestOwn => state.counted && state.seat == seat,
        });
        let squared = seat.is_some() && derived.rules.side_visible == SideVisible::Top;
        View { state, seat: seat.unwrap_or(state.seat), counts, squared }
    }

    /// How many cards of a side stack are hidden, from the bottom.
    pub fn count_hidden(&self, pile: &[Card]) -> usize {
        if self.squared {
            pile.len().saturating_sub(1)
        } else {
            0
        }
    }

    /// The rank that fits next on a stack of this height.
    pub fn needs(height: usize) -> char {
        name_rank(height)
    }
}

/// Stands for a card hidden from the reader.
pub const HIDDEN: &str = "??";
