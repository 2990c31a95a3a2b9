//! Telemetry of an attempt: which series mean what, and their values over a window. Rates come from the probes as they are.

use proofload_model::deployment::InstanceName;
use proofload_model::facts::{CoreSet, limit};
use proofload_model::series::{self, SeriesName};
use proofload_record::{Attempt, SeriesPoint};

/// The values of one series, or of several added up, within a window.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    /// Instance: a core, a device, a thread; empty for a sum.
    pub instance: String,
    /// Seconds from time zero (the middle of the span) and value.
    pub samples: Vec<(f64, f64)>,
}

impl Trace {
    /// The values alone.
    pub(crate) fn values(&self) -> Vec<f64> {
        self.samples.iter().map(|(_, value)| *value).collect()
    }

    /// Only what lies between two seconds.
    pub(crate) fn within(&self, (from, to): (f64, f64)) -> Self {
        let inside = self.samples.iter().filter(|(at, _)| (from..to).contains(at));
        Self { instance: self.instance.clone(), samples: inside.copied().collect() }
    }
}

/// Series of the instance that takes the load, and of its host.
pub(super) fn of_primary(attempt: &Attempt) -> impl Iterator<Item = &SeriesPoint> {
    attempt.series.iter().filter(|series| !series.instance.is_standby())
}

/// All series of a kind, one per component, over the whole attempt: of the instance that takes the load, and of its host.
pub fn traces(attempt: &Attempt, wanted: SeriesName) -> Vec<Trace> {
    traces_among(of_primary(attempt), wanted)
}

/// The same of one instance.
pub(crate) fn traces_of(attempt: &Attempt, instance: &InstanceName, wanted: SeriesName) -> Vec<Trace> {
    traces_among(attempt.series.iter().filter(|series| series.instance == *instance), wanted)
}

fn traces_among<'a>(all: impl Iterator<Item = &'a SeriesPoint>, wanted: SeriesName) -> Vec<Trace> {
    let found = all.filter(|series| wanted.is_of(&series.probe, &series.name));
    let mut traces: Vec<Trace> = found.map(trace).collect();
    traces.sort_by_key(|trace| (trace.instance.parse::<u64>().unwrap_or(u64::MAX), trace.instance.clone()));
    traces
}

/// The same, each value at the moment at which it was read: a state is that of the moment, where a rate is that of the time since the reading
/// before.
pub(crate) fn states(attempt: &Attempt, wanted: SeriesName) -> Vec<Trace> {
    let found = of_primary(attempt).filter(|series| wanted.is_of(&series.probe, &series.name));
    let at_reading = |series: &SeriesPoint| {
        let samples = series.samples.iter().map(|(offset, _, value)| (offset.as_seconds(), *value)).collect();
        Trace { instance: series.component.clone(), samples }
    };
    found.map(at_reading).collect()
}

/// Seconds within which two readings are of the same moment.
const SAME_MOMENT: f64 = 1e-6;

/// Instances added up, sample by sample: probes read all instances at the same moment. A moment at which one of them is
/// missing is left out.
pub(super) fn total(traces: &[Trace]) -> Option<Trace> {
    let (first, rest) = traces.split_first()?;
    let in_order: Vec<bool> =
        rest.iter().map(|other| other.samples.is_sorted_by(|one, next| one.0 <= next.0)).collect();
    let add = |(at, value): &(f64, f64)| {
        let others = rest.iter().zip(&in_order).map(|(other, in_order)| value_at(&other.samples, *at, *in_order));
        Some((*at, value + others.sum::<Option<f64>>()?))
    };
    let samples = if rest.is_empty() { first.samples.clone() } else { first.samples.iter().filter_map(add).collect() };
    Some(Trace { instance: String::new(), samples })
}

/// The first value at a moment. Samples of a long load are too many to go through all of them for each.
fn value_at(samples: &[(f64, f64)], at: f64, in_order: bool) -> Option<f64> {
    let from = if in_order { samples.partition_point(|(moment, _)| moment - at <= -SAME_MOMENT) } else { 0 };
    let candidates = if in_order { samples.get(from..=from) } else { Some(samples) };
    let found = candidates?.iter().find(|(moment, _)| (moment - at).abs() < SAME_MOMENT);
    found.map(|(_, value)| *value)
}

/// The mean over instances, sample by sample.
pub(super) fn average(traces: &[Trace]) -> Option<Trace> {
    let count = traces.len() as f64;
    let mut trace = total(traces)?;
    for (_, value) in &mut trace.samples {
        *value /= count;
    }
    Some(trace)
}

/// Cores that the database may run on, as the limit was read back; `None` when cores are not limited.
pub(super) fn allowed_cores(attempt: &Attempt) -> Option<CoreSet> {
    limit::CORES.cores(&attempt.facts)
}

/// CPU seconds per second that the database may use on whatever cores, as the limit was read back; `None` when CPU time is not
/// limited.
pub(super) fn cpu_allowed(attempt: &Attempt) -> Option<f64> {
    limit::CPU.number(&attempt.facts).filter(|rate| *rate > 0.0)
}

/// Use of each core that the database may run on.
pub(super) fn cores(attempt: &Attempt) -> Vec<Trace> {
    of_allowed_cores(attempt, series::cores::BUSY)
}

/// Use of these cores without what the hypervisor gave to others, where that is told.
pub(super) fn unstolen(attempt: &Attempt) -> Vec<Trace> {
    let stolen = of_allowed_cores(attempt, series::cores::STEAL);
    let mut cores = cores(attempt);
    for core in &mut cores {
        let Some(steal) = stolen.iter().find(|steal| steal.instance == core.instance) else { continue };
        let in_order = steal.samples.is_sorted_by(|one, next| one.0 <= next.0);
        for (at, value) in &mut core.samples {
            *value = (*value - value_at(&steal.samples, *at, in_order).unwrap_or(0.0)).max(0.0);
        }
    }
    cores
}

/// The mean over the same cores of what the hypervisor gave to others while they had work.
pub(super) fn steal(attempt: &Attempt) -> Option<Trace> {
    average(&of_allowed_cores(attempt, series::cores::STEAL))
}

fn of_allowed_cores(attempt: &Attempt, probed: SeriesName) -> Vec<Trace> {
    let allowed = allowed_cores(attempt);
    let may = |trace: &Trace| allowed.as_ref().is_none_or(|allowed| allowed.has(&trace.instance));
    traces(attempt, probed).into_iter().filter(may).collect()
}

/// Mean use as the probe reports it, else the mean over the cores that the database may run on.
pub(super) fn mean_of_cores(attempt: &Attempt) -> Option<Trace> {
    traces(attempt, series::cores::BUSY_MEAN).pop().or_else(|| average(&cores(attempt)))
}

/// Use of each thread. Probes leave out what is hardly busy: at a moment that the probe read, an absent thread counts as idle.
pub(super) fn threads(attempt: &Attempt) -> Vec<Trace> {
    let mut threads = traces(attempt, series::threads::CPU);
    let all = of_primary(attempt).filter(|series| series.probe == series::threads::PROBE).map(trace);
    let mut moments: Vec<f64> = all.flat_map(|trace| trace.samples.into_iter().map(|(at, _)| at)).collect();
    moments.sort_by(f64::total_cmp);
    moments.dedup();
    for thread in &mut threads {
        let known: Vec<(f64, f64)> = std::mem::take(&mut thread.samples);
        let value = |at: f64| known.iter().find(|(moment, _)| *moment == at).map_or(0.0, |(_, value)| *value);
        thread.samples = moments.iter().map(|at| (*at, value(*at))).collect();
    }
    threads
}

/// The longest stretch without a sample of any probe that was running, seconds, with the probe's name; over the window.
pub(super) fn longest_silence(attempt: &Attempt, (from, to): (f64, f64)) -> Option<(String, f64)> {
    let mut worst: Option<(String, f64)> = None;
    let of = |series: &SeriesPoint| (series.probe.clone(), series.instance.clone());
    let mut probes: Vec<(String, InstanceName)> = attempt.series.iter().map(of).collect();
    probes.sort_unstable();
    probes.dedup();
    for (probe, instance) in probes {
        let mut ends: Vec<f64> = attempt
            .series
            .iter()
            .filter(|series| series.probe == probe && series.instance == instance)
            .flat_map(|series| series.samples.iter().map(|(offset, ..)| offset.as_seconds()))
            .filter(|at| (from..=to).contains(at))
            .collect();
        ends.extend([from, to]);
        ends.sort_by(f64::total_cmp);
        let silence = ends.windows(2).map(|pair| pair[1] - pair[0]).fold(0.0, f64::max);
        if worst.as_ref().is_none_or(|(_, known)| silence > *known) {
            let of = if instance.is_standby() { format!(" of {instance}") } else { String::new() };
            worst = Some((format!("{probe}{of}"), silence));
        }
    }
    worst
}

fn trace(series: &SeriesPoint) -> Trace {
    let middle = |(offset, span, value): &(proofload_model::time::Offset, u64, f64)| {
        (offset.as_seconds() - *span as f64 / 2e9, *value)
    };
    Trace { instance: series.component.clone(), samples: series.samples.iter().map(middle).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(samples: &[(f64, f64)]) -> Trace {
        Trace { instance: String::new(), samples: samples.to_vec() }
    }

    #[test]
    fn what_is_missing_of_one_is_left_out_in_whatever_order_it_was_read() {
        let first = trace(&[(0.5, 1.0), (1.5, 2.0), (2.5, 3.0), (3.5, 4.0)]);
        let other = [(0.5, 10.0), (1.5 + 1e-7, 20.0), (1.5 + 2e-7, 99.0), (3.5, 40.0)];
        let mut turned = other;
        turned.swap(0, 3);
        for other in [other, turned] {
            let sum = total(&[first.clone(), trace(&other)]).expect("there are two");
            assert_eq!(sum.samples, [(0.5, 11.0), (1.5, 22.0), (3.5, 44.0)]);
        }
    }
}
