//! Scan rates: what the device read, what the engine read, what queries asked for; per CPU second; and what storing compresses.

use super::super::section::{Section, always};
use super::parts::{metric, point_cell, point_column, rated};
use crate::blocks::{Block, Cell, Column, Table, prose};
use crate::findings::warehouse::Sources;
use crate::findings::{Findings, PointFindings};

/// The section.
pub(in super::super) const SECTION: Section =
    Section { id: "scans", title: "Scan rates and compression", level: 3, numbered: true, needs: always, render };

/// Title, unit, metric.
type Shown = (&'static str, &'static str, &'static str);

const RATES: &[Shown] = &[
    ("Physical, device", "MB/s", "scan_physical_mb_s"),
    ("File reads, engine", "MB/s", "scan_file_mb_s"),
    ("Logical", "MB/s", "scan_logical_mb_s"),
    ("Mean of physical and logical", "MB/s", "io_throughput_mb_s"),
    ("Hit share", "%", "hit_percent"),
];

const COSTS: &[Shown] = &[
    ("CPU, all", "%", "cpu_percent"),
    ("CPU, database", "%", "database_cpu_percent"),
    ("Physical", "MB per CPU s", "physical_mb_per_cpu_s"),
    ("Logical", "MB per CPU s", "logical_mb_per_cpu_s"),
    ("Compression", "", "compression"),
    ("With indexes", "", "compression_with_indexes"),
];

fn render(findings: &Findings<'_>) -> Vec<Block> {
    let points: Vec<&PointFindings> = findings.points.iter().filter(|point| !point.runs.is_empty()).collect();
    if points.is_empty() {
        return Vec::new();
    }
    let table = |shown: &[Shown]| {
        let heads = shown.iter().map(|(title, unit, _)| Column::quantities(*title, unit));
        let row = |point: &&PointFindings| -> Vec<Cell> {
            [point_cell(point)].into_iter().chain(shown.iter().map(|(.., name)| metric(point, name))).collect()
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
