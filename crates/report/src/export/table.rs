//! What tables a record is exported as: names, columns with their units, and where their rows come from. This file is a table.

use super::Selection;
use super::column::{ExportColumn, boolean, integer, number, text};
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
    /// Its columns, in the order of a row's cells.
    pub columns: &'static [ExportColumn],
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
            integer("attempt"),
            integer("run"),
            integer("point"),
            integer("repetition"),
            boolean("sentinel"),
            text("seed"),
            text("state"),
            text("reason"),
            integer("started_us"),
            integer("time_zero_us"),
            integer("window_from_s"),
            integer("window_to_s"),
            boolean("seal_holds"),
            text("profile"),
            text("estimand"),
        ],
        rows: runs,
    },
    ExportTable {
        name: "levels",
        row: "a level of a point",
        columns: &[integer("point"), text("setting"), text("level")],
        rows: levels,
    },
    ExportTable {
        name: "operations",
        row: "a kind of operation in a second",
        columns: &[
            integer("attempt"),
            integer("run"),
            integer("second"),
            text("kind"),
            integer("due"),
            integer("done"),
            integer("rolled_back"),
            integer("failed"),
            integer("dropped"),
            integer("in_flight"),
            integer("retries"),
        ],
        rows: operations,
    },
    ExportTable {
        name: "latencies",
        row: "a kind of operation and a clock in a second",
        columns: &[
            integer("attempt"),
            integer("run"),
            integer("second"),
            text("kind"),
            text("clock"),
            integer("count"),
            integer("sum_ns"),
            integer("max_ns"),
            integer("p50_ns"),
            integer("p95_ns"),
            integer("p99_ns"),
            integer("p999_ns"),
        ],
        rows: latencies,
    },
    ExportTable {
        name: "errors",
        row: "a class of errors in a second",
        columns: &[
            integer("attempt"),
            integer("run"),
            integer("second"),
            text("kind"),
            text("code"),
            text("text"),
            integer("count"),
        ],
        rows: errors,
    },
    ExportTable {
        name: "client",
        row: "the load generator in a second",
        columns: &[
            integer("attempt"),
            integer("run"),
            integer("second"),
            integer("resident_bytes"),
            integer("send_lag_p99_ns"),
            integer("offered"),
            integer("backlog"),
        ],
        rows: client,
    },
    ExportTable {
        name: "client_threads",
        row: "a client thread in a second",
        columns: &[integer("attempt"), integer("run"), integer("second"), integer("thread"), integer("cpu_ns")],
        rows: client_threads,
    },
    ExportTable {
        name: "load_agents",
        row: "one of several load agents in a second",
        columns: &[
            integer("attempt"),
            integer("run"),
            integer("second"),
            integer("agent"),
            integer("completed"),
            integer("failed"),
            integer("dropped"),
            integer("count"),
            integer("sum_ns"),
            integer("max_ns"),
            integer("cpu_ns"),
            integer("resident_bytes"),
            integer("send_lag_p99_ns"),
        ],
        rows: load_agents,
    },
    ExportTable {
        name: "engine",
        row: "a counter of an embedded engine in a second",
        columns: &[
            integer("attempt"),
            integer("run"),
            integer("second"),
            text("name"),
            text("instance"),
            text("unit"),
            number("value"),
        ],
        rows: engine,
    },
    ExportTable {
        name: "telemetry",
        row: "a reading of a probe",
        columns: &[
            integer("attempt"),
            integer("run"),
            text("probe"),
            text("name"),
            text("instance"),
            text("unit"),
            integer("offset_ns"),
            integer("span_ns"),
            number("value"),
            text("standby"),
        ],
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
        columns: &[
            integer("attempt"),
            integer("run"),
            text("label"),
            integer("offset_ns"),
            text("counter"),
            integer("value"),
        ],
        rows: marks,
    },
    ExportTable {
        name: "facts",
        row: "a fact; applies to the study if attempt is empty",
        columns: &[
            integer("attempt"),
            integer("run"),
            text("subject"),
            text("name"),
            text("requested"),
            text("effective"),
            text("source"),
            boolean("holds"),
            text("standby"),
        ],
        rows: facts,
    },
    ExportTable {
        name: "checks",
        row: "a check and its result",
        columns: &[
            integer("attempt"),
            integer("run"),
            text("group"),
            text("name"),
            text("rule"),
            text("found"),
            text("outcome"),
            text("offenders"),
        ],
        rows: checks,
    },
    ExportTable {
        name: "events",
        row: "an event; belongs to the study if attempt is empty",
        columns: &[
            integer("attempt"),
            integer("run"),
            integer("at_us"),
            integer("offset_ns"),
            text("name"),
            text("detail"),
        ],
        rows: events,
    },
    ExportTable {
        name: "logs",
        row: "a log line for the operator",
        columns: &[integer("attempt"), integer("at_us"), text("level"), text("source"), text("text")],
        rows: logs,
    },
    ExportTable {
        name: "sessions",
        row: "a run or resume",
        columns: &[integer("at_us"), text("program"), text("kernel")],
        rows: sessions,
    },
    ExportTable { name: "documents", row: "a document", columns: &[text("name"), text("body")], rows: documents },
];
