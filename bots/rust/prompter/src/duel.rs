//! `prompter duel`: the bot against itself with another budget, deal by deal with seats changed, inside this program.
//!
//! Its games are simplified as its rollouts are, so it is for comparing settings; `malice compare` has the last word.

use crate::chance::Chance;
use crate::clock::cpu_ms;
use crate::dealing::{deal, find_rules, redeal};
use crate::policy::take_steps;
use crate::rules::Rules;
use crate::search::{rank_lines, Budget};
use crate::table::{Ending, Table};
use crate::value::settle;
use crate::worlds::Seen;

const MOST_TURNS: u16 = 1500;
/// After so many deals it says how things stand.
const TOLD: usize = 20;
const USAGE: &str = "prompter duel RULESET BUDGET BUDGET DEALS [SEED]: a budget is 5ms, or 300 (rollouts), or 0";

/// Plays deals and says how the first budget did against the second, now and then.
pub fn run(arguments: &[String]) {
    let Some((rules, budgets, deals, seed)) = read(arguments) else {
        eprintln!("{USAGE}");
        std::process::exit(2);
    };
    let began = cpu_ms();
    let mut results = Vec::new();
    for number in 0..deals {
        let mut sum = 0.0;
        for first in 0..rules.team_count {
            // In each rotation another team has the first budget.
            let budget = |seat: usize| budgets[usize::from(rules.teams[seat] != first)];
            sum += f64::from(play_game(&rules, seed + number, first, &budget));
        }
        results.push(sum / rules.team_count as f64);
        if results.len() % TOLD == 0 || number + 1 == deals {
            tell(&results, cpu_ms() - began);
        }
    }
}

fn tell(results: &[f64], took: f64) {
    let count = results.len() as f64;
    let mean = results.iter().sum::<f64>() / count;
    let variance = results.iter().map(|result| (result - mean).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
    let half = 196.0 * (variance / count).sqrt();
    println!("{:.1} % +- {half:.1} of {count} deals, {:.0} s", 100.0 * mean, took / 1e3);
}

fn read(arguments: &[String]) -> Option<(Rules, [Budget; 2], u64, u64)> {
    let [ruleset, one, other, deals, rest @ ..] = arguments else { return None };
    let seed = rest.first().map_or(Some(1), |seed| seed.parse().ok())?;
    Some((find_rules(ruleset)?, [read_budget(one)?, read_budget(other)?], deals.parse().ok()?, seed))
}

fn read_budget(word: &str) -> Option<Budget> {
    match word.strip_suffix("ms") {
        Some(time) => time.parse().ok().map(Budget::Time),
        None => word.parse().ok().map(Budget::Rollouts),
    }
}

/// Plays a game; what `team` gets of it.
fn play_game(rules: &Rules, seed: u64, team: usize, budget: &dyn Fn(usize) -> Budget) -> f32 {
    let mut chance = Chance(seed.wrapping_mul(0x1234_5678_9ABC_DEF1));
    let first = chance.below(rules.seats);
    let (mut table, mut world) = deal(rules, &mut chance, first);
    let mut noise = Chance(seed ^ (team as u64) << 40);
    while table.turns < MOST_TURNS {
        match table.ending {
            Some(Ending::Redeal) => redeal(rules, &mut table, &mut world, &mut chance),
            Some(ending) => return settle(rules, &table, ending, team),
            None => {
                let seen = Seen::mask(rules, &table, &world);
                let lines = rank_lines(rules, &seen, budget(table.seat), noise.draw(), |_| true);
                match lines.first() {
                    Some(line) => take_steps(rules, &world, &mut table, &line.steps),
                    None => table.pass(rules, &world),
                }
            }
        }
    }
    settle_long(rules, &table, team)
}

fn settle_long(rules: &Rules, table: &Table, team: usize) -> f32 {
    settle(rules, table, Ending::Redeal, team)
}
