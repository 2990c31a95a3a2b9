//! A session of PostgreSQL: statements prepared at connect, flights pipelined.
//!
//! The driver sends a call when its future is polled first. All calls of a flight are polled together, in order, so the whole
//! flight leaves before the first answer comes. The server answers in order. Inside a transaction it refuses everything after
//! an error; outside one, later calls of the flight still run.

use super::connection::{self, SCHEMA};
use super::failure::failed;
use super::values::{Field, Parameter, Reader};
use super::{copy, settings};
use crate::contract::{Action, Control, Error, Flight, OwnedRow, RowSource, Statement, Table, Target};
use crate::engines::parameters;
use futures_util::StreamExt as _;
use futures_util::future::join_all;
use proofload_model::samples::Reading;
use std::pin::pin;
use tokio_postgres::{Client, RowStream};

/// `join_all` polls so many futures in place and in order; above, it allocates for each.
const LANE: usize = 30;
/// Calls that are sent before answers are read.
const MOST_TOGETHER: usize = LANE * LANE;

/// A prepared statement and how its parameters and columns are sent.
#[derive(Debug)]
struct Entry {
    name: String,
    statement: tokio_postgres::Statement,
    /// For each parameter of the server's form, the place in the call's list.
    order: Vec<usize>,
    parameters: usize,
    readers: Vec<Reader>,
}

/// The four statements of transaction control.
#[derive(Debug)]
struct Controls {
    begin: tokio_postgres::Statement,
    begin_read_only: tokio_postgres::Statement,
    commit: tokio_postgres::Statement,
    rollback: tokio_postgres::Statement,
}

impl Controls {
    fn of(&self, control: Control) -> &tokio_postgres::Statement {
        match control {
            Control::Begin => &self.begin,
            Control::BeginReadOnly => &self.begin_read_only,
            Control::Commit => &self.commit,
            Control::Rollback => &self.rollback,
        }
    }
}

/// A connection of one user. Dropping it ends the server's session.
pub struct Session {
    client: Client,
    controls: Controls,
    entries: Vec<Entry>,
    /// A flight has failed: the server answers a commit by rolling back *without an error*, so it is not sent before a
    /// rollback or a new begin.
    spoilt: bool,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("entries", &self.entries.len()).finish_non_exhaustive()
    }
}

impl Session {
    /// Connects, sets the schema and, on a server by URL, the study's settings.
    pub(super) async fn open(target: &Target) -> Result<Self, Error> {
        let client = connection::open(connection::config(target)?).await?;
        let setup = format!("SET search_path = {SCHEMA}; SET timezone = 'UTC'");
        client.batch_execute(&setup).await.map_err(|error| failed(error).context("set up the session"))?;
        settings::apply(&client, target).await?;
        let prepare = |sql: &'static str| {
            let prepared = client.prepare(sql);
            async move { prepared.await.map_err(|error| failed(error).context(format!("prepare {sql}"))) }
        };
        let controls = Controls {
            begin: prepare("BEGIN").await?,
            begin_read_only: prepare("BEGIN READ ONLY").await?,
            commit: prepare("COMMIT").await?,
            rollback: prepare("ROLLBACK").await?,
        };
        Ok(Self { client, controls, entries: Vec::new(), spoilt: false })
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

    /// Sends one call and waits until the server has bound it.
    async fn send(&self, flight: &Flight, index: usize) -> Result<RowStream, tokio_postgres::Error> {
        match flight.action(index) {
            Action::Control(control) => {
                self.client.query_raw(self.controls.of(control), std::iter::empty::<Parameter<'_>>()).await
            }
            Action::Run(id) => {
                let entry = &self.entries[usize::from(id.0)];
                let parameters = entry.order.iter().map(|&place| Parameter(flight.parameter(index, place)));
                self.client.query_raw(&entry.statement, parameters).await
            }
        }
    }

    /// Sends calls `start..end` together, then takes their answers in order.
    async fn fly_together(&self, flight: &mut Flight, start: usize, end: usize) -> Result<(), Error> {
        let sent = &*flight;
        let lane = |first: usize| join_all((first..end.min(first + LANE)).map(|index| self.send(sent, index)));
        let lanes = join_all((start..end).step_by(LANE).map(lane)).await;
        for (index, stream) in (start..).zip(lanes.into_iter().flatten()) {
            let landed = match stream {
                Ok(stream) => self.land(flight, index, stream).await,
                Err(error) => Err(failed(error)),
            };
            landed.map_err(|error| error.context(self.name(flight, index)))?;
        }
        Ok(())
    }

    /// Copies the answer of one call into the flight.
    async fn land(&self, flight: &mut Flight, index: usize, stream: RowStream) -> Result<(), Error> {
        let readers: &[Reader] = match flight.action(index) {
            Action::Run(id) => &self.entries[usize::from(id.0)].readers,
            Action::Control(_) => &[],
        };
        flight.start_answer(index, readers.len());
        let mut stream = pin!(stream);
        while let Some(row) = stream.next().await {
            let row = row.map_err(failed)?;
            for (column, reader) in readers.iter().enumerate() {
                let field: Field<'_> = row.try_get(column).map_err(failed)?;
                flight.answer_value(index, reader.read(field)?);
            }
        }
        flight.end_answer(index, stream.rows_affected().unwrap_or(0));
        Ok(())
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
}

/// Prepares one statement.
async fn entry(client: &Client, asked: &Statement) -> Result<Entry, Error> {
    let context = |error: Error| error.context(format!("prepare {}", asked.name));
    let numbered = parameters::number(&asked.sql, &asked.parameters).map_err(context)?;
    let statement = client.prepare(&numbered.sql).await.map_err(|error| context(failed(error)))?;
    let readers = readers(statement.columns()).map_err(context)?;
    if readers.len() != usize::from(asked.columns) {
        let text = format!("returns {} columns where {} are declared", readers.len(), asked.columns);
        return Err(context(Error::other(text)));
    }
    let (name, parameters) = (asked.name.clone(), asked.parameters.len());
    Ok(Entry { name, statement, order: numbered.order, parameters, readers })
}

fn readers(columns: &[tokio_postgres::Column]) -> Result<Vec<Reader>, Error> {
    columns.iter().map(|column| Reader::of(column.name(), column.type_())).collect()
}

impl crate::contract::Session for Session {
    async fn prepare(&mut self, statements: &[Statement]) -> Result<(), Error> {
        self.entries.clear();
        for statement in statements {
            self.entries.push(entry(&self.client, statement).await?);
        }
        Ok(())
    }

    async fn fly(&mut self, flight: &mut Flight) -> Result<(), Error> {
        self.check(flight)?;
        self.spoilt = true;
        for start in (0..flight.len()).step_by(MOST_TOGETHER) {
            let end = flight.len().min(start + MOST_TOGETHER);
            self.fly_together(flight, start, end).await?;
        }
        self.spoilt = false;
        Ok(())
    }

    async fn query(&mut self, sql: &str) -> Result<Vec<OwnedRow>, Error> {
        let context = |error| failed(error).context("run a query");
        let statement = self.client.prepare(sql).await.map_err(context)?;
        let readers = readers(statement.columns())?;
        let rows = self.client.query(&statement, &[]).await.map_err(context)?;
        let owned = |row: &tokio_postgres::Row| {
            let read = |(column, reader): (usize, &Reader)| reader.read_owned(row.try_get(column).map_err(context)?);
            readers.iter().enumerate().map(read).collect::<Result<OwnedRow, Error>>()
        };
        rows.iter().map(owned).collect()
    }

    async fn script(&mut self, sql: &str) -> Result<(), Error> {
        self.client.batch_execute(sql).await.map_err(|error| failed(error).context("run a script"))
    }

    async fn append(&mut self, table: &Table<'_>, rows: &mut dyn RowSource) -> Result<u64, Error> {
        copy::append(&self.client, table, rows).await
    }

    fn counters(&mut self, _into: &mut Vec<Reading>) {}
}
