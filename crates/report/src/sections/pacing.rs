//! A paced load: what it reached of the most that its waits allow, and whether its response times kept their limits.

use super::charts::capital;
use crate::blocks::{Block, Cell, Table, cells, columns, prose};
use crate::findings::{Findings, Pacing, PointFindings, RunFindings};
use crate::metrics::{PACED_BY_SCALE, PACED_EFFICIENCY};
use crate::numbers::short;
use crate::workloads::PacedRules;

fn paced_runs<'a>(
    findings: &'a Findings<'_>,
) -> impl Iterator<Item = (&'a PointFindings, &'a RunFindings, &'a Pacing)> {
    findings.runs().filter_map(|(point, run)| Some((point, run, run.pacing.as_ref()?)))
}

pub(super) fn render(findings: &Findings<'_>) -> Vec<Block> {
    let Some(rules) = findings.workload.paced else { return Vec::new() };
    if paced_runs(findings).next().is_none() {
        return Vec::new();
    }
    let (_, counted) = rules.counted;
    let (_, scale, least) = rules.least;
    vec![
        Block::Paragraph(prose! {
            "Terminals hold no session during keying and think times; waiting for a session is part of the response \
             time. The ceiling is the rate that the mean keying and think times of the mix allow with zero response \
             time. Below ", short(least), " ", counted, " per minute and ", scale,
            " the database is too large for its load."
        }),
        Block::Table(reached(findings, &rules)),
        Block::Table(limits(findings, &rules)),
    ]
}

fn reached(findings: &Findings<'_>, rules: &PacedRules) -> Table {
    let (_, counted) = rules.counted;
    let (_, scale, _) = rules.least;
    let row = |point: &PointFindings| {
        let pacing = point.runs.iter().find_map(|run| run.pacing.as_ref())?;
        let [terminals, sessions, later] = pacing.seats.map(number);
        Some(cells! {
            point.label(), terminals, sessions, later, point.metric(PACED_BY_SCALE),
            number(pacing.ceiling_per_minute), point.metric(PACED_EFFICIENCY)
        })
    };
    Table {
        id: "table-pacing",
        caption: prose! {
            capital(counted), " achieved, relative to the rate that the waits allow; rollbacks by design are included."
        },
        columns: columns! {
            point(findings), words("Terminals"), words("Shared sessions"), words("Sessions for queued work"),
            quantities(format!("{} per {scale}", capital(counted)), PACED_BY_SCALE.told),
            words("Ceiling, all terminals, 1/min"), metric(&PACED_EFFICIENCY)
        },
        rows: findings.points.iter().filter_map(row).collect(),
        note: Vec::new(),
    }
}

fn number(value: Option<f64>) -> Cell {
    value.map_or_else(|| Cell::Gap("was not recorded".to_owned()), |value| Cell::datum(short(value)))
}

fn limits(findings: &Findings<'_>, rules: &PacedRules) -> Table {
    let rows = paced_runs(findings).flat_map(|(point, run, pacing)| {
        let name = match point.planned {
            0 | 1 => point.label(),
            _ => format!("{}, run {}", point.label(), run.run.repetition + 1),
        };
        pacing.limits.iter().map(move |limit| {
            let p90 = limit.p90_s.map_or_else(|| Cell::Gap("none completed".to_owned()), |p90| Cell::datum(short(p90)));
            let mean = if limit.count > 0 { Cell::datum(short(limit.mean_s)) } else { Cell::Gap(String::new()) };
            let kept = match limit.fault() {
                _ if limit.count == 0 => Cell::Gap("nothing to compare".to_owned()),
                None => Cell::Verdict(true, "kept"),
                Some(_) => Cell::Verdict(false, "missed"),
            };
            let at_most = Cell::datum(short(limit.at_most_s));
            let kind = Cell::datum(findings.workload.kind_title(limit.kind));
            cells![name.clone(), kind, Cell::Count(limit.count), p90, at_most, mean, kept]
        })
    });
    Table {
        id: "table-pacing-limits",
        caption: prose! {
            "Response times and their limits (", rules.source, "): the limit holds for the 90th percentile, and the \
             mean must not exceed that percentile. A violation voids the run."
        },
        columns: columns! {
            words("Run"), words(findings.workload.work.one_capital), counts("Completed"), words("90th percentile, s"),
            words("Limit, s"), words("Mean, s"), words("Limit")
        },
        rows: rows.collect(),
        note: Vec::new(),
    }
}
