//! The ratio of two independent results: its interval at any level, how far from 1 it would have to be to be shown, and p values
//! that agree with the interval. On the logarithmic scale, so that exchanging the two gives the reciprocal. No chance, no rendering.

use super::blocks::{BlockDifference, Blocks, Visit};
use super::bootstrap::Estimate;
use super::distribution::{student_quantile, variance};
use super::latency::Quantile;
use super::rank_shift::RankShift;

/// Levels below this are not told apart.
const SMALLEST_LEVEL: f64 = 1e-12;

/// What one result is known by within its window.
#[derive(Debug, Clone)]
pub enum Within {
    /// Standard error of the logarithm, and its degrees of freedom.
    Student {
        /// Standard error.
        error: f64,
        /// Degrees of freedom.
        freedom: f64,
    },
    /// A percentile of a merged histogram.
    Quantile(Quantile),
}

impl Within {
    /// Uncertainty of a mean; the error says why there is none.
    pub fn of_mean(mean: &Estimate) -> Result<Self, String> {
        match &mean.missing {
            Some(why) => Err(why.clone()),
            None => Self::of_error(mean.value, mean.standard_error, mean.freedom),
        }
    }

    /// Uncertainty of a value with a standard error in its own unit.
    pub fn of_error(value: f64, error: f64, freedom: f64) -> Result<Self, String> {
        if value > 0.0 && error.is_finite() {
            return Ok(Self::Student { error: error / value, freedom });
        }
        Err("it is not positive".to_owned())
    }

    /// Distances of the bounds from the value on the logarithmic scale, down and up.
    fn distances(&self, level: f64) -> (f64, f64) {
        match self {
            Self::Student { error, freedom } => {
                let half = student_quantile(1.0 - level / 2.0, *freedom) * error;
                (half, half)
            }
            Self::Quantile(quantile) => {
                let (low, high) = quantile.bounds(level);
                let value = quantile.value() as f64;
                ((value / low).ln().max(0.0), (high / value).ln().max(0.0))
            }
        }
    }

    /// Its standard error on the logarithmic scale, and degrees of freedom; of a percentile, half of the 68 % interval.
    fn error(&self) -> (f64, f64) {
        match self {
            Self::Student { error, freedom } => (*error, *freedom),
            Self::Quantile(quantile) => {
                let (down, up) = self.distances(0.317);
                (f64::midpoint(down, up), quantile.freedom())
            }
        }
    }
}

/// A result: of all its runs together, of each run, and what is known of it within the window of its only run.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The value of all runs together; positive.
    pub value: f64,
    /// The value of each run.
    pub runs: Vec<f64>,
    /// Spread within the only run; of no use where there are several.
    pub within: Result<Within, String>,
}

/// Which spread an interval rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spread {
    /// Spread between the runs of each side.
    BetweenRuns,
    /// One side has a single run; the spread between runs is taken from the other.
    OfTheOther,
    /// Both sides have a single run: only the spread within its window is seen.
    WithinWindows,
    /// Both sides were measured in turns: the spread of the ratios inside blocks.
    InsideBlocks,
    /// Both sides did the same pieces of work once: the spread of the ratios from piece to piece.
    AcrossPairs,
    /// Both sides were measured at once: seconds that both have, or the spread of runs.
    AtOnce,
    /// The ranks of the values of both sides, whatever their distribution.
    Ranks,
}

impl Spread {
    /// The word in machine-readable output.
    pub const fn word(self) -> &'static str {
        match self {
            Self::BetweenRuns => "between runs",
            Self::OfTheOther => "between runs of the other record",
            Self::WithinWindows => "within the window",
            Self::InsideBlocks => "of the ratios inside blocks",
            Self::AcrossPairs => "of the ratios of pairs",
            Self::AtOnce => "of the ratio over the same seconds",
            Self::Ranks => "of ranks",
        }
    }
}

/// The ratio of two independent results, candidate over baseline.
#[derive(Debug, Clone)]
pub struct Contrast {
    log: f64,
    shape: ContrastShape,
    /// Distances by which what still moved displaces the logarithm at most, down and up.
    moved: Option<(f64, f64)>,
    /// Which spread it rests on.
    pub spread: Spread,
}

#[derive(Debug, Clone)]
enum ContrastShape {
    /// Student's distribution around the logarithm.
    Student { error: f64, freedom: f64 },
    /// Two intervals that need not be symmetrical: candidate, baseline.
    Apart(Within, Within),
    /// The shift between two samples of any distribution.
    Ranks(RankShift),
}

impl Contrast {
    /// Candidate over baseline. With several runs on both sides the error is the spread between runs, which holds the spread
    /// within them already (Kalibera and Jones, ISMM 2013), with degrees of freedom by Welch and Satterthwaite.
    ///
    /// # Errors
    /// Why the two cannot be compared, as a lower-case fragment.
    pub fn new(candidate: &Outcome, baseline: &Outcome) -> Result<Self, String> {
        let positive =
            |outcome: &Outcome| outcome.runs.iter().chain([&outcome.value]).all(|x| *x > 0.0 && x.is_finite());
        if !positive(candidate) || !positive(baseline) {
            return Err("a value is not positive".to_owned());
        }
        let log = (candidate.value / baseline.value).ln();
        let (spread, shape) = match (candidate.runs.len(), baseline.runs.len()) {
            (0, _) | (_, 0) => return Err("no run was completed".to_owned()),
            (1, 1) => (Spread::WithinWindows, within_windows(candidate.within.clone()?, baseline.within.clone()?)),
            (1, _) => (Spread::OfTheOther, of_the_other(&candidate.within, &baseline.runs)),
            (_, 1) => (Spread::OfTheOther, of_the_other(&baseline.within, &candidate.runs)),
            _ => (Spread::BetweenRuns, welch(between(&candidate.runs), between(&baseline.runs))),
        };
        Ok(Self { log, shape, moved: None, spread })
    }

    /// Makes one of two sides whose runs were measured in turns: their runs by block, in the same order, with what others took of the processor
    /// and by how much each still moved.
    ///
    /// # Errors
    /// Fewer than two blocks, sides of different lengths, a value that is not positive.
    pub fn in_turns(candidate: &[Visit], baseline: &[Visit]) -> Result<Self, String> {
        let blocks = Blocks::of(&[baseline.to_vec(), candidate.to_vec()])
            .ok_or("the two were not measured in at least two complete blocks with positive values")?;
        let BlockDifference { log, error, freedom } = blocks.difference(1, 0);
        let moved = Some(blocks.widened(0.0, 1, 0));
        Ok(Self { log, shape: ContrastShape::Student { error, freedom }, moved, spread: Spread::InsideBlocks })
    }

    /// Makes one of pairs, such as the times of the same queries on both sides: how much the ratio differs from pair to pair, which says
    /// nothing of how much it would differ from run to run.
    ///
    /// # Errors
    /// Fewer than two pairs, sides of different lengths, a value that is not positive.
    pub fn of_pairs(candidate: &[f64], baseline: &[f64]) -> Result<Self, String> {
        let visits = |values: &[f64]| -> Vec<Visit> {
            values.iter().map(|value| Visit { throughput: *value, taken: None, ahead: 0.0 }).collect()
        };
        let blocks = Blocks::of(&[visits(baseline), visits(candidate)])
            .ok_or("the two do not share at least two pairs with positive values")?;
        let BlockDifference { log, error, freedom } = blocks.difference(1, 0);
        Ok(Self { log, shape: ContrastShape::Student { error, freedom }, moved: None, spread: Spread::AcrossPairs })
    }

    /// Makes one of two sides that were measured at once.
    pub const fn at_once(found: BlockDifference) -> Self {
        let BlockDifference { log, error, freedom } = found;
        Self { log, shape: ContrastShape::Student { error, freedom }, moved: None, spread: Spread::AtOnce }
    }

    /// Makes one of values of any distribution, such as outages: by the test of Mann and Whitney and the estimate and interval that belong
    /// to it.
    ///
    /// # Errors
    /// A side with fewer than four values, a value that is not positive.
    pub fn of_ranks(candidate: &[f64], baseline: &[f64]) -> Result<Self, String> {
        let shift = RankShift::of(candidate, baseline)?;
        Ok(Self { log: shift.estimate(), shape: ContrastShape::Ranks(shift), moved: None, spread: Spread::Ranks })
    }

    /// The ratio.
    pub fn ratio(&self) -> f64 {
        self.log.exp()
    }

    /// The interval of the ratio with confidence 1 − `level`; 0 or infinite where an end is unknown.
    pub fn bounds(&self, level: f64) -> (f64, f64) {
        let (down, up) = self.reach(level);
        ((self.log - up).exp(), (self.log + down).exp())
    }

    /// Ratios that would have been shown to differ from 1 at this level, with these errors: any up to the first, any from
    /// the second. A true ratio of that size would have been shown about every other time.
    pub fn shown_from(&self, level: f64) -> (f64, f64) {
        let (down, up) = self.reach(level);
        ((-down).exp(), up.exp())
    }

    /// How far the logarithm must lie below and above a limit to be told from it.
    ///
    /// Source for unequal distances: Zou and Donner, "Construction of confidence limits about effect measures: a general
    /// approach", Statistics in Medicine 27 (2008).
    fn reach(&self, level: f64) -> (f64, f64) {
        let (down, up) = self.reach_of_noise(level);
        match self.moved {
            Some((below, above)) => (down.hypot(above), up.hypot(below)),
            None => (down, up),
        }
    }

    /// The same without what still moved.
    fn reach_of_noise(&self, level: f64) -> (f64, f64) {
        match &self.shape {
            ContrastShape::Student { error, freedom } => {
                let half = student_quantile(1.0 - level / 2.0, *freedom) * error;
                (half, half)
            }
            ContrastShape::Apart(candidate, baseline) => {
                let (candidate_down, candidate_up) = candidate.distances(level);
                let (baseline_down, baseline_up) = baseline.distances(level);
                (candidate_up.hypot(baseline_down), candidate_down.hypot(baseline_up))
            }
            ContrastShape::Ranks(shift) => {
                let (low, high) = shift.bounds(level);
                (high - self.log, self.log - low)
            }
        }
    }

    /// The two-sided p value that the ratio is 1: the level at which its interval just leaves out 1.
    pub fn p(&self) -> f64 {
        self.level_beyond(self.log)
    }

    /// The one-sided p value that the ratio is at most `limit`; 1 when it does not exceed it.
    pub fn p_above(&self, limit: f64) -> f64 {
        let distance = self.log - limit.ln();
        if distance <= 0.0 { 1.0 } else { self.level_beyond(distance) / 2.0 }
    }

    /// The one-sided p value that the ratio is at least `limit`; 1 when it does not fall below it.
    pub fn p_below(&self, limit: f64) -> f64 {
        let distance = self.log - limit.ln();
        if distance >= 0.0 { 1.0 } else { self.level_beyond(distance) / 2.0 }
    }

    /// The two-sided level at which the interval reaches as far as this distance, by bisection on its logarithm.
    fn level_beyond(&self, distance: f64) -> f64 {
        let told_apart = |level: f64| {
            let (down, up) = self.reach(level);
            if distance < 0.0 { -distance > down } else { distance > up }
        };
        if !told_apart(1.0) {
            return 1.0;
        }
        let (mut low, mut high) = (SMALLEST_LEVEL.ln(), 0.0f64);
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if told_apart(middle.exp()) { high = middle } else { low = middle }
        }
        high.exp()
    }
}

/// Standard error of the mean of logarithms, and its degrees of freedom.
fn between(runs: &[f64]) -> (f64, f64) {
    let count = runs.len() as f64;
    (deviation(runs) / count.sqrt(), count - 1.0)
}

fn deviation(runs: &[f64]) -> f64 {
    variance(&runs.iter().map(|value| value.ln()).collect::<Vec<_>>()).sqrt()
}

fn within_windows(candidate: Within, baseline: Within) -> ContrastShape {
    match (&candidate, &baseline) {
        (Within::Student { error: one, freedom: of_one }, Within::Student { error: other, freedom: of_other }) => {
            welch((*one, *of_one), (*other, *of_other))
        }
        _ => ContrastShape::Apart(candidate, baseline),
    }
}

/// One run against several: its spread between runs is taken to be theirs, and never less than that within its window.
fn of_the_other(single: &Result<Within, String>, runs: &[f64]) -> ContrastShape {
    let count = runs.len() as f64;
    let spread = deviation(runs);
    match single.as_ref().map(Within::error) {
        Ok((within, freedom)) if within > spread => welch((within, freedom), between(runs)),
        _ => ContrastShape::Student { error: spread * (1.0 + 1.0 / count).sqrt(), freedom: count - 1.0 },
    }
}

fn welch((one, of_one): (f64, f64), (other, of_other): (f64, f64)) -> ContrastShape {
    let (a, b) = (one * one, other * other);
    let freedom = if a + b > 0.0 { (a + b).powi(2) / (a * a / of_one + b * b / of_other) } else { 1.0 };
    ContrastShape::Student { error: (a + b).sqrt(), freedom }
}

#[cfg(test)]
mod tests;
