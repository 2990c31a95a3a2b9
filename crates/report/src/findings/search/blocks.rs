//! Loads of a search that were measured side by side: the throughput of each under conditions common to all, and as a share of the largest.
//! May not choose a load.

use super::ChosenLoad;
use crate::findings::host::disturbance::HostUse;
use crate::findings::point::{PointFindings, Verdict};
use crate::findings::run::RunFindings;
use proofload_analysis::distribution::student_quantile;
use proofload_analysis::incomplete_blocks::{BlockVisit, IncompleteBlocks};
use proofload_analysis::quantity::{Interval, Quantity, Unit};
use proofload_analysis::search::{MeasuredLoad, Outcome};

/// How the interval comes about.
const METHOD: &str = "log ratios within blocks of some of the loads, Student's t";

/// Half-width of a 95 % interval in standard errors.
const HALF_WIDTH: f64 = 1.96;

/// The runs of a search in their blocks. Levels are places in the list of points.
pub(crate) struct SideBySide<'a> {
    points: &'a [PointFindings],
    compared: Option<IncompleteBlocks>,
    /// Block and point of every finished run.
    runs: Vec<(usize, usize)>,
    /// Point with the largest throughput.
    largest: Option<usize>,
}

impl<'a> SideBySide<'a> {
    /// Compares the points of one search.
    pub(crate) fn of(points: &'a [PointFindings], path: &[ChosenLoad]) -> Self {
        let places = || path.iter().map(|chosen| chosen.point);
        let runs = || places().flat_map(|place| points[place].runs.iter().map(move |run| (place, run)));
        let visits: Vec<BlockVisit> = runs().filter_map(|(place, run)| visit(place, run)).collect();
        let compared = IncompleteBlocks::of(&visits);
        let mean = |place: usize| compared.as_ref()?.mean(place);
        let largest = places().filter(|place| mean(*place).is_some());
        let largest = largest.max_by(|a, b| mean(*a).partial_cmp(&mean(*b)).unwrap_or(std::cmp::Ordering::Equal));
        let block = |(place, run): (usize, &RunFindings)| Some((run.run.block? as usize, place));
        Self { points, largest, runs: runs().filter_map(block).collect(), compared }
    }

    /// Number of blocks.
    pub(crate) fn blocks(&self) -> usize {
        let mut blocks: Vec<usize> = self.runs.iter().map(|(block, _)| *block).collect();
        blocks.sort_unstable();
        blocks.dedup();
        blocks.len()
    }

    /// Adds to each load what it is of the largest.
    pub(crate) fn tell(&self, path: &mut [ChosenLoad]) {
        for chosen in path {
            chosen.of_largest = Some(self.of_largest(chosen.point));
        }
    }

    /// What was measured, for the search. A load without a comparable run is void as often as it was measured.
    pub(crate) fn tried(&self, path: &[ChosenLoad], repetitions: usize) -> Vec<MeasuredLoad> {
        let measured = |chosen: &ChosenLoad| {
            let place = chosen.point;
            match self.outcome(place) {
                Some(outcome) => {
                    let visits = self.compared.as_ref().map_or(0, |compared| compared.visits(place));
                    vec![MeasuredLoad { load: chosen.load, times: visits.div_ceil(repetitions), outcome }]
                }
                None => {
                    let void = Outcome::Void { why: self.why_void(place) };
                    let times = self.runs.iter().filter(|(_, of)| *of == place).count().div_ceil(repetitions);
                    vec![MeasuredLoad { load: chosen.load, times: 1, outcome: void }; times]
                }
            }
        };
        path.iter().flat_map(measured).collect()
    }

    fn outcome(&self, place: usize) -> Option<Outcome> {
        let (value, share) = (self.compared.as_ref()?.mean(place)?, self.of_largest(place).ok()?);
        let scale = value / share.value();
        let bounds = share.interval().bounds().map(|(low, high)| (low * scale, high * scale));
        Some(Outcome::Measured { value, bounds })
    }

    /// Throughput of a point over the largest.
    fn of_largest(&self, place: usize) -> Result<Quantity, String> {
        let compared = self.compared.as_ref().ok_or_else(|| "no run can be compared".to_owned())?;
        let difference = self.largest.and_then(|largest| compared.difference(place, largest));
        let difference = difference.ok_or_else(|| "it shares no complete block with another load".to_owned())?;
        let half = student_quantile(0.975, difference.freedom) * difference.error;
        let interval = if half.is_finite() {
            Interval::known((difference.log - half).exp(), (difference.log + half).exp(), METHOD)
        } else {
            Interval::none("no window has an error estimate, and there are too few blocks".to_owned())
        };
        Ok(Quantity::new(difference.log.exp(), Unit::RATIO, compared.visits(place) as u64, interval))
    }

    fn why_void(&self, place: usize) -> String {
        match &self.points[place].verdict {
            verdict @ (Verdict::Void(_) | Verdict::NotRun(_)) => verdict.reasons().join("; "),
            _ => "the load compared with it was void".to_owned(),
        }
    }
}

/// A run as a visit of its block; `None` for one that cannot be compared. Throughput that only moved can: a ratio needs no rest.
fn visit(level: usize, run: &RunFindings) -> Option<BlockVisit> {
    let block = run.run.block? as usize;
    (run.voids.is_empty() || run.only_moved()).then(|| BlockVisit {
        block,
        level,
        throughput: run.throughput().value(),
        error: run.judged.as_ref().map_or(f64::NAN, |judged| judged.mean.relative_half_width() / HALF_WIDTH),
        taken: run.host.as_ref().and_then(HostUse::taken_beside_limits),
    })
}
