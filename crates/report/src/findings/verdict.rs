//! Every reason why a run is void. May not find anything out: it judges what others have found.

use super::audits::Audit;
use super::drills::verdict::{none_may_be_lost, of_drill};
use super::drills::{promises_none_lost, report_of};
use super::host::disturbance::{HostUse, taken_from_relays};
use super::host::steal::{beyond, blamed, steal};
use super::load::pacing::{KeptLimit, Pacing};
use super::load::standstill::Standstill;
use super::replication::links::late_relays;
use super::telemetry::{longest_silence, traces};
use super::void::Void;
use super::window::warm_up::{WarmUp, WarmUpEnd};
use super::window::whole_run::WholeRun;
use super::window::{FailureCount, Window};
use crate::numbers::counted;
use proofload_analysis::generator::{Doubt, GeneratorCheck};
use proofload_analysis::quantity::Quantity;
use proofload_analysis::validity::{Check as WindowCheck, VoidReason};
use proofload_model::drill::drill;
use proofload_model::events::RunEvent;
use proofload_model::facts::limit;
use proofload_model::samples::{Check, CheckOutcome};
use proofload_model::series::replication;
use proofload_model::settings::Settings;
use proofload_record::Attempt;
use std::collections::BTreeMap;

/// A stretch without telemetry that is longer than this within the window is a gap, seconds.
const LONGEST_SILENCE: f64 = 3.0;

/// Groups of checks that look for every acknowledged operation in the database.
const LOOK_FOR_EACH: &[&str] = &["conservation", "acknowledged", "agreement"];

/// A load generator whose threads waited for a core in this share of the time that they had work was kept from it.
const WAITED: f64 = 0.2;

/// What was asked and is not in force, or cannot be told.
pub(super) fn of_facts(attempt: &Attempt) -> Vec<Void> {
    let mut voids = Vec::new();
    match attempt.seal_holds {
        Some(true) => {}
        Some(false) => {
            let text = "the seal does not match the stored rows: the record was changed after the run";
            voids.push(Void::verification(text));
        }
        None => voids.push(Void::verification("the run finished without a seal: the record was changed after the run")),
    }
    for fact in &attempt.facts {
        let asked = fact.requested.as_deref().unwrap_or("nothing");
        let found = fact.effective.as_deref().unwrap_or("an unknown value");
        let of = if fact.instance.is_standby() { format!("{}: ", fact.instance) } else { String::new() };
        let text = match fact.holds {
            Some(false) => {
                format!("{of}{} {}: asked for {asked}, in force {found} ({})", fact.subject, fact.name, fact.source)
            }
            None if fact.subject == limit::SUBJECT && fact.requested.is_some() => {
                format!("{of}limit {} could not be verified: {}", fact.name, fact.source)
            }
            _ => continue,
        };
        if !voids.iter().any(|void: &Void| void.text == text) {
            voids.push(Void::verification(text));
        }
    }
    voids
}

/// A load that ended before its window; a warm-up that never settled, unless the window decides; of a run that is rated whole, that there is nothing to rate.
pub(super) fn of_start(
    attempt: &Attempt,
    window: Option<Window>,
    whole: Option<&WholeRun>,
    warm_up: Option<&WarmUp>,
    by_window: bool,
) -> Vec<Void> {
    let early = attempt.last_event(|event| match event {
        RunEvent::EndedEarly { seconds } => Some(*seconds),
        _ => None,
    });
    if let Some(seconds) = early {
        let text = format!(
            "all operations were done after {seconds} s, before a window could be measured: raise their number"
        );
        return vec![Void::not_steady(text)];
    }
    if let Some((from, to)) = attempt.told_window().filter(|_| attempt.window().is_none()) {
        let seconds = attempt.intervals.len();
        let text = format!(
            "the recorded window, from second {from} to {to}, is beyond the {seconds} recorded seconds of load"
        );
        return vec![Void::verification(text)];
    }
    let void = match (whole, window, warm_up) {
        (Some(whole), _, _) => whole.voids(),
        (None, None, _) => Some(Void::verification("no measured window was recorded")),
        (None, Some(_), None) => Some(Void::not_steady("no verdict on the warm-up was recorded")),
        (None, Some(window), Some(warm_up)) => (!by_window && warm_up.end == WarmUpEnd::NeverSettled).then(|| {
            let seconds = warm_up.seconds;
            let others = blamed(steal(attempt, (0.0, window.to as f64)).as_ref());
            Void::not_steady(format!("never settled: throughput was not steady after {seconds} s of warm-up{others}"))
        }),
    };
    void.into_iter().collect()
}

/// Gaps, drift and changes of the window, and more steal than is tolerated. What moved while others took more of the host than the study
/// tolerates is the host's; who they are is looked at before throughput is.
pub(super) fn of_window(
    stability: Option<&WindowCheck>,
    host: Option<&HostUse>,
    stolen: Option<&Quantity>,
    tolerated: f64,
    stood: &Standstill,
) -> Vec<Void> {
    let void = |reason: &VoidReason| match (reason, host) {
        (VoidReason::Gap { .. }, _) if stood.seconds > 0 => Void::host(stood.to_string()),
        (VoidReason::Gap { .. }, _) => Void::verification(reason.to_string()),
        (_, None) => Void::not_steady(format!("{reason}{}", blamed(stolen))),
        (_, Some(host)) => match disturbed(Some(host)) {
            Some(others) => Void::host(format!("{reason}; meanwhile {others}")),
            None => Void::not_steady(reason.to_string()),
        },
    };
    let reasons = stability.into_iter().flat_map(|check| &check.voids);
    reasons.map(void).chain(beyond(stolen, tolerated)).collect()
}

/// A stretch of the window without telemetry: the probe was kept from reading, or what it asks did not answer in time. It is told without a
/// look at throughput, so another attempt does not choose the result.
pub(super) fn of_telemetry(attempt: &Attempt, stretch: Option<(f64, f64)>) -> Vec<Void> {
    let silence = stretch.and_then(|stretch| silence(attempt, stretch));
    silence.map(Void::host).into_iter().collect()
}

/// Seconds of the window in which the mode of replication was not in force, and relays of its links that were late.
pub(super) fn of_replication(
    attempt: &Attempt,
    settings: &Settings,
    stretch: Option<(f64, f64)>,
    host: Option<&HostUse>,
) -> Vec<Void> {
    [out_of_force(attempt, stretch), of_links(attempt, settings, stretch, host)].concat()
}

/// Relays that let bytes go too late: the host's fault where others took more of it than the study tolerates.
fn of_links(attempt: &Attempt, settings: &Settings, stretch: Option<(f64, f64)>, host: Option<&HostUse>) -> Vec<Void> {
    let others = host.and_then(|host| taken_from_relays(&host.disturbance, &host.processes, settings));
    let void = |fault: String| match &others {
        Some(others) => Void::host(format!("{fault}; meanwhile {others}")),
        None => Void::verification(fault),
    };
    late_relays(attempt, settings, stretch).into_iter().map(void).collect()
}

fn out_of_force(attempt: &Attempt, stretch: Option<(f64, f64)>) -> Vec<Void> {
    let Some(stretch) = stretch else { return Vec::new() };
    let mut seconds: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for trace in traces(attempt, replication::OUT_OF_FORCE) {
        let out = trace.within(stretch).samples.into_iter().filter(|(_, value)| *value > 0.0);
        seconds.entry(trace.instance).or_default().extend(out.map(|(at, _)| at));
    }
    let void = |(why, at): (String, Vec<f64>)| {
        let (first, last) = (at.first()?.floor(), at.last()?.ceil());
        let readings = counted(at.len(), "reading");
        Some(Void::verification(format!(
            "replication was not in force in {readings} from second {first} to {last}: {why}"
        )))
    };
    seconds.into_iter().filter_map(void).collect()
}

/// The longest stretch without telemetry in words, if it is too long.
pub(super) fn silence(attempt: &Attempt, stretch: (f64, f64)) -> Option<String> {
    let (probe, seconds) = longest_silence(attempt, stretch).filter(|(_, seconds)| *seconds > LONGEST_SILENCE)?;
    Some(format!("telemetry of {probe} is missing for {seconds:.1} s of the measured window"))
}

/// More failed operations than the budget, a share of those that became due. What was too many only by operations that were given up at their
/// deadline is the host's where others took more of it than the study tolerates, or the load generator stood still.
pub(super) fn of_failures(
    failures: FailureCount,
    budget: f64,
    host: Option<&HostUse>,
    stood: &Standstill,
) -> Vec<Void> {
    let FailureCount { failed, due, given_up } = failures;
    if failed == 0 || failures.share() <= budget {
        return Vec::new();
    }
    let (percent, allowed) = (100.0 * failures.share(), 100.0 * budget);
    let late = match given_up {
        0 => String::new(),
        many => format!(", {many} of them without an answer within workload.deadline"),
    };
    let text = format!("{failed} of {due} operations failed ({percent:.3} %){late}; {allowed:.3} % are allowed");
    let outside = disturbed(host).or_else(|| (stood.seconds > 0).then(|| stood.to_string()));
    vec![match outside.filter(|_| failures.answered().share() <= budget) {
        Some(outside) => Void::host(format!("{text}; meanwhile {outside}")),
        None => Void::verification(text),
    }]
}

/// Limits that a paced load missed.
pub(super) fn of_limits(pacing: Option<&Pacing>) -> Vec<Void> {
    let faults = pacing.into_iter().flat_map(|pacing| &pacing.limits).filter_map(KeptLimit::fault);
    faults
        .map(|fault| Void::verification(format!("a response time limit of paced users was exceeded: {fault}")))
        .collect()
}

/// What others took, in words, where it was more than the study tolerates and no limit of the device made it irrelevant.
fn disturbed(host: Option<&HostUse>) -> Option<String> {
    host.and_then(|host| host.blamed.clone())
}

/// A load generator that was the limit. One that started late since its threads waited for a core that others had is the host's fault.
/// Late starts say nothing against a drill, whose prober has a lateness of its own.
pub(super) fn of_generator(check: &GeneratorCheck, host: Option<&HostUse>, is_drill: bool) -> Vec<Void> {
    let waited = host.and_then(|host| host.client_wait).filter(|share| *share >= WAITED);
    let others = disturbed(host);
    let void = |doubt: &Doubt| match (doubt, waited, &others) {
        (Doubt::LateSends { .. }, Some(waited), Some(others)) => Void::host(format!(
            "the load generator waited for a core in {:.0} % of the time in which it had work: {doubt}; meanwhile \
             {others}",
            100.0 * waited
        )),
        _ => Void::generator(format!("generator-bound: {doubt}")),
    };
    let counts = |doubt: &&Doubt| !(is_drill && matches!(doubt, Doubt::LateSends { .. }));
    check.bound.iter().filter(counts).map(void).collect()
}

/// What a drill shows against itself, then sums that differ and checks that failed.
pub(super) fn of_drill_and_checks(attempt: &Attempt, settings: &Settings, audits: &[Audit]) -> Vec<Void> {
    [of_drill(attempt, settings), of_checks(audits, &attempt.checks, nothing_may_be_lost(attempt, settings))].concat()
}

/// Whether sums and checks that look for every acknowledged operation decide: not where a drill may lose some.
fn nothing_may_be_lost(attempt: &Attempt, settings: &Settings) -> bool {
    let Some(asked) = drill(settings).ok().flatten() else { return true };
    match report_of(attempt) {
        Some(report) => none_may_be_lost(report, &asked, settings, &attempt.facts),
        None => promises_none_lost(&asked, settings, &attempt.facts),
    }
}

/// Sums that differ and checks that failed. Where acknowledged operations may be lost, those that look for each of them do not count.
fn of_checks(audits: &[Audit], checks: &[Check], nothing_may_be_lost: bool) -> Vec<Void> {
    let counts = |check: &&Check| nothing_may_be_lost || !LOOK_FOR_EACH.contains(&check.group.as_str());
    let checks: Vec<&Check> = checks.iter().filter(counts).collect();
    let audits = audits.iter().filter(|audit| nothing_may_be_lost || !audit.by_database);
    let audits = audits.filter(|audit| !audit.holds).map(|audit| format!("{}: {}", audit.name, audit.found));
    let checks = checks.into_iter().filter(|check| check.outcome == CheckOutcome::Failed);
    let checks = checks.map(|check| format!("{} {}: {}", check.group, check.name, check.found));
    audits.chain(checks).map(Void::verification).collect()
}
