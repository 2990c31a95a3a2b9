//! Time as a value and the interface of the clock. May not read a clock: the only implementation that does is `proofload::clock`.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A reading of one machine's monotonic clock, in nanoseconds since an unknown origin of that machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Moment(pub u64);

impl Moment {
    /// How long after `earlier` this moment is; zero when it is not after.
    pub fn since(self, earlier: Moment) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }

    /// Signed distance from `origin`.
    pub fn offset_from(self, origin: Moment) -> Offset {
        Offset(i64::try_from(self.0).unwrap_or(i64::MAX) - i64::try_from(origin.0).unwrap_or(i64::MAX))
    }
}

impl std::ops::Add<Duration> for Moment {
    type Output = Moment;
    fn add(self, later: Duration) -> Moment {
        Moment(self.0.saturating_add(u64::try_from(later.as_nanos()).unwrap_or(u64::MAX)))
    }
}

/// Nanoseconds from a run's time zero; negative before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Offset(pub i64);

impl Offset {
    /// Seconds, for arithmetic in analysis only.
    pub fn as_seconds(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

/// Wall-clock time: microseconds since the Unix epoch, UTC. For dates in text, never for measuring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct WallTime(pub i64);

/// Where time comes from. Libraries take `&dyn Clock`; tests hand in a simulated one.
pub trait Clock: Send + Sync {
    /// The monotonic clock, shared by all processes of one machine.
    fn now(&self) -> Moment;
    /// The wall clock.
    fn wall(&self) -> WallTime;
    /// CPU time that the calling thread has used; `None` where the clock does not report it. Two readings bracket a
    /// piece of work.
    fn thread_cpu(&self) -> Option<Duration> {
        None
    }
    /// Waits; a simulated clock returns at once and moves on.
    fn sleep(&self, time: Duration);
}
