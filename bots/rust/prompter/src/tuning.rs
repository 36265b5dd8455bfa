//! `prompter tuning`: games by the worth of lines alone, and the worths that win most of them.
//!
//! Simultaneous perturbation (SPSA): all numbers are moved at once, each up or down by lot, and games are played between
//! the worths moved one way and those moved the other; all numbers then follow the winner a little.

use crate::chance::Chance;
use crate::dealing::{find_rules, play_game};
use crate::duel::describe_shares;
use crate::policy::finish_turn;
use crate::rules::Rules;
use crate::weights::PLAIN;
use crate::worth::Worths;

/// Deals between two perturbed worths, and those that show what came of it all.
const DEALS: u64 = 32;
const DEALS_SHOWN: u64 = 2000;
/// How far a number is moved, as a part of it, and the least and the most of that.
const REACH: f64 = 0.2;
const REACH_OF_NONE: f64 = 15.0;
const LEAST: f64 = 2.0;
const MOST: f64 = 100.0;
/// How far the numbers follow the winner, by the share of a win above the mean.
const PACE: f64 = 2.0;
const USAGE: &str = "prompter tuning RULESET STEPS [SEED]";

/// Tunes, and prints now and then the worths for weights.rs, and how they do against those of `planner`.
pub fn run(arguments: &[String]) {
    let Some((rules, steps, seed)) = read(arguments) else {
        eprintln!("{USAGE}");
        std::process::exit(2);
    };
    let mut chance = Chance(seed);
    let mut numbers: Vec<f64> = PLAIN.clone().list_numbers().into_iter().map(|number| f64::from(*number)).collect();
    let reach: Vec<f64> = numbers.iter().map(|&number| choose_reach(number)).collect();
    let mut mean = numbers.clone();
    for step in 0..steps {
        let fade = 1.0 / (1.0 + 4.0 * step as f64 / steps as f64);
        let moves: Vec<f64> =
            reach.iter().map(|&reach| if chance.draw() >> 63 == 0 { reach } else { -reach }).collect();
        let shift = |size: f64| judge_by(&rules, numbers.iter().zip(&moves).map(|(number, step)| number + size * step));
        let (one, other) = (shift(fade.powf(0.3)), shift(-fade.powf(0.3)));
        let deals = (0..DEALS).map(|deal| play_deal(&one, &other, seed << 32 | (step * DEALS + deal)));
        let gain = deals.sum::<f64>() / DEALS as f64 - 1.0 / rules.team_count as f64;
        for ((number, mean), own) in numbers.iter_mut().zip(&mut mean).zip(&moves) {
            *number += PACE * fade * gain * own;
            *mean += (*number - *mean) / (step.min(steps / 5) + 1) as f64;
        }
        if (step + 1) % (steps / 10).max(1) == 0 {
            let tuned = judge_by(&rules, mean.iter().copied());
            let plain = judge_by(&rules, PLAIN.clone().list_numbers().into_iter().map(|number| f64::from(*number)));
            let shares: Vec<f64> = (0..DEALS_SHOWN).map(|deal| play_deal(&tuned, &plain, deal)).collect();
            println!("{} steps: {}\n{:?}", step + 1, describe_shares(&shares), tuned.worths);
        }
    }
}

fn read(arguments: &[String]) -> Option<(Rules, u64, u64)> {
    let [ruleset, steps, rest @ ..] = arguments else { return None };
    let seed = rest.first().map_or(Some(1), |seed| seed.parse().ok())?;
    Some((find_rules(ruleset)?, steps.parse().ok()?, seed))
}

fn choose_reach(number: f64) -> f64 {
    if number == 0.0 {
        REACH_OF_NONE
    } else {
        (REACH * number.abs()).clamp(LEAST, MOST)
    }
}

/// The same rules with other worths.
fn judge_by(rules: &Rules, numbers: impl Iterator<Item = f64>) -> Rules {
    let mut worths: Worths = PLAIN.clone();
    worths.list_numbers().into_iter().zip(numbers).for_each(|(own, number)| *own = number.round() as i32);
    let mut judged = rules.clone();
    judged.judge_by(worths);
    judged
}

/// Plays a deal in which each team in turn judges by `one`, all others by `other`; the mean share of `one`.
fn play_deal(one: &Rules, other: &Rules, seed: u64) -> f64 {
    let play = |team: usize| {
        play_game(one, seed, |table, world| {
            let rules = if one.teams[table.seat] == team { one } else { other };
            finish_turn(rules, world, table);
        })[team]
    };
    f64::from((0..one.team_count).map(play).sum::<f32>()) / one.team_count as f64
}
