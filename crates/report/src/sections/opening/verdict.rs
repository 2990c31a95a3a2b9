//! The verdict in a line: how many points are valid, what was checked, or whose fault it is that there is no result and what to do.

use super::next::{again, command};
use super::words::{listed, name};
use crate::blocks::{Inline, OpeningState, Prose, prose};
use crate::findings::{Findings, PointFindings, Verdict, VoidClass, is_mendable, limits_left_out};
use crate::sections::charts::capital;
use proofload_model::facts::{FactName, limit};
use proofload_model::samples::CheckOutcome;
use proofload_model::settings::setting;
use proofload_record::State;
use std::collections::BTreeMap;

/// Points that a line names.
const NAMED: usize = 3;

/// Facts by which a limit is read back, and the setting that asks for it.
const LIMITS: &[(FactName, &str)] = &[
    (limit::MEMORY, setting::LIMITS_MEMORY),
    (limit::CORES, setting::LIMITS_CORES),
    (limit::CPU, setting::LIMITS_CPU),
    (limit::THREAD_CPU, "limits.thread_cpu"),
    (limit::READ_BANDWIDTH, setting::LIMITS_READ_BANDWIDTH),
    (limit::WRITE_BANDWIDTH, setting::LIMITS_WRITE_BANDWIDTH),
    (limit::READ_IOPS, setting::LIMITS_READ_IOPS),
    (limit::WRITE_IOPS, setting::LIMITS_WRITE_IOPS),
];

/// What a point came to: the gravest class of its reasons, and whether it rests on an attempt that was changed after the run.
type Fate = (Option<VoidClass>, bool);

/// The verdict, and whether there is a result. That the record was changed comes first: nothing after it can be relied on.
pub(super) fn verdict(findings: &Findings<'_>) -> (OpeningState, Prose) {
    let (state, text) = of_points(findings);
    let lead = [changed(findings), without(findings)].concat();
    let state = if state == OpeningState::Good && !lead.is_empty() { OpeningState::Partial } else { state };
    (state, [lead, text].concat())
}

fn changed(findings: &Findings<'_>) -> Prose {
    if !findings.was_changed() {
        return Prose::new();
    }
    prose! {
        Inline::Strong(prose!["The record was changed after the run."]), " ",
        command(&format!("proofload verify {}", findings.file_named())), " tells where. "
    }
}

/// Limits that the machine did not allow: what was measured is another study than the file asks for.
fn without(findings: &Findings<'_>) -> Prose {
    match limits_left_out(findings.record).as_slice() {
        [] => Prose::new(),
        left => {
            let head = prose!["Measured without ", left.join(", "), ", which this machine did not allow."];
            prose![Inline::Strong(head), " "]
        }
    }
}

fn of_points(findings: &Findings<'_>) -> (OpeningState, Prose) {
    let (all, valid) = (findings.points.len(), findings.valid().count());
    let finished = findings.points.iter().filter(|point| !point.runs.is_empty()).count();
    match valid {
        0 if finished == 0 => {
            let head = prose!["No result yet: no run of this study is finished. "];
            (OpeningState::Void, [head, last_failure(findings)].concat())
        }
        0 => (OpeningState::Void, none(findings)),
        valid if valid == all => {
            (OpeningState::Good, [counted(valid, all), wide(findings), checked(findings)].concat())
        }
        valid => (OpeningState::Partial, [counted(valid, all), others(findings)].concat()),
    }
}

/// Why the last attempt that failed did.
fn last_failure(findings: &Findings<'_>) -> Prose {
    let told = findings.record.attempts.iter().rev().find_map(|attempt| match &attempt.state {
        State::Failed { .. } if attempt.is_interrupted() => Some(prose!["The last attempt was interrupted. "]),
        State::Failed { reason } => {
            Some(prose!["The last attempt failed: ", reason.trim_end_matches('.').to_owned(), ". "])
        }
        State::Open | State::Finished => None,
    });
    told.unwrap_or_default()
}

fn counted(valid: usize, all: usize) -> Prose {
    let points = if all == 1 { " point valid." } else { " points valid." };
    prose![Inline::Strong(prose![valid, " of ", all, points]), " "]
}

fn wide(findings: &Findings<'_>) -> Prose {
    match findings.points.iter().filter(|point| point.verdict == Verdict::Wide).count() {
        0 => Prose::new(),
        1 => prose!["One has a wider interval than requested. "],
        wide => prose![wide, " have wider intervals than requested. "],
    }
}

/// What was looked at and holds.
fn checked(findings: &Findings<'_>) -> Prose {
    let runs = || findings.points.iter().flat_map(|point| &point.runs);
    let attempts = || runs().filter_map(|run| findings.finished(run.run.index));
    let asked = |name: &FactName| {
        let mut facts = attempts().flat_map(|attempt| &attempt.facts);
        facts.any(|fact| name.is_of(fact) && fact.requested.is_some())
    };
    let limits: Vec<&str> = LIMITS.iter().filter(|(name, _)| asked(name)).map(|(_, setting)| *setting).collect();
    let checks = runs().flat_map(|run| &run.checks).filter(|check| check.outcome == CheckOutcome::Met).count();
    let audits = runs().flat_map(|run| &run.audits).filter(|audit| audit.holds).count();
    let mut text = Prose::new();
    if !limits.is_empty() {
        text.extend(prose!["Limits verified: ", limits.join(", "), ". "]);
    }
    if checks + audits > 0 {
        text.extend(prose![checks + audits, " checks and audits of data and counts passed. "]);
    }
    text
}

/// Points that are no result, grouped by what they came to.
fn others(findings: &Findings<'_>) -> Prose {
    let mut groups: BTreeMap<Fate, Vec<String>> = BTreeMap::new();
    for point in findings.points.iter().filter(|point| !point.verdict.is_valid()) {
        let fate = (class(point), findings.is_point_changed(point));
        groups.entry(fate).or_default().push(name(findings, point));
    }
    let mut text = Prose::new();
    for (fate, names) in groups {
        let verb = if names.len() == 1 { " is " } else { " are " };
        let word = if fate.0.is_some() { "void" } else { "not measured" };
        text.extend(prose![told(&names), verb, word, blame(fate), ". "]);
    }
    text.extend(prose!["Reasons: ", Inline::Reference("validity"), ". "]);
    text
}

/// Names, of which more than a few are counted.
fn told(names: &[String]) -> String {
    match names.len() {
        all if all > NAMED => format!("{all} points"),
        _ => listed(names),
    }
}

/// Fault of a class of reasons, behind a comma.
fn blame((class, is_changed): Fate) -> &'static str {
    match class {
        Some(VoidClass::Verification) if is_changed => ", because the record was changed after the run",
        Some(VoidClass::Verification) => ", because a check failed",
        Some(VoidClass::Host) => ", because of the host",
        Some(VoidClass::NotSteady) => ", because throughput moved or varied too much",
        Some(VoidClass::GeneratorBound) => ", because the load generator was the limit",
        None => "",
    }
}

/// Why no point is valid, and what to do.
fn none(findings: &Findings<'_>) -> Prose {
    let all = findings.points.len();
    let measured = findings.points.iter().filter(|point| !matches!(point.verdict, Verdict::NotRun(_))).count();
    let gravest = findings.points.iter().filter_map(class).min();
    let is_changed = gravest.is_some_and(|gravest| is_changed(findings, gravest));
    let blamed = blame((gravest, is_changed));
    let head = match all {
        1 => prose!["No result: the only point is void", blamed, "."],
        _ if measured < all => {
            prose!["No result yet: ", measured, " of ", all, " points measured, none valid", blamed, "."]
        }
        _ => prose!["No result: none of ", all, " points is valid", blamed, "."],
    };
    let mut text = prose![Inline::Strong(head), " "];
    if let Some((reason, points)) = first_reason(findings, gravest) {
        let of = if points == all { String::new() } else { format!(" ({points} of {measured} points)") };
        text.extend(prose![capital(&reason), of, ". "]);
    }
    text.extend(prose!["Grey values below were observed but support no conclusion. "]);
    text.extend(what_to_do(findings, gravest));
    text
}

/// Tells whether all points of a class are void because their record was changed.
fn is_changed(findings: &Findings<'_>, of: VoidClass) -> bool {
    let mut points = findings.points.iter().filter(|point| class(point) == Some(of));
    points.all(|point| findings.is_point_changed(point))
}

fn what_to_do(findings: &Findings<'_>, gravest: Option<VoidClass>) -> Prose {
    let Some(class) = gravest else { return Prose::new() };
    let mut text = prose![Inline::Strong(prose!["What to do:"]), " "];
    text.extend(again(findings));
    if class == VoidClass::Verification && is_changed(findings, class) {
        text.extend(prose!["Read another copy of the record, or measure again into a new one. "]);
    } else {
        text.extend(prose![capital(class.remedy()), ". "]);
    }
    text
}

/// The most frequent reason of a class, and how many points have it.
fn first_reason(findings: &Findings<'_>, class: Option<VoidClass>) -> Option<(String, usize)> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let first = |point: &PointFindings| match &point.verdict {
        Verdict::Void(reasons) => reasons.iter().find(|reason| Some(reason.class) == class).map(ToString::to_string),
        _ => None,
    };
    for reason in findings.points.iter().filter_map(first) {
        *counts.entry(reason).or_default() += 1;
    }
    counts.into_iter().max_by_key(|(_, count)| *count)
}

/// The gravest class of a void point's reasons.
fn class(point: &PointFindings) -> Option<VoidClass> {
    match &point.verdict {
        Verdict::Void(reasons) => reasons.iter().map(|reason| reason.class).min(),
        _ => None,
    }
}

/// Tells whether a point is void because of the host alone, so that measuring again may mend it.
pub(super) fn is_of_host(point: &PointFindings) -> bool {
    match &point.verdict {
        Verdict::Void(reasons) => is_mendable(reasons),
        _ => false,
    }
}
