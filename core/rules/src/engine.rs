//! The game from the deal and the choice of the first player on.

use crate::actions::{list_legal, Action};
use crate::cards::Pile;
use crate::dealer::Dealer;
use crate::messages::{Audience, Event, PileName};
use crate::parameters::{Derived, FirstPlayer, FirstTie};
use crate::plays::{draw, Table};
use crate::state::{Outcome, Phase, State};

/// Who acts next.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step<'a> {
    Ask(usize),
    Shuffle(usize),
    Over(&'a Outcome),
}

impl State {
    pub fn next_step(&self) -> Step<'_> {
        if self.phase == Phase::Turn {
            return Step::Ask(self.seat);
        }
        match &self.result {
            Some(result) => Step::Over(result),
            None if self.phase == Phase::Lot => Step::Shuffle(self.tied.len()),
            None => Step::Shuffle(self.mixing.len()),
        }
    }

    /// Plays an action of the seat to act, if it is legal; returns whether it is.
    pub fn play<A: Audience>(&mut self, derived: &Derived, action: Action, audience: &mut A) -> bool {
        let mut legal = Vec::new();
        list_legal(derived, self, &mut legal);
        let listed = legal.contains(&action);
        if listed {
            self.play_listed(derived, action, audience);
        }
        listed
    }

    /// Plays an action out of the legal list of this position.
    pub fn play_listed<A: Audience>(&mut self, derived: &Derived, action: Action, audience: &mut A) {
        Table { derived, state: self, audience }.play(action);
    }

    /// Takes a seat out of the game, and its partner.
    pub fn withdraw<A: Audience>(&mut self, derived: &Derived, seat: usize, audience: &mut A) {
        Table { derived, state: self, audience }.withdraw(seat);
    }

    /// Shuffles until a seat must act, or the game is over.
    pub fn settle<A: Audience>(&mut self, derived: &Derived, dealer: &mut Dealer, audience: &mut A) {
        while self.phase != Phase::Turn && self.phase != Phase::Over {
            if self.phase == Phase::Lot {
                let lot = dealer.order(self.tied.len())[0];
                self.resume(derived, Pile::new(), lot, audience);
            } else {
                let mut pile = std::mem::take(&mut self.mixing);
                dealer.shuffle(&mut pile);
                self.resume(derived, pile, 0, audience);
            }
        }
    }

    /// Puts the waiting pile in an order and continues; skips a seat that was withdrawn meanwhile.
    ///
    /// The card at place `order[i]` goes to place i; there are as many as `next_step` says.
    pub fn shuffle<A: Audience>(&mut self, derived: &Derived, order: &[usize], audience: &mut A) {
        let phase = self.phase;
        let pile: Pile =
            if phase == Phase::Lot { Pile::new() } else { order.iter().map(|&place| self.mixing[place]).collect() };
        self.resume(derived, pile, order.first().copied().unwrap_or(0), audience);
    }

    /// Continues with the cards of a shuffle, or with the place of the seat on which the lot has fallen.
    pub fn resume<A: Audience>(&mut self, derived: &Derived, pile: Pile, lot: usize, audience: &mut A) {
        let phase = self.phase;
        let mut table = Table { derived, state: self, audience };
        if phase == Phase::Lot {
            table.begin_turn(table.state.tied[lot]);
        } else {
            table.state.phase = Phase::Turn;
            table.state.mixing.clear();
            match phase {
                Phase::Payoffs => table.deal_payoffs(pile),
                Phase::Deal => table.deal(pile),
                Phase::Tie => table.finish_own_reshuffle(pile),
                Phase::TieTogether => table.finish_joint_redeal(pile),
                Phase::Recycle => {
                    table.restock(pile);
                    table.settle();
                }
                Phase::Refill => {
                    table.restock(pile);
                    table.refill(Phase::Refill);
                }
                Phase::RefillLast => {
                    table.restock(pile);
                    table.end_turn();
                }
                Phase::Redeal => table.finish_redeal(pile),
                Phase::Lot | Phase::Turn | Phase::Over => {}
            }
        }
        if table.state.phase == Phase::Turn && table.state.out.contains(&table.state.seat) {
            table.skip_turn();
        }
    }
}

impl<A: Audience> Table<'_, A> {
    /// Deals the pay-off piles from the top of their own pack; the other pack is shuffled next.
    fn deal_payoffs(&mut self, mut shuffled: Pile) {
        for pile in &mut self.state.payoffs {
            *pile = draw(&mut shuffled, self.derived.payoff_size);
        }
        self.state.phase = Phase::Deal;
        self.state.mixing.extend(&self.derived.deck);
    }

    /// Deals from the top of the cards: all pay-off piles by seat, then all hands, then the side stacks.
    fn deal(&mut self, mut shuffled: Pile) {
        let (derived, state) = (self.derived, &mut *self.state);
        if derived.payoff_pack.is_empty() {
            for pile in &mut state.payoffs {
                *pile = draw(&mut shuffled, derived.payoff_size);
            }
        }
        for hand in &mut state.hands {
            *hand = draw(&mut shuffled, derived.rules.hand_size);
        }
        for pile in state.sides.iter_mut().flatten() {
            *pile = draw(&mut shuffled, derived.rules.side_initial);
        }
        state.stock = shuffled;
        self.audience.hear(|| Event::Deal {
            hands: state.hands.clone(),
            payoffs: state.payoffs.iter().map(Vec::len).collect(),
            sides: state.sides.clone(),
            stock: state.stock.len(),
        });
        state.hands.iter_mut().for_each(|hand| hand.sort_unstable());
        (0..derived.seats).for_each(|seat| self.flip(seat));
        self.choose_first_player();
    }

    /// Begins the first turn, or waits for the shuffle that decides who has it.
    fn choose_first_player(&mut self) {
        match self.derived.rules.first_player {
            FirstPlayer::HighPayoff => self.compare_payoffs(true),
            FirstPlayer::LowPayoff => self.compare_payoffs(false),
            FirstPlayer::Random => {
                self.state.phase = Phase::Lot;
                self.state.tied = self.state.list_playing_seats().collect();
            }
            FirstPlayer::Seat => {
                let first = self.state.list_playing_seats().next().unwrap_or(0);
                self.begin_turn(first);
            }
        }
    }

    /// Compares the first pay-off cards: joker above king above queen; equal seats compare again.
    fn compare_payoffs(&mut self, high: bool) {
        let state = &mut *self.state;
        let seats: Vec<usize> =
            if state.tied.is_empty() { state.list_playing_seats().collect() } else { state.tied.clone() };
        let top = |seat: &usize| state.payoffs[*seat].last().map_or(0, |card| card.value());
        let tops = seats.iter().map(top);
        let best = if high { tops.max() } else { tops.min() };
        let tied: Vec<usize> = seats.iter().copied().filter(|seat| Some(top(seat)) == best).collect();
        if let [seat] = tied[..] {
            return self.begin_turn(seat);
        }
        state.tied = tied;
        if state.ties == self.derived.rules.tie_cap {
            state.phase = Phase::Lot;
            return;
        }
        state.waiting = state.tied.clone();
        state.ties += 1;
        match self.derived.rules.first_tie {
            FirstTie::ReshuffleOwn => self.wait_for_own_reshuffle(),
            FirstTie::RedealTogether => {
                state.phase = Phase::TieTogether;
                for &seat in &state.tied {
                    state.mixing.append(&mut state.payoffs[seat]);
                }
            }
        }
    }

    /// Takes up the pay-off pile of the first waiting seat for its shuffle.
    fn wait_for_own_reshuffle(&mut self) {
        let state = &mut *self.state;
        state.phase = Phase::Tie;
        state.mixing = std::mem::take(&mut state.payoffs[state.waiting[0]]);
    }

    /// Puts back the pay-off pile of the first waiting seat; after the last seat, compares the new tops.
    fn finish_own_reshuffle(&mut self, shuffled: Pile) {
        let seat = self.state.waiting.remove(0);
        let (name, count) = (PileName::Payoff(seat), shuffled.len());
        self.audience.hear(|| Event::Shuffle { source: name, target: name, count });
        self.state.payoffs[seat] = shuffled;
        self.flip(seat);
        if self.state.waiting.is_empty() {
            self.choose_first_player();
        } else {
            self.wait_for_own_reshuffle();
        }
    }

    /// Deals the shuffled cards to the tied seats, in order, and compares the new tops.
    ///
    /// The events gather the piles on that of the first seat, and deal the others from there.
    fn finish_joint_redeal(&mut self, mut shuffled: Pile) {
        let count = self.derived.payoff_size;
        let tied = self.state.tied.clone();
        let first = PileName::Payoff(tied[0]);
        for &seat in &tied[1..] {
            self.audience.hear(|| Event::Shuffle { source: PileName::Payoff(seat), target: first, count });
        }
        for &seat in &tied[1..] {
            self.audience.hear(|| Event::Shuffle { source: first, target: PileName::Payoff(seat), count });
        }
        for &seat in &tied {
            self.state.payoffs[seat] = draw(&mut shuffled, count);
            self.flip(seat);
        }
        self.state.waiting.clear();
        self.choose_first_player();
    }
}
