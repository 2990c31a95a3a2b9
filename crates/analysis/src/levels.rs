//! The levels of a window: means over its parts, the split into two levels that fit it best, and whether one of them came back.
//! Finds and tests them; what follows for the window is decided in `window`.

use super::autocorrelation::long_run_of_parts;
use super::distribution::{mean, student_quantile};

/// Parts into which a window is divided to see its noise.
const PARTS: usize = 20;

/// Fewest seconds of a level, and fewest as a share of the window.
const SHORTEST: (usize, f64) = (3, 0.03);

/// Share of the way back to the other level from which on a change has returned. A stretch next to a split goes half of the way back
/// where there is a ramp instead of a step, so that it must be well above a half.
const BACK: f64 = 0.75;

/// Probability of error at which a stretch at another level is told from its surroundings.
const APART: f64 = 0.01;

/// Begins and ends of a stretch that are tried on a side of a split, at most.
const PLACES: usize = 120;

/// Means over parts of equal length, to a second; every second belongs to one.
pub(super) fn parts(seconds: &[f64]) -> Vec<f64> {
    let (length, count) = (seconds.len(), PARTS.min(seconds.len()));
    (0..count).map(|part| mean(&seconds[part * length / count..(part + 1) * length / count])).collect()
}

/// Long-run variance of one second of a residual from which `parameters` levels were taken, and its degrees of freedom.
pub(super) fn noise_of_second(residuals: &[f64], parameters: usize) -> (f64, f64) {
    let parts = parts(residuals);
    let noise = long_run_of_parts(&parts, parameters);
    (noise.variance * residuals.len() as f64 / parts.len() as f64, noise.freedom)
}

/// Number of seconds before the split that leaves the smallest sum of squares; `centred` has the mean zero.
pub(super) fn best_split(centred: &[f64]) -> usize {
    let length = centred.len();
    let side = shortest(length);
    let sums = sums(centred);
    let gain = |at: usize| sums[at] * sums[at] / (at * (length - at)) as f64;
    (side..=length - side).map(|at| (at, gain(at))).max_by(|a, b| a.1.total_cmp(&b.1)).map_or(side, |(at, _)| at)
}

/// Whether the change at a split returned: a stretch on one of its sides is told from the rest of that side and lies at the level of
/// the other.
pub(super) fn returns(seconds: &[f64], at: usize) -> bool {
    let length = seconds.len();
    let sums = sums(seconds);
    let level = |from: usize, to: usize| (sums[to] - sums[from]) / (to - from) as f64;
    [Side { from: 0, to: at, other: level(at, length) }, Side { from: at, to: length, other: level(0, at) }]
        .iter()
        .any(|side| side.returns(seconds, &sums))
}

fn shortest(length: usize) -> usize {
    SHORTEST.0.max((SHORTEST.1 * length as f64).ceil() as usize)
}

/// Sums of the first 0, 1, 2 … values.
fn sums(values: &[f64]) -> Vec<f64> {
    let further = values.iter().scan(0.0, |sum, y| {
        *sum += y;
        Some(*sum)
    });
    std::iter::once(0.0).chain(further).collect()
}

/// The seconds on one side of a split.
struct Side {
    from: usize,
    to: usize,
    /// Level of the other side.
    other: f64,
}

/// A stretch of a side, and the level of the side without it.
struct Stretch {
    from: usize,
    to: usize,
    inside: f64,
    outside: f64,
}

impl Side {
    fn size(&self) -> usize {
        self.to - self.from
    }

    fn returns(&self, seconds: &[f64], sums: &[f64]) -> bool {
        self.nearest_stretch(sums).is_some_and(|stretch| {
            let back = (stretch.inside - stretch.outside) / (self.other - stretch.outside);
            back > BACK && self.is_apart(&stretch, seconds)
        })
    }

    /// The stretch that explains most of the side's variance of those that lie towards the other level.
    fn nearest_stretch(&self, sums: &[f64]) -> Option<Stretch> {
        let (shortest, stride) = (shortest(sums.len() - 1), (self.size() / PLACES).max(1));
        let whole = sums[self.to] - sums[self.from];
        let sign = (self.other - whole / self.size() as f64).signum();
        let (mut most, mut best) = (0.0, None);
        for from in (self.from..self.to.saturating_sub(shortest - 1)).step_by(stride) {
            for to in (from + shortest..=self.to).step_by(stride).filter(|to| to - from < self.size()) {
                let sum = sums[to] - sums[from];
                let (inside, outside) = ((to - from) as f64, (self.size() - (to - from)) as f64);
                let stretch = Stretch { from, to, inside: sum / inside, outside: (whole - sum) / outside };
                let gain = sign * (stretch.inside - stretch.outside) * (inside * outside).sqrt();
                if gain > most {
                    (most, best) = (gain, Some(stretch));
                }
            }
        }
        best
    }

    /// Whether noise as it is left in the window after all three levels leaves the stretch apart from the rest of its side. By the noise
    /// of the side alone a bend near the split would be apart.
    fn is_apart(&self, stretch: &Stretch, seconds: &[f64]) -> bool {
        let within = stretch.from..stretch.to;
        let level = |second: usize| match second {
            second if within.contains(&second) => stretch.inside,
            second if (self.from..self.to).contains(&second) => stretch.outside,
            _ => self.other,
        };
        let residuals: Vec<f64> = seconds.iter().enumerate().map(|(second, y)| y - level(second)).collect();
        let (one_second, freedom) = noise_of_second(&residuals, 3);
        let (inside, outside) = (within.len() as f64, (self.size() - within.len()) as f64);
        let error = (one_second / inside + one_second / outside).sqrt();
        (stretch.inside - stretch.outside).abs() > student_quantile(1.0 - APART / 2.0, freedom) * error
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::autoregressive;

    fn load(seed: u64, shape: impl Fn(usize) -> f64) -> Vec<f64> {
        let noise = autoregressive(seed, 330, 0.3);
        let seconds: Vec<f64> = (0..330).map(|t| shape(t) + 0.03 * noise[t]).collect();
        let centre = mean(&seconds);
        seconds.iter().map(|y| y - centre).collect()
    }

    /// Loads of a hundred in which the change at the best split returned.
    fn returned(shape: impl Fn(usize) -> f64) -> usize {
        (0..100).map(|seed| load(seed, &shape)).filter(|seconds| returns(seconds, best_split(seconds))).count()
    }

    #[test]
    fn a_level_that_comes_back_has_returned() {
        assert!(returned(|t| if (200..260).contains(&t) { 0.8 } else { 1.0 }) > 95);
        assert!(returned(|t| if (40..170).contains(&t) || t > 240 { 0.8 } else { 1.0 }) > 95);
    }

    #[test]
    fn what_stays_or_goes_on_has_not_returned() {
        assert!(returned(|t| if t < 200 { 0.8 } else { 1.0 }) < 5);
        assert!(returned(|t| 1.0 - 0.3 * (t as f64 / 330.0)) < 8);
        assert!(returned(|t| 1.0 - 0.3 * (-(t as f64) / 60.0).exp()) < 8);
        assert!(returned(|t| 0.8 + 0.1 * (t / 110) as f64) < 5);
    }

    #[test]
    fn every_second_belongs_to_a_part() {
        let nineteen: Vec<f64> = (0..19).map(|t| if t == 0 { 19.0 } else { 0.0 }).collect();
        assert_eq!(parts(&nineteen).iter().sum::<f64>(), 19.0);
        let many: Vec<f64> = (0..205).map(f64::from).collect();
        assert_eq!(parts(&many).len(), 20);
    }
}
