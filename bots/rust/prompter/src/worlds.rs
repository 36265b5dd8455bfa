//! What a seat knows of a position, and worlds that fit it: every hidden card dealt to some hidden place.

use crate::chance::Chance;
use crate::rules::{Card, Rules, NONE, SEATS, WILD};
use crate::table::{Table, World};

/// Of the cards that a seat could have played when its turn ended, so many in a hundred are dealt to its hand
/// nevertheless. Counted on games of the bot against itself: some are kept from the next seat, most are played.
const UNPLAYED: usize = 35;
/// How often a card of a hand is dealt again for that reason.
const AGAIN: usize = 4;

/// A position as a seat sees it. In `table` the hands of the others have a size but no cards, and `NONE` stands for
/// each card of a side stack that is hidden.
#[derive(Clone)]
pub struct Seen {
    pub table: Table,
    pub seat: usize,
    /// The cards that may be in any hidden place.
    pub pool: Vec<Card>,
    /// The hidden pay-off cards, where they have a pack of their own.
    pub payoff_pool: Option<Vec<Card>>,
    /// The cards known to lie on top of each pay-off pile, bottom to top; what is under them is hidden.
    pub faces: [Vec<Card>; SEATS],
    /// The cards known to lie at the bottom of the stock, the lowest layer last; their order within a layer is not.
    pub bottoms: Vec<Vec<Card>>,
}

impl Seen {
    /// Deals the hidden cards at random: a table with all hands, and the order of what is to come.
    pub fn deal(&self, rules: &Rules, chance: &mut Chance) -> (Table, World) {
        let mut pool = self.pool.clone();
        chance.shuffle(&mut pool);
        // Where too few cards are unseen, since nobody told of them, any will do.
        let mut filler = Chance(chance.draw());
        let mut draw = |pool: &mut Vec<Card>| pool.pop().unwrap_or_else(|| 1 + filler.below(rules.top) as Card);
        let mut table = self.table.clone();
        let mut world = World::default();
        let mut payoffs = self.payoff_pool.clone();
        if let Some(own) = &mut payoffs {
            chance.shuffle(own);
        }
        for seat in 0..rules.seats {
            let faces = &self.faces[seat];
            let hidden = (table.seats[seat].left as usize).saturating_sub(faces.len());
            let from = payoffs.as_mut().unwrap_or(&mut pool);
            let pile = &mut world.payoffs[seat];
            pile.extend((0..hidden).map(|_| draw(from)));
            pile.extend(faces);
            let owner = &mut table.seats[seat];
            if seat != self.seat {
                for _ in 0..owner.held {
                    let mut card = draw(&mut pool);
                    for _ in 0..AGAIN {
                        if owner.unplayed >> card & 1 == 0 || pool.is_empty() || chance.below(100) < UNPLAYED {
                            break;
                        }
                        let place = chance.below(pool.len());
                        std::mem::swap(&mut card, &mut pool[place]);
                    }
                    owner.hand[card as usize] += 1;
                }
            }
            for pile in &mut owner.sides {
                pile.cards_mut().iter_mut().filter(|card| **card == NONE).for_each(|card| *card = draw(&mut pool));
            }
        }
        for layer in self.bottoms.iter().rev() {
            let from = world.stock.len();
            world.stock.extend(layer);
            chance.shuffle(&mut world.stock[from..]);
        }
        while world.stock.len() < table.stock as usize {
            world.stock.push(draw(&mut pool));
        }
        table.chance = Chance(chance.draw());
        (table, world)
    }

    /// What the seat to act knows of a table of which everything is known.
    pub fn mask(rules: &Rules, table: &Table, world: &World) -> Seen {
        let mut masked = table.clone();
        let mut pool = world.stock[..table.stock as usize].to_vec();
        let mut payoffs = Vec::new();
        let mut faces: [Vec<Card>; SEATS] = Default::default();
        for (seat, owner) in masked.seats[..rules.seats].iter_mut().enumerate() {
            if owner.left > 0 {
                payoffs.extend(&world.payoffs[seat][..owner.left as usize - 1]);
                faces[seat].push(owner.top);
            }
            if seat != table.seat {
                for card in 1..=WILD {
                    pool.extend(vec![card; owner.hand[card as usize] as usize]);
                    owner.hand[card as usize] = 0;
                }
            }
        }
        let separate = !rules.payoff_pack.is_empty();
        if !separate {
            pool.append(&mut payoffs);
        }
        // The shuffles of the search must not be those of the game.
        masked.chance = Chance(0);
        Seen {
            seat: table.seat,
            table: masked,
            pool,
            payoff_pool: separate.then_some(payoffs),
            faces,
            bottoms: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Seen;
    use crate::chance::Chance;
    use crate::dealing::find_rules;
    use crate::table::Table;

    #[test]
    fn a_seat_seldom_holds_what_it_could_have_played() {
        let rules = find_rules("standard").expect("rules of this name");
        let mut table = Table::bare(&rules);
        let other = 1 - table.seat;
        (table.seats[other].held, table.seats[other].unplayed) = (4, 1 << 5);
        let pool = (1..=12).flat_map(|card| [card; 8]).collect();
        let faces = Default::default();
        let seen = Seen { seat: table.seat, table, pool, payoff_pool: None, faces, bottoms: Vec::new() };
        let mut chance = Chance(1);
        let mut count = |card: usize| -> usize {
            (0..1000).map(|_| usize::from(seen.deal(&rules, &mut chance).0.seats[other].hand[card])).sum()
        };

        let (unplayed, usual) = (count(5), count(6));
        assert!(unplayed > usual / 5 && unplayed < usual / 2, "{unplayed} {usual}");
    }
}
