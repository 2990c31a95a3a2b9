//! The mix of transactions (clauses 5.2.3, 5.2.4).
//!
//! Which transaction a user runs is a pure function of (seed, user, index), also for the deck:
//! index `n` is card `n mod 23` of the user's deck number `n div 23`, and each deck's order is
//! drawn from a seed of its own rather than from where the previous deck's draws ended.

use super::input::Transaction;
use crate::{Error, Rng, Seed};

/// Cards of a deck: 10 New-Order, 10 Payment, and one of each other type.
pub const DECK_CARDS: usize = 23;

/// Frequency of each transaction type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mix {
    /// A deck of 23 cards per user, dealt to its end and shuffled anew: New-Order 43.48 %. The
    /// default of the clauses.
    Deck,
    /// Each type drawn independently, 10/10/1/1/1 of 23.
    Draw,
    /// Each type drawn independently with these weights.
    Weights(Weights),
}

/// Relative weights of the types: 45/43/4/4/4 for example.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weights {
    /// Weight of New-Order.
    pub new_order: u32,
    /// Weight of Payment.
    pub payment: u32,
    /// Weight of Order-Status.
    pub order_status: u32,
    /// Weight of Delivery.
    pub delivery: u32,
    /// Weight of Stock-Level.
    pub stock_level: u32,
}

impl Weights {
    /// The counts of the deck of 23 cards.
    pub const CARDS: Self = Self { new_order: 10, payment: 10, order_status: 1, delivery: 1, stock_level: 1 };

    /// The weights in the order of [`Transaction::ALL`].
    #[must_use]
    pub const fn all(&self) -> [u32; 5] {
        [self.new_order, self.payment, self.order_status, self.delivery, self.stock_level]
    }

    /// The sum of the weights.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.all().into_iter().map(u64::from).sum()
    }

    #[inline]
    fn draw(&self, rng: &mut Rng) -> Transaction {
        let mut ticket = rng.below(self.total());
        for (transaction, weight) in Transaction::ALL.into_iter().zip(self.all()) {
            match ticket.checked_sub(weight.into()) {
                None => return transaction,
                Some(rest) => ticket = rest,
            }
        }
        unreachable!("a ticket is below the total of the weights")
    }
}

impl Mix {
    /// The weights in the long run, in which a deck equals independent draws of its cards.
    #[must_use]
    pub const fn weights(&self) -> Weights {
        match self {
            Self::Deck | Self::Draw => Weights::CARDS,
            Self::Weights(weights) => *weights,
        }
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        if self.weights().total() == 0 { Err(Error::empty_mix()) } else { Ok(()) }
    }
}

/// A shuffled deck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Deck {
    cards: [Transaction; DECK_CARDS],
}

/// The transaction types of one user, by index.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cards {
    /// The user's seed for this purpose.
    pub(super) seed: Seed,
    /// The user's mix.
    pub(super) mix: Mix,
}

impl Cards {
    /// The type of transaction `index`, from 0.
    pub(super) fn at(&self, index: u64) -> Transaction {
        match self.mix {
            Mix::Deck => self.deck(index / DECK_CARDS as u64).card(index),
            Mix::Draw => self.independent(&Weights::CARDS, index),
            Mix::Weights(weights) => self.independent(&weights, index),
        }
    }

    /// The type of transaction `index`, where `deck` is the deck of the index before it: a deck
    /// is shuffled only when its first card is dealt.
    #[inline]
    pub(super) fn next(&self, index: u64, deck: &mut Option<Deck>) -> Transaction {
        if self.mix != Mix::Deck {
            return self.at(index);
        }
        if index.is_multiple_of(DECK_CARDS as u64) {
            *deck = None;
        }
        deck.get_or_insert_with(|| self.deck(index / DECK_CARDS as u64)).card(index)
    }

    fn independent(&self, weights: &Weights, index: u64) -> Transaction {
        weights.draw(&mut self.seed.of(index).rng())
    }

    fn deck(&self, number: u64) -> Deck {
        let mut cards = [Transaction::NewOrder; DECK_CARDS];
        cards[10..20].fill(Transaction::Payment);
        cards[20] = Transaction::OrderStatus;
        cards[21] = Transaction::Delivery;
        cards[22] = Transaction::StockLevel;
        self.seed.of(number).rng().shuffle(&mut cards);
        Deck { cards }
    }
}

impl Deck {
    #[inline]
    fn card(&self, index: u64) -> Transaction {
        self.cards[(index % DECK_CARDS as u64) as usize]
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check_deck(number: u64, expected: Expect) {
        let cards = Cards { seed: Seed(42), mix: Mix::Deck };
        let letters: String = (0..DECK_CARDS as u64)
            .map(|place| match cards.at(number * DECK_CARDS as u64 + place) {
                Transaction::NewOrder => 'N',
                Transaction::Payment => 'P',
                Transaction::OrderStatus => 'o',
                Transaction::Delivery => 'd',
                Transaction::StockLevel => 's',
            })
            .collect();
        expected.assert_eq(&letters);
    }

    #[test]
    fn golden_decks() {
        check_deck(0, expect!["NPdNPNNNNPPNNPNPPPoPsNP"]);
        check_deck(1, expect!["PNNNoNNPPPsNPNPPNPdNPNP"]);
        check_deck(1_000_000_000_000, expect!["NNPNPNodNPNPPNNPNPNsPPP"]);
    }

    #[test]
    fn every_deck_holds_its_23_cards() {
        let cards = Cards { seed: Seed(1), mix: Mix::Deck };
        for number in 0..1_000 {
            let mut counts = [0; 5];
            for place in 0..DECK_CARDS as u64 {
                counts[cards.at(number * DECK_CARDS as u64 + place) as usize] += 1;
            }
            assert_eq!(counts, [10, 10, 1, 1, 1]);
        }
    }

    #[test]
    fn the_rare_cards_stand_at_every_place() {
        let cards = Cards { seed: Seed(2), mix: Mix::Deck };
        let mut places = [0; DECK_CARDS];
        for index in 0..23_000 {
            if cards.at(index) == Transaction::Delivery {
                places[(index % DECK_CARDS as u64) as usize] += 1;
            }
        }
        // 1,000 decks: 43.5 each, standard deviation 6.4.
        assert!(places.iter().all(|count| (11..76).contains(count)), "{places:?}");
    }

    fn check_shares(mix: Mix) {
        let cards = Cards { seed: Seed(3), mix };
        let mut counts = [0_u32; 5];
        let draws = 100_000;
        for index in 0..draws {
            counts[cards.at(index) as usize] += 1;
        }
        for (count, weight) in counts.into_iter().zip(mix.weights().all()) {
            let share = f64::from(weight) / mix.weights().total() as f64;
            let expected = share * draws as f64;
            let deviation = (expected * (1.0 - share)).sqrt();
            assert!((f64::from(count) - expected).abs() <= 5.0 * deviation, "{mix:?}: {counts:?}");
        }
    }

    #[test]
    fn independent_draws_follow_their_weights() {
        check_shares(Mix::Draw);
        let p1 = Weights { new_order: 45, payment: 43, order_status: 4, delivery: 4, stock_level: 4 };
        check_shares(Mix::Weights(p1));
        let one = Weights { new_order: 0, payment: 0, order_status: 0, delivery: 0, stock_level: 9 };
        check_shares(Mix::Weights(one));
    }
}
