//! A session of DuckDB: a connection, its prepared statements and, with a time-out, its watchdog. Every call blocks its thread.

use super::database::{self, OpenDatabase};
use super::failure::{failed, timed_out};
use super::options::Options;
use super::statements::Statements;
use super::values;
use crate::contract::{Error, Flight, OwnedRow, OwnedValue, RowSource, Statement, Table, Target};
use crate::engines::watchdog::Watchdog;
use proofload_model::samples::Reading;

/// A session. Its fields are dropped in this order: whatever uses the connection goes before it.
#[derive(Debug)]
pub struct DuckdbSession {
    watchdog: Option<Watchdog>,
    statements: Option<Statements>,
    opened: OpenDatabase,
    seen: [u64; 2],
}

impl DuckdbSession {
    pub(super) fn open(target: &Target) -> Result<Self, Error> {
        let options = Options::read(&target.place.settings)?;
        let opened = database::open(target, &options)?;
        let interrupter = opened.connection.interrupter();
        let watchdog = Watchdog::start(options.statement_timeout, move || interrupter.interrupt())?;
        Ok(Self { watchdog, statements: None, opened, seen: [0; 2] })
    }

    /// Runs a statement's work under the watchdog, if there is one.
    #[inline]
    fn watched<T>(watchdog: Option<&Watchdog>, work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
        let Some(watchdog) = watchdog else { return work() };
        watchdog.begin();
        let outcome = work();
        match (watchdog.end(), outcome) {
            (true, Err(error)) if error.code() == "INTERRUPT" => Err(timed_out(watchdog.limit())),
            (_, outcome) => outcome,
        }
    }

    /// Appends rows to the open transaction.
    fn append_rows(&self, table: &Table<'_>, rows: &mut dyn RowSource) -> Result<u64, Error> {
        let names = table.columns.iter().map(|column| column.name);
        let mut appender = self.opened.connection.append(table.name, names).map_err(failed)?;
        if appender.width() != table.columns.len() {
            return Err(Error::other(format!("the table has {} columns", appender.width())));
        }
        let (mut count, mut outcome) = (0, Ok(()));
        while outcome.is_ok()
            && rows.next(&mut |row| {
                outcome = row.iter().zip(table.columns).enumerate().try_for_each(|(place, (value, column))| {
                    let kind = appender.kind(place);
                    let written = appender.put(values::cell(column, kind, *value)?);
                    if written { Ok(()) } else { Err(values::misfit(column, kind, *value)) }
                });
            })
        {
            outcome = outcome.and_then(|()| appender.end_row().map_err(failed)).map(|()| count += 1);
        }
        outcome.and_then(|()| appender.finish().map_err(failed)).map(|()| count)
    }

    /// Whether a transaction is open. Outside one, each statement has a transaction, and a number, of its own.
    fn in_transaction(&self) -> Result<bool, Error> {
        let number = || self.rows("SELECT txid_current()").map(|rows| rows.first().cloned());
        Ok(number()? == number()?)
    }

    fn rows(&self, sql: &str) -> Result<Vec<OwnedRow>, Error> {
        let mut statement =
            self.opened.connection.prepare(sql).map_err(|text| failed(text).context("failed to prepare a query"))?;
        let mut rows = statement.execute().map_err(|text| failed(text).context("failed to run a query"))?;
        let width = rows.width();
        let mut found = Vec::new();
        while let Some(chunk) = rows.next_chunk() {
            for row in 0..chunk.rows() {
                let cells = (0..width).map(|column| values::read_owned(chunk.cell(row, column)));
                found.push(cells.collect::<Result<Vec<OwnedValue>, Error>>()?);
            }
        }
        Ok(found)
    }
}

impl crate::contract::Session for DuckdbSession {
    async fn prepare(&mut self, statements: &[Statement]) -> Result<(), Error> {
        self.statements = Some(Statements::new(&self.opened.connection, statements)?);
        self.seen = [0; 2];
        Ok(())
    }

    async fn fly(&mut self, flight: &mut Flight) -> Result<(), Error> {
        if self.statements.is_none() {
            self.statements = Some(Statements::new(&self.opened.connection, &[])?);
        }
        let statements = self.statements.as_mut().expect("made above");
        for index in 0..flight.len() {
            Self::watched(self.watchdog.as_ref(), || statements.call(flight, index))?;
        }
        Ok(())
    }

    async fn query(&mut self, sql: &str) -> Result<Vec<OwnedRow>, Error> {
        Self::watched(self.watchdog.as_ref(), || self.rows(sql))
    }

    /// Runs a script without the time-out: scripts build.
    async fn script(&mut self, sql: &str) -> Result<(), Error> {
        self.opened.connection.run(sql).map_err(|text| failed(text).context("failed to run a script"))
    }

    async fn append(&mut self, table: &Table<'_>, rows: &mut dyn RowSource) -> Result<u64, Error> {
        let context = |error: Error| error.context(format!("failed to append to {}", table.name));
        if self.in_transaction()? {
            return self.append_rows(table, rows).map_err(context);
        }
        let run = |sql: &str| self.opened.connection.run(sql).map_err(|text| context(failed(text)));
        run("BEGIN TRANSACTION")?;
        match self.append_rows(table, rows) {
            Ok(count) => run("COMMIT").map(|()| count),
            Err(error) => {
                // The first error is the cause; DuckDB may have rolled back already.
                let _ = run("ROLLBACK");
                Err(context(error))
            }
        }
    }

    /// Differences of what the prepared statements did. DuckDB's own reads are seen by the host's probes.
    fn counters(&mut self, into: &mut Vec<Reading>) {
        let Some(statements) = &self.statements else { return };
        let now = [statements.runs, statements.rows];
        for ((name, now), before) in ["statement_runs", "returned_rows"].into_iter().zip(now).zip(self.seen) {
            let (component, unit) = (String::new(), "1".to_owned());
            into.push(Reading { name: name.to_owned(), component, unit, value: (now - before) as f64 });
        }
        self.seen = now;
    }
}
