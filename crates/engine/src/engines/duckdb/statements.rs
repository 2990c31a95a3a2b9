//! Prepared statements of a session: named parameters made into numbered ones, flights run call by call.

use super::failure::failed;
use super::library::{Connection, PreparedStatement, Rows};
use super::values;
use crate::contract::{Action, Control, Error, Flight, Statement, StatementId};
use crate::engines::parameters;

/// A statement with the places of its parameters in a call's list.
#[derive(Debug)]
struct Entry {
    name: String,
    prepared: PreparedStatement,
    /// Index in the list of parameters for `$1`, `$2` …
    order: Vec<usize>,
    listed: usize,
    width: usize,
}

/// The statements of a session.
#[derive(Debug)]
pub(super) struct Statements {
    begin: PreparedStatement,
    begin_read_only: PreparedStatement,
    commit: PreparedStatement,
    rollback: PreparedStatement,
    entries: Vec<Entry>,
    /// A transaction is open, as far as flights have opened it.
    open: bool,
    /// A call of the open transaction has failed: nothing but a rollback may end it.
    spoilt: bool,
    /// Statements run.
    pub(super) runs: u64,
    /// Rows returned.
    pub(super) rows: u64,
}

impl Statements {
    /// Prepares statements.
    pub(super) fn new(connection: &Connection, statements: &[Statement]) -> Result<Self, Error> {
        let control = |sql: &str| connection.prepare(sql).map_err(|text| failed(text).context(sql));
        Ok(Self {
            begin: control("BEGIN TRANSACTION")?,
            begin_read_only: control("BEGIN TRANSACTION READ ONLY")?,
            commit: control("COMMIT")?,
            rollback: control("ROLLBACK")?,
            entries: statements.iter().map(|statement| entry(connection, statement)).collect::<Result<_, _>>()?,
            open: false,
            spoilt: false,
            runs: 0,
            rows: 0,
        })
    }

    /// Runs one call of a flight.
    #[inline]
    pub(super) fn call(&mut self, flight: &mut Flight, index: usize) -> Result<(), Error> {
        let outcome = match flight.action(index) {
            Action::Control(control) => self.control(control),
            Action::Run(statement) => self.run(flight, index, statement),
        };
        self.spoilt |= self.open && outcome.is_err();
        outcome
    }

    /// A rollback without a transaction is no error: DuckDB has already undone some failed ones by itself.
    fn control(&mut self, control: Control) -> Result<(), Error> {
        let (statement, what) = match control {
            Control::Begin => (&mut self.begin, "begin"),
            Control::BeginReadOnly => (&mut self.begin_read_only, "begin read only"),
            Control::Commit if self.spoilt => {
                return Err(Error::other("failed to commit: a statement of this transaction failed; roll back"));
            }
            Control::Commit => (&mut self.commit, "commit"),
            Control::Rollback => (&mut self.rollback, "rollback"),
        };
        let outcome = statement.execute().map(|_| ());
        let ends = matches!(control, Control::Commit | Control::Rollback);
        (self.open, self.spoilt) = (!ends && (self.open || outcome.is_ok()), !ends && self.spoilt);
        match outcome {
            Err(text) if matches!(control, Control::Rollback) && text.contains("no transaction is active") => Ok(()),
            outcome => outcome.map_err(|text| failed(text).context(what)),
        }
    }

    fn run(&mut self, flight: &mut Flight, index: usize, statement: StatementId) -> Result<(), Error> {
        let known = self.entries.len();
        let entry = self.entries.get_mut(usize::from(statement.0)).ok_or_else(|| {
            Error::other(format!("failed to run statement {}: only {known} are prepared", statement.0))
        })?;
        self.runs += 1;
        self.rows += entry.run(flight, index).map_err(|error| error.context(&entry.name))?;
        Ok(())
    }
}

impl Entry {
    /// Binds, runs, copies rows into the flight; returns their number.
    #[inline]
    fn run(&mut self, flight: &mut Flight, index: usize) -> Result<u64, Error> {
        if flight.parameter_count(index) != self.listed {
            let (given, wanted) = (flight.parameter_count(index), self.listed);
            return Err(Error::other(format!("called with {given} parameters, but {wanted} are declared")));
        }
        for (slot, &place) in self.order.iter().enumerate() {
            self.prepared.bind(slot + 1, values::bound(flight.parameter(index, place))?).map_err(failed)?;
        }
        let mut rows = self.prepared.execute().map_err(failed)?;
        if rows.width() != self.width {
            let (found, declared) = (rows.width(), self.width);
            return Err(Error::other(format!("returned {found} columns, but {declared} are declared")));
        }
        flight.start_answer(index, self.width);
        if self.width == 0 {
            flight.end_answer(index, rows.changed().unwrap_or(0));
            return Ok(0);
        }
        let count = copy(&mut rows, flight, index, self.width)?;
        flight.end_answer(index, count);
        Ok(count)
    }
}

/// Copies all rows into the flight.
#[inline]
fn copy(rows: &mut Rows<'_>, flight: &mut Flight, index: usize, width: usize) -> Result<u64, Error> {
    let mut count = 0;
    while let Some(chunk) = rows.next_chunk() {
        for row in 0..chunk.rows() {
            for column in 0..width {
                flight.answer_value(index, values::read(chunk.cell(row, column))?);
            }
        }
        count += chunk.rows() as u64;
    }
    Ok(count)
}

/// Prepares one statement.
fn entry(connection: &Connection, asked: &Statement) -> Result<Entry, Error> {
    let context = |error: Error| error.context(format!("failed to prepare {}", asked.name));
    let numbered = parameters::number(&asked.sql, &asked.parameters).map_err(context)?;
    let prepared = connection.prepare(&numbered.sql).map_err(|text| context(failed(text)))?;
    let (declared, slots) = (usize::from(asked.columns), prepared.parameters());
    let width = prepared.width().unwrap_or(declared);
    if slots != numbered.order.len() {
        let found = numbered.order.len();
        return Err(context(Error::other(format!("DuckDB sees {slots} parameters, but the SQL names {found}"))));
    }
    if width != declared {
        return Err(context(Error::other(format!("returns {width} columns, but {declared} are declared"))));
    }
    Ok(Entry { name: asked.name.clone(), prepared, order: numbered.order, listed: asked.parameters.len(), width })
}
