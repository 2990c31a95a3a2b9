//! What was observed near a limit at each point, put into the form that the ranking wants.

use super::curve::Curve;
use super::factor::level_number;
use super::host::disturbance::limits_used;
use super::point::PointFindings;
use super::run::RunFindings;
use super::telemetry::{Trace, of_primary, threads, total, traces, traces_of, unstolen};
use proofload_analysis::bottleneck::{Candidate, Observations, Resource, ResourceKind, Wait, rank};
use proofload_analysis::distribution::mean;
use proofload_model::facts::limit;
use proofload_model::intervention::THREAD_CPU;
use proofload_model::samples::Fact;
use proofload_model::series;
use proofload_record::{Attempt, RunAttempts};
use std::collections::BTreeMap;

/// A step whose elasticity is below this leaves throughput flat.
const FLAT: f64 = 0.1;

/// Shares of fewer sampled sessions than this say nothing.
const LEAST_SESSIONS: f64 = 20.0;

/// What tasks stall for, by the kernel's names.
const STALLS: &[(&str, &str)] = &[("io", "storage"), ("cpu", "the processor"), ("memory", "memory")];

/// Events under which sessions do work rather than wait.
const RUNNING: &[&str] = &["", "running", "CPU", "cpu"];

/// A kind of resource that no probe observes.
const NETWORK: &str = "network";

/// How sure a candidate is: it was seen near a limit. What was lowered in turn is told by the attribution.
pub const NOT_CONFIRMED: &str = "observed, not confirmed by intervention";

/// Mean use of one resource in the window.
#[derive(Debug, Clone, PartialEq)]
pub struct ResourceUse {
    /// What it is called.
    pub name: String,
    /// Share of it that was used, or of time for a stall; 0 to 1.
    pub share: f64,
}

/// The ranking of one point.
#[derive(Debug, Clone)]
pub struct Ranking {
    /// The point.
    pub point: u32,
    /// Candidates, likeliest first; empty when nothing observed was near a limit.
    pub candidates: Vec<Candidate>,
    /// Use of every resource that was observed; of cores and threads the busiest.
    pub uses: Vec<ResourceUse>,
    /// Kinds of resources that nobody observed, so that they cannot be excluded.
    pub not_observed: Vec<&'static str>,
}

/// Ranks what was observed at each point with a finished run.
pub(super) fn rankings(by_run: &RunAttempts<'_>, points: &[PointFindings], curve: Option<&Curve>) -> Vec<Ranking> {
    let measured = points.iter().filter(|point| !point.runs.is_empty());
    measured.map(|point| ranking(by_run, point, flat(point, curve))).collect()
}

fn ranking(by_run: &RunAttempts<'_>, point: &PointFindings, flat: Option<bool>) -> Ranking {
    let attempts: Vec<(&RunFindings, &Attempt)> =
        point.runs.iter().filter_map(|run| Some((run, by_run.finished(run.run.index)?))).collect();
    let mut resources = Vec::new();
    let device = |attempt: &Attempt| traces(attempt, series::device::BUSY);
    resources.extend(observed(&attempts, ResourceKind::Core, "core ", unstolen));
    resources.extend(observed(&attempts, ResourceKind::Thread, "thread ", threads));
    resources.extend(observed(&attempts, ResourceKind::Device, "", device));
    resources.extend(observed(&attempts, ResourceKind::Limit, "", limits));
    resources.extend(observed(&attempts, ResourceKind::Pressure, "", pressure));
    let kinds = [
        (ResourceKind::Core, "cores"),
        (ResourceKind::Thread, "threads of the database"),
        (ResourceKind::Device, "utilization of the storage device"),
        (ResourceKind::Pressure, "pressure-stall information"),
    ];
    let missing = |(kind, name): &(ResourceKind, &'static str)| {
        resources.iter().all(|resource: &Resource| resource.kind != *kind).then_some(*name)
    };
    let mut not_observed: Vec<&'static str> = kinds[..3].iter().filter_map(missing).collect();
    not_observed.push(NETWORK);
    not_observed.extend(kinds[3..].iter().filter_map(missing));
    let waits = waits(&attempts);
    if waits.is_empty() {
        not_observed.push("wait events of the database");
    }
    let (others, database) = (others(point), database(&attempts));
    let observations = Observations { resources, others, database, waits, throughput_flat: flat };
    Ranking { point: point.id, candidates: rank(&observations), uses: uses(&observations), not_observed }
}

/// The processor and its busiest core, the busiest thread, each device, limit and stall.
fn uses(observed: &Observations) -> Vec<ResourceUse> {
    let one = |name: &str, share: f64| ResourceUse { name: name.to_owned(), share };
    let each = |resource: &Resource| ResourceUse { name: resource.title(), share: resource.mean().value() };
    let busiest = |kind| observed.of(kind).map(|resource| resource.mean().value()).reduce(f64::max);
    let processor = observed.own_cpu().map(|shares| mean(&shares));
    let mut uses: Vec<ResourceUse> = processor.map(|share| one("processor", share)).into_iter().collect();
    uses.extend(busiest(ResourceKind::Core).map(|share| one("busiest core", share)));
    uses.extend(busiest(ResourceKind::Thread).map(|share| one("busiest thread", share)));
    for kind in [ResourceKind::Device, ResourceKind::Limit, ResourceKind::Pressure] {
        uses.extend(observed.of(kind).map(each));
    }
    uses
}

/// Resources by instance, the windows of all runs one after the other, as shares.
fn observed(
    attempts: &[(&RunFindings, &Attempt)],
    kind: ResourceKind,
    prefix: &str,
    pick: impl Fn(&Attempt) -> Vec<Trace>,
) -> Vec<Resource> {
    let mut found: Vec<Resource> = Vec::new();
    for (run, attempt) in attempts {
        let Some(window) = run.window_seconds() else { continue };
        for trace in pick(attempt) {
            let values: Vec<f64> = trace.within(window).values().iter().map(|value| value / 100.0).collect();
            let name = format!("{prefix}{}", trace.instance);
            match found.iter_mut().find(|resource| resource.name == name) {
                Some(resource) => resource.utilisation.extend(values),
                None => found.push(Resource { kind, name, utilisation: values }),
            }
        }
    }
    found.retain(|resource| !resource.utilisation.is_empty());
    // Series of unequal length cannot be averaged second by second.
    let shortest = found.iter().map(|resource| resource.utilisation.len()).min().unwrap_or(0);
    for resource in &mut found {
        resource.utilisation.truncate(shortest);
    }
    found
}

/// Limit of the CPU time of one role with its use, on the instance where it is in force.
fn role_used(attempt: &Attempt) -> Option<(&'static str, f64, Trace)> {
    let members = attempt.facts.iter().rfind(|fact| limit::THREAD_MEMBERS.is_of(fact))?;
    let role = members.requested.as_deref()?;
    let is_its = |fact: &&Fact| fact.instance == members.instance && limit::THREAD_CPU.is_of(fact);
    let allowed = attempt.facts.iter().rfind(is_its)?.number?;
    let mut traces = traces_of(attempt, &members.instance, series::threads::ROLE).into_iter();
    let percent = traces.find(|trace| trace.instance == role)?;
    let samples = percent.samples.into_iter().map(|(at, percent)| (at, percent / 100.0)).collect();
    Some((THREAD_CPU, allowed, Trace { samples, ..percent }))
}

/// Use of each limit of CPU time and of the device, per cent of it.
fn limits(attempt: &Attempt) -> Vec<Trace> {
    let share = |(setting, limit, used): (&str, f64, Trace)| {
        let samples = used.samples.into_iter().map(|(at, value)| (at, 100.0 * value / limit));
        Trace { instance: setting.to_owned(), samples: samples.collect() }
    };
    limits_used(attempt).chain(role_used(attempt)).filter(|(_, limit, _)| *limit > 0.0).map(share).collect()
}

/// Mean share of the cores that foreign processes used, over the runs; `None` where one of them does not tell.
fn others(point: &PointFindings) -> Option<f64> {
    let each: Option<Vec<f64>> = point.runs.iter().map(|run| run.host.as_ref()?.disturbance.foreign).collect();
    each.map(|shares| mean(&shares))
}

/// Share of its cores that the database itself used in the windows of all runs, as its group counts it; `None` where one of them has no group.
fn database(attempts: &[(&RunFindings, &Attempt)]) -> Option<Vec<f64>> {
    let mut shares = Vec::new();
    for (run, attempt) in attempts {
        let Some(window) = run.window_seconds() else { continue };
        let used = total(&traces(attempt, series::group::CPU))?.within(window).values();
        let cores = unstolen(attempt).len();
        if cores == 0 {
            return None;
        }
        shares.extend(used.into_iter().map(|used| (used / cores as f64).min(1.0)));
    }
    (!shares.is_empty()).then_some(shares)
}

/// Pressure-stall series: shares of time in per cent in which some task stalled; those in which all did are part of them.
fn pressure(attempt: &Attempt) -> Vec<Trace> {
    let series = of_primary(attempt).filter(|series| series::pressure::SOME.is_of(&series.probe, &series.name));
    let trace = |series: &proofload_record::SeriesPoint| {
        let what = STALLS
            .iter()
            .find(|(known, _)| *known == series.component)
            .map_or(series.component.as_str(), |(_, what)| what);
        let samples =
            series.samples.iter().map(|(offset, span, value)| (offset.as_seconds() - *span as f64 / 2e9, *value));
        Trace { instance: what.to_owned(), samples: samples.collect() }
    };
    series.map(trace).collect()
}

/// Active sessions by wait event, as shares of all active sessions.
fn waits(attempts: &[(&RunFindings, &Attempt)]) -> Vec<Wait> {
    let mut sums: BTreeMap<&str, (f64, u64)> = BTreeMap::new();
    for (run, attempt) in attempts {
        let Some((from, to)) = run.window_seconds() else { continue };
        for series in of_primary(attempt).filter(|series| series.name == series::engine::ACTIVE_SESSIONS.name) {
            let inside = series.samples.iter().filter(|(offset, ..)| (from..to).contains(&offset.as_seconds()));
            let sum = sums.entry(&series.component).or_default();
            for (_, _, value) in inside {
                *sum = (sum.0 + value, sum.1 + 1);
            }
        }
    }
    let all: f64 = sums.values().map(|(sum, _)| sum).sum();
    if all < LEAST_SESSIONS {
        return Vec::new();
    }
    let waiting = sums.iter().filter(|(event, _)| !RUNNING.contains(*event));
    waiting
        .map(|(event, (sum, samples))| Wait { class: (*event).to_owned(), share: sum / all, samples: *samples })
        .collect()
}

/// Whether throughput stayed flat on the step that leads to this point.
fn flat(point: &PointFindings, curve: Option<&Curve>) -> Option<bool> {
    let curve = curve?;
    let level = level_number(point.level(&curve.setting)?)?;
    let mut steps =
        curve.groups.iter().filter(|group| group.label == group_of(point, curve)).flat_map(|group| &group.steps);
    let step = steps.find(|step| step.to == level)?;
    Some(step.elasticity.value() < FLAT)
}

fn group_of(point: &PointFindings, curve: &Curve) -> String {
    super::curve::other_levels(point, &curve.setting)
}
