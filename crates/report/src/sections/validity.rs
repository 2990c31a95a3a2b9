//! Why the results may be believed, point by point, and why some may not.

use super::section::{Section, always};
use crate::blocks::{Align, Block, Cell, Column, Inline, Notice, Prose, Table, prose};
use crate::findings::{Findings, PointFindings, RunFindings, is_judged_by_movement};
use proofload_analysis::quantity::{Interval, Quantity, Unit};
use proofload_model::samples::CheckOutcome;

/// The section.
pub(super) const SECTION: Section =
    Section { id: "validity", title: "Validity and audits", level: 2, numbered: true, needs: always, render };

/// Where steal stands among a run's columns, when it was observed.
const STEAL_COLUMN: usize = 4;

fn render(findings: &Findings<'_>) -> Vec<Block> {
    let mut blocks = vec![Block::Paragraph(prose![
        "A point is valid when its limits were verified, no second and no reading is missing from its window, no movement of throughput was shown there, the load generator was not the limit, \
             no operation failed beyond the budget, and all checks and audits hold; it is wide when its 95 % interval is wider than asked. One void run voids its point, because leaving out bad runs would choose the result. ",
        judge(findings)
    ])];
    if super::rounds::any(findings) {
        blocks.push(Block::Paragraph(super::rounds::how_judged()));
    }
    blocks.push(Block::Table(verdicts(findings)));
    if findings.points.iter().any(|point| !point.runs.is_empty()) {
        blocks.push(Block::Table(runs(findings)));
        blocks.extend(super::steal::warning(findings));
        blocks.extend(super::estimands::table(findings));
        blocks.extend(super::lost_sessions::blocks(findings));
        blocks.extend(super::agents::blocks(findings));
        blocks.extend(super::rounds::tables(findings));
        blocks.extend(little(findings));
        blocks.push(Block::Table(checks(findings)));
        blocks.extend(super::input_audits::table(findings).map(Block::Table));
        blocks.push(Block::Table(audits(findings)));
        blocks.extend(details(findings));
    }
    blocks.push(sentinels(findings));
    blocks
}

/// The rule by which windows were judged.
fn judge(findings: &Findings<'_>) -> &'static str {
    if findings.record.judged_again {
        "This record is from before today's rule, by which it was judged again as asked; the verdicts of its time are in the report without `--judge new`."
    } else if is_judged_by_movement(findings.record) {
        "A change that returns counts as noise; what others took of the host voids nothing, but decides what the figures may claim."
    } else {
        "This record is judged by the rule of its time: a warm-up that never settled, a drift or a change inside the window, and more steal than tolerated void a run. `proofload report --judge new` applies today's rule."
    }
}

fn verdicts(findings: &Findings<'_>) -> Table {
    let row = |point: &PointFindings| {
        let mut reasons = point.verdict.reasons();
        reasons.extend(point.told_earlier());
        let text = if reasons.is_empty() { prose!["all conditions hold"] } else { prose![reasons.join("; ")] };
        vec![
            Cell::datum(point.label()),
            Cell::Verdict(point.verdict.is_valid(), point.verdict.word()),
            Cell::datum(format!("{} of {}", point.runs.len(), point.planned)),
            Cell::Prose(text),
        ]
    };
    Table {
        id: "table-verdicts",
        caption: prose!["The verdict on every point, with every reason."],
        columns: ["Point", "Verdict", "Runs finished", "Reasons"].map(Column::words).to_vec(),
        rows: findings.points.iter().map(row).collect(),
        note: Vec::new(),
    }
}

fn runs(findings: &Findings<'_>) -> Table {
    let rows = findings.points.iter().flat_map(|point| point.runs.iter().map(move |run| run_row(findings, point, run)));
    let mut table = Table {
        id: "table-runs",
        caption: prose![
            "Runs: how the warm-up ended, how far the window drifted, what failed, and whether the closed loop adds up."
        ],
        columns: vec![
            Column::words("Run"),
            Column::counts("Attempts"),
            Column::words("Warm-up"),
            Column::quantities("Drift in the window", "% of its mean"),
            Column::counts("Failed"),
            Column::quantities("Little's law", "% off"),
            Column::words("Load generator"),
        ],
        rows: rows.collect(),
        note: prose![
            "Little's law: throughput × mean response time must equal the number of users in a closed loop without waits; 2 % are allowed for."
        ],
    };
    super::steal::add_column(&mut table, STEAL_COLUMN, findings);
    table
}

pub(super) fn all_runs<'f>(findings: &'f Findings<'_>) -> impl Iterator<Item = &'f RunFindings> {
    findings.points.iter().flat_map(|point| &point.runs)
}

/// A closed loop that does not add up times something else than it counts.
fn little(findings: &Findings<'_>) -> Option<Block> {
    let runs = || all_runs(findings).filter_map(|run| run.little);
    let off = runs().filter(|audit| !audit.passes()).count();
    (off > 0).then(|| {
        Block::Notice(
            Notice::Caution,
            prose![
                "in ",
                off,
                " of ",
                runs().count(),
                " runs throughput times mean response time differs from the number of users by more than 2 %: \
                 users spent time outside the ",
                findings.workload.work.many,
                " that were timed, or what is counted is not what is timed."
            ],
        )
    })
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
    vec![
        Cell::datum(name(point, run)),
        Cell::Count(attempts as u64),
        warm_up(run),
        super::charts::measured_cell(drift),
        Cell::Count(run.failures.failed),
        little.map_or(Cell::Gap("users wait, or are unknown".to_owned()), Cell::Quantity),
        generator(run),
    ]
}

pub(super) fn name(point: &PointFindings, run: &RunFindings) -> String {
    if point.planned > 1 { format!("{}, run {}", point.label(), run.run.repetition + 1) } else { point.label() }
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
            prose!["Checks over all data after each run. What failed, and what was found, is below the table."]
        },
        columns: [Column::words("Check"), Column::words("What must hold")].into_iter().chain(heads).collect(),
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
        Cell::Prose(prose!["too few to tell"])
    } else if any(CheckOutcome::Met) {
        Cell::Verdict(true, "met")
    } else if any(CheckOutcome::NotApplicable) {
        Cell::Prose(prose!["does not apply"])
    } else {
        Cell::Gap("not checked".to_owned())
    }
}

fn audits(findings: &Findings<'_>) -> Table {
    let mut rows = Vec::new();
    for point in &findings.points {
        for run in &point.runs {
            for audit in &run.audits {
                rows.push(vec![
                    Cell::datum(name(point, run)),
                    Cell::Prose(prose![audit.name]),
                    Cell::datum(audit.found.clone()),
                    Cell::Verdict(audit.holds, if audit.holds { "holds" } else { "broken" }),
                ]);
            }
        }
    }
    Table {
        id: "table-audits",
        caption: prose![
            "Audits of sums, exact: the record against itself, against the clients' totals and against the database."
        ],
        columns: ["Run", "Audit", "Found", "Holds"].map(Column::words).to_vec(),
        rows,
        note: Vec::new(),
    }
}

/// What checks found, in words: failures with offenders, then what every check found, equal findings together.
fn details(findings: &Findings<'_>) -> Vec<Block> {
    let mut failed: Vec<Prose> = Vec::new();
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    for point in &findings.points {
        for run in &point.runs {
            for check in &run.checks {
                let words = format!("{} {}: {}", check.group, check.name, check.found);
                if check.outcome == CheckOutcome::Failed {
                    failed.push(failure(&name(point, run), &words, &check.offenders));
                }
                match found.iter_mut().find(|(known, _)| *known == words) {
                    Some((_, runs)) => runs.push(name(point, run)),
                    None => found.push((words, vec![name(point, run)])),
                }
            }
        }
    }
    let mut blocks = Vec::new();
    if !failed.is_empty() {
        blocks.push(Block::Notice(Notice::Void, prose!["these checks failed:"]));
        blocks.push(Block::List(failed));
    }
    if !found.is_empty() {
        let all: usize = findings.points.iter().map(|point| point.runs.len()).sum();
        let line = |(words, runs): (String, Vec<String>)| {
            let place = if runs.len() == all { "all runs".to_owned() } else { runs.join(", ") };
            prose![words, " (", place, ")"]
        };
        let lines = found.into_iter().map(line).collect();
        blocks.push(Block::Fold(prose!["What every check found"], vec![Block::List(lines)]));
    }
    blocks
}

fn failure(run: &str, words: &str, offenders: &[String]) -> Prose {
    let mut text = prose![run.to_owned(), ", ", words.to_owned()];
    if !offenders.is_empty() {
        text.extend(prose!["; offenders: ", offenders.join("; ")]);
    }
    text
}

fn sentinels(findings: &Findings<'_>) -> Block {
    match &findings.sentinels {
        None => Block::Notice(
            Notice::Gap,
            prose![
                "drift of the testbed over the study; no sentinel point was repeated (",
                Inline::Code("study.sentinel_every".to_owned()),
                ")."
            ],
        ),
        Some(Err(why)) => Block::Notice(Notice::Gap, prose!["drift of the testbed over the study: ", why.clone(), "."]),
        Some(Ok(sentinels)) => {
            let kind = if sentinels.drifted { Notice::Caution } else { Notice::Remark };
            let lead = if sentinels.drifted {
                "the testbed drifted while the study ran: a repeated point differs from its first run by more than chance, so differences between points of this size are not the factor's. "
            } else {
                "the sentinel point did not drift by more than chance. "
            };
            let mut words = prose![lead, "In per cent of its first run: "];
            for (index, (_, quantity)) in sentinels.relative.iter().enumerate() {
                words.extend(prose![if index == 0 { "" } else { ", " }, quantity]);
            }
            words.extend(prose!["."]);
            Block::Notice(kind, words)
        }
    }
}
