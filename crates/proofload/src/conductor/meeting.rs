//! Where two runs that are measured at once wait for each other before their load begins. Knows pairs and sides; may not know what a run does.

use proofload_model::error::Error;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How often a wait looks whether it should go on.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);

/// Both sides and how far they have come.
#[derive(Debug, Default)]
struct Progress {
    /// Pairs that both sides have begun.
    begun: usize,
    /// Pair that each side is ready for.
    ready: [Option<usize>; 2],
    /// Pairs that each side is done with, whatever came of them.
    done: [usize; 2],
}

/// A side's place at the meeting. Dropping it tells the other not to wait any more.
#[derive(Debug)]
pub(crate) struct Meeting {
    progress: Arc<(Mutex<Progress>, Condvar)>,
    side: usize,
    pair: usize,
}

impl Meeting {
    /// Places for two.
    pub(crate) fn of_two() -> [Self; 2] {
        let progress: Arc<(Mutex<Progress>, Condvar)> = Arc::default();
        [0, 1].map(|side| Self { progress: Arc::clone(&progress), side, pair: 0 })
    }

    /// Says that this side begins to prepare a pair.
    pub(crate) fn prepare(&mut self, pair: usize) {
        self.pair = pair;
    }

    /// Waits until the other side is ready for the same pair. An error where that side is past it, or what `look` gives.
    pub(crate) fn wait(&self, mut look: impl FnMut() -> Result<(), Error>) -> Result<(), Error> {
        let (own, other) = (self.side, 1 - self.side);
        let mut progress = self.lock();
        progress.ready[own] = Some(self.pair);
        loop {
            if progress.ready[other] == Some(self.pair) {
                progress.begun = progress.begun.max(self.pair + 1);
                self.progress.1.notify_all();
            }
            if progress.begun > self.pair {
                return Ok(());
            }
            if progress.done[other] > self.pair {
                return Err(Error::new(
                    "the run to be measured together with this one did not start its load; see its record",
                ));
            }
            progress = self
                .progress
                .1
                .wait_timeout(progress, LOOK_INTERVAL)
                .map_or_else(|poisoned| poisoned.into_inner().0, |woken| woken.0);
            look()?;
        }
    }

    /// Whether the other side has ended, so that nothing more can be measured at once with it.
    pub(crate) fn is_alone(&self) -> bool {
        self.lock().done[1 - self.side] == usize::MAX
    }

    /// Says that this side is done with the pair.
    pub(crate) fn done(&self) {
        self.pass(self.pair + 1);
    }

    fn pass(&self, pairs: usize) {
        let mut progress = self.lock();
        progress.done[self.side] = pairs;
        self.progress.1.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Progress> {
        self.progress.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Meeting {
    fn drop(&mut self) {
        self.pass(usize::MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn sides_begin_each_pair_together() {
        let begun = [AtomicUsize::new(0), AtomicUsize::new(0)];
        std::thread::scope(|scope| {
            for (side, mut meeting) in Meeting::of_two().into_iter().enumerate() {
                let begun = &begun;
                scope.spawn(move || {
                    for pair in 0..200 {
                        meeting.prepare(pair);
                        meeting.wait(|| Ok(())).expect("the other comes");
                        begun[side].fetch_add(1, Ordering::SeqCst);
                        let other = begun[1 - side].load(Ordering::SeqCst);
                        assert!(other.abs_diff(pair) <= 1, "pair {pair}, the other began {other}");
                        meeting.done();
                    }
                });
            }
        });
    }

    #[test]
    fn nobody_waits_for_a_side_that_failed_or_is_gone() {
        let [mut one, mut other] = Meeting::of_two();
        one.prepare(0);
        other.prepare(0);
        other.done();
        assert!(one.wait(|| Ok(())).expect_err("it failed").to_string().contains("did not start its load"));
        one.prepare(1);
        assert!(!one.is_alone());
        drop(other);
        assert!(one.is_alone());
        assert!(one.wait(|| Ok(())).is_err());
        let [one, _other] = Meeting::of_two();
        assert!(
            one.wait(|| Err(Error::new("interrupted")))
                .expect_err("it was asked to stop")
                .to_string()
                .contains("interrupted")
        );
    }
}
