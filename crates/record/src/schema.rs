//! Tables of the record. A changed table raises [`FORMAT`] and says in the ADR what old readers do.

use crate::compat::Format;

/// `application_id` of the file: the letters `PROF`.
pub const APPLICATION_ID: i32 = 0x5052_4F46;

/// Format version in `user_version`.
///
/// 2: a histogram's clock may be `send_lag`, and `interval.client` may have `offered`. Records of format 1 are read as they are.
/// 3: tables of load agents. Records of formats 1 and 2 are read, and continued, as they are: none of their runs has several agents.
/// 4: a chain covers every row; facts, events, series and log lines name their instance, facts may have a number, events have a version. Records of formats 1 to 3 are read, and
/// continued, as they are: all that they know is a deployment of one instance, which has no name.
/// 5: a row of `sample` holds all readings of a probe at one moment, in the order of its row of `series_set`. Records of formats 1 to 4, in which each reading has a row, are read, and
/// continued, as they are.
pub const FORMAT: i32 = 5;

/// Samples of formats up to 4.
const SAMPLE_OF_ONE: (&str, &str) = (
    "sample",
    "id INTEGER PRIMARY KEY, series INTEGER NOT NULL, offset_ns INTEGER NOT NULL, span_ns INTEGER NOT NULL, value REAL NOT NULL",
);

/// Every table: name and columns. All are STRICT and append-only.
const TABLES: &[(&str, &str)] = &[
    // The study as written and as resolved, the plan, versions, outputs of other tools.
    ("document", "id INTEGER PRIMARY KEY, at_us INTEGER NOT NULL, name TEXT NOT NULL, body TEXT NOT NULL"),
    // One row per `run` or `resume`.
    (
        "session",
        "id INTEGER PRIMARY KEY, at_us INTEGER NOT NULL, program TEXT NOT NULL, machine TEXT NOT NULL, pid INTEGER NOT NULL",
    ),
    // One row per try at a run of the plan.
    ("attempt", "id INTEGER PRIMARY KEY, session INTEGER NOT NULL, run_index INTEGER NOT NULL, at_us INTEGER NOT NULL"),
    // What happened to an attempt, or to the study when attempt is null.
    (
        "event",
        "id INTEGER PRIMARY KEY, attempt INTEGER, at_us INTEGER NOT NULL, offset_ns INTEGER, name TEXT NOT NULL, detail TEXT NOT NULL, instance TEXT NOT NULL, version INTEGER NOT NULL",
    ),
    (
        "fact",
        "id INTEGER PRIMARY KEY, attempt INTEGER, subject TEXT NOT NULL, name TEXT NOT NULL, requested TEXT, effective TEXT, source TEXT NOT NULL, holds INTEGER, instance TEXT NOT NULL, number REAL",
    ),
    (
        "interval",
        "id INTEGER PRIMARY KEY, attempt INTEGER NOT NULL, number INTEGER NOT NULL, client TEXT NOT NULL, engine TEXT NOT NULL, UNIQUE (attempt, number)",
    ),
    (
        "operation",
        "id INTEGER PRIMARY KEY, attempt INTEGER NOT NULL, number INTEGER NOT NULL, kind TEXT NOT NULL, due INTEGER NOT NULL, done INTEGER NOT NULL, rolled_back INTEGER NOT NULL, failed INTEGER NOT NULL, dropped INTEGER NOT NULL, in_flight INTEGER NOT NULL, retries INTEGER NOT NULL",
    ),
    // payload: HdrHistogram V2 with deflate, nanoseconds.
    (
        "histogram",
        "id INTEGER PRIMARY KEY, attempt INTEGER NOT NULL, number INTEGER NOT NULL, kind TEXT NOT NULL, clock TEXT NOT NULL, count INTEGER NOT NULL, sum_ns INTEGER NOT NULL, max_ns INTEGER NOT NULL, payload BLOB NOT NULL",
    ),
    // One second of one of several load agents: its part of `interval`, in which they are merged.
    (
        "agent_interval",
        "id INTEGER PRIMARY KEY, attempt INTEGER NOT NULL, agent INTEGER NOT NULL, number INTEGER NOT NULL, completed INTEGER NOT NULL, failed INTEGER NOT NULL, dropped INTEGER NOT NULL, count INTEGER NOT NULL, sum_ns INTEGER NOT NULL, max_ns INTEGER NOT NULL, client TEXT NOT NULL, UNIQUE (attempt, agent, number)",
    ),
    // The latencies of one of several load agents over the measured window, of all kinds together; payload as in `histogram`.
    (
        "agent_histogram",
        "id INTEGER PRIMARY KEY, attempt INTEGER NOT NULL, agent INTEGER NOT NULL, clock TEXT NOT NULL, count INTEGER NOT NULL, sum_ns INTEGER NOT NULL, max_ns INTEGER NOT NULL, payload BLOB NOT NULL",
    ),
    (
        "failure",
        "id INTEGER PRIMARY KEY, attempt INTEGER NOT NULL, number INTEGER NOT NULL, kind TEXT NOT NULL, code TEXT NOT NULL, text TEXT NOT NULL, count INTEGER NOT NULL",
    ),
    (
        "series",
        "id INTEGER PRIMARY KEY, attempt INTEGER NOT NULL, probe TEXT NOT NULL, name TEXT NOT NULL, component TEXT NOT NULL, unit TEXT NOT NULL, instance TEXT NOT NULL",
    ),
    // series: their numbers as a JSON array, in the order of the readings of a row of `sample`.
    ("series_set", "id INTEGER PRIMARY KEY, attempt INTEGER NOT NULL, series TEXT NOT NULL"),
    // readings: for each series of the series set a number of 64 bits as IEEE 754 has it, little end first.
    (
        "sample",
        "id INTEGER PRIMARY KEY, attempt INTEGER NOT NULL, series_set INTEGER NOT NULL, offset_ns INTEGER NOT NULL, span_ns INTEGER NOT NULL, readings BLOB NOT NULL",
    ),
    (
        "mark",
        "id INTEGER PRIMARY KEY, attempt INTEGER NOT NULL, label TEXT NOT NULL, moment_ns INTEGER NOT NULL, offset_ns INTEGER NOT NULL, name TEXT NOT NULL, value INTEGER NOT NULL",
    ),
    ("verification", "id INTEGER PRIMARY KEY, attempt INTEGER NOT NULL, body TEXT NOT NULL"),
    (
        "log",
        "id INTEGER PRIMARY KEY, attempt INTEGER, at_us INTEGER NOT NULL, level TEXT NOT NULL, source TEXT NOT NULL, text TEXT NOT NULL, instance TEXT NOT NULL",
    ),
    // The chain: see `chain`. Columns of tables are the last rows that the link and those before it cover.
    (
        "link",
        "id INTEGER PRIMARY KEY, kind TEXT NOT NULL, attempt INTEGER, document INTEGER NOT NULL, session INTEGER NOT NULL, event INTEGER NOT NULL, fact INTEGER NOT NULL, log INTEGER NOT NULL, of_attempt TEXT NOT NULL, of_study TEXT NOT NULL, sha256 TEXT NOT NULL",
    ),
];

/// Tables of a format with a chain.
fn tables(format: Format) -> impl Iterator<Item = (&'static str, &'static str)> {
    let packed = format.has_packed_samples();
    let of_format = move |table: &(&'static str, &'static str)| match table.0 {
        "series_set" if !packed => None,
        "sample" if !packed => Some(SAMPLE_OF_ONE),
        _ => Some(*table),
    };
    TABLES.iter().filter_map(of_format)
}

/// The statements that make the tables and triggers of a record. There is no index that a reader could be misled by.
fn statements(format: Format) -> Vec<String> {
    let mut statements = Vec::new();
    for (table, columns) in tables(format) {
        statements.push(format!("CREATE TABLE {table} ({columns}) STRICT"));
        for change in ["UPDATE", "DELETE"] {
            statements.push(format!(
                "CREATE TRIGGER {table}_no_{} BEFORE {change} ON {table} BEGIN SELECT RAISE(ABORT, 'a record is append-only'); END",
                change.to_lowercase()
            ));
        }
    }
    statements
}

/// The script that makes an empty record.
pub(crate) fn script() -> String {
    let pragmas = format!("PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {FORMAT};\n");
    pragmas + &statements(Format(FORMAT)).iter().map(|statement| format!("{statement};\n")).collect::<String>()
}

/// Tables and triggers as SQLite lists them, sorted.
pub(crate) fn objects(format: Format) -> Vec<String> {
    let mut statements = statements(format);
    statements.sort_unstable();
    statements
}
