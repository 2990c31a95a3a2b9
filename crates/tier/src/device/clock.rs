//! The clock of the machine, for pools and disks that work in real time.

use std::time::{Duration, Instant};

use super::contract::Clock;

/// Time since it was made, by the machine's monotonic clock.
#[derive(Clone, Copy, Debug)]
pub struct MachineClock(Instant);

impl MachineClock {
    /// A clock that begins now.
    #[expect(clippy::new_without_default, reason = "a clock that begins now is no default")]
    pub fn new() -> Self {
        Self(Instant::now())
    }
}

impl Clock for MachineClock {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }

    fn sleep_until(&self, time: Duration) {
        loop {
            let left = time.saturating_sub(self.now());
            if left.is_zero() {
                return;
            }
            std::thread::sleep(left);
        }
    }
}
