//! Every run, check and audit, for those who want to see each: the section on validity has what does not hold.

pub(super) mod estimands;
pub(super) mod input_audits;
pub(super) mod rounds;

use super::section::a_finished_run;
use crate::blocks::{Block, Cell, Column, Inline, Notice, Prose, Table, TableOf, prose};
use crate::findings::{Findings, Measured, PointFindings, RunFindings};
use crate::groups::by_key;
use crate::metrics::CPU_STEAL;
use proofload_analysis::quantity::{Interval, Quantity, Unit};
use proofload_model::samples::{Check, CheckOutcome};
use proofload_model::settings::setting;

pub(super) fn render(findings: &Findings<'_>) -> Vec<Block> {
    if a_finished_run(findings).is_err() {
        return Vec::new();
    }
    let mut blocks = vec![Block::Table(runs(findings))];
    blocks.extend(estimands::table(findings));
    blocks.extend(rounds::tables(findings));
    blocks.push(Block::Table(checks(findings)));
    blocks.extend(input_audits::table(findings).map(Block::Table));
    blocks.push(Block::Table(audits(findings)));
    blocks.extend(found(findings));
    blocks.extend(no_sentinel(findings));
    blocks
}

/// Says that drift of the testbed was not looked for.
fn no_sentinel(findings: &Findings<'_>) -> Option<Block> {
    let setting = Inline::Code(setting::STUDY_SENTINEL_EVERY.to_owned());
    let words = prose!["drift of the testbed during the study; no sentinel point was repeated (", setting, ")."];
    findings.sentinels.is_none().then_some(Block::Notice(Notice::Gap, words))
}

fn runs(findings: &Findings<'_>) -> Table {
    let has_steal = findings.runs().any(|(_, run)| run.steal.is_some());
    let mut note = prose![
        "Little's law: throughput × mean response time must equal the number of users in a closed loop without \
         waits; a deviation of 2 % is allowed."
    ];
    if has_steal {
        note.extend(prose![" Steal: time in which the hypervisor ran other guests while the cores had work."]);
    }
    let caption =
        prose!["Runs: end of the warm-up, drift in the window, failures, and consistency of the closed loop."];
    TableOf::new("table-runs", caption, findings.runs())
        .words("Run", |(point, run)| point.run_label(run))
        .counts("Attempts", |(_, run)| findings.attempts_at(run.run.index) as usize)
        .words("Warm-up", |(_, run)| warm_up(run))
        .quantities("Drift in the window", "% of its mean", |(_, run)| drift(run))
        .when(has_steal, |table| {
            table.column(Column::metric(&CPU_STEAL), |(_, run)| {
                run.steal.clone().map_or(Cell::Gap("not observed".to_owned()), Cell::Quantity)
            })
        })
        .counts("Failed", |(_, run)| run.failures.failed)
        .quantities("Little's law", "% off", |(_, run)| little(run))
        .words("Load generator", |(_, run)| generator(run))
        .note(note)
}

fn drift(run: &RunFindings) -> Measured {
    let unknown = |notes: &Vec<String>| notes.first().cloned().filter(|_| run.whole.is_some());
    let drift = run.stability.as_ref().map(|check| check.drift.clone().ok_or_else(|| unknown(&check.notes)));
    drift
        .unwrap_or(Err(None))
        .map(|drift| drift.scaled(100.0, Unit::PERCENT))
        .map_err(|why| why.unwrap_or_else(|| "the window could not be judged".to_owned()))
}

fn little(run: &RunFindings) -> Measured {
    let audit = run.little.ok_or_else(|| "users wait, or their number is unknown".to_owned())?;
    let n = run.measured().len() as u64;
    Ok(Quantity::new(100.0 * audit.deviation, Unit::PERCENT, n, Interval::none("a comparison of two totals")))
}

fn warm_up(run: &RunFindings) -> Cell {
    match &run.warm_up {
        _ if run.whole.is_some() => rounds::warm_up(run),
        None => Cell::Gap("no verdict was recorded".to_owned()),
        Some(warm_up) => Cell::Prose(prose![warm_up.seconds, " s, ", warm_up.end.text()]),
    }
}

fn generator(run: &RunFindings) -> Cell {
    let doubts: Vec<String> = run.generator.bound.iter().chain(&run.generator.flags).map(ToString::to_string).collect();
    let mut words: Prose = if doubts.is_empty() { prose!["not the limit"] } else { prose![doubts.join("; ")] };
    let not_observed: Vec<String> = run.generator.not_observed.iter().map(ToString::to_string).collect();
    if !not_observed.is_empty() {
        words.extend(prose!["; not observed: ", not_observed.join(", ")]);
    }
    Cell::Prose(words)
}

/// Every check in rows, every point in columns.
fn checks(findings: &Findings<'_>) -> Table {
    let all = || findings.points.iter().flat_map(|point| point.runs.iter().flat_map(|run| &run.checks));
    let mut names: Vec<(String, String, String)> = Vec::new();
    for check in all() {
        if !names.iter().any(|(group, name, _)| *group == check.group && *name == check.name) {
            names.push((check.group.clone(), check.name.clone(), check.rule.clone()));
        }
    }
    let measured: Vec<&PointFindings> = findings.points.iter().filter(|point| !point.runs.is_empty()).collect();
    let caption = if names.is_empty() {
        prose!["Checks after each run: none were recorded."]
    } else {
        prose!["Checks of all data after each run. Failures and findings are listed below the table."]
    };
    TableOf::new("table-checks", caption, names)
        .words("Check", |(group, name, _)| format!("{group}: {name}"))
        .words("Requirement", |(.., rule)| rule.clone())
        .each(measured, |point| Column::words(point.label()), |(group, name, _), point| outcome(point, group, name))
        .table()
}

/// The worst outcome over a point's runs.
fn outcome(point: &PointFindings, group: &str, name: &str) -> Cell {
    let found =
        point.runs.iter().flat_map(|run| &run.checks).filter(|check| check.group == group && check.name == name);
    let outcomes: Vec<CheckOutcome> = found.map(|check| check.outcome).collect();
    let any = |wanted: CheckOutcome| outcomes.contains(&wanted);
    if any(CheckOutcome::Failed) {
        Cell::Verdict(false, "failed")
    } else if any(CheckOutcome::TooSmall) {
        Cell::Prose(prose!["too few samples"])
    } else if any(CheckOutcome::Met) {
        Cell::Verdict(true, "met")
    } else if any(CheckOutcome::NotApplicable) {
        Cell::Prose(prose!["does not apply"])
    } else {
        Cell::Gap("not checked".to_owned())
    }
}

/// Audits, a row for each, with the runs in which it holds and those in which it is broken.
fn audits(findings: &Findings<'_>) -> Table {
    let rows = by_key(findings.runs().flat_map(|(point, run)| {
        run.audits
            .iter()
            .map(move |audit| (audit.name, (audit.holds, format!("{}: {}", point.run_label(run), audit.found))))
    }));
    let of = |all: &[(bool, String)], holds: bool| -> Vec<String> {
        all.iter().filter(|(held, _)| *held == holds).map(|(_, found)| found.clone()).collect()
    };
    let caption = prose![
        "Exact audits of sums: the record compared with itself, with the clients' totals and with the database."
    ];
    TableOf::new("table-audits", caption, rows)
        .words("Audit", |(audit, ..)| audit.to_string())
        .words("Holds", |(_, all)| {
            let holds = all.iter().all(|(holds, _)| *holds);
            Cell::Verdict(holds, if holds { "holds" } else { "broken" })
        })
        .words("Found in each run", |(_, all)| [of(all, false), of(all, true)].concat().join("; "))
        .table()
}

/// What every check found, equal findings together; `None` without any.
fn found(findings: &Findings<'_>) -> Option<Block> {
    let found = by_key(findings.runs().flat_map(|(point, run)| {
        let words = |check: &Check| format!("{} {}: {}", check.group, check.name, check.found);
        run.checks.iter().map(move |check| (words(check), point.run_label(run)))
    }));
    if found.is_empty() {
        return None;
    }
    let all: usize = findings.points.iter().map(|point| point.runs.len()).sum();
    let line = |(words, runs): (String, Vec<String>)| {
        let place = if runs.len() == all { "all runs".to_owned() } else { runs.join(", ") };
        prose![words, " (", place, ")"]
    };
    let lines = found.into_iter().map(line).collect();
    Some(Block::Fold(prose!["Findings of every check"], vec![Block::List(lines)]))
}
