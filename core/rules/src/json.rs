//! Events and views as JSON, byte for byte as malice encodes its structs.

use std::fmt::Write;

use crate::cards::Card;
use crate::messages::{Event, View, HIDDEN};
use crate::parameters::Derived;

/// Writes a list of what `write` writes of each item.
pub fn write_list<T>(out: &mut String, items: impl IntoIterator<Item = T>, mut write: impl FnMut(&mut String, T)) {
    out.push('[');
    for (place, item) in items.into_iter().enumerate() {
        if place > 0 {
            out.push(',');
        }
        write(out, item);
    }
    out.push(']');
}

/// Writes whatever reads the same in JSON, such as a number.
fn write_plain(out: &mut String, item: impl std::fmt::Display) {
    let _ = write!(out, "{item}"); // a string never fails
}

fn write_name(out: &mut String, name: &str) {
    out.push('"');
    out.push_str(name);
    out.push('"');
}

fn write_cards(out: &mut String, pile: &[Card]) {
    write_list(out, pile, |out, card| write_name(out, card.name()));
}

pub fn write_event(out: &mut String, event: &Event) {
    match event {
        Event::Deal { hands, payoffs, sides, stock } => {
            out.push_str(r#"{"type":"deal","hands":"#);
            write_list(out, hands, |out, hand| write_cards(out, hand));
            out.push_str(r#","payoffs":"#);
            write_list(out, payoffs, write_plain);
            out.push_str(r#","sides":"#);
            write_list(out, sides, |out, piles| write_list(out, piles, |out, pile| write_cards(out, pile)));
            write_plain(out, format_args!(r#","stock":{stock}}}"#));
        }
        Event::Turn { seat } => write_plain(out, format_args!(r#"{{"type":"turn","seat":{seat}}}"#)),
        Event::Move { seat, source, target, card } => {
            let card = card.name();
            write_plain(
                out,
                format_args!(r#"{{"type":"move","seat":{seat},"from":"{source}","to":"{target}","card":"{card}"}}"#),
            );
        }
        Event::Flip { seat, card } => {
            write_plain(out, format_args!(r#"{{"type":"flip","seat":{seat},"card":"{}"}}"#, card.name()));
        }
        Event::Draw { seat, cards } => {
            write_plain(out, format_args!(r#"{{"type":"draw","seat":{seat},"cards":"#));
            write_cards(out, cards);
            out.push('}');
        }
        Event::Shuffle { source, target, count } => {
            write_plain(out, format_args!(r#"{{"type":"shuffle","from":"{source}","to":"{target}","count":{count}}}"#));
        }
        Event::Count { seat, left } => {
            write_plain(out, format_args!(r#"{{"type":"count","seat":{seat},"left":"#));
            match left {
                Some(left) => write_list(out, left, write_plain),
                None => out.push_str("null"),
            }
            out.push('}');
        }
        Event::Pass { seat } => write_plain(out, format_args!(r#"{{"type":"pass","seat":{seat}}}"#)),
    }
}

pub fn write_view(out: &mut String, derived: &Derived, view: &View<'_>) {
    let state = view.state;
    write_plain(out, format_args!(r#"{{"turn":{},"seat":{},"hand":"#, state.turn, view.seat));
    write_cards(out, &state.hands[view.seat]);
    let (stock, aside) = (state.stock.len(), state.aside.len());
    write_plain(out, format_args!(r#","stock":{stock},"aside":{aside},"centre":"#));
    write_list(out, state.centre.iter().zip(&state.heights), |out, (cards, &height)| {
        out.push_str(r#"{"cards":"#);
        write_cards(out, cards);
        write_plain(out, format_args!(r#","height":{height},"needs":"{}"}}"#, View::needs(height)));
    });
    out.push_str(r#","seats":"#);
    write_list(out, 0..derived.seats, |out, owner| {
        let pile = &state.payoffs[owner];
        out.push_str(r#"{"payoff":{"top":"#);
        match pile.last() {
            Some(card) => write_name(out, card.name()),
            None => out.push_str("null"),
        }
        out.push_str(r#","left":"#);
        match view.counts {
            true => write_plain(out, pile.len()),
            false => out.push_str("null"),
        }
        write_plain(out, format_args!(r#"}},"hand":{},"side":"#, state.hands[owner].len()));
        write_list(out, &state.sides[owner], |out, pile| {
            let hidden = view.count_hidden(pile);
            write_list(out, pile.iter().enumerate(), |out, (place, card)| {
                write_name(out, if place < hidden { HIDDEN } else { card.name() });
            });
        });
        let out_of_game = state.out.contains(&owner);
        write_plain(out, format_args!(r#","team":{},"out":{out_of_game}}}"#, derived.teams[owner]));
    });
    out.push('}');
}
