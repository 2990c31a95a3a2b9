//! The verdict on a measured load of fixed length: the part of it that is kept, its mean with an interval that holds what may still
//! move, and whether that is a result. Asks whether movement is shown, not whether steadiness is; a change that returns is noise.

use super::bootstrap::{Estimate, FEWEST_SAMPLES, mean_of};
use super::distribution::{mean, student_quantile, variance};
use super::quantity::{Interval, Quantity, Unit};
use super::trend::{Care, Trend, trend};
use super::validity::{VoidReason, gap_or_silence};
use proofload_model::study::Procedure;

/// Batches into which a window is divided.
const BATCHES: usize = 10;

/// A 95 % interval whose half-width is a larger share of the mean says nothing.
const LARGEST_HALF_WIDTH: f64 = 0.30;

/// Shares of the load that may be cut away at its begin, in the order in which they are tried.
const CUTS: [f64; 3] = [0.0, 0.125, 0.25];

/// What movement is held against.
struct Bars {
    /// Standard errors of the slope over ten batches.
    slope: f64,
    /// Standard deviations of batch means, of the difference between the first and the last third.
    step: f64,
    /// Probability of error of the trend.
    chance: f64,
}

/// Share of a movement that cannot be excluded by which the mean may be displaced: half of it at most, and half of that is counted.
const COUNTED: f64 = 0.25;

/// The same where movement is suspected: all of it.
const COUNTED_IF_SUSPECTED: f64 = 0.5;

/// Bars over which movement is suspected: 5 %.
const SUSPECTED: Bars = Bars { slope: STUDENT_8, step: 3.5, chance: 0.05 };

/// Bars over which it is shown: 1 %.
const SHOWN: Bars = Bars { slope: 3.355, step: 4.5, chance: 0.01 };

/// Share of a window's mean that the mean of ten batches with these deviations may be away from the truth: Student's quantile for
/// nine degrees of freedom.
const STUDENT_9: f64 = 2.262;

/// The same quantile for the eight degrees of freedom that a slope over ten batches leaves.
const STUDENT_8: f64 = 2.306;

/// Sum of the squared distances of ten batches from their middle, in batches.
const SPREAD_OF_TEN: f64 = 82.5;

/// How the interval of a window comes about.
const METHOD: &str = "means of ten batches and block bootstrap; largest change that cannot be excluded";

/// What is asked of a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowRule {
    /// Largest half-width of the 95 % interval of a valid result, as a share of the mean; a wider one is valid and wide.
    pub precision: f64,
    /// Smallest movement over the window that voids when it is shown, as a share of the mean.
    pub movement: f64,
}

impl WindowRule {
    /// The rule of a study's procedure; `None` of one from before there was a precision, whose windows are judged by
    /// [`check_window`](super::validity::check_window).
    pub fn of(procedure: &Procedure) -> Option<Self> {
        procedure.precision.map(|precision| Self { precision, movement: procedure.drift_tolerance })
    }
}

/// The verdict on a window.
#[derive(Clone, Debug, PartialEq)]
pub enum WindowVerdict {
    /// A result as precise as asked.
    Valid,
    /// A result with a wider interval than asked, or without one for want of seconds.
    Wide,
    /// No result.
    Void(VoidReason),
}

/// A measured load and what was found in it.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedWindow {
    /// Seconds cut away at the begin of the load.
    pub cut: usize,
    /// Mean of what is kept, samples per second as given.
    pub mean: Estimate,
    /// Rise over what is kept as a share of the mean; `None` where there are too few samples or a gap.
    pub movement: Option<Quantity>,
    /// The verdict.
    pub verdict: WindowVerdict,
}

impl JudgedWindow {
    fn without_movement(seconds: &[f64], verdict: WindowVerdict) -> Self {
        Self { cut: 0, mean: mean_of(seconds), movement: None, verdict }
    }
}

/// Judges throughput per second of a load of fixed length (NaN for a missing second).
///
/// The whole load is tried, then the load without its first eighth, then without its first quarter. The first of them in which no
/// movement is suspected is kept; where it is suspected in all three, the shortest in which it is not shown, with a wider interval.
/// Movement is looked for in the slope over ten batches, in the trend of the seconds with their dependence counted, and between the
/// first and the last third. Nothing is cut out of the middle or from the end.
/// Sources: batch means after Law and Carson, Operations Research 27 (1979); cutting at the begin only after White and Robinson (MSER).
pub fn judge_window(seconds: &[f64], rule: &WindowRule) -> JudgedWindow {
    if let Some(reason) = gap_or_silence(seconds) {
        return JudgedWindow::without_movement(seconds, WindowVerdict::Void(reason));
    }
    let (mut moving, mut suspected) = (None, None);
    for share in CUTS {
        let cut = (seconds.len() as f64 * share) as usize;
        let Some(window) = Batches::of(&seconds[cut..]) else { break };
        if !window.moves(rule.movement, &SUSPECTED) {
            return window.judged(cut, rule.precision, COUNTED);
        }
        if cut > 0 && !window.moves(rule.movement, &SHOWN) {
            suspected = Some(window.judged(cut, rule.precision, COUNTED_IF_SUSPECTED));
        }
        moving.get_or_insert_with(|| window.judged(cut, rule.precision, COUNTED_IF_SUSPECTED));
    }
    match (suspected, moving) {
        (Some(suspected), _) => suspected,
        (None, Some(moving)) => {
            let reason = moving.movement.clone().map(|movement| VoidReason::Moving { movement });
            JudgedWindow { verdict: WindowVerdict::Void(reason.unwrap_or(VoidReason::NoThroughput)), ..moving }
        }
        (None, None) => JudgedWindow::without_movement(seconds, WindowVerdict::Wide),
    }
}

/// The mean of a window's seconds with the interval of [`judge_window`]; for what is counted beside throughput.
pub fn mean_of_window(seconds: &[f64]) -> Estimate {
    let complete = seconds.iter().all(|second| second.is_finite());
    let window = complete.then(|| Batches::of(seconds)).flatten();
    window.map_or_else(|| mean_of(seconds), |window| window.estimate(COUNTED))
}

/// A window in ten batches of equal length; up to nine seconds at its begin belong to none.
struct Batches<'s> {
    seconds: &'s [f64],
    means: [f64; BATCHES],
    /// Mean of all seconds.
    mean: f64,
    /// Slope per batch and its standard error, as shares of the mean.
    slope: f64,
    slope_error: f64,
    /// Standard deviation of the batch means as a share of the mean.
    deviation: f64,
}

impl<'s> Batches<'s> {
    /// `None` for fewer seconds than batches, or without a positive mean.
    fn of(seconds: &'s [f64]) -> Option<Self> {
        let (length, centre) = (seconds.len() / BATCHES, mean(seconds));
        if seconds.len() < FEWEST_SAMPLES.max(BATCHES) || centre <= 0.0 || !centre.is_finite() {
            return None;
        }
        let mut means = [0.0; BATCHES];
        let batches = seconds[seconds.len() - length * BATCHES..].chunks_exact(length);
        means.iter_mut().zip(batches).for_each(|(place, batch)| *place = mean(batch) / centre);
        let (level, from_middle) = (mean(&means), |batch: usize| batch as f64 - 4.5);
        let slope = (0..).zip(&means).map(|(batch, y)| from_middle(batch) * y).sum::<f64>() / SPREAD_OF_TEN;
        let residual = |(batch, y): (usize, &f64)| (y - level - slope * from_middle(batch)).powi(2);
        let squares: f64 = means.iter().enumerate().map(residual).sum();
        Some(Self {
            seconds,
            means,
            mean: centre,
            slope,
            slope_error: (squares / 8.0 / SPREAD_OF_TEN).sqrt(),
            deviation: variance(&means).sqrt(),
        })
    }

    /// Rise over the window as a share of the mean.
    fn rise(&self) -> f64 {
        BATCHES as f64 * self.slope
    }

    /// Half the width of its 95 % interval.
    fn rise_half_width(&self) -> f64 {
        BATCHES as f64 * STUDENT_8 * self.slope_error
    }

    /// Whether movement of at least `smallest` is shown.
    fn moves(&self, smallest: f64, bars: &Bars) -> bool {
        let rises = self.rise().abs() > (BATCHES as f64 * bars.slope * self.slope_error).max(smallest);
        let third = |batches: &[f64]| mean(batches);
        let step = (third(&self.means[BATCHES - 3..]) - third(&self.means[..3])).abs();
        let steps = step > bars.step * self.deviation * (2.0_f64 / 3.0).sqrt() && step > smallest;
        rises || steps || self.trends(smallest, bars.chance)
    }

    fn trends(&self, smallest: f64, chance: f64) -> bool {
        let found = trend(self.seconds, 1, Care::Deciding);
        let bar = |found: &Trend| student_quantile(1.0 - chance / 2.0, found.freedom) * found.error;
        found.is_some_and(|found| found.rise.abs() > bar(&found).max(smallest))
    }

    /// The mean. Its half-width is the root mean square of what the batches and the bootstrap say, each of which is too narrow for some
    /// kind of noise. The counted share of a movement that cannot be excluded is added on the side to which it moves.
    fn estimate(&self, counted: f64) -> Estimate {
        let bootstrap = mean_of(self.seconds);
        let by_batches = STUDENT_9 * self.deviation * self.mean / (BATCHES as f64).sqrt();
        let by_bootstrap = 2.0 * bootstrap.standard_error;
        let freedom = (BATCHES - 1) as f64;
        let half = by_batches.hypot(by_bootstrap) / std::f64::consts::SQRT_2;
        let movement = self.rise().abs() + self.rise_half_width();
        Estimate {
            standard_error: half / student_quantile(0.975, freedom),
            freedom,
            ahead: (movement * self.mean * counted).copysign(self.slope),
            method: METHOD,
            ..bootstrap
        }
    }

    fn judged(&self, cut: usize, precision: f64, counted: f64) -> JudgedWindow {
        let (estimate, rise, half) = (self.estimate(counted), self.rise(), self.rise_half_width());
        let verdict = match estimate.relative_half_width() {
            share if share <= precision => WindowVerdict::Valid,
            share if share <= LARGEST_HALF_WIDTH => WindowVerdict::Wide,
            share => WindowVerdict::Void(VoidReason::Useless { half_width: share }),
        };
        let interval = Interval::known(rise - half, rise + half, "slope over ten batches, Student's quantile");
        let movement = Quantity::new(rise, Unit::RATIO, self.seconds.len() as u64, interval);
        JudgedWindow { cut, mean: estimate, movement: Some(movement), verdict }
    }
}

/// Seconds of load after which the mean is known to this half-width, as a share of it, if they vary as these do: (1.96 CV ÷ h)² (1 + r) ÷ (1 − r), r the
/// correlation of neighbours. At least as many as there are events to average over cannot be told from them. `None` of fewer than 10 seconds, of gaps,
/// and of a mean that is not positive.
pub fn seconds_needed(seconds: &[f64], half_width: f64) -> Option<u64> {
    if seconds.len() < 10 || seconds.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let (mean, spread) = (super::distribution::mean(seconds), super::distribution::variance(seconds).sqrt());
    let pairs = seconds.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum::<f64>();
    let squares = seconds.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    let correlation = if squares > 0.0 { (pairs / squares).clamp(0.0, 0.99) } else { 0.0 };
    let needed = (1.96 * spread / mean / half_width).powi(2) * (1.0 + correlation) / (1.0 - correlation);
    (mean > 0.0).then(|| (needed.ceil() as u64).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CV 15 %, r 0.9, ±5 % take 660 s; CV 5 %, r 0.5 take 12 s.
    #[test]
    fn seconds_needed_follow_spread_and_dependence() {
        let near = |spread: f64, correlation: f64, expected: f64| {
            let noise = crate::noise::autoregressive(7, 20_000, correlation);
            let load: Vec<f64> = noise.iter().map(|x| 1_000.0 * (1.0 + spread * x)).collect();
            let needed = seconds_needed(&load, 0.05).unwrap() as f64;
            assert!((needed / expected - 1.0).abs() < 0.15, "{needed} for {expected}");
        };
        near(0.15, 0.9, 657.0);
        near(0.05, 0.5, 11.5);
        assert_eq!(seconds_needed(&[5.0; 20], 0.05), Some(1));
        assert_eq!(seconds_needed(&[f64::NAN; 20], 0.05).or(seconds_needed(&[1.0; 5], 0.05)), None);
    }
    use crate::noise::autoregressive;

    const RULE: WindowRule = WindowRule { precision: 0.05, movement: 0.02 };

    fn load(seconds: usize, noise: f64, shape: impl Fn(usize) -> f64) -> Vec<f64> {
        let chance = autoregressive(3, seconds, 0.3);
        (0..seconds).map(|t| 1_000.0 * shape(t) * (1.0 + noise * chance[t])).collect()
    }

    #[test]
    fn flat_loads_are_valid_and_noisy_ones_wide() {
        let flat = judge_window(&load(120, 0.03, |_| 1.0), &RULE);
        assert_eq!((flat.cut, &flat.verdict), (0, &WindowVerdict::Valid), "{flat:?}");
        let noisy = judge_window(&load(120, 0.5, |_| 1.0), &RULE);
        assert_eq!(noisy.verdict, WindowVerdict::Wide, "{noisy:?}");
        let wild = judge_window(&load(20, 1.5, |_| 1.0), &RULE);
        assert!(matches!(wild.verdict, WindowVerdict::Void(VoidReason::Useless { .. })), "{wild:?}");
    }

    #[test]
    fn a_movement_that_ends_is_cut_and_one_that_goes_on_voids() {
        let settles = judge_window(&load(120, 0.01, |t| 1.0 - 0.4 * (1.0 - t as f64 / 28.0).max(0.0)), &RULE);
        assert_eq!((settles.cut, &settles.verdict), (15, &WindowVerdict::Valid), "{settles:?}");
        let falls = judge_window(&load(120, 0.01, |t| 1.0 - 0.002 * t as f64), &RULE);
        assert!(matches!(falls.verdict, WindowVerdict::Void(VoidReason::Moving { .. })), "{falls:?}");
        let steps = judge_window(&load(120, 0.01, |t| if t < 70 { 1.0 } else { 0.8 }), &RULE);
        assert!(matches!(steps.verdict, WindowVerdict::Void(VoidReason::Moving { .. })), "{steps:?}");
    }

    #[test]
    fn a_change_that_returns_is_noise_and_stays_inside() {
        let dips = judge_window(&load(120, 0.02, |t| if (50..70).contains(&t) { 0.6 } else { 1.0 }), &RULE);
        assert_eq!((dips.cut, &dips.verdict), (0, &WindowVerdict::Wide), "{dips:?}");
        let (low, high) = dips.mean.interval().bounds().expect("an interval");
        assert!(low < 933.0 && 933.0 < high, "[{low}, {high}]");
    }

    #[test]
    fn gaps_silence_and_few_seconds_are_told() {
        let mut values = load(60, 0.02, |_| 1.0);
        values[17] = f64::NAN;
        let gap = judge_window(&values, &RULE);
        assert_eq!(gap.verdict, WindowVerdict::Void(VoidReason::Gap { at: 17, seconds: 1 }));
        let silent = judge_window(&[0.0; 60], &RULE);
        assert_eq!(silent.verdict, WindowVerdict::Void(VoidReason::NoThroughput));
        let short = judge_window(&[900.0, 1_000.0], &RULE);
        assert_eq!((short.verdict, short.mean.value), (WindowVerdict::Wide, 950.0));
        assert!(judge_window(&[], &RULE).movement.is_none());
    }

    #[test]
    fn the_interval_reaches_further_to_the_side_of_the_movement() {
        let rises = mean_of_window(&load(120, 0.05, |t| 1.0 + 0.0002 * t as f64));
        let (low, high) = rises.interval().bounds().expect("an interval");
        assert!(high - rises.value > rises.value - low, "[{low}, {high}] around {}", rises.value);
    }
}
