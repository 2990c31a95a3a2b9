//! Every second of finished runs: counts as counters from the run's time zero on, latencies as summaries, the load generator, the
//! engine's counters and telemetry as gauges.

use super::family::{Family, Labels, Page, family_name};
use super::run::Run;
use super::units::{base, named};
use crate::metrics::PERCENTILES;
use proofload_analysis::latency::Sparse;
use proofload_model::samples::{IntervalSample, LatencyClock, OfferedLoad, OperationCounts};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Result;

/// Writes every family.
pub(super) fn write(runs: &[Run<'_>], page: &mut Page<'_>) -> Result<()> {
    operations(runs, page)?;
    latencies(runs, LatencyClock::Response, page)?;
    latencies(runs, LatencyClock::Service, page)?;
    latencies(runs, LatencyClock::SendLag, page)?;
    offered(runs, page)?;
    client(runs, page)?;
    engine(runs, page)?;
    telemetry(runs, page)
}

/// A count of operations.
type Count = fn(&OperationCounts) -> u64;

/// How operations ended.
const OUTCOMES: &[(&str, Count)] = &[
    ("done", |counts| counts.done),
    ("rolled_back", |counts| counts.rolled_back),
    ("failed", |counts| counts.failed),
    ("dropped", |counts| counts.dropped),
];

fn kinds(run: &Run<'_>) -> BTreeSet<String> {
    run.attempt.intervals.iter().flat_map(|interval| &interval.counts).map(|counts| counts.kind.clone()).collect()
}

fn operations(runs: &[Run<'_>], page: &mut Page<'_>) -> Result<()> {
    let help = "Operations that ended, by outcome; rolled_back: by design; dropped: never started.";
    page.family(&Family { name: "proofload_operations", kind: "counter", unit: "", help });
    for (run, kind) in each_kind(runs) {
        for (outcome, count) in OUTCOMES {
            let labels = run.labels().with("kind", &kind).with("outcome", outcome);
            counter(page, "proofload_operations_total", run, &labels, &kind, *count)?;
        }
    }
    let totals: [(&str, &str, Count); 2] = [
        ("proofload_operations_due", "Operations that became due.", |counts| counts.due),
        ("proofload_operation_retries", "Retries after deadlocks and similar errors.", |counts| counts.retries),
    ];
    for (name, help, count) in totals {
        page.family(&Family { name, kind: "counter", unit: "", help });
        for (run, kind) in each_kind(runs) {
            let labels = run.labels().with("kind", &kind);
            counter(page, &format!("{name}_total"), run, &labels, &kind, count)?;
        }
    }
    let help = "Operations that are due or started and have not ended.";
    page.family(&Family { name: "proofload_operations_in_flight", kind: "gauge", unit: "", help });
    for (run, kind) in each_kind(runs) {
        let labels = run.labels().with("kind", &kind);
        for (interval, counts) in of_kind(run, &kind) {
            let (value, at) = (counts.in_flight as f64, run.end_of(interval.index));
            page.sample("proofload_operations_in_flight", &labels, value, at)?;
        }
    }
    Ok(())
}

fn each_kind<'a, 'r>(runs: &'a [Run<'r>]) -> impl Iterator<Item = (&'a Run<'r>, String)> {
    runs.iter().flat_map(|run| kinds(run).into_iter().map(move |kind| (run, kind)))
}

fn of_kind<'a>(run: &'a Run<'_>, kind: &'a str) -> impl Iterator<Item = (&'a IntervalSample, &'a OperationCounts)> {
    run.attempt.intervals.iter().flat_map(move |interval| {
        interval.counts.iter().filter(move |counts| counts.kind == kind).map(move |counts| (interval, counts))
    })
}

/// A count added up from time zero on.
fn counter(page: &mut Page<'_>, name: &str, run: &Run<'_>, labels: &Labels, kind: &str, count: Count) -> Result<()> {
    let mut sum = 0;
    of_kind(run, kind).try_for_each(|(interval, counts)| {
        sum += count(counts);
        page.sample(name, labels, sum as f64, run.end_of(interval.index))
    })
}

fn latencies(runs: &[Run<'_>], clock: LatencyClock, page: &mut Page<'_>) -> Result<()> {
    let name = format!("proofload_{}_seconds", clock.word());
    let help = match clock {
        LatencyClock::Response => {
            "Time from the intended start; quantiles cover this second, count and sum start at time zero."
        }
        LatencyClock::Service => {
            "Time from the actual start; quantiles cover this second, count and sum start at time zero."
        }
        LatencyClock::SendLag => {
            "Delay of the actual start after the operation was due and its user free; quantiles cover this second, \
             count and sum start at time zero."
        }
    };
    page.family(&Family { name: &name, kind: "summary", unit: "seconds", help });
    if clock == LatencyClock::SendLag {
        // It belongs to no kind.
        return runs.iter().try_for_each(|run| summary(page, &name, run, &run.labels(), ("", clock)));
    }
    each_kind(runs)
        .try_for_each(|(run, kind)| summary(page, &name, run, &run.labels().with("kind", &kind), (&kind, clock)))
}

/// The latencies of one kind and clock in one run.
fn summary(
    page: &mut Page<'_>,
    name: &str,
    run: &Run<'_>,
    labels: &Labels,
    (kind, clock): (&str, LatencyClock),
) -> Result<()> {
    let (mut count, mut sum_ns) = (0u64, 0u128);
    for interval in &run.attempt.intervals {
        let Some(part) = interval.histograms.iter().find(|part| part.kind == kind && part.clock == clock) else {
            continue;
        };
        let Ok(second) = Sparse::from_v2_deflate(&part.payload) else { continue };
        let at = run.end_of(interval.index);
        for (_, share) in PERCENTILES {
            let value = second.percentile(*share).filter(|_| second.count() > 0).map_or(f64::NAN, |ns| ns as f64 / 1e9);
            page.sample(name, &labels.with("quantile", &share.to_string()), value, at)?;
        }
        count += part.count;
        sum_ns += u128::from(part.sum_ns);
        page.sample(&format!("{name}_count"), labels, count as f64, at)?;
        page.sample(&format!("{name}_sum"), labels, sum_ns as f64 / 1e9, at)?;
    }
    Ok(())
}

/// What a schedule offered, all kinds together: what waits for a user has no kind yet.
fn offered(runs: &[Run<'_>], page: &mut Page<'_>) -> Result<()> {
    let help = "Operations that the schedule made due, started or not.";
    page.family(&Family { name: "proofload_operations_offered", kind: "counter", unit: "", help });
    for run in runs {
        let mut sum = 0u64;
        of_schedule(run).try_for_each(|(at, offered)| {
            sum += offered.due;
            page.sample("proofload_operations_offered_total", &run.labels(), sum as f64, at)
        })?;
    }
    let help = "Operations due by the schedule that had not started at the end of the second.";
    page.family(&Family { name: "proofload_operations_backlog", kind: "gauge", unit: "", help });
    for run in runs {
        of_schedule(run).try_for_each(|(at, offered)| {
            page.sample("proofload_operations_backlog", &run.labels(), offered.waiting as f64, at)
        })?;
    }
    Ok(())
}

/// The seconds for which a run tells what its schedule offered, by their ends.
fn of_schedule(run: &Run<'_>) -> impl Iterator<Item = (i64, OfferedLoad)> {
    let seconds = run.attempt.intervals.iter();
    seconds.filter_map(|interval| Some((run.end_of(interval.index), interval.client.offered?)))
}

fn client(runs: &[Run<'_>], page: &mut Page<'_>) -> Result<()> {
    let help = "CPU time of a load generator thread.";
    page.family(&Family { name: "proofload_client_cpu_seconds", kind: "counter", unit: "seconds", help });
    for run in runs {
        let intervals = &run.attempt.intervals;
        let threads = intervals.iter().map(|interval| interval.client.thread_cpu_ns.len()).max().unwrap_or(0);
        for thread in 0..threads {
            let labels = run.labels().with("thread", &thread.to_string());
            let mut sum = 0u64;
            for interval in intervals {
                sum += interval.client.thread_cpu_ns.get(thread).copied().unwrap_or(0);
                let at = run.end_of(interval.index);
                page.sample("proofload_client_cpu_seconds_total", &labels, sum as f64 / 1e9, at)?;
            }
        }
    }
    let help = "Resident memory of the load generator.";
    page.family(&Family { name: "proofload_client_resident_bytes", kind: "gauge", unit: "bytes", help });
    for run in runs {
        for interval in &run.attempt.intervals {
            let (value, at) = (interval.client.resident_bytes as f64, run.end_of(interval.index));
            page.sample("proofload_client_resident_bytes", &run.labels(), value, at)?;
        }
    }
    let help = "99th percentile of send lag in the second.";
    page.family(&Family { name: "proofload_client_send_lag_p99_seconds", kind: "gauge", unit: "seconds", help });
    for run in runs {
        for interval in &run.attempt.intervals {
            let value = interval.client.send_lag_ns_p99.map_or(f64::NAN, |ns| ns as f64 / 1e9);
            page.sample("proofload_client_send_lag_p99_seconds", &run.labels(), value, run.end_of(interval.index))?;
        }
    }
    Ok(())
}

/// Times, microseconds since 1970, and values.
type Samples = Vec<(i64, f64)>;

/// One series.
type Series = (Labels, Samples);

/// Families by name, each with its unit in words and its series.
type Families = BTreeMap<String, (String, Vec<Series>)>;

fn engine(runs: &[Run<'_>], page: &mut Page<'_>) -> Result<()> {
    let mut families = Families::new();
    for run in runs {
        let mut series: BTreeMap<(&str, &str, &str), Samples> = BTreeMap::new();
        for interval in &run.attempt.intervals {
            for reading in &interval.engine {
                let key = (reading.name.as_str(), reading.unit.as_str(), reading.component.as_str());
                series.entry(key).or_default().push((run.end_of(interval.index), reading.value));
            }
        }
        for ((name, unit, instance), samples) in series {
            put(&mut families, run.labels().with("instance", instance), ("proofload_engine_", name, unit), samples);
        }
    }
    gauges(&families, "A counter of the engine or of its load, over the second.", page)
}

fn telemetry(runs: &[Run<'_>], page: &mut Page<'_>) -> Result<()> {
    let mut families = Families::new();
    for run in runs {
        for series in &run.attempt.series {
            let samples = series.samples.iter().map(|(offset, _, value)| (run.zero_us + offset.0 / 1_000, *value));
            let prefix = format!("proofload_probe_{}_", series.probe);
            let mut samples: Samples = samples.collect();
            // Times must ascend; of two readings of one moment the first stays.
            samples.sort_by_key(|(at, _)| *at);
            samples.dedup_by_key(|(at, _)| *at);
            let mut labels = run.labels().with("instance", &series.component);
            if series.instance.is_standby() {
                labels = labels.with("standby", series.instance.as_str());
            }
            put(&mut families, labels, (&prefix, &series.name, &series.unit), samples);
        }
    }
    gauges(&families, "A probe reading; rates cover the time since the previous reading.", page)
}

/// A series with its labels, prefix, name and unit.
fn put(families: &mut Families, labels: Labels, of: (&str, &str, &str), mut samples: Samples) {
    let (prefix, name, unit) = of;
    let (unit, factor) = base(unit);
    samples.iter_mut().for_each(|(_, value)| *value *= factor);
    let name = family_name(&format!("{prefix}{}", named(name, &unit)));
    families.entry(name).or_insert_with(|| (unit, Vec::new())).1.push((labels, samples));
}

fn gauges(families: &Families, help: &str, page: &mut Page<'_>) -> Result<()> {
    for (name, (unit, series)) in families {
        let unit = if name.ends_with(unit.as_str()) { unit.as_str() } else { "" };
        page.family(&Family { name, kind: "gauge", unit, help });
        for (labels, samples) in series {
            samples.iter().try_for_each(|(at, value)| page.sample(name, labels, *value, *at))?;
        }
    }
    Ok(())
}
