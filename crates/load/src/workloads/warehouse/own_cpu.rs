//! Cost of a stream itself, without its engine: CPU time of its thread outside the engine's calls, read twice a query.

use proofload_model::samples::Reading;
use proofload_model::time::Clock;
use std::sync::Arc;
use std::time::Duration;

/// Name of the reading, seconds of CPU time in the interval. Reports know it.
const NAME: &str = "driver_cpu";

/// Adds up the time between calls. Silent where one thread has several streams, or the clock does not tell.
pub(super) struct OwnCpu {
    clock: Option<Arc<dyn Clock>>,
    /// CPU time at the end of the last call.
    since: Option<Duration>,
    used: Duration,
}

impl OwnCpu {
    /// A meter; `clock` is given for a stream that has its thread, and so its CPU time, to itself.
    pub(super) const fn new(clock: Option<Arc<dyn Clock>>) -> Self {
        Self { clock, since: None, used: Duration::ZERO }
    }

    fn now(&self) -> Option<Duration> {
        self.clock.as_ref()?.thread_cpu()
    }

    /// The engine is about to be called.
    pub(super) fn leave(&mut self) {
        if let (Some(since), Some(now)) = (self.since, self.now()) {
            self.used += now.saturating_sub(since);
        }
    }

    /// The engine's call has ended.
    pub(super) fn enter(&mut self) {
        self.since = self.now();
    }

    /// Reads the CPU time since the last call.
    pub(super) fn counters(&mut self, into: &mut Vec<Reading>) {
        if self.since.is_some() {
            let value = std::mem::take(&mut self.used).as_secs_f64();
            into.push(Reading { name: NAME.to_owned(), component: String::new(), unit: "CPU s/s".to_owned(), value });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_model::time::{Moment, WallTime};
    use std::sync::atomic::{AtomicU64, Ordering};

    /// A thread that has used a millisecond more at each look, ten where the engine works.
    #[derive(Default)]
    struct Thread(AtomicU64);

    impl Clock for Thread {
        fn now(&self) -> Moment {
            Moment(0)
        }
        fn wall(&self) -> WallTime {
            WallTime(0)
        }
        fn sleep(&self, time: Duration) {
            self.0.fetch_add(u64::try_from(time.as_millis()).unwrap(), Ordering::Relaxed);
        }
        fn thread_cpu(&self) -> Option<Duration> {
            Some(Duration::from_millis(self.0.fetch_add(1, Ordering::Relaxed)))
        }
    }

    fn told(own: &mut OwnCpu) -> Vec<f64> {
        let mut readings = Vec::new();
        own.counters(&mut readings);
        readings.into_iter().map(|reading| reading.value).collect()
    }

    #[test]
    fn only_what_lies_between_calls_is_counted() {
        let clock: Arc<dyn Clock> = Arc::new(Thread::default());
        let mut own = OwnCpu::new(Some(Arc::clone(&clock)));
        own.leave();
        assert_eq!(told(&mut own), [0.0; 0], "before the first call nothing is known");
        for _ in 0..3 {
            own.leave();
            clock.sleep(Duration::from_millis(10));
            own.enter();
        }
        assert_eq!(told(&mut own), [0.002]);
        assert_eq!(told(&mut own), [0.0]);
        let mut silent = OwnCpu::new(None);
        silent.enter();
        silent.leave();
        assert_eq!(told(&mut silent), [0.0; 0]);
    }
}
