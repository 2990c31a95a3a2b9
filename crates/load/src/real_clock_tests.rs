//! The machine's clocks, for tests that take their time.

use proofload_model::time::{Clock, Moment, WallTime};
use std::time::{Duration, Instant, SystemTime};

/// The machine's clocks, the monotonic one from this moment on.
pub(crate) struct RealClock(pub(crate) Instant);

impl Clock for RealClock {
    fn now(&self) -> Moment {
        Moment(u64::try_from(self.0.elapsed().as_nanos()).unwrap())
    }

    fn wall(&self) -> WallTime {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        WallTime(i64::try_from(now.as_micros()).unwrap())
    }

    fn sleep(&self, time: Duration) {
        std::thread::sleep(time);
    }
}
