//! Fitting the knee: competing curves, chosen by AICc, with an interval from redrawing the points within
//! their own errors; or the reason why no fit tells one.

use super::super::distribution::{mean, quantile_of_sorted};
use super::super::elasticity::Level;
use super::super::quantity::{Interval, Quantity, Unit};
use super::super::random::Random;
use super::curve::{Fit, Shape, fit};

/// Fewer levels than this are not fitted: two pieces have five parameters.
pub const FEWEST_LEVELS: usize = 7;

/// Share of redrawn knees beyond either end of the interval. A joint has few points on either side and is
/// not normally distributed; the nominal 2.5 % covers too rarely in simulation.
const TAIL: f64 = 0.005;

/// How the knee is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// Unit of the resource, for the answer.
    pub unit: Unit,
    /// Share of the largest result that counts as having reached it (0.05: within 5 %). Used where the best
    /// curve is smooth and has no joint.
    pub within: f64,
    /// Number of redrawn sweeps.
    pub resamples: usize,
    /// Seed of the redrawing.
    pub seed: u64,
}

/// A curve that bends: the joint of the chosen segmented curve, or the level at which a smooth one comes within the asked share
/// of its largest value.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedKnee {
    /// The knee in the unit of the resource, with its interval; n = levels.
    pub at: Quantity,
    /// All shapes that had enough points, best first.
    pub shapes: Vec<Shape>,
}

/// Reason why a fit tells no knee.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NoFit {
    /// Fewer than [`FEWEST_LEVELS`]: so many.
    TooFewLevels(usize),
    /// No curve could be fitted.
    NoCurve,
    /// The best curve does not bend within the tested levels.
    NoJoint(Shape),
    /// Too few of the redrawn sweeps have a knee, so it has no interval.
    Rare {
        /// Part of the redrawn sweeps that have one, 0 to 1.
        share: f64,
    },
}

/// Least part of the redrawn sweeps that must have a knee.
const LEAST_SHARE: f64 = 0.8;

/// Fits the knee of a sweep whose result rises with the resource.
///
/// # Errors
/// The reason why there is none with an interval.
pub fn fit_knee(levels: &[Level], question: &Question) -> Result<FittedKnee, NoFit> {
    let mut sorted = levels.to_vec();
    sorted.retain(|level| level.resource.is_finite() && level.value.is_finite());
    sorted.sort_by(|a, b| a.resource.total_cmp(&b.resource));
    if sorted.len() < FEWEST_LEVELS {
        return Err(NoFit::TooFewLevels(sorted.len()));
    }
    fitted(&sorted, question)
}

fn fitted(levels: &[Level], question: &Question) -> Result<FittedKnee, NoFit> {
    let x: Vec<f64> = levels.iter().map(|level| level.resource).collect();
    let y: Vec<f64> = levels.iter().map(|level| level.value).collect();
    let fits = ranked(&x, &y);
    let best = fits.first().ok_or(NoFit::NoCurve)?;
    let at = knee_of(best, &x, question.within).ok_or(NoFit::NoJoint(best.shape))?;
    let interval = redrawn(levels, best, question)?;
    let shapes = fits.iter().map(|fit| fit.shape).collect();
    Ok(FittedKnee { at: Quantity::new(at, question.unit.clone(), levels.len() as u64, interval), shapes })
}

fn ranked(x: &[f64], y: &[f64]) -> Vec<Fit> {
    let mut fits: Vec<Fit> = Shape::ALL.iter().filter_map(|&shape| fit(shape, x, y)).collect();
    fits.sort_by(|a, b| a.aicc.total_cmp(&b.aicc));
    fits
}

/// The last joint at which the slope falls; for a smooth curve, where it comes within the share of its last value;
/// `None` for a line or a curve that is convex.
fn knee_of(fit: &Fit, x: &[f64], within: f64) -> Option<f64> {
    match fit.shape {
        Shape::Line => None,
        Shape::TwoPieces | Shape::ThreePieces => {
            let last = *fit.joints.last()?;
            let slope = |from: usize| (fit.fitted[from + 1] - fit.fitted[from]) / (x[from + 1] - x[from]);
            (slope(x.len() - 2) < slope(0)).then_some(last)
        }
        Shape::Saturating => {
            let enough = (1.0 - within) * fit.fitted.last()?;
            let above = fit.fitted.iter().position(|&value| value >= enough)?;
            let below = above.checked_sub(1)?;
            let share = (enough - fit.fitted[below]) / (fit.fitted[above] - fit.fitted[below]);
            Some(x[below] + share * (x[above] - x[below]))
        }
    }
}

/// Sweeps redrawn around the chosen curve: with each level's own error where it is known, else with the
/// scatter around the curve, which is shared. Every redrawn sweep chooses its shape anew, so that the
/// doubt between shapes is part of the interval.
fn redrawn(levels: &[Level], best: &Fit, question: &Question) -> Result<Interval, NoFit> {
    let x: Vec<f64> = levels.iter().map(|level| level.resource).collect();
    let degrees = levels.len() as f64 - 2.0 - best.joints.len() as f64 * 2.0;
    let squares: Vec<f64> = levels.iter().zip(&best.fitted).map(|(l, f)| (l.value - f).powi(2)).collect();
    let scatter = (mean(&squares) * levels.len() as f64 / degrees.max(1.0)).sqrt();
    let mut random = Random::new(question.seed);
    let mut found = Vec::with_capacity(question.resamples);
    for _ in 0..question.resamples {
        let drawn: Vec<f64> = levels
            .iter()
            .zip(&best.fitted)
            .map(|(level, fitted)| fitted + level.standard_error.unwrap_or(scatter).max(scatter) * random.normal())
            .collect();
        let knee = ranked(&x, &drawn).first().and_then(|fit| knee_of(fit, &x, question.within));
        found.extend(knee);
    }
    let share = found.len() as f64 / question.resamples.max(1) as f64;
    if share < LEAST_SHARE {
        return Err(NoFit::Rare { share });
    }
    found.sort_by(f64::total_cmp);
    let interval = Interval::known(
        quantile_of_sorted(&found, TAIL),
        quantile_of_sorted(&found, 1.0 - TAIL),
        "parametric bootstrap over the levels, shape chosen again by AICc",
    );
    if interval.bounds().is_some() { Ok(interval) } else { Err(NoFit::NoCurve) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(seed: u64) -> Question {
        Question { unit: Unit::named("GB"), within: 0.05, resamples: 60, seed }
    }

    /// The published memory sweep with all eight levels, the unprinted ones on the straight lines between the printed.
    #[test]
    fn eight_levels_of_the_published_shape_give_the_published_knee() {
        let curve = |r: f64| if r < 160.0 { 72.4 + 24.3 * (r - 32.0) / 128.0 } else { 96.7 + 0.034 * (r - 160.0) };
        let levels: Vec<Level> = (1..=8)
            .map(|i| {
                let r = 32.0 * f64::from(i);
                Level { resource: r, value: curve(r), standard_error: Some(0.5), freedom: 100.0 }
            })
            .collect();
        let FittedKnee { at, shapes } = fit_knee(&levels, &question(1)).expect("a knee");
        assert!((at.value() - 160.0).abs() < 10.0, "{at}");
        let (low, high) = at.interval().bounds().expect("an interval");
        assert!(low <= 160.0 && 160.0 <= high && low > 96.0 && high < 224.0, "{at}");
        assert_eq!(shapes[0], Shape::TwoPieces);
    }

    #[test]
    fn the_interval_contains_the_truth() {
        let trials = 40;
        let mut covered = 0;
        for seed in 0..trials {
            let mut random = Random::stream(seed, 31);
            let knee = 80.0 + 120.0 * random.uniform();
            let levels: Vec<Level> = (1..=10)
                .map(|i| {
                    let r = 28.0 * f64::from(i);
                    let value = 50.0 + 0.25 * r.min(knee) + 0.7 * random.normal();
                    Level { resource: r, value, standard_error: Some(0.7), freedom: 100.0 }
                })
                .collect();
            let Ok(FittedKnee { at, .. }) = fit_knee(&levels, &question(seed)) else { continue };
            covered += usize::from(at.interval().bounds().is_some_and(|(a, b)| a <= knee && knee <= b));
        }
        println!("knee: interval contains the truth in {covered} of {trials}");
        assert!(covered >= 35, "{covered} of {trials}");
    }

    #[track_caller]
    fn check(points: &[(f64, f64)], expected: NoFit) {
        let levels: Vec<Level> = points.iter().map(|&(r, x)| Level::without_error(r, x)).collect();
        assert_eq!(fit_knee(&levels, &question(1)), Err(expected));
    }

    #[test]
    fn few_levels_are_not_fitted() {
        check(&[(64.0, 540.0), (128.0, 577.0)], NoFit::TooFewLevels(2));
        check(&[(64.0, 500.0), (128.0, 960.0), (256.0, 990.0), (512.0, 1000.0)], NoFit::TooFewLevels(4));
        check(&[(1.0, 90.0), (f64::NAN, 100.0)], NoFit::TooFewLevels(1));
    }

    #[test]
    fn a_straight_curve_has_no_knee() {
        let points: Vec<(f64, f64)> = (1..=9).map(|i| (f64::from(i), 10.0 * f64::from(i) + f64::from(i % 2))).collect();
        check(&points, NoFit::NoJoint(Shape::Line));
    }

    /// The joint that fits best is no knee where sweeps redrawn within the errors of the levels rarely have one.
    #[test]
    fn a_knee_that_few_redrawn_sweeps_have_is_none() {
        let level = |i: u32| {
            let r = f64::from(i);
            Level { resource: r, value: 100.0 + 2.0 * r.min(5.0), standard_error: Some(200.0), freedom: 100.0 }
        };
        let levels: Vec<Level> = (1..=9).map(level).collect();
        match fit_knee(&levels, &question(1)) {
            Err(NoFit::Rare { share }) => assert!(share < LEAST_SHARE, "{share}"),
            other => panic!("{other:?}"),
        }
    }
}
