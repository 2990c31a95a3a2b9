//! Counts of one user, and its latest acknowledged writes. Fixed memory; nothing is allocated per operation.

use proofload_model::samples::Reading;
use serde::{Deserialize, Serialize};

/// An acknowledged write: which operation wrote what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct AcknowledgedWrite {
    pub(super) record: u64,
    /// `None` when all fields were written.
    pub(super) field: Option<u16>,
    /// Index of the operation.
    pub(super) index: u64,
}

/// Evidence of a user for the checks after the run.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Tally {
    /// The latest acknowledged writes, the oldest overwritten first.
    latest: Vec<AcknowledgedWrite>,
    next: usize,
    room: usize,
    /// Reads whose every byte was compared.
    pub(super) reads_checked: u64,
    /// Inserts whose outcome is unknown: the connection was lost.
    pub(super) unknown_inserts: u64,
    written: u64,
    read: u64,
}

impl Tally {
    /// A tally with room for this many acknowledged writes.
    pub(super) fn new(room: usize) -> Self {
        Self { latest: Vec::with_capacity(room), room, ..Self::default() }
    }

    /// A write was acknowledged.
    #[inline]
    pub(super) fn acknowledge(&mut self, write: AcknowledgedWrite) {
        if self.latest.len() < self.room {
            self.latest.push(write);
        } else if let Some(place) = self.latest.get_mut(self.next) {
            *place = write;
            self.next = (self.next + 1) % self.room;
        }
    }

    /// The latest acknowledged writes, oldest first.
    pub(super) fn latest(&self) -> impl Iterator<Item = AcknowledgedWrite> {
        let (newer, older) = self.latest.split_at(self.next);
        older.iter().chain(newer).copied()
    }

    /// Bytes of values that were written.
    #[inline]
    pub(super) fn wrote(&mut self, bytes: u64) {
        self.written += bytes;
    }

    /// Bytes of values that were read.
    #[inline]
    pub(super) fn has_read(&mut self, bytes: u64) {
        self.read += bytes;
    }

    /// Bytes since the last call.
    pub(super) fn readings(&mut self, into: &mut Vec<Reading>) {
        for (name, bytes) in [("logical_written", &mut self.written), ("logical_read", &mut self.read)] {
            let value = std::mem::take(bytes) as f64;
            into.push(Reading { name: name.to_owned(), component: String::new(), unit: "B".to_owned(), value });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_writes_are_kept_in_order() {
        let mut tally = Tally::new(3);
        for index in 0..5 {
            tally.acknowledge(AcknowledgedWrite { record: 9, field: None, index });
        }
        assert_eq!(tally.latest().map(|write| write.index).collect::<Vec<_>>(), [2, 3, 4]);
    }
}
