//! Who plays where no bot does: at random, or like the bots `first` and `greedy`.

use crate::actions::{list_legal, Action, Source, Target};
use crate::cards::Card;
use crate::dealer::Dealer;
use crate::messages::Silence;
use crate::parameters::{is_wild, Derived};
use crate::state::{Phase, State};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Policy {
    First,
    Uniform,
    Greedy,
}

impl Policy {
    pub fn parse(name: &str) -> Option<Policy> {
        match name {
            "first" => Some(Policy::First),
            "uniform" => Some(Policy::Uniform),
            "greedy" => Some(Policy::Greedy),
            _ => None,
        }
    }

    /// Chooses among the legal actions of the seat to act; `chance` decides what is left to chance.
    pub fn choose(self, derived: &Derived, state: &State, legal: &[Action], chance: &mut Dealer) -> Action {
        match self {
            Policy::First => legal[0],
            Policy::Uniform => legal[chance.draw(legal.len())],
            Policy::Greedy => {
                let mut best = (i64::MIN, legal[0]);
                for &action in legal {
                    let score = score(derived, state, action);
                    if score > best.0 {
                        best = (score, action);
                    }
                }
                best.1
            }
        }
    }
}

/// Plays a game to its end, every seat by one policy; returns how many actions that took.
pub fn play_out(derived: &Derived, state: &mut State, dealer: &mut Dealer, chance: &mut Dealer, policy: Policy) -> u64 {
    let (mut legal, mut count) = (Vec::with_capacity(64), 0);
    state.settle(derived, dealer, &mut Silence);
    while state.phase == Phase::Turn {
        list_legal(derived, state, &mut legal);
        let action = policy.choose(derived, state, &legal, chance);
        state.play_listed(derived, action, &mut Silence);
        state.settle(derived, dealer, &mut Silence);
        count += 1;
    }
    count
}

// The bot `greedy`, bots/python/greedy/bot.py, number by number.

const PAYOFF: i64 = 1000;
const LOAD: i64 = 900;
const PLAY: i64 = 500;
const WILD: i64 = 300;
const KEEP: i64 = -100;
const PASS: i64 = -500;
const COUNT: i64 = -900;

fn score(derived: &Derived, state: &State, action: Action) -> i64 {
    let (source, target) = match action {
        Action::Move(source, target) => (source, target),
        Action::Pass => return PASS,
        Action::Count => return COUNT,
    };
    match target {
        Target::Centre(slot) => score_play(derived, state, source, slot as usize),
        Target::Side(index) => match source {
            Source::Hand(card) => score_discard(derived, card, &state.sides[state.seat][index as usize]),
            _ => KEEP,
        },
        Target::Payoff(_) => LOAD + i64::from(source == Source::Payoff),
    }
}

/// Scores a card to the centre: hand before side stacks, and rather where the pay-off card is near.
fn score_play(derived: &Derived, state: &State, source: Source, slot: usize) -> i64 {
    let seat = state.seat;
    let height = state.heights.get(slot).map_or(0, |&height| height as i64);
    let top = state.payoffs[seat].last();
    let far = |top: &Card| (top.value() as i64 - height - 1).rem_euclid(derived.rules.stack_top as i64);
    let missing = top.map_or(0, far);
    let (card, from_hand) = match source {
        Source::Payoff | Source::OtherPayoff(_) => return PAYOFF - missing,
        Source::Hand(card) => (Some(card), true),
        Source::Side(index) => (state.sides[seat][index as usize].last().copied(), false),
        Source::OtherSide(owner, index) => (state.sides[owner as usize][index as usize].last().copied(), false),
    };
    let wild = |card: Card| is_wild(&derived.rules, card);
    if !card.is_some_and(wild) {
        return PLAY + 50 * i64::from(from_hand) - missing;
    }
    let hand = &state.hands[seat];
    let spare = from_hand && (hand.len() <= 2 || hand.iter().filter(|&&other| wild(other)).count() >= 2);
    let worth = if spare || missing <= 2 { WILD } else { KEEP + 50 };
    worth - missing
}

/// Scores a card on top of a pile: what lies below should not be needed before it, and high cards last.
fn score_discard(derived: &Derived, card: Card, pile: &[Card]) -> i64 {
    let (value, size) = (card.value() as i64, pile.len() as i64);
    if is_wild(&derived.rules, card) {
        return KEEP - size;
    }
    let Some(&under) = pile.last() else {
        return 60 + value;
    };
    let top = under.value() as i64;
    if value == top {
        90 + value
    } else if value == top - 1 {
        80 + value
    } else if value < top && !is_wild(&derived.rules, under) {
        40 - (top - value)
    } else {
        20 - (value - top) - size
    }
}
