//! A recorded game played again, and packed as `malice.referee.packed_events` packs it.

use std::collections::HashMap;
use std::fmt::Write;

use crate::actions::Action;
use crate::cards::Card;
use crate::dealer::Dealer;
use crate::json::{write_event, write_list};
use crate::messages::Event;
use crate::parameters::Derived;
use crate::state::{Outcome, Phase, State};

/// In a shape: the next card of the game.
const HOLE: char = '\t';
/// In a shape: the card of the hole before.
const SAME: char = '\n';

/// What happened in a game, ask by ask.
#[derive(Default)]
pub struct Packed {
    pub shapes: Vec<String>,
    /// By ask, the symbol of its shape.
    pub asks: String,
    /// The symbol of the card for each hole of all asks.
    pub cards: String,
    symbols: HashMap<String, char>,
}

/// Plays a game again; None if these are not the legal actions of a whole game without verdicts.
pub fn replay<'a>(
    derived: &Derived,
    dealer: &mut Dealer,
    actions: impl Iterator<Item = (usize, &'a str)>,
) -> Option<(Outcome, Packed)> {
    let mut state = State::start(derived);
    let mut packed = Packed::default();
    let mut events: Vec<Event> = Vec::new();
    state.settle(derived, dealer, &mut events);
    packed.add(None, &events, state.turn);
    for (seat, word) in actions {
        events.clear();
        let before = state.turn;
        let action = Action::parse(word)?;
        if state.phase != Phase::Turn || state.seat != seat || !state.play(derived, action, &mut events) {
            return None;
        }
        state.settle(derived, dealer, &mut events);
        packed.add(Some((seat, word)), &events, state.turn - before);
    }
    Some((state.result?, packed))
}

impl Packed {
    /// Adds an ask: who did what, what followed, and how many turns began.
    fn add(&mut self, action: Option<(usize, &str)>, events: &[Event], turns: i64) {
        let mut text = String::with_capacity(256);
        text.push('[');
        write_list(&mut text, action, |out, (seat, word)| {
            let _ = write!(out, r#"[{seat},"{word}"]"#); // a string never fails
        });
        text.push(',');
        write_list(&mut text, events, write_event);
        if turns != 0 {
            let _ = write!(text, ",{turns}");
        }
        text.push(']');
        let shape = self.take_cards_out(&text);
        let count = self.symbols.len();
        let symbol = *self.symbols.entry(shape).or_insert_with_key(|shape| {
            self.shapes.push(shape.clone());
            encode_symbol(count)
        });
        self.asks.push(symbol);
    }

    fn take_cards_out(&mut self, text: &str) -> String {
        let mut shape = String::with_capacity(text.len());
        let (mut rest, mut last) = (text, None);
        while let Some(next) = rest.chars().next() {
            match rest.get(..2).and_then(Card::parse) {
                Some(card) => {
                    if last == Some(card) {
                        shape.push(SAME);
                    } else {
                        shape.push(HOLE);
                        self.cards.push(encode_symbol(card.0 as usize));
                        last = Some(card);
                    }
                    rest = &rest[2..];
                }
                None => {
                    shape.push(next);
                    rest = &rest[next.len_utf8()..];
                }
            }
        }
        shape
    }
}

/// The character for a number: printable ASCII without quote and backslash comes first.
fn encode_symbol(index: usize) -> char {
    let code = match index {
        0..57 => index + 35,
        57..91 => index + 36,
        _ => index - 91 + 0xA1,
    };
    let code = if code < 0xD800 { code } else { code + 0x800 };
    char::from_u32(code as u32).unwrap_or(char::REPLACEMENT_CHARACTER)
}
