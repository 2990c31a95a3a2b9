//! The one place that reads a clock. Everything else takes `&dyn Clock`.

use proofload_model::time::{Clock, Moment, WallTime};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The machine's clocks: `CLOCK_MONOTONIC`, which all processes of a machine share, and the wall clock.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Moment {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
        let nanos = u64::try_from(time.tv_nsec).unwrap_or(0);
        Moment(seconds * 1_000_000_000 + nanos)
    }

    fn wall(&self) -> WallTime {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        WallTime(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
    }

    fn sleep(&self, time: Duration) {
        std::thread::sleep(time);
    }
}
