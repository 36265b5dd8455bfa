//! What Python receives: the structs of malice, with names of cards and piles that are made once.

use std::sync::Mutex;

use malice_rules::actions::Action;
use malice_rules::cards::{Card, KINDS};
use malice_rules::messages::{Event, PileName, View, HIDDEN};
use malice_rules::parameters::Derived;
use malice_rules::state::Outcome;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};
use rustc_hash::FxHashMap;

/// Makes the structs of one game.
pub struct Structs {
    ask: Py<PyAny>,
    shuffle: Py<PyAny>,
    result: Py<PyAny>,
    illegal_action: Py<PyAny>,
    pub encode: Py<PyAny>,
    view: Py<PyAny>,
    seat_view: Py<PyAny>,
    payoff: Py<PyAny>,
    centre_stack: Py<PyAny>,
    dealt: Py<PyAny>,
    turn: Py<PyAny>,
    moved: Py<PyAny>,
    flip: Py<PyAny>,
    draw: Py<PyAny>,
    shuffled: Py<PyAny>,
    count: Py<PyAny>,
    pass: Py<PyAny>,
    cards: Vec<Py<PyString>>,
    hidden: Py<PyString>,
    /// By height, the rank that fits next.
    needs: Vec<Py<PyString>>,
    words: Mutex<FxHashMap<Action, Py<PyString>>>,
    piles: Mutex<FxHashMap<PileName, Py<PyString>>>,
}

impl Structs {
    pub fn new(py: Python<'_>, derived: &Derived) -> PyResult<Structs> {
        let rules = py.import("malice.referee.rules")?;
        let messages = py.import("malice.referee.games.spite.messages")?;
        let errors = py.import("malice.referee.errors")?;
        let json = py.import("msgspec")?.getattr("json")?;
        let struct_of = |name: &str| Ok::<_, PyErr>(messages.getattr(name)?.unbind());
        Ok(Structs {
            ask: rules.getattr("Ask")?.unbind(),
            shuffle: rules.getattr("Shuffle")?.unbind(),
            result: rules.getattr("Result")?.unbind(),
            illegal_action: errors.getattr("IllegalAction")?.unbind(),
            encode: json.getattr("encode")?.unbind(),
            view: struct_of("View")?,
            seat_view: struct_of("SeatView")?,
            payoff: struct_of("Payoff")?,
            centre_stack: struct_of("CentreStack")?,
            dealt: struct_of("Deal")?,
            turn: struct_of("TurnBegins")?,
            moved: struct_of("CardMoved")?,
            flip: struct_of("Flip")?,
            draw: struct_of("Draw")?,
            shuffled: struct_of("Shuffled")?,
            count: struct_of("Count")?,
            pass: struct_of("Pass")?,
            cards: Card::all().map(|card| PyString::intern(py, card.name()).unbind()).collect(),
            hidden: PyString::intern(py, HIDDEN).unbind(),
            needs: (0..derived.rules.stack_top)
                .map(|height| PyString::intern(py, View::needs(height).encode_utf8(&mut [0; 4])).unbind())
                .collect(),
            words: Mutex::default(),
            piles: Mutex::default(),
        })
    }

    /// The error of an action that is not legal.
    pub fn refuse_action(&self, action: &Bound<'_, PyAny>, seat: usize) -> PyResult<PyErr> {
        let sentence = format!("expected a legal action of seat {seat}, got: {}", action.repr()?);
        Ok(PyErr::from_value(self.illegal_action.bind(action.py()).call1((sentence,))?))
    }

    pub fn make_ask(&self, py: Python<'_>, seat: usize) -> PyResult<Py<PyAny>> {
        self.ask.call1(py, ((seat,),))
    }

    pub fn make_shuffle(&self, py: Python<'_>, size: usize) -> PyResult<Py<PyAny>> {
        self.shuffle.call1(py, (size,))
    }

    pub fn make_result(&self, py: Python<'_>, outcome: &Outcome) -> PyResult<Py<PyAny>> {
        let places = PyTuple::new(py, &outcome.places)?;
        let scores = PyTuple::new(py, &outcome.scores)?;
        self.result.call1(py, (places, scores, outcome.reason.word()))
    }

    pub fn name_card<'py>(&self, py: Python<'py>, card: Card) -> Bound<'py, PyString> {
        self.cards[card.0 as usize % KINDS].bind(py).clone()
    }

    pub fn name_cards<'py>(&self, py: Python<'py>, pile: &[Card]) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, pile.iter().map(|&card| self.name_card(py, card)))
    }

    pub fn name_piles<'py>(&self, py: Python<'py>, piles: &[Vec<Card>]) -> PyResult<Bound<'py, PyTuple>> {
        let named = piles.iter().map(|pile| self.name_cards(py, pile)).collect::<PyResult<Vec<_>>>()?;
        PyTuple::new(py, named)
    }

    pub fn name_tables<'py>(&self, py: Python<'py>, tables: &[Vec<Vec<Card>>]) -> PyResult<Bound<'py, PyTuple>> {
        let named = tables.iter().map(|piles| self.name_piles(py, piles)).collect::<PyResult<Vec<_>>>()?;
        PyTuple::new(py, named)
    }

    /// The words of a legal list.
    pub fn name_actions<'py>(&self, py: Python<'py>, actions: &[Action]) -> PyResult<Bound<'py, PyTuple>> {
        let mut words = self.words.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let named = actions.iter().map(|action| {
            let word = words.entry(*action).or_insert_with(|| PyString::new(py, &action.to_string()).unbind());
            word.bind(py).clone()
        });
        PyTuple::new(py, named.collect::<Vec<_>>())
    }

    fn name_pile<'py>(&self, py: Python<'py>, name: PileName) -> Bound<'py, PyString> {
        let mut piles = self.piles.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let named = piles.entry(name).or_insert_with(|| PyString::new(py, &name.to_string()).unbind());
        named.bind(py).clone()
    }

    pub fn make_events<'py>(&self, py: Python<'py>, events: &[Event]) -> PyResult<Bound<'py, PyTuple>> {
        let made = events.iter().map(|event| self.make_event(py, event)).collect::<PyResult<Vec<_>>>()?;
        PyTuple::new(py, made)
    }

    pub fn make_event(&self, py: Python<'_>, event: &Event) -> PyResult<Py<PyAny>> {
        match event {
            Event::Deal { hands, payoffs, sides, stock } => {
                let payoffs = PyTuple::new(py, payoffs)?;
                let hands = self.name_piles(py, hands)?;
                self.dealt.call1(py, (hands, payoffs, self.name_tables(py, sides)?, *stock))
            }
            Event::Turn { seat } => self.turn.call1(py, (*seat,)),
            Event::Move { seat, source, target, card } => {
                let (source, target) = (self.name_pile(py, *source), self.name_pile(py, *target));
                self.moved.call1(py, (*seat, source, target, self.name_card(py, *card)))
            }
            Event::Flip { seat, card } => self.flip.call1(py, (*seat, self.name_card(py, *card))),
            Event::Draw { seat, cards } => self.draw.call1(py, (*seat, self.name_cards(py, cards)?)),
            Event::Shuffle { source, target, count } => {
                self.shuffled.call1(py, (self.name_pile(py, *source), self.name_pile(py, *target), *count))
            }
            Event::Count { seat, left } => {
                let left = left.as_ref().map(|left| PyTuple::new(py, left)).transpose()?;
                self.count.call1(py, (*seat, left))
            }
            Event::Pass { seat } => self.pass.call1(py, (*seat,)),
        }
    }

    pub fn make_view(&self, py: Python<'_>, derived: &Derived, view: &View<'_>) -> PyResult<Py<PyAny>> {
        let state = view.state;
        let centre = state.centre.iter().zip(&state.heights).map(|(cards, &height)| {
            let needs = self.needs[height].bind(py);
            self.centre_stack.call1(py, (self.name_cards(py, cards)?, height, needs))
        });
        let centre = PyTuple::new(py, centre.collect::<PyResult<Vec<_>>>()?)?;
        let seats = (0..derived.seats).map(|owner| self.make_seat_view(py, derived, view, owner));
        let seats = PyTuple::new(py, seats.collect::<PyResult<Vec<_>>>()?)?;
        let hand = self.name_cards(py, &state.hands[view.seat])?;
        self.view.call1(py, (state.turn, view.seat, hand, state.stock.len(), state.aside.len(), centre, seats))
    }

    fn make_seat_view(&self, py: Python<'_>, derived: &Derived, view: &View<'_>, owner: usize) -> PyResult<Py<PyAny>> {
        let state = view.state;
        let pile = &state.payoffs[owner];
        let top = pile.last().map(|&card| self.name_card(py, card));
        let payoff = self.payoff.call1(py, (top, view.counts.then_some(pile.len())))?;
        let sides = state.sides[owner].iter().map(|pile| self.name_side(py, view, pile));
        let sides = PyTuple::new(py, sides.collect::<PyResult<Vec<_>>>()?)?;
        let out = state.out.contains(&owner);
        self.seat_view.call1(py, (payoff, state.hands[owner].len(), sides, derived.teams[owner], out))
    }

    /// The names of a side stack's cards, as a view shows them.
    fn name_side<'py>(&self, py: Python<'py>, view: &View<'_>, pile: &[Card]) -> PyResult<Bound<'py, PyTuple>> {
        let hidden = view.count_hidden(pile);
        let shown = pile.iter().enumerate().map(|(place, &card)| {
            if place < hidden {
                self.hidden.bind(py).clone()
            } else {
                self.name_card(py, card)
            }
        });
        PyTuple::new(py, shown)
    }
}
