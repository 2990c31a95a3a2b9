//! How many clean writes are under way at once: a fixed number, or one that follows what the last batches gained by it. Pure.

use std::time::Duration;

use super::settings::CleanerSettings;

/// Batches at one depth before it is judged, so that one that a burst of reads held up decides nothing alone.
const BATCHES: u32 = 2;
/// Writes per second at twice the depth, in parts of those at the depth, from which it is kept: each further write delays reads.
const GAIN: f64 = 1.25;
/// Batches after which a depth that was kept is judged anew, from half of it on: the load and the medium may have changed.
const HELD_BATCHES: u32 = 32;

/// The depth of the cleaner.
#[derive(Debug)]
pub(super) struct DepthTuner {
    depth: u32,
    is_tuned: bool,
    /// Writes per second at half the depth, while that is compared.
    before: Option<f64>,
    /// Batches at this depth that are judged, their writes, and their time.
    batches: u32,
    writes: u64,
    took: Duration,
    /// Batches that are not judged any more.
    held: u32,
}

impl DepthTuner {
    pub(super) fn new(settings: &CleanerSettings) -> Self {
        Self {
            depth: settings.writes_at_once(),
            is_tuned: settings.tunes_depth,
            before: None,
            batches: 0,
            writes: 0,
            took: Duration::ZERO,
            held: 0,
        }
    }

    /// Writes under way at once in the next batch.
    pub(super) fn depth(&self) -> u32 {
        self.depth
    }

    /// Takes what a batch of a depth did. One with few writes says nothing: it never had so many under way for long.
    pub(super) fn note(&mut self, depth: u32, writes: u64, took: Duration) {
        if !self.is_tuned || depth != self.depth || writes < 2 * u64::from(depth) || took.is_zero() {
            return;
        }
        if self.held > 0 {
            self.held -= 1;
            if self.held == 0 {
                self.go_on(self.depth / 2, None);
            }
            return;
        }
        self.batches += 1;
        self.writes += writes;
        self.took += took;
        if self.batches == BATCHES {
            self.judge();
        }
    }

    fn judge(&mut self) {
        let rate = self.writes as f64 / self.took.as_secs_f64();
        if self.before.is_some_and(|before| rate < before * GAIN) {
            self.hold(self.depth / 2);
        } else if self.depth >= CleanerSettings::MOST_DEPTH {
            self.hold(self.depth);
        } else {
            self.go_on(self.depth * 2, Some(rate));
        }
    }

    fn hold(&mut self, depth: u32) {
        self.go_on(depth, None);
        self.held = HELD_BATCHES;
    }

    fn go_on(&mut self, depth: u32, before: Option<f64>) {
        self.depth = depth.clamp(1, CleanerSettings::MOST_DEPTH);
        self.before = before;
        (self.batches, self.writes, self.took) = (0, 0, Duration::ZERO);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tuner() -> DepthTuner {
        DepthTuner::new(&CleanerSettings { tunes_depth: true, ..CleanerSettings::usual() })
    }

    /// Cleans batches of 256 writes on a medium that does so many writes per second at a depth; the depths that were used.
    fn cleaned(tuner: &mut DepthTuner, batches: u32, rate: impl Fn(u32) -> f64) -> Vec<u32> {
        let one = |_| {
            let depth = tuner.depth();
            tuner.note(depth, 256, Duration::from_secs_f64(256.0 / rate(depth)));
            depth
        };
        (0..batches).map(one).collect()
    }

    /// A medium of drives that each do 100 writes per second, one at a time.
    fn drives(count: u32) -> impl Fn(u32) -> f64 {
        move |depth| f64::from(depth.min(count)) * 100.0
    }

    #[test]
    fn the_depth_grows_while_twice_as_many_writes_are_worth_it() {
        for (count, wanted) in [(1, 1), (2, 2), (8, 8), (16, 16), (1_000, 64)] {
            let mut tuner = tuner();
            let used = cleaned(&mut tuner, 400, drives(count));
            let kept = used[200..].iter().filter(|depth| **depth == wanted).count();
            assert!(kept > 150, "{count} drives: {kept} of 200 batches, {used:?}");
        }
    }

    #[test]
    fn another_medium_has_another_depth_later() {
        let mut tuner = tuner();
        cleaned(&mut tuner, 30, drives(32));
        assert_eq!(tuner.depth(), 32);
        let used = cleaned(&mut tuner, 400, drives(2));
        assert!(used[300..].iter().filter(|depth| **depth == 2).count() > 70, "{used:?}");
    }

    #[test]
    fn small_batches_and_batches_of_another_depth_decide_nothing() {
        let mut tuner = tuner();
        for _ in 0..100 {
            tuner.note(8, 15, Duration::from_millis(1));
            tuner.note(4, 256, Duration::from_millis(1));
            tuner.note(8, 256, Duration::ZERO);
        }
        assert_eq!(tuner.depth(), 8);
    }

    #[test]
    fn a_depth_that_was_asked_for_stays() {
        let mut tuner = DepthTuner::new(&CleanerSettings { depth: 3, ..CleanerSettings::usual() });
        assert_eq!(cleaned(&mut tuner, 100, drives(64)), vec![3; 100]);
    }
}
