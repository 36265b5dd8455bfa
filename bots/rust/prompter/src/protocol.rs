//! The conversation with the referee: requests in, one answer to each.

use std::io::{self, BufRead, Write};

use crate::belief::Belief;
use crate::json::Json;
use crate::rules::{Card, Rules};
use crate::search::{rank_lines, Budget};
use crate::table::{Source, Step};
use crate::worth;

/// Of the time that is left for all actions, the part that one may take.
const SHARE_OF_BANK: f64 = 0.02;
/// Of the time for one action.
const SHARE_OF_MOVE: f64 = 0.5;

/// One game of this process.
struct Game {
    rules: Rules,
    belief: Belief,
    seed: u64,
    move_ms: Option<f64>,
    /// What is left of the line that was chosen, the next step last: nothing new is seen before it ends.
    plan: Vec<Step>,
}

/// Answers requests until `bye`, or until the input ends.
pub fn serve(budget: Budget) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let mut game = None;
    for line in io::stdin().lock().split(b'\n') {
        let line = line?;
        let Some(request) = std::str::from_utf8(&line).ok().and_then(Json::parse) else { continue };
        let kind = request.get("type").text();
        if kind == "bye" {
            break;
        }
        if kind == "game_start" {
            game = Some(Game::start(&request));
        }
        let id = request.get("id").number().unwrap_or(0.0);
        match (kind, &mut game) {
            ("move", Some(game)) => {
                let action = game.choose(&request, budget);
                writeln!(out, r#"{{"id":{id},"move":"{action}"}}"#)?;
            }
            _ => writeln!(out, r#"{{"id":{id}}}"#)?,
        }
        out.flush()?;
    }
    Ok(())
}

impl Game {
    fn start(request: &Json) -> Game {
        let teams: Vec<usize> = request.get("seats").items().iter().map(|seat| seat.get("team").count()).collect();
        let rules = Rules::new(request.get("rules"), &teams);
        let seat = request.get("seat").count();
        Game {
            belief: Belief::new(&rules, request.get("rules"), seat),
            rules,
            // Another seat of the same game must not meet the same chances, and has another number here.
            seed: request.get("rng").count() as u64,
            move_ms: request.get("clock").get("move_ms").number(),
            plan: Vec::new(),
        }
    }

    /// The action to play: the next of the line that was chosen, else that of the best line, unless the list has none
    /// of them.
    fn choose(&mut self, request: &Json, budget: Budget) -> String {
        for event in request.get("events").items() {
            self.belief.hear(&self.rules, event);
        }
        let view = request.get("view");
        let legal: Vec<&str> = request.get("legal").items().iter().map(Json::text).collect();
        if let Some(load) = legal.iter().find(|action| is_load(action)) {
            self.plan.clear();
            return load.to_string(); // a card gone for nothing: nearly always best
        }
        let heights: Vec<usize> = view.get("centre").items().iter().map(|stack| stack.get("height").count()).collect();
        let mut seen = self.belief.see(&self.rules, view);
        let seat = seen.seat;
        let sides = seen.table.own().sides;
        // A fill came before if the rules ask for fills and nothing may go to the centre any more.
        let filled = self.rules.fills && seen.table.moved && !legal.iter().any(|action| action.contains("-c"));
        seen.table.filling = filled;
        let actions: Vec<(Step, &str)> = legal
            .iter()
            .filter_map(|&action| Some((read_action(&self.rules, seat, &heights, action)?, action)))
            .collect();
        let find = |step: Step| actions.iter().find(|(known, _)| *known == step).map(|(_, action)| *action);
        if let Some(action) = self.plan.pop().and_then(find) {
            return action.to_string();
        }
        self.plan.clear();
        let budget = self.limit(budget, request.get("clock"));
        let seed = self.seed << 24 ^ (view.get("turn").count() << 8) as u64 ^ legal.len() as u64;
        let lines = rank_lines(&self.rules, &seen, budget, seed, |step| find(step).is_some());
        if let Some(line) = lines.into_iter().next() {
            self.plan = line.steps;
            self.plan.reverse();
            if let Some(action) = self.plan.pop().and_then(find) {
                return action.to_string();
            }
        }
        // No line: a rule that this bot does not know. A play, else the tidiest discard, else the first action.
        let play = actions.iter().find(|(step, _)| matches!(step, Step::Play(..)));
        let discards = actions.iter().filter_map(|(step, action)| match step {
            Step::Discard(card, side) => {
                Some((worth::discard(&self.rules, *card, sides[*side as usize].top()), *action))
            }
            _ => None,
        });
        let discard = discards.max_by_key(|(worth, _)| *worth).map(|(_, action)| action);
        play.map(|(_, action)| *action).or(discard).or(legal.first().copied()).unwrap_or("pass").to_string()
    }

    /// The budget, within what the clock of the game leaves.
    fn limit(&self, budget: Budget, clock: &Json) -> Budget {
        let bank = clock.get("bank_ms").number().map_or(f64::INFINITY, |bank| bank * SHARE_OF_BANK);
        let own = self.move_ms.map_or(f64::INFINITY, |limit| limit * SHARE_OF_MOVE);
        match budget {
            Budget::Time(limit) => Budget::Time(limit.min(bank).min(own)),
            // A bank that is nearly used up goes before the number of rollouts.
            Budget::Rollouts(count) if bank.min(own) >= 2.0 => Budget::Rollouts(count),
            Budget::Rollouts(_) => Budget::Rollouts(0),
        }
    }
}

fn is_load(action: &str) -> bool {
    action.split_once('-').is_some_and(|(_, target)| target.ends_with('p'))
}

/// A legal action as a step of a search; None for what no search plays.
fn read_action(rules: &Rules, seat: usize, heights: &[usize], action: &str) -> Option<Step> {
    if action == "pass" {
        return Some(Step::Pass);
    }
    let (from, to) = action.split_once('-')?;
    let card = |from: &str| -> Card { rules.card(&from[1..]) };
    if let Some(side) = to.strip_prefix('s') {
        return Some(Step::Discard(card(from), side.parse().ok()?));
    }
    let slot: usize = to.strip_prefix('c')?.parse().ok()?;
    let height = heights.get(slot).copied().unwrap_or(0) as u8;
    let source = match from.as_bytes().first()? {
        b'p' => Source::Payoff(seat as u8),
        b'h' => Source::Hand(card(from)),
        b's' => Source::Side(seat as u8, from[1..].parse().ok()?),
        digit => {
            let owner = digit.checked_sub(b'0')?;
            match from.as_bytes().get(1)? {
                b'p' => Source::Payoff(owner),
                _ => Source::Side(owner, from[2..].parse().ok()?),
            }
        }
    };
    Some(Step::Play(source, height))
}
