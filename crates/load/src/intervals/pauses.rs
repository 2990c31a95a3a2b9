//! Times in which this process did not run at all: stopped, frozen, or on a machine that stood still. Seconds of load in them say nothing of the
//! database.

use proofload_model::time::{Clock, Moment};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How often a thread looks at the clock.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);

/// Shortest time between two looks that counts as a pause: a second of load then holds half as much again. A busy machine delays a thread that
/// wants nothing but to wake by milliseconds, a used-up CPU allowance by less than its period.
const SHORTEST: Duration = Duration::from_millis(500);

/// Looks at the clock on a thread of its own until it is dropped.
pub struct Pauses {
    watch: Arc<PauseWatch>,
}

struct PauseWatch {
    clock: Arc<dyn Clock>,
    state: Mutex<LookState>,
    changed: Condvar,
}

struct LookState {
    last_look: Moment,
    /// Beginnings and ends, in order.
    found: Vec<(Moment, Moment)>,
    is_dropped: bool,
}

impl Pauses {
    /// Begins to look. Without a thread, where none can be had, nothing is found.
    pub fn watch(clock: Arc<dyn Clock>) -> Self {
        let state = LookState { last_look: clock.now(), found: Vec::new(), is_dropped: false };
        let watch = Arc::new(PauseWatch { clock, state: Mutex::new(state), changed: Condvar::new() });
        let looking = Arc::clone(&watch);
        let _none = std::thread::Builder::new().name("pauses".to_owned()).spawn(move || looking.look_until_dropped());
        Self { watch }
    }

    /// How much of a stretch that is over lies in pauses. Stretches are asked for in order.
    pub fn within(&self, from: Moment, to: Moment) -> Duration {
        let mut state = self.watch.lock();
        // A pause is over here before the looking thread has seen its end.
        state.look(self.watch.clock.now());
        state.found.retain(|(_, end)| *end > from);
        state.found.iter().map(|(begin, end)| (*end).min(to).since((*begin).max(from))).sum()
    }
}

impl Drop for Pauses {
    fn drop(&mut self) {
        self.watch.lock().is_dropped = true;
        self.watch.changed.notify_one();
    }
}

impl PauseWatch {
    fn look_until_dropped(&self) {
        let mut state = self.lock();
        while !state.is_dropped {
            state.look(self.clock.now());
            let waited = self.changed.wait_timeout(state, LOOK_INTERVAL);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn lock(&self) -> MutexGuard<'_, LookState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LookState {
    fn look(&mut self, now: Moment) {
        if now.since(self.last_look) >= SHORTEST {
            self.found.push((self.last_look, now));
        }
        self.last_look = self.last_look.max(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_long_time_between_two_looks_is_a_pause() {
        let at = |milliseconds: u64| Moment(milliseconds * 1_000_000);
        let mut state = LookState { last_look: at(0), found: Vec::new(), is_dropped: false };
        for now in [100, 250, 700, 3_300, 3_400, 3_350, 3_500] {
            state.look(at(now));
        }
        assert_eq!(state.found, [(at(700), at(3_300))]);
    }

    #[test]
    fn a_stretch_knows_its_part_of_a_pause() {
        struct Standing;
        impl Clock for Standing {
            fn now(&self) -> Moment {
                Moment(9_000_000_000)
            }
            fn wall(&self) -> proofload_model::time::WallTime {
                proofload_model::time::WallTime(0)
            }
            fn sleep(&self, _time: Duration) {}
        }
        let pauses = Pauses::watch(Arc::new(Standing));
        pauses.watch.lock().found.push((Moment(2_500_000_000), Moment(4_250_000_000)));
        let paused: Vec<u128> = (1..6)
            .map(|second| {
                pauses.within(Moment(second * 1_000_000_000), Moment((second + 1) * 1_000_000_000)).as_millis()
            })
            .collect();
        assert_eq!(paused, [0, 500, 1_000, 250, 0]);
    }
}
