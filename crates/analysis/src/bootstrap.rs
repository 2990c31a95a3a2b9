//! Intervals for one series of dependent samples: its mean, a ratio of two means.
//! Samples of a run are autocorrelated, so requests or seconds are never treated as independent.

use super::autocorrelation::{LongRun, long_run};
use super::distribution::{mean, student_quantile};
use super::quantity::{Interval, Quantity, Unit};

/// Fewer samples than this give a value without an interval.
pub const FEWEST_SAMPLES: usize = 10;

const METHOD_MEAN: &str = "pre-whitened circular block bootstrap, Student's quantile";
/// How an interval comes from the means of several runs.
pub const METHOD_RUNS: &str = "spread between runs, Student's quantile";

/// A mean with what is needed to combine it further.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// The mean, in the unit of the samples.
    pub value: f64,
    /// Its standard error with the samples' dependence counted; NaN when unknown.
    pub standard_error: f64,
    /// Degrees of freedom of the standard error.
    pub freedom: f64,
    /// Displacement that the standard error does not hold, in the unit of the samples: above the mean when positive, else below it.
    pub ahead: f64,
    /// Number of samples.
    pub n: u64,
    /// Block length, in samples.
    pub block: usize,
    /// Why there is no standard error, when there is none.
    pub missing: Option<String>,
    /// How the interval comes about.
    pub method: &'static str,
}

impl Estimate {
    /// The 95 % interval, or why there is none.
    pub fn interval(&self) -> Interval {
        if let Some(why) = &self.missing {
            return Interval::none(why.clone());
        }
        let (below, above) = self.half_widths();
        Interval::known(self.value - below, self.value + above, self.method)
    }

    /// Width of the 95 % interval below the mean and above it.
    fn half_widths(&self) -> (f64, f64) {
        let half = student_quantile(0.975, self.freedom) * self.standard_error;
        (half.hypot(self.ahead.min(0.0)), half.hypot(self.ahead.max(0.0)))
    }

    /// Half the width of the 95 % interval as a share of the mean; NaN without an interval.
    pub fn relative_half_width(&self) -> f64 {
        let (below, above) = self.half_widths();
        if self.missing.is_some() { f64::NAN } else { (below + above) / 2.0 / self.value.abs() }
    }

    /// The mean as a quantity in `unit`.
    pub fn quantity(&self, unit: Unit) -> Quantity {
        Quantity::new(self.value, unit, self.n, self.interval())
    }
}

/// The mean of equally spaced samples with its interval. A gap (NaN) or fewer than
/// [`FEWEST_SAMPLES`] samples give no interval; nothing is filled in.
pub fn mean_of(values: &[f64]) -> Estimate {
    let value = mean(values);
    let missing = why_no_interval(values);
    let residuals: Vec<f64> = values.iter().map(|x| x - value).collect();
    let noise = match missing {
        Some(_) => LongRun { variance: f64::NAN, freedom: 1.0, autocorrelation: 0.0, block: 1 },
        None => long_run(&residuals, 1),
    };
    let n = values.len() as f64;
    Estimate {
        value,
        standard_error: (noise.variance / n).sqrt(),
        freedom: noise.freedom,
        ahead: 0.0,
        n: values.len() as u64,
        block: noise.block,
        missing,
        method: METHOD_MEAN,
    }
}

fn why_no_interval(values: &[f64]) -> Option<String> {
    if values.iter().any(|x| !x.is_finite()) {
        return Some("the series has gaps".to_owned());
    }
    (values.len() < FEWEST_SAMPLES)
        .then(|| format!("only {} samples; at least {FEWEST_SAMPLES} are needed", values.len()))
}

/// Ratio of two independent means, above ÷ below, with an interval on the logarithmic scale (so that
/// exchanging the two gives the reciprocal interval). Degrees of freedom by Welch and Satterthwaite.
pub fn ratio_of_means(above: &Estimate, below: &Estimate) -> Quantity {
    let ratio = above.value / below.value;
    let n = above.n + below.n;
    let missing = above.missing.as_ref().or(below.missing.as_ref());
    let interval = match missing {
        Some(why) => Interval::none(why.clone()),
        None if above.value <= 0.0 || below.value <= 0.0 => Interval::none("a mean is not positive"),
        None => log_ratio_interval(above, below, ratio),
    };
    Quantity::new(ratio, Unit::RATIO, n, interval)
}

fn log_ratio_interval(above: &Estimate, below: &Estimate, ratio: f64) -> Interval {
    let top = (above.standard_error / above.value).powi(2);
    let bottom = (below.standard_error / below.value).powi(2);
    let spread = top + bottom;
    let freedom = if spread > 0.0 {
        spread.powi(2) / (top.powi(2) / above.freedom + bottom.powi(2) / below.freedom)
    } else {
        1.0
    };
    let half = student_quantile(0.975, freedom) * spread.sqrt();
    let (rise, fall) = (above.ahead / above.value, below.ahead / below.value);
    let lower = half.hypot(rise.min(0.0)).hypot(fall.max(0.0));
    let upper = half.hypot(rise.max(0.0)).hypot(fall.min(0.0));
    Interval::known(
        ratio * (-lower).exp(),
        ratio * upper.exp(),
        "ratio of block-bootstrapped means on the logarithmic scale",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::autoregressive;

    /// Share of seeds whose interval covers `truth`, in percent.
    fn coverage(trials: u64, truth: f64, interval: impl Fn(u64) -> Interval) -> f64 {
        let covered = (0..trials)
            .filter(|&seed| interval(seed).bounds().is_some_and(|(low, high)| low <= truth && truth <= high))
            .count();
        100.0 * covered as f64 / trials as f64
    }

    #[track_caller]
    fn check(name: &str, covered: f64, expected: std::ops::RangeInclusive<f64>) {
        println!("{name}: nominal 95 % covers {covered:.1} %");
        assert!(expected.contains(&covered), "{name}: {covered:.1} % outside {expected:?}");
    }

    fn trace(seed: u64, n: usize, rho: f64) -> Vec<f64> {
        autoregressive(seed, n, rho).iter().map(|x| 100.0 + 5.0 * x).collect()
    }

    #[test]
    fn mean_covers_for_short_and_long_dependent_series() {
        for n in [10, 15, 20, 30, 60, 120, 300, 600] {
            let covered = coverage(1_500, 100.0, |seed| mean_of(&trace(seed, n, 0.5)).interval());
            check(&format!("mean, rho 0.5, n {n}"), covered, 92.0..=98.0);
        }
        for rho in [-0.3, 0.0, 0.8] {
            let covered = coverage(1_500, 100.0, |seed| mean_of(&trace(seed, 120, rho)).interval());
            check(&format!("mean, rho {rho}, n 120"), covered, 92.0..=98.0);
        }
    }

    #[test]
    fn ratio_covers() {
        let of = |seed, n| mean_of(&trace(seed, n, 0.5));
        let covered =
            coverage(1_500, 1.0, |seed| ratio_of_means(&of(seed, 30), &of(seed + 1_000_000, 60)).interval().clone());
        check("ratio, n 30 and 60", covered, 92.0..=98.0);
    }

    #[test]
    fn gaps_and_tiny_series_have_no_interval_and_say_why() {
        let mut values = trace(1, 30, 0.5);
        values[7] = f64::NAN;
        assert_eq!(mean_of(&values).interval(), Interval::none("the series has gaps"));
        assert_eq!(mean_of(&[1.0; 3]).interval(), Interval::none("only 3 samples; at least 10 are needed"));
    }

    #[test]
    fn exchanging_a_ratio_gives_the_reciprocal_interval() {
        let (a, b) = (mean_of(&trace(1, 60, 0.5)), mean_of(&trace(2, 60, 0.2)));
        let (low, high) = ratio_of_means(&a, &b).interval().bounds().expect("an interval");
        let (low_back, high_back) = ratio_of_means(&b, &a).interval().bounds().expect("an interval");
        assert!((low * high_back - 1.0).abs() < 1e-9 && (high * low_back - 1.0).abs() < 1e-9);
    }
}
