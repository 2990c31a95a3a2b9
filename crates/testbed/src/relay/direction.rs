//! One direction of a link: its delay, its rate, which all connections share, and the gate that holds it.

use proofload_model::time::{Clock, Moment};
use proofload_model::units::BytesPerSecond;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How often a wait looks whether the link is gone.
const GLANCE: Duration = Duration::from_millis(50);

/// One direction.
pub(super) struct Direction {
    clock: Arc<dyn Clock>,
    delay_ns: AtomicU64,
    /// Bytes per second; 0: as many as go.
    rate: AtomicU64,
    /// Bytes that have passed.
    passed: AtomicU64,
    gate: Mutex<Gate>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Gate {
    held: bool,
    gone: bool,
    /// When the bytes before have left, at the rate of the link.
    free_at: Moment,
}

impl Direction {
    /// A direction that adds no delay yet.
    pub(super) fn new(clock: Arc<dyn Clock>, rate: Option<BytesPerSecond>) -> Self {
        let (delay_ns, rate, passed) = (AtomicU64::new(0), AtomicU64::new(number(rate)), AtomicU64::new(0));
        Self { clock, delay_ns, rate, passed, gate: Mutex::default(), changed: Condvar::new() }
    }

    /// Sets the rate of what leaves from now on.
    pub(super) fn set_rate(&self, rate: Option<BytesPerSecond>) {
        self.rate.store(number(rate), Ordering::Relaxed);
        // What waits for its turn at the old rate does not go on waiting.
        self.gate().free_at = self.clock.now();
    }

    /// When what arrives now may leave at the earliest.
    pub(super) fn due(&self) -> Moment {
        self.clock.now() + Duration::from_nanos(self.delay_ns.load(Ordering::Relaxed))
    }

    /// Sets the delay of what arrives from now on.
    pub(super) fn set_delay(&self, delay: Duration) {
        self.delay_ns.store(u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Holds all bytes, or lets them go on.
    pub(super) fn hold(&self, held: bool) {
        {
            let mut state = self.gate();
            state.held = held;
            // What waited while the link was held leaves at its rate, not all at once.
            state.free_at = state.free_at.max(self.clock.now());
        }
        self.changed.notify_all();
    }

    /// Bytes that have passed since the link was made.
    pub(super) fn passed(&self) -> u64 {
        self.passed.load(Ordering::Relaxed)
    }

    /// Tells whether bytes are held.
    pub(super) fn is_held(&self) -> bool {
        self.gate().held
    }

    /// Ends all waits.
    pub(super) fn end(&self) {
        self.gate().gone = true;
        self.changed.notify_all();
    }

    /// Waits while the direction is held; false when the link is gone.
    pub(super) fn wait_until_open(&self) -> bool {
        let mut state = self.gate();
        while state.held && !state.gone {
            state = self.wait(state, GLANCE);
        }
        !state.gone
    }

    /// Waits until so many bytes that were due at a moment have passed at the rate of the link; false when the link is gone.
    pub(super) fn pass(&self, due: Moment, bytes: usize) -> bool {
        if !self.wait_until(due) || !self.wait_until_open() {
            return false;
        }
        self.passed.fetch_add(bytes as u64, Ordering::Relaxed);
        let rate = self.rate.load(Ordering::Relaxed);
        if rate == 0 {
            return true;
        }
        let takes = Duration::from_secs_f64(bytes as f64 / rate as f64);
        let passed = {
            let mut state = self.gate();
            // Bytes that were due earlier are only late here: the link had been free for them.
            state.free_at = state.free_at.max(due) + takes;
            state.free_at
        };
        self.wait_until(passed) && self.wait_until_open()
    }

    /// Waits for a moment; false when the link is gone.
    fn wait_until(&self, moment: Moment) -> bool {
        let mut state = self.gate();
        loop {
            let left = moment.since(self.clock.now());
            if state.gone || left.is_zero() {
                return !state.gone;
            }
            state = self.wait(state, left);
        }
    }

    fn wait<'s>(&self, state: MutexGuard<'s, Gate>, at_most: Duration) -> MutexGuard<'s, Gate> {
        self.changed.wait_timeout(state, at_most).unwrap_or_else(PoisonError::into_inner).0
    }

    fn gate(&self) -> MutexGuard<'_, Gate> {
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn number(rate: Option<BytesPerSecond>) -> u64 {
    rate.map_or(0, |rate| rate.0.max(1))
}
