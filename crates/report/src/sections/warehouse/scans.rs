//! Scan rates: what the device read, what the engine read, what queries asked for; per CPU second; and what storing compresses.

use super::super::section::{Section, SectionPlace, always};
use super::parts::{metric, point_cell, point_column, rated};
use crate::blocks::{Block, Cell, Table, prose};
use crate::findings::warehouse::Sources;
use crate::findings::{Findings, PointFindings};
use crate::metrics::{
    COMPRESSION, COMPRESSION_WITH_INDEXES, CPU, DATABASE_CPU, HIT_SHARE, IO_THROUGHPUT, LOGICAL_BY_CPU, MetricName,
    PHYSICAL_BY_CPU, SCAN_FILE, SCAN_LOGICAL, SCAN_PHYSICAL,
};
use crate::sections::charts::metric_column;

/// The section.
pub(in super::super) const SECTION: Section = Section {
    id: "scans",
    title: "Scan rates and compression",
    level: 3,
    place: SectionPlace::Paper,
    needs: always,
    render,
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

fn render(findings: &Findings<'_>) -> Vec<Block> {
    let points: Vec<&PointFindings> = findings.points.iter().filter(|point| !point.runs.is_empty()).collect();
    if points.is_empty() {
        return Vec::new();
    }
    let table = |shown: &[MetricName]| {
        let heads = shown.iter().map(metric_column);
        let row = |point: &&PointFindings| -> Vec<Cell> {
            [point_cell(point)].into_iter().chain(shown.iter().map(|shown| metric(point, *shown))).collect()
        };
        Table {
            columns: [point_column(findings)].into_iter().chain(heads).collect(),
            rows: points.iter().map(row).collect(),
            ..Table::default()
        }
    };
    let (cpu, physical) = sources(findings);
    vec![
        Block::Table(Table {
            id: "table-scans",
            caption: prose!["Scan rates, in millions of bytes: of the device, and of the engine by its own counters."],
            note: prose![
                physical,
                "Device and engine differ: a file read may come from the system's page cache, and under a tight memory limit the device \
                 also reads pages of the program again. The mean of physical and logical is printed only because published ratings print it. \
                 Hit share: what queries asked for and no device read."
            ],
            ..table(RATES)
        }),
        Block::Table(Table {
            id: "table-consumption",
            caption: prose!["What the cores made of it, and how much smaller the stored data are than the raw ones."],
            note: prose![
                "CPU of all processes is of the cores that the database may run on, the database's of the CPU time that it may use there. ",
                cpu,
                "MB per CPU second is the figure that survives a busy host best. \
                 A compression below 1 means that storing takes more room than the raw text."
            ],
            ..table(COSTS)
        }),
    ]
}

/// Accounting that CPU and physical reads rest on, in words.
fn sources(findings: &Findings<'_>) -> (&'static str, &'static str) {
    let sources: Vec<Sources> = rated(findings).into_iter().map(|(_, rating)| rating.sources).collect();
    let of_groups = |of: fn(&Sources) -> bool| sources.iter().filter(|source| of(source)).count();
    let cpu = match of_groups(|source| source.group_cpu) {
        0 => {
            "The database's CPU is that of its threads where they use less than 0.8 of what all processes do (a shared host), else that of all. "
        }
        all if all == sources.len() => "The database's CPU is by the accounting of its control group. ",
        _ => {
            "The database's CPU is by the accounting of its control group at some points; at others no group was there, and it is that of its threads \
             or, where they use at least 0.8 of what all processes do, of all. "
        }
    };
    let physical = match of_groups(|source| source.group_reads) {
        0 => "Physical: all reads of the device, whoever asked for them. ",
        all if all == sources.len() => "Physical: what the device read for the database's control group. ",
        _ => {
            "Physical: what the device read for the database's control group; at points where the kernel did not count that, all its reads. "
        }
    };
    (cpu, physical)
}
