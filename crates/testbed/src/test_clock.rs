//! The machine's clock for unit tests that wait for processes and devices.

#[cfg(test)]
pub(crate) use tests::TestClock;

#[cfg(test)]
mod tests {
    use proofload_model::time::{Clock, Moment, WallTime};
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
}
