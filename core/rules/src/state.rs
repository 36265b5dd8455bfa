//! A position, from the first shuffle to the result.

use serde::{Deserialize, Serialize};

use crate::cards::Pile;
use crate::parameters::Derived;

/// What the position waits for: a shuffle of some pile, a seat's action, or nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    Payoffs,
    Deal,
    Tie,
    TieTogether,
    Lot,
    Recycle,
    Refill,
    RefillLast,
    Redeal,
    Turn,
    Over,
}

impl Phase {
    pub fn word(self) -> &'static str {
        match self {
            Phase::Payoffs => "payoffs",
            Phase::Deal => "deal",
            Phase::Tie => "tie",
            Phase::TieTogether => "tie_together",
            Phase::Lot => "lot",
            Phase::Recycle => "recycle",
            Phase::Refill => "refill",
            Phase::RefillLast => "refill_last",
            Phase::Redeal => "redeal",
            Phase::Turn => "turn",
            Phase::Over => "over",
        }
    }
}

/// Why a game is over.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    PayoffEmpty,
    StockOut,
    Stalemate,
    MaxTurns,
    NoProgress,
    Forfeit,
}

impl Reason {
    pub fn word(self) -> &'static str {
        match self {
            Reason::PayoffEmpty => "payoff_empty",
            Reason::StockOut => "stock_out",
            Reason::Stalemate => "stalemate",
            Reason::MaxTurns => "max_turns",
            Reason::NoProgress => "no_progress",
            Reason::Forfeit => "forfeit",
        }
    }
}

/// How a game ended, by seat.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    pub places: Vec<usize>,
    pub scores: Vec<i64>,
    pub reason: Reason,
    /// This family counts none.
    pub figures: [(); 0],
}

/// All cards and counters, as JSON the same as in Python; every pile runs bottom to top.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    pub phase: Phase,
    pub seat: usize,
    pub turn: i64,
    pub quiet: i64,
    pub hands: Vec<Pile>,
    pub payoffs: Vec<Pile>,
    pub sides: Vec<Vec<Pile>>,
    pub centre: Vec<Pile>,
    pub heights: Vec<usize>,
    pub stock: Pile,
    pub mixing: Pile,
    pub aside: Pile,
    pub out: Vec<usize>,
    pub tied: Vec<usize>,
    pub waiting: Vec<usize>,
    pub ties: i64,
    pub moved: bool,
    pub filling: bool,
    pub counted: bool,
    pub announced: bool,
    pub passed: Vec<usize>,
    pub pressed: bool,
    pub redeals: i64,
    pub result: Option<Outcome>,
}

impl State {
    /// The position before the first shuffle.
    pub fn start(derived: &Derived) -> State {
        let slots = derived.centre_slots.unwrap_or(0);
        let separate = !derived.payoff_pack.is_empty();
        State {
            phase: if separate { Phase::Payoffs } else { Phase::Deal },
            seat: 0,
            turn: 0,
            quiet: 0,
            hands: vec![Pile::new(); derived.seats],
            payoffs: vec![Pile::new(); derived.seats],
            sides: vec![vec![Pile::new(); derived.rules.side_count]; derived.seats],
            centre: vec![Pile::new(); slots],
            heights: vec![0; slots],
            stock: Pile::new(),
            mixing: if separate { derived.payoff_pack.clone() } else { derived.deck.clone() },
            aside: Pile::new(),
            out: Vec::new(),
            tied: Vec::new(),
            waiting: Vec::new(),
            ties: 0,
            moved: false,
            filling: false,
            counted: false,
            announced: false,
            passed: Vec::new(),
            pressed: false,
            redeals: 0,
            result: None,
        }
    }

    /// Whether this engine can go on from a position that somebody else has made.
    pub fn fits(&self, derived: &Derived) -> bool {
        let seats = derived.seats;
        let named = |list: &[usize]| {
            let distinct = (1..list.len()).all(|place| !list[..place].contains(&list[place]));
            distinct && list.iter().all(|&seat| seat < seats)
        };
        let tables = [self.hands.len(), self.payoffs.len(), self.sides.len()];
        tables == [seats; 3]
            && self.seat < seats
            && self.sides.iter().all(|own| own.len() == derived.rules.side_count)
            && self.centre.len() == self.heights.len()
            && derived.centre_slots.is_none_or(|slots| slots == self.centre.len())
            && self.heights.iter().all(|&height| height < derived.rules.stack_top)
            && [&self.out, &self.tied, &self.waiting, &self.passed].iter().all(|list| named(list))
            && self.result.is_some() == (self.phase == Phase::Over)
            && self.has_phase(derived)
            && self.result.as_ref().is_none_or(|result| result.places.len() == seats && result.scores.len() == seats)
            && [self.turn, self.quiet, self.ties, self.redeals].iter().all(|count| (0..1 << 53).contains(count))
            && self.seats_play()
    }

    /// Whether what this phase takes up is there.
    fn has_phase(&self, derived: &Derived) -> bool {
        let size = derived.payoff_size;
        match self.phase {
            Phase::Payoffs => !self.mixing.is_empty() && self.mixing == derived.payoff_pack,
            Phase::Deal => {
                let full = if derived.payoff_pack.is_empty() { 0 } else { size };
                self.mixing == derived.deck && self.payoffs.iter().all(|pile| pile.len() == full)
            }
            Phase::Tie => {
                !self.waiting.is_empty()
                    && self.mixing.len() == size
                    && (0..self.payoffs.len()).all(|seat| (seat == self.waiting[0]) == self.payoffs[seat].is_empty())
            }
            Phase::TieTogether => {
                !self.tied.is_empty()
                    && self.mixing.len() == size * self.tied.len()
                    && (0..self.payoffs.len()).all(|seat| self.tied.contains(&seat) == self.payoffs[seat].is_empty())
            }
            Phase::Lot => !self.tied.is_empty() && self.mixing.is_empty(),
            Phase::Redeal => self.mixing.len() >= self.list_playing_seats().count() * derived.rules.hand_size,
            Phase::Turn | Phase::Over => self.mixing.is_empty(),
            Phase::Recycle | Phase::Refill | Phase::RefillLast => true,
        }
    }

    /// Whether somebody is left to play.
    fn seats_play(&self) -> bool {
        self.result.is_some() || self.list_playing_seats().next().is_some()
    }

    pub fn list_playing_seats(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.hands.len()).filter(|seat| !self.out.contains(seat))
    }
}
