//! Metrics that can be compared: what each is called, and whether more of it is better.

use super::super::latencies::PERCENTILES;
use super::super::metrics::OUTAGES;
pub use crate::metrics::Better;
use crate::metrics::{MetricName, THROUGHPUT};
use crate::workloads::Workload;

/// A metric of a workload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metric {
    /// Its name among the metrics of a point.
    pub name: String,
    /// What it is called in tables.
    pub title: String,
    /// Which direction is better.
    pub better: Better,
}

/// A latency of one clock and kind: the statistic is `mean` or a percentile.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct LatencyName<'m> {
    /// Whether it is of service times instead of response times.
    pub(super) service: bool,
    /// The share of a percentile; `None` for the mean.
    pub(super) share: Option<f64>,
    /// Kind of operation, or `all`.
    pub(super) kind: &'m str,
}

/// Reads `response_ns_p99.new_order`.
pub(super) fn latency(name: &str) -> Option<LatencyName<'_>> {
    let (head, kind) = name.split_once('.')?;
    let service = head.starts_with("service_ns_");
    let statistic = head.strip_prefix("response_ns_").or_else(|| head.strip_prefix("service_ns_"))?;
    let share = PERCENTILES.iter().find(|(known, _)| *known == statistic).map(|(_, share)| *share);
    (share.is_some() || statistic == "mean").then_some(LatencyName { service, share, kind })
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
    let metric = |title: String, better: Better| Some(Metric { name: name.to_owned(), title, better });
    if let Some(latency) = latency(name) {
        let known = latency.kind == "all" || kinds.iter().any(|kind| kind == latency.kind);
        return metric(latency_title(&latency, workload), Better::Lower).filter(|_| known);
    }
    let outages: Vec<MetricName> = OUTAGES.iter().map(|(metric, _)| *metric).collect();
    let own = [rates(workload).as_slice(), workload.rated, workload.observed, &outages].concat();
    let row = own.iter().find(|row| row.name == name)?;
    metric(row.title.to_owned(), row.better)
}

fn latency_title(latency: &LatencyName<'_>, workload: &Workload) -> String {
    let kind = if latency.kind == "all" { "All kinds".to_owned() } else { workload.kind_title(latency.kind) };
    let statistic = match latency.share {
        None => "mean".to_owned(),
        Some(share) => format!("p{}", crate::numbers::short(100.0 * share)),
    };
    let clock = if latency.service { "service time" } else { "response time" };
    format!("{kind} {statistic}, {clock}")
}

/// Every name that can be asked for, kinds as `<kind>`.
pub(super) fn known(workload: &Workload) -> Vec<String> {
    let mut names: Vec<String> = rates(workload).iter().map(|row| row.name.to_owned()).collect();
    names.extend(workload.rated.iter().filter(|row| row.better == Better::Lower).map(|row| row.name.to_owned()));
    names.extend(["response_ns_mean", "response_ns_p50"].map(|head| format!("{head}.<kind>")));
    names.extend(PERCENTILES[1..].iter().map(|(name, _)| format!("response_ns_{name}.<kind>")));
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
        let kinds: Vec<String> = METRICS.iter().filter_map(|row| row.kind()).map(str::to_owned).collect();
        let latencies: Vec<&MetricName> = METRICS.iter().filter(|row| latency(row.name).is_some()).collect();
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
