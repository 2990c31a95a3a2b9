//! The one place that reads a clock. Everything else takes `&dyn Clock`.

use proofload_model::time::{Clock, Moment, WallTime};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The machine's clocks: `CLOCK_MONOTONIC`, which all processes of a machine share, and the wall clock.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Moment {
        Moment(nanos(rustix::time::ClockId::Monotonic))
    }

    fn thread_cpu(&self) -> Option<Duration> {
        Some(Duration::from_nanos(nanos(rustix::time::ClockId::ThreadCPUTime)))
    }

    fn wall(&self) -> WallTime {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        WallTime(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
    }

    fn sleep(&self, time: Duration) {
        std::thread::sleep(time);
    }
}

/// The clock of a cache tier: the monotonic one.
impl proofload_tier::device::Clock for SystemClock {
    fn now(&self) -> Duration {
        Duration::from_nanos(nanos(rustix::time::ClockId::Monotonic))
    }

    fn sleep_until(&self, time: Duration) {
        std::thread::sleep(time.saturating_sub(proofload_tier::device::Clock::now(self)));
    }
}

/// Reads a clock, nanoseconds.
fn nanos(clock: rustix::time::ClockId) -> u64 {
    let time = rustix::time::clock_gettime(clock);
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_uses_cpu_time_while_it_works_and_none_while_it_sleeps() {
        let clock = SystemClock;
        let used = || clock.thread_cpu().expect("the system tells");
        let begun = used();
        while used() - begun < Duration::from_millis(2) {}
        // What a hypervisor takes from a thread may be charged to it: then it sleeps again.
        let sleeps = |_| {
            let before = used();
            clock.sleep(Duration::from_millis(20));
            used() - before < Duration::from_millis(10)
        };
        assert!((0..20).any(sleeps));
    }
}
