//! A session: statements prepared at connect, flights pipelined over our own end of the protocol.
//!
//! The server executes queued commands in order and answers each; an error skips nothing. A deadlock ends the transaction at the server,
//! and what follows would commit by itself: so transactions run with `autocommit` off, `COMMIT` leaves only when all that it commits has
//! succeeded, and an error is followed by `ROLLBACK` before anything else. Outside of a transaction `autocommit` is on; it is switched only
//! where the next call needs it otherwise.

use super::address::ServerAddress;
use super::flavour::SeveralStatements;
use super::rights::is_full;
use super::version::ServerUse;
use super::wire::{Answer, Packet, PreparedStatement, ServerConnection, WireRow, broken, prepare};
use super::{load_data, pipelining, settings};
use crate::contract::{
    Action, Control, Error, ErrorClass, Flight, OwnedRow, OwnedValue, RowSource, Statement, Table, Target, Value,
};
use crate::engines::parameters;

/// Error of a server that does not have the collation which the session's set-up names.
const UNKNOWN_COLLATION: &str = "1273";

/// Texts of transaction control.
const AUTOCOMMIT_OFF: &str = "SET autocommit = 0";
const AUTOCOMMIT_ON: &str = "SET autocommit = 1";
const BEGIN_READ_ONLY: &str = "START TRANSACTION READ ONLY";
const COMMIT: &str = "COMMIT";
const ROLLBACK: &str = "ROLLBACK";

/// A statement of the caller.
#[derive(Debug)]
struct PreparedEntry {
    name: String,
    /// What is sent for it, in this order.
    parts: Vec<PreparedPart>,
    parameters: usize,
    columns: u16,
}

/// A statement that the server has prepared, and where its parameters come from.
#[derive(Debug)]
struct PreparedPart {
    prepared: PreparedStatement,
    /// Index in the call's list of each parameter of the server's form.
    order: Vec<usize>,
}

/// The transaction of a session, as its calls have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Transaction {
    None,
    ReadOnly,
    Writing,
}

/// A connection of one user. Dropping it ends the server's session.
pub struct FamilySession {
    connection: ServerConnection,
    entries: Vec<PreparedEntry>,
    transaction: Transaction,
    /// A flight is under way: its caller has gone away where the next call finds it so.
    flying: bool,
    /// A call of the transaction has failed, and it has been rolled back: there is nothing left to commit.
    spoilt: bool,
}

impl std::fmt::Debug for FamilySession {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FamilySession").field("entries", &self.entries.len()).finish_non_exhaustive()
    }
}

impl FamilySession {
    /// Connects, sets the session up and, on a server by URL, sets the study's settings.
    pub(super) async fn open(target: &Target) -> Result<Self, Error> {
        let address = ServerAddress::of(target)?;
        let mut connection = connect(&address, Some(&address.database)).await?;
        settings::apply(target, &mut connection).await?;
        if !pipelining::of_session(target, &address).await? {
            connection.send_one_at_a_time();
        }
        Ok(Self { connection, entries: Vec::new(), transaction: Transaction::None, flying: false, spoilt: false })
    }

    /// What can be known before anything is sent: statements and their number of parameters, no commit after an error.
    fn check(&self, flight: &Flight) -> Result<(), Error> {
        let mut spoilt = self.spoilt;
        let mut is_open = self.transaction != Transaction::None || self.connection.in_transaction();
        for index in 0..flight.len() {
            match flight.action(index) {
                Action::Control(Control::Commit) if spoilt => {
                    return Err(Error::other("commit: a call of this transaction has failed; roll back"));
                }
                Action::Control(control) => {
                    spoilt = false;
                    is_open = matches!(control, Control::Begin | Control::BeginReadOnly);
                }
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
                    // Others would see, or change, what is between its parts.
                    if entry.parts.len() > 1 && !is_open {
                        let text = "it has several statements, which stand together in a transaction only: begin one before it";
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
            self.flying = false;
            self.forget_types();
            self.take_back().await?;
        }
        Ok(())
    }

    /// Has each statement tell its types anew, as when nobody knows which of those that were queued the server has taken.
    fn forget_types(&mut self) {
        self.entries.iter_mut().flat_map(|entry| &mut entry.parts).for_each(|part| part.prepared.forget_types());
    }

    /// Rolls back after an error, where anything may be open.
    async fn take_back(&mut self) -> Result<(), Error> {
        if self.transaction != Transaction::None || self.connection.in_transaction() {
            self.spoilt |= self.transaction == Transaction::Writing;
            self.transaction = Transaction::None;
            self.connection.text(ROLLBACK, |_| {}).await?;
        }
        Ok(())
    }

    /// Queues calls from `first` on, up to a commit of what has been written, which has to wait for all before it; returns where it stopped.
    fn queue(&mut self, flight: &Flight, first: usize) -> Result<usize, Error> {
        let mut autocommit = self.connection.autocommit();
        let mut index = first;
        while index < flight.len() {
            match flight.action(index) {
                Action::Control(Control::Commit) if self.transaction == Transaction::Writing && index > first => break,
                Action::Control(control) => self.queue_control(control, &mut autocommit)?,
                Action::Run(id) => {
                    if self.transaction == Transaction::None && !autocommit {
                        self.connection.queue_text(AUTOCOMMIT_ON)?;
                        autocommit = true;
                    }
                    let PreparedEntry { name, parts, .. } = &mut self.entries[usize::from(id.0)];
                    for PreparedPart { prepared, order } in parts {
                        let values = order.iter().map(|&place| flight.parameter(index, place));
                        prepared.queue(values, &mut self.connection).map_err(|error| error.context(&name))?;
                    }
                }
            }
            index += 1;
            // Nothing may leave beside a commit whose end is not known.
            if flight.action(index - 1) == Action::Control(Control::Commit) && index < flight.len() {
                break;
            }
        }
        Ok(index)
    }

    fn queue_control(&mut self, control: Control, autocommit: &mut bool) -> Result<(), Error> {
        let before = self.transaction;
        self.transaction = match control {
            Control::Begin => Transaction::Writing,
            Control::BeginReadOnly => Transaction::ReadOnly,
            Control::Commit | Control::Rollback => Transaction::None,
        };
        match control {
            Control::Begin if *autocommit => {
                *autocommit = false;
                self.connection.queue_text(AUTOCOMMIT_OFF)
            }
            // Without it, the next statement begins a transaction.
            Control::Begin => Ok(()),
            Control::BeginReadOnly => self.connection.queue_text(BEGIN_READ_ONLY),
            Control::Commit | Control::Rollback if before == Transaction::None => Ok(()),
            Control::Commit => self.connection.queue_text(COMMIT),
            Control::Rollback => self.connection.queue_text(ROLLBACK),
        }
    }

    /// Takes the answers of the calls `first..end`, whose transaction before was `before`. An error skips nothing; the first is returned.
    /// The outer error is the connection's.
    async fn land(
        &mut self,
        flight: &mut Flight,
        calls: std::ops::Range<usize>,
        before: (Transaction, bool),
    ) -> Result<Result<(), Error>, Error> {
        let (mut transaction, mut autocommit) = before;
        let mut outcome = Ok(());
        for index in calls {
            let action = flight.action(index);
            // Switches of autocommit are answered as well: they were sent where `queue` sent them.
            let (switched, sent) = match action {
                Action::Run(_) => (transaction == Transaction::None && !autocommit, true),
                Action::Control(Control::Begin) => (autocommit, false),
                Action::Control(Control::BeginReadOnly) => (false, true),
                Action::Control(Control::Commit | Control::Rollback) => (false, transaction != Transaction::None),
            };
            match action {
                Action::Control(Control::Begin) => (transaction, autocommit) = (Transaction::Writing, false),
                Action::Control(Control::BeginReadOnly) => transaction = Transaction::ReadOnly,
                Action::Control(Control::Commit | Control::Rollback) => transaction = Transaction::None,
                Action::Run(_) => autocommit |= switched,
            }
            flight.start_answer(index, 0);
            for landed in [switched.then_some(false), sent.then_some(true)].into_iter().flatten() {
                let taken = match (action, landed) {
                    (Action::Run(id), true) => self.land_call(flight, index, usize::from(id.0)).await?,
                    _ => self.land_control().await?,
                };
                if let (Err(error), Ok(())) = (taken, &outcome) {
                    outcome = Err(error.context(self.name(flight, index)));
                }
            }
        }
        Ok(outcome)
    }

    /// Takes the answer to transaction control.
    async fn land_control(&mut self) -> Result<Result<(), Error>, Error> {
        let packet = self.connection.receive().await?;
        match packet.kind {
            Answer::Done { is_last: true, .. } => Ok(Ok(())),
            Answer::Failed => Ok(Err(self.connection.error(&packet))),
            _ => Err(broken("no answer to transaction control")),
        }
    }

    /// Copies the answer of one call into the flight, up to its end.
    async fn land_call(&mut self, flight: &mut Flight, index: usize, entry: usize) -> Result<Result<(), Error>, Error> {
        let PreparedEntry { parts, columns, .. } = &mut self.entries[entry];
        flight.start_answer(index, usize::from(*columns));
        let mut keep = |value: Value<'_>| flight.answer_value(index, value);
        let mut end_row = || {};
        let (mut affected, mut has_rows, mut outcome) = (0, false, Ok(()));
        for PreparedPart { prepared, .. } in parts {
            let mut touched = 0;
            let landed =
                land_answer(&mut self.connection, prepared, Some(*columns), &mut keep, &mut end_row, &mut touched)
                    .await?;
            // The part that returns rows counts; without one the last does.
            if !has_rows {
                (affected, has_rows) = (touched, prepared.columns > 0);
            }
            if landed.is_err() {
                prepared.forget_types();
            }
            outcome = outcome.and(landed);
        }
        flight.end_answer(index, affected);
        Ok(outcome)
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
        if is_free && !self.connection.autocommit() {
            self.connection.text(AUTOCOMMIT_ON, |_| {}).await?;
        }
        Ok(())
    }

    /// Runs one query by a statement that is forgotten afterwards.
    async fn run_query(&mut self, sql: &str) -> Result<Vec<OwnedRow>, Error> {
        self.settle_for_text().await?;
        let prepared = prepare(&mut self.connection, &[sql]).await.map_err(|(_, error)| error)?;
        let mut prepared = prepared.into_iter().next().ok_or_else(|| broken("no answer to a query"))?;
        if prepared.parameters() > 0 {
            prepared.queue_close(&mut self.connection);
            return Err(Error::other("a query outside the hot path has no parameters"));
        }
        prepared.queue(std::iter::empty(), &mut self.connection)?;
        self.connection.flush().await?;
        let rows = std::cell::RefCell::new((Vec::new(), OwnedRow::new()));
        let mut keep = |value: Value<'_>| rows.borrow_mut().1.push(OwnedValue::from(value));
        let mut end_row = || {
            let (all, row) = &mut *rows.borrow_mut();
            all.push(std::mem::take(row));
        };
        let mut affected = 0;
        let landed =
            land_answer(&mut self.connection, &mut prepared, None, &mut keep, &mut end_row, &mut affected).await?;
        prepared.queue_close(&mut self.connection);
        self.connection.flush().await?;
        landed.map(|()| rows.into_inner().0)
    }
}

/// Takes one answer with all its results: each value of each row goes to `keep`, `end_row` follows each row. The outer error is the
/// connection's; `width` is what a result must have.
#[inline]
async fn land_answer(
    connection: &mut ServerConnection,
    prepared: &mut PreparedStatement,
    width: Option<u16>,
    keep: &mut impl FnMut(Value<'_>),
    end_row: &mut impl FnMut(),
    affected: &mut u64,
) -> Result<Result<(), Error>, Error> {
    let (mut outcome, mut result, mut rows) = (Ok(()), 0, None);
    loop {
        let packet = match connection.next_received()? {
            Some(packet) => packet,
            None => connection.receive().await?,
        };
        match packet.kind {
            Answer::Result { columns, described } => {
                if let Some(wanted) = width.filter(|wanted| *wanted != columns) {
                    let text = format!("returns {columns} columns where {wanted} are declared");
                    outcome = outcome.and(Err(Error::new(ErrorClass::Data, "", text)));
                }
                prepared.begin_result(result, columns, described, connection)?;
            }
            Answer::Column => {
                let described = prepared.describe(result, &packet, connection);
                outcome = outcome.and(described);
            }
            Answer::Row => {
                if outcome.is_ok() {
                    outcome = read_row(connection, &packet, prepared, result, keep);
                    end_row();
                }
                *rows.get_or_insert(0) += 1;
            }
            Answer::Done { affected: touched, of_rows, is_last, .. } => {
                // A result counts its rows; of statements in a routine the last that touched any counts.
                result += usize::from(of_rows);
                *affected = rows.unwrap_or(touched);
                if is_last {
                    return Ok(outcome);
                }
            }
            Answer::Failed => return Ok(outcome.and(Err(connection.error(&packet)))),
            Answer::File | Answer::Prepared { .. } | Answer::Described => {
                return Err(broken("no answer to an execution"));
            }
        }
    }
}

/// Reads the fields of a row.
#[inline]
fn read_row(
    connection: &ServerConnection,
    packet: &Packet,
    prepared: &PreparedStatement,
    result: usize,
    keep: &mut impl FnMut(Value<'_>),
) -> Result<(), Error> {
    let readers = prepared.readers(result);
    let mut row = WireRow::of(connection, packet, readers.len())?;
    for reader in readers {
        keep(row.field(*reader)?);
    }
    Ok(())
}

/// Connects and sets the session up, in a database or in none.
pub(super) async fn connect(address: &ServerAddress, database: Option<&str>) -> Result<ServerConnection, Error> {
    let context = |error: Error| refused(error, &address.in_words());
    let mut connection = ServerConnection::open(address, database).await.map_err(context)?;
    let too_old = address.flavour.check_use(ServerUse::Sessions, connection.version()).err();
    let set_up = connection.text(address.flavour.statements.setup, |_| {}).await;
    // A proxy may tell an old version before a server that has all that is needed.
    set_up.map_err(|error| match too_old {
        Some(refusal) if error.code() == UNKNOWN_COLLATION => refusal,
        _ => error.context("set up the session"),
    })?;
    if address.must_take_writes && !takes_writes(&mut connection).await? {
        return Err(Error::new(ErrorClass::ConnectionLost, "", "the database does not take writes"));
    }
    Ok(connection)
}

/// Tells whether the server takes writes.
async fn takes_writes(connection: &mut ServerConnection) -> Result<bool, Error> {
    let rows = connection.rows("SELECT @@global.read_only").await?;
    Ok(matches!(rows.first().map(Vec::as_slice), Some([Some(value)]) if value == "0"))
}

/// A refusal in words, with advice where the server does not let us in.
fn refused(error: Error, account: &str) -> Error {
    let advice = match error.code() {
        "1044" | "1698" => "; the account needs rights on this database",
        "1045" => "; set MYSQL_PWD or write ~/.my.cnf on the load host",
        "1049" => "; a run of a study makes it",
        "1130" => "; the account may not come from this host",
        "1226" if !is_full(&error) => "; raise this limit of the account, or wait until its hour is over",
        _ if is_full(&error) => {
            "; raise max_connections, or max_user_connections of the account, end idle sessions, or put a pooler in between"
        }
        _ => "",
    };
    error.context(format!("connect to {account}{advice}"))
}

impl crate::contract::Session for FamilySession {
    async fn prepare(&mut self, statements: &[Statement]) -> Result<(), Error> {
        self.settle().await?;
        for part in self.entries.drain(..).flat_map(|entry| entry.parts) {
            part.prepared.queue_close(&mut self.connection);
        }
        let context = |place: usize, error: Error| match statements.get(place) {
            Some(statement) => error.context(format!("prepare {}", statement.name)),
            None => error.context("prepare statements"),
        };
        // Place of the statement that each part belongs to, and its text.
        let mut marked = Vec::with_capacity(statements.len());
        for (place, statement) in statements.iter().enumerate() {
            let texts = match self.connection.flavour().several {
                SeveralStatements::Block => vec![statement.sql.as_str()],
                SeveralStatements::Parts => parameters::statements(&statement.sql),
            };
            for text in texts {
                let rewritten = parameters::mark(text, &statement.parameters);
                marked.push((place, rewritten.map_err(|error| context(place, error))?));
            }
        }
        let texts: Vec<&str> = marked.iter().map(|(_, text)| text.sql.as_str()).collect();
        let prepared = prepare(&mut self.connection, &texts).await;
        let prepared = prepared
            .map_err(|(part, error)| context(marked.get(part).map_or(statements.len(), |(place, _)| *place), error))?;
        self.entries.extend(statements.iter().map(|statement| PreparedEntry {
            name: statement.name.clone(),
            parts: Vec::new(),
            parameters: statement.parameters.len(),
            columns: statement.columns,
        }));
        for ((place, text), prepared) in marked.into_iter().zip(prepared) {
            let entry = &mut self.entries[place];
            // What a routine returns is known only when it has run.
            if prepared.columns != 0 && prepared.columns != entry.columns {
                let text = format!("returns {} columns where {} are declared", prepared.columns, entry.columns);
                return Err(context(place, Error::other(text)));
            }
            entry.parts.push(PreparedPart { prepared, order: text.order });
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
            let before = (self.transaction, self.connection.autocommit());
            let end = match self.queue(flight, next) {
                Ok(end) => end,
                Err(error) => {
                    self.connection.forget_queue();
                    self.forget_types();
                    self.flying = false;
                    self.transaction = before.0;
                    self.take_back().await?;
                    return Err(error);
                }
            };
            self.connection.flush().await?;
            if let Err(error) = self.land(flight, next..end, before).await? {
                self.flying = false;
                // A transaction that ended within these calls has ended before the error, or with it.
                self.spoilt = before.0 == Transaction::Writing || self.transaction == Transaction::Writing;
                // What the server said before it went is the error to tell.
                if error.class() != ErrorClass::ConnectionLost {
                    self.take_back().await?;
                }
                return Err(error);
            }
            next = end;
        }
        self.flying = false;
        Ok(())
    }

    async fn query(&mut self, sql: &str) -> Result<Vec<OwnedRow>, Error> {
        self.run_query(sql).await.map_err(|error| error.context("run a query"))
    }

    async fn script(&mut self, sql: &str) -> Result<(), Error> {
        let ran = async {
            self.settle_for_text().await?;
            self.connection.text(sql, |_| {}).await
        };
        ran.await.map_err(|error| error.context("run a script"))
    }

    async fn append(&mut self, table: &Table<'_>, rows: &mut dyn RowSource) -> Result<u64, Error> {
        self.settle_for_text().await?;
        load_data::append(&mut self.connection, table, rows).await
    }

    async fn takes_writes(&mut self) -> Result<bool, Error> {
        self.settle().await?;
        takes_writes(&mut self.connection).await
    }

    fn has_ended(&mut self) -> bool {
        self.connection.has_ended()
    }
}

#[cfg(test)]
mod tests;
