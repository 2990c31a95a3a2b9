//! Number of records that a virtual user may read, with what follows from that number.
//!
//! One per virtual user: it is raised without a lock, when and as often as the user likes.

use super::compatible::SkewedLatest;
use super::zipf::Zipf;

/// The readable records, and the constants of the distribution over them.
///
/// Made by [`Plan::keyspace`](super::Plan::keyspace).
#[derive(Clone, Copy, Debug)]
pub struct Keyspace {
    pub(super) loaded: u64,
    pub(super) records: u64,
    pub(super) popularity: Popularity,
}

/// Popularity whose parameters depend on the number of readable records.
#[derive(Clone, Copy, Debug)]
pub(super) enum Popularity {
    /// Nothing that is kept.
    Flat,
    /// An exact zipfian distribution over the records.
    Zipf(Zipf),
    /// YCSB's distribution over the records.
    Latest(SkewedLatest),
}

impl Keyspace {
    /// Records that may be read: `0..records()`.
    #[must_use]
    pub const fn records(&self) -> u64 {
        self.records
    }

    /// States that the records `0..records` may be read; fewer than were loaded count as those. Cheap if nothing
    /// changed.
    #[inline]
    pub fn set(&mut self, records: u64) {
        if records != self.records {
            self.grow(records.max(self.loaded));
        }
    }

    fn grow(&mut self, records: u64) {
        self.records = records;
        match &mut self.popularity {
            Popularity::Flat => {}
            Popularity::Zipf(zipf) => zipf.set_ranks(records),
            Popularity::Latest(latest) => latest.set_records(records),
        }
    }
}
