//! A session of SQLite: a connection and, once prepared, its runner. Every call blocks its thread.

use super::failure::failed;
use super::runner::{Runner, Work};
use super::values;
use super::writers::WriterTurn;
use crate::contract::{Error, ErrorClass, Flight, OwnedRow, RowSource, Statement, Table};
use crate::engines::watchdog::Watchdog;
use proofload_model::samples::Reading;
use rusqlite::Connection;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

/// A connection to the study's file. Drop order matters to nobody: the runner shares ownership of the connection.
pub struct SqliteSession {
    watchdog: Option<Watchdog>,
    runner: Option<Runner>,
    connection: Rc<Connection>,
    /// The database file, if its writers of this process queue.
    queued: Option<PathBuf>,
    seen: Work,
}

impl std::fmt::Debug for SqliteSession {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqliteSession").field("connection", &self.connection).finish_non_exhaustive()
    }
}

impl SqliteSession {
    /// A session whose queries may take so long; `queued`: the database file, if its writers of this process queue.
    pub(super) fn new(connection: Connection, limit: Option<Duration>, queued: Option<PathBuf>) -> Result<Self, Error> {
        let handle = connection.get_interrupt_handle();
        let watchdog = Watchdog::start(limit, move || handle.interrupt())?;
        Ok(Self { watchdog, runner: None, connection: Rc::new(connection), queued, seen: Work::default() })
    }

    fn make_runner(&mut self, statements: &[Statement]) -> Result<&mut Runner, Error> {
        let turn = self.queued.as_deref().map(WriterTurn::of);
        Ok(self.runner.insert(Runner::new(self.connection.clone(), statements, turn)?))
    }

    /// All rows of a query.
    fn rows(&self, sql: &str) -> Result<Vec<OwnedRow>, Error> {
        let mut statement =
            self.connection.prepare(sql).map_err(|error| failed(error).context("failed to prepare a query"))?;
        let width = statement.column_count();
        let mut found = Vec::new();
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next().map_err(|error| failed(error).context("failed to run a query"))? {
            let value = |column| values::read_owned(row.get_ref(column).map_err(failed)?);
            found.push((0..width).map(value).collect::<Result<OwnedRow, Error>>()?);
        }
        Ok(found)
    }

    /// Inserts all rows by one prepared statement.
    fn insert(&self, table: &Table<'_>, rows: &mut dyn RowSource) -> Result<u64, Error> {
        let mut statement = self.connection.prepare(&insert_sql(table)).map_err(failed)?;
        let mut count = 0;
        let mut outcome = Ok(());
        while outcome.is_ok()
            && rows.next(&mut |row| {
                outcome = row.iter().zip(table.columns).enumerate().try_for_each(|(position, (value, column))| {
                    values::bind(&mut statement, position + 1, values::of_column(column, *value)?)
                });
            })
        {
            outcome = outcome.and_then(|()| statement.raw_execute().map_err(failed).map(|_| count += 1));
        }
        outcome.map(|()| count)
    }
}

impl crate::contract::Session for SqliteSession {
    async fn prepare(&mut self, statements: &[Statement]) -> Result<(), Error> {
        self.make_runner(statements)?;
        self.seen = Work::default();
        Ok(())
    }

    async fn fly(&mut self, flight: &mut Flight) -> Result<(), Error> {
        match &mut self.runner {
            Some(runner) => runner.fly(flight),
            None => self.make_runner(&[])?.fly(flight),
        }
    }

    async fn query(&mut self, sql: &str) -> Result<Vec<OwnedRow>, Error> {
        let Some(watchdog) = &self.watchdog else { return self.rows(sql) };
        watchdog.begin();
        let outcome = self.rows(sql);
        match (watchdog.end(), outcome) {
            (true, Err(_)) => {
                let limit = proofload_model::units::duration_text(watchdog.limit());
                let text = format!("the query was interrupted after {limit}");
                Err(Error::new(ErrorClass::Other, "statement_timeout", text))
            }
            (_, outcome) => outcome,
        }
    }

    async fn script(&mut self, sql: &str) -> Result<(), Error> {
        self.connection.execute_batch(sql).map_err(|error| failed(error).context("failed to run a script"))
    }

    async fn append(&mut self, table: &Table<'_>, rows: &mut dyn RowSource) -> Result<u64, Error> {
        let context = |error: Error| error.context(format!("failed to append to {}", table.name));
        if !self.connection.is_autocommit() {
            return self.insert(table, rows).map_err(context);
        }
        let execute = |sql: &str| self.connection.execute_batch(sql).map_err(|error| context(failed(error)));
        execute("BEGIN IMMEDIATE")?;
        match self.insert(table, rows) {
            Ok(count) => execute("COMMIT").map(|()| count),
            Err(error) => {
                // The first error is the cause; SQLite may have rolled back already.
                let _ = execute("ROLLBACK");
                Err(context(error))
            }
        }
    }

    /// Differences of what the prepared statements did. SQLite's cache counters are behind an interface that is not safe
    /// Rust; the kernel's view of the same reads comes from the host's probes.
    fn counters(&mut self, into: &mut Vec<Reading>) {
        let Some(Ok(now)) = self.runner.as_mut().map(Runner::work) else { return };
        let mut add = |name: &str, now: u64, before: u64| {
            let (component, unit) = (String::new(), "1".to_owned());
            into.push(Reading { name: name.to_owned(), component, unit, value: now.wrapping_sub(before) as f64 });
        };
        add("statement_runs", now.runs, self.seen.runs);
        add("machine_steps", now.steps, self.seen.steps);
        add("scanned_rows", now.scanned, self.seen.scanned);
        add("sorts", now.sorts, self.seen.sorts);
        self.seen = now;
    }
}

/// `INSERT INTO "table" ("a", "b") VALUES (?, ?)`.
fn insert_sql(table: &Table) -> String {
    let names: Vec<String> = table.columns.iter().map(|column| format!("\"{}\"", column.name)).collect();
    let places = vec!["?"; names.len()].join(", ");
    format!("INSERT INTO \"{}\" ({}) VALUES ({places})", table.name, names.join(", "))
}
