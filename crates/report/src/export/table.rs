//! What tables a record is exported as: names, columns with their units, and where their rows come from. This file is a table.

use super::Selection;
use super::column::{ExportColumn, boolean, integer, number, text};
use super::drill_tables::{drills, ledger, outages, prober};
use super::experiment_tables::{visit_readings, visits};
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

/// A count as a cell.
pub(super) fn whole(number: u64) -> Cell<'static> {
    Cell::Integer(i64::try_from(number).unwrap_or(i64::MAX))
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

macro_rules! tables {
    ($($name:ident, $row:literal: $($column:expr),+;)+) => {
        /// Every table, in the order of the JSON document. Offsets and seconds count from the run's time zero; `_us` ends a time in
        /// microseconds since 1970, UTC.
        pub const TABLES: &[ExportTable] = &[$(
            ExportTable { name: stringify!($name), row: $row, columns: &[$($column),+], rows: $name }
        ),+];
    };
}

// Each table has the name of the function that hands over its rows.
tables! {
    runs, "an attempt at a planned run":
        integer("attempt"), integer("run"), integer("point"), integer("repetition"), boolean("sentinel"), text("seed"),
        text("state"), text("reason"), integer("started_us"), integer("time_zero_us"), integer("window_from_s"),
        integer("window_to_s"), boolean("seal_holds"), text("profile"), text("estimand");
    levels, "a level of a point":
        integer("point"), text("setting"), text("level");
    operations, "a kind of operation in a second":
        integer("attempt"), integer("run"), integer("second"), text("kind"), integer("due"), integer("done"),
        integer("rolled_back"), integer("failed"), integer("dropped"), integer("in_flight"), integer("retries");
    latencies, "a kind of operation and a clock in a second":
        integer("attempt"), integer("run"), integer("second"), text("kind"), text("clock"), integer("count"),
        integer("sum_ns"), integer("max_ns"), integer("p50_ns"), integer("p95_ns"), integer("p99_ns"),
        integer("p999_ns");
    errors, "a class of errors in a second":
        integer("attempt"), integer("run"), integer("second"), text("kind"), text("code"), text("text"),
        integer("count");
    client, "the load generator in a second":
        integer("attempt"), integer("run"), integer("second"), integer("resident_bytes"), integer("send_lag_p99_ns"),
        integer("offered"), integer("backlog");
    client_threads, "a client thread in a second":
        integer("attempt"), integer("run"), integer("second"), integer("thread"), integer("cpu_ns");
    load_agents, "one of several load agents in a second":
        integer("attempt"), integer("run"), integer("second"), integer("agent"), integer("completed"),
        integer("failed"), integer("dropped"), integer("count"), integer("sum_ns"), integer("max_ns"),
        integer("cpu_ns"), integer("resident_bytes"), integer("send_lag_p99_ns");
    engine, "a counter of an embedded engine in a second":
        integer("attempt"), integer("run"), integer("second"), text("name"), text("instance"), text("unit"),
        number("value");
    telemetry, "a reading of a probe":
        integer("attempt"), integer("run"), text("probe"), text("name"), text("instance"), text("unit"),
        integer("offset_ns"), integer("span_ns"), number("value"), text("standby");
    drills, "a drill":
        integer("attempt"), integer("run"), integer("point"), boolean("counts"), text("void_reasons"), text("fault"),
        number("strength"), text("strength_unit"), number("phase_s"), text("mode"), number("before_per_s"),
        number("fault_begun_s"), number("fault_after_s"), number("fault_at_s"), number("first_failed_s"),
        text("manager"), number("detected_s"), number("promote_asked_s"), number("promoted_s"), text("promoted"),
        number("first_acknowledged_s"), number("undone_s"), number("rejoin_asked_s"), number("rejoined_s"),
        number("recovered_s"), number("protected_again_s"), integer("standbys_reached"), integer("standbys"),
        boolean("reach_holds_all"), integer("timeline_before"), integer("timeline"), integer("fork_at_bytes"),
        integer("old_log_end_bytes"), integer("log_lost_bytes"), number("writes_away_s"), number("reads_away_s"),
        number("connections_away_s"), integer("write_blips"), integer("read_blips"), integer("connection_blips"),
        number("write_lag_p99_ms"), number("read_lag_p99_ms"), number("connection_lag_p99_ms"), integer("degraded_s"),
        number("unprotected_s"), number("work_missed_s"), integer("sent"), integer("kept"), integer("lost"),
        integer("lost_as_warned"), integer("lost_unprotected"), integer("lost_against_promise"),
        integer("unknown_present"), integer("unknown_absent"), integer("phantoms"), integer("seen_and_lost"),
        integer("holes"), integer("doubles"), integer("stale_reads"), number("oldest_lost_s"),
        number("two_primaries_s"), integer("two_claimed_s"), boolean("ledger_read");
    outages, "an outage of a drill, for a kind of prober operation":
        integer("attempt"), integer("run"), text("kind"), number("from_s"), number("to_s"), integer("failed"),
        boolean("of_the_fault");
    prober, "a kind of prober operation in a tenth of a second":
        integer("attempt"), integer("run"), text("kind"), integer("tenth"), integer("acknowledged"),
        integer("failed"), integer("unknown");
    ledger, "a prober write that was not simply acknowledged and kept":
        integer("attempt"), integer("run"), integer("number"), text("class"), integer("node"), integer("due_ns"),
        integer("ended_ns");
    visits, "a visit of an experiment":
        integer("attempt"), integer("run"), integer("point"), integer("block"), boolean("block_complete"),
        integer("visit"), text("change"), text("resource"), integer("from_s"), integer("to_s"), number("switched_ms"),
        number("per_s"), number("response_p99_ns"), number("stolen");
    visit_readings, "a resource in a visit":
        integer("attempt"), integer("run"), integer("block"), integer("visit"), text("resource"), text("kind"),
        number("in_force"), number("used_per_s");
    marks, "a database counter at one point in time":
        integer("attempt"), integer("run"), text("label"), integer("offset_ns"), text("counter"), integer("value");
    facts, "a fact; applies to the study if attempt is empty":
        integer("attempt"), integer("run"), text("subject"), text("name"), text("requested"), text("effective"),
        text("source"), boolean("holds"), text("standby");
    checks, "a check and its result":
        integer("attempt"), integer("run"), text("group"), text("name"), text("rule"), text("found"), text("outcome"),
        text("offenders"), integer("lost");
    events, "an event; belongs to the study if attempt is empty":
        integer("attempt"), integer("run"), integer("at_us"), integer("offset_ns"), text("name"), text("detail");
    logs, "a log line for the operator":
        integer("attempt"), integer("at_us"), text("level"), text("source"), text("text");
    sessions, "a run or resume":
        integer("at_us"), text("program"), text("kernel");
    documents, "a document":
        text("name"), text("body");
}
