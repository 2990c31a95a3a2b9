//! Whether throughput is back after a fault. Conductor and report ask one function. Source: docs/guides/drills.md, "Users recovered".

/// Seconds in a row whose mean tells that throughput is back.
pub const BACK_FOR: usize = 10;

/// Share of the throughput before that the mean of these seconds must reach, from 0 to 1. Source: ours.
pub const MEAN_FROM: f64 = 0.95;

/// Share that suffices of a load which also had no more in ten seconds before the fault, from 0 to 1. Source: ours.
pub const NOISY_FROM: f64 = 0.90;

/// Throughput of the users before a fault, with its spread, to which that after it is compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ThroughputBefore {
    /// Mean, per second.
    pub mean: f64,
    /// Most of one second: a second after the fault counts no more, since what an outage held up and one second made up for does not count
    /// for another. Not the mean, which would cut off the upper half of a noisy load alone.
    most: f64,
    /// Least mean of ten seconds that are back, per second.
    back_from: f64,
}

impl ThroughputBefore {
    /// Throughput of these seconds. A second without a result counts as one without work.
    #[must_use]
    pub fn of(seconds: &[f64]) -> Self {
        let mean = mean(seconds.iter().copied());
        let least = seconds.windows(BACK_FOR).map(|ten| self::mean(ten.iter().copied())).fold(f64::INFINITY, f64::min);
        Self {
            mean,
            most: seconds.iter().copied().map(finite).fold(mean, f64::max),
            back_from: least.max(NOISY_FROM * mean).min(MEAN_FROM * mean),
        }
    }

    fn is_back(&self, ten: &[f64]) -> bool {
        mean(ten.iter().map(|done| finite(*done).min(self.most))) >= self.back_from
    }
}

/// Place of the first second from which on every ten seconds in a row have the throughput back; `None` where the last ten have not, or
/// there are fewer. A fault that acts late leaves seconds with the throughput before it acts: those are not back for good.
#[must_use]
pub fn recovered_for_good(seconds: &[f64], before: &ThroughputBefore) -> Option<usize> {
    let windows = seconds.windows(BACK_FOR);
    let count = windows.len();
    let after_the_last = windows.rev().position(|ten| !before.is_back(ten)).map_or(0, |from_end| count - from_end);
    (after_the_last < count).then_some(after_the_last)
}

/// Work missed in these seconds, in seconds of the throughput before.
pub fn missed(seconds: &[f64], before: f64) -> f64 {
    seconds.iter().fold(0.0, |sum, done| sum + 1.0 - finite(*done) / before.max(f64::MIN_POSITIVE))
}

fn mean(seconds: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = seconds.len().max(1) as f64;
    seconds.map(finite).sum::<f64>() / count
}

fn finite(done: f64) -> f64 {
    if done.is_finite() { done } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(seconds: &[(f64, usize)], expected: Option<usize>) {
        let seconds: Vec<f64> = seconds.iter().flat_map(|(done, count)| vec![*done; *count]).collect();
        let before = ThroughputBefore::of(&[100.0; 30]);
        assert_eq!(recovered_for_good(&seconds, &before), expected, "{seconds:?}");
    }

    #[test]
    fn throughput_is_back_with_the_ten_seconds_that_keep_it() {
        check(&[(100.0, 10)], Some(0));
        check(&[(0.0, 3), (100.0, 10)], Some(3));
        check(&[(0.0, 3), (100.0, 9)], None);
        check(&[(0.0, 1), (95.0, 10)], Some(1));
        check(&[(94.0, 30)], None);
        check(&[(100.0, 9)], None);
        check(&[], None);
        check(&[(f64::NAN, 2), (100.0, 10)], Some(2));
        // What was held up comes in one second and makes up for none of the others.
        check(&[(0.0, 5), (1000.0, 1), (50.0, 20)], None);
        check(&[(0.0, 5), (500.0, 1), (80.0, 9), (100.0, 10)], Some(13));
    }

    #[test]
    fn a_fault_that_acts_late_is_not_over_before_it_acts() {
        check(&[(100.0, 30), (0.0, 15), (100.0, 10)], Some(45));
        check(&[(100.0, 30), (0.0, 15), (100.0, 5)], None);
        check(&[(100.0, 30), (0.0, 5)], None);
        // Two outages with the throughput back between them.
        check(&[(0.0, 3), (100.0, 12), (0.0, 2), (100.0, 20)], Some(17));
    }

    /// Seconds with a deviation of 15 % and a mean of 100, from a fixed sequence.
    fn noisy(count: usize, mean: f64) -> Vec<f64> {
        let mut state = 7_u64;
        let mut uniform = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f64 / (1_u64 << 31) as f64
        };
        // A uniform draw of a width of √12 deviations.
        (0..count).map(|_| mean * (1.0 + 0.15 * 12f64.sqrt() * (uniform() - 0.5))).collect()
    }

    #[test]
    fn noise_alone_is_not_taken_for_a_fault() {
        let all = noisy(3_000, 100.0);
        let (mut at_once, mut never) = (0, 0);
        for part in all.chunks_exact(100) {
            let found = recovered_for_good(&part[60..], &ThroughputBefore::of(&part[..60]));
            at_once += usize::from(found == Some(0));
            never += usize::from(found.is_none());
        }
        // Of 30: each second cut off at the mean, none of these loads was back.
        assert!(at_once >= 10 && never <= 6, "{at_once} back at once, {never} never");
        // A third less is no noise.
        let before = ThroughputBefore::of(&noisy(60, 100.0));
        assert_eq!(recovered_for_good(&noisy(60, 65.0), &before), None);
    }

    #[test]
    fn a_stall_before_the_fault_does_not_make_everything_a_recovery() {
        let before = [vec![100.0; 60], vec![0.0; 10], vec![100.0; 30]].concat();
        let before = ThroughputBefore::of(&before);
        assert!((before.mean - 90.0).abs() < 1e-9);
        assert_eq!(recovered_for_good(&[80.0; 20], &before), None);
        assert_eq!(recovered_for_good(&[82.0; 20], &before), Some(0));
    }

    #[test]
    fn what_is_missed_is_counted_in_seconds_of_the_work_before() {
        assert!((missed(&[0.0, f64::NAN, 50.0, 100.0, 150.0], 100.0) - 2.0).abs() < 1e-9);
    }
}
