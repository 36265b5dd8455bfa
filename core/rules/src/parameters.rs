//! Every parameter of Spite & Malice and its relatives, and what follows from them.
//!
//! Whether parameters make a game is decided by malice, in Python and in words: what comes here has passed.

use serde::Deserialize;

use crate::cards::{make_french_pack, make_skipbo_pack, Card, Pile, JOKER, RANKS};

/// Declares an enumeration of words, as JSON has them.
macro_rules! words {
    ($($name:ident { $($word:ident),* })*) => {$(
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum $name { $($word),* }
    )*};
}

words! {
    DeckKind { French, Skipbo }
    PayoffSource { Mixed, SeparatePack }
    RefillAt { TurnStart, TurnEnd }
    SideRule { Any, EqualOrOneLower }
    Discard { Mandatory, Optional }
    Loading { None, SuitAdjacent }
    Recycle { Shuffle, Bottom, Aside }
    StockOutWhen { Need, Empty, None, PlayOn }
    Winner { Draw, Fewest }
    Stalemate { End, MustPlay, Redeal }
    FirstPlayer { HighPayoff, LowPayoff, Random, Seat }
    FirstTie { ReshuffleOwn, RedealTogether }
    SideVisible { All, Top }
    PayoffCount { Public, OnRequest, OnRequestOwn }
    Scoring { WinOnly, FivePlus, RemainOnly, Skipbo }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
pub enum Teams {
    #[serde(rename = "none")]
    None,
    #[serde(rename = "2x2")]
    Pairs,
    #[serde(rename = "3x2")]
    ThreePairs,
}

/// A number, or a word or a share in its place.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(untagged)]
pub enum Amount {
    Number(usize),
    Share(f64),
    Word(String),
}

#[derive(Clone, PartialEq, Debug, Deserialize)]
pub struct Compulsory {
    pub hand: String,
    pub payoff: String,
    pub side: String,
}

/// Every parameter, as `malice.referee.games.spite.parameters` describes it.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    pub players: (usize, usize),
    pub teams: Teams,
    pub decks: Amount,
    pub jokers: usize,
    pub deck_kind: DeckKind,
    pub payoff_source: PayoffSource,
    pub payoff_size: Amount,
    pub hand_size: usize,
    pub refill_at: RefillAt,
    pub wild_kings: bool,
    pub wild_ban: String,
    pub stack_top: usize,
    pub centre_limit: Amount,
    pub side_count: usize,
    pub side_rule: SideRule,
    pub side_initial: usize,
    pub fill_empty_sides: bool,
    pub discard: Discard,
    pub compulsory: Compulsory,
    pub loading: Loading,
    pub recycle: Recycle,
    pub last_resort_recycle: bool,
    pub stock_out_when: StockOutWhen,
    pub stock_out_result: Winner,
    pub stalemate: Stalemate,
    pub stalemate_result: Winner,
    pub redeals: i64,
    pub first_player: FirstPlayer,
    pub first_tie: FirstTie,
    pub side_visible: SideVisible,
    pub payoff_count: PayoffCount,
    pub scoring: Scoring,
    pub match_target: i64,
    pub max_turns: i64,
    pub no_progress: i64,
    pub tie_cap: i64,
}

const FRENCH: usize = 52;

/// A set of cards, a bit for each.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct CardSet(u128);

impl CardSet {
    pub fn has(self, card: Card) -> bool {
        self.0 >> card.0 & 1 != 0
    }
}

impl FromIterator<Card> for CardSet {
    fn from_iter<I: IntoIterator<Item = Card>>(cards: I) -> CardSet {
        CardSet(cards.into_iter().fold(0, |set, card| set | 1 << card.0))
    }
}

/// The parameters in the form that the engine needs.
#[derive(Clone, Debug)]
pub struct Derived {
    pub rules: Parameters,
    pub seats: usize,
    /// The team of each seat; without partners, the seat itself.
    pub teams: Vec<usize>,
    /// For each seat its whole team, itself included.
    pub allies: Vec<Vec<usize>>,
    pub partners: Vec<Vec<usize>>,
    /// The pay-off piles' own pack, which may be empty.
    pub payoff_pack: Pile,
    pub deck: Pile,
    pub payoff_size: usize,
    /// How many centre stacks there may be; None for any number.
    pub centre_slots: Option<usize>,
    /// For each height of a centre stack the cards that fit on it.
    pub fits: Vec<CardSet>,
    pub turn_limit: i64,
    pub quiet_limit: i64,
    /// Whether a turn can end without a discard.
    pub can_pass: bool,
    pub has_compulsion: bool,
    /// By card, a bit for each rank that it may stand for on a side stack in descending order.
    pub side_ranks: Vec<u32>,
    pub compulsion: Compulsion,
    /// After a stalemate.
    pub stalemate_breakers: Compulsion,
}

/// The cards that must be played to the centre as soon as they fit, by the zone they lie in.
#[derive(Clone, Copy, Default, Debug)]
pub struct Compulsion {
    pub hand: CardSet,
    pub payoff: CardSet,
    pub side: CardSet,
}

impl Derived {
    pub fn new(rules: Parameters, seats: usize) -> Derived {
        let count = if rules.teams == Teams::None { seats } else { seats / 2 };
        let teams: Vec<usize> = (0..seats).map(|seat| seat % count).collect();
        let allies: Vec<Vec<usize>> =
            teams.iter().map(|team| (0..seats).filter(|&seat| teams[seat] == *team).collect()).collect();
        let partners =
            (0..seats).map(|seat| allies[seat].iter().copied().filter(|&ally| ally != seat).collect()).collect();
        let (payoff_pack, deck) = list_packs(&rules, seats);
        let cards = payoff_pack.len() + deck.len();
        let payoff_size = match rules.payoff_size {
            Amount::Share(share) => (share * cards as f64 / seats as f64) as usize,
            Amount::Number(size) => size,
            Amount::Word(_) => 0,
        };
        let centre_slots = match &rules.centre_limit {
            Amount::Number(limit) => Some(*limit),
            Amount::Word(word) if word == "players+1" => Some(seats + 1),
            _ => None,
        };
        let forced = |ranks: &str| Card::all().filter(|card| ranks.contains(card.rank())).collect();
        let compulsion = Compulsion {
            hand: forced(&rules.compulsory.hand),
            payoff: forced(&rules.compulsory.payoff),
            side: forced(&rules.compulsory.side),
        };
        let zones = &rules.compulsory;
        Derived {
            seats,
            teams,
            allies,
            partners,
            payoff_pack,
            deck,
            payoff_size,
            centre_slots,
            fits: (0..rules.stack_top).map(|height| list_fitting_cards(&rules, height)).collect(),
            turn_limit: rules.max_turns * seats as i64,
            quiet_limit: rules.no_progress * seats as i64,
            can_pass: rules.discard == Discard::Optional
                || rules.side_rule != SideRule::Any
                || rules.stock_out_when == StockOutWhen::PlayOn,
            has_compulsion: [&zones.hand, &zones.payoff, &zones.side].iter().any(|ranks| !ranks.is_empty()),
            side_ranks: rank_on_sides(&rules),
            compulsion,
            stalemate_breakers: Compulsion { hand: forced("A2"), ..Compulsion::default() },
            rules,
        }
    }
}

/// The pay-off piles' own pack, and the pack of everything else.
fn list_packs(rules: &Parameters, seats: usize) -> (Pile, Pile) {
    let count = match rules.decks {
        Amount::Number(count) => count,
        _ => seats,
    };
    let pack = if rules.deck_kind == DeckKind::Skipbo { make_skipbo_pack() } else { make_french_pack() };
    let separate = match rules.payoff_size {
        Amount::Number(size) if rules.payoff_source == PayoffSource::SeparatePack => seats * size / FRENCH,
        _ => 0,
    };
    let mut deck = pack.repeat(count.saturating_sub(separate));
    deck.extend(std::iter::repeat_n(JOKER, rules.jokers));
    (pack.repeat(separate), deck)
}

/// Whether a card can stand for others in the centre.
pub fn is_wild(rules: &Parameters, card: Card) -> bool {
    card == JOKER || (rules.wild_kings && card.value() == 13)
}

/// The rank of a centre stack's next card.
pub fn name_rank(height: usize) -> char {
    char::from(RANKS.as_bytes()[height])
}

pub fn list_fitting_cards(rules: &Parameters, height: usize) -> CardSet {
    let banned = rules.wild_ban.contains(name_rank(height));
    Card::all().filter(|&card| card.value() == height + 1 || (!banned && is_wild(rules, card))).collect()
}

/// A wild card keeps every rank that it can have in the order of a pile.
fn rank_on_sides(rules: &Parameters) -> Vec<u32> {
    let wilds = (1..=rules.stack_top)
        .filter(|&rank| !rules.wild_ban.contains(name_rank(rank - 1)))
        .fold(0, |ranks, rank| ranks | 1 << rank);
    Card::all().map(|card| if is_wild(rules, card) { wilds } else { 1 << card.value() }).collect()
}
