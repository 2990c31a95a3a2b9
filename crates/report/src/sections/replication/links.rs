//! The link to each standby and to the users: what was asked, what was measured before the load, and how its relay kept it in the measured window.

use crate::blocks::{Block, TableOf, prose};
use crate::findings::replication::links::{LinkUse, links_of_point};
use crate::findings::replication::{ReplicatedPoint, replicated};
use crate::findings::{Findings, PointFindings};
use crate::numbers::short;

/// The table of a study with standbys; `None` where all are connected directly.
pub(super) fn table(findings: &Findings<'_>, points: &[ReplicatedPoint]) -> Option<Block> {
    of_points(findings, points.iter().filter_map(|one| findings.point(one.point)))
}

/// The table of a study without standbys; `None` where users are connected directly, and where the table of a study with standbys has them.
pub(in crate::sections) fn link_of_users(findings: &Findings<'_>) -> Option<Block> {
    if replicated(findings).is_empty() { of_points(findings, findings.points.iter()) } else { None }
}

fn of_points<'f>(findings: &Findings<'_>, points: impl Iterator<Item = &'f PointFindings>) -> Option<Block> {
    let all: Vec<(String, LinkUse)> = points
        .flat_map(|point| {
            let label = point.label();
            links_of_point(findings, point).into_iter().map(move |link| (label.clone(), link))
        })
        .collect();
    let has = |of_users: bool| all.iter().any(|(_, link)| link.is_of_users() == of_users);
    let caption = match (has(true), has(false)) {
        (false, false) => return None,
        (false, true) => prose!["Link to each standby, and the relay on it."],
        (true, false) => prose!["Link between users and database, and the relay on it."],
        (true, true) => prose!["Link to the users and to each standby, and the relay on it."],
    };
    let number = |value: Option<f64>| value.map(short);
    let table = TableOf::new("table-links", caption, all)
        .words("Point", |(label, _)| label.clone())
        .words("Link to", |(_, link)| if link.is_of_users() { "users".to_owned() } else { link.end.to_string() })
        .quantities("Round trip, asked", "ms", |(_, link)| short(link.asked))
        .quantities("Measured before", "ms", |(_, link)| number(link.measured))
        .quantities("Lateness, p50", "ms", |(_, link)| number(link.late_p50))
        .quantities("Lateness, p99", "ms", |(_, link)| number(link.late_p99))
        .quantities("CPU, relay", "CPU s/s", |(_, link)| number(link.cpu))
        .note(prose![
            "Measured before: median round trip before the load, mean over the runs. Lateness: time after the delay \
             of the link at which the relay let bytes go, p50 and p99 of each second, then the median over the \
             seconds of the window, of the later direction and the latest run; empty in records from before it was \
             recorded. The relay's threads belong to the agent; their CPU time is that of both directions."
        ]);
    Some(Block::Table(table))
}
