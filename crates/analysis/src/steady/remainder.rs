//! The exponential-remainder bound: how far the coming measurement would stay from the final level if
//! the approach is y(t) = a − b e^(−t/τ). A fit over a grid of τ; linear algebra only.

use super::super::distribution::student_quantile;
use super::super::quantity::{Interval, Quantity, Unit};

/// Bins of the fit; more do not sharpen it.
const MOST_BINS: usize = 40;
/// Time constants tried, spaced evenly on the logarithmic scale.
const TIME_CONSTANTS: usize = 24;
/// How often time constants between the neighbours of the best one are tried, ever finer.
const REFINEMENTS: usize = 2;

/// Time constants beyond the fitted stretch, as multiples of it, tried where something still moves.
const SLOWER: [f64; 4] = [1.5, 2.0, 3.0, 4.0];
/// How much worse than just acceptable a slow approach must fit before its end counts as in sight; the
/// question is asked again at each look, so once in twenty is too often.
const CLEARLY_WORSE: f64 = 2.0;
/// Standard errors of the shortfall beyond which something still moves.
const SIGNIFICANT: f64 = 2.5;

/// What the fit needs to know beside the samples.
#[derive(Clone, Copy, Debug)]
pub(super) struct Question {
    /// Round length in samples.
    pub(super) round: usize,
    /// Samples in the shortest stretch that may be fitted.
    pub(super) shortest: usize,
    /// Length of the coming measurement in samples.
    pub(super) measure: usize,
    /// Long-run variance per sample, in squared units of the samples, from the window under judgement.
    pub(super) noise: f64,
    /// Degrees of freedom of `noise`.
    pub(super) freedom: f64,
}

/// What the fit says of the coming measurement.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Remainder {
    /// Expected shortfall as a share of the final level.
    pub(super) shortfall: Quantity,
    /// Time constants as long as the stretch observed clearly do not fit: the curve is seen to bend.
    pub(super) end_in_sight: bool,
}

/// Expected shortfall over the coming measurement as a share of the final level:
/// (b/a)(τ/W) e^(−t/τ) (1 − e^(−W/τ)), with the 95 % profile-likelihood interval over b and τ. τ is
/// searched up to the length of the fitted stretch, and up to four times that where the stretch still
/// shows a movement beyond its noise: a straight fall or rise, however small, is then taken for the
/// beginning of a long one.
///
/// One exponential cannot describe a jump followed by a level, so the fit uses the longest of the whole
/// history, its last half, quarter … that the curve describes within the noise; memory-less decay makes
/// each of them a valid fit.
pub(super) fn remainder(history: &[f64], question: &Question) -> Option<Remainder> {
    let mut length = history.len() / question.round * question.round;
    loop {
        let bins = bins(&history[history.len() - length..], question.round);
        let fit = Fit::of(&bins, length as f64, question)?;
        let next = (length / 2).div_ceil(question.round) * question.round;
        if fit.adequate || next < question.shortest || next >= length {
            return Some(fit.remainder(question, length));
        }
        length = next;
    }
}

/// Means of equal groups of rounds, at most [`MOST_BINS`], ending at the last sample.
fn bins(values: &[f64], round: usize) -> Vec<f64> {
    let rounds = values.len() / round;
    let group = rounds.div_ceil(MOST_BINS).max(1) * round;
    let skipped = values.len() % group;
    values[skipped..].chunks_exact(group).map(super::super::distribution::mean).collect()
}

/// One time constant's best line a − b x with x = e^((end − t)/τ), so that b is the shortfall at the end.
#[derive(Clone, Copy, Debug)]
struct Line {
    tau: f64,
    level: f64,
    shortfall: f64,
    shortfall_error: f64,
    squares: f64,
    /// Mean of e^(−t/τ) over the coming measurement.
    share: f64,
}

struct Fit {
    lines: Vec<Line>,
    variance: f64,
    adequate: bool,
}

impl Fit {
    fn of(bins: &[f64], length: f64, question: &Question) -> Option<Self> {
        let width = length / bins.len() as f64;
        let at = |tau: f64| line(bins, width, tau, question.measure as f64);
        let grid = |from: f64, step: f64| (0..TIME_CONSTANTS).map(move |i| from * (step * i as f64).exp());
        let mut step = (2.0 * bins.len() as f64).ln() / (TIME_CONSTANTS - 1) as f64;
        let mut lines: Vec<Line> = grid(width / 2.0, step).filter_map(at).collect();
        for _ in 0..REFINEMENTS {
            let best = lines.iter().min_by(|a, b| a.squares.total_cmp(&b.squares))?;
            let from = best.tau * (-step).exp();
            step *= 2.0 / (TIME_CONSTANTS - 1) as f64;
            lines.extend(grid(from, step).filter(|&tau| tau <= length).filter_map(at));
        }
        let best = lines.iter().map(|line| line.squares).fold(f64::INFINITY, f64::min);
        let degrees = bins.len() as f64 - 3.0;
        if lines.is_empty() || degrees < 1.0 {
            return None;
        }
        let expected = question.noise / width;
        let looseness = 1.5 * (degrees + 3.0 * (2.0 * degrees).sqrt());
        let variance = expected.max(best / degrees);
        let still_moving =
            at(length).is_some_and(|line| line.shortfall.abs() > SIGNIFICANT * line.shortfall_error * variance.sqrt());
        if still_moving {
            lines.extend(SLOWER.iter().filter_map(|factor| at(factor * length)));
        }
        Some(Self { variance, adequate: best <= looseness * expected, lines })
    }

    fn remainder(&self, question: &Question, length: usize) -> Remainder {
        let best = self.lines.iter().min_by(|a, b| a.squares.total_cmp(&b.squares));
        let best = best.copied().expect("a fit has at least one line");
        let reach = student_quantile(0.975, question.freedom.max(3.0)).powi(2);
        let worse = |line: &Line| (line.squares - best.squares) / self.variance.max(f64::MIN_POSITIVE);
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for line in &self.lines {
            let spare = reach - worse(line);
            if spare >= 0.0 {
                let half = line.shortfall_error * (spare * self.variance).sqrt();
                let scale = line.share / line.level;
                low = low.min((line.shortfall - half) * scale);
                high = high.max((line.shortfall + half) * scale);
            }
        }
        let mut slow = self.lines.iter().filter(|line| line.tau > 0.999 * length as f64);
        let value = best.shortfall * best.share / best.level;
        let interval = Interval::known(low, high, "exponential approach, profile likelihood");
        Remainder {
            shortfall: Quantity::new(value, Unit::RATIO, length as u64, interval),
            end_in_sight: slow.all(|line| worse(line) > CLEARLY_WORSE * reach),
        }
    }
}

/// The least-squares line for one time constant; `None` when it is degenerate or the level not positive.
fn line(bins: &[f64], width: f64, tau: f64, measure: f64) -> Option<Line> {
    let n = bins.len() as f64;
    // The mean of e^((end − t)/τ) over a bin of `width` that ends `later` bins before the end.
    let in_bin = tau / width * (width / tau).exp_m1();
    let x = |index: usize| in_bin * ((bins.len() - 1 - index) as f64 * width / tau).exp();
    let (mut sx, mut sy) = (0.0, 0.0);
    for (index, y) in bins.iter().enumerate() {
        sx += x(index);
        sy += y;
    }
    let (mx, my) = (sx / n, sy / n);
    let (mut sxx, mut sxy, mut syy) = (0.0, 0.0, 0.0);
    for (index, y) in bins.iter().enumerate() {
        let (dx, dy) = (x(index) - mx, y - my);
        sxx += dx * dx;
        sxy += dx * dy;
        syy += dy * dy;
    }
    if sxx <= 0.0 || !sxx.is_finite() {
        return None;
    }
    let shortfall = -sxy / sxx;
    let level = my + shortfall * mx;
    (level > 0.0).then_some(Line {
        tau,
        level,
        shortfall,
        shortfall_error: sxx.sqrt().recip(),
        squares: (syy - sxy * sxy / sxx).max(0.0),
        share: tau / measure * -(-measure / tau).exp_m1(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::autoregressive;

    fn question(noise: f64) -> Question {
        Question { round: 60, shortest: 300, measure: 600, noise, freedom: 50.0 }
    }

    #[test]
    fn a_pure_exponential_gives_the_closed_form() {
        let (tau, at) = (900.0, 3_600);
        let values: Vec<f64> = (0..at).map(|t| 1.0 - 0.5 * (-(f64::from(t) + 0.5) / tau).exp()).collect();
        let found = remainder(&values, &question(1e-6)).expect("a fit");
        assert!(found.end_in_sight);
        let (w, t) = (600.0, f64::from(at));
        let expected = 0.5 * (tau / w) * (-t / tau).exp() * (1.0 - (-w / tau).exp());
        assert!(
            (found.shortfall.value() - expected).abs() < 0.05 * expected,
            "{} against {expected}",
            found.shortfall.value()
        );
    }

    #[test]
    fn bounds_hold_in_simulation() {
        let trials = 200;
        let tau = 1_200.0;
        let mut below = 0;
        for seed in 0..trials {
            let noise = autoregressive(seed, 3_000, 0.5);
            let values: Vec<f64> =
                (0..3_000).map(|t| 1.0 - 0.6 * (-(t as f64) / tau).exp() + 0.05 * noise[t]).collect();
            let truth = 0.6 * (tau / 600.0) * (-3_000.0 / tau).exp() * (1.0 - (-600.0 / tau).exp());
            let found = remainder(&values, &question(0.0025 * 3.0)).expect("a fit");
            let (_, high) = found.shortfall.interval().bounds().expect("bounds");
            below += usize::from(truth <= high);
        }
        println!("remainder: upper bound holds in {below} of {trials}");
        assert!(below >= 180, "{below} of {trials}");
    }

    #[test]
    fn a_jump_does_not_blind_the_fit() {
        let noise = autoregressive(4, 4_000, 0.5);
        let values: Vec<f64> = (0..4_000).map(|t| if t < 1_000 { 0.6 } else { 1.0 } + 0.01 * noise[t]).collect();
        let found = remainder(&values[..3_000], &question(1e-4 * 3.0)).expect("a fit");
        let (low, high) = found.shortfall.interval().bounds().expect("bounds");
        assert!(low > -0.02 && high < 0.02, "[{low}, {high}]");
    }
}
