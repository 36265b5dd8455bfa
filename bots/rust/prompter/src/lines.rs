//! The lines of a turn: what can be played with the cards that are seen, and how a turn can end.
//!
//! A breadth-first search visits the positions that plays lead to, each one once whatever the order of the plays. A
//! line ends with a discard or a pass, or where a card is turned up that nobody knows yet: the next pay-off card, a new
//! hand. The worth of such a line is that of the best position behind it that known cards lead to.

use std::cell::Cell;

use crate::rules::{Card, Rules, StockOut, KINDS, NONE, PILES, SEATS, WILD};
use crate::table::{list_discards, list_present, list_run, Pile, Source, Step, Table, DEPTH, HEIGHTS};
use crate::worth;

/// Positions looked at for one answer, and for one of the answers in a rollout.
const LIMIT: usize = 500;
const QUICK_LIMIT: usize = 60;
/// How many discards are tried in one position.
const DISCARDS: usize = 4;
const MOST_PILES: usize = 3 * PILES;

/// A way to play on from here.
#[derive(Clone, Debug)]
pub struct Line {
    pub steps: Vec<Step>,
    pub worth: i32,
}

/// What changes while a turn is planned.
#[derive(Clone, Copy)]
struct Position {
    heights: [u8; HEIGHTS],
    hand: [u8; KINDS],
    held: u8,
    /// The heights that stacks have, and the cards in the hand, as bits.
    open: u16,
    ranks: u16,
    /// Cards left in each side stack.
    sizes: [u8; MOST_PILES],
    /// The pay-off cards that were played, as bits.
    paid: u8,
    /// The sum of a number for each card in its place: the same for the same position, whatever led to it.
    key: u64,
}

struct Node {
    position: Position,
    parent: usize,
    step: Step,
    /// What was turned up on the way is not known.
    revealed: bool,
    /// The worth of stopping here with the best discard, then the best of this and what follows.
    worth: i32,
}

/// Keys that were met, in a table at most half full; 0 stands for none.
struct Met(Vec<u64>);

impl Met {
    fn new(limit: usize) -> Met {
        Met(vec![0; (4 * limit).next_power_of_two()])
    }

    /// Whether the key is new; it is not from now on.
    fn insert(&mut self, key: u64) -> bool {
        let last = self.0.len() - 1;
        let mut place = (key >> 32) as usize & last;
        while self.0[place] != 0 {
            if self.0[place] == key {
                return false;
            }
            place = (place + 1) & last;
        }
        self.0[place] = key;
        true
    }
}

fn list_bits(mut bits: u16) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let place = bits.trailing_zeros() as usize;
        bits &= bits.wrapping_sub(1);
        (place < 16).then_some(place)
    })
}

/// A number that stands for a place where cards lie.
const fn key(place: usize) -> u64 {
    let word = (place as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB) | 1
}

/// What stays the same while a turn is planned.
struct Planner<'a> {
    rules: &'a Rules,
    table: &'a Table,
    /// The side stacks that may be played from: their seats, their places, the costs of their burials by size.
    piles: [(u8, u8, &'a [Card]); MOST_PILES],
    pile_count: usize,
    costs: [[i32; DEPTH + 1]; MOST_PILES],
    /// Also by size: the ranks that come off the top one after another, as bits.
    runs: [[u16; DEPTH + 1]; MOST_PILES],
    /// The ranks on the side stacks of opponents, as bits.
    gifts: u16,
    /// The pay-off piles that may be played from, and their tops.
    payers: [(u8, Card); SEATS],
    payer_count: usize,
    /// By card, how far it lies below the own pay-off card; 15 where that is not told.
    depths: [u8; KINDS],
    last_ones: bool,
    may_draw: bool,
    /// By height, once asked for.
    dangers: [Cell<Option<i32>>; HEIGHTS],
}

/// Lists the lines of the seat to act, best first.
pub fn list_lines(rules: &Rules, table: &Table) -> Vec<Line> {
    let planner = Planner::new(rules, table);
    let mut nodes = planner.search(LIMIT);
    let mut lines = Vec::new();
    for index in (1..nodes.len()).rev() {
        let (parent, worth) = (nodes[index].parent, nodes[index].worth);
        if nodes[index].revealed {
            if nodes[parent].revealed {
                nodes[parent].worth = nodes[parent].worth.max(worth);
            } else {
                lines.push(Line { steps: list_steps(&nodes, index), worth });
            }
        }
    }
    for (index, node) in nodes.iter().enumerate() {
        if !node.revealed {
            planner.add_ends(&nodes, index, &mut lines);
        }
    }
    lines.sort_by(|one, other| other.worth.cmp(&one.worth).then(one.steps.len().cmp(&other.steps.len())));
    lines
}

/// The line that looks best, up to the first card that is turned up: for rollouts, which look at fewer positions.
pub fn find_line(rules: &Rules, table: &Table) -> Vec<Step> {
    let planner = Planner::new(rules, table);
    let nodes = planner.search(QUICK_LIMIT);
    let mut best = usize::from(nodes.len() > 1 && planner.must_play(&nodes[0].position));
    for (index, node) in nodes.iter().enumerate().skip(best + 1) {
        if node.worth > nodes[best].worth && (node.revealed || !planner.must_play(&node.position)) {
            best = index;
        }
    }
    if !nodes[best].revealed {
        let end = planner.list_ends(&nodes[best].position).into_iter().max_by_key(|end| end.0);
        let mut steps = list_steps(&nodes, best);
        steps.extend(end.map(|end| end.1));
        return steps;
    }
    while nodes[nodes[best].parent].revealed {
        best = nodes[best].parent;
    }
    list_steps(&nodes, best)
}

fn list_steps(nodes: &[Node], index: usize) -> Vec<Step> {
    let (mut steps, mut at) = (Vec::new(), index);
    while at != 0 {
        steps.push(nodes[at].step);
        at = nodes[at].parent;
    }
    steps.reverse();
    steps
}

impl Planner<'_> {
    fn new<'a>(rules: &'a Rules, table: &'a Table) -> Planner<'a> {
        let mut planner = Planner {
            rules,
            table,
            piles: [(0, 0, &[]); MOST_PILES],
            pile_count: 0,
            costs: [[0; DEPTH + 1]; MOST_PILES],
            runs: [[0; DEPTH + 1]; MOST_PILES],
            gifts: 0,
            payers: [(0, NONE); SEATS],
            payer_count: 0,
            depths: [15; KINDS],
            last_ones: true,
            may_draw: table.supply() >= rules.hand_size || (rules.stock_out != StockOut::Need && table.supply() > 0),
            dangers: std::array::from_fn(|_| Cell::new(None)),
        };
        planner.add_seat(table.seat);
        for seat in rules.opponents(table.seat) {
            for pile in &table.seats[seat].sides[..rules.side_count] {
                planner.gifts |= 1 << pile.top() & !1;
            }
        }
        let payoff = table.own().top as usize;
        if table.own().left > 0 && (1..=rules.top).contains(&payoff) {
            for card in 1..=rules.top {
                planner.depths[card] = ((payoff + rules.top - card) % rules.top) as u8;
            }
        }
        rules.allies(table.seat).filter(|&ally| ally != table.seat).for_each(|ally| planner.add_seat(ally));
        planner
    }

    fn add_seat(&mut self, seat: usize) {
        let owner = &self.table.seats[seat];
        for index in 0..self.rules.side_count.min(MOST_PILES - self.pile_count) {
            let cards = owner.sides[index].cards();
            let costs = &mut self.costs[self.pile_count];
            for size in 2..=cards.len() {
                costs[size] = costs[size - 1] + self.rules.burials[cards[size - 2] as usize][cards[size - 1] as usize];
            }
            let runs = &mut self.runs[self.pile_count];
            for size in 1..=cards.len() {
                runs[size] = list_run(&cards[..size]);
            }
            self.piles[self.pile_count] = (seat as u8, index as u8, cards);
            self.pile_count += 1;
        }
        if owner.left > 0 && owner.top != NONE {
            self.payers[self.payer_count] = (seat as u8, owner.top);
            self.payer_count += 1;
            self.last_ones &= owner.left == 1;
        }
    }

    fn payers(&self) -> &[(u8, Card)] {
        &self.payers[..self.payer_count]
    }

    fn search(&self, limit: usize) -> Vec<Node> {
        let own = self.table.own();
        let mut sizes = [0; MOST_PILES];
        for (size, pile) in sizes.iter_mut().zip(&self.piles[..self.pile_count]) {
            *size = pile.2.len() as u8;
        }
        let (heights, hand) = (self.table.heights, own.hand);
        let open = list_present(&heights[..self.rules.top]);
        let root = Position { heights, hand, held: own.held, open, ranks: list_present(&hand), sizes, paid: 0, key: 1 };
        let mut met = Met::new(limit);
        met.insert(root.key);
        let mut nodes = Vec::with_capacity(16);
        nodes.push(Node { position: root, parent: 0, step: Step::Pass, revealed: false, worth: self.worth(&root) });
        let mut plays = Vec::with_capacity(16);
        let mut next = 0;
        while next < nodes.len() && nodes.len() < limit {
            let (position, revealed) = (nodes[next].position, nodes[next].revealed);
            self.list_plays(&position, &mut plays);
            for &(source, height) in &plays {
                let further = self.follow(&position, source, height);
                if met.insert(further.key) {
                    let revealed = revealed || further.paid != 0 || (further.held == 0 && self.may_draw);
                    let step = Step::Play(source, height as u8);
                    nodes.push(Node { position: further, parent: next, step, revealed, worth: self.worth(&further) });
                }
            }
            next += 1;
        }
        nodes
    }

    /// Lists the plays of a position; a wild card only where no other card fits.
    fn list_plays(&self, position: &Position, plays: &mut Vec<(Source, usize)>) {
        plays.clear();
        if self.table.filling || (position.held == 0 && !self.may_draw && self.rules.stock_out != StockOut::PlayOn) {
            return;
        }
        for height in list_bits(position.open) {
            let needed = (height + 1) as Card;
            let wild_fits = self.rules.wild_fits(height);
            for (index, &(seat, card)) in self.payers().iter().enumerate() {
                if position.paid >> index & 1 == 0 && self.rules.fits(card, height) {
                    plays.push((Source::Payoff(seat), height));
                }
            }
            let before = plays.len();
            self.add_plays(position, needed, height, plays);
            if plays.len() == before && wild_fits {
                self.add_plays(position, WILD, height, plays);
            }
        }
        if self.rules.has_forced() && plays.iter().any(|&(source, _)| self.is_forced(position, source)) {
            plays.retain(|&(source, _)| self.is_forced(position, source));
        }
    }

    fn add_plays(&self, position: &Position, card: Card, height: usize, plays: &mut Vec<(Source, usize)>) {
        if position.hand[card as usize] > 0 {
            plays.push((Source::Hand(card), height));
        }
        for (pile, &size) in self.piles[..self.pile_count].iter().zip(&position.sizes) {
            if size > 0 && pile.2[size as usize - 1] == card {
                plays.push((Source::Side(pile.0, pile.1), height));
            }
        }
    }

    /// Whether the rules demand that this card be played before others.
    fn is_forced(&self, position: &Position, source: Source) -> bool {
        let own = self.table.seat as u8;
        let (ranks, card) = match source {
            Source::Hand(card) => (self.rules.forced_hand, card),
            Source::Payoff(seat) if seat == own => (self.rules.forced_payoff, self.table.own().top),
            Source::Side(seat, index) if seat == own => {
                let size = position.sizes[index as usize] as usize;
                (self.rules.forced_side, self.piles[index as usize].2[size - 1])
            }
            _ => return false,
        };
        ranks >> card & 1 != 0
    }

    fn follow(&self, position: &Position, source: Source, height: usize) -> Position {
        let mut further = *position;
        let place = match source {
            Source::Hand(card) => {
                further.hand[card as usize] -= 1;
                further.held -= 1;
                further.ranks &= !(u16::from(further.hand[card as usize] == 0) << card);
                card as usize
            }
            Source::Payoff(seat) => {
                let index = self.payers().iter().position(|payer| payer.0 == seat).unwrap_or(0);
                further.paid |= 1 << index;
                32 + index
            }
            Source::Side(seat, place) => {
                let index = self.piles.iter().position(|pile| (pile.0, pile.1) == (seat, place)).unwrap_or(0);
                further.sizes[index] -= 1;
                64 + index
            }
        };
        let stacks = key(128 + (height + 1) % self.rules.top).wrapping_sub(key(128 + height));
        further.key = position.key.wrapping_add(key(place)).wrapping_add(stacks);
        further.heights[height] -= 1;
        further.heights[(height + 1) % self.rules.top] += 1;
        if self.rules.slots.is_none() {
            further.heights[0] = 1;
        }
        further.open &= !(u16::from(further.heights[height] == 0) << height);
        further.open |= 1 << ((height + 1) % self.rules.top);
        further
    }

    /// What it is worth to stop here, with the best discard; an empty hand draws and goes on.
    fn worth(&self, position: &Position) -> i32 {
        let worth = self.bare_worth(position);
        if position.held == 0 {
            return worth;
        }
        let mut tops = [NONE; PILES];
        for (index, top) in tops.iter_mut().enumerate().take(self.rules.side_count) {
            *top = self.top(position, index);
        }
        let mut best = i32::MIN;
        for card in list_bits(position.ranks) {
            for &top in &tops[..self.rules.side_count] {
                best = best.max(self.discard(position, card as Card, top));
            }
        }
        worth + if best > i32::MIN { best } else { 0 }
    }

    /// What this discard is worth on a stack with this top.
    fn discard(&self, position: &Position, card: Card, top: Card) -> i32 {
        let worths = &self.rules.worths;
        let mut worth = worth::discard(self.rules, card, top);
        if position.hand[card as usize] > 1 {
            worth += worths.thrown_double;
        }
        if position.paid == 0 {
            worth += worths.thrown_below.get(self.depths[card as usize] as usize).copied().unwrap_or(0);
        }
        worth
    }

    fn top(&self, position: &Position, index: usize) -> Card {
        let size = position.sizes[index] as usize;
        if size > 0 {
            self.piles[index].2[size - 1]
        } else {
            NONE
        }
    }

    /// What a position is worth without its discard.
    fn bare_worth(&self, position: &Position) -> i32 {
        let played = position.paid.count_ones();
        let mut worth = if self.last_ones && played > 0 && played as usize == self.payer_count {
            worth::WIN
        } else {
            worth::PAYOFF * played as i32
        };
        let (mut most, mut sum) = (0, 0);
        for danger in list_bits(position.open).map(|height| self.danger(height)) {
            most = most.max(danger);
            sum += danger;
        }
        worth += self.rules.worths.gift * (position.open << 1 & self.gifts).count_ones() as i32;
        worth -= most + self.rules.worths.danger_rest * (sum - most) / 100;
        let costs = self.costs[..self.pile_count].iter().zip(&position.sizes);
        worth -= costs.map(|(costs, &size)| costs[size as usize]).sum::<i32>();
        if position.held == 0 && !self.may_draw {
            return worth;
        }
        worth += self.nearness(position);
        if position.held == 0 {
            return worth + self.rules.worths.empty_hand;
        }
        let wilds = i32::from(position.hand[WILD as usize]);
        worth + self.rules.worths.wild_left * wilds + self.rules.worths.card_left * (i32::from(position.held) - wilds)
    }

    /// What it costs to leave a stack of this height to the opponents.
    fn danger(&self, height: usize) -> i32 {
        self.dangers[height].get().unwrap_or_else(|| {
            let danger = worth::danger(self.rules, self.table, height);
            self.dangers[height].set(Some(danger));
            danger
        })
    }

    /// The value of how few cards below its pay-off card a seat cannot see among its own; for a card that is yet to
    /// be turned up the mean.
    fn nearness(&self, position: &Position) -> i32 {
        let mut wilds = u32::from(position.hand[WILD as usize]);
        let mut have = position.ranks;
        for index in 0..self.pile_count {
            let run = self.runs[index][position.sizes[index] as usize];
            have |= run;
            wilds += u32::from(run >> WILD & 1);
        }
        let fewest = |card: Card| {
            list_bits(position.open)
                .map(|at| (self.rules.below[at][card as usize] & !have).count_ones())
                .min()
                .unwrap_or(99)
        };
        let known = self.payers().iter().enumerate().filter(|(index, _)| position.paid >> index & 1 == 0);
        let mut best = known.map(|(_, &(_, card))| self.rules.worths.nearness(fewest(card), wilds)).max().unwrap_or(0);
        if position.paid != 0 {
            let next = (1..=self.rules.top as Card).chain([WILD]);
            let sum: i32 = next.map(|card| self.rules.worths.nearness(fewest(card), wilds)).sum();
            best = best.max(sum / (self.rules.top as i32 + 1));
        }
        best
    }

    /// Adds the lines that end with a discard or a pass in this position.
    fn add_ends(&self, nodes: &[Node], index: usize, lines: &mut Vec<Line>) {
        let position = &nodes[index].position;
        if self.must_play(position) {
            return;
        }
        let bare = self.bare_worth(position);
        let mut ends = self.list_ends(position);
        ends.sort_by_key(|&(worth, _)| -worth);
        for &(worth, step) in ends.iter().take(DISCARDS) {
            let mut steps = list_steps(nodes, index);
            steps.push(step);
            lines.push(Line { steps, worth: bare + worth });
        }
    }

    /// Whether the rules forbid to end the turn here.
    fn must_play(&self, position: &Position) -> bool {
        let mut plays = Vec::new();
        if self.rules.has_forced() {
            self.list_plays(position, &mut plays);
        }
        plays.iter().any(|&(source, _)| self.is_forced(position, source))
    }

    /// The discards that are possible in this position, and a pass where it is, with their worth.
    fn list_ends(&self, position: &Position) -> Vec<(i32, Step)> {
        let mut tops = [Pile::EMPTY; PILES];
        for (side, pile) in tops.iter_mut().enumerate().take(self.rules.side_count) {
            self.piles[side].2[..position.sizes[side] as usize].iter().for_each(|&card| pile.push(card));
        }
        let mut ends = Vec::with_capacity(16);
        for card in list_bits(position.ranks).map(|card| card as Card) {
            for side in list_discards(self.rules, &tops[..self.rules.side_count], card) {
                ends.push((self.discard(position, card, tops[side].top()), Step::Discard(card, side as u8)));
            }
        }
        if self.rules.can_pass && (self.rules.optional || ends.is_empty()) {
            ends.push((self.rules.worths.card_left, Step::Pass));
        }
        ends
    }
}
