//! What tables a record is exported as: names, columns with their units, and where their rows come from. This file is a table.

use super::Selection;
use super::drill_tables::{DRILLS, LEDGER, drills, ledger};
use super::experiment_tables::{READINGS, VISITS, readings, visits};
use super::tables::{
    checks, client, client_threads, documents, engine, errors, events, facts, latencies, levels, load_agents, logs,
    marks, operations, runs, sessions, telemetry,
};
use proofload_record::Record;
use std::io::Result;

/// One value of a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell<'r> {
    /// There is none.
    Empty,
    /// Text of the record as it stands.
    Text(&'r str),
    /// Text made of several.
    Made(String),
    /// A whole number.
    Integer(i64),
    /// A number.
    Number(f64),
    /// Yes or no.
    Boolean(bool),
}

/// What takes the rows.
pub(super) type Emit<'e> = dyn FnMut(&[Cell<'_>]) -> Result<()> + 'e;

/// One table.
#[derive(Debug, Clone, Copy)]
pub struct ExportTable {
    /// Its name.
    pub name: &'static str,
    /// What a row is.
    pub row: &'static str,
    /// Its columns; a unit ends the name.
    pub columns: &'static [&'static str],
    /// Hands over its rows.
    pub(super) rows: fn(&Record, &Selection, &mut Emit<'_>) -> Result<()>,
}

/// Every table, in the order of the JSON document. Offsets and seconds count from the run's time zero; `_us` ends a time in
/// microseconds since 1970, UTC.
pub const TABLES: &[ExportTable] = &[
    ExportTable {
        name: "runs",
        row: "an attempt at a planned run",
        columns: &[
            "attempt",
            "run",
            "point",
            "repetition",
            "sentinel",
            "seed",
            "state",
            "reason",
            "started_us",
            "time_zero_us",
            "window_from_s",
            "window_to_s",
            "seal_holds",
            "profile",
        ],
        rows: runs,
    },
    ExportTable { name: "levels", row: "a level of a point", columns: &["point", "setting", "level"], rows: levels },
    ExportTable {
        name: "operations",
        row: "a kind of operation in a second",
        columns: &[
            "attempt",
            "run",
            "second",
            "kind",
            "due",
            "done",
            "rolled_back",
            "failed",
            "dropped",
            "in_flight",
            "retries",
        ],
        rows: operations,
    },
    ExportTable {
        name: "latencies",
        row: "a kind of operation and a clock in a second",
        columns: &[
            "attempt", "run", "second", "kind", "clock", "count", "sum_ns", "max_ns", "p50_ns", "p95_ns", "p99_ns",
            "p999_ns",
        ],
        rows: latencies,
    },
    ExportTable {
        name: "errors",
        row: "a class of errors in a second",
        columns: &["attempt", "run", "second", "kind", "code", "text", "count"],
        rows: errors,
    },
    ExportTable {
        name: "client",
        row: "the load generator in a second",
        columns: &["attempt", "run", "second", "resident_bytes", "send_lag_p99_ns", "offered", "backlog"],
        rows: client,
    },
    ExportTable {
        name: "client_threads",
        row: "a client thread in a second",
        columns: &["attempt", "run", "second", "thread", "cpu_ns"],
        rows: client_threads,
    },
    ExportTable {
        name: "load_agents",
        row: "one of several load agents in a second",
        columns: &[
            "attempt",
            "run",
            "second",
            "agent",
            "completed",
            "failed",
            "dropped",
            "count",
            "sum_ns",
            "max_ns",
            "cpu_ns",
            "resident_bytes",
            "send_lag_p99_ns",
        ],
        rows: load_agents,
    },
    ExportTable {
        name: "engine",
        row: "a counter of an embedded engine in a second",
        columns: &["attempt", "run", "second", "name", "instance", "unit", "value"],
        rows: engine,
    },
    ExportTable {
        name: "telemetry",
        row: "a reading of a probe",
        columns: &["attempt", "run", "probe", "name", "instance", "unit", "offset_ns", "span_ns", "value", "standby"],
        rows: telemetry,
    },
    ExportTable { name: "drills", row: "a drill", columns: DRILLS, rows: drills },
    ExportTable {
        name: "ledger",
        row: "a prober write that was not simply acknowledged and kept",
        columns: LEDGER,
        rows: ledger,
    },
    ExportTable { name: "visits", row: "a visit of an experiment", columns: VISITS, rows: visits },
    ExportTable { name: "visit_readings", row: "a resource in a visit", columns: READINGS, rows: readings },
    ExportTable {
        name: "marks",
        row: "a database counter at one point in time",
        columns: &["attempt", "run", "label", "offset_ns", "counter", "value"],
        rows: marks,
    },
    ExportTable {
        name: "facts",
        row: "a fact; applies to the study if attempt is empty",
        columns: &["attempt", "run", "subject", "name", "requested", "effective", "source", "holds", "standby"],
        rows: facts,
    },
    ExportTable {
        name: "checks",
        row: "a check and its result",
        columns: &["attempt", "run", "group", "name", "rule", "found", "outcome", "offenders"],
        rows: checks,
    },
    ExportTable {
        name: "events",
        row: "an event; belongs to the study if attempt is empty",
        columns: &["attempt", "run", "at_us", "offset_ns", "name", "detail"],
        rows: events,
    },
    ExportTable {
        name: "logs",
        row: "a log line for the operator",
        columns: &["attempt", "at_us", "level", "source", "text"],
        rows: logs,
    },
    ExportTable { name: "sessions", row: "a run or resume", columns: &["at_us", "program", "kernel"], rows: sessions },
    ExportTable { name: "documents", row: "a document", columns: &["name", "body"], rows: documents },
];
