//! `prompter fitting`: games of the bot against itself, and the weights of the cut-off value that explain them best.

use crate::chance::Chance;
use crate::dealing::{find_rules, play_game};
use crate::lines::list_lines;
use crate::rules::{Rules, SEATS};
use crate::value::{describe, Features, FEATURES};
use crate::worlds::Seen;

/// Of so many turns one is kept.
const EVERY: usize = 3;
const PASSES: usize = 60;
const USAGE: &str = "prompter fitting RULESET GAMES";

/// What the teams had, by team, and what each of them got.
struct Moment {
    teams: [Features; SEATS],
    shares: [f32; SEATS],
}

/// Plays games, fits, and prints a line for weights.rs, and how good the fit is on games it has not seen.
pub fn run(arguments: &[String]) {
    let [ruleset, games] = arguments else { return eprintln!("{USAGE}") };
    let (Some(rules), Ok(games)) = (find_rules(ruleset), games.parse::<u64>()) else { return eprintln!("{USAGE}") };
    let mut moments = Vec::new();
    let mut held_back = Vec::new();
    for seed in 0..games {
        play(&rules, seed, if seed % 10 == 0 { &mut held_back } else { &mut moments });
    }
    let weights = fit(&rules, &moments);
    let before = measure(&rules, &held_back, &[0.0; FEATURES]);
    println!("{ruleset}: {} turns, loss {before:.4} -> {:.4}", moments.len(), measure(&rules, &held_back, &weights));
    println!("{weights:.3?}");
}

/// Plays a game by the worth of lines, and keeps some of its turns.
fn play(rules: &Rules, seed: u64, moments: &mut Vec<Moment>) {
    let mut chance = Chance(seed.wrapping_mul(0xABCD_EF12_3456_7891));
    let mut kept = Vec::new();
    let mut turn = 0;
    let shares = play_game(rules, seed, |table, world| {
        if table.turns != turn {
            turn = table.turns;
            if chance.below(EVERY) == 0 {
                kept.push(describe(rules, table));
            }
        }
        let lines = list_lines(rules, &Seen::mask(rules, table, world).table);
        // Now and then the second best line, so that the games differ from what the bot would always do.
        let place = usize::from(chance.below(8) == 0 && lines.len() > 1);
        match lines.get(place) {
            Some(line) => table.take_step(rules, world, line.steps[0]),
            None => table.pass(rules, world),
        }
    });
    moments.extend(kept.into_iter().map(|teams| Moment { teams, shares }));
}

/// The shares that weights expect.
fn expect(rules: &Rules, moment: &Moment, weights: &Features) -> [f32; SEATS] {
    let mut shares = [0.0; SEATS];
    let expected = &mut shares[..rules.team_count];
    for (share, team) in expected.iter_mut().zip(&moment.teams) {
        *share = team.iter().zip(weights).map(|(own, weight)| own * weight).sum();
    }
    let most = expected.iter().copied().fold(f32::MIN, f32::max);
    expected.iter_mut().for_each(|share| *share = (*share - most).exp());
    let sum: f32 = expected.iter().sum();
    expected.iter_mut().for_each(|share| *share /= sum);
    shares
}

/// The mean cross entropy.
fn measure(rules: &Rules, moments: &[Moment], weights: &Features) -> f32 {
    let loss = |moment: &Moment| {
        let expected = expect(rules, moment, weights);
        -(0..rules.team_count).map(|team| moment.shares[team] * expected[team].max(1e-6).ln()).sum::<f32>()
    };
    moments.iter().map(loss).sum::<f32>() / moments.len().max(1) as f32
}

/// Goes down the gradient of the cross entropy, each weight by its own pace (Adam), a moment at a time.
fn fit(rules: &Rules, moments: &[Moment]) -> Features {
    let mut chance = Chance(7);
    let mut order: Vec<usize> = (0..moments.len()).collect();
    let mut weights = [0.0f32; FEATURES];
    let (mut slope, mut square) = ([0.0f32; FEATURES], [0.0f32; FEATURES]);
    for pass in 0..PASSES {
        chance.shuffle(&mut order);
        let pace = 0.01 / (1.0 + pass as f32);
        for batch in order.chunks(64) {
            let mut gradient = [0.0f32; FEATURES];
            for &index in batch {
                let moment = &moments[index];
                let expected = expect(rules, moment, &weights);
                for (team, features) in moment.teams[..rules.team_count].iter().enumerate() {
                    let error = (expected[team] - moment.shares[team]) / batch.len() as f32;
                    for (own, feature) in gradient.iter_mut().zip(features) {
                        *own += error * feature;
                    }
                }
            }
            for place in 0..FEATURES {
                let own = gradient[place] + 1e-4 * weights[place];
                slope[place] = 0.9 * slope[place] + 0.1 * own;
                square[place] = 0.99 * square[place] + 0.01 * own * own;
                weights[place] -= pace * slope[place] / (square[place].sqrt() + 1e-6);
            }
        }
    }
    weights
}
