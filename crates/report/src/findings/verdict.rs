//! Every reason why a run is void. May not find anything out: it judges what others have found.

use super::audits::Audit;
use super::pacing::{KeptLimit, Pacing};
use super::steal::{beyond, blamed, steal};
use super::telemetry::longest_silence;
use super::void::Void;
use super::warm_up::WarmUp;
use super::whole_run::WholeRun;
use super::window::{FailureCount, Window};
use proofload_analysis::generator::GeneratorCheck;
use proofload_analysis::quantity::Quantity;
use proofload_analysis::validity::{Check as WindowCheck, VoidReason};
use proofload_model::facts::limit;
use proofload_model::samples::{Check, CheckOutcome};
use proofload_record::Attempt;

/// A stretch without telemetry that is longer than this within the window is a gap, seconds.
const LONGEST_SILENCE: f64 = 3.0;

/// What was asked and is not in force, or cannot be told.
pub(super) fn of_facts(attempt: &Attempt) -> Vec<Void> {
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

/// A warm-up that never settled; of a run that is rated whole, that there is nothing to rate.
pub(super) fn of_start(
    attempt: &Attempt,
    window: Option<Window>,
    whole: Option<&WholeRun>,
    warm_up: Option<&WarmUp>,
) -> Vec<Void> {
    let void = match (whole, window, warm_up) {
        (Some(whole), _, _) => whole.voids(),
        (None, None, _) => Some(Void::verification("no measured window was recorded")),
        (None, Some(_), None) => Some(Void::not_steady("no verdict on the warm-up was recorded")),
        (None, Some(window), Some(warm_up)) => (!warm_up.settled).then(|| {
            let seconds = warm_up.seconds;
            let others = blamed(steal(attempt, (0.0, window.to as f64)).as_ref());
            Void::not_steady(format!("never settled: throughput was not steady after {seconds} s of warm-up{others}"))
        }),
    };
    void.into_iter().collect()
}

/// Gaps, drift and changes of the window, and more steal than is tolerated.
pub(super) fn of_window(stability: Option<&WindowCheck>, stolen: Option<&Quantity>, tolerated: f64) -> Vec<Void> {
    let void = |reason: &VoidReason| match reason {
        VoidReason::Gap { .. } => Void::verification(reason.to_string()),
        _ => Void::not_steady(format!("{reason}{}", blamed(stolen))),
    };
    let reasons = stability.into_iter().flat_map(|check| &check.voids);
    reasons.map(void).chain(beyond(stolen, tolerated)).collect()
}

/// A stretch of the window without telemetry.
pub(super) fn of_telemetry(attempt: &Attempt, stretch: Option<(f64, f64)>) -> Vec<Void> {
    let silence = stretch.and_then(|stretch| longest_silence(attempt, stretch));
    let silence = silence.filter(|(_, seconds)| *seconds > LONGEST_SILENCE);
    let text = |(probe, seconds)| format!("telemetry of {probe} is missing for {seconds:.1} s of the measured window");
    silence.map(|silence| Void::verification(text(silence))).into_iter().collect()
}

/// More failed operations than the budget, a share of those that became due.
pub(super) fn of_failures(failures: FailureCount, budget: f64) -> Vec<Void> {
    let FailureCount { failed, due } = failures;
    if failed == 0 || failures.share() <= budget {
        return Vec::new();
    }
    let (percent, allowed) = (100.0 * failures.share(), 100.0 * budget);
    let text = format!("{failed} of {due} operations failed, {percent:.3} % where {allowed:.3} % are allowed");
    vec![Void::verification(text)]
}

/// Limits that a paced load missed.
pub(super) fn of_limits(pacing: Option<&Pacing>) -> Vec<Void> {
    let faults = pacing.into_iter().flat_map(|pacing| &pacing.limits).filter_map(KeptLimit::fault);
    faults.map(|fault| Void::verification(format!("a limit of paced users was missed: {fault}"))).collect()
}

/// A load generator that was the limit.
pub(super) fn of_generator(check: &GeneratorCheck) -> Vec<Void> {
    check.bound.iter().map(|doubt| Void::generator(format!("generator-bound: {doubt}"))).collect()
}

/// Sums that differ and checks that failed.
pub(super) fn of_checks(audits: &[Audit], checks: &[Check]) -> Vec<Void> {
    let audits = audits.iter().filter(|audit| !audit.holds).map(|audit| format!("{}: {}", audit.name, audit.found));
    let checks = checks.iter().filter(|check| check.outcome == CheckOutcome::Failed);
    let checks = checks.map(|check| format!("{} {}: {}", check.group, check.name, check.found));
    audits.chain(checks).map(Void::verification).collect()
}
