//! The policies by name.

use super::adaptive::AdaptivePolicy;
use super::contract::Policy;
use super::fifo::FifoPolicy;
use super::recency::RecencyPolicy;
use super::tiny_lfu::TinyLfuPolicy;
use super::two_queue::TwoQueuePolicy;

/// A replacement policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolicyChoice {
    /// Least recently used: the baseline, and a stack policy.
    Lru,
    /// 2Q, full version: Johnson, Shasha, VLDB 1994.
    TwoQueue,
    /// S3-FIFO with one bit of use: Yang and others, SOSP 2023.
    S3Fifo1,
    /// S3-FIFO with two bits of use, as published.
    S3Fifo2,
    /// ARC: Megiddo, Modha, FAST 2003. Its ghosts cost about 100 bytes per line: for comparison.
    Arc,
    /// W-TinyLFU: Einziger, Friedman, Manes, ACM Transactions on Storage 13(4), 2017; with queues, and with reads counted alone.
    TinyLfu,
}

impl PolicyChoice {
    /// Every policy.
    pub const ALL: [PolicyChoice; 6] =
        [Self::Lru, Self::TwoQueue, Self::S3Fifo1, Self::S3Fifo2, Self::Arc, Self::TinyLfu];

    /// Its word in studies and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lru => "lru",
            Self::TwoQueue => "2q",
            Self::S3Fifo1 => "s3-fifo-1",
            Self::S3Fifo2 => "s3-fifo-2",
            Self::Arc => "arc",
            Self::TinyLfu => "w-tinylfu",
        }
    }

    /// Makes policy number `place` (0 to 3) of one set of lists, for so many lines.
    pub fn make(self, place: usize, lines: u32) -> Box<dyn Policy> {
        match self {
            Self::Lru => Box::new(RecencyPolicy::new(place)),
            Self::TwoQueue => Box::new(TwoQueuePolicy::new(place, lines)),
            Self::S3Fifo1 => Box::new(FifoPolicy::one_bit(place, lines)),
            Self::S3Fifo2 => Box::new(FifoPolicy::two_bits(place, lines)),
            Self::Arc => Box::new(AdaptivePolicy::new(place, lines)),
            Self::TinyLfu => Box::new(TinyLfuPolicy::new(place, lines)),
        }
    }
}
