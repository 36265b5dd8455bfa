//! The order of every shuffle, from the seed of a deal: "The same cards in any language" in PROTOCOL.md.

use sha2::{Digest, Sha256};

/// Chooses the order of every shuffle of one game.
#[derive(Clone)]
pub struct Dealer {
    seed: Vec<u8>,
    block: u64,
    words: [u32; 8],
    used: usize,
}

impl Dealer {
    pub fn new(seed: &[u8]) -> Dealer {
        Dealer { seed: seed.to_vec(), block: 0, words: [0; 8], used: 8 }
    }

    /// The dealer of `malice.Game` for a seed that is a number.
    pub fn of_game(seed: u64) -> Dealer {
        Dealer::new(&Sha256::digest([b"game\0", seed.to_string().as_bytes()].concat()))
    }

    /// Draws a permutation of `0..size`: Fisher-Yates, from the last index down to 1.
    pub fn order(&mut self, size: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..size).collect();
        self.shuffle(&mut order);
        order
    }

    /// Brings a pile into the next order.
    pub fn shuffle<T>(&mut self, pile: &mut [T]) {
        for last in (1..pile.len()).rev() {
            let other = self.uniform(last as u64 + 1);
            pile.swap(last, other as usize);
        }
    }

    /// Draws a number below `size`, of which there is one at least.
    pub fn draw(&mut self, size: usize) -> usize {
        self.uniform(size as u64) as usize
    }

    /// Draws a number of so many bits, 64 at most.
    pub fn draw_bits(&mut self, bits: u32) -> u64 {
        let word = u64::from(self.next_word()) << 32 | u64::from(self.next_word());
        word >> (64 - bits)
    }

    /// Draws a number below `size`; skips words that would favour small numbers.
    fn uniform(&mut self, size: u64) -> u64 {
        let limit = (1u64 << 32) / size * size;
        loop {
            let word = u64::from(self.next_word());
            if word < limit {
                return word % size;
            }
        }
    }

    fn next_word(&mut self) -> u32 {
        if self.used == 8 {
            let digest = Sha256::new().chain_update(&self.seed).chain_update(self.block.to_be_bytes()).finalize();
            for (word, bytes) in self.words.iter_mut().zip(digest.chunks_exact(4)) {
                *word = u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
            }
            self.block += 1;
            self.used = 0;
        }
        self.used += 1;
        self.words[self.used - 1]
    }
}
