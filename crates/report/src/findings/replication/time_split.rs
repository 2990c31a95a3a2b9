//! Where the time of a transaction goes: mean number of sessions in each state over throughput, by Little's law. Source: Little, "A proof
//! for the queuing formula L = λW", Operations Research 9, 1961.

use crate::findings::estimate::{estimate, informative, ratio};
use crate::findings::level::Measured;
use crate::findings::observed::in_windows;
use crate::findings::point::PointFindings;
use crate::findings::run::Pair;
use crate::findings::telemetry::traces;
use crate::metrics::{LatencyStatistic, MetricKey};
use proofload_analysis::quantity::{Quantity, Unit};
use proofload_model::samples::ALL_KINDS;
use proofload_model::series::sessions;
use proofload_model::session_state::SessionState;

/// How far the sum over states may be off the mean response time, as a share of it.
pub const AGREES_WITHIN: f64 = 0.05;

/// Share of a transaction's time in waits for locks from which a point is bound by them. Source: docs/guides/replication.md.
pub const LOCK_BOUND: f64 = 0.10;

/// Unit of all times here.
pub(crate) const MILLISECONDS: Unit = Unit::named("ms");

/// Time of a transaction by what its session did.
#[derive(Debug, Clone, PartialEq)]
pub struct TimeSplit {
    /// Time in each state, ms a transaction.
    pub parts: Vec<(SessionState, Quantity)>,
    /// Their sum, ms.
    pub sum: f64,
    /// Mean response time of all transactions, ms.
    pub response: f64,
    /// Looks a second.
    pub looks: Quantity,
    /// CPU time of the server for them, CPU s/s, where it was observed.
    pub cost: Measured,
}

impl TimeSplit {
    /// Time in a state, ms.
    pub fn of(&self, state: SessionState) -> f64 {
        self.parts.iter().find(|(known, _)| *known == state).map_or(0.0, |(_, time)| time.value())
    }

    /// Whether the sum agrees with the response time, so that the parts may be shown.
    pub fn agrees(&self) -> bool {
        (self.sum / self.response - 1.0).abs() <= AGREES_WITHIN
    }

    /// Whether waits for locks bound the throughput.
    pub fn is_lock_bound(&self) -> bool {
        self.agrees() && self.of(SessionState::Lock) > LOCK_BOUND * self.sum
    }
}

/// The split of a point, or why there is none.
pub(crate) fn time_split(point: &PointFindings, runs: &[Pair<'_>]) -> Result<TimeSplit, String> {
    let response = point.metric(MetricKey::response(LatencyStatistic::Mean, ALL_KINDS))?.value() * 1e-6;
    let throughput = point.throughput.clone()?;
    let mut parts = Vec::new();
    for state in SessionState::ALL {
        let of_state = |trace: &crate::findings::telemetry::Trace| trace.instance == state.word();
        let windows = in_windows(
            runs,
            |attempt| traces(attempt, sessions::STATE).into_iter().find(of_state),
            "what sessions wait for",
        )?;
        let slices: Vec<&[f64]> = windows.iter().map(Vec::as_slice).collect();
        let time = ratio(&estimate(&slices)?, &throughput).scaled(1e3, MILLISECONDS);
        parts.push((state, informative(time)));
    }
    let of = |wanted, unit| {
        let windows = in_windows(runs, |attempt| traces(attempt, wanted).pop(), "the cost of sampling")?;
        let slices: Vec<&[f64]> = windows.iter().map(Vec::as_slice).collect();
        Ok::<Quantity, String>(informative(estimate(&slices)?.quantity(unit)))
    };
    let sum = parts.iter().map(|(_, time)| time.value()).sum();
    let looks = of(sessions::LOOKS, Unit::PER_SECOND)?;
    Ok(TimeSplit { parts, sum, response, looks, cost: of(sessions::COST, Unit::named("CPU s/s")) })
}
