//! Many games at once in buffers of numpy.

use malice_rules::lanes::{self, Moment, Terms};
use malice_rules::policies::Policy;
use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::rules::Rules;

/// A row of games that write what came of each step into the caller's buffers.
#[pyclass(module = "malice_core")]
pub struct Lanes {
    lanes: lanes::Lanes,
    choices: PyBuffer<i64>,
    observations: Rows<f32>,
    masks: Rows<i8>,
    rewards: Rows<f32>,
    ended: Rows<u8>,
    seats: Rows<i64>,
    seeds: Rows<u64>,
    returns: Rows<f32>,
}

/// What is written of each game, and where it goes to once all games have played.
struct Rows<T: Element> {
    values: Vec<T>,
    buffer: PyBuffer<T>,
}

#[pymethods]
impl Lanes {
    /// Make `count` games under rules; `buffers` has an array for each name, contiguous and of the right size.
    #[new]
    #[pyo3(signature = (rules, count, opponents, seat, buffers))]
    fn new(
        rules: &Bound<'_, Rules>,
        count: usize,
        opponents: Option<&str>,
        seat: Option<usize>,
        buffers: &Bound<'_, PyAny>,
    ) -> PyResult<Lanes> {
        let opponents = opponents.map(parse_policy).transpose()?;
        let derived = rules.get().derived().clone();
        let seats = derived.seats;
        let lanes = lanes::Lanes::new(derived, count, Terms { opponents, seat });
        Ok(Lanes {
            choices: get(buffers, "choices", count)?,
            observations: Rows::new(buffers, "observations", count * lanes.learner.features)?,
            masks: Rows::new(buffers, "masks", count * lanes.learner.choices)?,
            rewards: Rows::new(buffers, "rewards", count)?,
            ended: Rows::new(buffers, "ended", count)?,
            seats: Rows::new(buffers, "seats", count)?,
            seeds: Rows::new(buffers, "seeds", count)?,
            returns: Rows::new(buffers, "returns", count * seats)?,
            lanes,
        })
    }

    /// Begin every game anew.
    fn reset(&mut self, py: Python<'_>, seed: u64) -> PyResult<()> {
        self.advance(py, |lanes, tell| lanes.reset(seed, tell))
    }

    /// Play the choices of the buffer, one in each game.
    fn step(&mut self, py: Python<'_>) -> PyResult<()> {
        let choices = self.choices.to_vec(py)?;
        self.advance(py, |lanes, tell| lanes.step(&choices, tell))
    }
}

impl Lanes {
    fn advance(
        &mut self,
        py: Python<'_>,
        play: impl FnOnce(&mut lanes::Lanes, &mut dyn FnMut(usize, &Moment)) + Send,
    ) -> PyResult<()> {
        let Lanes { lanes, choices: _, observations, masks, rewards, ended, seats, seeds, returns } = self;
        py.detach(move || {
            play(lanes, &mut |game, moment| {
                write_row(&mut observations.values, game, &moment.observation);
                write_row(&mut masks.values, game, &moment.mask);
                write_row(&mut returns.values, game, &moment.returns);
                rewards.values[game] = moment.reward;
                ended.values[game] = u8::from(moment.ended);
                seats.values[game] = moment.seat as i64;
                seeds.values[game] = moment.seed;
            });
        });
        self.observations.publish(py)?;
        self.masks.publish(py)?;
        self.rewards.publish(py)?;
        self.ended.publish(py)?;
        self.seats.publish(py)?;
        self.seeds.publish(py)?;
        self.returns.publish(py)
    }
}

impl<T: Element + Default> Rows<T> {
    fn new(buffers: &Bound<'_, PyAny>, name: &str, size: usize) -> PyResult<Rows<T>> {
        Ok(Rows { values: vec![T::default(); size], buffer: get(buffers, name, size)? })
    }

    fn publish(&self, py: Python<'_>) -> PyResult<()> {
        self.buffer.copy_from_slice(py, &self.values)
    }
}

fn write_row<T: Copy>(rows: &mut [T], row: usize, values: &[T]) {
    rows[row * values.len()..][..values.len()].copy_from_slice(values);
}

fn get<T: Element>(buffers: &Bound<'_, PyAny>, name: &str, size: usize) -> PyResult<PyBuffer<T>> {
    let buffer = PyBuffer::get(&buffers.get_item(name)?)?;
    if buffer.item_count() != size {
        let got = buffer.item_count();
        return Err(PyValueError::new_err(format!("{name}: expected {size} items, got {got}")));
    }
    Ok(buffer)
}

pub fn parse_policy(name: &str) -> PyResult<Policy> {
    Policy::parse(name)
        .ok_or_else(|| PyValueError::new_err(format!("expected the policy first, uniform or greedy, got {name:?}")))
}
