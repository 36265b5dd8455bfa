//! The lines of a turn: what can be played with the cards that are seen, and how a turn can end.
//!
//! A breadth-first search visits the positions that plays lead to, each one once whatever the order of the plays. A
//! line ends with a discard or a pass, or where a card is turned up that nobody knows yet: the next pay-off card, a new
//! hand. The worth of such a line is that of the best position behind it that known cards lead to.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hash, Hasher};

use crate::rules::{Card, Rules, StockOut, KINDS, NONE, PILES, WILD};
use crate::table::{Pile, Source, Step, Table, HEIGHTS};
use crate::worth;

/// Positions looked at for one answer.
const LIMIT: usize = 500;
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
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Position {
    heights: [u8; HEIGHTS],
    hand: [u8; KINDS],
    held: u8,
    /// Cards left in each side stack.
    sizes: [u8; MOST_PILES],
    /// The pay-off cards that were played, as bits.
    paid: u8,
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

/// Multiplies and rotates: good enough for positions, and faster than the standard library's hasher.
#[derive(Default)]
struct QuickHasher(u64);

impl Hasher for QuickHasher {
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 29
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let word = chunk.iter().fold(0, |word, &byte| word << 8 | u64::from(byte));
            self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        }
    }
}

/// What stays the same while a turn is planned.
struct Planner<'a> {
    rules: &'a Rules,
    table: &'a Table,
    /// The side stacks that may be played from: their seats, their places, the costs of their burials by size.
    piles: Vec<(u8, u8, Vec<Card>, Vec<i32>)>,
    /// The pay-off piles that may be played from, and their tops.
    payers: Vec<(u8, Card)>,
    last_ones: bool,
    may_draw: bool,
    dangers: [i32; HEIGHTS],
}

/// Lists the lines of the seat to act, best first.
pub fn list_lines(rules: &Rules, table: &Table) -> Vec<Line> {
    let planner = Planner::new(rules, table);
    let mut nodes = planner.search();
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
        let mut seats = vec![table.seat];
        seats.extend(rules.allies(table.seat).filter(|&ally| ally != table.seat));
        let mut piles = Vec::new();
        for &seat in &seats {
            for index in 0..rules.side_count {
                let cards = table.seats[seat].sides[index].cards().to_vec();
                let costs = (0..=cards.len()).map(|size| worth::clutter(&cards, size)).collect();
                piles.push((seat as u8, index as u8, cards, costs));
            }
        }
        piles.truncate(MOST_PILES);
        let open = seats.iter().filter(|&&seat| table.seats[seat].left > 0 && table.seats[seat].top != NONE);
        let payers: Vec<(u8, Card)> = open.map(|&seat| (seat as u8, table.seats[seat].top)).collect();
        Planner {
            last_ones: payers.iter().all(|&(seat, _)| table.seats[seat as usize].left == 1),
            may_draw: table.supply() >= rules.hand_size || (rules.stock_out != StockOut::Need && table.supply() > 0),
            dangers: worth::list_dangers(rules, table),
            rules,
            table,
            piles,
            payers,
        }
    }

    fn search(&self) -> Vec<Node> {
        let own = self.table.own();
        let mut sizes = [0; MOST_PILES];
        for (size, pile) in sizes.iter_mut().zip(&self.piles) {
            *size = pile.2.len() as u8;
        }
        let root = Position { heights: self.table.heights, hand: own.hand, held: own.held, sizes, paid: 0 };
        let mut seen: HashSet<Position, BuildHasherDefault<QuickHasher>> = HashSet::default();
        seen.insert(root);
        let mut nodes =
            vec![Node { position: root, parent: 0, step: Step::Pass, revealed: false, worth: self.worth(&root) }];
        let mut plays = Vec::new();
        let mut next = 0;
        while next < nodes.len() && nodes.len() < LIMIT {
            let (position, revealed) = (nodes[next].position, nodes[next].revealed);
            self.list_plays(&position, &mut plays);
            for &(source, height) in &plays {
                let further = self.follow(&position, source, height);
                if seen.insert(further) {
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
        for height in (0..self.rules.top).filter(|&height| position.heights[height] > 0) {
            let needed = (height + 1) as Card;
            let wild_fits = self.rules.wild_fits(height);
            for (index, &(seat, card)) in self.payers.iter().enumerate() {
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
        for (pile, &size) in self.piles.iter().zip(&position.sizes) {
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
        match source {
            Source::Hand(card) => {
                further.hand[card as usize] -= 1;
                further.held -= 1;
            }
            Source::Payoff(seat) => {
                let index = self.payers.iter().position(|payer| payer.0 == seat).unwrap_or(0);
                further.paid |= 1 << index;
            }
            Source::Side(seat, place) => {
                let index = self.piles.iter().position(|pile| (pile.0, pile.1) == (seat, place)).unwrap_or(0);
                further.sizes[index] -= 1;
            }
        }
        further.heights[height] -= 1;
        further.heights[(height + 1) % self.rules.top] += 1;
        if self.rules.slots.is_none() {
            further.heights[0] = 1;
        }
        further
    }

    /// What it is worth to stop here, with the best discard; an empty hand draws and goes on.
    fn worth(&self, position: &Position) -> i32 {
        let worth = self.bare_worth(position);
        if position.held == 0 {
            return worth;
        }
        let tops = (0..self.rules.side_count).map(|index| self.top(position, index));
        let cards = (1..=WILD).filter(|&card| position.hand[card as usize] > 0);
        let best = cards.flat_map(|card| tops.clone().map(move |top| worth::discard(card, top))).max();
        worth + best.unwrap_or(0)
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
        let mut worth = if self.last_ones && played > 0 && played as usize == self.payers.len() {
            worth::WIN
        } else {
            worth::PAYOFF * played as i32
        };
        worth -=
            (0..self.rules.top).filter(|&at| position.heights[at] > 0).map(|at| self.dangers[at]).max().unwrap_or(0);
        worth -= self.piles.iter().zip(&position.sizes).map(|(pile, &size)| pile.3[size as usize]).sum::<i32>();
        if position.held == 0 && !self.may_draw {
            return worth;
        }
        worth += self.nearness(position);
        if position.held == 0 {
            return worth + worth::EMPTY_HAND;
        }
        let wilds = i32::from(position.hand[WILD as usize]);
        worth + worth::WILD_LEFT * wilds + worth::CARD_LEFT * (i32::from(position.held) - wilds)
    }

    /// The value of how few cards below its pay-off card a seat cannot see among its own; for a card that is yet to
    /// be turned up the mean.
    fn nearness(&self, position: &Position) -> i32 {
        let mut wilds = u32::from(position.hand[WILD as usize]);
        let mut have =
            (1..WILD).filter(|&card| position.hand[card as usize] > 0).fold(0u16, |have, card| have | 1 << card);
        for index in 0..self.piles.len() {
            let top = self.top(position, index);
            have |= 1 << top;
            wilds += u32::from(top == WILD);
        }
        let fewest = |card: Card| {
            let stacks = (0..self.rules.top).filter(|&at| position.heights[at] > 0);
            stacks.map(|at| (self.rules.below[at][card as usize] & !have).count_ones()).min().unwrap_or(99)
        };
        let known = self.payers.iter().enumerate().filter(|(index, _)| position.paid >> index & 1 == 0);
        let mut best = known.map(|(_, &(_, card))| worth::nearness(fewest(card), wilds)).max().unwrap_or(0);
        if position.paid != 0 {
            let next = (1..=self.rules.top as Card).chain([WILD]);
            let sum: i32 = next.map(|card| worth::nearness(fewest(card), wilds)).sum();
            best = best.max(sum / (self.rules.top as i32 + 1));
        }
        best
    }

    /// Adds the lines that end with a discard or a pass in this position.
    fn add_ends(&self, nodes: &[Node], index: usize, lines: &mut Vec<Line>) {
        let position = &nodes[index].position;
        if self.rules.has_forced() {
            let mut plays = Vec::new();
            self.list_plays(position, &mut plays);
            if plays.iter().any(|&(source, _)| self.is_forced(position, source)) {
                return;
            }
        }
        let bare = self.bare_worth(position);
        let mut table = self.table.clone();
        for (side, &size) in position.sizes.iter().enumerate().take(self.rules.side_count) {
            let mut pile = Pile::EMPTY;
            self.piles[side].2[..size as usize].iter().for_each(|&card| pile.push(card));
            table.seats[table.seat].sides[side] = pile;
        }
        let mut ends = Vec::new();
        for card in (1..=WILD).filter(|&card| position.hand[card as usize] > 0) {
            for side in table.list_discards(self.rules, card) {
                let top = table.own().sides[side].top();
                ends.push((worth::discard(card, top), Step::Discard(card, side as u8)));
            }
        }
        if self.rules.can_pass && (self.rules.optional || ends.is_empty()) {
            ends.push((worth::CARD_LEFT, Step::Pass));
        }
        ends.sort_by_key(|&(worth, _)| -worth);
        for &(worth, step) in ends.iter().take(DISCARDS) {
            let mut steps = list_steps(nodes, index);
            steps.push(step);
            lines.push(Line { steps, worth: bare + worth });
        }
    }
}
