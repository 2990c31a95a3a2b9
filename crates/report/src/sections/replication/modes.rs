//! The table by mode: throughput, what is kept of it, response times.

use crate::blocks::{Block, Column, Notice, Table, TableOf, prose};
use crate::findings::Findings;
use crate::findings::replication::{ReplicatedPoint, users};
use crate::metrics::{LatencyStatistic, MetricKey, MetricName};
use crate::sections::charts::{shown_value, verdict_cell};
use proofload_model::samples::ALL_KINDS;
use proofload_model::study::{FEWEST_WAREHOUSES_FOR_A_USER, too_few_warehouses as few_of};

/// What sessions of the load are called by their processes: user and database of an instance that is ours.
const SESSIONS: &str = "proofload proofload";

/// Response times of the table: statistic and head.
const RESPONSES: &[(LatencyStatistic, &str)] =
    &[(LatencyStatistic::Mean, "Mean response time"), (LatencyStatistic::P50, "p50"), (LatencyStatistic::P99, "p99")];

/// A role for readers.
pub(super) fn title(role: &str) -> &str {
    if role == SESSIONS { "client sessions" } else { role }
}

/// The table.
pub(super) fn table(findings: &Findings<'_>, points: &[ReplicatedPoint]) -> Table {
    let rates: Vec<MetricName> = std::iter::once(findings.workload.headline)
        .chain(findings.workload.counted.iter().map(|counted| counted.metric))
        .collect();
    let is_kept = points.iter().any(|one| one.kept.as_ref().is_some_and(Result::is_ok));
    let note = if is_kept {
        prose![
            "Kept: throughput in per cent of that without standbys, with all other levels equal. Response times are \
             those of all transactions together."
        ]
    } else {
        prose!["Response times are those of all transactions together."]
    };
    let caption = prose!["Points by what their commits wait for, with 95 % confidence intervals."];
    let rows = points.iter().filter_map(|one| Some((one, findings.point(one.point)?)));
    TableOf::new("table-replication", caption, rows)
        .words("Point", |(_, point)| point.label())
        .counts("Users", |(one, _)| users(findings, one.point))
        .each(rates, Column::metric, |(_, point), metric| shown_value(point, metric.key()))
        .when(is_kept, |table| table.quantities("Kept", "%", |(one, _)| one.kept.clone()))
        .each(
            RESPONSES,
            |(_, head)| Column::quantities(*head, "ms"),
            |(_, point), (statistic, _)| shown_value(point, MetricKey::response(*statistic, ALL_KINDS)),
        )
        .words("Verdict", |(_, point)| verdict_cell(point))
        .note(note)
}

/// A caution where users have so few warehouses that they wait for each other's rows.
pub(super) fn too_few_warehouses(findings: &Findings<'_>, points: &[ReplicatedPoint]) -> Option<Block> {
    let few = points.iter().find_map(|one| {
        let settings = findings.record.plan.settings(&findings.record.study, one.point);
        few_of(&settings)
    });
    let (warehouses, users) = few?;
    let text = prose![
        u64::from(warehouses),
        if warehouses == 1 { " warehouse for " } else { " warehouses for " },
        u64::from(users),
        if users == 1 { " virtual user is" } else { " virtual users are" },
        " fewer than ",
        u64::from(FEWEST_WAREHOUSES_FOR_A_USER),
        " for each. Row locks are held during the wait for the standby, so part of the effect is users waiting for \
         each other."
    ];
    Some(Block::Notice(Notice::Caution, text))
}
