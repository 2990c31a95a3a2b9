//! Why the results may be believed: a line for each kind of check, in full only what does not hold.

pub(super) mod agents;
pub(super) mod lost_sessions;
pub(super) mod reach;
pub(super) mod readiness;
pub(super) mod steal;

use crate::blocks::{Block, Cell, Column, Inline, Notice, Prose, Table, cells, prose};
use crate::findings::{Findings, PointFindings, RunFindings, is_judged_by_movement};
use proofload_model::samples::CheckOutcome;

pub(super) fn render(findings: &Findings<'_>) -> Vec<Block> {
    let mut rules = vec![Block::Paragraph(prose! {
        "A point is valid if its limits were verified, its window lacks no second or reading, throughput did not move \
         significantly, the load generator was not the limit, failures stayed within the budget, and all checks and \
         audits hold. It is wide if its 95 % interval is wider than requested. One void run voids its point, because \
         excluding bad runs would bias the result. ", judge(findings)
    })];
    if super::checks::rounds::any(findings) {
        rules.push(Block::Paragraph(super::checks::rounds::how_judged()));
    }
    let mut blocks = match findings.points.iter().any(has_reasons) {
        true => [rules, vec![Block::Table(verdicts(findings))]].concat(),
        false => vec![Block::Fold(prose!["When a point is valid"], rules)],
    };
    if findings.points.iter().any(|point| !point.runs.is_empty()) {
        blocks.push(Block::List(held(findings)));
        blocks.extend(failed(findings));
        blocks.extend(reach::blocks(findings));
        blocks.extend(steal::warning(findings));
        blocks.extend(readiness::blocks(findings));
        blocks.extend(lost_sessions::blocks(findings));
        blocks.extend(agents::blocks(findings));
        blocks.extend(little(findings));
    }
    blocks.extend(sentinels(findings));
    blocks
}

/// A line for each kind of check that was made: how many hold, and how many do not.
fn held(findings: &Findings<'_>) -> Vec<Prose> {
    let runs = all_runs(findings).count();
    let mut lines = vec![verdict_line(findings)];
    let mut groups: Vec<(&str, CheckTally)> = Vec::new();
    for check in all_runs(findings).flat_map(|run| &run.checks) {
        match groups.iter_mut().find(|(known, _)| *known == check.group) {
            Some((_, tally)) => tally.add(check.outcome),
            None => {
                groups.push((&check.group, CheckTally::default()));
                groups.last_mut().into_iter().for_each(|(_, tally)| tally.add(check.outcome));
            }
        }
    }
    lines.extend(groups.into_iter().map(|(group, tally)| tally.line(super::charts::capital(group), runs)));
    let mut audits = CheckTally::default();
    for audit in all_runs(findings).flat_map(|run| &run.audits) {
        audits.add(if audit.holds { CheckOutcome::Met } else { CheckOutcome::Failed });
    }
    lines.push(audits.line("Audits of sums".to_owned(), runs));
    lines.extend(readiness::line(findings));
    lines.push(prose!["Each check, audit and run: ", Inline::Reference("checks"), "."]);
    lines
}

fn verdict_line(findings: &Findings<'_>) -> Prose {
    let (valid, all) = (findings.valid().count(), findings.points.len());
    let mark = if valid == all { "✓ " } else { "✗ " };
    prose![mark, "Points: ", valid, " of ", all, " valid"]
}

/// Outcomes of checks, counted.
#[derive(Default)]
struct CheckTally {
    met: usize,
    failed: usize,
    small: usize,
    idle: usize,
}

impl CheckTally {
    fn add(&mut self, outcome: CheckOutcome) {
        let count = match outcome {
            CheckOutcome::Met => &mut self.met,
            CheckOutcome::Failed => &mut self.failed,
            CheckOutcome::TooSmall => &mut self.small,
            CheckOutcome::NotApplicable => &mut self.idle,
        };
        *count += 1;
    }

    /// `✓ Consistency: 48 of 48 hold in 4 runs`.
    fn line(&self, what: String, runs: usize) -> Prose {
        let mark = if self.failed == 0 { "✓ " } else { "✗ " };
        let in_runs = if runs == 1 { " hold in 1 run" } else { " hold in " };
        let mut text = prose![mark, what, ": ", self.met, " of ", self.met + self.failed, in_runs];
        if runs != 1 {
            text.extend(prose![runs, " runs"]);
        }
        if self.small > 0 {
            text.extend(prose![", ", self.small, " with too few samples to decide"]);
        }
        if self.idle > 0 {
            text.extend(prose![", ", self.idle, " do not apply"]);
        }
        text
    }
}

/// Checks and audits that do not hold, with offenders.
fn failed(findings: &Findings<'_>) -> Vec<Block> {
    let mut failed: Vec<Prose> = Vec::new();
    for point in &findings.points {
        for run in &point.runs {
            let of_run = point.run_label(run);
            for check in run.checks.iter().filter(|check| check.outcome == CheckOutcome::Failed) {
                let words = format!("{} {}: {}", check.group, check.name, check.found);
                failed.push(failure(&of_run, &words, &check.offenders));
            }
            for audit in run.audits.iter().filter(|audit| !audit.holds) {
                failed.push(failure(&of_run, &format!("{}: {}", audit.name, audit.found), &[]));
            }
        }
    }
    if failed.is_empty() {
        return Vec::new();
    }
    vec![Block::Notice(Notice::Void, prose!["these checks and audits failed:"]), Block::List(failed)]
}

/// The rule by which windows were judged.
fn judge(findings: &Findings<'_>) -> &'static str {
    if findings.record.judged_again {
        "This record is older than the current rule and was judged again by it, as requested. For the original \
         verdicts, omit `--judge new`."
    } else if is_judged_by_movement(findings.record) {
        "A change that reverts counts as noise. CPU use by others voids nothing, but decides whether figures count as \
         those of a quiet host."
    } else {
        "This record is judged by the rule in force when it was made: a warm-up that never settled, a drift or change \
         within the window, or more steal than tolerated voids a run. `proofload report --judge new` applies the \
         current rule."
    }
}

/// Whether there is more to say of a point than that all conditions hold.
fn has_reasons(point: &PointFindings) -> bool {
    !point.verdict.is_valid() || point.told_earlier().is_some()
}

/// The points that are void or were judged otherwise before, and how many are neither.
fn verdicts(findings: &Findings<'_>) -> Table {
    let note = match findings.points.iter().filter(|point| !has_reasons(point)).count() {
        0 => Prose::new(),
        1 => prose!["One other point meets all conditions."],
        others => prose!["The other ", others, " points meet all conditions."],
    };
    let row = |point: &PointFindings| {
        let mut reasons = point.verdict.reasons();
        reasons.extend(point.told_earlier());
        cells! {
            point.label(), Cell::Verdict(point.verdict.is_valid(), point.verdict.word()),
            format!("{} of {}", point.runs.len(), point.planned), Cell::Prose(prose![reasons.join("; ")])
        }
    };
    Table {
        id: "table-verdicts",
        caption: prose!["Points that are void or were judged differently before, with every reason."],
        columns: ["Point", "Verdict", "Runs finished", "Reasons"].map(Column::words).to_vec(),
        rows: findings.points.iter().filter(|point| has_reasons(point)).map(row).collect(),
        note,
    }
}

fn all_runs<'f>(findings: &'f Findings<'_>) -> impl Iterator<Item = &'f RunFindings> {
    findings.runs().map(|(_, run)| run)
}

/// A closed loop that does not add up times something else than it counts.
fn little(findings: &Findings<'_>) -> Option<Block> {
    let runs = || all_runs(findings).filter_map(|run| run.little);
    let off = runs().filter(|audit| !audit.passes()).count();
    (off > 0).then(|| {
        Block::Notice(
            Notice::Caution,
            prose! {
                "in ", off, " of ", runs().count(), " runs, throughput times mean response time differs from the \
                 number of users by more than 2 %: users spent time outside the timed ", findings.workload.work.many,
                ", or counted and timed operations differ."
            },
        )
    })
}

fn failure(run: &str, words: &str, offenders: &[String]) -> Prose {
    let mut text = prose![run.to_owned(), ", ", words.to_owned()];
    if !offenders.is_empty() {
        text.extend(prose!["; offenders: ", offenders.join("; ")]);
    }
    text
}

/// Drift of the testbed over the study; `None` where no sentinel was repeated.
fn sentinels(findings: &Findings<'_>) -> Option<Block> {
    match &findings.sentinels {
        None => None,
        Some(Err(why)) => {
            Some(Block::Notice(Notice::Gap, prose!["drift of the testbed over the study: ", why.clone(), "."]))
        }
        Some(Ok(sentinels)) => {
            let kind = if sentinels.drifted { Notice::Caution } else { Notice::Remark };
            let lead = if sentinels.drifted {
                "the testbed drifted during the study: a repeated point differs significantly from its first run, so \
                 differences of this size between points cannot be attributed to the factor. "
            } else {
                "the sentinel point did not drift significantly. "
            };
            let mut words = prose![lead, "In per cent of its first run: "];
            for (index, (_, quantity)) in sentinels.relative.iter().enumerate() {
                words.extend(prose![if index == 0 { "" } else { ", " }, quantity]);
            }
            words.extend(prose!["."]);
            Some(Block::Notice(kind, words))
        }
    }
}
