//! Limits of response times that one run of a paced load kept.

use crate::findings::metrics::latencies::ByKind;
use crate::workloads::{PacedRules, Workload};
use proofload_analysis::latency::Sparse;
use proofload_model::facts::{FactName, client};
use proofload_model::setting_words::LoadPacing;
use proofload_model::settings::Settings;
use proofload_record::Attempt;

/// A mean may lie above the 90th percentile by this much, s (TPC-C 5.11, clause 5.2.5.4's rounding of what is reported).
const MEAN_ABOVE_P90_S: f64 = 0.1;

/// The response times of one kind beside their limit.
#[derive(Debug, Clone, PartialEq)]
pub struct KeptLimit {
    /// Kind.
    pub kind: &'static str,
    /// Longest 90th percentile, s.
    pub at_most_s: f64,
    /// 90th percentile of the window, s; `None` when no operation of the kind completed.
    pub p90_s: Option<f64>,
    /// Mean of the window, s.
    pub mean_s: f64,
    /// Operations.
    pub count: u64,
}

impl KeptLimit {
    /// Why the run is void; `None` when the limit was kept.
    pub(crate) fn fault(&self) -> Option<String> {
        let short = crate::numbers::short;
        let p90 = self.p90_s?;
        if p90 > self.at_most_s {
            return Some(format!(
                "90 % of {} took up to {} s; the limit is {} s",
                self.kind,
                short(p90),
                self.at_most_s
            ));
        }
        (self.mean_s > p90 + MEAN_ABOVE_P90_S).then(|| {
            let (mean, p90) = (short(self.mean_s), short(p90));
            format!("{} took {mean} s on average, more than their 90th percentile of {p90} s", self.kind)
        })
    }
}

/// What one run of a paced load kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Pacing {
    /// Limits, in the order of tables.
    pub limits: Vec<KeptLimit>,
    /// Terminals, sessions that they share, and sessions that do what was deferred.
    pub seats: [Option<f64>; 3],
    /// The most of the counted kind a minute that the waits allow, of all terminals.
    pub ceiling_per_minute: Option<f64>,
}

/// The rules of a paced load; `None` when the study's load is not paced.
pub(crate) fn rules(workload: &'static Workload, settings: &Settings) -> Option<PacedRules> {
    workload.paced.filter(|_| LoadPacing::is_paced(settings))
}

/// What a run kept; `None` when it was not paced.
pub(crate) fn pacing(
    latencies: &ByKind,
    attempt: &Attempt,
    workload: &'static Workload,
    settings: &Settings,
) -> Option<Pacing> {
    let rules = rules(workload, settings)?;
    let kept = |(kind, at_most_s): &(&'static str, f64)| {
        let merged = Sparse::merged(latencies.get(*kind).into_iter().flatten());
        let p90_s = merged.percentile(0.9).filter(|_| merged.count() > 0).map(|p90| p90 as f64 / 1e9);
        KeptLimit { kind, at_most_s: *at_most_s, p90_s, mean_s: merged.mean() / 1e9, count: merged.count() }
    };
    let number = |name: FactName| name.number(&attempt.facts);
    Some(Pacing {
        limits: rules.limits.iter().map(kept).collect(),
        seats: [client::VIRTUAL_USERS, client::CONNECTIONS, client::DELIVERY_WORKERS].map(number),
        ceiling_per_minute: number(client::CEILING),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(p90_s: Option<f64>, mean_s: f64, expected: Option<&str>) {
        let kept = KeptLimit { kind: "payment", at_most_s: 5.0, p90_s, mean_s, count: 100 };
        assert_eq!(kept.fault().as_deref(), expected);
    }

    #[test]
    fn limits_bound_the_percentile_and_the_mean_lies_below_it() {
        check(Some(5.0), 1.0, None);
        check(Some(5.2), 1.0, Some("90 % of payment took up to 5.2 s; the limit is 5 s"));
        check(Some(0.01), 0.1, None);
        check(Some(0.01), 0.2, Some("payment took 0.2 s on average, more than their 90th percentile of 0.01 s"));
        check(None, f64::NAN, None);
    }
}
