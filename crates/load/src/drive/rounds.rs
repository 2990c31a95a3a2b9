//! Rounds of a virtual user, each of a fixed number of operations. Reports the end of each; may not end anything.

use crate::events::LoadEvents;
use proofload_model::samples::UserRound;
use proofload_model::time::Moment;
use proofload_model::wire::Event;

/// Rounds of one user's operations, and the sink of their reports.
pub(super) struct Rounds {
    pub(super) user: u32,
    /// Operations of a round; `None` when operations do not come in rounds.
    pub(super) length: Option<u64>,
    pub(super) events: LoadEvents,
}

impl Rounds {
    /// The first round, at time zero.
    pub(super) fn begin(&self, origin: Moment) -> Round<'_> {
        Round { of: self, origin, number: 0, began: origin, well: 0, failed: 0 }
    }
}

/// The round in progress.
pub(super) struct Round<'a> {
    of: &'a Rounds,
    origin: Moment,
    number: u64,
    began: Moment,
    well: u64,
    failed: u64,
}

impl Round<'_> {
    /// Counts an operation that has ended. The last one of a round reports the round, which may allocate.
    pub(super) fn count(&mut self, well: bool, finished: Moment) {
        let Some(length) = self.of.length else { return };
        if well {
            self.well += 1;
        } else {
            self.failed += 1;
        }
        if self.well + self.failed < length {
            return;
        }
        (self.of.events)(Event::RoundEnded(UserRound {
            user: self.of.user,
            number: self.number,
            began: self.began.offset_from(self.origin),
            ended: finished.offset_from(self.origin),
            well: self.well,
            failed: self.failed,
        }));
        *self = Self { number: self.number + 1, began: finished, well: 0, failed: 0, ..*self };
    }
}
