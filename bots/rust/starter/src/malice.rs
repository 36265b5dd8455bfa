//! The protocol of malice, version 1: requests as types, and the loop that answers them.
//!
//! A bot is a type that implements [`Bot`]; `malice::play::<MyBot>()` lets it play until the referee
//! says bye. Print to standard error only: standard output belongs to the answers.

#![allow(dead_code, unused_imports)] // a bot need not use every field

mod cards;
mod events;
mod numbers;

pub use cards::{Action, Card, Pile, Play};
pub use events::{Acting, Deal, Draw, Event, Flip, Moved, Out, Shuffled};

use std::collections::HashMap;
use std::io::{self, BufRead, Write};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use numbers::whole;

/// Plays one game. Each game gets a new value, by [`Default`], so that nothing of the last game remains.
pub trait Bot: Default {
    /// The bot's name; empty: as in bot.toml.
    const NAME: &'static str = "";
    /// Its version; empty: as in bot.toml.
    const VERSION: &'static str = "";

    /// A game begins. Prepare here: it does not count on the clock.
    fn start(&mut self, _game: &GameStart) {}

    /// Choose one of `turn.legal`.
    fn choose(&mut self, turn: &Turn) -> Choice;

    /// The game is over.
    fn end(&mut self, _end: &GameEnd) {}
}

/// Answer the referee's requests with what `B` chooses, until it says bye or closes the input.
///
/// # Errors
///
/// A line cannot be read or written, or is not a request.
pub fn play<B: Bot>() -> io::Result<()> {
    let mut input = io::stdin().lock();
    let mut output = io::stdout().lock();
    let mut bot = B::default();
    let mut line = String::new();
    while input.read_line(&mut line)? > 0 {
        let request: Request = serde_json::from_str(&line)?;
        if request.kind == "bye" {
            break;
        }
        let mut answer = Answer {
            id: request.id,
            ..Answer::default()
        };
        match request.kind.as_str() {
            "hello" => {
                answer.protocol = Some(1);
                answer.name = Some(B::NAME).filter(|name| !name.is_empty());
                answer.version = Some(B::VERSION).filter(|version| !version.is_empty());
            }
            "game_start" => {
                bot = B::default();
                bot.start(&serde_json::from_str(&line)?);
            }
            "move" => answer.choice = Some(bot.choose(&Turn::read(&line)?)),
            "game_end" => bot.end(&serde_json::from_str(&line)?),
            _ => {} // of a later referee: the bare id is the answer
        }
        serde_json::to_writer(&mut output, &answer)?;
        output.write_all(b"\n")?;
        output.flush()?;
        line.clear();
    }
    Ok(())
}

/// What every line has; `bye` has no id.
#[derive(Deserialize)]
struct Request<'a> {
    #[serde(rename = "type")]
    kind: String,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
}

#[derive(Default, Serialize)]
struct Answer<'a> {
    id: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    protocol: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<&'a str>,
    #[serde(flatten)]
    choice: Option<Choice>,
}

/// The action to play, and a remark for the replay.
#[derive(Debug, Clone, Serialize)]
pub struct Choice {
    #[serde(rename = "move")]
    action: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

impl From<&Action> for Choice {
    fn from(action: &Action) -> Self {
        Self {
            action: action.text.clone(),
            note: None,
        }
    }
}

impl Choice {
    /// The same action with a note, of which 500 characters are kept.
    pub fn noted(self, note: impl Into<String>) -> Self {
        Self {
            note: Some(note.into()),
            ..self
        }
    }
}

/// A game begins.
#[derive(Debug, Clone, Deserialize)]
pub struct GameStart {
    /// Counts the games of this process, from 1.
    #[serde(deserialize_with = "whole")]
    pub game: usize,
    /// The name of the ruleset.
    pub ruleset: String,
    rules: HashMap<String, Box<RawValue>>,
    /// Where we sit, from 0.
    #[serde(deserialize_with = "whole")]
    pub seat: usize,
    pub seats: Vec<SeatName>,
    /// A seed for our own random numbers, so that a game can be repeated.
    #[serde(deserialize_with = "whole")]
    pub rng: usize,
    /// The digest of the seed that all cards come from.
    pub commit: String,
    pub clock: ClockRules,
}

impl GameStart {
    /// A parameter of the ruleset, as in `game.rule::<bool>("wild_kings")`; None if it has another type.
    pub fn rule<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        serde_json::from_str(self.rules.get(name)?.get()).ok()
    }
}

/// Who sits at a seat; seats of one team win and lose together.
#[derive(Debug, Clone, Deserialize)]
pub struct SeatName {
    pub name: String,
    #[serde(deserialize_with = "whole")]
    pub team: usize,
}

/// Time control of a game in milliseconds; None: no such limit.
#[derive(Debug, Clone, Deserialize)]
pub struct ClockRules {
    pub move_ms: Option<f64>,
    pub bank_ms: Option<f64>,
    pub increment_ms: f64,
    pub margin_ms: f64,
    /// Which time counts: "wall" or "cpu".
    pub kind: String,
    /// By "cpu", the most time on the wall for an action.
    pub cap_ms: Option<f64>,
}

/// The game is over.
#[derive(Debug, Clone, Deserialize)]
pub struct GameEnd {
    /// Ours: 1 is best, equal places are tied.
    #[serde(deserialize_with = "whole")]
    pub place: usize,
    #[serde(deserialize_with = "whole")]
    pub places: Vec<usize>,
    #[serde(deserialize_with = "whole")]
    pub scores: Vec<i64>,
    /// Why it ended, such as `payoff_empty`.
    pub reason: String,
    /// The key of the game, for `malice replay`.
    pub key: String,
}

/// We are asked for one action.
#[derive(Debug, Clone)]
pub struct Turn {
    pub view: View,
    /// What has happened since we were last asked, our own action included.
    pub events: Vec<Event>,
    pub legal: Vec<Action>,
    pub clock: Clock,
}

impl Turn {
    fn read(line: &str) -> serde_json::Result<Self> {
        #[derive(Deserialize)]
        struct Move<'a> {
            view: View,
            #[serde(borrow)]
            events: Vec<&'a RawValue>,
            legal: Vec<String>,
            clock: Clock,
        }
        let Move {
            view,
            events,
            legal,
            clock,
        } = serde_json::from_str(line)?;
        let known = events
            .into_iter()
            .filter_map(|event| Event::read(event).transpose());
        let events = known.collect::<serde_json::Result<_>>()?;
        let legal = legal
            .into_iter()
            .map(|text| Action::read(text, &view))
            .collect();
        Ok(Self {
            view,
            events,
            legal,
            clock,
        })
    }
}

/// What is left of our bank, and what our last action took, in milliseconds; None: there is none.
#[derive(Debug, Clone, Deserialize)]
pub struct Clock {
    pub bank_ms: Option<f64>,
    pub last_ms: Option<f64>,
    pub last_cpu_ms: Option<f64>,
}

/// The table as we see it; seats and slots count from 0 and never move.
#[derive(Debug, Clone, Deserialize)]
pub struct View {
    /// Counts the turns of the game, from 1.
    #[serde(deserialize_with = "whole")]
    pub turn: usize,
    /// Ours.
    #[serde(deserialize_with = "whole")]
    pub seat: usize,
    /// Our cards, by rank and suit.
    pub hand: Vec<Card>,
    #[serde(deserialize_with = "whole")]
    pub stock: usize,
    /// Cards of completed stacks that were set aside.
    #[serde(deserialize_with = "whole")]
    pub aside: usize,
    pub centre: Vec<CentreStack>,
    pub seats: Vec<Seat>,
}

impl View {
    /// Our own seat.
    pub fn own(&self) -> &Seat {
        &self.seats[self.seat]
    }
}

/// A centre stack; one that is empty keeps its place.
#[derive(Debug, Clone, Deserialize)]
pub struct CentreStack {
    /// Bottom to top, wild cards as themselves.
    pub cards: Vec<Card>,
    /// The value reached; 0 for an empty stack.
    #[serde(deserialize_with = "whole")]
    pub height: usize,
    /// The rank that fits next.
    pub needs: char,
}

/// The public part of a seat.
#[derive(Debug, Clone, Deserialize)]
pub struct Seat {
    pub payoff: Payoff,
    /// How many cards the hand has.
    #[serde(deserialize_with = "whole")]
    pub hand: usize,
    /// Each side stack, bottom to top.
    pub side: Vec<Vec<Card>>,
    #[serde(deserialize_with = "whole")]
    pub team: usize,
    /// Whether it has left the game.
    pub out: bool,
}

/// A pay-off pile: the card turned up (None: it is empty) and the count (None: it is not public).
#[derive(Debug, Clone, Deserialize)]
pub struct Payoff {
    pub top: Option<Card>,
    #[serde(deserialize_with = "whole")]
    pub left: Option<usize>,
}
