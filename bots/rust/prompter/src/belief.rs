//! What the events of a game have told: cards under others, cards set aside, cards at the bottom of the stock.

use crate::json::Json;
use crate::rules::{Card, Rules, KINDS, NONE, PILES, SEATS, WILD};
use crate::table::{Pile, Table};
use crate::worlds::Seen;

/// The memory of one seat, from the first event of the game on.
#[derive(Default)]
pub struct Belief {
    seat: usize,
    /// By seat the side stacks, as far as they were ever seen.
    sides: Vec<Vec<Vec<Card>>>,
    centre: Vec<Vec<Card>>,
    aside: Vec<Card>,
    bottoms: Vec<Vec<Card>>,
    /// By seat the known cards on top of the pay-off pile, and how many cards are in it.
    faces: [Vec<Card>; SEATS],
    left: [Option<usize>; SEATS],
    /// By seat what it could have played when its last turn ended, as bits.
    unplayed: [u16; SEATS],
    /// The cards of the pay-off piles that were turned up, by card.
    turned: [usize; KINDS],
    /// Everything but the pay-off piles is being gathered for a new deal.
    gathering: bool,
    passes: u8,
    moved: bool,
    all_mixed: bool,
}

/// A pile by its name in events.
enum Place {
    Hand,
    Payoff(usize),
    Side(usize, usize),
    Centre(usize),
    Aside,
    Stock,
}

impl Place {
    fn read(name: &str) -> Option<Place> {
        match name {
            "stock" => return Some(Place::Stock),
            "aside" => return Some(Place::Aside),
            _ => {}
        }
        if let Some(slot) = name.strip_prefix('c') {
            return slot.parse().ok().map(Place::Centre);
        }
        let seat = usize::from(name.as_bytes().first()?.checked_sub(b'0')?);
        if seat >= SEATS {
            return None;
        }
        match name.as_bytes().get(1)? {
            b'h' => Some(Place::Hand),
            b'p' => Some(Place::Payoff(seat)),
            b's' => name[2..].parse().ok().map(|index| Place::Side(seat, index)),
            _ => None,
        }
    }
}

impl Belief {
    pub fn new(rules: &Rules, json: &Json, seat: usize) -> Belief {
        let all_mixed = json.get("recycle").text() == "shuffle";
        Belief {
            seat,
            sides: vec![vec![Vec::new(); json.get("side_count").count()]; rules.seats],
            all_mixed,
            ..Belief::default()
        }
    }

    pub fn hear(&mut self, rules: &Rules, event: &Json) {
        let seat = event.get("seat").count().min(SEATS - 1);
        let card = rules.card(event.get("card").text());
        match event.get("type").text() {
            "deal" => self.hear_deal(rules, event),
            "turn" => {
                self.gathering = false;
                self.moved = false;
            }
            "draw" => self.gathering = false,
            "flip" if self.faces[seat].is_empty() => {
                self.faces[seat].push(card);
                self.turned[card as usize] += 1;
            }
            "move" => {
                self.moved = true;
                self.passes = 0;
                let (from, to) = (Place::read(event.get("from").text()), Place::read(event.get("to").text()));
                if let (Some(Place::Hand), Some(Place::Side(..))) = (&from, &to) {
                    self.unplayed[seat] = self.list_open(rules);
                }
                self.take(from);
                self.put(to, card);
            }
            "pass" => {
                self.passes += u8::from(!self.moved);
                self.unplayed[seat] = self.list_open(rules);
            }
            "shuffle" => self.hear_shuffle(event),
            _ => {}
        }
    }

    fn hear_deal(&mut self, rules: &Rules, event: &Json) {
        for (seat, left) in event.get("payoffs").items().iter().enumerate().take(SEATS) {
            self.left[seat] = Some(left.count());
        }
        let cards = |pile: &Json| pile.items().iter().map(|card| rules.card(card.text())).collect();
        let stacks = |seat: &Json| seat.items().iter().map(cards).collect();
        self.sides = event.get("sides").items().iter().map(stacks).collect();
    }

    fn take(&mut self, from: Option<Place>) {
        match from {
            Some(Place::Payoff(seat)) => {
                self.faces[seat].pop();
                self.left[seat] = self.left[seat].map(|left| left.saturating_sub(1));
            }
            Some(Place::Side(seat, index)) => {
                self.sides.get_mut(seat).and_then(|own| own.get_mut(index)).and_then(Vec::pop);
            }
            _ => {}
        }
    }

    fn put(&mut self, to: Option<Place>, card: Card) {
        match to {
            Some(Place::Payoff(seat)) => {
                self.faces[seat].push(card);
                self.left[seat] = self.left[seat].map(|left| left + 1);
            }
            Some(Place::Side(seat, index)) => {
                if let Some(pile) = self.sides.get_mut(seat).and_then(|own| own.get_mut(index)) {
                    pile.push(card);
                }
            }
            Some(Place::Centre(slot)) => {
                if slot >= self.centre.len() {
                    self.centre.resize(slot + 1, Vec::new());
                }
                self.centre[slot].push(card);
            }
            _ => {}
        }
    }

    fn hear_shuffle(&mut self, event: &Json) {
        let (from, to) = (Place::read(event.get("from").text()), Place::read(event.get("to").text()));
        let count = event.get("count").count();
        match (from, to) {
            // Tied pay-off piles: what was turned up is hidden again.
            (Some(Place::Payoff(seat)), Some(Place::Payoff(other))) => {
                self.hide_face(seat);
                self.hide_face(other);
            }
            (Some(Place::Hand), _) => self.gather(),
            (Some(Place::Side(seat, index)), _) => {
                self.gather();
                if let Some(pile) = self.sides.get_mut(seat).and_then(|own| own.get_mut(index)) {
                    pile.clear();
                }
            }
            (Some(Place::Centre(slot)), to) => {
                let Some(stack) = self.centre.get_mut(slot) else { return };
                let cards: Vec<Card> = stack.drain(..count.min(stack.len())).collect();
                match to {
                    Some(Place::Aside) => self.aside.extend(cards),
                    // A completed stack that is shuffled in mixes the whole stock; all else goes below it.
                    _ if self.gathering || self.all_mixed => self.bottoms.clear(),
                    _ => self.bottoms.push(cards),
                }
            }
            (Some(Place::Aside), _) => {
                let cards = std::mem::take(&mut self.aside);
                if !self.gathering {
                    self.bottoms.push(cards);
                }
            }
            _ => {}
        }
    }

    /// The cards that the centre takes, as bits.
    fn list_open(&self, rules: &Rules) -> u16 {
        let stacks = self.centre.iter().map(Vec::len).filter(|&height| height < rules.top);
        let empty = rules.slots.map_or(true, |slots| self.centre.len() < slots);
        stacks.fold(u16::from(empty) << 1, |bits, height| bits | 2 << height)
    }

    fn gather(&mut self) {
        self.gathering = true;
        self.unplayed = [0; SEATS];
        self.bottoms.clear();
    }

    fn hide_face(&mut self, seat: usize) {
        if let Some(card) = self.faces[seat].pop() {
            self.turned[card as usize] = self.turned[card as usize].saturating_sub(1);
        }
    }

    /// Joins what the view shows and what was told before.
    pub fn see(&mut self, rules: &Rules, view: &Json) -> Seen {
        let mut table = Table::bare(rules);
        table.seat = self.seat;
        table.moved = self.moved;
        table.passes = self.passes;
        let mut unseen = [0i32; KINDS];
        rules.deck.iter().chain(&rules.payoff_pack).for_each(|&card| unseen[card as usize] += 1);
        self.see_centre(rules, view, &mut table, &mut unseen);
        let seats = view.get("seats").items();
        for (seat, json) in seats.iter().enumerate().take(rules.seats) {
            self.see_seat(rules, seat, json, &mut table, &mut unseen);
        }
        for card in view.get("hand").items() {
            let card = rules.card(card.text());
            table.seats[self.seat].hand[card as usize] += 1;
            unseen[card as usize] -= 1;
        }
        self.see_stock(view, &mut table, &mut unseen);
        let hidden: usize =
            (0..rules.seats).map(|seat| (table.seats[seat].left as usize).saturating_sub(self.faces[seat].len())).sum();
        let payoff_pool = (!rules.payoff_pack.is_empty()).then(|| {
            let mut left = [0i32; KINDS];
            rules.payoff_pack.iter().for_each(|&card| left[card as usize] += 1);
            (1..KINDS).for_each(|card| left[card] -= self.turned[card] as i32);
            list_cards(&left)
        });
        // A game that begins in the midst tells nothing of what was turned up before: then all packs are one.
        let payoff_pool = payoff_pool.filter(|pool| pool.len() == hidden);
        for &card in payoff_pool.iter().flatten() {
            unseen[card as usize] -= 1;
        }
        Seen {
            seat: self.seat,
            table,
            pool: list_cards(&unseen),
            payoff_pool,
            faces: self.faces.clone(),
            bottoms: self.bottoms.clone(),
        }
    }

    fn see_centre(&mut self, rules: &Rules, view: &Json, table: &mut Table, unseen: &mut [i32; KINDS]) {
        let stacks = view.get("centre").items();
        table.heights = [0; crate::table::HEIGHTS];
        self.centre.resize(stacks.len(), Vec::new());
        for (stack, known) in stacks.iter().zip(&mut self.centre) {
            let height = stack.get("height").count().min(rules.top - 1);
            table.heights[height] = table.heights[height].saturating_add(1);
            *known = stack.get("cards").items().iter().map(|card| rules.card(card.text())).collect();
            for &card in known.iter() {
                unseen[card as usize] -= 1;
                table.centre_cards += 1;
                table.centre_wilds += u16::from(card == WILD);
            }
        }
        if rules.slots.is_none() {
            table.heights[0] = 1;
        }
    }

    fn see_seat(&mut self, rules: &Rules, seat: usize, json: &Json, table: &mut Table, unseen: &mut [i32; KINDS]) {
        let payoff = json.get("payoff");
        let top = rules.card(payoff.get("top").text());
        let told = payoff.get("left").number().map(|left| left as usize);
        let left = if top == NONE { 0 } else { told.or(self.left[seat]).unwrap_or(rules.payoff_size.max(2) / 2) };
        self.left[seat] = Some(left);
        let faces = &mut self.faces[seat];
        if faces.last().copied().unwrap_or(NONE) != top || faces.len() > left {
            faces.clear();
            faces.extend((top != NONE).then_some(top));
        }
        faces.iter().for_each(|&card| unseen[card as usize] -= 1);
        let owner = &mut table.seats[seat];
        owner.left = left.min(250) as u8;
        owner.top = top;
        owner.held = json.get("hand").count().min(100) as u8;
        owner.out = json.get("out").is_true();
        owner.unplayed = self.unplayed[seat];
        for (index, pile) in json.get("side").items().iter().enumerate() {
            let known = self.sides.get(seat).and_then(|own| own.get(index));
            let mut kept = Pile::EMPTY;
            for (place, card) in pile.items().iter().enumerate() {
                let seen = rules.card(card.text());
                let remembered = || known.filter(|own| own.len() == pile.items().len()).map(|own| own[place]);
                let card = if seen == NONE { remembered().unwrap_or(NONE) } else { seen };
                unseen[card as usize] -= 1;
                kept.push(card);
            }
            if index < PILES {
                owner.sides[index] = kept;
            }
        }
    }

    fn see_stock(&mut self, view: &Json, table: &mut Table, unseen: &mut [i32; KINDS]) {
        let stock = view.get("stock").count();
        table.stock = stock as u16;
        // Layers that have begun to be drawn are as unknown as hands.
        while self.bottoms.iter().map(Vec::len).sum::<usize>() > stock {
            self.bottoms.remove(0);
        }
        self.bottoms.iter().flatten().for_each(|&card| unseen[card as usize] -= 1);
        if self.aside.len() != view.get("aside").count() {
            self.aside.clear();
        }
        for &card in &self.aside {
            unseen[card as usize] -= 1;
            table.recycled[card as usize] += 1;
            table.recycled_count += 1;
        }
        // What was set aside before the bot listened is taken for one card of each rank, again and again.
        for place in self.aside.len()..view.get("aside").count() {
            table.recycled[1 + place % 12] += 1;
            table.recycled_count += 1;
        }
    }
}

/// The cards that are counted, where a count is positive.
fn list_cards(counts: &[i32; KINDS]) -> Vec<Card> {
    (1..KINDS).flat_map(|card| vec![card as Card; counts[card].max(0) as usize]).collect()
}

#[cfg(test)]
mod tests {
    use super::Belief;
    use crate::dealing::find_rules;
    use crate::json::Json;

    #[test]
    fn what_the_centre_takes_when_a_seat_discards_is_what_that_seat_has_not_played() {
        let rules = find_rules("standard").expect("rules of this name");
        let mut belief = Belief::new(&rules, &Json::parse(r#"{"side_count":4}"#).expect("rules"), 0);
        for event in [
            r#"{"type":"move","seat":1,"from":"1h","to":"c0","card":"AC"}"#,
            r#"{"type":"move","seat":1,"from":"1h","to":"c0","card":"2C"}"#,
            r#"{"type":"move","seat":1,"from":"1h","to":"1s0","card":"9C"}"#,
        ] {
            belief.hear(&rules, &Json::parse(event).expect("an event"));
        }

        assert_eq!(belief.unplayed[..2], [0, 1 << 1 | 1 << 3]);
    }
}
