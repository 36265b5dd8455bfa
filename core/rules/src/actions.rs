//! The legal list: where each card may go, which rules strike or add actions, in canonical order.

use std::fmt;

use crate::cards::Card;
use crate::parameters::{Compulsion, Derived, Discard, Loading, PayoffCount, SideRule, Stalemate};
use crate::state::{Phase, State};

/// Where a card comes from: a pile of the seat to act, or a top of another seat.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Source {
    Payoff,
    Hand(Card),
    Side(u16),
    OtherPayoff(u8),
    OtherSide(u8, u16),
}

/// Where a card goes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Target {
    Centre(u32),
    Side(u16),
    Payoff(u8),
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Action {
    Move(Source, Target),
    Pass,
    Count,
}

impl fmt::Display for Action {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (source, target) = match self {
            Action::Move(source, target) => (source, target),
            Action::Pass => return out.write_str("pass"),
            Action::Count => return out.write_str("count"),
        };
        match source {
            Source::Payoff => out.write_str("p"),
            Source::Hand(card) => write!(out, "h{}", card.name()),
            Source::Side(index) => write!(out, "s{index}"),
            Source::OtherPayoff(seat) => write!(out, "{seat}p"),
            Source::OtherSide(seat, index) => write!(out, "{seat}s{index}"),
        }?;
        match target {
            Target::Centre(slot) => write!(out, "-c{slot}"),
            Target::Side(index) => write!(out, "-s{index}"),
            Target::Payoff(seat) => write!(out, "-{seat}p"),
        }
    }
}

impl Action {
    /// Reads an action letter for letter as it is listed.
    pub fn parse(word: &str) -> Option<Action> {
        match word {
            "pass" => return Some(Action::Pass),
            "count" => return Some(Action::Count),
            _ => {}
        }
        let (source, target) = word.split_once('-')?;
        let source = match source.as_bytes().first()? {
            b'p' if source.len() == 1 => Source::Payoff,
            b'h' => Source::Hand(Card::parse(&source[1..])?),
            b's' => Source::Side(parse_number(&source[1..])?),
            b'0'..=b'9' => match (parse_number(&source[..1])?, source.as_bytes().get(1)?) {
                (seat, b'p') if source.len() == 2 => Source::OtherPayoff(seat),
                (seat, b's') => Source::OtherSide(seat, parse_number(&source[2..])?),
                _ => return None,
            },
            _ => return None,
        };
        let target = match target.as_bytes().first()? {
            b'c' => Target::Centre(parse_number(&target[1..])?),
            b's' => Target::Side(parse_number(&target[1..])?),
            _ => Target::Payoff(parse_number(target.strip_suffix('p')?)?),
        };
        Some(Action::Move(source, target))
    }

    fn is_discard(&self) -> bool {
        matches!(self, Action::Move(_, Target::Side(_)))
    }

    /// Whether a card that must be played goes to the centre.
    fn is_forced(&self, forced: &Compulsion, state: &State) -> bool {
        let Action::Move(source, Target::Centre(_)) = self else {
            return false;
        };
        let top = |pile: &[Card], set: crate::parameters::CardSet| pile.last().is_some_and(|&card| set.has(card));
        match *source {
            Source::Hand(card) => forced.hand.has(card),
            Source::Payoff => top(&state.payoffs[state.seat], forced.payoff),
            Source::Side(index) => top(&state.sides[state.seat][index as usize], forced.side),
            Source::OtherPayoff(_) | Source::OtherSide(..) => false,
        }
    }
}

/// Reads a number as it is written, without signs or leading zeros.
fn parse_number<T: std::str::FromStr>(digits: &str) -> Option<T> {
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && (digits == "0" || !digits.starts_with('0'));
    if plain {
        digits.parse().ok()
    } else {
        None
    }
}

/// Lists the actions of the seat to act, by source: pay-off top, partners' tops, hand, side tops.
pub fn list_legal(derived: &Derived, state: &State, actions: &mut Vec<Action>) {
    actions.clear();
    if state.phase != Phase::Turn {
        return;
    }
    let seat = state.seat;
    let sides = &state.sides[seat];
    let lister = Lister::new(derived, state);
    if let Some(&top) = state.payoffs[seat].last() {
        lister.add_centre(Source::Payoff, top, actions);
        lister.add_loads(Source::Payoff, top, actions);
    }
    for &partner in &derived.partners[seat] {
        if let Some(&top) = state.payoffs[partner].last() {
            lister.add_centre(Source::OtherPayoff(partner as u8), top, actions);
        }
        for (index, pile) in state.sides[partner].iter().enumerate() {
            if let Some(&top) = pile.last() {
                lister.add_centre(Source::OtherSide(partner as u8, index as u16), top, actions);
            }
        }
    }
    let mut previous = None;
    for &card in &state.hands[seat] {
        if previous != Some(card) {
            lister.add_centre(Source::Hand(card), card, actions);
            lister.add_discards(card, actions);
            lister.add_loads(Source::Hand(card), card, actions);
            previous = Some(card);
        }
    }
    for (index, pile) in sides.iter().enumerate() {
        if let Some(&top) = pile.last() {
            lister.add_centre(Source::Side(index as u16), top, actions);
        }
    }
    amend(derived, state, actions);
}

/// What the table takes, worked out once for all cards.
struct Lister<'a> {
    derived: &'a Derived,
    state: &'a State,
    /// The first empty centre slot, or a new one where there is no limit.
    empty_slot: Option<usize>,
    /// The first empty side stack.
    empty_side: Option<usize>,
    loads: bool,
}

impl Lister<'_> {
    fn new<'a>(derived: &'a Derived, state: &'a State) -> Lister<'a> {
        let heights = &state.heights;
        let unlimited = derived.centre_slots.is_none().then_some(heights.len());
        Lister {
            derived,
            state,
            empty_slot: heights.iter().position(|&height| height == 0).or(unlimited),
            empty_side: state.sides[state.seat].iter().position(Vec::is_empty),
            loads: derived.rules.loading != Loading::None,
        }
    }

    fn add_centre(&self, source: Source, card: Card, actions: &mut Vec<Action>) {
        let fits = &self.derived.fits;
        let mut add = |slot: usize, height: usize| {
            if fits[height].has(card) {
                actions.push(Action::Move(source, Target::Centre(slot as u32)));
            }
        };
        for (slot, &height) in self.state.heights.iter().enumerate() {
            if height > 0 || Some(slot) == self.empty_slot {
                add(slot, height);
            }
        }
        if self.empty_slot == Some(self.state.heights.len()) {
            add(self.state.heights.len(), 0);
        }
    }

    fn add_discards(&self, card: Card, actions: &mut Vec<Action>) {
        let any = self.derived.rules.side_rule == SideRule::Any;
        for (index, pile) in self.state.sides[self.state.seat].iter().enumerate() {
            let open = !pile.is_empty() || Some(index) == self.empty_side;
            if open && (any || accepts(&self.derived.side_ranks, pile, card)) {
                actions.push(Action::Move(Source::Hand(card), Target::Side(index as u16)));
            }
        }
    }

    fn add_loads(&self, source: Source, card: Card, actions: &mut Vec<Action>) {
        if !self.loads {
            return;
        }
        let own = &self.derived.allies[self.state.seat];
        for (seat, pile) in self.state.payoffs.iter().enumerate() {
            let opponent = !own.contains(&seat) && !self.state.out.contains(&seat);
            if opponent && pile.last().is_some_and(|&top| card.is_neighbour(top)) {
                actions.push(Action::Move(source, Target::Payoff(seat as u8)));
            }
        }
    }
}

/// Whether a side stack in descending order takes a card.
///
/// On a top that may be any of some ranks may lie those, and all of them one lower. A nine and two jokers are {9},
/// {8, 9}, {7, 8, 9}; so six to nine may follow.
fn accepts(ranks: &[u32], pile: &[Card], card: Card) -> bool {
    let following = pile.iter().fold(u32::MAX, |following, card| {
        let own = ranks[card.0 as usize];
        // The deal may have put any card on any.
        let top = if following & own == 0 { own } else { following & own };
        top | top >> 1
    });
    ranks[card.0 as usize] & following != 0
}

/// Strikes and adds actions, rule by rule.
fn amend(derived: &Derived, state: &State, actions: &mut Vec<Action>) {
    let rules = &derived.rules;
    if rules.fill_empty_sides {
        keep_fills(state, actions);
    }
    let optional = rules.discard == Discard::Optional;
    if derived.can_pass && (optional || !actions.iter().any(Action::is_discard)) {
        actions.push(Action::Pass);
    }
    if derived.has_compulsion {
        keep_forced(&derived.compulsion, state, actions);
    }
    if rules.stalemate == Stalemate::MustPlay && state.pressed {
        keep_forced(&derived.stalemate_breakers, state, actions);
    }
    if rules.payoff_count != PayoffCount::Public && !state.counted {
        actions.push(Action::Count);
    }
}

/// While a side stack is empty, discards go there; after the first fill, no card goes to the centre.
fn keep_fills(state: &State, actions: &mut Vec<Action>) {
    if state.filling {
        actions.retain(Action::is_discard);
    }
    if let Some(empty) = state.sides[state.seat].iter().position(Vec::is_empty) {
        actions.retain(|action| match action {
            Action::Move(_, Target::Side(index)) => *index as usize == empty,
            _ => true,
        });
    }
}

/// Keeps only the plays that are compulsory, if there are any.
fn keep_forced(forced: &Compulsion, state: &State, actions: &mut Vec<Action>) {
    if actions.iter().any(|action| action.is_forced(forced, state)) {
        actions.retain(|action| action.is_forced(forced, state));
    }
}
