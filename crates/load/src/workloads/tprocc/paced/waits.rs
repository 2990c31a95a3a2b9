//! Keying and think times (clause 5.2.5), and the sums of those that were kept. Reads no clock.

use proofload_gen::tprocc::inputs::Transaction;
use proofload_gen::{Rng, exponential_ns};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Keying times by transaction, fixed, and means of the think times, s (clause 5.2.5.7).
const SECONDS: [(u64, u64); 5] = [(18, 12), (3, 12), (2, 10), (2, 5), (2, 5)];

/// Multiple of its mean at which a think time is cut (clause 5.2.5.4).
const CUT: u32 = 10;

/// The times of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Waits {
    /// The clauses' times over this; more than 1 at the toy scale only.
    pub(crate) shortened: u32,
}

impl Waits {
    /// Time that a terminal keys before it sends.
    pub(crate) fn keying(self, transaction: Transaction) -> Duration {
        Duration::from_secs(SECONDS[transaction as usize].0) / self.shortened
    }

    /// Mean time that a terminal thinks after an answer.
    pub(crate) fn mean_think(self, transaction: Transaction) -> Duration {
        Duration::from_secs(SECONDS[transaction as usize].1) / self.shortened
    }

    /// One think time.
    pub(super) fn think(self, transaction: Transaction, rng: &mut Rng) -> Duration {
        let mean = self.mean_think(transaction);
        Duration::from_nanos(exponential_ns(rng, nanos(mean), nanos(mean * CUT)))
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Waits of terminals by transaction: how many, and how long together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WaitTally {
    /// Keying times.
    pub(crate) keyed: [(u64, Duration); 5],
    /// Think times.
    pub(crate) thought: [(u64, Duration); 5],
}

impl WaitTally {
    pub(super) fn key(&mut self, transaction: Transaction, time: Duration) {
        add(&mut self.keyed[transaction as usize], (1, time));
    }

    pub(super) fn think(&mut self, transaction: Transaction, time: Duration) {
        add(&mut self.thought[transaction as usize], (1, time));
    }

    /// Adds another tally.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (sums, more) in [(&mut self.keyed, &other.keyed), (&mut self.thought, &other.thought)] {
            sums.iter_mut().zip(more).for_each(|(sum, more)| add(sum, *more));
        }
    }
}

fn add(sum: &mut (u64, Duration), (count, time): (u64, Duration)) {
    sum.0 += count;
    sum.1 += time;
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_gen::Seed;

    #[test]
    fn times_are_those_of_the_clause() {
        let waits = Waits { shortened: 1 };
        let seconds = |transaction| (waits.keying(transaction).as_secs(), waits.mean_think(transaction).as_secs());
        assert_eq!(Transaction::ALL.map(seconds), [(18, 12), (3, 12), (2, 10), (2, 5), (2, 5)]);
        assert_eq!(Waits { shortened: 100 }.keying(Transaction::NewOrder), Duration::from_millis(180));
        let mut rng = Seed(1).rng();
        let longest = (0..100_000).map(|_| waits.think(Transaction::StockLevel, &mut rng)).max();
        assert!(longest.is_some_and(|longest| longest > Duration::from_secs(40) && longest <= Duration::from_secs(50)));
    }
}
