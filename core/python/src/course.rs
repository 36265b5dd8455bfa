//! A game that goes on in place: what `malice.Game` steps, as long as no seat has left it.

use malice_rules::actions::{list_legal, Action};
use malice_rules::dealer;
use malice_rules::messages::{Event, View};
use malice_rules::state::{self, Phase};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple};

use crate::dealer::Dealer;
use crate::lanes::parse_policy;
use crate::rules::{Rules, State};

/// The course of a game, as `malice.referee.course.Course` has it; its events are made when somebody asks for them.
#[pyclass(module = "malice_core")]
pub struct Course {
    /// The game.
    #[pyo3(get)]
    rules: Py<Rules>,
    position: state::State,
    dealer: dealer::Dealer,
    /// The events that are made, and those that are not.
    made: Py<PyList>,
    pending: Vec<Event>,
    legal: Vec<Action>,
    /// The words of the legal list, if they were asked for since the last action.
    words: Option<Py<PyTuple>>,
    step: Py<PyAny>,
}

#[pymethods]
impl Course {
    /// A game from a position on, and the events that led to it, one struct each.
    ///
    /// None if the compiled rules cannot go on from it, or a seat has left.
    #[staticmethod]
    #[pyo3(signature = (rules, dealer, state, events, /))]
    fn begin(
        rules: &Bound<'_, Rules>,
        dealer: &Bound<'_, Dealer>,
        state: &Bound<'_, PyAny>,
        events: &Bound<'_, PyTuple>,
    ) -> PyResult<Option<Course>> {
        let (py, inner) = (rules.py(), rules.get());
        let Some(position) = inner.read(state)?.filter(|position| position.out.is_empty()) else {
            return Ok(None);
        };
        let mut course = Course {
            position: position.clone(),
            dealer: dealer.borrow().0.clone(),
            made: events.to_list().unbind(),
            pending: Vec::new(),
            legal: Vec::new(),
            words: None,
            step: py.None(),
            rules: rules.clone().unbind(),
        };
        course.settle(py)?;
        Ok(Some(course))
    }

    /// Who acts, or the result.
    #[getter]
    fn step(&self, py: Python<'_>) -> Py<PyAny> {
        self.step.clone_ref(py)
    }

    #[getter]
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, State>> {
        Bound::new(py, self.rules.get().hand_over(self.position.clone()))
    }

    /// A dealer whose shuffles are those that are still to come.
    #[getter]
    fn dealer(&self) -> Dealer {
        Dealer(self.dealer.clone())
    }

    /// All that has happened, unmasked.
    #[getter]
    fn events<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let made = self.made.bind(py).clone();
        let structs = self.rules.get().structs();
        for event in std::mem::take(&mut self.pending) {
            made.append(structs.make_event(py, &event)?)?;
        }
        Ok(made)
    }

    #[pyo3(signature = (seat, /))]
    fn legal<'py>(&mut self, py: Python<'py>, seat: usize) -> PyResult<Bound<'py, PyTuple>> {
        if seat != self.position.seat {
            return Ok(PyTuple::empty(py));
        }
        if let Some(words) = &self.words {
            return Ok(words.bind(py).clone());
        }
        let rules = self.rules.get();
        list_legal(rules.derived(), &self.position, &mut self.legal);
        let words = rules.structs().name_actions(py, &self.legal)?;
        self.words = Some(words.clone().unbind());
        Ok(words)
    }

    #[pyo3(signature = (seat, /))]
    fn view(&self, py: Python<'_>, seat: Option<usize>) -> PyResult<Py<PyAny>> {
        let rules = self.rules.get();
        let view = View::new(rules.derived(), &self.position, seat);
        rules.structs().make_view(py, rules.derived(), &view)
    }

    /// The view of a seat as the vector that a learner gets: 32-bit floats.
    #[pyo3(signature = (seat, /))]
    fn encode<'py>(&self, py: Python<'py>, seat: usize) -> PyResult<Bound<'py, PyBytes>> {
        let rules = self.rules.get();
        let mut vector = vec![0.0; rules.learner().features];
        rules.learner().encode(rules.derived(), &self.position, seat, &mut vector);
        PyBytes::new_with(py, 4 * vector.len(), |bytes| {
            for (place, value) in bytes.chunks_exact_mut(4).zip(vector) {
                place.copy_from_slice(&f32::to_ne_bytes(value));
            }
            Ok(())
        })
    }

    /// Play the action of the seat to act.
    #[pyo3(signature = (actions, /))]
    fn play(&mut self, actions: &Bound<'_, PyDict>) -> PyResult<()> {
        let py = actions.py();
        let seat = self.position.seat;
        let word = actions.get_item(seat)?.unwrap_or_else(|| PyString::new(py, "").into_any());
        let words = self.legal(py, seat)?;
        let same = words.iter_borrowed().position(|listed| listed.is(&word));
        let place = match same {
            Some(place) => Some(place),
            None => words.index(&word).ok(),
        };
        let Some(action) = place.and_then(|place| self.legal.get(place).copied()) else {
            return Err(self.rules.get().structs().refuse_action(&word, seat)?);
        };
        let rules = self.rules.clone_ref(py);
        self.position.play_listed(rules.get().derived(), action, &mut self.pending);
        self.settle(py)
    }

    /// Play on by a policy, for so many turns or to the end; the seats that acted, and their actions.
    #[pyo3(signature = (policy, seed, turns, /))]
    fn advance<'py>(
        &mut self,
        py: Python<'py>,
        policy: &str,
        seed: u64,
        turns: Option<i64>,
    ) -> PyResult<Bound<'py, PyList>> {
        let policy = parse_policy(policy)?;
        let mut chance = dealer::Dealer::new(format!("rollout\0{seed}").as_bytes());
        let last = turns.map(|turns| self.position.turn.saturating_add(turns));
        let rules = self.rules.clone_ref(py);
        let (derived, mut seats, mut actions) = (rules.get().derived(), Vec::new(), Vec::new());
        while self.position.phase == Phase::Turn && last.is_none_or(|last| self.position.turn < last) {
            list_legal(derived, &self.position, &mut self.legal);
            let action = policy.choose(derived, &self.position, &self.legal, &mut chance);
            seats.push(self.position.seat);
            actions.push(action);
            self.position.play_listed(derived, action, &mut self.pending);
            self.position.settle(derived, &mut self.dealer, &mut self.pending);
        }
        self.settle(py)?;
        let words = rules.get().structs().name_actions(py, &actions)?;
        PyList::new(py, seats.into_iter().zip(words))
    }

    /// A course that goes on by itself, with the same shuffles to come.
    fn copy(&self, py: Python<'_>) -> PyResult<Course> {
        let made = self.made.bind(py);
        Ok(Course {
            rules: self.rules.clone_ref(py),
            position: self.position.clone(),
            dealer: self.dealer.clone(),
            made: made.get_slice(0, made.len()).unbind(),
            pending: self.pending.clone(),
            legal: self.legal.clone(),
            words: self.words.as_ref().map(|words| words.clone_ref(py)),
            step: self.step.clone_ref(py),
        })
    }

    /// Let another dealer choose the shuffles to come.
    #[pyo3(signature = (dealer, /))]
    fn replace_dealer(&mut self, dealer: &Bound<'_, Dealer>) {
        self.dealer = dealer.borrow().0.clone();
    }
}

impl Course {
    /// Shuffles until a seat must act, or the game is over.
    fn settle(&mut self, py: Python<'_>) -> PyResult<()> {
        let rules = self.rules.get();
        self.position.settle(rules.derived(), &mut self.dealer, &mut self.pending);
        self.words = None;
        self.legal.clear();
        self.step = rules.make_step(py, &self.position)?;
        Ok(())
    }
}
