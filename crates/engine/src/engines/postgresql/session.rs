//! A session of PostgreSQL: statements prepared at connect, flights pipelined over our own end of the protocol.
//!
//! All calls of a flight leave before the first answer is awaited. The server answers in order. It is asked to synchronise where a
//! transaction ends and after each call outside of one, because an error skips what follows up to there: inside a transaction nothing
//! after an error runs, outside of one the later calls of the flight still do.

use super::connection::{self, SCHEMA};
use super::values::Reader;
use super::wire::{Connection, Message, PreparedStatement, State, Tag, WireRow, affected, describe, queue_parse};
use super::{copy, settings};
use crate::contract::{
    Action, Control, Error, Flight, OwnedRow, OwnedValue, RowSource, Statement, Table, Target, Value,
};
use crate::engines::parameters;
use proofload_model::samples::Reading;

/// Transaction control as SQL, in the order of [`place_of`].
const CONTROLS: [(&str, &str); 4] =
    [("begin", "BEGIN"), ("begin_read_only", "BEGIN READ ONLY"), ("commit", "COMMIT"), ("rollback", "ROLLBACK")];

fn place_of(control: Control) -> usize {
    match control {
        Control::Begin => 0,
        Control::BeginReadOnly => 1,
        Control::Commit => 2,
        Control::Rollback => 3,
    }
}

/// A prepared statement and where its parameters come from.
#[derive(Debug)]
struct Entry {
    name: String,
    prepared: PreparedStatement,
    /// Index in the call's list of each parameter of the server's form.
    order: Vec<usize>,
    parameters: usize,
}

/// A connection of one user. Dropping it ends the server's session.
pub struct PostgresqlSession {
    connection: Connection,
    controls: Vec<PreparedStatement>,
    entries: Vec<Entry>,
    /// A flight has failed: the server answers a commit by rolling back *without an error*, so it is not sent before a
    /// rollback or a new begin.
    spoilt: bool,
}

impl std::fmt::Debug for PostgresqlSession {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PostgresqlSession").field("entries", &self.entries.len()).finish_non_exhaustive()
    }
}

/// Walks through the calls of a flight: whether a transaction is open after each, hence what is sent.
#[derive(Debug, Clone, Copy)]
struct Course {
    open: bool,
}

/// How one call is sent.
#[derive(Debug, Clone, Copy)]
struct Step {
    /// Whether it is sent at all. A rollback is not when there is nothing to roll back: the server would warn in its
    /// log.
    sent: bool,
    /// Whether the server is asked to synchronise after it.
    sync: bool,
}

impl Course {
    #[inline]
    fn step(&mut self, action: Action, is_last: bool) -> Step {
        let sent = self.open || action != Action::Control(Control::Rollback);
        match action {
            Action::Control(Control::Begin | Control::BeginReadOnly) => self.open = true,
            Action::Control(Control::Commit | Control::Rollback) => self.open = false,
            Action::Run(_) => {}
        }
        Step { sent, sync: sent && (is_last || !self.open) }
    }
}

impl PostgresqlSession {
    /// Connects, sets the schema and, on a server by URL, the study's settings.
    pub(super) async fn open(target: &Target) -> Result<Self, Error> {
        let mut connection = connection::open_lean(connection::config(target)?).await?;
        let setup = format!("SET search_path = {SCHEMA}; SET timezone = 'UTC'");
        let ignored = |_: &[u8]| {};
        connection.script(&setup, ignored).await.map_err(|error| error.context("failed to set up the session"))?;
        for (what, sql) in settings::to_apply(target) {
            connection.script(&sql, ignored).await.map_err(|error| error.context(what))?;
        }
        let context =
            |(place, error): (usize, Error)| error.context(format!("failed to prepare {}", CONTROLS[place].1));
        let controls = describe(&mut connection, &CONTROLS).await.map_err(context)?;
        Ok(Self { connection, controls, entries: Vec::new(), spoilt: false })
    }

    /// What can be known before anything is sent: statements and their number of parameters, no commit after an error.
    fn check(&self, flight: &Flight) -> Result<(), Error> {
        let mut spoilt = self.spoilt;
        for index in 0..flight.len() {
            match flight.action(index) {
                Action::Control(Control::Commit) if spoilt => {
                    return Err(Error::other("failed to commit: a statement of this transaction failed; roll back"));
                }
                Action::Control(_) => spoilt = false,
                Action::Run(id) => {
                    let entry = self.entries.get(usize::from(id.0)).ok_or_else(|| {
                        Error::other(format!(
                            "failed to run statement {}: only {} are prepared",
                            id.0,
                            self.entries.len()
                        ))
                    })?;
                    let given = flight.parameter_count(index);
                    if given != entry.parameters {
                        let text = format!("called with {given} parameters, but {} are declared", entry.parameters);
                        return Err(Error::other(text).context(&entry.name));
                    }
                }
            }
        }
        Ok(())
    }

    fn course(&self) -> Course {
        Course { open: self.connection.state() != State::Idle }
    }

    /// Queues all calls; nothing when one of them cannot be.
    fn queue(&mut self, flight: &Flight) -> Result<(), Error> {
        let mut course = self.course();
        for index in 0..flight.len() {
            let action = flight.action(index);
            let step = course.step(action, index + 1 == flight.len());
            if !step.sent {
                continue;
            }
            let out = self.connection.queue();
            let queued = match action {
                Action::Control(control) => {
                    self.controls[place_of(control)].queue(std::iter::empty::<Value<'_>>(), out)
                }
                Action::Run(id) => {
                    let entry = &self.entries[usize::from(id.0)];
                    entry.prepared.queue(entry.order.iter().map(|&place| flight.parameter(index, place)), out)
                }
            };
            if let Err(error) = queued {
                self.connection.forget_queue();
                return Err(error.context(self.name(flight, index)));
            }
            if step.sync {
                self.connection.queue_sync();
            }
        }
        Ok(())
    }

    /// Takes the answers of all calls. An error skips the calls up to the next synchronisation; the first one is returned.
    async fn land(&mut self, flight: &mut Flight, mut course: Course) -> Result<(), Error> {
        let mut outcome = Ok(());
        let mut index = 0;
        while index < flight.len() {
            let step = course.step(flight.action(index), index + 1 == flight.len());
            if step.sent {
                let mut synced = step.sync;
                if let Err(error) = self.land_call(flight, index).await? {
                    if outcome.is_ok() {
                        outcome = Err(error.context(self.name(flight, index)));
                    }
                    while !synced {
                        index += 1;
                        synced = course.step(flight.action(index), index + 1 == flight.len()).sync;
                    }
                }
                if synced {
                    while self.connection.receive().await?.tag != Tag::READY {}
                }
            }
            index += 1;
        }
        outcome
    }

    /// Copies the answer of one call into the flight, up to the statement's end. The outer error is the connection's.
    #[inline]
    async fn land_call(&mut self, flight: &mut Flight, index: usize) -> Result<Result<(), Error>, Error> {
        let readers: &[Reader] = match flight.action(index) {
            Action::Run(id) => &self.entries[usize::from(id.0)].prepared.readers,
            Action::Control(_) => &[],
        };
        flight.start_answer(index, readers.len());
        let mut outcome = Ok(());
        loop {
            let message = self.connection.receive().await?;
            match message.tag {
                Tag::ROW if outcome.is_ok() => {
                    let mut keep = |value: Value<'_>| flight.answer_value(index, value);
                    outcome = read_row(&self.connection, &message, readers, &mut keep);
                }
                Tag::COMPLETE => {
                    flight.end_answer(index, affected(self.connection.body(&message)));
                    return Ok(outcome);
                }
                Tag::EMPTY => return Ok(outcome),
                Tag::ERROR => return Ok(Err(self.connection.error(&message))),
                _ => {}
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

    /// Runs the query that was described, prepared again without a name: behind a pooler another server process may answer now.
    async fn rows(&mut self, sql: &str, prepared: &PreparedStatement) -> Result<Vec<OwnedRow>, Error> {
        if prepared.parameters() > 0 {
            return Err(Error::other("queries outside the hot path cannot have parameters"));
        }
        queue_parse(&mut self.connection, sql)?;
        prepared.queue(std::iter::empty(), self.connection.queue())?;
        self.connection.queue_sync();
        self.connection.flush().await?;
        let (mut rows, mut outcome) = (Vec::new(), Ok(()));
        loop {
            let message = self.connection.receive().await?;
            match message.tag {
                Tag::READY => return outcome.map(|()| rows),
                Tag::ROW if outcome.is_ok() => {
                    let mut row = OwnedRow::with_capacity(prepared.readers.len());
                    let mut keep = |value: Value<'_>| row.push(OwnedValue::from(value));
                    outcome = read_row(&self.connection, &message, &prepared.readers, &mut keep);
                    rows.push(row);
                }
                Tag::ERROR => outcome = Err(self.connection.error(&message)),
                _ => {}
            }
        }
    }
}

/// Reads the fields of a row.
#[inline]
fn read_row(
    connection: &Connection,
    message: &Message,
    readers: &[Reader],
    keep: &mut impl FnMut(Value<'_>),
) -> Result<(), Error> {
    let mut row = WireRow::of(connection.body(message), readers.len())?;
    for reader in readers {
        keep(reader.read(row.field()?)?);
    }
    Ok(())
}

impl crate::contract::Session for PostgresqlSession {
    async fn prepare(&mut self, statements: &[Statement]) -> Result<(), Error> {
        self.entries.clear();
        let context = |(place, error): (usize, Error)| match statements.get(place) {
            Some(statement) => error.context(format!("failed to prepare {}", statement.name)),
            None => error.context("failed to prepare statements"),
        };
        let mut numbered = Vec::with_capacity(statements.len());
        for (place, statement) in statements.iter().enumerate() {
            let rewritten = parameters::number(&statement.sql, &statement.parameters);
            numbered.push((format!("s{place}"), rewritten.map_err(|error| context((place, error)))?));
        }
        let texts: Vec<(&str, &str)> = numbered.iter().map(|(name, text)| (name.as_str(), text.sql.as_str())).collect();
        let prepared = describe(&mut self.connection, &texts).await.map_err(context)?;
        for ((place, statement), ((_, text), prepared)) in
            statements.iter().enumerate().zip(numbered.into_iter().zip(prepared))
        {
            let width = prepared.readers.len();
            if width != usize::from(statement.columns) {
                let text = format!("returns {width} columns, but {} are declared", statement.columns);
                return Err(context((place, Error::other(text))));
            }
            let (name, parameters) = (statement.name.clone(), statement.parameters.len());
            self.entries.push(Entry { name, prepared, order: text.order, parameters });
        }
        Ok(())
    }

    async fn fly(&mut self, flight: &mut Flight) -> Result<(), Error> {
        self.check(flight)?;
        self.connection.settle().await?;
        self.spoilt = true;
        let course = self.course();
        self.queue(flight)?;
        self.connection.flush().await?;
        self.land(flight, course).await?;
        self.spoilt = false;
        Ok(())
    }

    async fn query(&mut self, sql: &str) -> Result<Vec<OwnedRow>, Error> {
        let context = |error: Error| error.context("failed to run a query");
        let prepared = describe(&mut self.connection, &[("", sql)]).await.map_err(|(_, error)| context(error))?;
        let prepared =
            prepared.into_iter().next().ok_or_else(|| context(Error::other("the server sent no description")))?;
        self.rows(sql, &prepared).await.map_err(context)
    }

    async fn script(&mut self, sql: &str) -> Result<(), Error> {
        self.connection.script(sql, |_| {}).await.map_err(|error| error.context("failed to run a script"))
    }

    async fn append(&mut self, table: &Table<'_>, rows: &mut dyn RowSource) -> Result<u64, Error> {
        copy::append(&mut self.connection, table, rows).await
    }

    async fn takes_writes(&mut self) -> Result<bool, Error> {
        self.connection.takes_writes().await
    }

    fn has_ended(&mut self) -> bool {
        self.connection.has_ended()
    }

    fn take_warning(&mut self) -> bool {
        self.connection.take_warning()
    }

    fn counters(&mut self, _into: &mut Vec<Reading>) {}
}
