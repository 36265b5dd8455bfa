//! Cards, piles and actions, from the short strings of the protocol.

use std::fmt;

use serde::Deserialize;

use super::View;

/// A legal action.
#[derive(Debug, Clone)]
pub struct Action {
    /// As the referee writes it.
    pub text: String,
    /// The card it moves; None for `pass` and `count`.
    pub play: Option<Play>,
}

/// A card that goes from pile to pile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Play {
    pub source: Pile,
    pub card: Card,
    pub target: Pile,
}

impl Action {
    pub(super) fn read(text: String, view: &View) -> Self {
        let play = text.split_once('-').and_then(|(source, target)| {
            let target = Pile::read(target, Some(view.seat))?;
            if let Some(card) = source.strip_prefix('h') {
                return Some(Play {
                    source: Pile::Hand(view.seat),
                    card: Card::read(card)?,
                    target,
                });
            }
            let source = Pile::read(source, Some(view.seat))?;
            let card = match source {
                Pile::Payoff(seat) => view.seats.get(seat)?.payoff.top?,
                Pile::Side(seat, index) => *view.seats.get(seat)?.side.get(index)?.last()?,
                _ => return None,
            };
            Some(Play {
                source,
                card,
                target,
            })
        });
        Self { text, play }
    }
}

/// A pile, by seat and index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(try_from = "String")]
pub enum Pile {
    Payoff(usize),
    Hand(usize),
    Side(usize, usize),
    Centre(usize),
    Stock,
    Aside,
}

impl Pile {
    /// Read a name as in `0h`, `1s2`, `c0`; without a seat it is that of `own`.
    fn read(name: &str, own: Option<usize>) -> Option<Self> {
        match name {
            "stock" => return Some(Self::Stock),
            "aside" => return Some(Self::Aside),
            _ => {}
        }
        let (seat, pile) = name.split_at(name.find(|c: char| !c.is_ascii_digit())?);
        let seat = seat.parse().ok().or(own);
        let (kind, index) = pile.split_at(pile.chars().next()?.len_utf8());
        match (kind, index) {
            ("p", "") => seat.map(Self::Payoff),
            ("h", "") => seat.map(Self::Hand),
            ("s", _) => Some(Self::Side(seat?, index.parse().ok()?)),
            ("c", _) => Some(Self::Centre(index.parse().ok()?)),
            _ => None,
        }
    }
}

impl TryFrom<String> for Pile {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        Self::read(&name, None).ok_or_else(|| format!("expected a pile, got {name:?}"))
    }
}

/// A card: its rank, one of `A23456789TJQKW`, and its suit, one of `CDHSX`; both `?` if it is hidden.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(try_from = "String")]
pub struct Card {
    pub rank: char,
    pub suit: char,
}

impl Card {
    fn read(name: &str) -> Option<Self> {
        let mut letters = name.chars();
        let card = Self {
            rank: letters.next()?,
            suit: letters.next()?,
        };
        letters.next().is_none().then_some(card)
    }

    /// 1 for an ace to 13 for a king, 14 for a card that is always wild, 0 if hidden.
    pub fn value(self) -> usize {
        "A23456789TJQKW"
            .find(self.rank)
            .map_or(0, |place| place + 1)
    }
}

impl TryFrom<String> for Card {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        Self::read(&name).ok_or_else(|| format!("expected a card, got {name:?}"))
    }
}

impl fmt::Display for Card {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        write!(to, "{}{}", self.rank, self.suit)
    }
}
