//! The drift of a stretch of throughput, with its interval, once the shape inside a round is removed.
//! Shared by the detector before the measurement and by the check after it; it decides nothing.

use super::autocorrelation::{LongRun, long_run, long_run_of_first_order};
use super::distribution::{mean, student_quantile};
use super::quantity::{Interval, Quantity, Unit};

/// More bins than this say nothing new about drift and cost time.
const MOST_BINS: usize = 240;

/// How carefully the noise is estimated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Care {
    /// First-order noise only: for refusing quickly.
    Screening,
    /// Trend with the block length chosen from the data: for accepting.
    Deciding,
}

/// The least-squares line through a stretch of equally spaced samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Trend {
    /// Mean of the stretch.
    pub(super) mean: f64,
    /// Rise over the whole stretch as a share of its mean; negative when falling.
    pub(super) rise: f64,
    /// Standard error of `rise`.
    pub(super) error: f64,
    /// Degrees of freedom of `error`.
    pub(super) freedom: f64,
    /// Long-run variance of the noise as a share of the squared mean, per sample.
    pub(super) noise: f64,
    /// Number of samples.
    pub(super) n: usize,
}

impl Trend {
    /// Half the width of the 95 % interval of `rise`.
    pub(super) fn half_width(&self) -> f64 {
        student_quantile(0.975, self.freedom) * self.error
    }

    /// A share over the whole stretch as a share over `horizon` samples.
    pub(super) fn scaled(&self, share: f64, horizon: usize) -> f64 {
        share * horizon as f64 / self.n as f64
    }

    /// Rise per `horizon` samples as a share of the mean, with its interval.
    pub(super) fn drift_over(&self, horizon: usize) -> Quantity {
        let (value, half) = (self.scaled(self.rise, horizon), self.scaled(self.half_width(), horizon));
        let interval = Interval::known(value - half, value + half, "least-squares slope, block-bootstrap error");
        Quantity::new(value, Unit::RATIO, self.n as u64, interval)
    }
}

/// The trend of `values`, whose length is a whole number of rounds of `round` samples, at least three.
///
/// The mean profile of a round is removed first, so that a checkpoint's saw-tooth is neither drift nor
/// noise. With fewer than three rounds, or a mean that is not positive, there is no trend.
pub(super) fn trend(values: &[f64], round: usize, care: Care) -> Option<Trend> {
    let rounds = values.len() / round.max(1);
    let centre = mean(values);
    if rounds < 3 || centre <= 0.0 || !centre.is_finite() {
        return None;
    }
    let table = CriticalValues::of(values, round, rounds);
    let slope = table.slope();
    let residuals = table.residuals(slope);
    let estimate = match care {
        Care::Screening => long_run_of_first_order,
        Care::Deciding => long_run,
    };
    let noise: LongRun = estimate(&residuals, table.phases + 1);
    let span = table.rows() as f64;
    let error = span * (noise.variance / (table.phases as f64 * table.spread())).sqrt();
    let samples_in_bin = values.len() as f64 / residuals.len() as f64;
    Some(Trend {
        mean: centre,
        rise: slope * span / centre,
        error: error / centre,
        freedom: noise.freedom,
        noise: noise.variance * samples_in_bin / (centre * centre),
        n: values.len(),
    })
}

/// Bin means, one row per round (or per group of rounds), one column per phase of the round.
struct CriticalValues {
    bins: Vec<f64>,
    phases: usize,
}

impl CriticalValues {
    fn of(values: &[f64], round: usize, rounds: usize) -> Self {
        let phases = (MOST_BINS / rounds).clamp(1, round);
        let rows = rounds.min(MOST_BINS);
        let cut = |row: usize, phase: usize| (row * rounds / rows) * round + phase * round / phases;
        let mut bins = Vec::with_capacity(rows * phases);
        for row in 0..rows {
            for phase in 0..phases {
                let end = if phase + 1 == phases { cut(row + 1, 0) } else { cut(row, phase + 1) };
                bins.push(mean(&values[cut(row, phase)..end]));
            }
        }
        Self { bins, phases }
    }

    fn rows(&self) -> usize {
        self.bins.len() / self.phases
    }

    /// Distance of a row from the middle row.
    fn place(&self, row: usize) -> f64 {
        row as f64 - (self.rows() as f64 - 1.0) / 2.0
    }

    /// Sum of squared distances of the rows from the middle.
    fn spread(&self) -> f64 {
        (0..self.rows()).map(|row| self.place(row).powi(2)).sum()
    }

    /// Least-squares slope per row of the row means, which equals the slope within phases.
    fn slope(&self) -> f64 {
        let rows = self.bins.chunks_exact(self.phases).map(mean).enumerate();
        rows.map(|(row, y)| self.place(row) * y).sum::<f64>() / self.spread()
    }

    fn residuals(&self, slope: f64) -> Vec<f64> {
        let rows = self.rows() as f64;
        let mut profile = vec![0.0; self.phases];
        for (index, bin) in self.bins.iter().enumerate() {
            profile[index % self.phases] += bin / rows;
        }
        let expected = |index: usize| profile[index % self.phases] + slope * self.place(index / self.phases);
        self.bins.iter().enumerate().map(|(index, bin)| bin - expected(index)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::autoregressive;

    /// Share of trials in which the interval of the rise covers the true rise, in percent.
    fn coverage(n: usize, round: usize, tooth: f64, rise: f64) -> f64 {
        let trials = 600;
        let covered = (0..trials)
            .filter(|&seed| {
                let noise = autoregressive(seed, n, 0.5);
                let values: Vec<f64> = (0..n)
                    .map(|t| {
                        let dip = if t % round >= round * 3 / 5 { tooth } else { 0.0 };
                        10.0 * (1.0 + rise * (t as f64 / n as f64 - 0.5) + 0.05 * noise[t]) - 10.0 * dip
                    })
                    .collect();
                let found = trend(&values, round, Care::Deciding).expect("a trend");
                (found.rise * found.mean / 10.0 - rise).abs() <= found.half_width() * found.mean / 10.0
            })
            .count();
        100.0 * covered as f64 / trials as f64
    }

    #[test]
    fn the_interval_of_the_drift_covers_also_under_a_saw_tooth() {
        for (n, round, tooth, rise) in
            [(30, 1, 0.0, 0.0), (60, 2, 0.0, 0.1), (300, 60, 0.0, 0.1), (1500, 300, 0.25, 0.05)]
        {
            let covered = coverage(n, round, tooth, rise);
            println!("drift, n {n}, rounds of {round} s: nominal 95 % covers {covered:.1} %");
            assert!((91.5..=98.8).contains(&covered), "n {n}: {covered}");
        }
    }

    #[test]
    fn a_straight_line_is_found_exactly() {
        let values: Vec<f64> = (0..100).map(|t| 100.0 + f64::from(t)).collect();
        let found = trend(&values, 10, Care::Deciding).expect("a trend");
        assert!((found.rise * found.mean - 100.0).abs() < 1e-9, "{found:?}");
        assert!(trend(&values, 50, Care::Deciding).is_none(), "two rounds have no trend");
        assert!(trend(&[0.0; 100], 10, Care::Deciding).is_none(), "no throughput has no trend");
    }
}
