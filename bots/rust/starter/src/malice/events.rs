//! What has happened at the table, for bots that remember; the view is complete without it.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{whole, Card, Pile};

/// Something that happened; cards that we may not see are hidden.
#[derive(Debug, Clone)]
pub enum Event {
    /// The cards were dealt.
    Deal(Deal),
    /// The pay-off card that lies on top now.
    Flip(Flip),
    /// A turn of the seat begins.
    Turn(Acting),
    /// The seat drew cards.
    Draw(Draw),
    /// The seat moved a card.
    Move(Moved),
    /// A pile was shuffled.
    Shuffle(Shuffled),
    /// The seat asked for the pay-off counts.
    Count(Counted),
    /// The seat ended its turn without a discard.
    Pass(Acting),
    /// The seat left the game.
    Out(Out),
}

impl Event {
    /// Read an event; None for an unknown one of a later referee.
    pub(super) fn read(event: &RawValue) -> serde_json::Result<Option<Self>> {
        #[derive(Deserialize)]
        struct Kind {
            #[serde(rename = "type")]
            kind: String,
        }
        let json = event.get();
        let Kind { kind } = serde_json::from_str(json)?;
        Ok(Some(match kind.as_str() {
            "deal" => Self::Deal(serde_json::from_str(json)?),
            "flip" => Self::Flip(serde_json::from_str(json)?),
            "turn" => Self::Turn(serde_json::from_str(json)?),
            "draw" => Self::Draw(serde_json::from_str(json)?),
            "move" => Self::Move(serde_json::from_str(json)?),
            "shuffle" => Self::Shuffle(serde_json::from_str(json)?),
            "count" => Self::Count(serde_json::from_str(json)?),
            "pass" => Self::Pass(serde_json::from_str(json)?),
            "out" => Self::Out(serde_json::from_str(json)?),
            _ => return Ok(None),
        }))
    }
}

#[derive(Debug, Clone, Deserialize)]
pub struct Deal {
    /// By seat, in the order in which they were dealt.
    pub hands: Vec<Vec<Card>>,
    /// By seat: how many cards its pay-off pile has.
    #[serde(deserialize_with = "whole")]
    pub payoffs: Vec<usize>,
    /// By seat: each side stack, bottom to top.
    pub sides: Vec<Vec<Vec<Card>>>,
    /// How many cards are left in the stock.
    #[serde(deserialize_with = "whole")]
    pub stock: usize,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Flip {
    #[serde(deserialize_with = "whole")]
    pub seat: usize,
    pub card: Card,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Acting {
    #[serde(deserialize_with = "whole")]
    pub seat: usize,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Draw {
    #[serde(deserialize_with = "whole")]
    pub seat: usize,
    /// In the order in which they were drawn.
    pub cards: Vec<Card>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Moved {
    #[serde(deserialize_with = "whole")]
    pub seat: usize,
    #[serde(rename = "from")]
    pub source: Pile,
    #[serde(rename = "to")]
    pub target: Pile,
    pub card: Card,
}

/// So many cards came from `source` to `target`, which may be the same pile.
#[derive(Debug, Clone, Deserialize)]
pub struct Shuffled {
    #[serde(rename = "from")]
    pub source: Pile,
    #[serde(rename = "to")]
    pub target: Pile,
    #[serde(deserialize_with = "whole")]
    pub count: usize,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Counted {
    #[serde(deserialize_with = "whole")]
    pub seat: usize,
    /// By seat, if public; None: only `seat` sees them, in its view.
    #[serde(deserialize_with = "whole")]
    pub left: Option<Vec<usize>>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Out {
    #[serde(deserialize_with = "whole")]
    pub seat: usize,
    /// The referee's verdict: `crash`, `timeout`, `protocol` or `illegal`.
    pub code: String,
}
