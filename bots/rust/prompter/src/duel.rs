//! `prompter duel`: the bot against itself with another budget, deal by deal with seats changed, inside this program.
//!
//! Its games are simplified as its rollouts are, so it is for comparing settings; `malice compare` has the last word.

use crate::chance::Chance;
use crate::clock::cpu_ms;
use crate::dealing::{find_rules, play_game};
use crate::policy::take_steps;
use crate::rules::Rules;
use crate::search::{rank_lines, Budget};
use crate::worlds::Seen;

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
            let mut noise = Chance((seed + number) ^ (first as u64) << 40);
            let shares = play_game(&rules, seed + number, |table, world| {
                let budget = budgets[usize::from(rules.teams[table.seat] != first)];
                let lines = rank_lines(&rules, &Seen::mask(&rules, table, world), budget, noise.draw(), |_| true);
                match lines.first() {
                    Some(line) => take_steps(&rules, world, table, &line.steps),
                    None => table.pass(&rules, world),
                }
            });
            sum += f64::from(shares[first]);
        }
        results.push(sum / rules.team_count as f64);
        if results.len() % TOLD == 0 || number + 1 == deals {
            println!("{}, {:.0} s", describe_shares(&results), (cpu_ms() - began) / 1e3);
        }
    }
}

/// The mean of the shares by deal, with its interval of 95 %.
pub fn describe_shares(shares: &[f64]) -> String {
    let count = shares.len() as f64;
    let mean = shares.iter().sum::<f64>() / count;
    let variance = shares.iter().map(|share| (share - mean).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
    format!("{:.1} % +- {:.1} of {count} deals", 100.0 * mean, 196.0 * (variance / count).sqrt())
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
