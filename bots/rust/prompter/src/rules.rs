//! The rules of a game in the form that a search needs. Suits do not matter in the centre: a card is its rank.

use crate::json::Json;
use crate::weights::{choose_weights, PLAIN};
use crate::worth::Worths;

/// 1 for an ace to 13 for a king.
pub type Card = u8;
/// A joker, a wild card of Skip-Bo, a king where kings are wild.
pub const WILD: Card = 14;
/// A card that is hidden, or no card.
pub const NONE: Card = 0;
/// How many numbers cards have.
pub const KINDS: usize = 16;
/// Seats, and side stacks of a seat; what a ruleset has beyond is not searched.
pub const SEATS: usize = 8;
pub const PILES: usize = 6;

const RANKS: &str = "?A23456789TJQK";

/// When a stock that has run out ends the game.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum StockOut {
    Need,
    Empty,
    PlayOn,
}

#[derive(Clone, Debug)]
pub struct Rules {
    pub seats: usize,
    pub teams: [usize; SEATS],
    pub team_count: usize,
    /// The cards in the game, and those among them that only pay-off piles are dealt from.
    pub deck: Vec<Card>,
    pub payoff_pack: Vec<Card>,
    pub payoff_size: usize,
    pub hand_size: usize,
    pub side_count: usize,
    /// The height at which a centre stack is complete.
    pub top: usize,
    /// None: any number of centre stacks.
    pub slots: Option<usize>,
    pub wild_kings: bool,
    /// By height, as bits: whether a wild card fits.
    pub wild_fits: u16,
    /// Side stacks take equal cards and those one lower only.
    pub descending: bool,
    /// A turn may end without a discard, always or where no discard is legal.
    pub optional: bool,
    pub can_pass: bool,
    /// Empty side stacks are filled before a discard.
    pub fills: bool,
    /// The ranks, as bits, that must be played from a hand, a pay-off pile, a side stack.
    pub forced_hand: u16,
    pub forced_payoff: u16,
    pub forced_side: u16,
    pub refill_at_end: bool,
    pub aside: bool,
    pub stock_out: StockOut,
    pub stock_out_draw: bool,
    pub stalemate_ends: bool,
    pub stalemate_draw: bool,
    /// For each height and card the ranks, as bits, that a stack needs before the card fits.
    pub below: Vec<[u16; KINDS]>,
    /// How lines are judged, and what it costs to have a card lie on another, by the lower one.
    pub worths: Worths,
    pub burials: [[i32; KINDS]; KINDS],
}

impl Rules {
    pub fn new(json: &Json, teams: &[usize]) -> Rules {
        let seats = teams.len().min(SEATS);
        let word = |name: &str| json.get(name).text();
        let top = json.get("stack_top").count().clamp(2, 13);
        let wild_kings = json.get("wild_kings").is_true();
        let banned = bits(word("wild_ban"));
        let wild_fits =
            (0..top).filter(|&height| banned >> (height + 1) & 1 == 0).fold(0, |all, height| all | 1 << height);
        let (payoff_pack, deck) = list_packs(json, seats, wild_kings);
        let cards = payoff_pack.len() + deck.len();
        let size = json.get("payoff_size").number().unwrap_or(0.0);
        // A share of the cards is spelt with a point; 1.0 and less is none.
        let payoff_size = if size < 1.0 { (size * cards as f64 / seats as f64) as usize } else { size as usize };
        let limit = json.get("centre_limit");
        let slots = match limit.text() {
            "players+1" => Some(seats + 1),
            "unlimited" => None,
            _ => limit.number().map(|slots| slots as usize),
        };
        let forced = json.get("compulsory");
        let descending = word("side_rule") == "equal_or_one_lower";
        let optional = word("discard") == "optional";
        let stock_out = match word("stock_out_when") {
            "need" => StockOut::Need,
            "play_on" => StockOut::PlayOn,
            _ => StockOut::Empty,
        };
        let mut own = [0; SEATS];
        own[..seats].copy_from_slice(&teams[..seats]);
        let mut rules = Rules {
            seats,
            teams: own,
            team_count: teams.iter().max().map_or(1, |last| last + 1).min(SEATS),
            deck,
            payoff_pack,
            payoff_size,
            hand_size: json.get("hand_size").count(),
            side_count: json.get("side_count").count().min(PILES),
            top,
            slots,
            wild_kings,
            wild_fits,
            descending,
            optional,
            can_pass: optional || descending || stock_out == StockOut::PlayOn,
            fills: json.get("fill_empty_sides").is_true(),
            forced_hand: bits(forced.get("hand").text()),
            forced_payoff: bits(forced.get("payoff").text()),
            forced_side: bits(forced.get("side").text()),
            refill_at_end: word("refill_at") == "turn_end",
            aside: word("recycle") == "aside",
            stock_out,
            stock_out_draw: word("stock_out_result") == "draw",
            stalemate_ends: word("stalemate") != "redeal",
            stalemate_draw: word("stalemate_result") == "draw",
            below: (0..top).map(|height| list_below(height, top, wild_fits)).collect(),
            worths: PLAIN,
            burials: PLAIN.list_burials(),
        };
        rules.judge_by(choose_weights(&rules).worths.clone());
        rules
    }

    /// Judges lines by these worths from now on.
    pub fn judge_by(&mut self, worths: Worths) {
        self.burials = worths.list_burials();
        self.worths = worths;
    }

    /// A card by its name on the wire.
    pub fn card(&self, name: &str) -> Card {
        read_card(name, self.wild_kings)
    }

    pub fn wild_fits(&self, height: usize) -> bool {
        self.wild_fits >> height & 1 != 0
    }

    pub fn fits(&self, card: Card, height: usize) -> bool {
        card as usize == height + 1 || (card == WILD && self.wild_fits(height))
    }

    pub fn has_forced(&self) -> bool {
        self.forced_hand | self.forced_payoff | self.forced_side != 0
    }

    pub fn allies(&self, seat: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.seats).filter(move |&other| self.teams[other] == self.teams[seat])
    }

    pub fn opponents(&self, seat: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.seats).filter(move |&other| self.teams[other] != self.teams[seat])
    }
}

fn read_card(name: &str, wild_kings: bool) -> Card {
    match name.as_bytes().first() {
        Some(b'W') => WILD,
        Some(b'K') if wild_kings => WILD,
        Some(&rank) => RANKS.bytes().position(|known| known == rank).unwrap_or(0) as Card,
        None => NONE,
    }
}

fn bits(ranks: &str) -> u16 {
    ranks.bytes().filter_map(|rank| RANKS.bytes().position(|known| known == rank)).fold(0, |all, rank| all | 1 << rank)
}

fn list_packs(json: &Json, seats: usize, wild_kings: bool) -> (Vec<Card>, Vec<Card>) {
    let king = if wild_kings { WILD } else { 13 };
    let pack: Vec<Card> = if json.get("deck_kind").text() == "skipbo" {
        (0..144).map(|card| card % 12 + 1).chain([WILD; 18]).collect()
    } else {
        (0..52).map(|card| if card % 13 == 12 { king } else { card % 13 + 1 }).collect()
    };
    let count = json.get("decks").number().map_or(seats, |count| count as usize);
    let separate = match json.get("payoff_source").text() {
        "separate_pack" => seats * json.get("payoff_size").count() / 52,
        _ => 0,
    };
    let mut deck = pack.repeat(count.saturating_sub(separate));
    deck.extend(vec![WILD; json.get("jokers").count()]);
    (pack.repeat(separate), deck)
}

fn list_below(height: usize, top: usize, wild_fits: u16) -> [u16; KINDS] {
    let mut needed = [0; KINDS];
    for (card, ranks) in needed.iter_mut().enumerate() {
        let mut at = height;
        for _ in 0..top {
            if card == at + 1 || (card == WILD as usize && wild_fits >> at & 1 != 0) {
                break;
            }
            *ranks |= 1 << (at + 1);
            at = (at + 1) % top;
        }
    }
    needed
}
