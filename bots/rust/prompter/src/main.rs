//! A bot for Spite & Malice and its relatives that plays the rest of the turn, and a few turns more, before it moves.
//!
//! Without arguments it speaks the protocol of malice. `prompter duel` and `prompter fitting` are for whoever works on
//! it: see README.md.

mod belief;
mod chance;
mod clock;
mod dealing;
mod duel;
mod fitting;
mod json;
mod lines;
mod policy;
mod protocol;
mod rules;
mod search;
mod table;
mod tuning;
mod value;
mod weights;
mod worlds;
mod worth;

use search::Budget;

/// A parameter of bot.toml, which malice hands over in the environment; by hand there is none.
fn parameter(name: &str, default: f64) -> f64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("duel") => duel::run(&arguments[1..]),
        Some("tuning") => tuning::run(&arguments[1..]),
        Some("fitting") => fitting::run(&arguments[1..]),
        _ => {}
    }
    if !arguments.is_empty() {
        return Ok(());
    }
    let rollouts = parameter("MALICE_ROLLOUTS", 0.0);
    protocol::serve(if rollouts >= 1.0 {
        Budget::Rollouts(rollouts as usize)
    } else {
        Budget::Time(parameter("MALICE_THINK_MS", 50.0))
    })
}
