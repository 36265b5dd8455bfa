//! Whole games inside this program, for `duel`, `tuning` and `fitting`: the main game, Skip-Bo, the book version, partners.

use crate::chance::Chance;
use crate::json::Json;
use crate::rules::{Card, Rules, SEATS};
use crate::table::{Ending, Pile, Table, World};
use crate::value::settle;

const MOST_TURNS: u16 = 1500;

/// What the games that can be named here have in common with the referee's rulesets of these names.
const COMMON: &str = r#""hand_size":5,"side_count":4,"side_initial":0,"refill_at":"turn_start""#;
const RULESETS: [(&str, usize, usize, &str); 5] = [
    ("standard", 2, 2, STANDARD),
    ("skipbo", 2, 2, SKIPBO),
    ("book", 2, 2, BOOK),
    ("multi-4", 4, 4, FOUR),
    ("partners-4", 4, 2, FOUR),
];
const STANDARD: &str = r#""stack_top":12,"wild_kings":true,"decks":2,"payoff_size":20,"centre_limit":3,
    "recycle":"shuffle","stock_out_when":"need","stock_out_result":"fewest""#;
const FOUR: &str = r#""stack_top":12,"wild_kings":true,"decks":4,"payoff_size":20,"centre_limit":"players+1",
    "recycle":"shuffle","stock_out_when":"need","stock_out_result":"fewest""#;
const SKIPBO: &str = r#""stack_top":12,"wild_kings":false,"decks":1,"deck_kind":"skipbo","payoff_size":30,
    "centre_limit":4,"recycle":"aside","stock_out_when":"play_on","stock_out_result":"fewest""#;
const BOOK: &str = r#""stack_top":13,"wild_kings":false,"wild_ban":"A","decks":2,"jokers":4,"payoff_size":26,
    "payoff_source":"separate_pack","centre_limit":4,"recycle":"shuffle","stock_out_when":"need",
    "stock_out_result":"draw","side_rule":"equal_or_one_lower","discard":"optional",
    "compulsory":{"hand":"","payoff":"A2","side":"A2"},"stalemate":"redeal""#;

/// Rules by name.
pub fn find_rules(name: &str) -> Option<Rules> {
    let (_, seats, teams, own) = RULESETS.iter().find(|known| known.0 == name)?;
    let json = Json::parse(&format!("{{{COMMON},{own}}}"))?;
    let teams: Vec<usize> = (0..*seats).map(|seat| seat % teams).collect();
    Some(Rules::new(&json, &teams))
}

/// Plays a game in which `act` acts for the seat whose turn it is; what each team gets of it.
pub fn play_game(rules: &Rules, seed: u64, mut act: impl FnMut(&mut Table, &World)) -> [f32; SEATS] {
    let mut chance = Chance(seed.wrapping_mul(0x1234_5678_9ABC_DEF1));
    let first = chance.below(rules.seats);
    let (mut table, mut world) = deal(rules, &mut chance, first);
    let ending = loop {
        match table.ending {
            Some(Ending::Redeal) => redeal(rules, &mut table, &mut world, &mut chance),
            Some(ending) => break ending,
            None if table.turns >= MOST_TURNS => break Ending::Redeal,
            None => act(&mut table, &world),
        }
    };
    let share = |team| if team < rules.team_count { settle(rules, &table, ending, team) } else { 0.0 };
    std::array::from_fn(share)
}

/// Shuffles and deals; the first turn, that of the seat `first`, has begun.
fn deal(rules: &Rules, chance: &mut Chance, first: usize) -> (Table, World) {
    let mut deck = rules.deck.clone();
    let mut pack = rules.payoff_pack.clone();
    chance.shuffle(&mut deck);
    chance.shuffle(&mut pack);
    let mut table = Table::bare(rules);
    let mut world = World::default();
    for seat in 0..rules.seats {
        let from = if pack.is_empty() { &mut deck } else { &mut pack };
        let pile: Vec<Card> = (0..rules.payoff_size).filter_map(|_| from.pop()).collect();
        table.seats[seat].left = pile.len() as u8;
        table.seats[seat].top = *pile.last().unwrap_or(&0);
        world.payoffs[seat] = pile;
    }
    world.stock = deck;
    table.stock = world.stock.len() as u16;
    deal_hands(rules, &mut table, &mut world);
    table.chance = Chance(chance.draw());
    table.begin_turn(rules, &world, first);
    (table, world)
}

fn deal_hands(rules: &Rules, table: &mut Table, world: &mut World) {
    for seat in 0..rules.seats {
        for _ in 0..rules.hand_size.min(world.stock.len()) {
            let card = world.stock.pop().unwrap_or(1);
            table.seats[seat].hand[card as usize] += 1;
            table.seats[seat].held += 1;
        }
    }
    table.stock = world.stock.len() as u16;
}

/// Gathers everything but the pay-off piles after a stalemate, and deals new hands.
fn redeal(rules: &Rules, table: &mut Table, world: &mut World, chance: &mut Chance) {
    let mut payoffs: [usize; SEATS] = [0; SEATS];
    let mut unused = rules.deck.iter().chain(&rules.payoff_pack).fold([0i32; 16], |mut counts, &card| {
        counts[card as usize] += 1;
        counts
    });
    for (seat, left) in payoffs.iter_mut().enumerate().take(rules.seats) {
        *left = table.seats[seat].left as usize;
        world.payoffs[seat][..*left].iter().for_each(|&card| unused[card as usize] -= 1);
        let owner = &mut table.seats[seat];
        (owner.hand, owner.held, owner.unplayed) = ([0; 16], 0, 0);
        owner.sides.iter_mut().for_each(|pile| *pile = Pile::EMPTY);
    }
    world.stock = (1..16).flat_map(|card| vec![card as Card; unused[card].max(0) as usize]).collect();
    chance.shuffle(&mut world.stock);
    let bare = Table::bare(rules);
    table.heights = bare.heights;
    (table.centre_cards, table.centre_wilds, table.recycled, table.recycled_count) = (0, 0, [0; 16], 0);
    (table.passes, table.ending) = (0, None);
    deal_hands(rules, table, world);
    let next = (table.seat + 1) % rules.seats;
    table.begin_turn(rules, world, next);
}
