//! Card names: two characters, rank then suit; a card is its place in the order of lists.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Ranks from low to high; `W` is a joker or Skip-Bo's wild card.
pub const RANKS: &str = "A23456789TJQKW";
/// How many cards have names of their own.
pub const KINDS: usize = 66;
/// Suits in listing order; the joker has the last of them, which is no suit.
const SUITS: &str = "CDHSX";
const NAMES: [[u8; 2]; KINDS] = name_cards();

const fn name_cards() -> [[u8; 2]; KINDS] {
    let mut names = [[b'W', b'X']; KINDS];
    let mut card = 0;
    while card < KINDS - 1 {
        names[card] = [RANKS.as_bytes()[card / 5], SUITS.as_bytes()[card % 5]];
        card += 1;
    }
    names
}

/// A card, by its place in the order of hands and legal actions: by rank, then suit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Card(pub u8);

pub type Pile = Vec<Card>;

/// A joker, or Skip-Bo's wild card.
pub const JOKER: Card = Card(KINDS as u8 - 1);

impl Card {
    /// Every card that has a name, in order.
    pub fn all() -> impl Iterator<Item = Card> {
        (0..KINDS as u8).map(Card)
    }

    pub fn parse(name: &str) -> Option<Card> {
        let place = NAMES.iter().position(|known| known == name.as_bytes())?;
        Some(Card(place as u8))
    }

    pub fn name(self) -> &'static str {
        std::str::from_utf8(&NAMES[self.0 as usize]).unwrap_or_default()
    }

    /// 1 (ace) to 13 (king), 14 for a joker.
    pub fn value(self) -> usize {
        self.0 as usize / 5 + 1
    }

    pub fn rank(self) -> char {
        char::from(NAMES[self.0 as usize][0])
    }

    fn suit(self) -> u8 {
        NAMES[self.0 as usize][1]
    }

    /// Whether two cards have one suit and neighbouring ranks; a king counts 13, a joker has no neighbour.
    pub fn is_neighbour(self, other: Card) -> bool {
        self.suit() == other.suit() && self.value().abs_diff(other.value()) == 1 && self != JOKER && other != JOKER
    }
}

impl Serialize for Card {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Card {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Card, D::Error> {
        let name = <&str>::deserialize(deserializer)?;
        Card::parse(name).ok_or_else(|| serde::de::Error::custom(format!("expected a card, got {name:?}")))
    }
}

/// One pack of 52: clubs, diamonds, hearts, spades, each from ace to king.
pub fn make_french_pack() -> Pile {
    (0..4).flat_map(|suit| (0..13).map(move |rank| Card(rank * 5 + suit))).collect()
}

/// Skip-Bo's 162 cards: twelve times 1 to 12, then 18 wild cards.
pub fn make_skipbo_pack() -> Pile {
    let ranks = (0..12).flat_map(|_| (0..12).map(|rank| Card(rank * 5 + 4)));
    ranks.chain(std::iter::repeat_n(JOKER, 18)).collect()
}
