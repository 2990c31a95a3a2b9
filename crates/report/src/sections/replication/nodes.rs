//! What a mode takes of both nodes: CPU time, the busiest core and role, the log, how far standbys were behind; and every role over time.

use super::modes::{point, title};
use crate::blocks::{Block, Cell, Chart, Column, Figure, Heat, Table, prose};
use crate::findings::replication::{NodeUse, ReplicatedPoint, RoleUse, SERIAL_FROM};
use crate::findings::replication_lag::LagSource;
use crate::findings::{Findings, PointFindings, Trace, traces_of};
use crate::numbers::short;
use crate::sections::charts::measured_cell;
use crate::sections::cores::{binned, heat_columns};
use proofload_model::replication::ReplicationMode;
use proofload_model::series;

/// Roles of a node that are drawn, and use of a core from which.
const DRAWN: usize = 6;
const LEAST_DRAWN: f64 = 0.5;

/// The table of both nodes.
pub(super) fn table(findings: &Findings<'_>, points: &[ReplicatedPoint]) -> Table {
    let row = |one: &ReplicatedPoint| {
        let (primary, standbys) = one.nodes.split_first()?;
        let single = one.busiest_single();
        let waited = single.and_then(|(_, role)| role.waited.clone());
        let role = single.map(|(node, role)| format!("{node} {}", title(&role.role)));
        Some(vec![
            Cell::datum(point(findings, one)?.label()),
            measured_cell(primary.cpu.clone()),
            standbys.first().map_or(Cell::Empty, |first| measured_cell(first.cpu.clone())),
            measured_cell(one.busiest_core.clone()),
            role.map_or(Cell::Empty, Cell::datum),
            single.map_or(Cell::Empty, |(_, role)| Cell::Quantity(role.cpu.clone())),
            waited.map_or(Cell::Empty, Cell::Quantity),
        ])
    };
    Table {
        id: "table-nodes",
        caption: prose!["CPU time of both nodes, and the busiest single-threaded role."],
        columns: vec![
            Column::words("Point"),
            Column::quantities("CPU, primary", "CPU s/s"),
            Column::quantities("CPU, standby-1", "CPU s/s"),
            Column::quantities("Busiest core", "%"),
            Column::words("Busiest single thread"),
            Column::quantities("Running", "% of a core"),
            Column::quantities("Waiting for a core", "% of the time"),
        ],
        rows: points.iter().filter_map(row).collect(),
        note: prose![
            "A single-threaded role is at its limit, however many cores are idle, if it is running or waiting for CPU \
             time for ",
            short(SERIAL_FROM),
            " % of the time or more."
        ],
    }
}

/// The log of the primary, and how far standbys were behind it; `None` where there is no standby.
pub(super) fn behind(findings: &Findings<'_>, points: &[ReplicatedPoint]) -> Option<Block> {
    let with_standbys = points.iter().filter(|one| one.mode != ReplicationMode::None);
    let row = |one: &ReplicatedPoint| {
        let cells =
            [&one.log, &one.behind, &one.behind_p99, &one.most_behind].map(|value| measured_cell(value.clone()));
        let in_time = [&one.lag.median, &one.lag.p99].map(|value| measured_cell(value.clone()));
        let label = Cell::datum(point(findings, one)?.label());
        Some(std::iter::once(label).chain(cells).chain(in_time).chain([source(one.lag.source)]).collect())
    };
    let rows: Vec<Vec<Cell>> = with_standbys.filter_map(row).collect();
    (!rows.is_empty()).then(|| {
        Block::Table(Table {
            id: "table-behind",
            caption: prose!["Log written by the primary, and lag of its standbys."],
            columns: vec![
                Column::words("Point"),
                Column::quantities("Log", "MB/s"),
                Column::quantities("Lag, mean", "MB"),
                Column::quantities("Lag, p99", "MB"),
                Column::quantities("Lag, maximum", "MB"),
                Column::quantities("Lag in time, median", "s"),
                Column::quantities("Lag in time, p99", "s"),
                Column::words("Time from"),
            ],
            rows,
            note: prose![
                "Lag: log that the primary has flushed and a standby has not applied; with several standbys each \
                 figure is the largest of any one of them. Lag in time: from the engine, where it tells it, some in \
                 whole seconds; else from the log rate, which is the lag in bytes over the mean rate of the log in the \
                 window."
            ],
        })
    })
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
    let mut rows = Vec::new();
    for one in points {
        let label = point(findings, one).map(PointFindings::label).unwrap_or_default();
        for node in &one.nodes {
            rows.extend(node.devices.iter().map(|device| {
                let names = [label.clone(), node.instance.to_string(), device.name.clone()].map(Cell::datum);
                let cells = [&device.busy, &device.queue, &device.written].map(|value| measured_cell(value.clone()));
                names.into_iter().chain(cells).collect::<Vec<_>>()
            }));
        }
    }
    Some(Block::Table(Table {
        id: "table-node-devices",
        caption: prose!["Block devices under the data of each node: means over the measured window."],
        columns: vec![
            Column::words("Point"),
            Column::words("Node"),
            Column::words("Device"),
            Column::quantities("Busy", "%"),
            Column::quantities("Queue", "requests"),
            Column::quantities("Written", "MB/s"),
        ],
        rows,
        note: prose!["All requests of a device, including those of others; nodes of one host share its devices."],
    }))
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
        let point = point(findings, one)?;
        let run = point.runs.first()?;
        let (window, attempt) = (run.window_seconds()?, findings.record.finished(run.run.index)?);
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
    let mut rows = Vec::new();
    for one in points {
        let label = point(findings, one).map(PointFindings::label).unwrap_or_default();
        for node in &one.nodes {
            rows.extend(drawn(node).map(|role| {
                vec![
                    Cell::datum(label.clone()),
                    Cell::datum(node.instance.to_string()),
                    Cell::datum(title(&role.role)),
                    Cell::Count(u64::from(role.threads)),
                    Cell::Quantity(role.cpu.clone()),
                    role.waited.clone().map_or(Cell::Empty, Cell::Quantity),
                ]
            }));
        }
    }
    Table {
        caption: prose!["CPU time of the roles of each node, all threads of a role together."],
        columns: vec![
            Column::words("Point"),
            Column::words("Node"),
            Column::words("Role"),
            Column::counts("Threads"),
            Column::quantities("Running", "% of a core"),
            Column::quantities("Waiting for a core", "% of the time"),
        ],
        rows,
        ..Table::default()
    }
}
