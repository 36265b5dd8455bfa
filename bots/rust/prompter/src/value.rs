//! The chances of the teams where a rollout is cut off: a score for each from what it has, and shares of a win by it.
//!
//! The weights were fitted on games of the bot against itself by `prompter fitting`; weights.rs holds them.

use crate::rules::{Rules, NONE, SEATS, WILD};
use crate::table::{list_run, Ending, Table};
use crate::worth;

/// What a team is judged by: see `describe`.
pub const FEATURES: usize = 19;
pub type Features = [f32; FEATURES];
const NATURALS: u16 = (1 << WILD) - 2;

/// What the teams have, by team.
pub fn describe(rules: &Rules, table: &Table) -> [Features; SEATS] {
    let mut teams = [[0.0; FEATURES]; SEATS];
    let mut team_left = [0.0; SEATS];
    for seat in 0..rules.seats {
        let features = &mut teams[rules.teams[seat]];
        let own = &table.seats[seat];
        // The ranks in the hand and on top of side stacks, and those that also come off them one after another.
        let mut ranks = 0u16;
        for card in 1..WILD {
            ranks |= u16::from(own.hand[card as usize] > 0) << card;
        }
        let mut reach = ranks;
        let mut wilds = u32::from(own.hand[WILD as usize]);
        features[5] += wilds as f32;
        features[6] += f32::from(own.held) - wilds as f32;
        for pile in &own.sides[..rules.side_count] {
            let cards = pile.cards();
            let run = list_run(cards);
            features[7] += worth::clutter(rules, cards) as f32 / 100.0;
            features[8] += f32::from(u8::from(pile.top() == WILD));
            features[9] += f32::from(u8::from(pile.is_empty()));
            features[16] += run.count_ones() as f32 / 4.0;
            ranks |= 1 << pile.top();
            reach |= run;
            wilds += u32::from(pile.top() == WILD);
        }
        features[17] += (ranks & NATURALS).count_ones() as f32 / 5.0;
        let left = f32::from(own.left);
        features[0] += left / 10.0;
        team_left[rules.teams[seat]] += left;
        features[15] += left / rules.payoff_size.max(1) as f32;
        features[13] += f32::from(u8::from(own.top == WILD));
        let moves = f32::from(u8::from(seat == table.seat));
        features[10] += moves;
        if own.left > 0 && own.top != NONE {
            let lacks = |height: usize| (rules.below[height][own.top as usize] & !reach).count_ones();
            let missing = (0..rules.top).filter(|&height| table.heights[height] > 0).map(lacks).min().unwrap_or(13);
            let near = missing.saturating_sub(wilds) as usize;
            if near < 3 {
                features[2 + near] += 1.0;
            }
            if near < 2 {
                features[11 + near] += moves;
            }
            features[18] += near.min(8) as f32 / 4.0;
        }
    }
    // Partners win together: it does not matter which of them has the last card.
    for (features, left) in teams.iter_mut().zip(team_left) {
        features[1] = f32::ln(1.0 + left);
        features[14] = f32::from(u8::from(left <= 2.0));
    }
    teams
}

/// The share of a win that a team may expect.
pub fn estimate(rules: &Rules, weights: &Features, table: &Table, team: usize) -> f32 {
    if let Some(ending) = table.ending {
        return settle(rules, table, ending, team);
    }
    let teams = describe(rules, table);
    let score = |features: &Features| features.iter().zip(weights).map(|(own, weight)| own * weight).sum::<f32>();
    let own = score(&teams[team]);
    let playing = (0..rules.team_count).filter(|&other| other == team || is_playing(rules, table, other));
    1.0 / playing.map(|other| (score(&teams[other]) - own).exp()).sum::<f32>()
}

fn is_playing(rules: &Rules, table: &Table, team: usize) -> bool {
    (0..rules.seats).any(|seat| rules.teams[seat] == team && !table.seats[seat].out)
}

/// What a team gets of a game that is over.
pub fn settle(rules: &Rules, table: &Table, ending: Ending, team: usize) -> f32 {
    let draws = match ending {
        Ending::Won(winner) => return f32::from(u8::from(winner == team)),
        Ending::StockOut => rules.stock_out_draw,
        Ending::Stalemate => rules.stalemate_draw,
        Ending::Redeal => false,
    };
    let left = |team: usize| {
        let seats = (0..rules.seats).filter(|&seat| rules.teams[seat] == team);
        seats.map(|seat| u32::from(table.seats[seat].left)).sum::<u32>()
    };
    let teams = (0..rules.team_count).filter(|&other| is_playing(rules, table, other));
    let counts: Vec<u32> = teams.map(left).collect();
    let fewest = counts.iter().min().copied().unwrap_or(0);
    let first = counts.iter().filter(|&&count| draws || count == fewest).count();
    if draws || left(team) == fewest {
        1.0 / first.max(1) as f32
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::estimate;
    use crate::dealing::find_rules;
    use crate::table::Table;
    use crate::weights::choose_weights;

    /// The share of the seats 0 and 2 with so many cards left by seat.
    fn estimate_partners(left: [u8; 4]) -> f32 {
        let rules = find_rules("partners-4").expect("rules of this name");
        let mut table = Table::bare(&rules);
        (0..4).for_each(|seat| table.seats[seat].left = left[seat]);
        estimate(&rules, &choose_weights(&rules).value, &table, 0)
    }

    #[test]
    fn partners_are_as_far_whichever_of_them_has_the_cards() {
        let (even, uneven) = (estimate_partners([9, 8, 9, 8]), estimate_partners([1, 8, 17, 8]));

        assert!((even - uneven).abs() < 1e-4, "{even} {uneven}");
        assert!(estimate_partners([0, 8, 2, 8]) > 0.5);
    }
}
