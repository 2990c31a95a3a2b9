//! Prepared statements: described once, bound and executed with what is known of them from then on. May not wait while binding.

use super::connection::{Connection, unsendable};
use super::message::{Reading, Tag, broken};
use crate::contract::{Error, ErrorClass, Value};
use crate::engines::postgresql::values::{Field, Reader, Writer};
use bytes::{BufMut as _, BytesMut};
use postgres_protocol::message::frontend;
use tokio_postgres::types::Type;

/// Binary form, for all parameters and columns.
const BINARY: u16 = 1;
/// Bytes at the end of `Bind`, by which all columns come in binary form.
const RESULT_FORMAT_BYTES: usize = 4;
/// The end of `Bind`, then `Execute` of the portal without a name, all rows.
const END: &[u8] = b"\0\x01\0\x01E\0\0\0\x09\0\0\0\0\0";

/// A statement that the server knows.
#[derive(Debug)]
pub(in crate::engines::postgresql) struct PreparedStatement {
    /// `Bind` up to the first parameter, without its length: what is added to the queue at once costs one call.
    head: Vec<u8>,
    writers: Vec<Writer>,
    /// How each column is read.
    pub(in crate::engines::postgresql) readers: Vec<Reader>,
}

impl PreparedStatement {
    /// Queues `Bind` with these values and `Execute`. Nothing is queued on an error.
    #[inline]
    pub(in crate::engines::postgresql) fn queue<'v>(
        &self,
        values: impl Iterator<Item = Value<'v>>,
        out: &mut BytesMut,
    ) -> Result<(), Error> {
        let start = out.len();
        out.put_slice(&self.head);
        for (writer, value) in self.writers.iter().zip(values) {
            if matches!(value, Value::Null) {
                out.put_i32(-1);
            } else if writer.write(value, out).is_none() {
                out.truncate(start);
                let text = format!("{value:?} does not fit a parameter of type {}", writer.name());
                return Err(Error::new(ErrorClass::Data, "", text));
            }
        }
        let length = out.len() - start - 1 + RESULT_FORMAT_BYTES;
        let length = u32::try_from(length).ok().filter(|length| i32::try_from(*length).is_ok());
        let Some(length) = length else {
            out.truncate(start);
            return Err(Error::new(ErrorClass::Data, "", "the parameters exceed 2 GiB"));
        };
        out[start + 1..start + 5].copy_from_slice(&length.to_be_bytes());
        out.put_slice(END);
        Ok(())
    }

    /// Number of parameters.
    pub(in crate::engines::postgresql) fn parameters(&self) -> usize {
        self.writers.len()
    }

    /// A statement that the server knows by this name.
    pub(in crate::engines::postgresql) fn new(
        name: &str,
        parameters: &[Type],
        readers: Vec<Reader>,
    ) -> Result<Self, Error> {
        let writers = parameters.iter().map(Writer::of).collect::<Result<Vec<_>, _>>()?;
        let count = u16::try_from(writers.len()).expect("the server counts them with 16 bits");
        // Tag, place of the length, a portal without a name.
        let mut head = b"B\0\0\0\0\0".to_vec();
        head.extend_from_slice(name.as_bytes());
        head.push(0);
        for number in [1, BINARY, count] {
            head.extend_from_slice(&number.to_be_bytes());
        }
        Ok(Self { head, writers, readers })
    }
}

/// Prepares and describes statements, all in one round trip; the error names the place of the one that failed.
pub(in crate::engines::postgresql) async fn describe(
    connection: &mut Connection,
    statements: &[(&str, &str)],
) -> Result<Vec<PreparedStatement>, (usize, Error)> {
    queue_all(connection, statements).await.map_err(|error| (0, error))?;
    let mut prepared = Vec::with_capacity(statements.len());
    let mut parameters = Vec::new();
    let mut outcome = Ok(());
    loop {
        let place = prepared.len();
        let message = connection.receive().await.map_err(|error| (place, error))?;
        let body = Reading(connection.body(&message));
        let described = match message.tag {
            Tag::READY => return outcome.map(|()| prepared),
            _ if outcome.is_err() => continue,
            Tag::ERROR => Err(connection.error(&message)),
            Tag::PARAMETERS => read_parameters(body).map(|found| {
                parameters = found;
                None
            }),
            Tag::NO_COLUMNS => Ok(Some(Vec::new())),
            Tag::COLUMNS => read_columns(body).map(Some),
            _ => Ok(None),
        };
        let entered = described.and_then(|readers| match (readers, statements.get(place)) {
            (Some(readers), Some((name, _))) => {
                PreparedStatement::new(name, &parameters, readers).map(|new| prepared.push(new))
            }
            _ => Ok(()),
        });
        outcome = entered.map_err(|error| (place, error));
    }
}

/// Queues the preparation of a statement without a name.
pub(in crate::engines::postgresql) fn queue_parse(connection: &mut Connection, sql: &str) -> Result<(), Error> {
    frontend::parse("", sql, [], connection.queue()).map_err(unsendable)
}

async fn queue_all(connection: &mut Connection, statements: &[(&str, &str)]) -> Result<(), Error> {
    connection.settle().await?;
    let out = connection.queue();
    for (name, sql) in statements {
        let queued = frontend::close(b'S', name, out)
            .and_then(|()| frontend::parse(name, sql, [], out))
            .and_then(|()| frontend::describe(b'S', name, out));
        if let Err(error) = queued {
            out.clear();
            return Err(unsendable(error));
        }
    }
    connection.queue_sync();
    connection.flush().await
}

fn read_parameters(mut body: Reading<'_>) -> Result<Vec<Type>, Error> {
    let mut read = || {
        let count = body.short()?;
        (0..count).map(|_| body.long().map(|oid| of_oid(oid.cast_unsigned()))).collect::<Option<Vec<Type>>>()
    };
    read().ok_or_else(|| broken("types of parameters"))
}

/// Name, table, place in it, type, size, modifier and format of each column.
fn read_columns(mut body: Reading<'_>) -> Result<Vec<Reader>, Error> {
    let count = body.short().ok_or_else(|| broken("a number of columns"))?;
    let mut column = || {
        let (name, _table) = (body.name()?, body.bytes(6)?);
        let oid = body.long()?.cast_unsigned();
        body.bytes(8)?;
        Some((name, of_oid(oid)))
    };
    let mut readers = Vec::with_capacity(usize::from(count));
    for _ in 0..count {
        let (name, kind) = column().ok_or_else(|| broken("a description of columns"))?;
        readers.push(Reader::of(name, &kind)?);
    }
    Ok(readers)
}

/// The type of a number. One that is not built in is of no kind that we read or write; it keeps its number for messages.
fn of_oid(oid: u32) -> Type {
    Type::from_oid(oid)
        .unwrap_or_else(|| Type::new(format!("number {oid}"), oid, tokio_postgres::types::Kind::Simple, String::new()))
}

/// The fields of a row, one after another.
#[derive(Debug)]
pub(in crate::engines::postgresql) struct WireRow<'a>(Reading<'a>);

impl<'a> WireRow<'a> {
    /// A row's bytes; an error unless it has so many fields.
    #[inline]
    pub(in crate::engines::postgresql) fn of(body: &'a [u8], fields: usize) -> Result<Self, Error> {
        let mut reading = Reading(body);
        match reading.short() {
            Some(count) if usize::from(count) == fields => Ok(Self(reading)),
            _ => Err(broken("a row whose width differs from its statement")),
        }
    }

    /// The next field.
    #[inline]
    pub(in crate::engines::postgresql) fn field(&mut self) -> Result<Field<'a>, Error> {
        let mut read = || match usize::try_from(self.0.long()?) {
            Ok(length) => self.0.bytes(length).map(Some),
            // A length of -1 means null.
            Err(_) => Some(None),
        };
        read().map(Field).ok_or_else(|| broken("a row that ends early"))
    }
}
