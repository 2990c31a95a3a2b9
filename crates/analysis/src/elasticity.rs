//! Elasticity of a result to a resource: relative change of throughput per relative change of the
//! resource, per step between neighbouring levels. It says what a step is worth, not where the knee is.

use super::distribution::student_quantile;
use super::quantity::{Interval, Quantity, Unit};

/// One level of a factor with its result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// The factor's value: bytes, cores, users. Positive.
    pub resource: f64,
    /// The result at that level, such as throughput. Positive.
    pub value: f64,
    /// Standard error of `value`, where known.
    pub standard_error: Option<f64>,
    /// Degrees of freedom of the standard error; a large number where it does not matter.
    pub freedom: f64,
}

impl Level {
    /// A level whose error is unknown, such as a published figure.
    pub fn without_error(resource: f64, value: f64) -> Self {
        Self { resource, value, standard_error: None, freedom: 1.0 }
    }

    /// A level from an estimated mean.
    pub fn of(resource: f64, estimate: &super::bootstrap::Estimate) -> Self {
        let standard_error = estimate.missing.is_none().then_some(estimate.standard_error);
        Self { resource, value: estimate.value, standard_error, freedom: estimate.freedom }
    }
}

/// One step between neighbouring levels.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Lower level of the resource.
    pub from: f64,
    /// Upper level of the resource.
    pub to: f64,
    /// d ln X / d ln R: 1 is proportional, 0 is a plateau. n = 2 levels.
    pub elasticity: Quantity,
}

/// Elasticity of each step, levels ordered by resource. Source of the formula: method, section 5.
pub fn elasticities(levels: &[Level]) -> Vec<Step> {
    let mut sorted = levels.to_vec();
    sorted.sort_by(|a, b| a.resource.total_cmp(&b.resource));
    sorted
        .windows(2)
        .map(|pair| Step { from: pair[0].resource, to: pair[1].resource, elasticity: elasticity(&pair[0], &pair[1]) })
        .collect()
}

/// ln(X2/X1) ÷ ln(R2/R1), with the interval by the delta method on the logarithms.
pub fn elasticity(lower: &Level, upper: &Level) -> Quantity {
    let distance = (upper.resource / lower.resource).ln();
    let value = (upper.value / lower.value).ln() / distance;
    let interval = match (lower.standard_error, upper.standard_error) {
        (Some(a), Some(b)) => {
            let (a, b) = ((a / lower.value).powi(2), (b / upper.value).powi(2));
            let half = half_width(&[(a, lower.freedom), (b, upper.freedom)]) / distance.abs();
            Interval::known(value - half, value + half, "delta method on logarithms")
        }
        _ => Interval::none("the errors of the levels are unknown"),
    };
    Quantity::new(value, Unit::ELASTICITY, 2, interval)
}

/// Half-width of the 95 % interval of a sum whose parts have these squared errors and degrees of freedom.
///
/// Source: Satterthwaite, "An approximate distribution of estimates of variance components", Biometrics Bulletin 2 (1946).
pub(super) fn half_width(parts: &[(f64, f64)]) -> f64 {
    let sum: f64 = parts.iter().map(|(squared, _)| squared).sum();
    if sum <= 0.0 {
        return 0.0;
    }
    let freedom = sum.powi(2) / parts.iter().map(|(squared, freedom)| squared * squared / freedom).sum::<f64>();
    student_quantile(0.975, freedom) * sum.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(lower: (f64, f64), upper: (f64, f64), expected: &str) {
        let found = elasticity(&Level::without_error(lower.0, lower.1), &Level::without_error(upper.0, upper.1));
        assert_eq!(format!("{:.2}", found.value()), expected);
    }

    #[test]
    fn the_published_memory_sweep() {
        check((32.0, 72.4), (160.0, 96.7), "0.18");
        check((160.0, 96.7), (256.0, 100.0), "0.07");
        check((1.0, 10.0), (2.0, 20.0), "1.00");
    }

    #[test]
    fn steps_are_ordered_and_carry_intervals() {
        let level = |resource, value| Level { resource, value, standard_error: Some(1.0), freedom: 1e6 };
        let steps = elasticities(&[level(4.0, 150.0), level(1.0, 50.0), level(2.0, 100.0)]);
        assert_eq!((steps[0].from, steps[0].to, steps[1].to), (1.0, 2.0, 4.0));
        let (low, high) = steps[0].elasticity.interval().bounds().expect("an interval");
        let half = 1.96 * (0.02f64.powi(2) + 0.01f64.powi(2)).sqrt() / 2f64.ln();
        assert!((low - (1.0 - half)).abs() < 1e-3 && (high - (1.0 + half)).abs() < 1e-3, "[{low}, {high}]");
    }
}
