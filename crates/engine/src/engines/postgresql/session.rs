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

/// Part of a call's answer that comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LandingStep {
    /// The call is looked at: whether it was sent.
    Start,
    /// Rows, or the end of the statement.
    Answer,
    /// The server is ready, after a synchronisation.
    Ready,
}

/// How far the answers of a flight have been taken.
#[derive(Debug)]
struct Landing {
    course: Course,
    /// The call whose answer is taken.
    index: usize,
    step: LandingStep,
    /// Whether the server was asked to synchronise after the call.
    synced: bool,
    /// What was wrong with the call.
    fault: Option<Error>,
    /// The first fault of the flight.
    outcome: Result<(), Error>,
}

impl Landing {
    fn new(course: Course) -> Self {
        Self { course, index: 0, step: LandingStep::Start, synced: false, fault: None, outcome: Ok(()) }
    }

    /// Looks at the next call; whether it has an answer.
    #[inline]
    fn start(&mut self, flight: &Flight) -> bool {
        let step = self.course.step(flight.action(self.index), self.index + 1 == flight.len());
        if step.sent {
            (self.step, self.synced) = (LandingStep::Answer, step.sync);
        } else {
            self.index += 1;
        }
        step.sent
    }

    /// Notes a fault, and passes over the calls that the server skips.
    #[cold]
    fn skip(&mut self, flight: &Flight, error: Error) {
        if self.outcome.is_ok() {
            self.outcome = Err(error);
        }
        while !self.synced {
            self.index += 1;
            self.synced = self.course.step(flight.action(self.index), self.index + 1 == flight.len()).sync;
        }
    }

    /// The answer has ended.
    #[inline]
    fn end_answer(&mut self) {
        if self.synced {
            self.step = LandingStep::Ready;
        } else {
            self.end_call();
        }
    }

    /// Nothing more comes of the call.
    #[inline]
    fn end_call(&mut self) {
        (self.step, self.index) = (LandingStep::Start, self.index + 1);
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
    async fn land(&mut self, flight: &mut Flight, course: Course) -> Result<(), Error> {
        let mut landing = Landing::new(course);
        while !self.land_received(flight, &mut landing)? {
            self.connection.receive_more().await?;
        }
        landing.outcome
    }

    /// Takes the answers that have come, without waiting; whether they are all. The error is the connection's.
    fn land_received(&mut self, flight: &mut Flight, landing: &mut Landing) -> Result<bool, Error> {
        loop {
            match landing.step {
                LandingStep::Start if landing.index == flight.len() => return Ok(true),
                LandingStep::Start => {
                    if landing.start(flight) {
                        let width = readers(&self.entries, flight.action(landing.index)).len();
                        flight.start_answer(landing.index, width);
                    }
                }
                LandingStep::Answer => {
                    if !self.land_answer(flight, landing)? {
                        return Ok(false);
                    }
                    if let Some(error) = landing.fault.take() {
                        let error = error.context(self.name(flight, landing.index));
                        landing.skip(flight, error);
                    }
                    landing.end_answer();
                }
                LandingStep::Ready => match self.connection.next_received()? {
                    Some(message) if message.tag == Tag::READY => landing.end_call(),
                    Some(_) => {}
                    None => return Ok(false),
                },
            }
        }
    }

    /// Copies what has come of the answer of a call into the flight; whether the answer has ended. The error is the connection's.
    #[inline]
    fn land_answer(&mut self, flight: &mut Flight, landing: &mut Landing) -> Result<bool, Error> {
        let index = landing.index;
        let readers = readers(&self.entries, flight.action(index));
        while let Some(message) = self.connection.next_received()? {
            match message.tag {
                Tag::ROW if landing.fault.is_none() => {
                    let mut keep = |value: Value<'_>| flight.answer_value(index, value);
                    landing.fault = read_row(&self.connection, &message, readers, &mut keep).err();
                }
                Tag::COMPLETE => {
                    flight.end_answer(index, affected(self.connection.body(&message)));
                    return Ok(true);
                }
                Tag::EMPTY => return Ok(true),
                Tag::ERROR => {
                    landing.fault = Some(self.connection.error(&message));
                    return Ok(true);
                }
                _ => {}
            }
        }
        Ok(false)
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

/// How the columns of a call's answer are read.
#[inline]
fn readers(entries: &[Entry], action: Action) -> &[Reader] {
    match action {
        Action::Run(id) => &entries[usize::from(id.0)].prepared.readers,
        Action::Control(_) => &[],
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::StatementId;
    use crate::engines::wire::Socket;
    use tokio::net::UnixStream;

    /// A message of the server.
    fn message(tag: u8, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(body.len()).expect("short") + 4;
        [&[tag][..], &length.to_be_bytes(), body].concat()
    }

    /// Lands a transaction of one statement, whose answer is this, sent in pieces.
    async fn landed(answer: &[u8], piece: usize) -> (Result<(), Error>, Flight, State) {
        let (ours, theirs) = UnixStream::pair().expect("a pair of sockets");
        let prepared = PreparedStatement::new("s0", &[], vec![Reader::Int4]).expect("no parameters");
        let entry = Entry { name: "read".to_owned(), prepared, order: Vec::new(), parameters: 0 };
        let connection = Connection::on(Socket::unix(ours).expect("a socket"));
        let mut session = PostgresqlSession { connection, controls: Vec::new(), entries: vec![entry], spoilt: false };
        let mut flight = Flight::new();
        flight.control(Control::Begin);
        flight.call(StatementId(0), &[]);
        flight.control(Control::Commit);
        let course = session.course();
        let write = async {
            for part in answer.chunks(piece) {
                theirs.writable().await.expect("it is open");
                assert_eq!(theirs.try_write(part).expect("it fits"), part.len());
                tokio::task::yield_now().await;
            }
        };
        let (outcome, ()) = futures_util::future::join(session.land(&mut flight, course), write).await;
        (outcome, flight, session.connection.state())
    }

    fn run(work: impl Future<Output = ()>) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(work);
    }

    #[test]
    fn answers_are_taken_whole_in_whatever_pieces_they_come() {
        let row = [&1u16.to_be_bytes()[..], &4u32.to_be_bytes(), &42u32.to_be_bytes()].concat();
        let begun = [message(b'2', b""), message(b'C', b"BEGIN\0")].concat();
        let (bound, row) = (message(b'2', b""), message(b'D', &row));
        let notice = message(b'N', b"VWARNING\0\0");
        let ends = [message(b'C', b"SELECT 2\0"), message(b'2', b""), message(b'C', b"COMMIT\0")].concat();
        let ready = message(b'Z', b"I");
        let answer = [begun, bound, row.clone(), notice, row, ends, ready].concat();
        run(async {
            for piece in [1, 2, 3, 7, 20, 1_000] {
                let (outcome, flight, state) = landed(&answer, piece).await;
                assert_eq!((outcome.is_ok(), state), (true, State::Idle), "{piece}");
                assert_eq!((flight.rows(1), flight.answer(1).affected()), (2, 2));
                assert_eq!(flight.row(1, 1).map(|row| row.value(0)), Some(Value::Integer(42)));
            }
        });
    }

    #[test]
    fn an_error_skips_the_rest_of_a_transaction_and_is_told_with_its_statement() {
        let begun = [message(b'2', b""), message(b'C', b"BEGIN\0")].concat();
        let failed =
            [message(b'2', b""), message(b'E', b"C22012\0Mdivision by zero\0\0"), message(b'Z', b"E")].concat();
        let answer = [begun, failed].concat();
        run(async {
            for piece in [1, 5, 1_000] {
                let (outcome, _, state) = landed(&answer, piece).await;
                let text = outcome.expect_err("the statement failed").to_string();
                assert!(text.contains("read") && text.contains("division by zero"), "{text}");
                assert_eq!(state, State::Failed);
            }
        });
    }
}
