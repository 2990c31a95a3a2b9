//! What protection costs: modes of replication beside each other, and which role pays.

use super::charts::{measured_cell, metric_column, milliseconds, shown_value};
use super::section::{Section, always};
use crate::blocks::{Block, Cell, Column, Inline, Prose, Table, prose};
use crate::findings::replication::{MODE, NodeUse, ReplicatedPoint, RoleUse, SERIAL_FROM, replicated, users};
use crate::findings::{Findings, PointFindings};
use crate::metrics::RESPONSE_P99;
use crate::numbers::short;
use proofload_model::events::{ReplicationProof, RunEvent};
use proofload_model::facts::replication as facts;
use proofload_model::replication::ReplicationMode;
use std::collections::BTreeSet;

/// The section.
pub(super) const SECTION: Section =
    Section { id: "replication", title: "What protection costs", level: 3, numbered: true, needs: always, render };

/// Roles that are listed of each node.
const LISTED: usize = 5;

/// Use of a core below which a role is not listed, %.
const LEAST_LISTED: f64 = 0.1;

/// What sessions of the load are called by their processes: user and database of an instance that is ours.
const SESSIONS: &str = "proofload proofload";

fn render(findings: &Findings<'_>) -> Vec<Block> {
    let points = replicated(findings);
    if points.is_empty() {
        return Vec::new();
    }
    vec![
        Block::Paragraph(answer(findings)),
        Block::Table(modes(findings, &points)),
        Block::Paragraph(proved(findings, &points)),
        Block::Table(behind(findings, &points)),
        Block::Table(roles(findings, &points)),
        Block::Paragraph(limits_of_this()),
    ]
}

/// The answer: what each point with standbys keeps, and whether a single thread is the reason; empty in a study without standbys.
pub(super) fn answer(findings: &Findings<'_>) -> Prose {
    let points = replicated(findings);
    [kept(findings, &points), serial(findings, &points)].concat()
}

fn kept(findings: &Findings<'_>, points: &[ReplicatedPoint]) -> Prose {
    let known = points.iter().filter_map(|one| Some((point(findings, one)?, one.kept.as_ref()?.as_ref().ok()?)));
    let mut text = Prose::new();
    for (number, (point, kept)) in known.enumerate() {
        let lead = if number == 0 { "Of the throughput without standbys, " } else { ", " };
        let verb = if number == 0 { " keeps " } else { " " };
        text.extend(prose![lead, Inline::Strong(prose![point.label()]), verb, (kept, "%")]);
    }
    let users: BTreeSet<u64> = points.iter().filter_map(|one| users(findings, one.point)).collect();
    if let (false, [users]) = (text.is_empty(), users.into_iter().collect::<Vec<_>>().as_slice()) {
        text.extend(prose![", at ", *users, if *users == 1 { " virtual user" } else { " virtual users" }, " each"]);
    }
    if !text.is_empty() {
        text.extend(prose![". "]);
    }
    text
}

/// The role with a single thread that used most of a core at any point with standbys.
fn serial(findings: &Findings<'_>, points: &[ReplicatedPoint]) -> Prose {
    let with_standbys = points.iter().filter(|one| one.mode != ReplicationMode::None);
    let all = with_standbys.filter_map(|one| Some((point(findings, one)?, one.busiest_single()?)));
    let busiest = all.max_by(|(_, (_, a)), (_, (_, b))| a.cpu.value().total_cmp(&b.cpu.value()));
    let Some((point, (node, role))) = busiest else { return Prose::new() };
    let lead = match role.is_serial_limit() {
        true => "One thread can do no more: ",
        false => "No role with a single thread is at its limit; the busiest is ",
    };
    prose![
        lead,
        role.role.clone(),
        " of ",
        node.to_string(),
        " at ",
        point.label(),
        ", with ",
        (&role.cpu, "%"),
        " of a core. "
    ]
}

fn point<'a>(findings: &'a Findings<'_>, replicated: &ReplicatedPoint) -> Option<&'a PointFindings> {
    findings.points.iter().find(|point| point.id == replicated.point)
}

fn modes(findings: &Findings<'_>, points: &[ReplicatedPoint]) -> Table {
    let headline = findings.workload.headline;
    let columns = vec![
        Column::words("Point"),
        metric_column(&headline),
        Column::quantities("Kept", "%"),
        Column::quantities("Mean response time", "ms"),
        Column::quantities(RESPONSE_P99.title, "ms"),
        Column::words("Verdict"),
    ];
    let row = |replicated: &ReplicatedPoint| {
        let point = point(findings, replicated)?;
        Some(vec![
            Cell::datum(point.label()),
            measured_cell(shown_value(point, headline.name)),
            replicated.kept.clone().map_or(Cell::Empty, measured_cell),
            measured_cell(milliseconds(point.metric("response_ns_mean.all"))),
            measured_cell(milliseconds(point.metric(RESPONSE_P99.name))),
            Cell::Verdict(point.verdict.is_valid(), point.verdict.word()),
        ])
    };
    Table {
        id: "table-replication",
        caption: prose!["Points with standbys beside the one without, with 95 % confidence intervals."],
        columns,
        rows: points.iter().filter_map(row).collect(),
        note: prose!["Kept: throughput in per cent of that without standbys at the same other levels."],
    }
}

/// Log of the primary, and how far standbys were behind it.
fn behind(findings: &Findings<'_>, points: &[ReplicatedPoint]) -> Table {
    let with_standbys = points.iter().filter(|one| one.mode != ReplicationMode::None);
    let row = |replicated: &ReplicatedPoint| {
        let label = point(findings, replicated)?.label();
        let cells =
            [&replicated.log, &replicated.behind, &replicated.most_behind].map(|one| measured_cell(one.clone()));
        Some(std::iter::once(Cell::datum(label)).chain(cells).collect())
    };
    Table {
        id: "table-behind",
        caption: prose!["Log, and how far standbys were behind."],
        columns: vec![
            Column::words("Point"),
            Column::quantities("Log", "MB/s"),
            Column::quantities("Behind, mean", "MB"),
            Column::quantities("Behind, most", "MB"),
        ],
        rows: with_standbys.filter_map(row).collect(),
        note: prose![
            "Behind: log that the primary had flushed and the standbys had not applied, read once a second; the mean is of all standbys together, the \
             most of any."
        ],
    }
}

/// What was proved before the runs.
fn proved(findings: &Findings<'_>, points: &[ReplicatedPoint]) -> Prose {
    let runs = points.iter().filter_map(|replicated| point(findings, replicated)).flat_map(|point| &point.runs);
    let proofs: Vec<ReplicationProof> = runs
        .filter_map(|run| {
            findings.record.finished(run.run.index)?.last_event(|event| match event {
                RunEvent::ReplicationProved(proof) => Some(*proof),
                _ => None,
            })
        })
        .collect();
    if proofs.is_empty() {
        return prose![
            "The standbys are those of an existing server. Before each run and in each second the level that a connection had, the server's names and the              standbys that streamed were read; a second out of force voids the point. Nothing was withheld, so that the mode is as the server says it."
        ];
    }
    let latest = proofs.iter().map(|proof| proof.in_force_after).fold(0.0, f64::max);
    let waiting = proofs.iter().filter(|proof| proof.waited_for_link).count();
    let applying = proofs.iter().filter(|proof| proof.waited_for_apply).count();
    prose![
        "Proved before ",
        runs_of(proofs.len()),
        " with standbys, whose mode was in force at most ",
        short(latest),
        " s after the last start: while the standbys received no log, a commit waited more than 0.5 s in ",
        runs_of(waiting),
        " and ended in the others, as their modes say; while they applied none, in ",
        applying,
        ". The mode was looked at in each second; one out of force voids the point. Standbys were started from the primary's snapshot, and ",
        network(findings, points),
    ]
}

/// A number of runs.
fn runs_of(count: usize) -> String {
    if count == 1 { "1 run".to_owned() } else { format!("{count} runs") }
}

/// How standbys were connected.
fn network(findings: &Findings<'_>, points: &[ReplicatedPoint]) -> String {
    let trips: Vec<f64> = points.iter().filter_map(|one| round_trip(findings, one)).collect();
    let least = trips.iter().copied().fold(f64::INFINITY, f64::min);
    let most = trips.iter().copied().fold(0.0, f64::max);
    if trips.is_empty() {
        return "connected directly: no delay was added.".to_owned();
    }
    let range = if trips.len() == 1 { short(most) } else { format!("{} to {}", short(least), short(most)) };
    format!(
        "connected through a relay of ours, whose round trip was measured 100 times before each run: medians of {range} ms. It adds a delay \
         and a rate to what is sent; nothing is lost, reordered or resent as on a network."
    )
}

/// Median round trip to the standbys of a point, over its runs, ms; `None` where they were connected directly.
fn round_trip(findings: &Findings<'_>, replicated: &ReplicatedPoint) -> Option<f64> {
    let runs = &point(findings, replicated)?.runs;
    let facts =
        runs.iter().filter_map(|run| findings.record.finished(run.run.index)).flat_map(|attempt| &attempt.facts);
    let trips: Vec<f64> = facts.filter(|fact| facts::RTT_P50.is_of(fact)).filter_map(|fact| fact.number).collect();
    (!trips.is_empty()).then(|| trips.iter().sum::<f64>() / trips.len() as f64)
}

fn roles(findings: &Findings<'_>, points: &[ReplicatedPoint]) -> Table {
    let rows = points.iter().flat_map(|replicated| {
        let label = point(findings, replicated).map(PointFindings::label).unwrap_or_default();
        replicated.nodes.iter().map(move |node| {
            vec![
                Cell::datum(label.clone()),
                Cell::datum(node.instance.to_string()),
                measured_cell(node.cpu.clone()),
                busiest(node).map_or(Cell::Empty, |role| Cell::Quantity(role.cpu.clone())),
                busiest(node).map_or(Cell::Empty, |role| Cell::datum(role.role.clone())),
                Cell::Prose(prose![in_words(node)]),
            ]
        })
    });
    Table {
        id: "table-roles",
        caption: prose!["CPU time of each node and of its roles."],
        columns: vec![
            Column::words("Point"),
            Column::words("Node"),
            Column::quantities("All processes", "CPU s/s"),
            Column::quantities("Busiest single thread", "% of a core"),
            Column::words("Its role"),
            Column::words("Roles, % of a core"),
        ],
        rows: rows.collect(),
        note: prose![
            "A role with a single thread at ",
            short(SERIAL_FROM),
            " % of a core or more can do no more, however many cores are idle."
        ],
    }
}

/// A role for readers.
fn title(role: &str) -> &str {
    if role == SESSIONS { "client sessions" } else { role }
}

/// The busiest role of a node that has a single thread.
fn busiest(node: &NodeUse) -> Option<&RoleUse> {
    node.roles.iter().find(|role| role.threads == 1)
}

fn in_words(node: &NodeUse) -> String {
    let role = |role: &RoleUse| {
        let threads = if role.threads == 1 { String::new() } else { format!(" ({} threads)", role.threads) };
        format!("{}{threads} {}", title(&role.role), short(role.cpu.value()))
    };
    node.roles
        .iter()
        .filter(|role| role.cpu.value() >= LEAST_LISTED)
        .take(LISTED)
        .map(role)
        .collect::<Vec<_>>()
        .join(", ")
}

fn limits_of_this() -> Prose {
    prose![
        "All nodes share this host, its cores and its device: what a standby uses is taken from the primary, and flushes of both follow each \
         other on one device. What is kept here is a lower bound of what two machines keep, but for the network, which is missing. ",
        Inline::Code(MODE.to_owned()),
        " is defined in the reference of settings."
    ]
}
