//! The interface of `malice.referee.rules`, and positions that Python may read.

use malice_rules::actions::{list_legal, Action};
use malice_rules::dealer::Dealer;
use malice_rules::engine::Step;
use malice_rules::json::write_view;
use malice_rules::learner::Learner;
use malice_rules::messages::{Event, View};
use malice_rules::parameters::Derived;
use malice_rules::policies::{play_out, Policy};
use malice_rules::record::replay;
use malice_rules::state;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyBytes, PyDict, PyString, PyTuple};

use crate::lanes::parse_policy;
use crate::structs::Structs;

/// A position; it reads like the `State` of Python.
#[pyclass(frozen, module = "malice_core")]
pub struct State {
    pub position: state::State,
    structs: std::sync::Arc<Structs>,
}

/// Declares how Python reads fields: plain ones, piles of names.
macro_rules! fields {
    ($(copy $copy:ident: $kind:ty;)* $(seats $seats:ident;)* $(cards $cards:ident;)* $(piles $piles:ident;)*) => {
        #[pymethods]
        impl State {
            $(#[getter]
            fn $copy(&self) -> $kind {
                self.position.$copy
            })*
            $(#[getter]
            fn $seats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
                PyTuple::new(py, &self.position.$seats)
            })*
            $(#[getter]
            fn $cards<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
                self.structs.name_cards(py, &self.position.$cards)
            })*
            $(#[getter]
            fn $piles<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
                self.structs.name_piles(py, &self.position.$piles)
            })*
            #[getter]
            fn phase(&self) -> &'static str {
                self.position.phase.word()
            }
            #[getter]
            fn sides<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
                self.structs.name_tables(py, &self.position.sides)
            }
            #[getter]
            fn result(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
                self.position.result.as_ref().map(|result| self.structs.make_result(py, result)).transpose()
            }

            /// The position as JSON, byte for byte as that of Python.
            fn json<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
                let json = serde_json::to_vec(&self.position).map_err(|error| PyValueError::new_err(error.to_string()))?;
                Ok(PyBytes::new(py, &json))
            }
        }
    };
}

fields! {
    copy seat: usize;
    copy turn: i64;
    copy quiet: i64;
    copy ties: i64;
    copy moved: bool;
    copy filling: bool;
    copy counted: bool;
    copy announced: bool;
    copy pressed: bool;
    copy redeals: i64;
    seats heights;
    seats out;
    seats tied;
    seats waiting;
    seats passed;
    cards stock;
    cards mixing;
    cards aside;
    piles hands;
    piles payoffs;
    piles centre;
}

/// The game under one set of parameters and with a fixed number of seats.
///
/// What this cannot hold, such as a position that no game leads to, the engine of Python plays.
#[pyclass(frozen, module = "malice_core")]
pub struct Rules {
    derived: Derived,
    learner: Learner,
    structs: std::sync::Arc<Structs>,
    reference: Py<PyAny>,
    asks: Vec<Py<PyAny>>,
    start: Py<PyAny>,
}

/// A position that came from Python, or one of ours.
pub enum Position<'py> {
    Ours(PyRef<'py, State>),
    Theirs(Box<state::State>),
}

impl std::ops::Deref for Position<'_> {
    type Target = state::State;

    fn deref(&self) -> &state::State {
        match self {
            Position::Ours(state) => &state.position,
            Position::Theirs(position) => position,
        }
    }
}

impl Rules {
    pub fn derived(&self) -> &Derived {
        &self.derived
    }

    pub fn learner(&self) -> &Learner {
        &self.learner
    }

    pub fn structs(&self) -> &Structs {
        &self.structs
    }

    /// Who acts in a position, as Python has it.
    pub fn make_step(&self, py: Python<'_>, position: &state::State) -> PyResult<Py<PyAny>> {
        match position.next_step() {
            Step::Ask(seat) => Ok(self.asks[seat].clone_ref(py)),
            Step::Shuffle(size) => self.structs.make_shuffle(py, size),
            Step::Over(result) => self.structs.make_result(py, result),
        }
    }

    /// A position that Python may read.
    pub fn hand_over(&self, position: state::State) -> State {
        State { position, structs: self.structs.clone() }
    }

    /// Reads a position; None if this engine cannot go on from it.
    pub fn read<'py>(&self, state: &Bound<'py, PyAny>) -> PyResult<Option<Position<'py>>> {
        if let Ok(state) = state.cast::<State>() {
            return Ok(Some(Position::Ours(state.borrow())));
        }
        if state.is(&self.start) {
            return Ok(Some(Position::Theirs(Box::new(state::State::start(&self.derived)))));
        }
        let json = self.structs.encode.call1(state.py(), (state,))?;
        let json = json.bind(state.py()).cast::<PyBytes>()?;
        let position: Option<state::State> = serde_json::from_slice(json.as_bytes()).ok();
        Ok(position
            .filter(|position| position.fits(&self.derived))
            .map(|position| Position::Theirs(Box::new(position))))
    }

    fn ask_reference<'py>(
        &self,
        py: Python<'py>,
        method: &str,
        arguments: impl pyo3::call::PyCallArgs<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.reference.bind(py).call_method1(method, arguments)
    }

    /// A new position with what led to it, as Python has it.
    fn answer<'py>(&self, py: Python<'py>, position: state::State, events: &[Event]) -> PyResult<Bound<'py, PyAny>> {
        let state = self.hand_over(position);
        let events = self.structs.make_events(py, events)?;
        Ok(PyTuple::new(py, [Bound::new(py, state)?.into_any(), events.into_any()])?.into_any())
    }
}

#[pymethods]
impl Rules {
    /// Compile the game that an engine of Python plays.
    #[new]
    fn new(reference: Bound<'_, PyAny>) -> PyResult<Rules> {
        let py = reference.py();
        let parameters = reference.getattr("derived")?.getattr("rules")?;
        let json = py.import("msgspec")?.getattr("json")?.call_method1("encode", (parameters,))?;
        let parameters = serde_json::from_slice(json.cast::<PyBytes>()?.as_bytes())
            .map_err(|error| PyValueError::new_err(format!("parameters: {error}")))?;
        let derived = Derived::new(parameters, reference.getattr("seats")?.extract()?);
        let structs = Structs::new(py, &derived)?;
        Ok(Rules {
            asks: (0..derived.seats).map(|seat| structs.make_ask(py, seat)).collect::<PyResult<_>>()?,
            start: reference.call_method0("start")?.unbind(),
            structs: std::sync::Arc::new(structs),
            learner: Learner::new(&derived),
            derived,
            reference: reference.unbind(),
        })
    }

    /// The engine of Python: the judge of what this one does.
    #[getter]
    fn reference(&self, py: Python<'_>) -> Py<PyAny> {
        self.reference.clone_ref(py)
    }

    #[getter(derived)]
    fn get_derived<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.reference.bind(py).getattr("derived")
    }

    #[getter]
    fn seats(&self) -> usize {
        self.derived.seats
    }

    #[getter]
    fn teams<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.derived.teams)
    }

    /// The position before the first shuffle, as Python has it.
    fn start(&self, py: Python<'_>) -> Py<PyAny> {
        self.start.clone_ref(py)
    }

    #[pyo3(signature = (state, /))]
    fn next<'py>(&self, state: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = state.py();
        let Some(position) = self.read(state)? else {
            return self.ask_reference(py, "next", (state,));
        };
        Ok(self.make_step(py, &position)?.into_bound(py))
    }

    #[pyo3(signature = (state, seat, /))]
    fn legal<'py>(&self, state: &Bound<'py, PyAny>, seat: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = state.py();
        let Some(position) = self.read(state)? else {
            return self.ask_reference(py, "legal", (state, seat));
        };
        let mut actions = Vec::with_capacity(32);
        if seat.extract().is_ok_and(|seat: i64| seat == position.seat as i64) {
            list_legal(&self.derived, &position, &mut actions);
        }
        Ok(self.structs.name_actions(py, &actions)?.into_any())
    }

    #[pyo3(signature = (state, actions, /))]
    fn play<'py>(&self, state: &Bound<'py, PyAny>, actions: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = state.py();
        let Some(position) = self.read(state)? else {
            return self.ask_reference(py, "play", (state, actions));
        };
        let seat = position.seat;
        let word = match actions.cast_exact::<PyDict>() {
            Ok(actions) => actions.get_item(seat)?.unwrap_or_else(|| PyString::new(py, "").into_any()),
            Err(_) => actions.call_method1("get", (seat, ""))?,
        };
        let action = word.cast::<PyString>().ok().and_then(|word| Action::parse(word.to_str().ok()?));
        let mut after = position.clone();
        let mut events: Vec<Event> = Vec::new();
        if !action.is_some_and(|action| after.play(&self.derived, action, &mut events)) {
            return Err(self.structs.refuse_action(&word, seat)?);
        }
        self.answer(py, after, &events)
    }

    #[pyo3(signature = (state, order, /))]
    fn shuffled<'py>(&self, state: &Bound<'py, PyAny>, order: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = state.py();
        let read = self.read(state)?.zip(order.extract::<Vec<usize>>().ok());
        let read = read.filter(|(position, order)| {
            let size = match position.next_step() {
                Step::Shuffle(size) => size,
                _ => return false,
            };
            order.len() == size && order.iter().all(|&place| place < size)
        });
        let Some((position, order)) = read else {
            return self.ask_reference(py, "shuffled", (self.translate(state)?, order));
        };
        let mut after = position.clone();
        let mut events: Vec<Event> = Vec::new();
        after.shuffle(&self.derived, &order, &mut events);
        self.answer(py, after, &events)
    }

    #[pyo3(signature = (state, seats, /))]
    fn withdraw<'py>(&self, state: &Bound<'py, PyAny>, seats: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = state.py();
        let read = self.read(state)?.zip(seats.extract::<Vec<usize>>().ok());
        let read = read.filter(|(_, seats)| seats.len() == 1 && seats[0] < self.derived.seats);
        let Some((position, seats)) = read else {
            return self.ask_reference(py, "withdraw", (self.translate(state)?, seats));
        };
        let mut after = position.clone();
        let mut events: Vec<Event> = Vec::new();
        after.withdraw(&self.derived, seats[0], &mut events);
        self.answer(py, after, &events)
    }

    #[pyo3(signature = (state, seat, /))]
    fn view<'py>(&self, state: &Bound<'py, PyAny>, seat: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = state.py();
        let read = self.read(state)?.zip(seat.extract::<Option<usize>>().ok());
        let read = read.filter(|(_, seat)| seat.is_none_or(|seat| seat < self.derived.seats));
        let Some((position, seat)) = read else {
            return self.ask_reference(py, "view", (self.translate(state)?, seat));
        };
        let view = View::new(&self.derived, &position, seat);
        Ok(self.structs.make_view(py, &self.derived, &view)?.into_bound(py))
    }

    #[pyo3(signature = (event, seat, /))]
    fn mask<'py>(&self, event: &Bound<'py, PyAny>, seat: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.ask_reference(event.py(), "mask", (event, seat))
    }

    #[pyo3(signature = (state, /))]
    fn turn<'py>(&self, state: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        match state.cast::<State>() {
            Ok(state) => Ok(state.get().position.turn.into_pyobject(state.py())?.into_any()),
            Err(_) => state.getattr("turn"),
        }
    }

    /// Play a recorded game again: its places and scores, why it ended, and its events as malice packs them.
    ///
    /// None of a game that has verdicts, or does not replay: then Python says why.
    #[pyo3(signature = (deal_seed, actions, /))]
    fn pack_game<'py>(&self, deal_seed: &str, actions: &Bound<'py, PyTuple>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let py = actions.py();
        let actions = actions.extract::<Vec<(usize, PyBackedStr)>>().ok();
        let Some((seed, actions)) = decode_hex(deal_seed).zip(actions) else {
            return Ok(None);
        };
        let played = actions.iter().map(|(seat, word)| (*seat, &**word));
        let Some((result, packed)) = replay(&self.derived, &mut Dealer::new(&seed), played) else {
            return Ok(None);
        };
        let pack = (PyTuple::new(py, packed.shapes)?, packed.asks, packed.cards);
        Ok(Some((self.structs.make_result(py, &result)?, pack).into_pyobject(py)?))
    }

    /// Play games on from a position, every seat by a policy, each with shuffles and choices of a seed; return results.
    #[pyo3(signature = (state, policy, seeds, /))]
    fn roll_out<'py>(
        &self,
        state: &Bound<'py, PyAny>,
        policy: &str,
        seeds: Vec<u64>,
    ) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let py = state.py();
        let policy = parse_policy(policy)?;
        let Some(position) = self.read(state)? else {
            return Ok(None);
        };
        let (derived, position) = (&self.derived, &*position);
        let results: Vec<_> = py.detach(|| {
            let play = |seed: u64| {
                let mut state = position.clone();
                let mut chance = Dealer::new(format!("rollout\0{seed}").as_bytes());
                play_out(derived, &mut state, &mut Dealer::of_game(seed), &mut chance, policy);
                state.result
            };
            seeds.into_iter().filter_map(play).collect()
        });
        let results = results.iter().map(|result| self.structs.make_result(py, result));
        Ok(Some(PyTuple::new(py, results.collect::<PyResult<Vec<_>>>()?)?))
    }

    /// Count the actions of random games from the deal on, for measurements: nothing but the rules takes time.
    fn count_actions(&self, py: Python<'_>, games: u64) -> u64 {
        py.detach(|| {
            let play = |seed: u64| {
                let (mut state, mut chance) = (state::State::start(&self.derived), Dealer::new(&seed.to_be_bytes()));
                play_out(&self.derived, &mut state, &mut Dealer::of_game(seed), &mut chance, Policy::Uniform)
            };
            (0..games).map(play).sum()
        })
    }

    /// A view as JSON.
    #[pyo3(signature = (state, seat, /))]
    fn encode_view<'py>(&self, state: &Bound<'py, PyAny>, seat: usize) -> PyResult<Bound<'py, PyAny>> {
        let py = state.py();
        let Some(position) = self.read(state)?.filter(|_| seat < self.derived.seats) else {
            let view = self.ask_reference(py, "view", (state, seat))?;
            return self.structs.encode.bind(py).call1((view,));
        };
        let mut json = String::with_capacity(1024);
        write_view(&mut json, &self.derived, &View::new(&self.derived, &position, Some(seat)));
        Ok(PyBytes::new(py, json.as_bytes()).into_any())
    }

    /// A position as Python has it.
    fn translate<'py>(&self, state: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = state.py();
        let Ok(ours) = state.cast::<State>() else {
            return Ok(state.clone());
        };
        let json = py.import("msgspec")?.getattr("json")?;
        let kind = PyDict::new(py);
        kind.set_item("type", self.start.bind(py).get_type())?;
        json.call_method("decode", (ours.get().json(py)?,), Some(&kind))
    }
}

/// Decodes pairs of hexadecimal digits, and nothing else.
fn decode_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text.chars().map(|digit| Some(digit.to_digit(16)? as u8)).collect::<Option<_>>()?;
    let pairs = digits.chunks(2).map(|pair| Some(pair.first()? << 4 | pair.get(1)?));
    pairs.collect()
}
