//! A paced load: what it reached of the most that its waits allow, and whether its response times kept their limits.

use super::charts::capital;
use crate::blocks::{Block, Cell, Column, Table, TableOf, prose};
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
    let rows = findings.points.iter();
    let rows = rows.filter_map(|point| Some((point, point.runs.iter().find_map(|run| run.pacing.as_ref())?)));
    let caption = prose! {
        capital(counted), " achieved, relative to the rate that the waits allow; rollbacks by design are included."
    };
    let by_scale = Column::quantities(format!("{} per {scale}", capital(counted)), PACED_BY_SCALE.told);
    TableOf::new("table-pacing", caption, rows)
        .column(Column::point(findings), |(point, _)| point.label())
        .words("Terminals", |(_, pacing)| number(pacing.seats[0]))
        .words("Shared sessions", |(_, pacing)| number(pacing.seats[1]))
        .words("Sessions for queued work", |(_, pacing)| number(pacing.seats[2]))
        .column(by_scale, |(point, _)| point.metric(PACED_BY_SCALE))
        .words("Ceiling, all terminals, 1/min", |(_, pacing)| number(pacing.ceiling_per_minute))
        .column(Column::metric(&PACED_EFFICIENCY), |(point, _)| point.metric(PACED_EFFICIENCY))
        .table()
}

fn number(value: Option<f64>) -> Cell {
    value.map_or_else(|| Cell::Gap("was not recorded".to_owned()), |value| Cell::datum(short(value)))
}

fn limits(findings: &Findings<'_>, rules: &PacedRules) -> Table {
    let rows = paced_runs(findings)
        .flat_map(|(point, run, pacing)| pacing.limits.iter().map(move |limit| (point.run_label(run), limit)));
    let caption = prose! {
        "Response times and their limits (", rules.source, "): the limit holds for the 90th percentile, and the \
         mean must not exceed that percentile. A violation voids the run."
    };
    TableOf::new("table-pacing-limits", caption, rows)
        .words("Run", |(run, _)| run.clone())
        .words(findings.workload.work.one_capital, |(_, limit)| findings.workload.kind_title(limit.kind))
        .counts("Completed", |(_, limit)| limit.count)
        .words("90th percentile, s", |(_, limit)| {
            limit.p90_s.map_or_else(|| Cell::Gap("none completed".to_owned()), |p90| Cell::datum(short(p90)))
        })
        .words("Limit, s", |(_, limit)| short(limit.at_most_s))
        .words("Mean, s", |(_, limit)| match limit.count {
            0 => Cell::Gap(String::new()),
            _ => Cell::datum(short(limit.mean_s)),
        })
        .words("Limit", |(_, limit)| match limit.fault() {
            _ if limit.count == 0 => Cell::Gap("nothing to compare".to_owned()),
            None => Cell::Verdict(true, "kept"),
            Some(_) => Cell::Verdict(false, "missed"),
        })
        .table()
}
