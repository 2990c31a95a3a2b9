//! How far the interval of one window reaches: how often it holds what recurs, whether its means vary less over longer times, and which
//! movement it leaves open. Pure; judges no point.

use super::autocorrelation::dominant_period;
use super::distribution::mean;
use super::quantity::Quantity;

/// Recurrences of the slowest known event that a window should hold, so that its interval covers them.
pub const ENOUGH_RECURRENCES: u64 = 10;

/// Ratio of variances above which means are said not to vary less over longer times: 0.5 where the memory of a load is short, 1 where it
/// has no end.
pub const SLOW_RATIO: f64 = 0.8;

/// Shortest period of throughput that is looked for, seconds.
const SHORTEST_PERIOD: usize = 5;

/// Means over this share of a window are compared with those over twice as much.
const PARTS: usize = 20;

/// Fewest seconds of a part: over single seconds the ratio is of the noise of seconds alone.
const SHORTEST_PART: usize = 2;

/// What recurs under a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecurrenceKind {
    /// Checkpoints that the engine counts.
    Checkpoints,
    /// Throughput itself, by its autocorrelation.
    Throughput,
}

impl RecurrenceKind {
    /// Its name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Checkpoints => "checkpoints",
            Self::Throughput => "throughput",
        }
    }
}

/// Something that recurs, and how often a window holds it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recurrence {
    /// What it is.
    pub of: RecurrenceKind,
    /// How often within the window.
    pub count: u64,
    /// Seconds from one to the next; `None` where only one was seen.
    pub period: Option<f64>,
}

/// What recurs in a window, slowest first: `window` is throughput per second (NaN for a missing second), which begins at second `from` of
/// the load, and `checkpoints` are the moments at which some began in the whole load, in order.
pub fn recurrences(window: &[f64], from: f64, checkpoints: &[f64]) -> Vec<Recurrence> {
    let mut found: Vec<Recurrence> =
        of_checkpoints(checkpoints, from, from + window.len() as f64).into_iter().collect();
    found.extend(of_throughput(window));
    found.sort_by_key(|recurrence| recurrence.count);
    found
}

fn of_checkpoints(begun: &[f64], from: f64, to: f64) -> Option<Recurrence> {
    let (first, last) = (begun.first()?, begun.last()?);
    let count = begun.iter().filter(|at| (from..to).contains(*at)).count() as u64;
    let period = (last > first).then(|| (last - first) / (begun.len() - 1) as f64);
    Some(Recurrence { of: RecurrenceKind::Checkpoints, count, period })
}

fn of_throughput(window: &[f64]) -> Option<Recurrence> {
    let complete = window.iter().all(|second| second.is_finite());
    let period = complete.then(|| dominant_period(window, SHORTEST_PERIOD)).flatten()?;
    let count = (window.len() / period.max(1)) as u64;
    Some(Recurrence { of: RecurrenceKind::Throughput, count, period: Some(period as f64) })
}

/// Seconds of load that hold enough recurrences of everything whose period is known; `None` where none is.
pub fn seconds_for_recurrences(found: &[Recurrence]) -> Option<u64> {
    let longest = found.iter().filter_map(|recurrence| recurrence.period).max_by(f64::total_cmp)?;
    Some((ENOUGH_RECURRENCES as f64 * longest).ceil() as u64)
}

/// Variance of means over a tenth of a window, against that of means over half as much: near 0.5 where throughput forgets quickly, near 1
/// where its means vary as much over longer times (1/f noise, a memory as long as the window), so that an interval from one window is too
/// narrow for longer times. All parts of a length are taken, overlapping, around the mean of the window. `None` of fewer than 40 seconds, of
/// gaps, and of a constant load.
///
/// In own simulation (windows of 60 to 330 s) it is above 0.8 in at most 1 % of windows with independent seconds or lag-one correlation 0.5, in
/// 17 to 74 % where 0.95 makes the window shorter than 20 correlation times, and in 26 to 38 % of windows with 1/f noise: a ratio below is
/// no proof of short memory.
///
/// Source: the variance plot, Beran, "Statistics for Long-Memory Processes" (1994), section 4.4.
pub fn variance_ratio(seconds: &[f64]) -> Option<f64> {
    let part = seconds.len() / PARTS;
    if part < SHORTEST_PART || seconds.iter().any(|second| !second.is_finite()) {
        return None;
    }
    let centre = mean(seconds);
    let mut sums = vec![0.0];
    let mut sum = 0.0;
    for second in seconds {
        sum += second - centre;
        sums.push(sum);
    }
    let variance = |length: usize| {
        let parts = sums.iter().zip(&sums[length..]).map(|(before, after)| ((after - before) / length as f64).powi(2));
        parts.sum::<f64>() / (sums.len() - length) as f64
    };
    let short = variance(part);
    (short > 1e-18 * centre * centre).then(|| variance(2 * part) / short)
}

/// The largest rise or fall over a window, as a share of its mean, that the 95 % interval of its movement does not exclude; `None`
/// without one.
pub fn movement_not_excluded(movement: &Quantity) -> Option<f64> {
    let (low, high) = movement.interval().bounds()?;
    Some(low.abs().max(high.abs()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::autoregressive;
    use crate::quantity::{Interval, Unit};
    use crate::window::{WindowRule, judge_window};

    fn load(noise: &[f64], shape: impl Fn(usize) -> f64) -> Vec<f64> {
        noise.iter().enumerate().map(|(t, x)| 1_000.0 * (shape(t) + 0.05 * x)).collect()
    }

    /// Memories of 1, 2, 4 … seconds, equally strong: 1/f noise over the lengths that are looked at.
    fn without_end(seed: u64, n: usize) -> Vec<f64> {
        let mut sum = vec![0.0; n];
        for octave in 0..14_u64 {
            let rho = (-1.0 / 2.0_f64.powi(octave as i32)).exp();
            let part = autoregressive(100 * seed + octave, n, rho);
            sum.iter_mut().zip(part).for_each(|(all, one)| *all += one);
        }
        sum
    }

    /// Windows of a hundred in which means do not vary less over longer times.
    fn slow(noise: impl Fn(u64) -> Vec<f64>) -> usize {
        let ratio = |seed| variance_ratio(&load(&noise(seed), |_| 1.0)).expect("there are enough seconds");
        (1..=100).filter(|seed| ratio(*seed) > SLOW_RATIO).count()
    }

    #[test]
    fn short_memory_is_rarely_called_slow_and_long_memory_often() {
        let independent = slow(|seed| autoregressive(seed, 330, 0.0));
        let short = slow(|seed| autoregressive(seed, 330, 0.5));
        assert!(independent <= 2 && short <= 3, "{independent}, {short}");
        let long = slow(|seed| autoregressive(seed, 60, 0.95));
        assert!(long >= 50, "{long}");
        let endless = slow(|seed| without_end(seed, 120));
        assert!(endless >= 20, "{endless}");
    }

    #[test]
    fn variance_falls_to_half_where_seconds_are_independent() {
        let ratios: Vec<f64> = (1..=50).filter_map(|seed| variance_ratio(&autoregressive(seed, 2_000, 0.0))).collect();
        let ratio = mean(&ratios);
        assert!(ratios.len() == 50 && (0.40..0.55).contains(&ratio), "{ratio}");
        assert_eq!(variance_ratio(&[5.0; 100]), None, "constant");
        assert_eq!(variance_ratio(&autoregressive(1, 39, 0.0)), None, "too short");
        let mut gap = autoregressive(1, 100, 0.0);
        gap[50] = f64::NAN;
        assert_eq!(variance_ratio(&gap), None, "a gap");
    }

    #[test]
    fn checkpoints_in_the_window_are_counted_and_their_period_is_that_of_the_load() {
        let window = vec![100.0; 60];
        let found = recurrences(&window, 30.0, &[5.0, 35.0, 65.0, 95.0]);
        let expected = Recurrence { of: RecurrenceKind::Checkpoints, count: 2, period: Some(30.0) };
        assert_eq!(found, [expected]);
        assert_eq!(seconds_for_recurrences(&found), Some(300));
        let one = recurrences(&window, 30.0, &[35.0]);
        assert_eq!(one, [Recurrence { count: 1, period: None, ..expected }]);
        assert_eq!(seconds_for_recurrences(&one), None);
        assert!(recurrences(&window, 30.0, &[]).is_empty());
    }

    #[test]
    fn a_period_of_throughput_is_found_and_the_slowest_comes_first() {
        let noise = autoregressive(9, 600, 0.5);
        let saw = load(&noise, |t| if t % 120 >= 72 { 0.75 } else { 1.0 });
        let often: Vec<f64> = (0..60).map(|at| 10.0 * f64::from(at)).collect();
        let found = recurrences(&saw, 0.0, &often);
        let slowest = found.first().expect("throughput recurs");
        assert_eq!((slowest.of, found.len()), (RecurrenceKind::Throughput, 2), "{found:?}");
        assert!(matches!(slowest.count, 4 | 5), "{found:?}");
        let seconds = seconds_for_recurrences(&found).expect("a period is known");
        assert!((1_150..=1_250).contains(&seconds), "{seconds}");
        assert!(recurrences(&load(&noise, |_| 1.0), 0.0, &[]).is_empty());
    }

    #[test]
    fn the_movement_not_excluded_is_at_least_the_true_one() {
        let rule = WindowRule { precision: 0.05, movement: 0.02 };
        let holds = |seed: &u64| {
            let rising = load(&autoregressive(*seed, 330, 0.3), |t| 1.0 + 0.01 * (t as f64 / 330.0 - 0.5));
            let movement = judge_window(&rising, &rule).movement.expect("it is known");
            movement_not_excluded(&movement).expect("it has an interval") >= 0.01
        };
        let held = (1..=100).filter(holds).count();
        assert!(held >= 90, "{held}");
        let by = |interval: Interval| movement_not_excluded(&Quantity::new(0.01, Unit::RATIO, 60, interval));
        assert_eq!(by(Interval::known(-0.02, 0.04, "test")), Some(0.04));
        assert_eq!(by(Interval::known(-0.05, 0.03, "test")), Some(0.05));
        assert_eq!(by(Interval::none("a gap")), None);
    }
}
