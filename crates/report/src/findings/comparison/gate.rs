//! Decides whether the candidate may pass. A gate fails when a loss beyond the tolerance is shown, passes when every loss beyond it is excluded,
//! and cannot tell in between.

use super::super::drills::{PointLosses, lost_against_promise};
use super::super::point::PointFindings;
use super::compare::{Comparison, LEVEL, Row};
use super::metric::{Better, Metric};
use super::pairing::Which;
use crate::error::Error;
use proofload_analysis::compare::holm;
use std::collections::BTreeMap;

/// What becomes of a case that is neither good nor bad.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// It does not pass.
    Fail,
    /// It passes.
    Pass,
}

impl Policy {
    /// Its word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Fail => "fail",
            Self::Pass => "pass",
        }
    }
}

/// What becomes of comparisons whose runs did not alternate: changes of the host between them are not in their intervals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotInTurns {
    /// They are judged, and the outcome says so.
    Warn,
    /// They are undecided, whatever their intervals say.
    Undecided,
}

impl NotInTurns {
    /// Its word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Warn => "warn",
            Self::Undecided => "undecided",
        }
    }
}

/// Rules by which a gate judges.
#[derive(Debug, Clone, PartialEq)]
pub struct Rules {
    /// Largest loss that passes, as a share: throughput may fall to 1 − tolerance, times may rise to 1 + tolerance. `None`: each metric has
    /// its own.
    pub tolerance: Option<f64>,
    /// Tolerances of single metrics.
    pub of_metric: BTreeMap<String, f64>,
    /// Policy for when it cannot tell.
    pub undecided: Policy,
    /// Policy for a point that is void, was not run, or is missing in the candidate.
    pub void: Policy,
    /// Policy for comparisons whose runs did not alternate.
    pub not_in_turns: NotInTurns,
    /// Most acknowledged writes that drills of the candidate may lose under modes that promise none, void drills included; `None`: that is not
    /// asked.
    pub lost: Option<u64>,
}

impl Rules {
    /// The tolerance of a metric: its own, that of an ending `.*`, or the common one.
    fn of(&self, metric: &Metric) -> Result<f64, Error> {
        let (family, kind) = metric.key.family();
        let of_family = || kind.and_then(|_| self.of_metric.get(&format!("{family}.*")));
        let own = self.of_metric.get(&metric.key.to_string()).or_else(of_family);
        let none =
            || Error::new(format!("{} has no tolerance of its own, and there is none for all metrics", metric.key));
        own.copied().or(self.tolerance).ok_or_else(none)
    }
}

/// What a gate says of one comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finding {
    /// A loss beyond the tolerance is excluded: the 95 % interval lies within it.
    Held,
    /// A loss beyond the tolerance is shown, corrected for the number of rows.
    Regressed,
    /// Neither.
    Undecided,
}

impl Finding {
    /// Its word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Regressed => "regressed",
            Self::Undecided => "undecided",
        }
    }
}

/// One comparison judged.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedRow {
    /// Place of the row in [`Comparison::rows`].
    pub row: usize,
    /// The ratio at which the tolerance ends.
    pub limit: f64,
    /// Its tolerance, as a share.
    pub tolerance: f64,
    /// p value of "the loss is within the tolerance", two-sided as the interval is, corrected for the number of rows.
    pub p_corrected: f64,
    /// What is said.
    pub finding: Finding,
}

/// How a gate ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateOutcome {
    /// No reason speaks against it.
    Passed,
    /// A loss is shown, a point is void or missing, or nothing could be compared.
    Failed,
    /// It cannot tell.
    Undecided,
}

impl GateOutcome {
    /// Its word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Undecided => "undecided",
        }
    }
}

/// A comparison judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Gate {
    /// How it ended, before policies.
    pub outcome: GateOutcome,
    /// Whether the candidate may pass, policies included.
    pub passes: bool,
    /// Reasons against it, the gravest first, including those that a policy lets pass.
    pub reasons: Vec<String>,
    /// Each comparison.
    pub rows: Vec<JudgedRow>,
    /// How many comparisons rest on runs that did not alternate.
    pub not_alternated: usize,
}

/// Judges a comparison. The error names a metric that has no better direction.
pub fn gate(comparison: &Comparison<'_>, rules: &Rules) -> Result<Gate, Error> {
    let rows = judged(comparison, rules)?;
    let count = |finding: Finding| rows.iter().filter(|row| row.finding == finding).count();
    let regressed = count(Finding::Regressed);
    let open = count(Finding::Undecided) + comparison.left_out.len();
    let missing = missing(comparison);
    let broken = rules.lost.map(|allowed| broken_promises(comparison, allowed)).unwrap_or_default();
    let mut reasons = broken.clone();
    if regressed > 0 {
        reasons.push(format!("{} shown to exceed the tolerance", losses(regressed)));
    }
    if !missing.is_empty() {
        let passes = if rules.void == Policy::Pass { "; void points pass, as requested" } else { "" };
        reasons.push(format!("{} void or missing: {}{passes}", points(missing.len()), each_once(&missing).join("; ")));
    }
    if rows.is_empty() {
        reasons.push("nothing could be compared".to_owned());
    } else if open > 0 {
        let passes = if rules.undecided == Policy::Pass { "; undecided ones pass, as requested" } else { "" };
        let of = rows.len() + comparison.left_out.len();
        reasons.push(format!("{open} of {} cannot exclude a loss beyond the tolerance{passes}", comparisons(of)));
    }
    let not_alternated = rows.iter().filter(|row| !alternated(comparison, row)).count();
    if not_alternated > 0 && rules.not_in_turns == NotInTurns::Undecided {
        reasons.push(format!(
            "the runs of A and B did not alternate in {}, so these are undecided: measure both with `proofload gate --run A.toml B.toml`, or \
             judge them all the same with --not-in-turns warn",
            comparisons(not_alternated)
        ));
    }
    let failed =
        !broken.is_empty() || regressed > 0 || rows.is_empty() || (!missing.is_empty() && rules.void == Policy::Fail);
    let outcome = match (failed, open) {
        (true, _) => GateOutcome::Failed,
        (false, 0) => GateOutcome::Passed,
        (false, _) => GateOutcome::Undecided,
    };
    let passes = match outcome {
        GateOutcome::Passed => true,
        GateOutcome::Failed => false,
        GateOutcome::Undecided => rules.undecided == Policy::Pass,
    };
    Ok(Gate { outcome, passes, reasons, rows, not_alternated })
}

/// Acknowledged writes that the candidate lost against a promise, when they are more than allowed; drills of it that may lose none and do
/// not tell; or that it has no drill at all.
fn broken_promises(comparison: &Comparison<'_>, allowed: u64) -> Vec<String> {
    let found = lost_against_promise(comparison.candidate.record);
    if found.is_empty() {
        return vec!["B has no drill, so lost writes cannot be checked".to_owned()];
    }
    let label = |id: u32| comparison.findings.1.points.iter().find(|point| point.id == id).map(PointFindings::label);
    let at_points = |count: fn(&PointLosses) -> u64| {
        let counted = found.iter().map(|point| (count(point), point.point)).filter(|(count, _)| *count > 0);
        let told = counted.map(|(count, id)| format!("{count} at {}", label(id).unwrap_or_default()));
        told.collect::<Vec<_>>().join(", ")
    };
    let mut reasons = Vec::new();
    let lost: u64 = found.iter().map(|point| point.lost).sum();
    if lost > allowed {
        let points = at_points(|point| point.lost);
        reasons.push(format!(
            "{lost} acknowledged writes were lost in B under modes that promise no loss; {allowed} are allowed: \
             {points}"
        ));
    }
    let have = match found.iter().map(|point| point.unknown).sum::<usize>() {
        0 => return reasons,
        1 => "1 drill of B that may lose no write has".to_owned(),
        unknown => format!("{unknown} drills of B that may lose no write have"),
    };
    let points = at_points(|point| point.unknown as u64);
    reasons.push(format!("{have} no ledger that was read and adds up, so losses are unknown: {points}"));
    reasons
}

fn losses(count: usize) -> String {
    if count == 1 { "1 loss is".to_owned() } else { format!("{count} losses are") }
}

fn comparisons(count: usize) -> String {
    if count == 1 { "1 comparison".to_owned() } else { format!("{count} comparisons") }
}

fn alternated(comparison: &Comparison<'_>, judged: &JudgedRow) -> bool {
    comparison.rows.get(judged.row).is_some_and(|row| comparison.alternated(row))
}

fn points(count: usize) -> String {
    if count == 1 { "1 point is".to_owned() } else { format!("{count} points are") }
}

/// Points that should have been compared: void or not run in either record, or missing in the candidate.
fn missing(comparison: &Comparison<'_>) -> Vec<String> {
    let one = |pair: usize| {
        if comparison.alone.contains(&(pair, Which::Candidate)) {
            return None;
        }
        let void = comparison.void.iter().filter(|void| void.pair == pair);
        let mut why: Vec<String> = void.map(|void| format!("{} in {}", void.verdict, void.which.letter())).collect();
        if comparison.alone.contains(&(pair, Which::Baseline)) {
            why.push("missing in B".to_owned());
        }
        (!why.is_empty()).then(|| format!("{} ({})", comparison.described(pair), why.join(", ")))
    };
    (0..comparison.pairs.len()).filter_map(one).collect()
}

/// A search tries a void load again, as a point of the same name.
fn each_once(names: &[String]) -> Vec<&str> {
    let mut told: Vec<&str> = Vec::new();
    for name in names {
        if !told.contains(&name.as_str()) {
            told.push(name);
        }
    }
    told
}

fn judged(comparison: &Comparison<'_>, rules: &Rules) -> Result<Vec<JudgedRow>, Error> {
    let mut rows = Vec::new();
    for (index, row) in comparison.rows.iter().enumerate() {
        let tolerance = rules.of(&row.metric)?;
        let (limit, p, held) = judge(row, tolerance)?;
        let finding = if held { Finding::Held } else { Finding::Undecided };
        rows.push(JudgedRow { row: index, limit, tolerance, p_corrected: p, finding });
    }
    let corrected = holm(&rows.iter().map(|row| row.p_corrected).collect::<Vec<_>>());
    for (row, p) in rows.iter_mut().zip(corrected) {
        row.p_corrected = p;
        if p <= LEVEL {
            row.finding = Finding::Regressed;
        }
        if rules.not_in_turns == NotInTurns::Undecided && !alternated(comparison, row) {
            row.finding = Finding::Undecided;
        }
    }
    Ok(rows)
}

/// The limit of the ratio, the p value of "within the limit" (two-sided, so that it agrees with the interval), and whether the
/// 95 % interval lies within.
fn judge(row: &Row, tolerance: f64) -> Result<(f64, f64, bool), Error> {
    let (low, high) = row.contrast.bounds(LEVEL);
    match row.metric.better {
        Better::Higher => {
            let limit = 1.0 - tolerance;
            Ok((limit, (2.0 * row.contrast.p_below(limit)).min(1.0), low >= limit))
        }
        Better::Lower => {
            let limit = 1.0 + tolerance;
            Ok((limit, (2.0 * row.contrast.p_above(limit)).min(1.0), high <= limit))
        }
        Better::Neither => Err(undirected(&row.metric)),
    }
}

pub(super) fn undirected(metric: &Metric) -> Error {
    Error::new(format!("{} has no better direction; a gate needs a throughput or a time", metric.key))
}
