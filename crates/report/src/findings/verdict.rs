//! Every reason why a run is void. May not find anything out: it judges what others have found.

use super::pacing::KeptLimit;
use super::run::RunFindings;
use super::steal::{beyond, blamed, steal};
use super::telemetry::longest_silence;
use super::void::Void;
use super::whole_run::WholeRun;
use proofload_analysis::validity::VoidReason;
use proofload_model::facts::limit;
use proofload_model::samples::CheckOutcome;
use proofload_model::study::Procedure;
use proofload_record::Attempt;

/// A stretch without telemetry that is longer than this within the window is a gap, seconds.
const LONGEST_SILENCE: f64 = 3.0;

/// Every reason to void the run.
pub(super) fn voids(findings: &RunFindings, attempt: &Attempt, procedure: Option<&Procedure>) -> Vec<Void> {
    let mut voids = fact_voids(attempt);
    voids.extend(window_voids(findings, attempt, procedure));
    voids.extend(failure_voids(findings, procedure));
    let limits = findings.pacing.iter().flat_map(|pacing| &pacing.limits);
    voids.extend(
        limits
            .filter_map(KeptLimit::fault)
            .map(|fault| Void::verification(format!("a limit of paced users was missed: {fault}"))),
    );
    voids.extend(findings.generator.bound.iter().map(|doubt| Void::generator(format!("generator-bound: {doubt}"))));
    let audits = findings.audits.iter().filter(|audit| !audit.holds);
    voids.extend(audits.map(|audit| Void::verification(format!("{}: {}", audit.name, audit.found))));
    for check in findings.checks.iter().filter(|check| check.outcome == CheckOutcome::Failed) {
        voids.push(Void::verification(format!("{} {}: {}", check.group, check.name, check.found)));
    }
    voids
}

/// What was asked and is not in force, or cannot be told.
fn fact_voids(attempt: &Attempt) -> Vec<Void> {
    let mut voids = Vec::new();
    match attempt.seal_holds {
        Some(true) => {}
        Some(false) => {
            let text = "the seal does not fit the stored rows: the record was changed after the run";
            voids.push(Void::verification(text));
        }
        None => voids.push(Void::verification("the run has finished without a seal: the record was changed after it")),
    }
    for fact in &attempt.facts {
        let asked = fact.requested.as_deref().unwrap_or("nothing");
        let found = fact.effective.as_deref().unwrap_or("an unknown value");
        let text = match fact.holds {
            Some(false) => {
                format!("{} {}: asked for {asked}, in force {found} ({})", fact.subject, fact.name, fact.source)
            }
            None if fact.subject == limit::SUBJECT && fact.requested.is_some() => {
                format!("limit {} could not be verified: {}", fact.name, fact.source)
            }
            _ => continue,
        };
        if !voids.iter().any(|void: &Void| void.text == text) {
            voids.push(Void::verification(text));
        }
    }
    voids
}

fn window_voids(findings: &RunFindings, attempt: &Attempt, procedure: Option<&Procedure>) -> Vec<Void> {
    let mut voids = Vec::new();
    match &findings.warm_up {
        _ if findings.whole.is_some() => voids.extend(findings.whole.as_ref().and_then(WholeRun::voids)),
        _ if findings.window.is_none() => voids.push(Void::verification("no measured window was recorded")),
        None => voids.push(Void::not_steady("no verdict on the warm-up was recorded")),
        Some(warm_up) if !warm_up.settled => {
            let seconds = warm_up.seconds;
            let others = findings.window.and_then(|(_, to)| steal(attempt, (0.0, to as f64)));
            voids.push(Void::not_steady(format!(
                "never settled: throughput was not steady after {seconds} s of warm-up{}",
                blamed(others.as_ref())
            )));
        }
        Some(_) => {}
    }
    for reason in findings.stability.iter().flat_map(|check| &check.voids) {
        voids.push(match reason {
            VoidReason::Gap { .. } => Void::verification(reason.to_string()),
            _ => Void::not_steady(format!("{reason}{}", blamed(findings.steal.as_ref()))),
        });
    }
    let tolerated = procedure.map_or(1.0, |procedure| procedure.steal_tolerance);
    voids.extend(beyond(findings.steal.as_ref(), tolerated));
    let silence = findings.window_seconds().and_then(|window| longest_silence(attempt, window));
    if let Some((probe, seconds)) = silence.filter(|(_, seconds)| *seconds > LONGEST_SILENCE) {
        let text = format!("telemetry of {probe} is missing for {seconds:.1} s of the measured window");
        voids.push(Void::verification(text));
    }
    voids
}

fn failure_voids(findings: &RunFindings, procedure: Option<&Procedure>) -> Option<Void> {
    let (failed, due) = findings.failures;
    let budget = procedure.map_or(0.0, |procedure| procedure.error_budget);
    let share = failed as f64 / due.max(1) as f64;
    let (percent, allowed) = (100.0 * share, 100.0 * budget);
    (failed > 0 && share > budget).then(|| {
        Void::verification(format!(
            "{failed} of {due} operations failed, {percent:.3} % where {allowed:.3} % are allowed"
        ))
    })
}
