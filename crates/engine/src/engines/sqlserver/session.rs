//! A session of SQL Server: statements prepared by their first call, the calls of a flight sent as one message.
//!
//! The server runs the calls of a message in order and answers each; that one fails need not keep it from the next. An error ends the
//! transaction (`XACT_ABORT`), and what follows would commit by itself: so transactions run with `IMPLICIT_TRANSACTIONS` on, `COMMIT` leaves
//! only when all that it commits has succeeded, and an error is followed by `ROLLBACK` before anything else. Outside of a transaction they are
//! off; they are switched only where the next call needs it otherwise.

use super::address::ServerAddress;
use super::statement_entry::StatementEntry;
use super::wire::{EndKind, Event, ServerConnection, broken};
use super::{bulk_load, failure, script, settings};
use crate::contract::{Action, Control, Error, ErrorClass, Flight, OwnedRow, RowSource, Statement, Table, Target};
use std::time::Duration;

/// What a session says first: the standard's nulls and quotes, no value that is bent to fit, an error that ends what it is in, no row seen
/// that is not committed.
const SETUP: &str = "SET NOCOUNT OFF; SET XACT_ABORT ON; SET ANSI_NULLS ON; SET ANSI_PADDING ON; SET ANSI_WARNINGS ON; SET ARITHABORT ON; \
    SET CONCAT_NULL_YIELDS_NULL ON; SET QUOTED_IDENTIFIER ON; SET NUMERIC_ROUNDABORT OFF; SET LANGUAGE us_english; SET DATEFORMAT ymd; \
    SET TEXTSIZE 2147483647; SET LOCK_TIMEOUT -1; SET IMPLICIT_TRANSACTIONS OFF; SET TRANSACTION ISOLATION LEVEL READ COMMITTED";

/// Texts of transaction control.
const IMPLICIT_ON: &str = "SET IMPLICIT_TRANSACTIONS ON";
const IMPLICIT_OFF: &str = "SET IMPLICIT_TRANSACTIONS OFF";
const COMMIT: &str = "COMMIT TRANSACTION";
const ROLLBACK: &str = "IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION";
/// How long a statement that is stopped may take to end.
const STOPPING: Duration = Duration::from_secs(30);
/// Whether the database takes writes: a secondary of an availability group does not.
const TAKES_WRITES: &str = "SELECT CAST(DATABASEPROPERTYEX(DB_NAME(), 'Updateability') AS varchar(20))";

/// The transaction of a session, as its calls have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Transaction {
    None,
    ReadOnly,
    Writing,
}

/// A connection of one user. Dropping it ends the server's session.
pub struct SqlserverSession {
    connection: ServerConnection,
    entries: Vec<StatementEntry>,
    transaction: Transaction,
    /// Statements begin transactions, as the server was told last.
    implicit: bool,
    /// A flight is under way: its caller has gone away where the next call finds it so.
    flying: bool,
    /// How long a query or a message of calls may take.
    limit: Option<Duration>,
    /// A call of the transaction has failed, and it has been rolled back: there is nothing left to commit.
    spoilt: bool,
}

impl std::fmt::Debug for SqlserverSession {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqlserverSession").field("entries", &self.entries.len()).finish_non_exhaustive()
    }
}

impl SqlserverSession {
    /// Connects and sets the session up.
    pub(super) async fn open(target: &Target) -> Result<Self, Error> {
        let address = ServerAddress::of(target)?;
        let mut connection = connect(&address, &address.database).await?;
        if target.endpoints.role_moves() && !takes_writes(&mut connection).await? {
            return Err(Error::new(ErrorClass::ConnectionLost, "", "the database does not take writes"));
        }
        let (entries, limit) = (Vec::new(), settings::statement_timeout(target)?);
        let transaction = Transaction::None;
        Ok(Self { connection, entries, transaction, implicit: false, flying: false, limit, spoilt: false })
    }

    /// What can be known before anything is sent: statements and their number of parameters, no commit after an error.
    fn check(&self, flight: &Flight) -> Result<(), Error> {
        let mut spoilt = self.spoilt;
        for index in 0..flight.len() {
            match flight.action(index) {
                Action::Control(Control::Commit) if spoilt => {
                    return Err(Error::other("commit: a call of this transaction has failed; roll back"));
                }
                Action::Control(_) => spoilt = false,
                // It would commit itself.
                Action::Run(_) if spoilt => {
                    return Err(Error::other("a call of this transaction has failed; roll back"));
                }
                Action::Run(id) => {
                    let entry = self.entries.get(usize::from(id.0)).ok_or_else(|| {
                        Error::other(format!("run statement {}: only {} are prepared", id.0, self.entries.len()))
                    })?;
                    let given = flight.parameter_count(index);
                    if given != entry.parameters {
                        let text = format!("called with {given} parameters where {} are declared", entry.parameters);
                        return Err(Error::other(text).context(&entry.name));
                    }
                }
            }
        }
        Ok(())
    }

    /// Makes the session ready for what comes next, also after a caller that went away.
    async fn settle(&mut self) -> Result<(), Error> {
        self.connection.settle().await?;
        if self.flying {
            // What was sent last is not known.
            self.implicit = false;
            self.connection.text(IMPLICIT_OFF).await?;
            self.take_back().await?;
            // Not before: whoever waits for this may go away, too.
            self.flying = false;
        }
        Ok(())
    }

    /// Rolls back after an error, where anything may be open.
    async fn take_back(&mut self) -> Result<(), Error> {
        if self.transaction != Transaction::None || self.connection.in_transaction() {
            self.spoilt |= self.transaction == Transaction::Writing;
            self.transaction = Transaction::None;
            self.connection.text(ROLLBACK).await?;
        }
        Ok(())
    }

    /// Has statements begin transactions, or commit themselves.
    #[inline]
    async fn switch(&mut self, implicit: bool) -> Result<(), Error> {
        if self.implicit != implicit {
            self.connection.text(if implicit { IMPLICIT_ON } else { IMPLICIT_OFF }).await?;
            self.implicit = implicit;
        }
        Ok(())
    }

    /// Transaction control. A transaction begins with its first statement, so that beginning one sends nothing.
    async fn control(&mut self, control: Control) -> Result<(), Error> {
        self.transaction = match control {
            Control::Begin => Transaction::Writing,
            Control::BeginReadOnly => Transaction::ReadOnly,
            Control::Commit | Control::Rollback => Transaction::None,
        };
        match control {
            Control::Commit if self.connection.in_transaction() => self.connection.text(COMMIT).await,
            Control::Rollback if self.connection.in_transaction() => self.connection.text(ROLLBACK).await,
            _ => Ok(()),
        }
    }

    /// Puts the calls from `first` on into one message, up to transaction control or a statement that is prepared; returns where it stopped.
    fn queue(&mut self, flight: &Flight, first: usize) -> Result<usize, Error> {
        self.connection.begin_request();
        let mut index = first;
        while let Some(Action::Run(id)) = (index < flight.len()).then(|| flight.action(index)) {
            let entry = &mut self.entries[usize::from(id.0)];
            let queued = entry.queue(flight, index, index == first, &mut self.connection);
            index += 1;
            // The number that it gets is what the next call needs.
            if queued.map_err(|error| error.context(&self.entries[usize::from(id.0)].name))? {
                break;
            }
        }
        Ok(index)
    }

    /// Sends the calls from `first` on and takes their answers; returns where it stopped. The outer error is the connection's.
    async fn run(&mut self, flight: &mut Flight, first: usize) -> Result<(usize, Result<(), Error>), Error> {
        self.switch(self.transaction != Transaction::None).await?;
        let end = match self.queue(flight, first) {
            Ok(end) => end,
            Err(error) => {
                self.connection.forget_message();
                return Ok((first, Err(error)));
            }
        };
        self.connection.send_calls().await?;
        let mut outcome = Ok(());
        let mut is_last = false;
        for index in first..end {
            if is_last {
                // It stopped before this one.
                flight.start_answer(index, 0);
                let silent = || Err(broken("an answer that ends before the last call"));
                outcome = outcome.and_then(|()| silent());
                continue;
            }
            let landed;
            (is_last, landed) = self.land(flight, index).await?;
            if let (Ok(()), Err(error)) = (&outcome, landed) {
                outcome = Err(error.context(self.name(flight, index)));
            }
        }
        Ok((end, outcome))
    }

    /// The same, stopped where it takes longer than it may.
    async fn run_limited(&mut self, flight: &mut Flight, first: usize) -> Result<(usize, Result<(), Error>), Error> {
        let Some(limit) = self.limit else { return self.run(flight, first).await };
        if let Ok(ran) = tokio::time::timeout(limit, self.run(flight, first)).await {
            return ran;
        }
        let error = self.stop(limit).await;
        Err(error.context(self.name(flight, first)))
    }

    /// Has the server stop what took longer than the limit, and rolls back what a flight began; the error to tell.
    async fn stop(&mut self, limit: Duration) -> Error {
        match tokio::time::timeout(STOPPING, self.settle()).await {
            Ok(Ok(())) => failure::timed_out(limit),
            Ok(Err(error)) => error,
            Err(_) => failure::not_stopped(limit, STOPPING),
        }
    }

    /// All rows of a text, stopped where it takes longer than it may.
    async fn rows(&mut self, sql: &str) -> Result<Vec<OwnedRow>, Error> {
        self.settle_for_text().await?;
        let Some(limit) = self.limit else { return self.connection.rows(sql).await };
        match tokio::time::timeout(limit, self.connection.rows(sql)).await {
            Ok(read) => read,
            Err(_) => Err(self.stop(limit).await),
        }
    }

    /// Copies the answer of one call into the flight, up to its end. Tells whether it was the last.
    #[inline]
    async fn land(&mut self, flight: &mut Flight, index: usize) -> Result<(bool, Result<(), Error>), Error> {
        let Action::Run(id) = flight.action(index) else { return Ok((false, Ok(()))) };
        let entry = &mut self.entries[usize::from(id.0)];
        flight.start_answer(index, usize::from(entry.columns));
        let (mut outcome, mut touched, mut rows) = (Ok(()), 0, None);
        loop {
            match self.connection.next().await? {
                Event::Columns(width) => {
                    rows.get_or_insert(0);
                    if width != usize::from(entry.columns) && outcome.is_ok() {
                        let text = format!("returns {width} columns where {} are declared", entry.columns);
                        outcome = Err(Error::new(ErrorClass::Data, "", text));
                    }
                }
                Event::Row(place) => {
                    if outcome.is_ok() {
                        outcome = self.connection.read_row(&place, |value| flight.answer_value(index, value));
                    }
                    *rows.get_or_insert(0) += 1;
                }
                Event::Heard(_) => {}
                Event::Returned(handle) => entry.handle = handle.and_then(|handle| i32::try_from(handle).ok()),
                Event::Done { kind, is_last, rows: counted } => {
                    touched = counted.unwrap_or(touched);
                    if is_last || kind == EndKind::Procedure {
                        flight.end_answer(index, rows.unwrap_or(touched));
                        // What the server says counts more than what we could not read.
                        return Ok((is_last, self.connection.outcome().and(outcome)));
                    }
                }
            }
        }
    }

    /// What call `index` is called in errors.
    fn name(&self, flight: &Flight, index: usize) -> &str {
        match flight.action(index) {
            Action::Run(id) => &self.entries[usize::from(id.0)].name,
            Action::Control(Control::Begin | Control::BeginReadOnly) => "begin",
            Action::Control(Control::Commit) => "commit",
            Action::Control(Control::Rollback) => "rollback",
        }
    }

    /// Makes statements outside of flights commit themselves, unless a transaction is open.
    async fn settle_for_text(&mut self) -> Result<(), Error> {
        self.settle().await?;
        let is_free = self.transaction == Transaction::None && !self.connection.in_transaction();
        if is_free { self.switch(false).await } else { Ok(()) }
    }

    /// Checks a statement that can be described before its first call.
    async fn describe(&mut self, place: usize) -> Result<(), Error> {
        let entry = &mut self.entries[place];
        let Some(sql) = entry.describable() else { return Ok(()) };
        StatementEntry::queue_description(sql, &mut self.connection)?;
        self.connection.send_calls().await?;
        let mut width = None;
        loop {
            match self.connection.next().await? {
                Event::Columns(count) => width = width.or(Some(count)),
                Event::Returned(handle) => entry.handle = handle.and_then(|handle| i32::try_from(handle).ok()),
                Event::Done { is_last: true, .. } => break,
                _ => {}
            }
        }
        self.connection.outcome()?;
        match width.filter(|width| *width != usize::from(entry.columns)) {
            Some(width) => Err(Error::other(format!("returns {width} columns where {} are declared", entry.columns))),
            None => Ok(()),
        }
    }
}

/// Tells whether the database takes writes.
pub(super) async fn takes_writes(connection: &mut ServerConnection) -> Result<bool, Error> {
    let rows = connection.rows(TAKES_WRITES).await?;
    let told = rows.first().and_then(|row| row.first());
    Ok(told.is_some_and(|value| value.as_value() == crate::contract::Value::Text("READ_WRITE")))
}

/// Connects and sets the session up.
pub(super) async fn connect(address: &ServerAddress, database: &str) -> Result<ServerConnection, Error> {
    let context = |error: Error| {
        let advice = failure::advice(error.code(), address.authentication);
        error.context(format!("connect to {}{advice}", address.in_words()))
    };
    let mut connection = ServerConnection::open(address, Some(database)).await.map_err(context)?;
    connection.text(SETUP).await.map_err(|error| error.context("set up the session"))?;
    Ok(connection)
}

impl crate::contract::Session for SqlserverSession {
    async fn prepare(&mut self, statements: &[Statement]) -> Result<(), Error> {
        self.settle().await?;
        self.entries.clear();
        for (place, statement) in statements.iter().enumerate() {
            let context = |error: Error| error.context(format!("prepare {}", statement.name));
            self.entries.push(StatementEntry::new(statement).map_err(context)?);
            self.describe(place).await.map_err(context)?;
        }
        Ok(())
    }

    async fn fly(&mut self, flight: &mut Flight) -> Result<(), Error> {
        self.check(flight)?;
        self.settle().await?;
        self.flying = true;
        self.spoilt = false;
        // What a script has begun goes on, and is ended as if a flight had begun it.
        if self.transaction == Transaction::None && self.connection.in_transaction() {
            self.transaction = Transaction::Writing;
        }
        let mut next = 0;
        while next < flight.len() {
            let before = self.transaction;
            let index = next;
            let outcome = match flight.action(next) {
                Action::Control(control) => {
                    flight.start_answer(next, 0);
                    next += 1;
                    self.control(control).await.map_err(|error| error.context(self.name(flight, index)))
                }
                Action::Run(_) => {
                    let (end, outcome) = self.run_limited(flight, next).await?;
                    next = end;
                    outcome
                }
            };
            if let Err(error) = outcome {
                self.flying = false;
                self.spoilt = before == Transaction::Writing;
                // What the server said before it went is the error to tell.
                if error.class() != ErrorClass::ConnectionLost {
                    self.take_back().await?;
                }
                return Err(error);
            }
        }
        self.flying = false;
        Ok(())
    }

    async fn query(&mut self, sql: &str) -> Result<Vec<OwnedRow>, Error> {
        self.rows(sql).await.map_err(|error| error.context("run a query"))
    }

    async fn script(&mut self, sql: &str) -> Result<(), Error> {
        let ran = async {
            self.settle_for_text().await?;
            for statement in script::statements(sql) {
                self.connection.text(&statement).await?;
            }
            Ok(())
        };
        ran.await.map_err(|error: Error| error.context("run a script"))
    }

    async fn append(&mut self, table: &Table<'_>, rows: &mut dyn RowSource) -> Result<u64, Error> {
        self.settle_for_text().await?;
        bulk_load::append(&mut self.connection, table, rows).await
    }

    async fn takes_writes(&mut self) -> Result<bool, Error> {
        self.settle().await?;
        takes_writes(&mut self.connection).await
    }

    fn has_ended(&mut self) -> bool {
        self.connection.has_ended()
    }
}
