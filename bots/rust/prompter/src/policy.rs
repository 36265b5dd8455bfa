//! How seats play in rollouts: a whole turn in a microsecond or so.
//!
//! Pay-off cards first, then the cards that lead to one, then what empties the hand or tidies a side stack, unless it
//! opens the way for an opponent. Then the tidiest discard.

use crate::rules::{Card, Rules, NONE, PILES, WILD};
use crate::table::{Source, Table, World};
use crate::worth;

/// How many wild cards may be spent on the way to a pay-off card.
const WILDS_SPENT: u32 = 2;

/// Plays to the end of the turn of the seat to act, or of the game.
pub fn finish_turn(rules: &Rules, world: &World, table: &mut Table) {
    let turn = table.turns;
    // No turn is longer than the cards that a seat can get hold of; the bound is for rules that this bot does not know.
    for _ in 0..200 {
        if table.ending.is_some() || table.turns != turn {
            return;
        }
        match choose_play(rules, table) {
            Some((source, height)) => table.play(rules, world, source, height),
            None => end_turn(rules, world, table),
        }
    }
    table.pass(rules, world);
}

fn end_turn(rules: &Rules, world: &World, table: &mut Table) {
    let mut best = if rules.can_pass && rules.optional { (worth::CARD_LEFT, None) } else { (i32::MIN, None) };
    for card in (1..=WILD).filter(|&card| table.own().hand[card as usize] > 0) {
        for side in table.list_discards(rules, card) {
            let worth = worth::discard(card, table.own().sides[side].top());
            if worth > best.0 {
                best = (worth, Some((card, side)));
            }
        }
    }
    match best.1 {
        Some((card, side)) => table.discard(rules, world, card, side),
        None => table.pass(rules, world),
    }
}

fn choose_play(rules: &Rules, table: &Table) -> Option<(Source, usize)> {
    if table.filling {
        return None;
    }
    if rules.has_forced() {
        if let Some(play) = choose_forced(rules, table) {
            return Some(play);
        }
    }
    let seats = rules.allies(table.seat).filter(|&seat| table.seats[seat].left > 0 && table.seats[seat].top != NONE);
    let mut best: Option<(u32, Source, usize)> = None;
    for seat in seats {
        if let Some(found) = find_way(rules, table, seat) {
            if best.map_or(true, |known| found.0 < known.0) {
                best = Some(found);
            }
        }
    }
    if let Some((_, source, height)) = best {
        return Some((source, height));
    }
    choose_from_hand(rules, table)
        .or_else(|| choose_from_sides(rules, table))
        .or_else(|| spend_last_wilds(rules, table))
}

/// A card that the rules demand to be played.
fn choose_forced(rules: &Rules, table: &Table) -> Option<(Source, usize)> {
    let own = table.own();
    let seat = table.seat as u8;
    (1..=rules.top).find_map(|rank| {
        let card = rank as Card;
        if table.heights[rank - 1] == 0 {
            return None;
        }
        if rules.forced_payoff >> rank & 1 != 0 && own.left > 0 && own.top == card {
            return Some((Source::Payoff(seat), rank - 1));
        }
        if rules.forced_hand >> rank & 1 != 0 && own.hand[rank] > 0 {
            return Some((Source::Hand(card), rank - 1));
        }
        let side = (0..rules.side_count).find(|&index| own.sides[index].top() == card);
        side.filter(|_| rules.forced_side >> rank & 1 != 0).map(|index| (Source::Side(seat, index as u8), rank - 1))
    })
}

/// The first play on the cheapest way to the pay-off card of a seat: (wild cards spent, from, height).
fn find_way(rules: &Rules, table: &Table, payer: usize) -> Option<(u32, Source, usize)> {
    let card = table.seats[payer].top;
    if card == WILD {
        return choose_height(rules, table).map(|height| (0, Source::Payoff(payer as u8), height));
    }
    let top = rules.top;
    let target = card as usize - 1;
    if target >= top {
        return None;
    }
    if table.heights[target] > 0 {
        return Some((0, Source::Payoff(payer as u8), target));
    }
    let mut best: Option<(u32, Source, usize)> = None;
    for length in 1..top {
        let start = (target + top - length) % top;
        if table.heights[start] == 0 {
            continue;
        }
        if let Some((wilds, source)) = walk(rules, table, start, length) {
            if best.map_or(true, |known| wilds < known.0) {
                best = Some((wilds, source, start));
            }
        }
    }
    best
}

/// Whether the cards at hand raise a stack by `length`: the wild cards that takes, and the first card.
fn walk(rules: &Rules, table: &Table, start: usize, length: usize) -> Option<(u32, Source)> {
    let own = table.own();
    let mut taken = [0; PILES * 4];
    let (mut wilds, mut first) = (0, None);
    let mut hand_wilds = own.hand[WILD as usize];
    for step in 0..length {
        let at = (start + step) % rules.top;
        let rank = at + 1;
        let source = if own.hand[rank] > 0 {
            Source::Hand(rank as Card)
        } else if let Some(source) = take_side(rules, table, &mut taken, rank as Card) {
            source
        } else if !rules.wild_fits(at) || wilds == WILDS_SPENT {
            return None;
        } else if hand_wilds > 0 {
            hand_wilds -= 1;
            wilds += 1;
            Source::Hand(WILD)
        } else {
            wilds += 1;
            take_side(rules, table, &mut taken, WILD)?
        };
        first = first.or(Some(source));
    }
    first.map(|source| (wilds, source))
}

/// A side stack of the team on whose top the card lies, once what was `taken` is gone.
fn take_side(rules: &Rules, table: &Table, taken: &mut [usize; PILES * 4], card: Card) -> Option<Source> {
    for (place, seat) in rules.allies(table.seat).take(4).enumerate() {
        for index in 0..rules.side_count {
            let used = &mut taken[place * PILES + index];
            if table.seats[seat].sides[index].below(*used) == card {
                *used += 1;
                return Some(Source::Side(seat as u8, index as u8));
            }
        }
    }
    None
}

/// Whether an opponent's pay-off card fits on a stack of this height, or its side stacks lead there.
fn is_wanted(rules: &Rules, table: &Table, height: usize) -> bool {
    rules.opponents(table.seat).any(|seat| {
        let other = &table.seats[seat];
        if other.out || other.left == 0 || other.top == WILD || other.top == NONE {
            return false;
        }
        let mut at = height;
        for _ in 0..3 {
            let next = (at + 1) as Card;
            if next == other.top {
                return true;
            }
            if !other.sides[..rules.side_count].iter().any(|pile| pile.top() == next) {
                return false;
            }
            at = (at + 1) % rules.top;
        }
        false
    })
}

/// Where a wild card does best: on a stack that an opponent waits for, else on the highest that leads nobody on.
fn choose_height(rules: &Rules, table: &Table) -> Option<usize> {
    let open = |&height: &usize| table.heights[height] > 0 && rules.wild_fits(height);
    let heights = (0..rules.top).rev().filter(open);
    heights.max_by_key(|&height| {
        let covers = table.heights[height] == 1 && is_wanted(rules, table, height);
        let opens = is_wanted(rules, table, (height + 1) % rules.top);
        (i32::from(covers) - i32::from(opens), height)
    })
}

/// A card of the hand that is no wild card.
fn choose_from_hand(rules: &Rules, table: &Table) -> Option<(Source, usize)> {
    let own = table.own();
    let mut best: Option<(i32, usize)> = None;
    for rank in (1..=rules.top).filter(|&rank| own.hand[rank] > 0 && table.heights[rank - 1] > 0) {
        let opens = rank < rules.top && table.heights[rank] == 0 && is_wanted(rules, table, rank);
        if opens && !can_empty_hand(rules, table) {
            continue;
        }
        let covers = table.heights[rank - 1] == 1 && is_wanted(rules, table, rank - 1);
        let score = i32::from(covers) - i32::from(opens);
        if best.map_or(true, |known| score > known.0) {
            best = Some((score, rank));
        }
    }
    best.map(|(_, rank)| (Source::Hand(rank as Card), rank - 1))
}

/// Whether every card of the hand can go to the centre now.
fn can_empty_hand(rules: &Rules, table: &Table) -> bool {
    let mut hand = table.own().hand;
    let mut held = table.own().held;
    let mut heights = table.heights;
    loop {
        let Some(rank) = (1..=rules.top).find(|&rank| hand[rank] > 0 && heights[rank - 1] > 0) else {
            return held == 0;
        };
        hand[rank] -= 1;
        held -= 1;
        heights[rank - 1] -= 1;
        heights[rank % rules.top] += 1;
    }
}

/// A side top that a card of the hand may follow, or that lies on cards needed before it.
fn choose_from_sides(rules: &Rules, table: &Table) -> Option<(Source, usize)> {
    for seat in rules.allies(table.seat) {
        for (index, pile) in table.seats[seat].sides[..rules.side_count].iter().enumerate() {
            let card = pile.top();
            if card == NONE || card == WILD || card as usize > rules.top || table.heights[card as usize - 1] == 0 {
                continue;
            }
            let rank = card as usize;
            let leads = rank < rules.top && table.own().hand[rank + 1] > 0;
            let under = pile.below(1);
            let tidies = under == NONE || worth::burial(under, card) > 0 || (under as usize) == rank + 1;
            let opens = rank < rules.top && table.heights[rank] == 0 && is_wanted(rules, table, rank);
            if (leads || tidies) && !opens {
                return Some((Source::Side(seat as u8, index as u8), rank - 1));
            }
        }
    }
    None
}

/// Plays wild cards if nothing else is left in the hand: five new cards are worth more.
fn spend_last_wilds(rules: &Rules, table: &Table) -> Option<(Source, usize)> {
    let own = table.own();
    let only = own.held > 0 && own.held <= 2 && own.held == own.hand[WILD as usize];
    if !only || table.supply() < rules.hand_size {
        return None;
    }
    choose_height(rules, table).map(|height| (Source::Hand(WILD), height))
}
