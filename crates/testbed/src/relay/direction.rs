//! One direction of a link: its delay, its rate, which all connections share, and the gate that holds it.

use super::lateness::{Lateness, LatenessCounts};
use super::threads::RelayThreads;
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
    /// Part of the link's delay that the relay itself takes: bytes are due so much earlier.
    own_ns: AtomicU64,
    /// Bytes per second; 0: as many as go.
    rate: AtomicU64,
    /// Bytes that have passed.
    passed: AtomicU64,
    lateness: Lateness,
    threads: RelayThreads,
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
        Self {
            clock,
            delay_ns: AtomicU64::new(0),
            own_ns: AtomicU64::new(0),
            rate: AtomicU64::new(number(rate)),
            passed: AtomicU64::new(0),
            lateness: Lateness::new(),
            threads: RelayThreads::default(),
            gate: Mutex::default(),
            changed: Condvar::new(),
        }
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

    /// Sets the delay of what arrives from now on, beside what of the link's delay the relay itself takes.
    pub(super) fn set_delay(&self, delay: Duration, own: Duration) {
        let nanos = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.delay_ns.store(nanos(delay), Ordering::Relaxed);
        self.own_ns.store(nanos(own), Ordering::Relaxed);
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

    /// How late bytes have left since the link was made.
    pub(super) fn lateness(&self) -> LatenessCounts {
        self.lateness.counts()
    }

    /// CPU time of the threads that relay this direction, since the link was made.
    pub(super) fn cpu(&self) -> Duration {
        self.threads.used()
    }

    /// Does the work of the calling thread, which relays this direction.
    pub(super) fn run(&self, work: impl FnOnce()) {
        self.threads.run(work);
    }

    /// The present moment.
    pub(super) fn now(&self) -> Moment {
        self.clock.now()
    }

    /// Notes that bytes leave now which a link that is never late lets go at a moment; the present moment.
    pub(super) fn leave(&self, in_time: Moment) -> Moment {
        let now = self.now();
        self.lateness.count(now.since(in_time));
        now
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

    /// Waits until so many bytes that were due at a moment have passed at the rate of the link. The moment at which a link that is never
    /// late lets them go; `None` when the link is gone.
    pub(super) fn pass(&self, due: Moment, bytes: usize) -> Option<Moment> {
        if !self.wait_until(due) || !self.wait_until_open() {
            return None;
        }
        self.passed.fetch_add(bytes as u64, Ordering::Relaxed);
        let in_time = due + Duration::from_nanos(self.own_ns.load(Ordering::Relaxed));
        let rate = self.rate.load(Ordering::Relaxed);
        if rate == 0 {
            // What was held is in time from when it is let go on.
            return Some(in_time.max(self.gate().free_at));
        }
        let takes = Duration::from_secs_f64(bytes as f64 / rate as f64);
        let passed = {
            let mut state = self.gate();
            // Bytes that were due earlier are only late here: the link had been free for them.
            state.free_at = state.free_at.max(due) + takes;
            state.free_at
        };
        (self.wait_until(passed) && self.wait_until_open()).then(|| in_time.max(passed))
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

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_model::time::WallTime;

    /// A clock that stands where it was set.
    #[derive(Default)]
    struct Standing(AtomicU64);

    impl Standing {
        fn set(&self, millis: u64) {
            self.0.store(at(millis).0, Ordering::Relaxed);
        }
    }

    impl Clock for Standing {
        fn now(&self) -> Moment {
            Moment(self.0.load(Ordering::Relaxed))
        }

        fn wall(&self) -> WallTime {
            WallTime(0)
        }

        fn sleep(&self, _time: Duration) {}
    }

    fn at(millis: u64) -> Moment {
        Moment(millis * 1_000_000)
    }

    fn direction(rate: Option<u64>) -> (Arc<Standing>, Direction) {
        let clock = Arc::new(Standing::default());
        let direction = Direction::new(Arc::<Standing>::clone(&clock), rate.map(BytesPerSecond));
        (clock, direction)
    }

    #[test]
    fn bytes_are_late_by_what_they_leave_after_the_delay_of_the_link() {
        let (clock, direction) = direction(None);
        let own = Duration::from_millis(1);
        direction.set_delay(Duration::from_millis(9), own);
        let due = direction.due();
        clock.set(13);
        let in_time = direction.pass(due, 5).expect("the link is there");
        assert_eq!((due, in_time), (at(9), at(10)), "what the relay itself takes is part of the delay");
        assert_eq!(direction.leave(in_time), at(13));
        assert_eq!(direction.leave(at(20)), at(13), "what leaves early is not late");
        let found = direction.lateness();
        assert_eq!((found.releases(), found.percentile(0.5)), (2, Some(0.0005)));
        assert!(found.percentile(1.0).is_some_and(|late| (late - 3.0).abs() < 0.1), "{found:?}");
    }

    #[test]
    fn neither_a_hold_nor_the_rate_makes_bytes_late() {
        let (clock, held) = direction(None);
        held.hold(true);
        clock.set(500);
        held.hold(false);
        clock.set(501);
        assert_eq!(held.pass(at(1), 5), Some(at(500)));
        let (clock, slow) = direction(Some(1000));
        clock.set(9000);
        assert_eq!(slow.pass(at(1000), 500), Some(at(1500)));
        assert_eq!(slow.pass(at(1000), 500), Some(at(2000)), "behind what came before");
        slow.end();
        assert_eq!(slow.pass(at(1000), 500), None);
    }
}
