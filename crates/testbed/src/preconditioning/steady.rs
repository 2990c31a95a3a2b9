//! Steadiness of a drive, by the rule of the SNIA Performance Test Specification over rounds; pure.
//!
//! It declares a steady decay steady, and rounds that are too short settle on anything: its verdict is about the drive before
//! the study and never replaces the detector that judges the study's own runs.

use proofload_model::units::{PerSecond, Ratio};

/// Rounds that are judged together. Source: SNIA PTS, "measurement window".
pub(super) const WINDOW: usize = 5;

/// Largest minus smallest round, in percent of the mean, at most. Source: SNIA PTS.
pub(super) const RANGE_PERCENT: f64 = 20.0;

/// Rise or fall of the least-squares line from the first to the last round of the window, in percent of the mean, at most.
/// Source: SNIA PTS.
pub(super) const RISE_PERCENT: f64 = 10.0;

/// What the last rounds say.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Judgement {
    /// Mean of the window.
    pub(super) mean: PerSecond,
    /// Largest minus smallest round, as a share of the mean.
    pub(super) range: Ratio,
    /// Rise of the least-squares line over the window, as a share of the mean; negative for a fall.
    pub(super) rise: Ratio,
    /// Whether it is within both limits.
    pub(super) steady: bool,
}

/// Judges the last [`WINDOW`] rounds; `None` while there are fewer, or when one of them is no rate or nothing was done
/// in them.
pub(super) fn judge(rounds: &[PerSecond]) -> Option<Judgement> {
    let window = &rounds[rounds.len().checked_sub(WINDOW)?..];
    let mean = window.iter().map(|round| round.0).sum::<f64>() / WINDOW as f64;
    if !mean.is_finite() || mean <= 0.0 {
        return None;
    }
    let largest = window.iter().map(|round| round.0).fold(f64::MIN, f64::max);
    let smallest = window.iter().map(|round| round.0).fold(f64::MAX, f64::min);
    let (range, rise) = (largest - smallest, slope(window) * (WINDOW - 1) as f64);
    Some(Judgement {
        mean: PerSecond(mean),
        range: Ratio(range / mean),
        rise: Ratio(rise / mean),
        // As products: a round exactly on a limit is within it, whatever a division would round to.
        steady: 100.0 * range <= RANGE_PERCENT * mean && 100.0 * rise.abs() <= RISE_PERCENT * mean,
    })
}

/// Slope of the least-squares line through equally spaced values, per step.
fn slope(values: &[PerSecond]) -> f64 {
    let middle = (values.len() - 1) as f64 / 2.0;
    let places = || (0..values.len()).map(|place| place as f64 - middle);
    let products: f64 = places().zip(values).map(|(place, value)| place * value.0).sum();
    products / places().map(|place| place * place).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Range and rise in percent, worked out by hand, and the verdict.
    #[track_caller]
    fn check(rounds: &[f64], expected: Option<(f64, f64, bool)>) {
        let rounds: Vec<PerSecond> = rounds.iter().copied().map(PerSecond).collect();
        let found = judge(&rounds);
        assert_eq!(found.is_some(), expected.is_some(), "{found:?}");
        if let (Some(found), Some((range, rise, steady))) = (found, expected) {
            assert!((found.range.0 * 100.0 - range).abs() < 1e-9, "{found:?}");
            assert!((found.rise.0 * 100.0 - rise).abs() < 1e-9, "{found:?}");
            assert_eq!(found.steady, steady, "{found:?}");
        }
    }

    #[test]
    fn five_rounds_are_needed_and_the_last_five_count() {
        check(&[], None);
        check(&[100.0; 4], None);
        check(&[100.0; 5], Some((0.0, 0.0, true)));
        check(&[900.0, 500.0, 100.0, 100.0, 100.0, 100.0, 100.0], Some((0.0, 0.0, true)));
        check(&[500.0, 100.0, 100.0, 100.0, 100.0], Some((4.0 / 1.8 * 100.0, -8000.0 / 45.0, false)));
    }

    #[test]
    fn the_range_may_be_a_fifth_of_the_mean() {
        check(&[100.0, 110.0, 100.0, 90.0, 100.0], Some((20.0, -8.0, true)));
        check(&[90.0, 100.0, 110.0, 100.0, 100.0], Some((20.0, 8.0, true)));
        check(&[100.0, 110.5, 100.0, 89.5, 100.0], Some((21.0, -8.4, false)));
    }

    #[test]
    fn the_line_may_rise_or_fall_by_a_tenth_of_the_mean() {
        check(&[95.0, 97.5, 100.0, 102.5, 105.0], Some((10.0, 10.0, true)));
        check(&[105.0, 102.5, 100.0, 97.5, 95.0], Some((10.0, -10.0, true)));
        // Within the range, yet falling: the second rule decides.
        check(&[108.0, 104.0, 100.0, 96.0, 92.0], Some((16.0, -16.0, false)));
        check(&[94.0, 97.0, 100.0, 103.0, 106.0], Some((12.0, 12.0, false)));
    }

    /// A drive fresh out of the box, as convergence plots show it: fast, falling off a cliff, then level with ripple.
    #[test]
    fn a_fresh_drive_is_steady_only_after_its_cliff() {
        let rounds = [78_000.0, 61_000.0, 35_000.0, 24_500.0, 22_300.0, 21_900.0, 22_600.0, 22_100.0, 22_400.0];
        let rounds: Vec<PerSecond> = rounds.into_iter().map(PerSecond).collect();
        let declared = (1..=rounds.len()).find(|end| judge(&rounds[..*end]).is_some_and(|found| found.steady));
        // 24.5, 22.3, 21.9, 22.6, 22.1: range 2.6 of 22.68 is 11.5 %, the line falls by 4 × 0.45 = 7.9 %.
        assert_eq!(declared, Some(8));
        let found = judge(&rounds[..8]).unwrap();
        assert!((found.mean.0 - 22_680.0).abs() < 1e-6, "{found:?}");
        assert!((found.rise.0 - -4.0 * 450.0 / 22_680.0).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn nothing_done_or_no_number_is_never_steady() {
        check(&[0.0; 5], None);
        check(&[100.0, 100.0, f64::NAN, 100.0, 100.0], None);
        check(&[100.0, 100.0, f64::INFINITY, 100.0, 100.0], None);
    }

    #[test]
    fn the_unit_does_not_matter() {
        let rounds = [101.0, 97.0, 103.0, 99.0, 108.0];
        for factor in [1e-3, 1.0, 7.0, 1e6] {
            let scaled: Vec<PerSecond> = rounds.iter().map(|round| PerSecond(round * factor)).collect();
            let found = judge(&scaled).unwrap();
            assert!(found.steady && (found.range.0 - 11.0 / 101.6).abs() < 1e-12, "{factor}: {found:?}");
        }
    }
}
