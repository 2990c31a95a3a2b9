//! Prepared statements: described once, executed with what is known of them from then on. May not wait while queueing.

use super::answer::{Answer, Packet, RequestKind};
use super::connection::ServerConnection;
use super::packet::{PacketReader, broken};
use super::values::{self, ColumnReader, NO_TYPE};
use crate::contract::{Error, ErrorClass, Value};
use bytes::BufMut as _;

/// Commands. Source: knowledge base, "Binary Protocol".
const PREPARE: u8 = 0x16;
const EXECUTE: u8 = 0x17;
const CLOSE: u8 = 0x19;

/// A statement that the server knows.
#[derive(Debug)]
pub(in crate::engines::mysql_family) struct PreparedStatement {
    id: u32,
    /// Columns of each row; 0 where the server tells them only when the statement has run.
    pub(in crate::engines::mysql_family) columns: u16,
    /// Types of the parameters as they were sent last.
    types: Vec<u8>,
    /// Whether the server has those.
    types_are_sent: bool,
    results: Vec<ResultColumns>,
}

/// The columns of a result. A routine's are described with each call, and hardly ever otherwise than before.
#[derive(Debug, Default)]
struct ResultColumns {
    readers: Vec<ColumnReader>,
    /// The packets that described them last, once all have come.
    described: Vec<u8>,
}

impl PreparedStatement {
    /// Number of parameters.
    pub(in crate::engines::mysql_family) fn parameters(&self) -> usize {
        self.types.len()
    }

    /// Sends the types anew with the next execution, as after an error, when nobody knows whether the server has taken them.
    pub(in crate::engines::mysql_family) fn forget_types(&mut self) {
        self.types_are_sent = false;
    }

    /// Queues an execution with these values. Nothing is queued on an error.
    #[inline]
    pub(in crate::engines::mysql_family) fn queue<'v>(
        &mut self,
        values: impl Iterator<Item = Value<'v>> + Clone,
        connection: &mut ServerConnection,
    ) -> Result<(), Error> {
        let mut same = self.types_are_sent;
        for (known, value) in self.types.iter_mut().zip(values.clone()) {
            if let Some(kind) = values::type_of(value).filter(|kind| kind != known) {
                (*known, same) = (kind, false);
            }
        }
        let Self { id, types, .. } = self;
        let queued = connection.queue(Some(RequestKind::Command), |out| {
            out.put_u8(EXECUTE);
            out.put_u32_le(*id);
            // No cursor, once.
            out.put_slice(&[0, 1, 0, 0, 0]);
            if types.is_empty() {
                return Ok(());
            }
            let nulls = out.len();
            out.put_bytes(0, types.len().div_ceil(8));
            out.put_u8(u8::from(!same));
            if !same {
                types.iter().for_each(|kind| out.put_slice(&[*kind, 0]));
            }
            for (place, value) in values.enumerate() {
                if value == Value::Null {
                    out[nulls + place / 8] |= 1 << (place % 8);
                } else if values::write(value, out).is_none() {
                    return Err(Error::new(ErrorClass::Data, "", format!("{value:?} cannot be sent as a parameter")));
                }
            }
            Ok(())
        });
        self.types_are_sent = queued.is_ok();
        queued
    }

    /// Begins the result of this number: its columns follow, or are those of the last time. Descriptions that are those of the last time, too,
    /// are taken from the connection.
    #[inline]
    pub(in crate::engines::mysql_family) fn begin_result(
        &mut self,
        number: usize,
        columns: u16,
        described: bool,
        connection: &mut ServerConnection,
    ) -> Result<(), Error> {
        if self.results.len() <= number {
            self.results.resize_with(number + 1, ResultColumns::default);
        }
        let known = &mut self.results[number];
        let all_known = known.readers.len() == usize::from(columns);
        if !described {
            return if all_known { Ok(()) } else { Err(broken("a result whose columns were never described")) };
        }
        if !(all_known && connection.take_same_columns(&known.described)) {
            known.readers.clear();
            known.described.clear();
        }
        Ok(())
    }

    /// Takes the description of the next column of a result.
    pub(in crate::engines::mysql_family) fn describe(
        &mut self,
        number: usize,
        packet: &Packet,
        connection: &ServerConnection,
    ) -> Result<(), Error> {
        let known = &mut self.results[number];
        known.readers.push(ColumnReader::of(connection.body(packet))?);
        known.described.extend_from_slice(connection.head(packet));
        known.described.extend_from_slice(connection.body(packet));
        Ok(())
    }

    /// How the columns of a result are read.
    #[inline]
    pub(in crate::engines::mysql_family) fn readers(&self, number: usize) -> &[ColumnReader] {
        self.results.get(number).map_or(&[], |known| &known.readers)
    }

    /// Queues the server's forgetting of it, which is not answered.
    pub(in crate::engines::mysql_family) fn queue_close(&self, connection: &mut ServerConnection) {
        let closing = connection.queue(None, |out| {
            out.put_u8(CLOSE);
            out.put_u32_le(self.id);
            Ok(())
        });
        closing.expect("five bytes fit");
    }
}

/// Prepares statements, all in one round trip; the error names the place of the one that failed.
pub(in crate::engines::mysql_family) async fn prepare(
    connection: &mut ServerConnection,
    statements: &[&str],
) -> Result<Vec<PreparedStatement>, (usize, Error)> {
    connection.settle().await.map_err(|error| (0, error))?;
    for (place, sql) in statements.iter().enumerate() {
        let queued = connection.queue(Some(RequestKind::Prepare), |out| {
            out.put_u8(PREPARE);
            out.put_slice(sql.as_bytes());
            Ok(())
        });
        if let Err(error) = queued {
            connection.forget_queue();
            return Err((place, error));
        }
    }
    connection.flush().await.map_err(|error| (0, error))?;
    let (mut prepared, mut outcome) = (Vec::with_capacity(statements.len()), Ok(()));
    for place in 0..statements.len() {
        match one(connection).await.map_err(|error| (place, error))? {
            Ok(statement) => prepared.push(statement),
            Err(error) if outcome.is_ok() => outcome = Err((place, error)),
            Err(_) => {}
        }
    }
    outcome.map(|()| prepared)
}

/// Takes the answer to one. The outer error is the connection's.
async fn one(connection: &mut ServerConnection) -> Result<Result<PreparedStatement, Error>, Error> {
    let packet = connection.receive().await?;
    let (id, columns, parameters) = match packet.kind {
        Answer::Prepared { id, columns, parameters } => (id, columns, parameters),
        Answer::Failed => return Ok(Err(connection.error(&packet))),
        _ => return Err(broken("no answer to a statement to prepare")),
    };
    for _ in 0..parameters {
        connection.receive().await?;
    }
    // A server that lets columns be kept does not describe them again with the first result.
    let mut readers = Ok(Vec::with_capacity(usize::from(columns)));
    for _ in 0..columns {
        let packet = connection.receive().await?;
        let reader = ColumnReader::of(connection.body(&packet));
        readers = readers.and_then(|mut readers| {
            readers.push(reader?);
            Ok(readers)
        });
    }
    let types = vec![NO_TYPE; usize::from(parameters)];
    Ok(readers.map(|readers| PreparedStatement {
        id,
        columns,
        types,
        types_are_sent: false,
        results: vec![ResultColumns { readers, described: Vec::new() }],
    }))
}

/// The fields of a row, one after another.
#[derive(Debug)]
pub(in crate::engines::mysql_family) struct WireRow<'a> {
    nulls: &'a [u8],
    rest: PacketReader<'a>,
    place: usize,
}

impl<'a> WireRow<'a> {
    /// A row of so many fields.
    #[inline]
    pub(in crate::engines::mysql_family) fn of(
        connection: &'a ServerConnection,
        packet: &Packet,
        fields: usize,
    ) -> Result<Self, Error> {
        let mut rest = PacketReader(connection.body(packet));
        // Two bits of the map stand for nothing.
        let nulls = rest.byte().and_then(|_| rest.bytes((fields + 9) / 8));
        nulls.map(|nulls| Self { nulls, rest, place: 2 }).ok_or_else(|| broken("a row that ends early"))
    }

    /// The next field.
    #[inline]
    pub(in crate::engines::mysql_family) fn field(&mut self, reader: ColumnReader) -> Result<Value<'a>, Error> {
        let is_null = self.nulls[self.place / 8] & (1 << (self.place % 8)) != 0;
        self.place += 1;
        if is_null { Ok(Value::Null) } else { reader.read(&mut self.rest) }
    }
}
