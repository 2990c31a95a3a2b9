//! Metrics that can be compared: what each is called, and whether more of it is better.

use super::super::metrics::OUTAGES;
pub use crate::metrics::Better;
use crate::metrics::{LatencyKey, LatencyStatistic, MetricKey, MetricName, PERCENTILES, THROUGHPUT};
use crate::workloads::Workload;
use proofload_model::samples::LatencyClock;

/// A metric of a workload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metric {
    /// Its key among the metrics of a point.
    pub key: MetricKey,
    /// What it is called in tables.
    pub title: String,
    /// Which direction is better.
    pub better: Better,
}

/// Metrics of throughput: the workload's names for it.
pub(super) fn rates(workload: &Workload) -> Vec<MetricName> {
    let mut names = vec![THROUGHPUT];
    names.extend(workload.rates.iter().map(|(metric, _)| *metric));
    names.extend(workload.counted.iter().flat_map(|counted| [counted.metric, counted.metric_database]));
    names.extend(workload.rated.iter().filter(|row| row.better == Better::Higher));
    names
}

/// The metrics of this name in a workload whose runs had these kinds of operations; several for an ending `.*`. Empty when
/// there is no such metric, or it cannot be compared.
pub(in super::super) fn metrics_of(name: &str, workload: &Workload, kinds: &[String]) -> Vec<Metric> {
    if let Some(head) = name.strip_suffix(".*") {
        let tails = workload.tails.iter().filter(|tail| kinds.iter().any(|kind| kind == *tail));
        let mut tails: Vec<&str> = tails.copied().collect();
        if tails.is_empty() {
            tails.push("all");
        }
        return tails.iter().flat_map(|tail| metrics_of(&format!("{head}.{tail}"), workload, kinds)).collect();
    }
    one(name, workload, kinds).into_iter().collect()
}

fn one(name: &str, workload: &Workload, kinds: &[String]) -> Option<Metric> {
    let key: MetricKey = name.parse().ok()?;
    if let Some(latency) = key.latency() {
        let known = latency.kind == "all" || kinds.contains(&latency.kind);
        let title = latency_title(latency, workload);
        return known.then_some(Metric { key, title, better: Better::Lower });
    }
    let outages: Vec<MetricName> = OUTAGES.iter().map(|(metric, _)| *metric).collect();
    let own = [rates(workload).as_slice(), workload.rated, workload.observed, &outages].concat();
    let row = own.iter().find(|row| key == **row)?;
    Some(Metric { key, title: row.title.to_owned(), better: row.better })
}

fn latency_title(latency: &LatencyKey, workload: &Workload) -> String {
    let kind = if latency.kind == "all" { "All kinds".to_owned() } else { workload.kind_title(&latency.kind) };
    let statistic = match latency.statistic.share() {
        None => "mean".to_owned(),
        Some(share) => format!("p{}", crate::numbers::short(100.0 * share)),
    };
    let clock = if latency.clock == LatencyClock::Service { "service time" } else { "response time" };
    format!("{kind} {statistic}, {clock}")
}

/// Every name that can be asked for, kinds as `<kind>`.
pub(super) fn known(workload: &Workload) -> Vec<String> {
    let mut names: Vec<String> = rates(workload).iter().map(|row| row.name.to_owned()).collect();
    names.extend(workload.rated.iter().filter(|row| row.better == Better::Lower).map(|row| row.name.to_owned()));
    let percentiles = PERCENTILES.iter().map(|(statistic, _)| *statistic);
    let statistics = std::iter::once(LatencyStatistic::Mean).chain(percentiles);
    names.extend(statistics.map(|statistic| MetricKey::response(statistic, "<kind>").to_string()));
    names.extend(workload.observed.iter().map(|row| row.name.to_owned()));
    names.extend(OUTAGES.iter().map(|(row, _)| row.name.to_owned()));
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::METRICS;
    use crate::workloads::WORKLOADS;

    fn titles(workload: usize, name: &str, kinds: &[&str]) -> String {
        let kinds: Vec<String> = kinds.iter().map(|kind| (*kind).to_owned()).collect();
        let metrics = metrics_of(name, &WORKLOADS[workload], &kinds);
        metrics
            .iter()
            .map(|metric| format!("{} ({})", metric.title, metric.better.word()))
            .collect::<Vec<_>>()
            .join("; ")
    }

    #[test]
    fn names_mean_what_the_workload_says() {
        assert_eq!(titles(0, "tpm", &[]), "TPM (higher)");
        assert_eq!(titles(0, "response_ns_p999.new_order", &["new_order"]), "New-Order p99.9, response time (lower)");
        assert_eq!(
            titles(1, "service_ns_mean.*", &["read", "update"]),
            "Read mean, service time (lower); Update mean, service time (lower)"
        );
        assert_eq!(titles(2, "response_ns_p50.*", &["q01"]), "All kinds p50, response time (lower)");
        assert_eq!(titles(1, "cpu_percent", &[]), "CPU (neither)");
        assert_eq!(titles(2, "cpu_percent", &[]), "", "the warehouse rates it over whole runs");
        assert_eq!(titles(0, "device_reads_s", &[]), "Device read requests (neither)");
        for wrong in ["tpm.new_order", "response_ns_p98.read", "response_ns_p99.scan", "queries_per_hour", ""] {
            assert_eq!(titles(1, wrong, &["read"]), "", "{wrong}");
        }
    }

    #[test]
    fn latencies_of_the_table_have_the_titles_of_their_family() {
        let kinds: Vec<String> = METRICS.iter().filter_map(MetricName::kind).collect();
        let latencies: Vec<&MetricName> = METRICS.iter().filter(|row| row.key().latency().is_some()).collect();
        assert_eq!(latencies.len(), 9);
        for row in latencies {
            let has = |workload: &&Workload| {
                row.kind().is_none_or(|kind| workload.kinds.iter().any(|(known, _)| *known == kind))
            };
            let workload = WORKLOADS.iter().find(has).unwrap();
            let title = one(row.name, workload, &kinds).map(|metric| metric.title);
            assert_eq!(title.as_deref(), Some(row.title));
        }
    }

    #[test]
    fn every_metric_that_a_workload_compares_is_known() {
        for workload in WORKLOADS {
            let kinds: Vec<String> = workload.tails.iter().map(|tail| (*tail).to_owned()).collect();
            for name in workload.compared {
                assert!(!metrics_of(name, workload, &kinds).is_empty(), "{} {name}", workload.kind);
            }
        }
    }
}
