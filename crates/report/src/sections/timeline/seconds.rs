//! What happened in each second of a run, as traces for one stack of strips. May not judge.

use crate::findings::{Findings, RunFindings, Trace, all_kinds, checkpoints_begun, traces};
use proofload_analysis::latency::Sparse;
use proofload_model::series::{self, SeriesName};

/// One quantity over the seconds of a run.
pub(crate) struct SecondTrace {
    /// What it is.
    pub(crate) title: &'static str,
    /// Its unit.
    pub(crate) unit: &'static str,
    /// Number of its colour.
    pub(crate) colour: usize,
    /// Seconds from the start of the load and values.
    pub(crate) samples: Vec<(f64, f64)>,
}

/// Series that are drawn: series, title, unit, factor, whether instances are averaged, colour.
const DRAWN: &[(SeriesName, &str, &str, f64, bool, usize)] = &[
    (series::device::READ_BYTES, "Reads", "MB/s", 1e-6, false, 2),
    (series::device::WRITE_BYTES, "Writes", "MB/s", 1e-6, false, 3),
    (series::device::QUEUE, "Queue", "requests", 1.0, false, 5),
    (series::memory::DIRTY, "Dirty pages", "MB", 1e-6, false, 4),
    (series::cores::STEAL, "Steal", "% of the cores", 1.0, true, 1),
    (series::foreign::CPU, "Other processes", "cores", 1.0, false, 1),
];

/// The 99th percentile is drawn with this colour.
const P99_COLOUR: usize = 1;

/// Every quantity that was observed in a run, throughput first.
pub(crate) fn seconds_of(findings: &Findings<'_>, run: &RunFindings) -> Vec<SecondTrace> {
    let throughput = run.per_second.iter().enumerate().map(|(second, value)| (second as f64 + 0.5, *value));
    let mut found = vec![SecondTrace {
        title: findings.workload.work.many_capital,
        unit: "1/s",
        colour: 0,
        samples: throughput.collect(),
    }];
    found.extend(p99(run));
    let end = run.per_second.len() as f64;
    if let Some(attempt) = findings.finished(run.run.index) {
        found.extend(DRAWN.iter().filter_map(|(name, title, unit, factor, averaged, colour)| {
            let samples = together(&traces(attempt, *name), *averaged)?;
            let samples: Vec<(f64, f64)> = samples
                .into_iter()
                .filter(|(at, _)| (0.0..=end).contains(at))
                .map(|(at, value)| (at, factor * value))
                .collect();
            let says = samples.iter().any(|(_, value)| *value > 0.0);
            says.then_some(SecondTrace { title, unit, colour: *colour, samples })
        }));
    }
    found
}

/// Seconds in which the engine began a checkpoint, from the start of the load.
pub(crate) fn checkpoints(findings: &Findings<'_>, run: &RunFindings) -> Vec<f64> {
    let attempt = findings.finished(run.run.index);
    attempt.map_or_else(Vec::new, |attempt| checkpoints_begun(attempt, run.per_second.len() as f64))
}

/// The instances of a series, added up or averaged.
fn together(traces: &[Trace], averaged: bool) -> Option<Vec<(f64, f64)>> {
    let (first, rest) = traces.split_first()?;
    let count = if averaged { traces.len() as f64 } else { 1.0 };
    let value = |(place, (at, value)): (usize, &(f64, f64))| {
        let others: f64 = rest.iter().filter_map(|trace| trace.samples.get(place)).map(|(_, value)| *value).sum();
        (*at, (value + others) / count)
    };
    Some(first.samples.iter().enumerate().map(value).collect())
}

/// The 99th percentile of response times in each second of the window, ms; `None` where no second has one.
fn p99(run: &RunFindings) -> Option<SecondTrace> {
    let start = run.window?.from as f64;
    let of = |(second, all): (usize, Sparse)| Some((start + second as f64 + 0.5, all.percentile(0.99)? as f64 * 1e-6));
    let samples: Vec<(f64, f64)> = all_kinds(&run.latencies).into_iter().enumerate().filter_map(of).collect();
    (!samples.is_empty()).then_some(SecondTrace { title: "p99", unit: "ms", colour: P99_COLOUR, samples })
}
