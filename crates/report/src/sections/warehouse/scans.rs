//! Scan rates: what the device read, what the engine read, what queries asked for; per CPU second; and what storing compresses.

use super::parts::{metric, rated};
use crate::blocks::{Block, Column, Prose, TableOf, prose};
use crate::findings::warehouse::Sources;
use crate::findings::{Findings, PointFindings};
use crate::metrics::{
    COMPRESSION, COMPRESSION_WITH_INDEXES, CPU, DATABASE_CPU, HIT_SHARE, IO_THROUGHPUT, LOGICAL_BY_CPU, MetricName,
    PHYSICAL_BY_CPU, SCAN_FILE, SCAN_LOGICAL, SCAN_PHYSICAL,
};

const RATES: &[MetricName] = &[SCAN_PHYSICAL.headed(), SCAN_FILE, SCAN_LOGICAL.headed(), IO_THROUGHPUT, HIT_SHARE];

const COSTS: &[MetricName] = &[
    CPU.headed(),
    DATABASE_CPU,
    PHYSICAL_BY_CPU.headed(),
    LOGICAL_BY_CPU.headed(),
    COMPRESSION,
    COMPRESSION_WITH_INDEXES.headed(),
];

pub(in super::super) fn render(findings: &Findings<'_>) -> Vec<Block> {
    let points: Vec<&PointFindings> = findings.points.iter().filter(|point| !point.runs.is_empty()).collect();
    if points.is_empty() {
        return Vec::new();
    }
    let table = |id: &'static str, caption: Prose, shown: &'static [MetricName]| {
        TableOf::new(id, caption, &points).column(Column::point(findings), |point| point.label()).each(
            shown,
            |shown| Column::metric(shown),
            |point, shown| metric(point, **shown),
        )
    };
    let (cpu, physical) = sources(findings);
    let rates = table(
        "table-scans",
        prose!["Scan rates in MB/s: of the device, and of the engine by its own counters."],
        RATES,
    )
    .note(prose! {
        physical, "Device and engine differ: a file read may be served by the system's page cache, and under a \
         tight memory limit the device also rereads pages of the program. The mean of physical and logical is \
         printed only because published ratings print it. Hit ratio: share of requested data that the device \
         did not read."
    });
    let costs = table("table-consumption", prose!["CPU use and compression."], COSTS).note(prose! {
        "CPU of all processes is relative to the cores that the database may run on; the database's CPU is \
         relative to the CPU time that it may use. ", cpu, "MB per CPU second is least affected by a busy \
         host. A compression below 1 means that the stored data are larger than the raw text."
    });
    vec![Block::Table(rates), Block::Table(costs)]
}

/// Accounting that CPU and physical reads rest on, in words.
fn sources(findings: &Findings<'_>) -> (&'static str, &'static str) {
    let sources: Vec<Sources> = rated(findings).into_iter().map(|(_, rating)| rating.sources).collect();
    let of_groups = |of: fn(&Sources) -> bool| sources.iter().filter(|source| of(source)).count();
    let cpu = match of_groups(|source| source.group_cpu) {
        0 => {
            "The database's CPU is that of its threads if they use less than 0.8 of the CPU of all processes (a \
             shared host), otherwise that of all. "
        }
        all if all == sources.len() => "The database's CPU comes from its control group. ",
        _ => {
            "At some points the database's CPU comes from its control group. At the others there was no group: it is \
             that of its threads or, if they use at least 0.8 of the CPU of all processes, that of all. "
        }
    };
    let physical = match of_groups(|source| source.group_reads) {
        0 => "Physical: all reads of the device, by any process. ",
        all if all == sources.len() => "Physical: device reads of the database's control group. ",
        _ => {
            "Physical: device reads of the database's control group, or all device reads at points where the kernel \
             did not count them per group. "
        }
    };
    (cpu, physical)
}
