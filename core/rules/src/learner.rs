//! What programs that learn choose among, and a view as a vector: the same places as in Python.

use crate::actions::{Action, Source, Target};
use crate::cards::RANKS;
use crate::messages::View;
use crate::parameters::{Derived, Loading, PayoffCount, Teams};
use crate::state::State;

/// So many cards of a side stack count as a full one.
const LONGEST: f64 = 20.0;
/// What may lie on top of a pile: a rank, or nothing.
const TOPS: usize = RANKS.len() + 1;

/// Where choices and features have their places.
pub struct Learner {
    slots: usize,
    sides: usize,
    /// How many pay-off piles a choice may name for loading.
    loads: usize,
    partners: bool,
    /// By value of a card: its place among the ranks in play.
    ranks: [usize; RANKS.len() + 1],
    /// The first place of the choices of the hand, and of those of side stacks.
    hand: usize,
    side: usize,
    pass: usize,
    pub choices: usize,
    pub features: usize,
    cards: f64,
    payoff: f64,
    hand_size: f64,
}

impl Learner {
    pub fn new(derived: &Derived) -> Learner {
        let rules = &derived.rules;
        let cards: Vec<_> = derived.payoff_pack.iter().chain(&derived.deck).copied().collect();
        let slots = match derived.centre_slots {
            Some(slots) => slots,
            None if rules.last_resort_recycle => cards.len(),
            None => cards.iter().filter(|&&card| derived.fits[0].has(card)).count(),
        };
        let mut ranks = [0; RANKS.len() + 1];
        let mut count = 0;
        for (value, place) in ranks.iter_mut().enumerate().skip(1) {
            *place = count;
            count += usize::from(cards.iter().any(|card| card.value() == value));
        }
        let sides = rules.side_count;
        let loads = if rules.loading == Loading::None { 0 } else { derived.seats };
        let partners = rules.teams != Teams::None;
        let hand = slots + loads + if partners { derived.seats * (1 + sides) * slots } else { 0 };
        let side = hand + count * (slots + sides + loads);
        let pass = side + sides * slots;
        let counts = usize::from(rules.payoff_count != PayoffCount::Public);
        Learner {
            slots,
            sides,
            loads,
            partners,
            ranks,
            hand,
            side,
            pass,
            choices: pass + usize::from(derived.can_pass) + counts,
            features: 1 + RANKS.len() + slots * rules.stack_top + derived.seats * (TOPS + 2 + sides * (TOPS + 1)),
            cards: cards.len() as f64,
            payoff: derived.payoff_size.max(1) as f64,
            hand_size: rules.hand_size as f64,
        }
    }

    /// The place of the choice that a legal action is.
    pub fn place(&self, action: Action) -> usize {
        let (source, target) = match action {
            Action::Move(source, target) => (source, target),
            Action::Pass => return self.pass,
            Action::Count => return self.choices - 1,
        };
        let slot = match target {
            Target::Centre(slot) => slot as usize,
            Target::Side(index) => self.slots + index as usize,
            Target::Payoff(seat) if source == Source::Payoff => self.slots + seat as usize,
            Target::Payoff(seat) => self.slots + self.sides + seat as usize,
        };
        let others = |seat: u8, pile: usize| {
            let place = seat as usize * (1 + self.sides) + pile;
            self.slots + self.loads + usize::from(self.partners) * place * self.slots
        };
        slot + match source {
            Source::Payoff => 0,
            Source::OtherPayoff(seat) => others(seat, 0),
            Source::OtherSide(seat, index) => others(seat, 1 + index as usize),
            Source::Hand(card) => self.hand + self.ranks[card.value()] * (self.slots + self.sides + self.loads),
            Source::Side(index) => self.side + index as usize * self.slots,
        }
    }

    /// Writes the vector of what a seat sees.
    pub fn encode(&self, derived: &Derived, state: &State, seat: usize, vector: &mut [f32]) {
        vector.fill(0.0);
        let view = View::new(derived, state, Some(seat));
        vector[0] = (state.stock.len() as f64 / self.cards) as f32;
        let share = 1.0 / self.hand_size;
        for card in &state.hands[seat] {
            let place = &mut vector[card.value()];
            *place = (f64::from(*place) + share) as f32;
        }
        let mut at = 1 + RANKS.len();
        for slot in 0..self.slots {
            vector[at + state.heights.get(slot).copied().unwrap_or(0)] = 1.0;
            at += derived.rules.stack_top;
        }
        let none = TOPS - 1;
        for place in 0..derived.seats {
            let owner = (seat + place) % derived.seats;
            let pile = &state.payoffs[owner];
            vector[at + pile.last().map_or(none, |card| card.value() - 1)] = 1.0;
            at += TOPS;
            let left = if view.counts { pile.len() as f64 } else { 0.0 };
            vector[at] = (left / self.payoff).min(1.0) as f32;
            vector[at + 1] = (state.hands[owner].len() as f64 / self.hand_size).min(1.0) as f32;
            at += 2;
            for side in &state.sides[owner] {
                vector[at + side.last().map_or(none, |card| card.value() - 1)] = 1.0;
                vector[at + TOPS] = (side.len() as f64 / LONGEST).min(1.0) as f32;
                at += TOPS + 1;
            }
        }
    }
}
