//! Flushes that are delayed: durable before the delay, acknowledged after it, and side by side where they overlap.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use proofload_tier::device::Clock;
use proofload_tier::machine::CacheMode;
use proofload_tier::tier::{FlushTimes, LatencyClass, Tier};
use support::{Call, MemoryDevice, TestClock, devices, format_settings, memory_devices, pool};

fn open(mode: CacheMode, clock: Arc<dyn Clock>) -> (Tier, Arc<MemoryDevice>, Arc<MemoryDevice>) {
    let (cache, origins) = memory_devices(64, 64, 1);
    let devices = devices(&cache, &origins);
    Tier::format(&devices, &format_settings(8192, 64, 1)).unwrap();
    (Tier::open(devices, pool(mode, 1), clock).unwrap(), cache, origins[0].clone())
}

#[test]
fn a_flush_is_durable_before_its_delay_and_acknowledged_after_it() {
    for mode in [CacheMode::Pass, CacheMode::WriteBack] {
        let clock = Arc::new(TestClock::default());
        let (tier, cache, origin) = open(mode, clock.clone());
        let ended = Arc::new(Mutex::new(Vec::new()));
        for device in [&cache, &origin] {
            let (ended, clock) = (ended.clone(), clock.clone());
            *device.after.lock().unwrap() = Some(Box::new(move || ended.lock().unwrap().push(clock.now())));
        }
        let delay = Duration::from_millis(20);
        tier.delay_flushes(delay).unwrap();
        tier.write(0, 0, &[3; 8192]).unwrap();
        tier.flush(0).unwrap();
        let device = if mode == CacheMode::Pass { &origin } else { &cache };
        assert!(device.count(Call::Sync) > 0, "{mode:?}");
        assert!(ended.lock().unwrap().iter().all(|at| at.is_zero()), "nothing was left for after the delay");
        assert_eq!(clock.now(), delay);
        assert_eq!(tier.flush_times(), FlushTimes { delay, flushes: 1, took: delay, delayed: delay });
        assert!(tier.latencies(0, LatencyClass::Flush).quantile(1.0).unwrap() >= delay);
        // A stop is no flush of whom it serves.
        tier.close().unwrap();
        assert_eq!(clock.now(), delay);
    }
}

#[test]
fn a_flush_that_fails_is_told_at_once() {
    let clock = Arc::new(TestClock::default());
    let (tier, _cache, origin) = open(CacheMode::Pass, clock.clone());
    tier.delay_flushes(Duration::from_secs(1)).unwrap();
    tier.write(0, 0, &[3; 8192]).unwrap();
    origin.fail_when(|call| call == Call::Sync);
    tier.flush(0).unwrap_err();
    assert_eq!((clock.now(), tier.flush_times().flushes), (Duration::ZERO, 0));
}

/// A clock that stands still until it is moved, and knows how many wait for it.
#[derive(Default)]
struct StandingClock {
    state: Mutex<StandingTime>,
    changed: Condvar,
}

#[derive(Default)]
struct StandingTime {
    now: Duration,
    sleepers: u64,
    /// Nobody waits any more, so that a test that has failed ends.
    is_free: bool,
}

impl StandingClock {
    /// Waits until so many sleep at once, for a minute at most; how many do.
    fn wait_for_sleepers(&self, count: u64) -> u64 {
        let state = self.state.lock().unwrap();
        let (state, _) =
            self.changed.wait_timeout_while(state, Duration::from_secs(60), |state| state.sleepers < count).unwrap();
        state.sleepers
    }

    fn set(&self, now: Duration, is_free: bool) {
        let mut state = self.state.lock().unwrap();
        (state.now, state.is_free) = (now, is_free);
        self.changed.notify_all();
    }
}

impl Clock for StandingClock {
    fn now(&self) -> Duration {
        self.state.lock().unwrap().now
    }

    fn sleep_until(&self, time: Duration) {
        let mut state = self.state.lock().unwrap();
        state.sleepers += 1;
        self.changed.notify_all();
        drop(self.changed.wait_while(state, |state| !state.is_free && state.now < time).unwrap());
    }
}

#[test]
fn flushes_that_overlap_wait_side_by_side_and_a_change_holds_for_those_that_begin_after_it() {
    const THREADS: u64 = 8;
    let clock = Arc::new(StandingClock::default());
    let (tier, _cache, _origin) = open(CacheMode::WriteBack, clock.clone());
    let delay = Duration::from_millis(300);
    tier.delay_flushes(delay).unwrap();
    let acknowledged = AtomicU64::new(0);
    let (sleepers, before) = std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (tier, acknowledged) = (&tier, &acknowledged);
            scope.spawn(move || {
                tier.write(0, thread * 8192, &[1; 8192]).unwrap();
                tier.flush(0).unwrap();
                acknowledged.fetch_add(1, Ordering::SeqCst);
            });
        }
        let sleepers = clock.wait_for_sleepers(THREADS);
        // Reads go on meanwhile.
        tier.read(0, 0, &mut [0; 8192]).unwrap();
        let before = acknowledged.load(Ordering::SeqCst);
        clock.set(delay, sleepers < THREADS);
        (sleepers, before)
    });
    assert_eq!((sleepers, before), (THREADS, 0), "all wait at once, and none is acknowledged before its delay is over");
    let took = u32::try_from(THREADS).unwrap() * delay;
    assert_eq!(tier.flush_times(), FlushTimes { delay, flushes: THREADS, took, delayed: took });
    tier.delay_flushes(Duration::ZERO).unwrap();
    tier.flush(0).unwrap();
    assert_eq!((clock.wait_for_sleepers(THREADS), clock.now()), (THREADS, delay), "no other has waited");
}
