//! The curves that compete for a sweep: continuous segmented lines of two and three pieces, a straight
//! line, and a saturating exponential. Least squares and AICc; nothing is decided here.

use super::super::equations::solve;

/// A family of curves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One straight line: no knee.
    Line,
    /// Two continuous pieces.
    TwoPieces,
    /// Three continuous pieces; the knee is the last joint.
    ThreePieces,
    /// a − b e^(−x/h): gradual, without a joint.
    Saturating,
}

impl Shape {
    /// All shapes, in the order in which ties are resolved.
    pub(super) const ALL: [Self; 4] = [Self::Line, Self::TwoPieces, Self::ThreePieces, Self::Saturating];

    /// Its name in the report.
    pub fn name(self) -> &'static str {
        match self {
            Self::Line => "straight line",
            Self::TwoPieces => "two straight pieces",
            Self::ThreePieces => "three straight pieces",
            Self::Saturating => "saturating exponential",
        }
    }

    /// Fitted values, the variance of the noise counted as one.
    fn parameters(self) -> usize {
        match self {
            Self::Line => 3,
            Self::TwoPieces => 5,
            Self::ThreePieces => 7,
            Self::Saturating => 4,
        }
    }
}

/// A fitted curve.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fit {
    pub(super) shape: Shape,
    /// Akaike's criterion corrected for few points; lower is better.
    pub(super) aicc: f64,
    /// Joints, upwards; empty for a line and the exponential.
    pub(super) joints: Vec<f64>,
    /// Value at each point.
    pub(super) fitted: Vec<f64>,
}

/// Residuals of a fit are never taken as smaller than this share of the scatter of the points: published
/// figures have four digits, and a curve through every point is not evidence.
const SMALLEST_SHARE: f64 = 1e-6;

/// Places for a joint that are all tried; of more, which more than some twenty levels have, the best is approached in steps.
const ALL_TRIED: usize = 240;

/// Places tried first of so many, for one joint and for each of two.
const FIRST_TRIED: (usize, usize) = (60, 18);

/// The best fit of a shape to (x, y) ordered by x, or `None` where the points are too few for it
/// (AICc needs more points than parameters plus one).
pub(super) fn fit(shape: Shape, x: &[f64], y: &[f64]) -> Option<Fit> {
    if x.len() < shape.parameters() + 2 {
        return None;
    }
    let fine = joints(x);
    let many = fine.len() > ALL_TRIED;
    let of_one = Steps { first: if many { fine.len().div_ceil(FIRST_TRIED.0) } else { 1 }, last: 1 };
    let of_two = Steps { first: if many { fine.len().div_ceil(FIRST_TRIED.1) } else { 6 }, last: 2 };
    let best = match shape {
        Shape::Line => best_of(vec![Vec::new()], shape, x, y)?,
        Shape::TwoPieces => best_joints(&of_one, shape, &fine, x, y)?,
        Shape::ThreePieces => best_joints(&of_two, shape, &fine, x, y)?,
        Shape::Saturating => best_of(scales(x), shape, x, y)?,
    };
    let Regression { squares, fitted, place } = best;
    let joints = if shape == Shape::Saturating { Vec::new() } else { place };
    Some(Fit { shape, aicc: aicc(shape, squares, y), joints, fitted })
}

/// n ln(SSE/n) + 2k + 2k(k+1)/(n−k−1). Source: Hurvich and Tsai, Biometrika 76 (1989).
fn aicc(shape: Shape, squares: f64, y: &[f64]) -> f64 {
    let (n, k) = (y.len() as f64, shape.parameters() as f64);
    let centre = super::super::distribution::mean(y);
    let scatter: f64 = y.iter().map(|v| (v - centre).powi(2)).sum();
    let squares = squares.max(SMALLEST_SHARE * scatter).max(f64::MIN_POSITIVE);
    n * (squares / n).ln() + 2.0 * k + 2.0 * k * (k + 1.0) / (n - k - 1.0)
}

/// Places tried for a joint: twelve per gap between points, with at least two points on either side.
fn joints(x: &[f64]) -> Vec<f64> {
    let gaps = x.windows(2).take(x.len() - 2).skip(1);
    let inner = gaps.flat_map(|gap| (0..12).map(move |i| gap[0] + (gap[1] - gap[0]) * f64::from(i) / 12.0));
    inner.chain(x.get(x.len() - 2).copied()).collect()
}

/// Steps over the places of a joint: the first try, and the finest.
struct Steps {
    first: usize,
    last: usize,
}

/// The best places of one or two joints, by ever finer steps around the best so far.
fn best_joints(steps: &Steps, shape: Shape, fine: &[f64], x: &[f64], y: &[f64]) -> Option<Regression> {
    let coarse: Vec<f64> = fine.iter().copied().step_by(steps.first).collect();
    let places = if shape == Shape::ThreePieces { pairs(&coarse, &coarse, x) } else { singles(&coarse) };
    let (mut best, mut step) = (best_of(places, shape, x, y)?, steps.first);
    while step > steps.last {
        let finer = (step / 3).max(steps.last);
        let near = |joint: f64| {
            let at = fine.partition_point(|&place| place < joint);
            let around = &fine[at.saturating_sub(step - 1)..(at + step).min(fine.len())];
            around.iter().copied().step_by(finer).collect::<Vec<_>>()
        };
        let mut places = match best.place[..] {
            [first, second] => pairs(&near(first), &near(second), x),
            [only] => singles(&near(only)),
            _ => Vec::new(),
        };
        places.push(best.place.clone());
        best = best_of(places, shape, x, y)?;
        step = finer;
    }
    Some(best)
}

fn singles(joints: &[f64]) -> Vec<Vec<f64>> {
    joints.iter().map(|&joint| vec![joint]).collect()
}

/// Pairs of joints with at least one point between them.
fn pairs(first: &[f64], second: &[f64], x: &[f64]) -> Vec<Vec<f64>> {
    let apart = |a: f64, b: f64| x.get(x.partition_point(|&point| point <= a)).is_some_and(|&point| point < b);
    let all = first.iter().flat_map(|&a| second.iter().map(move |&b| (a, b)));
    all.filter(|&(a, b)| apart(a, b)).map(|(a, b)| vec![a, b]).collect()
}

/// Scales of the exponential from a tenth to three times the range of x.
fn scales(x: &[f64]) -> Vec<Vec<f64>> {
    let range = x[x.len() - 1] - x[0];
    (0..40).map(|i| vec![range * 0.1 * 30f64.powf(f64::from(i) / 39.0)]).collect()
}

/// A regression at given joints or a given scale.
struct Regression {
    squares: f64,
    fitted: Vec<f64>,
    place: Vec<f64>,
}

fn best_of(places: Vec<Vec<f64>>, shape: Shape, x: &[f64], y: &[f64]) -> Option<Regression> {
    let at = |place: Vec<f64>| {
        let (squares, fitted) = regress(&design(shape, x, &place), y)?;
        Some(Regression { squares, fitted, place })
    };
    places.into_iter().filter_map(at).min_by(|a, b| a.squares.total_cmp(&b.squares))
}

/// Most columns of a design: of two joints.
const WIDEST: usize = 4;

/// One row per point: 1, x and a hinge per joint; or 1 and the exponential. The columns that are used come first.
fn design(shape: Shape, x: &[f64], place: &[f64]) -> (usize, Vec<[f64; WIDEST]>) {
    let hinge = |at: f64, joint: Option<&f64>| joint.map_or(0.0, |joint| (at - joint).max(0.0));
    let row = |&at: &f64| match shape {
        Shape::Saturating => [1.0, (-(at - x[0]) / place[0]).exp(), 0.0, 0.0],
        Shape::Line | Shape::TwoPieces | Shape::ThreePieces => {
            [1.0, at, hinge(at, place.first()), hinge(at, place.get(1))]
        }
    };
    (if shape == Shape::Saturating { 2 } else { 2 + place.len() }, x.iter().map(row).collect())
}

/// Least squares by the normal equations on centred, scaled columns; `None` when they are singular.
fn regress((width, rows): &(usize, Vec<[f64; WIDEST]>), y: &[f64]) -> Option<(f64, Vec<f64>)> {
    let width = *width;
    let scale: Vec<f64> = (0..width).map(|c| rows.iter().map(|r| r[c].abs()).fold(1e-300, f64::max)).collect();
    let scaled = |row: &[f64; WIDEST]| {
        let mut cells = [0.0; WIDEST];
        (0..width).for_each(|column| cells[column] = row[column] / scale[column]);
        cells
    };
    let cells: Vec<[f64; WIDEST]> = rows.iter().map(scaled).collect();
    let mut system = vec![vec![0.0; width + 1]; width];
    for (row, value) in cells.iter().zip(y) {
        for (a, equation) in system.iter_mut().enumerate() {
            for (b, coefficient) in equation.iter_mut().enumerate().take(width) {
                *coefficient += row[a] * row[b];
            }
            equation[width] += row[a] * value;
        }
    }
    let solution = solve(system)?;
    let fitted: Vec<f64> = cells.iter().map(|row| (0..width).map(|c| solution[c] * row[c]).sum()).collect();
    let squares = fitted.iter().zip(y).map(|(f, v)| (v - f).powi(2)).sum();
    Some((squares, fitted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(y: impl Fn(f64) -> f64, shape: Shape, joint: Option<f64>) {
        let x: Vec<f64> = (1..=12).map(|i| 32.0 * f64::from(i)).collect();
        let mut random = super::super::super::random::Random::new(5);
        let y: Vec<f64> = x.iter().map(|&x| y(x) + 0.1 * random.normal()).collect();
        let fits = Shape::ALL.iter().filter_map(|&shape| fit(shape, &x, &y));
        let best = fits.min_by(|a, b| a.aicc.total_cmp(&b.aicc)).expect("a fit");
        assert_eq!(best.shape, shape);
        match joint {
            Some(joint) => assert!((best.joints.last().expect("a joint") - joint).abs() < 8.0, "{best:?}"),
            None => assert!(best.joints.is_empty()),
        }
    }

    #[test]
    fn the_criterion_chooses_the_shape_that_made_the_points() {
        check(|x| 10.0 + 0.1 * x, Shape::Line, None);
        check(|x| 10.0 + 0.3 * x.min(170.0), Shape::TwoPieces, Some(170.0));
        check(|x| 0.5 * x.min(96.0) + 0.2 * x.min(256.0), Shape::ThreePieces, Some(256.0));
        check(|x| 100.0 - 80.0 * (-x / 90.0).exp(), Shape::Saturating, None);
    }

    /// Joints among thousands of places, to which steps lead: found within a gap, by a few hundred regressions.
    #[test]
    fn joints_among_many_levels_are_found_as_well() {
        let x: Vec<f64> = (1..=500).map(f64::from).collect();
        let mut random = super::super::super::random::Random::new(5);
        let y: Vec<f64> = x.iter().map(|x| x.min(130.0) + 0.4 * x.min(371.0) + 0.1 * random.normal()).collect();
        let three = fit(Shape::ThreePieces, &x, &y).expect("a fit");
        assert!((three.joints[0] - 130.0).abs() < 1.0 && (three.joints[1] - 371.0).abs() < 1.0, "{:?}", three.joints);
        let y: Vec<f64> = x.iter().map(|x| x.min(333.0) + 0.1 * random.normal()).collect();
        let two = fit(Shape::TwoPieces, &x, &y).expect("a fit");
        assert!((two.joints[0] - 333.0).abs() < 1.0, "{:?}", two.joints);
    }

    #[test]
    fn few_points_allow_few_shapes() {
        let (x, y) = ([1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 2.5, 2.6]);
        assert!(Shape::ALL.iter().all(|&shape| fit(shape, &x, &y).is_none()));
    }
}
