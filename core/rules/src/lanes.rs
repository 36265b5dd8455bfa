//! Many games at once, for programs that learn.

use crate::actions::{list_legal, Action};
use crate::dealer::Dealer;
use crate::learner::Learner;
use crate::messages::Silence;
use crate::parameters::Derived;
use crate::policies::Policy;
use crate::state::{Outcome, Phase, State};

/// What a seat gets that chooses what its mask forbids; the game ends then.
const ILLEGAL_REWARD: f32 = -1.0;
/// Seeds of games are whole numbers in the JSON of any language.
const SEED_BITS: u32 = 53;

/// Who learns, and against whom.
#[derive(Clone, Copy)]
pub struct Terms {
    /// Plays all seats but one; None if every seat learns.
    pub opponents: Option<Policy>,
    /// Where the learner sits; None for wherever chance says.
    pub seat: Option<usize>,
}

/// A row of games, each of which begins anew when it is over.
pub struct Lanes {
    derived: Derived,
    pub learner: Learner,
    terms: Terms,
    lanes: Vec<Lane>,
}

struct Lane {
    state: State,
    dealer: Dealer,
    /// Draws the seeds and seats of its games, and what opponents leave to chance.
    chance: Dealer,
    legal: Vec<Action>,
    seed: u64,
    /// Where the learner sits; any seat where all learn.
    seat: usize,
}

/// What came of a step in one game.
pub struct Moment {
    /// What the seat to act sees.
    pub observation: Vec<f32>,
    /// 1 for each choice that it has.
    pub mask: Vec<i8>,
    /// Of the seat that acted.
    pub reward: f32,
    /// Whether the game was over; what is seen belongs to the next one then.
    pub ended: bool,
    /// Who acts next.
    pub seat: usize,
    /// Of the game that goes on.
    pub seed: u64,
    /// By seat: the reward, if the game was over.
    pub returns: Vec<f32>,
}

impl Lanes {
    pub fn new(derived: Derived, count: usize, terms: Terms) -> Lanes {
        let learner = Learner::new(&derived);
        let lane = |_| Lane {
            state: State::start(&derived),
            dealer: Dealer::new(&[]),
            chance: Dealer::new(&[]),
            legal: Vec::new(),
            seed: 0,
            seat: 0,
        };
        Lanes { lanes: (0..count).map(lane).collect(), derived, learner, terms }
    }

    /// Begins every game anew; the same seed and the same choices are the same games.
    pub fn reset(&mut self, seed: u64, tell: &mut dyn FnMut(usize, &Moment)) {
        let mut moment = self.make_moment();
        for (number, lane) in self.lanes.iter_mut().enumerate() {
            lane.chance = Dealer::new(format!("lanes\0{seed}\0{number}").as_bytes());
            lane.begin(&self.derived, self.terms);
            lane.show(&self.derived, &self.learner, &mut moment);
            tell(number, &moment);
        }
    }

    /// Plays a choice in every game, and what opponents do until the learner is asked again.
    pub fn step(&mut self, choices: &[i64], tell: &mut dyn FnMut(usize, &Moment)) {
        let mut moment = self.make_moment();
        let (derived, learner) = (&self.derived, &self.learner);
        for (number, (lane, &choice)) in self.lanes.iter_mut().zip(choices).enumerate() {
            let seat = lane.state.seat;
            moment.returns.fill(0.0);
            let chosen = lane.legal.iter().copied().find(|&action| learner.place(action) as i64 == choice);
            moment.ended = match chosen {
                Some(action) => lane.play(derived, self.terms, action),
                None => {
                    moment.returns[seat] = ILLEGAL_REWARD;
                    true
                }
            };
            if let Some(result) = &lane.state.result {
                compute_rewards(derived, result, &mut moment.returns);
            }
            moment.reward = moment.returns[seat];
            if moment.ended {
                lane.begin(derived, self.terms);
            }
            lane.show(derived, learner, &mut moment);
            tell(number, &moment);
        }
    }

    fn make_moment(&self) -> Moment {
        Moment {
            observation: vec![0.0; self.learner.features],
            mask: vec![0; self.learner.choices],
            reward: 0.0,
            ended: false,
            seat: 0,
            seed: 0,
            returns: vec![0.0; self.derived.seats],
        }
    }
}

impl Lane {
    /// Deals, and plays up to the first action of the learner; a game that ends before is dealt again.
    fn begin(&mut self, derived: &Derived, terms: Terms) {
        loop {
            self.seed = self.chance.draw_bits(SEED_BITS);
            self.seat = terms.seat.unwrap_or_else(|| self.chance.draw(derived.seats));
            self.dealer = Dealer::of_game(self.seed);
            self.state = State::start(derived);
            self.state.settle(derived, &mut self.dealer, &mut Silence);
            if !self.play_on(derived, terms) {
                return;
            }
        }
    }

    /// Plays an action of the learner and what follows; returns whether the game is over.
    fn play(&mut self, derived: &Derived, terms: Terms, action: Action) -> bool {
        self.state.play_listed(derived, action, &mut Silence);
        self.state.settle(derived, &mut self.dealer, &mut Silence);
        self.play_on(derived, terms)
    }

    /// Lets opponents play until the learner is asked; returns whether the game is over.
    fn play_on(&mut self, derived: &Derived, terms: Terms) -> bool {
        while self.state.phase == Phase::Turn {
            list_legal(derived, &self.state, &mut self.legal);
            let policy = match terms.opponents {
                Some(policy) if self.state.seat != self.seat => policy,
                _ => return false,
            };
            let action = policy.choose(derived, &self.state, &self.legal, &mut self.chance);
            self.state.play_listed(derived, action, &mut Silence);
            self.state.settle(derived, &mut self.dealer, &mut Silence);
        }
        true
    }

    /// Takes down what the seat to act sees, and what it may choose.
    fn show(&self, derived: &Derived, learner: &Learner, moment: &mut Moment) {
        moment.seat = self.state.seat;
        moment.seed = self.seed;
        learner.encode(derived, &self.state, self.state.seat, &mut moment.observation);
        moment.mask.fill(0);
        for &action in &self.legal {
            moment.mask[learner.place(action)] = 1;
        }
    }
}

/// The reward of each seat, 1 to -1: the share of the other teams placed behind it less the share before it.
fn compute_rewards(derived: &Derived, result: &Outcome, rewards: &mut [f32]) {
    let teams = derived.teams.iter().max().map_or(1, |last| last + 1);
    let others = (teams - 1).max(1) as f64;
    for (seat, own) in result.places.iter().enumerate() {
        // Partners sit behind all teams, so that the first seats are one of each.
        let beaten = result.places[..teams].iter().map(|other| (other > own) as i32 - (other < own) as i32);
        rewards[seat] = (f64::from(beaten.sum::<i32>()) / others) as f32;
    }
}
