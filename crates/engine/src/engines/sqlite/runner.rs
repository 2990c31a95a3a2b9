//! Runs flights over statements that stay prepared for the session's life.
//!
//! A prepared statement borrows its connection. The runner is therefore a future that owns both and is resumed once per
//! order: the compiler keeps the borrow inside the future, no `unsafe` is needed, and nothing is allocated or looked up per
//! call (rusqlite's own cache copies the SQL text as a key each time). The desk hands flights in and out.

use super::failure::failed;
use super::values;
use super::writers::WriterTurn;
use crate::contract::{Action, Control, Error, Flight, Statement, StatementId};
use rusqlite::{Connection, StatementStatus};
use std::cell::Cell;
use std::convert::Infallible;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// What the statements of a session have done since they were prepared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Work {
    /// Steps of SQLite's virtual machine.
    pub(super) steps: u64,
    /// Statements run to their end.
    pub(super) runs: u64,
    /// Rows passed by scans without an index.
    pub(super) scanned: u64,
    /// Sorts.
    pub(super) sorts: u64,
}

/// The future that owns the prepared statements, and the desk before it.
pub(super) struct Runner {
    desk: Rc<Desk>,
    work: Pin<Box<dyn Future<Output = Result<Infallible, Error>>>>,
}

impl Runner {
    /// Prepares the statements.
    pub(super) fn new(
        connection: Rc<Connection>,
        statements: &[Statement],
        turn: Option<WriterTurn>,
    ) -> Result<Self, Error> {
        let desk = Rc::new(Desk::default());
        let work = Box::pin(serve(connection, statements.to_vec(), turn, desk.clone()));
        let mut runner = Self { desk, work };
        runner.resume()?;
        Ok(runner)
    }

    /// Runs a flight.
    pub(super) fn fly(&mut self, flight: &mut Flight) -> Result<(), Error> {
        self.desk.order.set(Some(Order::Fly(std::mem::take(flight))));
        self.resume()?;
        let (back, outcome) = self.desk.landed.take().expect("the runner lands every flight before it yields");
        *flight = back;
        outcome
    }

    /// What the statements have done up to now.
    pub(super) fn work(&mut self) -> Result<Work, Error> {
        self.desk.order.set(Some(Order::Count));
        self.resume()?;
        Ok(self.desk.work.get())
    }

    /// Lets the future run until it has served what lies on the desk.
    fn resume(&mut self) -> Result<(), Error> {
        match self.work.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Pending => Ok(()),
            Poll::Ready(Err(error)) => Err(error),
        }
    }
}

/// What the runner is asked for.
enum Order {
    Fly(Flight),
    Count,
}

/// Where orders and answers lie.
#[derive(Default)]
struct Desk {
    order: Cell<Option<Order>>,
    landed: Cell<Option<(Flight, Result<(), Error>)>>,
    work: Cell<Work>,
}

/// Prepares, then serves one order after another for ever.
async fn serve(
    connection: Rc<Connection>,
    statements: Vec<Statement>,
    turn: Option<WriterTurn>,
    desk: Rc<Desk>,
) -> Result<Infallible, Error> {
    let mut prepared = SessionStatements::new(&connection, &statements, turn)?;
    loop {
        match desk.order.take() {
            Some(Order::Fly(mut flight)) => {
                let outcome = prepared.fly(&mut flight);
                desk.landed.set(Some((flight, outcome)));
            }
            Some(Order::Count) => desk.work.set(prepared.work()),
            None => {}
        }
        pause().await;
    }
}

/// Yields once.
async fn pause() {
    let mut yielded = false;
    std::future::poll_fn(|_| if std::mem::replace(&mut yielded, true) { Poll::Ready(()) } else { Poll::Pending }).await;
}

/// One statement with the place of each parameter in SQLite's numbering; 0 where the dialect does not use it.
struct Entry<'c> {
    name: String,
    statement: rusqlite::Statement<'c>,
    slots: Vec<usize>,
    width: usize,
}

/// The statements of a session.
struct SessionStatements<'c> {
    connection: &'c Connection,
    begin: rusqlite::Statement<'c>,
    begin_read_only: rusqlite::Statement<'c>,
    commit: rusqlite::Statement<'c>,
    rollback: rusqlite::Statement<'c>,
    entries: Vec<Entry<'c>>,
    /// A call of the open transaction has failed: nothing but a rollback may end it.
    spoilt: bool,
    /// Place among the writers of this process; `None` where they meet in SQLite.
    turn: Option<WriterTurn>,
}

impl<'c> SessionStatements<'c> {
    fn new(connection: &'c Connection, statements: &[Statement], turn: Option<WriterTurn>) -> Result<Self, Error> {
        let control = |sql: &str| connection.prepare(sql).map_err(failed);
        Ok(Self {
            connection,
            begin: control("BEGIN IMMEDIATE")?,
            begin_read_only: control("BEGIN DEFERRED")?,
            commit: control("COMMIT")?,
            rollback: control("ROLLBACK")?,
            entries: statements.iter().map(|statement| entry(connection, statement)).collect::<Result<_, _>>()?,
            spoilt: false,
            turn,
        })
    }

    fn fly(&mut self, flight: &mut Flight) -> Result<(), Error> {
        let outcome = self.fly_calls(flight);
        if outcome.is_err() {
            self.spoilt = !self.connection.is_autocommit();
        }
        self.end_turn();
        outcome
    }

    fn fly_calls(&mut self, flight: &mut Flight) -> Result<(), Error> {
        for index in 0..flight.len() {
            match flight.action(index) {
                Action::Control(control) => self.control(control)?,
                Action::Run(statement) => self.run(flight, index, statement)?,
            }
        }
        Ok(())
    }

    /// Waits for this session's turn to write.
    fn take_turn(&mut self) {
        if let Some(turn) = &mut self.turn {
            turn.take();
        }
    }

    /// Ends this session's turn once no transaction is open.
    fn end_turn(&mut self) {
        if let Some(turn) = self.turn.as_mut().filter(|_| self.connection.is_autocommit()) {
            turn.end();
        }
    }

    /// A rollback without a transaction is no error: SQLite has already undone some failed ones by itself.
    fn control(&mut self, control: Control) -> Result<(), Error> {
        if control == Control::Begin {
            self.take_turn();
        }
        let (statement, what) = match control {
            Control::Begin => (&mut self.begin, "begin"),
            Control::BeginReadOnly => (&mut self.begin_read_only, "begin read only"),
            Control::Commit if self.spoilt => {
                return Err(Error::other("failed to commit: a statement of this transaction failed; roll back"));
            }
            Control::Commit => (&mut self.commit, "commit"),
            Control::Rollback if self.connection.is_autocommit() => return Ok(()),
            Control::Rollback => (&mut self.rollback, "rollback"),
        };
        statement.raw_execute().map_err(|error| failed(error).context(what))?;
        self.spoilt = false;
        self.end_turn();
        Ok(())
    }

    fn run(&mut self, flight: &mut Flight, index: usize, statement: StatementId) -> Result<(), Error> {
        let known = self.entries.len();
        let writes = self.entries.get(usize::from(statement.0)).is_some_and(|entry| !entry.statement.readonly());
        if writes && self.connection.is_autocommit() {
            self.take_turn();
        }
        let entry = self.entries.get_mut(usize::from(statement.0)).ok_or_else(|| {
            Error::other(format!("failed to run statement {}: only {known} are prepared", statement.0))
        })?;
        let ran = run_entry(entry, flight, index, self.connection).map_err(|error| error.context(&entry.name));
        self.end_turn();
        ran
    }

    fn work(&self) -> Work {
        let sum = |status: StatementStatus| {
            let each = self.entries.iter().map(|entry| entry.statement.get_status(status));
            each.map(|count| u64::from(count.unsigned_abs())).sum()
        };
        Work {
            steps: sum(StatementStatus::VmStep),
            runs: sum(StatementStatus::Run),
            scanned: sum(StatementStatus::FullscanStep),
            sorts: sum(StatementStatus::Sort),
        }
    }
}

/// Prepares one statement and finds its parameters.
fn entry<'c>(connection: &'c Connection, asked: &Statement) -> Result<Entry<'c>, Error> {
    let context = |error: Error| error.context(format!("failed to prepare {}", asked.name));
    let statement = connection.prepare(&asked.sql).map_err(|error| context(failed(error)))?;
    let slot = |name: &String| {
        let found = statement.parameter_index(&format!(":{}", name.trim_start_matches(':')));
        found.map(|slot| slot.unwrap_or(0)).map_err(|error| context(failed(error)))
    };
    let slots = asked.parameters.iter().map(slot).collect::<Result<Vec<_>, _>>()?;
    for place in 1..=statement.parameter_count() {
        if !slots.contains(&place) {
            let name = statement.parameter_name(place).unwrap_or("?");
            return Err(context(Error::other(format!("parameter {name} of the SQL is not in the parameter list"))));
        }
    }
    let width = statement.column_count();
    if width != usize::from(asked.columns) {
        return Err(context(Error::other(format!("returns {width} columns, but {} are declared", asked.columns))));
    }
    Ok(Entry { name: asked.name.clone(), statement, slots, width })
}

/// Binds, steps to the end, copies rows into the flight.
fn run_entry(entry: &mut Entry<'_>, flight: &mut Flight, index: usize, connection: &Connection) -> Result<(), Error> {
    if flight.parameter_count(index) != entry.slots.len() {
        let (given, wanted) = (flight.parameter_count(index), entry.slots.len());
        return Err(Error::other(format!("called with {given} parameters, but {wanted} are declared")));
    }
    for (position, &slot) in entry.slots.iter().enumerate().filter(|(_, slot)| **slot != 0) {
        values::bind(&mut entry.statement, slot, flight.parameter(index, position))?;
    }
    flight.start_answer(index, entry.width);
    if entry.width == 0 {
        let affected = entry.statement.raw_execute().map_err(failed)?;
        flight.end_answer(index, affected as u64);
        return Ok(());
    }
    let mut rows = entry.statement.raw_query();
    while let Some(row) = rows.next().map_err(failed)? {
        for column in 0..entry.width {
            flight.answer_value(index, values::read(row.get_ref(column).map_err(failed)?)?);
        }
    }
    drop(rows);
    flight.end_answer(index, if entry.statement.readonly() { 0 } else { connection.changes() });
    Ok(())
}
