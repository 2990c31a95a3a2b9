//! Finding the knee: competing fits, chosen by AICc, with an interval from redrawing the points within
//! their own errors; or, with few points, the pair of levels between which it lies.

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
    /// Share of the largest result that counts as having reached it (0.05: within 5 %). Used where there
    /// are too few levels for a fit, or the best curve has no joint.
    pub within: f64,
    /// Number of redrawn sweeps.
    pub resamples: usize,
    /// Seed of the redrawing.
    pub seed: u64,
}

/// Where the curve stops paying.
#[derive(Clone, Debug, PartialEq)]
pub enum Knee {
    /// A joint of the chosen segmented curve, or the level at which a smooth one comes within the asked
    /// share of its largest value.
    Fitted {
        /// The knee in the unit of the resource; n = levels.
        at: Quantity,
        /// All shapes that had enough points, best first.
        shapes: Vec<Shape>,
    },
    /// Too few levels for a fit: the knee lies above `after` and not above `reached`.
    Between {
        /// Largest level whose result is still further from the largest; `None` when even the smallest
        /// level is within the share.
        after: Option<f64>,
        /// First level from which on every result is within the share of the largest.
        reached: f64,
        /// Why it is not fitted and what was done instead, as a fragment.
        method: String,
    },
    /// There is none in the range that was tried.
    None {
        /// Why, as a fragment.
        why: String,
    },
}

/// Finds the knee of a sweep whose result rises with the resource.
pub fn find_knee(levels: &[Level], question: &Question) -> Knee {
    let mut sorted = levels.to_vec();
    sorted.retain(|level| level.resource.is_finite() && level.value.is_finite());
    sorted.sort_by(|a, b| a.resource.total_cmp(&b.resource));
    if sorted.len() < 3 {
        return Knee::None { why: format!("only {} levels; at least 3 are needed", sorted.len()) };
    }
    if sorted.len() < FEWEST_LEVELS {
        return between(&sorted, question);
    }
    fitted(&sorted, question)
}

fn between(levels: &[Level], question: &Question) -> Knee {
    let largest = levels.iter().map(|level| level.value).fold(f64::MIN, f64::max);
    let enough = (1.0 - question.within) * largest;
    let first = levels.iter().rposition(|level| level.value < enough).map_or(0, |last_short| last_short + 1);
    let share = 100.0 * question.within;
    let Some(reached) = levels.get(first) else {
        return Knee::None { why: "the result drops again at the largest level".to_owned() };
    };
    if first + 1 == levels.len() {
        return Knee::None {
            why: format!("only the largest level is within {share:.0} % of the largest result: no plateau was reached"),
        };
    }
    Knee::Between {
        after: first.checked_sub(1).map(|index| levels[index].resource),
        reached: reached.resource,
        method: format!(
            "{} levels are too few for a fitted knee (at least {FEWEST_LEVELS}): taken as the first level from which \
             the result stays within {share:.0} % of the largest",
            levels.len()
        ),
    }
}

fn fitted(levels: &[Level], question: &Question) -> Knee {
    let x: Vec<f64> = levels.iter().map(|level| level.resource).collect();
    let y: Vec<f64> = levels.iter().map(|level| level.value).collect();
    let fits = ranked(&x, &y);
    let Some(best) = fits.first() else {
        return Knee::None { why: "no curve could be fitted".to_owned() };
    };
    let Some(at) = knee_of(best, &x, question.within) else {
        return Knee::None { why: format!("the {} fits best: no knee within the tested levels", best.shape.name()) };
    };
    let interval = redrawn(levels, best, question);
    let shapes = fits.iter().map(|fit| fit.shape).collect();
    Knee::Fitted { at: Quantity::new(at, question.unit.clone(), levels.len() as u64, interval), shapes }
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
fn redrawn(levels: &[Level], best: &Fit, question: &Question) -> Interval {
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
    if (found.len() as f64) < 0.8 * question.resamples as f64 {
        let share = 100.0 * found.len() as f64 / question.resamples.max(1) as f64;
        return Interval::none(format!("only {share:.0} % of resampled sweeps have a knee"));
    }
    found.sort_by(f64::total_cmp);
    Interval::known(
        quantile_of_sorted(&found, TAIL),
        quantile_of_sorted(&found, 1.0 - TAIL),
        "parametric bootstrap over the levels, shape chosen again by AICc",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(seed: u64) -> Question {
        Question { unit: Unit::named("GB"), within: 0.05, resamples: 60, seed }
    }

    /// The published memory sweep: three results are printed, the plateau beyond 160 GB is described.
    #[test]
    fn the_published_sweep_has_its_knee_between_two_levels() {
        let published = [(256.0, 100.0), (32.0, 72.4), (160.0, 96.7)].map(|(r, x)| Level::without_error(r, x));
        match find_knee(&published, &question(1)) {
            Knee::Between { after, reached, method } => {
                assert_eq!((after, reached), (Some(32.0), 160.0));
                assert!(method.starts_with("3 levels are too few"), "{method}");
            }
            other => panic!("{other:?}"),
        }
    }

    /// The same sweep with all eight levels, the unprinted ones on the straight lines between the printed.
    #[test]
    fn eight_levels_of_the_published_shape_give_the_published_knee() {
        let curve = |r: f64| if r < 160.0 { 72.4 + 24.3 * (r - 32.0) / 128.0 } else { 96.7 + 0.034 * (r - 160.0) };
        let levels: Vec<Level> = (1..=8)
            .map(|i| {
                let r = 32.0 * f64::from(i);
                Level { resource: r, value: curve(r), standard_error: Some(0.5), freedom: 100.0 }
            })
            .collect();
        match find_knee(&levels, &question(1)) {
            Knee::Fitted { at, shapes, .. } => {
                assert!((at.value() - 160.0).abs() < 10.0, "{at}");
                let (low, high) = at.interval().bounds().expect("an interval");
                assert!(low <= 160.0 && 160.0 <= high && low > 96.0 && high < 224.0, "{at}");
                assert_eq!(shapes[0], Shape::TwoPieces);
            }
            other => panic!("{other:?}"),
        }
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
            let Knee::Fitted { at, .. } = find_knee(&levels, &question(seed)) else { continue };
            covered += usize::from(at.interval().bounds().is_some_and(|(a, b)| a <= knee && knee <= b));
        }
        println!("knee: interval contains the truth in {covered} of {trials}");
        assert!(covered >= 35, "{covered} of {trials}");
    }

    #[track_caller]
    fn check(points: &[(f64, f64)], expected: &str) {
        let levels: Vec<Level> = points.iter().map(|&(r, x)| Level::without_error(r, x)).collect();
        let text = match find_knee(&levels, &question(1)) {
            Knee::None { why } => why,
            Knee::Between { after, reached, .. } => format!("{after:?}..{reached}"),
            Knee::Fitted { at, .. } => format!("fitted {:.0}", at.value()),
        };
        assert_eq!(text, expected);
    }

    #[test]
    fn few_levels_are_answered_honestly() {
        check(&[(64.0, 540.0), (128.0, 577.0)], "only 2 levels; at least 3 are needed");
        check(
            &[(64.0, 540.0), (128.0, 577.0), (256.0, 778.0), (512.0, 1152.0)],
            "only the largest level is within 5 % of the largest result: no plateau was reached",
        );
        check(&[(64.0, 500.0), (128.0, 960.0), (256.0, 990.0), (512.0, 1000.0)], "Some(64.0)..128");
        check(&[(1.0, 100.0), (2.0, 101.0), (4.0, 99.0)], "None..1");
        check(&[(1.0, 90.0), (2.0, 100.0), (4.0, 80.0)], "the result drops again at the largest level");
    }

    #[test]
    fn a_straight_curve_has_no_knee() {
        let points: Vec<(f64, f64)> = (1..=9).map(|i| (f64::from(i), 10.0 * f64::from(i) + f64::from(i % 2))).collect();
        check(&points, "the straight line fits best: no knee within the tested levels");
    }
}
