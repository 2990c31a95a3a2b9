//! Makes quantities of the windows of runs, or the reason why there is none. Knows values only, no run and no record.

use super::level::Measured;
use proofload_analysis::bootstrap::{Estimate, mean_of, ratio_of_means};
use proofload_analysis::distribution::{mean, student_quantile, variance};
use proofload_analysis::hierarchy::mean_of_estimates;
use proofload_analysis::quantity::{Interval, Quantity, Unit};
use proofload_analysis::window::mean_of_window;

/// The mean of the windows of all runs, repetitions as the higher level.
pub(super) fn estimate(windows: &[&[f64]]) -> Result<Estimate, String> {
    estimate_by(windows, mean_of)
}

/// The same for what moves as throughput does, with what a movement that cannot be excluded would displace.
pub(super) fn estimate_of_rate(windows: &[&[f64]], judged: bool) -> Result<Estimate, String> {
    estimate_by(windows, if judged { mean_of_window } else { mean_of })
}

fn estimate_by(windows: &[&[f64]], mean: fn(&[f64]) -> Estimate) -> Result<Estimate, String> {
    if windows.is_empty() {
        return Err("no run was completed".to_owned());
    }
    if windows.iter().any(|window| window.is_empty()) {
        return Err("there is no measured window".to_owned());
    }
    Ok(mean_of_estimates(&windows.iter().map(|window| mean(window)).collect::<Vec<_>>()))
}

/// An estimate in a unit, if its windows have no gap.
pub(super) fn measured(estimate: &Result<Estimate, String>, unit: Unit, factor: f64) -> Measured {
    let quantity = estimate.as_ref().map_err(Clone::clone)?.quantity(unit.clone()).scaled(factor, unit);
    if quantity.value().is_finite() { Ok(quantity) } else { Err("the window has gaps".to_owned()) }
}

/// Leaves out, with the reason, an interval that exceeds the possible range or spans a hundredfold: its windows are worth
/// too few independent seconds.
pub(super) fn informative(quantity: Quantity) -> Quantity {
    let says_nothing = |(low, high): (f64, f64)| low < 0.0 || high > 100.0 * low.max(quantity.value() / 10.0);
    if quantity.interval().bounds().is_some_and(says_nothing) {
        let why = "the window holds too few independent seconds";
        return Quantity::new(quantity.value(), quantity.unit().clone(), quantity.n(), Interval::none(why));
    }
    quantity
}

/// Ends the interval of a share of a whole, a ratio or in per cent, at nothing and at all of it: no share lies beyond. A value that
/// was read beyond stays in its interval.
pub(crate) fn within_the_whole(quantity: Quantity) -> Quantity {
    let whole = if *quantity.unit() == Unit::RATIO { 1.0 } else { 100.0 };
    match quantity.interval() {
        Interval::Known { low, high, method } if *low < 0.0 || *high > whole => {
            let value = quantity.value();
            let interval = Interval::known(low.max(0.0).min(value), high.min(whole).max(value), method.clone());
            Quantity::new(value, quantity.unit().clone(), quantity.n(), interval)
        }
        _ => quantity,
    }
}

/// The mean of one value per run.
pub(super) fn over_runs(values: &[f64], unit: Unit, why_not: &str) -> Quantity {
    let count = values.len() as f64;
    let interval = if values.len() < 2 {
        Interval::none(why_not)
    } else {
        let half = student_quantile(0.975, count - 1.0) * (variance(values) / count).sqrt();
        Interval::known(mean(values) - half, mean(values) + half, "Student's t over repetitions")
    };
    Quantity::new(mean(values), unit, values.len() as u64, interval)
}

/// A ratio of two means that may be nothing at all: 0 to something is 0.
pub(super) fn ratio(above: &Estimate, below: &Estimate) -> Quantity {
    if above.value == 0.0 && below.value > 0.0 {
        return Quantity::new(0.0, Unit::RATIO, above.n, Interval::none("no operations were counted"));
    }
    ratio_of_means(above, below)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_interval_of_a_share_exceeds_the_whole() {
        let of = |value: f64, low: f64, high: f64| {
            let share = Quantity::new(value, Unit::PERCENT, 30, Interval::known(low, high, "test"));
            within_the_whole(share).interval().bounds()
        };
        assert_eq!(of(88.0, 52.0, 124.0), Some((52.0, 100.0)));
        assert_eq!(of(3.0, -2.0, 8.0), Some((0.0, 8.0)));
        assert_eq!(of(50.0, 45.0, 55.0), Some((45.0, 55.0)));
        assert_eq!(of(101.0, 99.0, 103.0), Some((99.0, 101.0)), "read at other instants than the clock");
        let ratio = Quantity::new(0.97, Unit::RATIO, 30, Interval::known(0.9, 1.04, "test"));
        assert_eq!(within_the_whole(ratio).interval().bounds(), Some((0.9, 1.0)));
    }
}
