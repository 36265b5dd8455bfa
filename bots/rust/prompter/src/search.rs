//! The choice among lines: each is tried in the same worlds, and the worse half of them is dropped, again and again.

use crate::chance::Chance;
use crate::clock::cpu_ms;
use crate::lines::{list_lines, Line};
use crate::policy::{finish_turn, take_steps};
use crate::rules::Rules;
use crate::table::{Step, Table, World};
use crate::value::{estimate, Features};
use crate::weights::choose_weights;
use crate::worlds::Seen;
use crate::worth::WIN;

/// Lines that are tried at all.
const WIDTH: usize = 12;
/// With so many rollouts one turn behind a line is played out before the rest is estimated, with eight times as many two,
/// and so on. What is played is judged better than what is estimated, but varies more and takes longer.
const ONE_TURN: f64 = 12.5;
/// Turns behind a line: no budget plays out more.
const MOST_TURNS: f64 = 12.0;
/// What a turn of a rollout takes, in milliseconds or so.
const MS_OF_TURN: f64 = 0.0065;
/// The worth of a line counts as so many rollouts, and so much of it as a whole win.
const PRIOR: f64 = 24.0;
const WORTH_OF_WIN: f64 = 8_000.0;
/// Lines that lie further behind the best are not tried.
const HOPELESS: i32 = 3_000;

/// How much may be spent on a decision.
#[derive(Clone, Copy, Debug)]
pub enum Budget {
    /// CPU time, in milliseconds.
    Time(f64),
    /// Rollouts, whatever they take.
    Rollouts(usize),
}

struct Candidate<'a> {
    line: &'a Line,
    sum: f64,
    count: f64,
}

/// The lines of the seat to act that begin with a step for which `allowed` holds, the one to play first.
pub fn rank_lines(rules: &Rules, seen: &Seen, budget: Budget, seed: u64, allowed: impl Fn(Step) -> bool) -> Vec<Line> {
    let began = cpu_ms();
    let mut lines = list_lines(rules, &seen.table);
    lines.retain(|line| allowed(line.steps[0]));
    let Some(first) = lines.first() else { return lines };
    let best = first.worth;
    let tried = lines.iter().take(WIDTH).take_while(|line| line.worth > best - HOPELESS).count();
    let spent = matches!(budget, Budget::Time(limit) if limit <= 0.0) || matches!(budget, Budget::Rollouts(0));
    if spent || best > WIN / 2 {
        return lines;
    }
    if lines[..tried].iter().all(|line| line.steps[0] == lines[0].steps[0]) {
        // They differ later: then there is a step less to search through.
        lines[0].steps.truncate(1);
        return lines;
    }
    let mut search = Search {
        rules,
        seen,
        weights: &choose_weights(rules).value,
        chance: Chance(seed),
        team: rules.teams[seen.seat],
        turns: choose_turns(budget),
    };
    let chosen = search.halve(&lines[..tried], budget, began);
    lines.swap(0, chosen);
    lines
}

/// How many turns behind a line are played out.
fn choose_turns(budget: Budget) -> u16 {
    let turns = match budget {
        Budget::Rollouts(count) => (count as f64 / ONE_TURN).cbrt(),
        // As above, with as many rollouts of that length as there is time for.
        Budget::Time(limit) => (limit / MS_OF_TURN / ONE_TURN).powf(0.25),
    };
    turns.clamp(1.0, MOST_TURNS) as u16
}

struct Search<'a> {
    rules: &'a Rules,
    seen: &'a Seen,
    weights: &'static Features,
    chance: Chance,
    team: usize,
    /// Turns played out behind a line.
    turns: u16,
}

impl Search<'_> {
    /// Drops the worse half until one line is left; returns its place.
    fn halve(&mut self, lines: &[Line], budget: Budget, began: f64) -> usize {
        let mut alive: Vec<(usize, Candidate)> =
            lines.iter().map(|line| Candidate { line, sum: 0.0, count: 0.0 }).enumerate().collect();
        let rounds = usize::BITS - (lines.len() - 1).leading_zeros();
        let mut done = 0;
        for round in 1..=rounds {
            let share = f64::from(round) / f64::from(rounds);
            loop {
                let over = match budget {
                    Budget::Time(limit) => cpu_ms() - began >= limit * share,
                    Budget::Rollouts(limit) => done as f64 >= limit as f64 * share,
                };
                if over {
                    break;
                }
                let (table, world) = self.seen.deal(self.rules, &mut self.chance);
                for (_, candidate) in &mut alive {
                    candidate.sum += self.roll_out(&table, &world, candidate.line);
                    candidate.count += 1.0;
                }
                done += alive.len();
            }
            let best = lines[0].worth;
            let tries: f64 = alive.iter().map(|(_, candidate)| candidate.count).sum();
            let mean = alive.iter().map(|(_, candidate)| candidate.sum).sum::<f64>() / tries.max(1.0);
            let score = |candidate: &Candidate| {
                let prior = mean - f64::from(best - candidate.line.worth) / WORTH_OF_WIN;
                (candidate.sum + PRIOR * prior) / (candidate.count + PRIOR)
            };
            alive.sort_by(|one, other| score(&other.1).total_cmp(&score(&one.1)));
            alive.truncate((alive.len() + 1) / 2);
        }
        alive[0].0
    }

    /// Plays a line and some turns behind it in one world; the share of a win that comes of it.
    fn roll_out(&self, table: &Table, world: &World, line: &Line) -> f64 {
        let mut table = table.clone();
        let last = table.turns + self.turns;
        take_steps(self.rules, world, &mut table, &line.steps);
        while table.ending.is_none() && table.turns <= last {
            finish_turn(self.rules, world, &mut table);
        }
        f64::from(estimate(self.rules, self.weights, &table, self.team))
    }
}
