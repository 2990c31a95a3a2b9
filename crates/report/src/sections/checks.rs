//! Every run, check and audit, for those who want to see each: the section on validity has what does not hold.

use super::section::a_finished_run;
use crate::blocks::{Align, Block, Cell, Column, Inline, Notice, Prose, Table, cells, columns, prose};
use crate::findings::{Findings, PointFindings, RunFindings};
use proofload_analysis::quantity::{Interval, Quantity, Unit};
use proofload_model::samples::CheckOutcome;

/// Where steal stands among a run's columns, when it was observed.
const STEAL_COLUMN: usize = 4;

pub(super) fn render(findings: &Findings<'_>) -> Vec<Block> {
    if a_finished_run(findings).is_err() {
        return Vec::new();
    }
    let mut blocks = vec![Block::Table(runs(findings))];
    blocks.extend(super::estimands::table(findings));
    blocks.extend(super::rounds::tables(findings));
    blocks.push(Block::Table(checks(findings)));
    blocks.extend(super::input_audits::table(findings).map(Block::Table));
    blocks.push(Block::Table(audits(findings)));
    blocks.extend(found(findings));
    blocks.extend(no_sentinel(findings));
    blocks
}

/// Says that drift of the testbed was not looked for.
fn no_sentinel(findings: &Findings<'_>) -> Option<Block> {
    let setting = Inline::Code("study.sentinel_every".to_owned());
    let words = prose!["drift of the testbed during the study; no sentinel point was repeated (", setting, ")."];
    findings.sentinels.is_none().then_some(Block::Notice(Notice::Gap, words))
}

fn runs(findings: &Findings<'_>) -> Table {
    let rows = findings.points.iter().flat_map(|point| point.runs.iter().map(move |run| run_row(findings, point, run)));
    let mut table = Table {
        id: "table-runs",
        caption: prose!["Runs: end of the warm-up, drift in the window, failures, and consistency of the closed loop."],
        columns: columns! {
            words("Run"), counts("Attempts"), words("Warm-up"), quantities("Drift in the window", "% of its mean"),
            counts("Failed"), quantities("Little's law", "% off"), words("Load generator")
        },
        rows: rows.collect(),
        note: prose![
            "Little's law: throughput × mean response time must equal the number of users in a closed loop without \
             waits; a deviation of 2 % is allowed."
        ],
    };
    super::steal::add_column(&mut table, STEAL_COLUMN, findings);
    table
}

fn run_row(findings: &Findings<'_>, point: &PointFindings, run: &RunFindings) -> Vec<Cell> {
    let attempts = findings.record.attempts.iter().filter(|attempt| attempt.run.index == run.run.index).count();
    let unknown = |notes: &Vec<String>| notes.first().cloned().filter(|_| run.whole.is_some());
    let drift = run.stability.as_ref().map(|check| check.drift.clone().ok_or_else(|| unknown(&check.notes)));
    let drift = drift
        .unwrap_or(Err(None))
        .map(|drift| drift.scaled(100.0, Unit::PERCENT))
        .map_err(|why| why.unwrap_or_else(|| "the window could not be judged".to_owned()));
    let little = run.little.map(|audit| {
        let n = run.measured().len() as u64;
        Quantity::new(100.0 * audit.deviation, Unit::PERCENT, n, Interval::none("a comparison of two totals"))
    });
    cells! {
        point.run_label(run), Cell::Count(attempts as u64), warm_up(run), drift, Cell::Count(run.failures.failed),
        little.map_or(Cell::Gap("users wait, or their number is unknown".to_owned()), Cell::Quantity), generator(run)
    }
}

fn warm_up(run: &RunFindings) -> Cell {
    match &run.warm_up {
        _ if run.whole.is_some() => super::rounds::warm_up(run),
        None => Cell::Gap("no verdict was recorded".to_owned()),
        Some(warm_up) => Cell::Prose(prose![warm_up.seconds, " s, ", warm_up.end.text()]),
    }
}

fn generator(run: &RunFindings) -> Cell {
    let doubts: Vec<String> = run.generator.bound.iter().chain(&run.generator.flags).map(ToString::to_string).collect();
    let mut words: Prose = if doubts.is_empty() { prose!["not the limit"] } else { prose![doubts.join("; ")] };
    if !run.generator.not_observed.is_empty() {
        words.extend(prose!["; not observed: ", run.generator.not_observed.join(", ")]);
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
    let rows = names.iter().map(|(group, name, rule)| {
        let start = [Cell::datum(format!("{group}: {name}")), Cell::datum(rule.clone())];
        start.into_iter().chain(measured.iter().map(|point| outcome(point, group, name))).collect()
    });
    let heads = measured.iter().map(|point| Column { title: prose![point.label()], unit: None, align: Align::Left });
    Table {
        id: "table-checks",
        caption: if names.is_empty() {
            prose!["Checks after each run: none were recorded."]
        } else {
            prose!["Checks of all data after each run. Failures and findings are listed below the table."]
        },
        columns: [Column::words("Check"), Column::words("Requirement")].into_iter().chain(heads).collect(),
        rows: rows.collect(),
        note: Vec::new(),
    }
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
    let mut rows: Vec<(&str, Vec<String>, Vec<String>)> = Vec::new();
    for point in &findings.points {
        for run in &point.runs {
            for audit in &run.audits {
                let known = rows.iter().position(|(known, ..)| *known == audit.name).unwrap_or_else(|| {
                    rows.push((audit.name, Vec::new(), Vec::new()));
                    rows.len() - 1
                });
                let found = format!("{}: {}", point.run_label(run), audit.found);
                if audit.holds { rows[known].1.push(found) } else { rows[known].2.push(found) }
            }
        }
    }
    let row = |(audit, holds, broken): (&str, Vec<String>, Vec<String>)| {
        let word = if broken.is_empty() { "holds" } else { "broken" };
        cells![audit.to_owned(), Cell::Verdict(broken.is_empty(), word), [broken, holds].concat().join("; ")]
    };
    Table {
        id: "table-audits",
        caption: prose![
            "Exact audits of sums: the record compared with itself, with the clients' totals and with the database."
        ],
        columns: ["Audit", "Holds", "Found in each run"].map(Column::words).to_vec(),
        rows: rows.into_iter().map(row).collect(),
        note: Vec::new(),
    }
}

/// What every check found, equal findings together; `None` without any.
fn found(findings: &Findings<'_>) -> Option<Block> {
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    for point in &findings.points {
        for run in &point.runs {
            for check in &run.checks {
                let words = format!("{} {}: {}", check.group, check.name, check.found);
                match found.iter_mut().find(|(known, _)| *known == words) {
                    Some((_, runs)) => runs.push(point.run_label(run)),
                    None => found.push((words, vec![point.run_label(run)])),
                }
            }
        }
    }
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
