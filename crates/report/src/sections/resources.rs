//! Storage as a storage engineer reads it, what a unit of work cost on it, and the network of the users.

pub(super) mod cores;
pub(super) mod efficiency;

use super::charts::points_with;
use super::replication::link_of_users;
use crate::blocks::{Block, Column, Notice, Table, TableOf, prose};
use crate::findings::{Findings, PointFindings};
use crate::metrics::{
    COSTS, CPU, CostName, DATABASE_CPU, DEVICE_BUSY, DEVICE_FLUSHES, DEVICE_LATENCY, DEVICE_QUEUE,
    DEVICE_READ_BANDWIDTH, DEVICE_READ_REQUESTS, DEVICE_READ_SIZE, DEVICE_WRITE_BANDWIDTH, DEVICE_WRITE_REQUESTS,
    DEVICE_WRITE_SIZE, DEVICE_WRITTEN_PER_LOG_BYTE, MetricKey, MetricName, WORK_PER_CPU,
};

/// Points up to which what a unit of work cost stands open.
const MOST_POINTS: usize = 6;

/// Requests of the device and the processor, in the order of the table.
const USE: &[MetricName] = &[
    DEVICE_READ_REQUESTS.headed_as("Reads"),
    DEVICE_READ_BANDWIDTH.headed_as("Read"),
    DEVICE_READ_SIZE.headed(),
    DEVICE_WRITE_REQUESTS.headed_as("Writes"),
    DEVICE_WRITE_BANDWIDTH.headed_as("Written"),
    DEVICE_WRITE_SIZE.headed(),
    DEVICE_FLUSHES.headed(),
    DEVICE_QUEUE.headed(),
    DEVICE_LATENCY.headed(),
    DEVICE_BUSY.headed_as("Busy"),
    CPU.headed(),
    DATABASE_CPU,
    WORK_PER_CPU,
];

/// Work of more kinds than this is too unlike for a mean of all.
const MOST_KINDS: usize = 8;

pub(super) fn render(findings: &Findings<'_>) -> Vec<Block> {
    of_storage(findings).into_iter().chain(link_of_users(findings)).collect()
}

fn of_storage(findings: &Findings<'_>) -> Vec<Block> {
    let has = |metric: &&MetricName| findings.points.iter().any(|point| point.metric(metric.key()).is_ok());
    let shown: Vec<&MetricName> = USE.iter().filter(has).collect();
    if shown.is_empty() {
        let why = findings.points.iter().find_map(|point| point.metric(DEVICE_BUSY).err()).unwrap_or_default();
        return vec![Block::Notice(Notice::Gap, prose!["storage: ", why, "."])];
    }
    let of_work = Block::Table(of_work(findings));
    // A mean over many unlike kinds says little.
    let of_work = if findings.points.len() > MOST_POINTS || findings.workload.kinds.len() > MOST_KINDS {
        Block::Fold(prose!["For each completed ", findings.workload.work.one], vec![of_work])
    } else {
        of_work
    };
    let mut blocks = vec![Block::Table(of_seconds(findings, &shown)), of_work];
    blocks.extend(engine_counters(findings));
    blocks
}

/// Requests per second at each point.
fn of_seconds(findings: &Findings<'_>, shown: &[&MetricName]) -> Table {
    let has = |wanted: MetricName| shown.iter().any(|metric| metric.name == wanted.name);
    let mut note = prose![
        "All requests of the device, including those of others. Latency by Little's law: mean requests in flight \
         divided by requests per second."
    ];
    if has(DATABASE_CPU) {
        note.extend(prose![
            " CPU, all: every process, and steal, relative to the cores that the database may run on. CPU, database: its \
             own processes, relative to the CPU time that it may use."
        ]);
    }
    if has(WORK_PER_CPU) {
        note.extend(prose![
            " Work per CPU second: completed units of work for each second of CPU time of the database's group; it falls where \
             others slow the database down on the CPU time that it gets."
        ]);
    }
    let caption = prose!["The block device that stores the data, and the CPU: means over the measured window."];
    let columns = shown.iter().map(|metric| (Column::metric(metric), metric.key()));
    points_with("table-device", caption, findings, columns).verdict().note(note)
}

/// What a unit of work cost.
fn of_work(findings: &Findings<'_>) -> Table {
    let work = findings.workload.work;
    let column = |cost: &CostName| (Column::quantities(cost.title, &cost.told(work.one)), cost.key(work.one));
    let mut columns: Vec<(Column, MetricKey)> = COSTS.iter().map(column).collect();
    let tells_its_log = |point: &PointFindings| point.metric(DEVICE_WRITTEN_PER_LOG_BYTE).is_ok();
    if findings.points.iter().any(tells_its_log) {
        columns.push((Column::metric(&DEVICE_WRITTEN_PER_LOG_BYTE.headed()), DEVICE_WRITTEN_PER_LOG_BYTE.key()));
    }
    let caption = prose!["Requests and bytes of the device for each completed ", work.one, "."];
    points_with("table-storage", caption, findings, columns).verdict().table()
}

/// Counters of the engine, where it has any.
fn engine_counters(findings: &Findings<'_>) -> Option<Block> {
    let mut names: Vec<String> = findings
        .points
        .iter()
        .flat_map(|point| point.metrics.keys().filter_map(|key| key.engine_counter().map(str::to_owned)))
        .collect();
    names.sort();
    names.dedup();
    let rows = names.iter().flat_map(|name| {
        let value = move |point: &PointFindings| point.metric(MetricKey::Engine(name.clone()));
        let unit =
            findings.points.iter().find_map(|point| value(point).ok()).map(|quantity| quantity.unit().to_string());
        let label = format!("{}, {}", name.replace('_', " "), unit.unwrap_or_default());
        findings.points.iter().map(move |point| (label.clone(), point.label(), value(point)))
    });
    TableOf::new("table-engine", prose!["Engine counters that changed in the measured window."], rows)
        .words("Counter", |(label, ..)| label.clone())
        .column(Column::point(findings), |(_, point, _)| point.clone())
        .quantities("Mean", "", |(.., mean)| mean.clone())
        .table()
        .filled()
        .map(|table| Block::Fold(prose!["The engine's own counters"], vec![Block::Table(table)]))
}
