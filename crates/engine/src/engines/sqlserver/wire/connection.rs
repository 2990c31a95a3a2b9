//! A connection: one message is sent, then its answer is read token by token, in memory that is kept. It knows whether the server still owes
//! an answer, so that a caller that goes away in between leaves it usable: the server is asked to stop. May not know statements.

use super::handshake;
use super::packet::{self, FIRST_SIZE, MessageKind, PacketReader};
use super::reading::{MessageReader, broken, encode, text};
use super::recording::ConnectionRecord;
use super::route::ServerRoute;
use super::stream::ByteStream;
use super::tokens::{self, EndKind, EndToken, EnvironmentChange, MessageToken, Token};
use super::types::{Bytes, Collation, ColumnType, take};
use super::values::{Scratch, value};
use crate::contract::{Error, ErrorClass, OwnedRow, OwnedValue, Value};
use crate::engines::sqlserver::address::ServerAddress;
use crate::engines::sqlserver::failure;
use std::io;
use std::ops::Range;

/// Bytes that are received at once.
const PIECE: usize = 32 << 10;
/// Used bytes that are kept in front before the rest is moved.
const USED: usize = 256 << 10;

/// What an answer says next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::engines::sqlserver) enum Event {
    /// Rows of so many columns follow.
    Columns(usize),
    /// A row.
    Row(RowPlace),
    /// What a procedure gives back in a parameter.
    Returned(Option<i64>),
    /// A message that is no error, where somebody listens.
    Heard(ServerWord),
    /// An end: of what, whether it is that of the answer, rows counted.
    Done { kind: EndKind, is_last: bool, rows: Option<u64> },
}

/// A message that is no error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::engines::sqlserver) struct ServerWord {
    /// Its number.
    pub(in crate::engines::sqlserver) number: u32,
    /// Its text.
    pub(in crate::engines::sqlserver) text: String,
}

/// Where a row lies; valid until the next event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::engines::sqlserver) struct RowPlace {
    body: Range<usize>,
    with_nulls: bool,
}

/// A connection.
#[derive(Debug)]
pub(in crate::engines::sqlserver) struct ServerConnection {
    stream: ByteStream,
    /// The message that is put together.
    pub(super) message: Vec<u8>,
    /// Packets to send, and how many bytes of them are sent.
    out: Vec<u8>,
    sent: usize,
    received: Vec<u8>,
    packets: PacketReader,
    /// What messages hold; from `start` on it is not used yet.
    input: Vec<u8>,
    start: usize,
    pub(super) columns: Vec<ColumnType>,
    pub(super) flags: Vec<u16>,
    packet_size: usize,
    collation: Collation,
    /// Descriptor of the open transaction; zero where none is.
    transaction: u64,
    /// The server has still to answer.
    owes: bool,
    /// The server was asked to stop, and has not said yet that it has: it says so even where its answer had ended before.
    stopping: bool,
    /// Number of the last packet of rows, while their message is being sent.
    rows_sent: Option<u8>,
    /// The first error of the answer.
    error: Option<Error>,
    /// Where the server has sent us.
    route: Option<Box<ServerRoute>>,
    /// What the server has acknowledged of the extensions of the login.
    features: Box<[u8]>,
    lost: bool,
    /// Messages that are no errors are wanted.
    listens: bool,
    /// Messages are recorded.
    record: Option<Box<ConnectionRecord>>,
    scratch: Scratch,
}

impl ServerConnection {
    /// Connects and logs on, in a database or in the account's own.
    pub(in crate::engines::sqlserver) async fn open(
        address: &ServerAddress,
        database: Option<&str>,
    ) -> Result<Self, Error> {
        let mut connection = handshake::log_on(address, database.unwrap_or_default()).await?;
        // Not before: no login is recorded.
        connection.record = ConnectionRecord::begin();
        Ok(connection)
    }

    /// A connection to a server that has said nothing yet.
    pub(super) fn on(stream: ByteStream) -> Self {
        Self {
            stream,
            message: Vec::with_capacity(PIECE),
            out: Vec::with_capacity(PIECE),
            sent: 0,
            received: vec![0; PIECE],
            packets: PacketReader::default(),
            input: Vec::with_capacity(PIECE),
            start: 0,
            columns: Vec::new(),
            flags: Vec::new(),
            packet_size: FIRST_SIZE,
            collation: Collation::default(),
            transaction: 0,
            owes: false,
            stopping: false,
            rows_sent: None,
            error: None,
            route: None,
            features: Box::default(),
            lost: false,
            listens: false,
            record: None,
            scratch: Scratch::default(),
        }
    }

    /// Whether a transaction is open, as the server said last.
    #[inline]
    pub(in crate::engines::sqlserver) fn in_transaction(&self) -> bool {
        self.transaction != 0
    }

    /// Language, order and encoding of the database's texts.
    #[inline]
    pub(super) fn collation(&self) -> Collation {
        self.collation
    }

    /// Bytes under the connection.
    pub(super) fn stream(&mut self) -> &mut ByteStream {
        &mut self.stream
    }

    /// Whether the server has sent us to another one.
    pub(super) fn is_routed(&self) -> bool {
        self.route.is_some()
    }

    /// The server to which this one has sent us, if it has.
    pub(super) fn take_route(&mut self) -> Option<Box<ServerRoute>> {
        self.route.take()
    }

    /// What the server has acknowledged of the extensions of the login; empty where it has acknowledged nothing.
    pub(super) fn take_features(&mut self) -> Box<[u8]> {
        std::mem::take(&mut self.features)
    }

    /// Begins a message of statements or calls: what goes in front says in which transaction.
    #[inline]
    pub(in crate::engines::sqlserver) fn begin_request(&mut self) {
        self.message.clear();
        put_headers(self.transaction, &mut self.message);
    }

    /// Sends a text of statements.
    pub(in crate::engines::sqlserver) async fn send_text(&mut self, sql: &str) -> Result<(), Error> {
        self.settle().await?;
        self.begin_request();
        encode(sql, &mut self.message);
        self.send(MessageKind::Batch).await
    }

    /// Sends the calls of the message.
    pub(in crate::engines::sqlserver) async fn send_calls(&mut self) -> Result<(), Error> {
        self.send(MessageKind::Rpc).await
    }

    /// Sends the message; its answer is owed from now on.
    pub(super) async fn send(&mut self, kind: MessageKind) -> Result<(), Error> {
        packet::frame(kind, &self.message, self.packet_size, &mut self.out);
        if let Some(record) = &mut self.record {
            record.sent(kind, &self.message);
        }
        self.owes = true;
        self.error = None;
        self.flush().await
    }

    /// Sends what is full of the rows in the message, as one message goes on over many calls; all of it where it is the last.
    pub(super) async fn send_rows(&mut self, is_last: bool) -> Result<(), Error> {
        if let Some(record) = &mut self.record {
            record.sent(MessageKind::Bulk, &self.message);
        }
        let number = self.rows_sent.get_or_insert(0);
        let left = packet::frame_part(MessageKind::Bulk, &self.message, self.packet_size, number, &mut self.out).len();
        if is_last {
            packet::frame_last(MessageKind::Bulk, &self.message[self.message.len() - left..], number, &mut self.out);
            (self.rows_sent, self.owes, self.error) = (None, true, None);
        } else {
            self.message.drain(..self.message.len() - left);
        }
        self.flush().await
    }

    /// Runs statements and passes over what they return.
    pub(in crate::engines::sqlserver) async fn text(&mut self, sql: &str) -> Result<(), Error> {
        self.send_text(sql).await?;
        self.finish().await.map(drop)
    }

    /// Runs statements and hands out messages as they come.
    pub(in crate::engines::sqlserver) async fn text_heard(
        &mut self,
        sql: &str,
        mut hear: impl FnMut(&ServerWord),
    ) -> Result<(), Error> {
        self.send_text(sql).await?;
        self.listens = true;
        let ended = loop {
            match self.next().await {
                Ok(Event::Heard(word)) => hear(&word),
                Ok(Event::Done { is_last: true, .. }) => break self.outcome(),
                Ok(_) => {}
                Err(error) => break Err(error),
            }
        };
        self.listens = false;
        ended
    }

    /// All rows of a text.
    pub(in crate::engines::sqlserver) async fn rows(&mut self, sql: &str) -> Result<Vec<OwnedRow>, Error> {
        self.send_text(sql).await?;
        let (mut rows, mut misread) = (Vec::new(), Ok(()));
        loop {
            match self.next().await? {
                Event::Row(place) => {
                    let mut row = OwnedRow::with_capacity(self.columns.len());
                    let read = self.read_row(&place, |value| row.push(OwnedValue::from(value)));
                    misread = misread.and(read);
                    rows.push(row);
                }
                Event::Done { is_last: true, .. } => return self.outcome().and(misread).map(|()| rows),
                _ => {}
            }
        }
    }

    /// Passes over the rest of an answer; the number of rows that the last statement counted.
    pub(in crate::engines::sqlserver) async fn finish(&mut self) -> Result<u64, Error> {
        let mut counted = 0;
        loop {
            if let Event::Done { is_last, rows, .. } = self.next().await? {
                counted = rows.unwrap_or(counted);
                if is_last {
                    return self.outcome().map(|()| counted);
                }
            }
        }
    }

    /// The first error since this was last asked.
    pub(in crate::engines::sqlserver) fn outcome(&mut self) -> Result<(), Error> {
        self.error.take().map_or(Ok(()), Err)
    }

    /// Reads the values of a row.
    #[inline]
    pub(in crate::engines::sqlserver) fn read_row(
        &mut self,
        place: &RowPlace,
        mut keep: impl FnMut(Value<'_>),
    ) -> Result<(), Error> {
        let Self { input, columns, scratch, .. } = self;
        let mut reading = MessageReader { rest: &input[place.body.clone()] };
        let nulls = if place.with_nulls { reading.bytes(columns.len().div_ceil(8)).unwrap_or_default() } else { &[] };
        for (number, column) in columns.iter().enumerate() {
            let bytes = match tokens::is_null(nulls, number) {
                true => Bytes::Null,
                false => take(column.extent, &mut reading).ok_or_else(|| broken("a row that ends too soon"))?,
            };
            keep(value(column, bytes, scratch).map_err(|error| error.context(format!("column {}", number + 1)))?);
        }
        Ok(())
    }

    /// Takes what is owed to a caller that has gone away: the server is asked to stop, and says when it has.
    #[inline]
    pub(in crate::engines::sqlserver) async fn settle(&mut self) -> Result<(), Error> {
        // Rows that a caller has left half sent can be neither ended nor taken back.
        if self.lost || self.rows_sent.is_some() {
            self.lost = true;
            return Err(closed());
        }
        if self.owes || self.stopping || self.sent < self.out.len() {
            self.stop().await?;
        }
        Ok(())
    }

    /// Has the server stop, and takes what it says until it says that it has. The answer may have ended before it heard, so that only its word
    /// of stopping counts: an end without it is passed over, and the word is waited for, or it would be taken for the next answer. It is asked
    /// once, also where whoever waits for its word goes away. Source: [MS-TDS] 2.2.1.7, 3.2.5.
    async fn stop(&mut self) -> Result<(), Error> {
        // What has begun to leave has to leave whole; what comes then is not run for long.
        if !self.stopping {
            packet::frame(MessageKind::Attention, &[], self.packet_size, &mut self.out);
            if let Some(record) = &mut self.record {
                record.sent(MessageKind::Attention, &[]);
            }
            self.stopping = true;
        }
        self.flush().await?;
        while !self.step().await?.1 {}
        (self.owes, self.stopping, self.error) = (false, false, None);
        Ok(())
    }

    /// Sends all that is queued. While the server does not take it, what it says is received, so that neither waits for the other.
    async fn flush(&mut self) -> Result<(), Error> {
        while self.sent < self.out.len() {
            match self.stream.try_write(&self.out[self.sent..]) {
                Ok(count) => self.sent += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.stream.readable_or_writable().await.map_err(|error| self.lose(&error))?;
                    self.look()?;
                }
                Err(error) => return Err(self.lose(&error)),
            }
        }
        self.stream.drain().await.map_err(|error| self.lose(&error))?;
        self.out.clear();
        self.sent = 0;
        Ok(())
    }

    /// What the answer says next, waiting for it. What changes the connection, and errors, are taken in passing.
    #[inline]
    pub(in crate::engines::sqlserver) async fn next(&mut self) -> Result<Event, Error> {
        loop {
            if !self.owes {
                return Err(broken("an answer that is asked for after its end"));
            }
            if let (Some(event), _) = self.step().await? {
                return Ok(event);
            }
        }
    }

    /// One token: what it says, and whether the server has stopped because it was asked to.
    #[inline]
    async fn step(&mut self) -> Result<(Option<Event>, bool), Error> {
        loop {
            let rest = &self.input[self.start..];
            let mut reading = MessageReader { rest };
            let taken = tokens::next(&mut reading, &mut self.columns, &mut self.flags);
            let end = self.input.len() - reading.rest.len();
            match taken {
                Ok(Some(token)) => {
                    let told = match token {
                        Token::Row(body) => (Some(row_place(end, body, false)), false),
                        Token::RowWithNulls(body) => (Some(row_place(end, body, true)), false),
                        Token::Columns => (Some(Event::Columns(self.columns.len())), false),
                        Token::Returned(value) => (Some(Event::Returned(value)), false),
                        Token::Passed => (None, false),
                        Token::Routed { port, server } => {
                            self.route = Some(Box::new(ServerRoute { server: text(server), port }));
                            (None, false)
                        }
                        Token::Features(body) => {
                            self.features = body.into();
                            (None, false)
                        }
                        Token::Done(done) => self.end(done),
                        Token::Said { is_error: false, body } => {
                            let heard = self.listens.then(|| MessageToken::read(body)).flatten();
                            (
                                heard.map(|said| Event::Heard(ServerWord { number: said.number, text: said.message })),
                                false,
                            )
                        }
                        Token::Said { body, .. } => {
                            let said = MessageToken::read(body).ok_or_else(|| broken("an error that ends too soon"));
                            self.fail(said?);
                            (None, false)
                        }
                        Token::Changed(change) => {
                            self.change(change);
                            (None, false)
                        }
                    };
                    self.start = end;
                    return Ok(told);
                }
                Ok(None) => self.receive().await?,
                Err(error) => {
                    self.lost = true;
                    return Err(error);
                }
            }
        }
    }

    fn end(&mut self, done: EndToken) -> (Option<Event>, bool) {
        let EndToken { kind, more, failed, stopped, rows } = done;
        if failed && self.error.is_none() {
            self.error = Some(Error::other("a statement failed, and the server does not say why"));
        }
        let is_last = !more && kind != EndKind::Inside;
        self.owes &= !is_last;
        (Some(Event::Done { kind, is_last, rows }), stopped)
    }

    fn fail(&mut self, said: MessageToken) {
        let error = failure::of_server(&failure::ServerMessage {
            number: said.number,
            state: said.state,
            severity: said.severity,
            message: &said.message,
            procedure: &said.procedure,
            line: said.line,
        });
        self.lost |= error.class() == ErrorClass::ConnectionLost;
        self.error.get_or_insert(error);
    }

    fn change(&mut self, change: EnvironmentChange) {
        match change {
            EnvironmentChange::PacketSize(size) => self.packet_size = size,
            EnvironmentChange::Collation(collation) => self.collation = collation,
            EnvironmentChange::Transaction(descriptor) => self.transaction = descriptor,
            EnvironmentChange::Other => {}
        }
    }

    /// Looks, without waiting, whether the server has ended the connection.
    pub(in crate::engines::sqlserver) fn has_ended(&mut self) -> bool {
        // A server that ends a session says why first, though nobody asked.
        self.lost || self.look().is_err() || (!self.owes && !self.stopping && self.start < self.input.len())
    }

    /// The next message of the server before tokens, whole.
    pub(super) async fn raw_answer(&mut self) -> Result<Vec<u8>, Error> {
        let ended = self.packets.ended();
        while self.packets.ended() == ended {
            self.receive().await?;
        }
        self.owes = false;
        self.start = 0;
        Ok(std::mem::take(&mut self.input))
    }

    /// Receives at least one byte.
    async fn receive(&mut self) -> Result<(), Error> {
        self.make_room();
        let received = self.stream.read(&mut self.received).await;
        let count = received.map_err(|error| self.lose(&error))?;
        self.take(Some(count))
    }

    /// Receives what is there, without waiting.
    fn look(&mut self) -> Result<(), Error> {
        self.make_room();
        let received = self.stream.try_read(&mut self.received);
        let count = received.map_err(|error| self.lose(&error))?;
        self.take(count)
    }

    fn make_room(&mut self) {
        if self.start == self.input.len() {
            self.input.clear();
            self.start = 0;
        } else if self.start > USED {
            self.input.drain(..self.start);
            self.start = 0;
        }
    }

    /// Notes the number of bytes received; `Some(0)` means the end of the stream.
    fn take(&mut self, count: Option<usize>) -> Result<(), Error> {
        if count == Some(0) {
            self.lost = true;
            return Err(self.error.take().unwrap_or_else(closed));
        }
        if let Some(record) = &mut self.record {
            record.received(&self.received[..count.unwrap_or(0)]);
        }
        let taken = self.packets.take(&self.received[..count.unwrap_or(0)], &mut self.input);
        self.lost |= taken.is_err();
        taken
    }

    /// The connection is gone.
    fn lose(&mut self, error: &io::Error) -> Error {
        self.lost = true;
        Error::new(ErrorClass::ConnectionLost, "", format!("error communicating with the server: {error}"))
    }
}

/// Adds what goes in front of statements and calls: the transaction, and that this is the only request. Source: [MS-TDS] 2.2.5.3.
#[inline]
pub(super) fn put_headers(transaction: u64, out: &mut Vec<u8>) {
    for number in [22u32, 18] {
        out.extend_from_slice(&number.to_le_bytes());
    }
    out.extend_from_slice(&2u16.to_le_bytes());
    out.extend_from_slice(&transaction.to_le_bytes());
    out.extend_from_slice(&1u32.to_le_bytes());
}

/// Where a row lies that ends here.
fn row_place(end: usize, body: &[u8], with_nulls: bool) -> Event {
    Event::Row(RowPlace { body: end - body.len()..end, with_nulls })
}

/// The end of a connection that was open.
fn closed() -> Error {
    Error::new(ErrorClass::ConnectionLost, "", "connection closed")
}
