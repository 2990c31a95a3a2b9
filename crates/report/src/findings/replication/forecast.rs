//! What a mode of replication should add to a transaction, from commits that were calibrated before the load, beside what it added. May not
//! say why they differ beyond the stage that stands out.

use super::time_split::MILLISECONDS;
use crate::findings::estimate::within_the_whole;
use crate::findings::evaluate::Findings;
use crate::findings::level::Measured;
use crate::findings::point::PointFindings;
use crate::metrics::{LatencyStatistic, MetricKey};
use crate::workloads::Workload;
use proofload_analysis::order_statistics::median;
use proofload_analysis::quantity::{Interval, Quantity, Unit};
use proofload_model::commit_levels::{CommitCalibration, CommitLevel};
use proofload_model::events::RunEvent;
use proofload_model::replication::ReplicationMode;
use proofload_model::samples::ALL_KINDS;
use proofload_model::settings::setting;
use proofload_model::study::values_of;

/// Share of the forecast by which the measured may differ from it and still count as explained.
const EXPLAINED_WITHIN: f64 = 0.2;

/// How the interval of a difference comes about.
const METHOD: &str = "both intervals combined in quadrature";

/// A commit by what it waits for.
#[derive(Debug, Clone, PartialEq)]
pub struct CommitTime {
    /// What it waits for.
    pub level: CommitLevel,
    /// Its median time, ms.
    pub time: Quantity,
    /// Median of what it took more than a local one of the same round, ms; `None` of that one itself.
    pub added: Option<Quantity>,
}

/// Forecast and measured of one point beside the one without standbys.
#[derive(Debug, Clone, PartialEq)]
pub struct Forecast {
    /// What a commit should take more than without standbys, ms.
    pub commit: Quantity,
    /// Share of transactions that write.
    pub writes: f64,
    /// What a transaction should take more on average, ms.
    pub added: Quantity,
    /// Comparison with the point without standbys, or why there is none.
    pub beside: Result<Beside, String>,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Beside {
    /// Mean response time that was forecast, ms.
    pub response: Quantity,
    /// Throughput that was forecast, % of that without standbys.
    pub kept: Quantity,
    /// What a transaction took more than without standbys, ms.
    pub measured: Quantity,
    /// The rest: measured less forecast, ms.
    pub excess: Quantity,
}

impl Beside {
    /// Whether wire and flush explain what the mode added.
    pub fn is_explained(&self, forecast: &Quantity) -> bool {
        let (low, high) = self.excess.interval().bounds().unwrap_or((self.excess.value(), self.excess.value()));
        (low..=high).contains(&0.0) || self.excess.value().abs() <= EXPLAINED_WITHIN * forecast.value()
    }
}

/// The calibration that holds for a point, with its rounds; `None` where none was made.
pub fn calibration_of<'r>(findings: &Findings<'r>, point: &PointFindings) -> Option<&'r CommitCalibration> {
    let found = |event: &RunEvent| match event {
        RunEvent::CommitsCalibrated(found) => Some(found.key.clone()),
        _ => None,
    };
    let key = point.runs.iter().find_map(|run| findings.finished(run.run.index)?.last_event(found))?;
    findings.record.events.iter().find_map(|event| match &event.event {
        RunEvent::CommitsCalibrated(one) if one.key == key && !one.rounds.is_empty() => Some(one),
        _ => None,
    })
}

/// Every level of a calibration.
pub fn commit_times(calibration: &CommitCalibration) -> Vec<CommitTime> {
    let milliseconds = |quantity: Quantity| quantity.scaled(1e-6, MILLISECONDS);
    let nanoseconds = Unit::NANOSECONDS;
    let one = |level: &CommitLevel| {
        let time = milliseconds(median(&calibration.times(*level), nanoseconds.clone())?);
        let added = median(&calibration.differences(*level, CommitLevel::Local), nanoseconds.clone());
        let added = added.filter(|_| *level != CommitLevel::Local).map(milliseconds);
        Some(CommitTime { level: *level, time, added })
    };
    calibration.levels.iter().filter_map(one).collect()
}

/// The forecast for a point whose commits wait; `None` for others, and where nothing was calibrated.
pub(crate) fn forecast(
    findings: &Findings<'_>,
    point: &PointFindings,
    mode: ReplicationMode,
    alone: Result<&PointFindings, String>,
) -> Option<Forecast> {
    let calibration = calibration_of(findings, point).filter(|_| mode.waits())?;
    let commit = commit_times(calibration)
        .into_iter()
        .find(|one| one.level == CommitLevel::from(mode))
        .and_then(|one| one.added)?;
    let writes = share_of_writes(findings.workload, point);
    let added = commit.scaled(writes, MILLISECONDS);
    let beside = alone.and_then(|alone| beside(findings, point, alone, &added));
    Some(Forecast { commit, writes, added, beside })
}

/// Share of the operations of the window that write.
fn share_of_writes(workload: &Workload, point: &PointFindings) -> f64 {
    let mean = |kind: &str| point.metric(MetricKey::response(LatencyStatistic::Mean, kind));
    let count = |kind: &str| mean(kind).map_or(0, |mean| mean.n()) as f64;
    let kinds = workload.kinds.iter().map(|(kind, _)| *kind);
    let reads: f64 = kinds.filter(|kind| (workload.is_read)(kind)).map(count).sum();
    let all = count(ALL_KINDS);
    if all > 0.0 { 1.0 - reads / all } else { 1.0 }
}

fn beside(
    findings: &Findings<'_>,
    point: &PointFindings,
    alone: &PointFindings,
    added: &Quantity,
) -> Result<Beside, String> {
    let base = mean_response(alone)?;
    let response = sum(&base, added, 1.0);
    let share = 100.0 * base.value() / response.value();
    let half = response.interval().bounds().map(|(low, high)| (high - low) / 2.0 / response.value() * share);
    let interval = match half {
        Some(half) => Interval::known(share - half, share + half, METHOD),
        None => Interval::none("one of its times has no interval"),
    };
    let measured = measured(findings, point, alone, &base)?;
    let excess = sum(&measured, added, -1.0);
    let kept = within_the_whole(Quantity::new(share, Unit::PERCENT, base.n(), interval));
    Ok(Beside { kept, response, measured, excess })
}

/// What a transaction took more. Users that never wait take as much longer as their throughput is smaller, which is known inside blocks.
fn measured(
    findings: &Findings<'_>,
    point: &PointFindings,
    alone: &PointFindings,
    base: &Quantity,
) -> Result<Quantity, String> {
    let is_closed = values_of(setting::WORKLOAD_RATE, &findings.record.study.settings, &findings.factors).is_empty();
    let ratio = findings.blocks.as_ref().filter(|_| is_closed).and_then(|blocks| blocks.ratio(alone.id, point.id));
    let Some(ratio) = ratio else { return Ok(sum(&mean_response(point)?, base, -1.0)) };
    let times = |ratio: f64| base.value() * (ratio - 1.0);
    let interval = match ratio.interval().bounds() {
        Some((low, high)) => Interval::known(times(low), times(high), "throughput ratios within blocks"),
        None => Interval::none("the throughput ratio has no interval"),
    };
    Ok(Quantity::new(times(ratio.value()), MILLISECONDS, ratio.n(), interval))
}

/// Mean response time of all transactions, ms.
fn mean_response(point: &PointFindings) -> Measured {
    Ok(point.result(MetricKey::response(LatencyStatistic::Mean, ALL_KINDS))?.scaled(1e-6, MILLISECONDS))
}

/// A quantity and so many times another one.
fn sum(one: &Quantity, other: &Quantity, times: f64) -> Quantity {
    let value = one.value() + times * other.value();
    let interval = match (one.interval().bounds(), other.scaled(times, MILLISECONDS).interval().bounds()) {
        (Some((low, high)), Some((other_low, other_high))) => {
            let middle = times * other.value();
            let below = (one.value() - low).hypot(middle - other_low);
            let above = (high - one.value()).hypot(other_high - middle);
            Interval::known(value - below, value + above, METHOD)
        }
        _ => Interval::none("one of the two has no interval"),
    };
    Quantity::new(value, MILLISECONDS, one.n().min(other.n()), interval)
}

/// A measured quantity over another, with the relative errors of both.
pub fn quotient(above: &Measured, below: &Measured) -> Measured {
    let (above, below) = (above.as_ref().map_err(Clone::clone)?, below.as_ref().map_err(Clone::clone)?);
    let value = above.value() / below.value();
    let half = |one: &Quantity| one.interval().bounds().map(|(low, high)| (high / low).ln() / 2.0);
    let interval = match (half(above), half(below)) {
        (Some(above), Some(below)) if above.is_finite() && below.is_finite() => {
            let half = above.hypot(below);
            Interval::known(value * (-half).exp(), value * half.exp(), "both relative intervals combined in quadrature")
        }
        _ => Interval::none("one of the two has no interval"),
    };
    Ok(Quantity::new(value, Unit::RATIO, above.n().min(below.n()), interval))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quantity(value: f64, half: f64) -> Quantity {
        Quantity::new(value, MILLISECONDS, 9, Interval::known(value - half, value + half, "test"))
    }

    #[test]
    fn differences_have_the_errors_of_both() {
        let found = sum(&quantity(10.0, 3.0), &quantity(4.0, 4.0), -1.0);
        assert_eq!((found.value(), found.interval().bounds()), (6.0, Some((1.0, 11.0))));
    }

    #[test]
    fn what_lies_within_a_fifth_or_within_its_interval_is_explained() {
        let check = |excess: Quantity, expected: bool| {
            let one = quantity(1.0, 0.1);
            let beside = Beside { response: one.clone(), kept: one.clone(), measured: one.clone(), excess };
            assert_eq!(beside.is_explained(&quantity(2.0, 0.1)), expected, "{beside:?}");
        };
        check(quantity(0.3, 0.1), true);
        check(quantity(0.9, 1.0), true);
        check(quantity(0.9, 0.1), false);
        check(quantity(-0.9, 0.1), false);
    }
}
