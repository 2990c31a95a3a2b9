//! Transactions per minute by the engine's own counters, as figures of others may be, and how many of them a transaction of ours is.

use super::counters::server;
use crate::findings::estimate::{estimate, measured, ratio};
use crate::findings::level::Measured;
use crate::findings::run::Pair;
use crate::metrics::{MetricName, TPM_ENGINE, TPM_ENGINE_RATIO};
use crate::workloads::Workload;
use proofload_analysis::bootstrap::Estimate;
use proofload_model::engines::named_engine;
use proofload_model::settings::{Settings, setting};

/// Both metrics of a point; empty where the workload has no TPM, the engine no such counters, or they were not read.
pub(crate) fn engine_tpm(
    runs: &[Pair<'_>],
    per_second: &Result<Estimate, String>,
    workload: &Workload,
    settings: &Settings,
) -> Vec<(MetricName, Measured)> {
    let is_told = workload.results.iter().any(|column| column.name == TPM_ENGINE.name);
    let known = settings.text(setting::ENGINE_KIND).ok().and_then(named_engine).filter(|_| is_told);
    let Some(counters) = known.map(|known| &known.tpm).filter(|counters| !counters.is_empty()) else {
        return Vec::new();
    };
    let of_run = |pair: &Pair<'_>| added(counters.iter().map(|name| server(pair, name)));
    let Some(windows) = runs.iter().map(of_run).collect::<Option<Vec<_>>>().filter(|windows| !windows.is_empty())
    else {
        return Vec::new();
    };
    let slices: Vec<&[f64]> = windows.iter().map(Vec::as_slice).collect();
    let counted = estimate(&slices);
    let (unit, by_ours) = (TPM_ENGINE.quantity_unit(), TPM_ENGINE_RATIO.quantity_unit());
    let each = counted.clone().and_then(|above| Ok(ratio(&above, &per_second.clone()?).scaled(1.0, by_ours)));
    vec![(TPM_ENGINE, measured(&counted, unit, 60.0)), (TPM_ENGINE_RATIO, each)]
}

/// Counters added up reading by reading; `None` where one of them has others than the first.
fn added(counters: impl Iterator<Item = Option<Vec<f64>>>) -> Option<Vec<f64>> {
    let mut sum: Option<Vec<f64>> = None;
    for counter in counters {
        let counter = counter?;
        sum = match sum {
            None => Some(counter),
            Some(sum) if sum.len() == counter.len() => Some(sum.iter().zip(counter).map(|(a, b)| a + b).collect()),
            Some(_) => return None,
        };
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_added_reading_by_reading() {
        let (commits, rollbacks) = (Some(vec![100.0, 90.0]), Some(vec![1.0, 0.0]));
        assert_eq!(added([commits.clone(), rollbacks].into_iter()), Some(vec![101.0, 90.0]));
        assert_eq!(added([commits.clone(), Some(vec![1.0])].into_iter()), None, "a reading is missing");
        assert_eq!(added([commits, None].into_iter()), None);
    }
}
