//! Spite & Malice and Skip-Bo, compiled: the same game as `malice.referee.games.spite`, which is the judge.
//!
//! There is no clock, no I/O and no randomness here. A position changes in place, and whoever keeps the old one clones
//! it first. Modules and functions are called as in Python, so that the two can be read side by side.

pub mod actions;
pub mod cards;
pub mod dealer;
pub mod engine;
pub mod json;
pub mod lanes;
pub mod learner;
pub mod messages;
pub mod parameters;
pub mod plays;
pub mod policies;
pub mod record;
pub mod state;
