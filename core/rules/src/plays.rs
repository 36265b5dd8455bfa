//! What one action does: the card moves, then hands, stock, turns and passes follow, until the game is over.

use crate::actions::{Action, Source, Target};
use crate::cards::{Card, Pile};
use crate::messages::{Audience, Event, PileName};
use crate::parameters::{Derived, PayoffCount, Recycle, RefillAt, Scoring, Stalemate, StockOutWhen, Winner};
use crate::state::{Outcome, Phase, Reason, State};

/// A position that changes, and who hears of it.
pub struct Table<'a, A: Audience> {
    pub derived: &'a Derived,
    pub state: &'a mut State,
    pub audience: &'a mut A,
}

impl<A: Audience> Table<'_, A> {
    /// Plays a legal action: a card to the centre or onto a pay-off pile, a discard, a pass, or a request for counts.
    pub fn play(&mut self, action: Action) {
        let (source, target) = match action {
            Action::Move(source, target) => (source, target),
            Action::Pass => return self.pass_turn(),
            Action::Count => return self.reveal_counts(),
        };
        let seat = self.state.seat;
        let (card, origin) = self.take_card(source);
        let (name, slot) = match target {
            Target::Side(index) => return self.play_to_side(card, index as usize),
            Target::Centre(slot) => (PileName::Centre(slot as usize), Some(slot as usize)),
            Target::Payoff(seat) => (PileName::Payoff(seat as usize), None),
        };
        self.audience.hear(|| Event::Move { seat, source: origin, target: name, card });
        if let PileName::Payoff(owner) = origin {
            self.flip(owner);
        }
        match (slot, name) {
            (Some(slot), _) => self.play_to_centre(card, matches!(origin, PileName::Payoff(_)), slot),
            (None, PileName::Payoff(owner)) => {
                self.state.payoffs[owner].push(card); // the new top, without a flip
                self.forget_counts();
                self.settle();
            }
            _ => {}
        }
    }

    /// Takes the card that `source` names, with the name of its pile.
    ///
    /// This ends the series of passes at once: the seat may leave before its turn is over.
    fn take_card(&mut self, source: Source) -> (Card, PileName) {
        let state = &mut *self.state;
        state.moved = true;
        state.passed.clear();
        state.pressed = false;
        let seat = state.seat;
        let (pile, name) = match source {
            Source::Hand(card) => {
                state.hands[seat].remove_card(card);
                return (card, PileName::Hand(seat));
            }
            Source::Payoff => (&mut state.payoffs[seat], PileName::Payoff(seat)),
            Source::OtherPayoff(owner) => (&mut state.payoffs[owner as usize], PileName::Payoff(owner as usize)),
            Source::Side(index) => (&mut state.sides[seat][index as usize], PileName::Side(seat, index as usize)),
            Source::OtherSide(owner, index) => {
                let name = PileName::Side(owner as usize, index as usize);
                (&mut state.sides[owner as usize][index as usize], name)
            }
        };
        let card = pile.pop().expect("a legal action names a pile that has a card");
        if let PileName::Payoff(_) = name {
            self.forget_counts();
        }
        (card, name)
    }

    /// Lets what was told to all of the pay-off piles be asked again, since one of them has changed.
    fn forget_counts(&mut self) {
        let state = &mut *self.state;
        state.counted = state.counted && !state.announced;
        state.announced = false;
    }

    /// Turns up the next pay-off card of a seat, if there is one.
    pub fn flip(&mut self, seat: usize) {
        if let Some(&card) = self.state.payoffs[seat].last() {
            self.audience.hear(|| Event::Flip { seat, card });
        }
    }

    /// Discards, which ends the turn; or fills an empty side stack, where the rules demand that first.
    fn play_to_side(&mut self, card: Card, index: usize) {
        let seat = self.state.seat;
        let (source, target) = (PileName::Hand(seat), PileName::Side(seat, index));
        self.audience.hear(|| Event::Move { seat, source, target, card });
        let pile = &mut self.state.sides[seat][index];
        pile.push(card);
        if !self.derived.rules.fill_empty_sides || pile.len() > 1 {
            self.end_turn();
        } else if self.state.hands[seat].is_empty() {
            self.begin_turn(seat);
        } else {
            self.state.filling = true;
        }
    }

    fn play_to_centre(&mut self, card: Card, from_payoff: bool, slot: usize) {
        let state = &mut *self.state;
        if slot == state.centre.len() {
            state.centre.push(Pile::new());
            state.heights.push(0);
        }
        state.centre[slot].push(card);
        state.heights[slot] += 1;
        if from_payoff {
            state.quiet = 0;
        }
        if state.heights[slot] == self.derived.rules.stack_top {
            state.heights[slot] = 0;
            let stack = std::mem::take(&mut state.centre[slot]);
            self.recycle(stack, slot);
        }
        if self.state.phase == Phase::Turn {
            self.settle();
        }
    }

    /// Takes a completed stack off the table; if it is to be shuffled, the position waits.
    fn recycle(&mut self, stack: Pile, slot: usize) {
        let rule = self.derived.rules.recycle;
        let target = if rule == Recycle::Aside { PileName::Aside } else { PileName::Stock };
        self.audience.hear(|| Event::Shuffle { source: PileName::Centre(slot), target, count: stack.len() });
        let state = &mut *self.state;
        match rule {
            Recycle::Aside => return state.aside.extend(stack),
            Recycle::Bottom => state.mixing = stack,
            Recycle::Shuffle => {
                state.mixing = std::mem::take(&mut state.stock);
                state.mixing.extend(stack);
            }
        }
        state.phase = Phase::Recycle;
    }

    /// After a card was played: a team without pay-off cards has won, an empty hand is filled.
    pub fn settle(&mut self) {
        let state = &*self.state;
        let seat = state.seat;
        if self.derived.allies[seat].iter().all(|&ally| state.payoffs[ally].is_empty()) {
            self.end_won_game();
        } else if state.hands[seat].is_empty() {
            self.refill(Phase::Refill);
        }
    }

    /// Puts shuffled cards under the rest of the stock.
    pub fn restock(&mut self, mut shuffled: Pile) {
        shuffled.append(&mut self.state.stock);
        self.state.stock = shuffled;
    }

    /// Draws until the hand is full; a short stock is replenished first, or ends the game.
    ///
    /// While new stock is shuffled, the position waits in the phase `waiting`.
    pub fn refill(&mut self, waiting: Phase) {
        let rules = &self.derived.rules;
        let seat = self.state.seat;
        let held = self.state.hands[seat].len();
        if held >= rules.hand_size {
            return;
        }
        let needed = rules.hand_size - held;
        if self.state.stock.len() < needed {
            self.gather_reserves(needed);
            if !self.state.mixing.is_empty() {
                self.state.phase = waiting;
                return;
            }
            if self.is_out(self.state.stock.len(), needed) {
                return self.end_drawn_out_game(Reason::StockOut, rules.stock_out_result);
            }
            if self.state.stock.is_empty() {
                return;
            }
        }
        let drawn = draw(&mut self.state.stock, needed);
        self.audience.hear(|| Event::Draw { seat, cards: drawn.clone() });
        let hand = &mut self.state.hands[seat];
        hand.extend(drawn);
        hand.sort_unstable();
        let emptied = self.state.stock.is_empty() && rules.stock_out_when == StockOutWhen::Empty;
        if emptied && self.count_reserves() == 0 {
            self.end_drawn_out_game(Reason::StockOut, rules.stock_out_result);
        }
    }

    /// Whether a draw of `needed` cards from `stock` cards ends the game.
    fn is_out(&self, stock: usize, needed: usize) -> bool {
        match self.derived.rules.stock_out_when {
            StockOutWhen::Need => stock < needed,
            StockOutWhen::Empty | StockOutWhen::None => stock == 0,
            StockOutWhen::PlayOn => false,
        }
    }

    /// Takes up the cards that replenish the stock: those set aside, else the buried ones if they are enough.
    fn gather_reserves(&mut self, needed: usize) {
        let (source, target) = (PileName::Aside, PileName::Stock);
        if !self.state.aside.is_empty() {
            self.state.mixing = std::mem::take(&mut self.state.aside);
            let count = self.state.mixing.len();
            return self.audience.hear(|| Event::Shuffle { source, target, count });
        }
        let reserves = self.count_reserves();
        if reserves == 0 || self.is_out(self.state.stock.len() + reserves, needed) {
            return;
        }
        let state = &mut *self.state;
        for (slot, stack) in state.centre.iter_mut().enumerate() {
            if stack.len() > 1 {
                let count = stack.len() - 1;
                self.audience.hear(|| Event::Shuffle { source: PileName::Centre(slot), target, count });
                state.mixing.extend(stack.drain(..count));
            }
        }
    }

    /// Counts the cards that can replenish the stock.
    fn count_reserves(&self) -> usize {
        let state = &*self.state;
        if !state.aside.is_empty() || !self.derived.rules.last_resort_recycle {
            return state.aside.len();
        }
        state.centre.iter().map(|stack| stack.len().saturating_sub(1)).sum()
    }

    /// Begins a turn of a seat, unless a limit or the stock ends the game; an empty hand is always filled.
    pub fn begin_turn(&mut self, seat: usize) {
        if self.state.turn >= self.derived.turn_limit {
            return self.end_drawn_out_game(Reason::MaxTurns, Winner::Fewest);
        }
        if self.state.quiet >= self.derived.quiet_limit {
            return self.end_drawn_out_game(Reason::NoProgress, Winner::Fewest);
        }
        self.audience.hear(|| Event::Turn { seat });
        let state = &mut *self.state;
        state.phase = Phase::Turn;
        state.seat = seat;
        state.turn += 1;
        state.quiet += 1;
        state.moved = false;
        state.filling = false;
        state.counted = false;
        if self.derived.rules.refill_at == RefillAt::TurnStart || state.hands[seat].is_empty() {
            self.refill(Phase::Refill);
        }
    }

    /// Ends the turn after a discard or a pass: fills the hand if the rules say so, and begins the next turn.
    pub fn end_turn(&mut self) {
        if self.derived.rules.refill_at == RefillAt::TurnEnd {
            self.refill(Phase::RefillLast);
            if self.state.phase != Phase::Turn {
                return;
            }
        }
        self.next_turn();
    }

    /// Begins the turn of the next seat that is still in the game.
    pub fn next_turn(&mut self) {
        let mut seat = (self.state.seat + 1) % self.derived.seats;
        while self.state.out.contains(&seat) {
            seat = (seat + 1) % self.derived.seats;
        }
        self.begin_turn(seat);
    }

    /// Ends the turn without a discard; without a card played either, that is a pass of a round.
    fn pass_turn(&mut self) {
        let seat = self.state.seat;
        self.audience.hear(|| Event::Pass { seat });
        if !self.state.moved {
            self.state.passed.push(seat);
            if self.is_round() {
                return self.follow_round();
            }
        }
        self.end_turn();
    }

    /// Takes a seat and its partner out. The last team left wins; if the game continues, a turn of theirs ends.
    pub fn withdraw(&mut self, seat: usize) {
        for &ally in &self.derived.allies[seat] {
            if !self.state.out.contains(&ally) {
                self.state.out.push(ally);
            }
        }
        let mut playing = self.state.list_playing_seats().map(|other| self.derived.teams[other]);
        let first = playing.next();
        if playing.all(|team| Some(team) == first) {
            drop(playing);
            return self.end_drawn_out_game(Reason::Forfeit, Winner::Fewest);
        }
        drop(playing);
        if self.state.phase == Phase::Turn && self.state.out.contains(&self.state.seat) {
            self.skip_turn();
        }
    }

    /// Ends the turn of a seat that has left; all others may have passed by then.
    pub fn skip_turn(&mut self) {
        if self.is_round() {
            self.follow_round();
        } else {
            self.next_turn();
        }
    }

    /// Whether every seat still in the game has passed since a card was last played.
    fn is_round(&self) -> bool {
        self.state.list_playing_seats().all(|seat| self.state.passed.contains(&seat))
    }

    fn follow_round(&mut self) {
        match self.derived.rules.stalemate {
            Stalemate::End => self.end_in_stalemate(),
            Stalemate::MustPlay => self.force_plays(),
            Stalemate::Redeal => self.gather_for_redeal(),
        }
    }

    /// Ends the game; if no seat holds a card, the reason is the stock.
    fn end_in_stalemate(&mut self) {
        let rules = &self.derived.rules;
        if self.state.list_playing_seats().any(|seat| !self.state.hands[seat].is_empty()) {
            self.end_drawn_out_game(Reason::Stalemate, rules.stalemate_result);
        } else {
            self.end_drawn_out_game(Reason::StockOut, rules.stock_out_result);
        }
    }

    /// Forces aces and twos out of the hands for one more round; if nobody plays a card in it, ends the game.
    fn force_plays(&mut self) {
        if self.state.pressed {
            return self.end_in_stalemate();
        }
        self.state.pressed = true;
        self.state.passed.clear();
        if self.state.out.contains(&self.state.seat) {
            self.next_turn();
        } else {
            self.end_turn();
        }
    }

    /// Gathers everything but the pay-off piles for a new deal, or ends the game after `redeals` of them.
    fn gather_for_redeal(&mut self) {
        let derived = self.derived;
        let seats: Vec<usize> = self.state.list_playing_seats().collect();
        let state = &mut *self.state;
        let hands = seats.iter().map(|&seat| (PileName::Hand(seat), &state.hands[seat]));
        let sides = seats.iter().flat_map(|&seat| {
            let name = move |index| PileName::Side(seat, index);
            state.sides[seat].iter().enumerate().map(move |(index, pile)| (name(index), pile))
        });
        let centre = state.centre.iter().enumerate().map(|(slot, pile)| (PileName::Centre(slot), pile));
        let aside = std::iter::once((PileName::Aside, &state.aside));
        let piles: Vec<_> = hands.chain(sides).chain(centre).chain(aside).collect();
        let count = piles.iter().map(|(_, pile)| pile.len()).sum::<usize>() + state.stock.len();
        if state.redeals == derived.rules.redeals || count < seats.len() * derived.rules.hand_size {
            return self.end_in_stalemate();
        }
        let mut mixing = state.stock.clone();
        for (source, pile) in piles {
            mixing.extend(pile);
            if !pile.is_empty() {
                let target = PileName::Stock;
                self.audience.hear(|| Event::Shuffle { source, target, count: pile.len() });
            }
        }
        for &seat in &seats {
            state.hands[seat].clear();
            state.sides[seat].iter_mut().for_each(Vec::clear);
        }
        state.centre.iter_mut().for_each(Vec::clear);
        state.heights.fill(0);
        state.stock.clear();
        state.aside.clear();
        state.passed.clear();
        state.mixing = mixing;
        state.phase = Phase::Redeal;
        state.redeals += 1;
    }

    /// Deals new hands, by seat, and begins the turn of the next seat.
    pub fn finish_redeal(&mut self, mut shuffled: Pile) {
        let seats: Vec<usize> = self.state.list_playing_seats().collect();
        for seat in seats {
            let drawn = draw(&mut shuffled, self.derived.rules.hand_size);
            self.audience.hear(|| Event::Draw { seat, cards: drawn.clone() });
            self.state.hands[seat] = drawn;
            self.state.hands[seat].sort_unstable();
        }
        self.state.stock = shuffled;
        self.next_turn();
    }

    /// Reveals how many pay-off cards are left, to all seats or only to the seat to act.
    fn reveal_counts(&mut self) {
        let aloud = self.derived.rules.payoff_count == PayoffCount::OnRequest;
        let state = &mut *self.state;
        let seat = state.seat;
        self.audience.hear(|| {
            let left = aloud.then(|| state.payoffs.iter().map(Vec::len).collect());
            Event::Count { seat, left }
        });
        state.counted = true;
        state.announced = aloud;
    }

    /// Ends the game: the team of the seat to act is first, the others rank by the pay-off cards they have left.
    fn end_won_game(&mut self) {
        let mut left = self.count_left();
        left[self.derived.teams[self.state.seat]] = -1;
        self.rank_teams(&left, Reason::PayoffEmpty);
    }

    /// Ends the game without a winner by play.
    fn end_drawn_out_game(&mut self, reason: Reason, rule: Winner) {
        let mut left = self.count_left();
        if rule == Winner::Draw {
            left.fill(0);
        }
        self.rank_teams(&left, reason);
    }

    /// Counts the pay-off cards that each team has left.
    fn count_left(&self) -> Vec<i64> {
        let teams = &self.derived.teams;
        let mut left = vec![0; teams.iter().max().map_or(0, |last| last + 1)];
        for (seat, pile) in self.state.payoffs.iter().enumerate() {
            left[teams[seat]] += pile.len() as i64;
        }
        left
    }

    /// Ranks teams by `left`, fewest first, equal numbers tied; withdrawn teams rank last, the first out lowest.
    fn rank_teams(&mut self, left: &[i64], reason: Reason) {
        let teams = &self.derived.teams;
        let mut ranks: Vec<(bool, i64)> = left.iter().map(|&cards| (false, cards)).collect();
        for (order, &seat) in self.state.out.iter().enumerate().rev() {
            ranks[teams[seat]] = (true, -(order as i64));
        }
        let places: Vec<usize> =
            ranks.iter().map(|own| 1 + ranks.iter().filter(|other| *other < own).count()).collect();
        let mut points = vec![0; places.len()];
        let mut winners = places.iter().enumerate().filter(|(_, place)| **place == 1).map(|(team, _)| team);
        if let (Some(winner), None) = (winners.next(), winners.next()) {
            points[winner] = self.score_win(winner, reason);
        }
        self.state.phase = Phase::Over;
        self.state.result = Some(Outcome {
            places: teams.iter().map(|&team| places[team]).collect(),
            scores: teams.iter().map(|&team| points[team]).collect(),
            reason,
            figures: [],
        });
    }

    /// Scores the only winner; after a forfeit counts as if it had no card left.
    fn score_win(&self, winner: usize, reason: Reason) -> i64 {
        let left = self.count_left();
        let own = if reason == Reason::Forfeit { 0 } else { left[winner] };
        let others = left.iter().enumerate().filter(|(team, _)| *team != winner);
        let more: i64 = others.map(|(_, cards)| (cards - own).max(0)).sum();
        match self.derived.rules.scoring {
            Scoring::WinOnly => 1,
            Scoring::FivePlus => 5 * i64::from(own == 0) + more,
            Scoring::RemainOnly => more,
            Scoring::Skipbo => 25 * i64::from(own == 0) + 5 * more,
        }
    }
}

/// Takes up to `count` cards from the top of a pile, the top one first.
pub fn draw(pile: &mut Pile, count: usize) -> Pile {
    let left = pile.len().saturating_sub(count);
    pile.drain(left..).rev().collect()
}

trait Hand {
    fn remove_card(&mut self, card: Card);
}

impl Hand for Pile {
    /// Removes the first copy of a card.
    fn remove_card(&mut self, card: Card) {
        if let Some(place) = self.iter().position(|&held| held == card) {
            self.remove(place);
        }
    }
}
