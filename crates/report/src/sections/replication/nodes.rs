//! What a mode takes of both nodes: CPU time, the busiest core and role, the log, how far standbys were behind; and every role over time.

use super::modes::title;
use crate::blocks::{Block, Cell, Chart, Figure, Heat, Table, TableOf, prose};
use crate::findings::replication::lag::LagSource;
use crate::findings::replication::{NodeUse, ReplicatedPoint, RoleUse, SERIAL_FROM};
use crate::findings::{Findings, PointFindings, Trace, traces_of};
use crate::numbers::short;
use crate::sections::resources::cores::{binned, heat_columns};
use proofload_model::replication::ReplicationMode;
use proofload_model::series;

/// Roles of a node that are drawn, and use of a core from which.
const DRAWN: usize = 6;
const LEAST_DRAWN: f64 = 0.5;

/// The table of both nodes.
pub(super) fn table(findings: &Findings<'_>, points: &[ReplicatedPoint]) -> Table {
    let rows = points.iter().filter_map(|one| {
        let (primary, standbys) = one.nodes.split_first()?;
        Some((findings.point(one.point)?.label(), one, primary, standbys, one.busiest_single()))
    });
    TableOf::new("table-nodes", prose!["CPU time of both nodes, and the busiest single-threaded role."], rows)
        .words("Point", |(label, ..)| label.clone())
        .quantities("CPU, primary", "CPU s/s", |(_, _, primary, ..)| primary.cpu.clone())
        .quantities("CPU, standby-1", "CPU s/s", |(_, _, _, standbys, _)| Some(standbys.first()?.cpu.clone()))
        .quantities("Busiest core", "%", |(_, one, ..)| one.busiest_core.clone())
        .words("Busiest single thread", |(.., single)| {
            single.map(|(node, role)| format!("{node} {}", title(&role.role)))
        })
        .quantities("Running", "% of a core", |(.., single)| single.map(|(_, role)| role.cpu.clone()))
        .quantities("Waiting for a core", "% of the time", |(.., single)| {
            single.and_then(|(_, role)| role.waited.clone())
        })
        .note(prose![
            "A single-threaded role is at its limit, however many cores are idle, if it is running or waiting for CPU \
             time for ",
            short(SERIAL_FROM),
            " % of the time or more."
        ])
}

/// The log of the primary, and how far standbys were behind it; `None` where there is no standby.
pub(super) fn behind(findings: &Findings<'_>, points: &[ReplicatedPoint]) -> Option<Block> {
    let with_standbys = points.iter().filter(|one| one.mode != ReplicationMode::None);
    let rows = with_standbys.filter_map(|one| Some((findings.point(one.point)?.label(), one)));
    TableOf::new("table-behind", prose!["Log written by the primary, and lag of its standbys."], rows)
        .words("Point", |(label, _)| label.clone())
        .quantities("Log", "MB/s", |(_, one)| one.log.clone())
        .quantities("Lag, mean", "MB", |(_, one)| one.behind.clone())
        .quantities("Lag, p99", "MB", |(_, one)| one.behind_p99.clone())
        .quantities("Lag, maximum", "MB", |(_, one)| one.most_behind.clone())
        .quantities("Lag in time, median", "s", |(_, one)| one.lag.median.clone())
        .quantities("Lag in time, p99", "s", |(_, one)| one.lag.p99.clone())
        .words("Time from", |(_, one)| source(one.lag.source))
        .note(prose![
            "Lag: log that the primary has flushed and a standby has not applied; with several standbys each \
             figure is the largest of any one of them. Lag in time: from the engine, where it tells it, some in \
             whole seconds; else from the log rate, which is the lag in bytes over the mean rate of the log in the \
             window."
        ])
        .filled()
        .map(Block::Table)
}

/// Where a lag in time comes from.
fn source(source: Option<LagSource>) -> Cell {
    match source {
        Some(LagSource::Engine) => Cell::Prose(prose!["engine"]),
        Some(LagSource::LogRate) => Cell::Prose(prose!["log rate"]),
        None => Cell::Empty,
    }
}

/// The block devices of every node; `None` where none of a standby was observed: those of the primary stand with its storage.
pub(super) fn devices(findings: &Findings<'_>, points: &[ReplicatedPoint]) -> Option<Block> {
    let is_seen = |node: &NodeUse| node.instance.is_standby() && !node.devices.is_empty();
    if !points.iter().flat_map(|one| &one.nodes).any(is_seen) {
        return None;
    }
    let rows = points.iter().flat_map(|one| {
        let label = findings.label(one.point);
        let devices = one.nodes.iter().flat_map(|node| node.devices.iter().map(move |device| (node, device)));
        devices.map(move |(node, device)| (label.clone(), node, device))
    });
    let caption = prose!["Block devices under the data of each node: means over the measured window."];
    let note = prose!["All requests of a device, including those of others; nodes of one host share its devices."];
    let table = TableOf::new("table-node-devices", caption, rows)
        .words("Point", |(label, ..)| label.clone())
        .words("Node", |(_, node, _)| node.instance.to_string())
        .words("Device", |(.., device)| device.name.clone())
        .quantities("Busy", "%", |(.., device)| device.busy.clone())
        .quantities("Queue", "requests", |(.., device)| device.queue.clone())
        .quantities("Written", "MB/s", |(.., device)| device.written.clone())
        .note(note);
    Some(Block::Table(table))
}

/// The use of a core by every role of every node over time; `None` where no role was observed.
pub(super) fn roles_figure(findings: &Findings<'_>, points: &[ReplicatedPoint]) -> Option<Block> {
    let maps: Vec<(&ReplicatedPoint, RoleMap<'_>)> =
        points.iter().filter_map(|one| Some((one, RoleMap::of(findings, one)?))).collect();
    let rows = maps.iter().map(|(_, map)| map.rows.len()).sum();
    let full = full(maps.iter().map(|(_, map)| map.most()).fold(0.0, f64::max));
    let heats: Vec<Heat> = maps.iter().map(|(_, map)| map.heat(heat_columns(rows), full)).collect();
    if heats.is_empty() {
        return None;
    }
    let alt = heats.iter().map(|heat| heat.alt.clone()).collect::<Vec<_>>().join(" ");
    let figure = Figure {
        id: "figure-roles",
        caption: prose![
            "Core utilization per thread of each role of each node, in the measured window of each point's first run. \
             The sum over the threads of a role is divided by their number. The table contains the means, and the \
             time in which threads waited for a core or were throttled."
        ],
        alt,
        chart: Chart::Heats(heats),
        data: roles_table(findings, points),
    };
    Some(Block::Figure(Box::new(figure)))
}

/// Roles of a point's first run.
struct RoleMap<'a> {
    point: &'a PointFindings,
    window: (f64, f64),
    /// Node and role in words, and its use of a core by one thread.
    rows: Vec<(String, Trace)>,
}

impl<'a> RoleMap<'a> {
    fn of(findings: &'a Findings<'_>, one: &ReplicatedPoint) -> Option<Self> {
        let point = findings.point(one.point)?;
        let run = point.runs.first()?;
        let (window, attempt) = (run.window_seconds()?, findings.finished(run.run.index)?);
        let mut rows = Vec::new();
        for node in &one.nodes {
            let observed = traces_of(attempt, &node.instance, series::threads::ROLE);
            for role in drawn(node) {
                let trace = observed.iter().find(|trace| trace.instance == role.role).map(|trace| trace.within(window));
                rows.extend(
                    trace.map(|trace| (format!("{} {}", node.instance, title(&role.role)), of_one(trace, role))),
                );
            }
        }
        (!rows.is_empty()).then_some(Self { point, window, rows })
    }

    /// The most of any second.
    fn most(&self) -> f64 {
        self.rows.iter().flat_map(|(_, trace)| trace.values()).fold(0.0, f64::max)
    }

    fn heat(&self, columns: usize, full: f64) -> Heat {
        let (from, to) = self.window;
        let columns = columns.min((to - from).max(1.0) as usize).max(1);
        let width = (to - from) / columns as f64;
        let ticks = [0, columns / 2].into_iter().map(|at| (at, short((from + width * at as f64).round())));
        let means = self.rows.iter().map(|(name, trace)| {
            let values = trace.values();
            format!("{name} {} %", short((values.iter().sum::<f64>() / values.len().max(1) as f64).round()))
        });
        Heat {
            title: self.point.label(),
            alt: format!(
                "Heat map of roles at {}: means over the window {}.",
                self.point.label(),
                means.collect::<Vec<_>>().join(", ")
            ),
            x_title: "Time, s".to_owned(),
            x_ticks: ticks.collect(),
            rows: self.rows.iter().map(|(name, _)| name.clone()).collect(),
            cells: self.rows.iter().map(|(_, trace)| binned(trace, from, width, columns)).collect(),
            full,
            legend: "% of a core, by thread".to_owned(),
            labelled: false,
        }
    }
}

/// The end of the scale for uses up to this, %.
fn full(most: f64) -> f64 {
    [10.0, 25.0, 50.0].into_iter().find(|end| most <= *end).unwrap_or(100.0)
}

/// The busiest roles of a node.
fn drawn(node: &NodeUse) -> impl Iterator<Item = &RoleUse> {
    node.roles.iter().filter(|role| role.cpu.value() >= LEAST_DRAWN).take(DRAWN)
}

/// The use of a core by one thread of a role.
fn of_one(mut trace: Trace, role: &RoleUse) -> Trace {
    let threads = f64::from(role.threads.max(1));
    trace.samples.iter_mut().for_each(|(_, value)| *value /= threads);
    trace
}

fn roles_table(findings: &Findings<'_>, points: &[ReplicatedPoint]) -> Table {
    let rows = points.iter().flat_map(|one| {
        let label = findings.label(one.point);
        let roles = one.nodes.iter().flat_map(|node| drawn(node).map(move |role| (node, role)));
        roles.map(move |(node, role)| (label.clone(), node, role))
    });
    let caption = prose!["CPU time of the roles of each node, all threads of a role together."];
    TableOf::new("", caption, rows)
        .words("Point", |(label, ..)| label.clone())
        .words("Node", |(_, node, _)| node.instance.to_string())
        .words("Role", |(.., role)| title(&role.role).to_owned())
        .counts("Threads", |(.., role)| u64::from(role.threads))
        .quantities("Running", "% of a core", |(.., role)| role.cpu.clone())
        .quantities("Waiting for a core", "% of the time", |(.., role)| role.waited.clone())
        .table()
}
