//! A bot to start from: it plays pay-off cards first.
//!
//! The protocol is in `malice.rs`, the play is in [`Starter::choose`]. The fields of [`Starter`]
//! hold what a bot wants to remember; every game gets a new one.

mod malice;

use malice::{Action, Bot, Choice, Pile, Turn, View};

#[derive(Default)]
struct Starter;

impl Bot for Starter {
    /// The pay-off card if it can be played, else a card to the centre, else a discard onto a short stack.
    fn choose(&mut self, turn: &Turn) -> Choice {
        let (view, legal) = (&turn.view, &turn.legal);
        let payoff = legal.iter().find(|action| is_payoff(action, view));
        let centre = || legal.iter().find(|action| is_centre(action));
        let discard = || shortest_discard(view, legal);
        let action = payoff.or_else(centre).or_else(discard);
        action.unwrap_or(&legal[0]).into()
    }
}

fn is_payoff(action: &Action, view: &View) -> bool {
    matches!(action.play, Some(play) if play.source == Pile::Payoff(view.seat))
}

fn is_centre(action: &Action) -> bool {
    matches!(action.play, Some(play) if matches!(play.target, Pile::Centre(_)))
}

/// The discard onto the shortest side stack; the last of equal ones.
fn shortest_discard<'a>(view: &View, legal: &'a [Action]) -> Option<&'a Action> {
    let discards = legal.iter().filter_map(|action| {
        let play = action.play?;
        match (play.source, play.target) {
            (Pile::Hand(_), Pile::Side(seat, index)) => {
                Some((view.seats[seat].side[index].len(), action))
            }
            _ => None,
        }
    });
    let shortest = discards.rev().min_by_key(|(size, _)| *size);
    shortest.map(|(_, action)| action)
}

fn main() -> std::io::Result<()> {
    malice::play::<Starter>()
}
