//! Times at which the users of a load ended: written once by each user, read once by the collecting thread. May not end
//! anything.

use super::stop::{Stop as _, StopFlag};
use proofload_model::time::Offset;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

/// Ends of users, shared by all users of an agent.
#[derive(Debug, Clone)]
pub(super) struct Finish {
    stop: StopFlag,
    ends: Arc<Ends>,
}

/// Ends in nanoseconds from time zero.
#[derive(Debug)]
struct Ends {
    first_without_work: AtomicI64,
    last: AtomicI64,
}

impl Finish {
    /// Ends of users that this flag can stop.
    pub(super) fn new(stop: StopFlag) -> Self {
        let ends = Ends { first_without_work: AtomicI64::new(i64::MAX), last: AtomicI64::new(0) };
        Self { stop, ends: Arc::new(ends) }
    }

    /// Notes that a user has ended, `after` time zero.
    pub(super) fn note(&self, after: Duration) {
        let nanos = i64::try_from(after.as_nanos()).unwrap_or(i64::MAX);
        self.ends.last.fetch_max(nanos, Ordering::Relaxed);
        if !self.stop.reached(0) {
            self.ends.first_without_work.fetch_min(nanos, Ordering::Relaxed);
        }
    }

    /// The end of the first user that had no work left; `None` when all were stopped before.
    pub(super) fn first_without_work(&self) -> Option<Offset> {
        let nanos = self.ends.first_without_work.load(Ordering::Relaxed);
        (nanos != i64::MAX).then_some(Offset(nanos))
    }

    /// The end of the last user.
    pub(super) fn last(&self) -> Offset {
        Offset(self.ends.last.load(Ordering::Relaxed))
    }
}
