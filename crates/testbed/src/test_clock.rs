//! Clocks for unit tests: the machine's, where they wait for processes and devices, and a simulated one.

#[cfg(test)]
pub(crate) use tests::{SimulatedClock, TestClock};

#[cfg(test)]
mod tests {
    use proofload_model::time::{Clock, Moment, WallTime};
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::{Duration, Instant};

    /// A clock that begins now.
    pub(crate) struct TestClock(Instant);

    impl TestClock {
        pub(crate) fn new() -> Self {
            Self(Instant::now())
        }
    }

    impl Clock for TestClock {
        fn now(&self) -> Moment {
            Moment(u64::try_from(self.0.elapsed().as_nanos()).unwrap())
        }
        fn wall(&self) -> WallTime {
            WallTime(0)
        }
        fn sleep(&self, time: Duration) {
            std::thread::sleep(time);
        }
    }

    /// A clock that moves when someone sleeps.
    #[derive(Default)]
    pub(crate) struct SimulatedClock(AtomicU64);

    impl Clock for SimulatedClock {
        fn now(&self) -> Moment {
            Moment(self.0.load(Ordering::Relaxed))
        }
        fn wall(&self) -> WallTime {
            WallTime(0)
        }
        fn sleep(&self, time: Duration) {
            std::thread::yield_now();
            self.0.fetch_add(u64::try_from(time.as_nanos()).unwrap(), Ordering::Relaxed);
        }
    }
}
