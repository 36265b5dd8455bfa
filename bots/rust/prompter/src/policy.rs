//! How seats play in rollouts: by the line that looks best, as `planner` does.

use crate::lines::find_line;
use crate::rules::Rules;
use crate::table::{Step, Table, World};

/// Plays to the end of the turn of the seat to act, or of the game.
pub fn finish_turn(rules: &Rules, world: &World, table: &mut Table) {
    let turn = table.turns;
    // No turn is longer than the cards that a seat can get hold of; the bound is for rules that this bot does not know.
    for _ in 0..100 {
        if table.ending.is_some() || table.turns != turn {
            return;
        }
        let line = find_line(rules, table);
        if line.is_empty() {
            break;
        }
        take_steps(rules, world, table, &line);
    }
    if table.ending.is_none() && table.turns == turn {
        table.pass(rules, world);
    }
}

/// Takes the steps of a line, as far as the game goes on.
pub fn take_steps(rules: &Rules, world: &World, table: &mut Table, steps: &[Step]) {
    for &step in steps {
        table.take_step(rules, world, step);
        if table.ending.is_some() {
            break;
        }
    }
}
