//! Tokens of an answer: each is taken whole, or not at all as long as it has not all arrived. Source: [MS-TDS] 2.2.7.

use super::reading::{MessageReader, broken, text};
use super::types::{Collation, ColumnType, take};
use crate::contract::Error;

/// What an answer says next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// The columns of rows that follow; they are in the list.
    Columns,
    /// Values of a row, in the form that says nulls value by value.
    Row(&'a [u8]),
    /// The same with a bit for each null in front.
    RowWithNulls(&'a [u8]),
    /// An error, or a message that is none.
    Said { is_error: bool, body: &'a [u8] },
    /// What a procedure gives back in a parameter.
    Returned(Option<i64>),
    /// Something of the session has changed.
    Changed(EnvironmentChange),
    /// Another server is to be asked instead: its port, and its name as UTF-16.
    Routed { port: u16, server: &'a [u8] },
    /// What the server acknowledges of the extensions of a login.
    Features(&'a [u8]),
    /// The end of a statement, a procedure, or all.
    Done(EndToken),
    /// What is known and not used.
    Passed,
}

/// What has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EnvironmentChange {
    PacketSize(usize),
    Collation(Collation),
    /// The transaction by its descriptor; zero where none is open.
    Transaction(u64),
    /// The database that this one is mirrored to, and what does not matter.
    Other,
}

/// An end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EndToken {
    pub(super) kind: EndKind,
    /// More follows.
    pub(super) more: bool,
    /// The statement failed.
    pub(super) failed: bool,
    /// The server has stopped because it was asked to.
    pub(super) stopped: bool,
    /// Rows touched or returned, where they were counted.
    pub(super) rows: Option<u64>,
}

/// What it is the end of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engines::sqlserver) enum EndKind {
    /// A statement of a batch.
    Statement,
    /// A procedure.
    Procedure,
    /// A statement of a procedure.
    Inside,
}

/// A message of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MessageToken {
    pub(super) number: u32,
    pub(super) state: u8,
    pub(super) severity: u8,
    pub(super) message: String,
    pub(super) procedure: String,
    pub(super) line: u32,
}

impl MessageToken {
    /// Reads the body of a message.
    pub(super) fn read(body: &[u8]) -> Option<Self> {
        let mut reading = MessageReader { rest: body };
        let (number, state, severity) = (reading.int()?, reading.byte()?, reading.byte()?);
        let message = text(reading.long_text()?);
        reading.short_text()?;
        let procedure = text(reading.short_text()?);
        Some(Self { number, state, severity, message, procedure, line: reading.int()? })
    }
}

/// Takes the next token; `None` where it has not all arrived. Columns go to the list.
#[inline]
pub(super) fn next<'a>(
    reading: &mut MessageReader<'a>,
    columns: &mut Vec<ColumnType>,
    flags: &mut Vec<u16>,
) -> Result<Option<Token<'a>>, Error> {
    let Some(kind) = reading.byte() else { return Ok(None) };
    Ok(match kind {
        0xD1 => row(reading, columns).map(Token::Row),
        0xD2 => row_with_nulls(reading, columns).map(Token::RowWithNulls),
        0xFD => done(reading, EndKind::Statement),
        0xFE => done(reading, EndKind::Procedure),
        0xFF => done(reading, EndKind::Inside),
        0x81 => return described(reading, columns, flags),
        0xAA | 0xAB => long(reading).map(|body| Token::Said { is_error: kind == 0xAA, body }),
        0xE3 => return changed(reading),
        0x79 => reading.int().map(|_| Token::Passed),
        0xAC => return returned(reading),
        // The proof of login, the order of columns, names of tables, of columns: behind a length of two bytes.
        0xAD | 0xA9 | 0xA4 | 0xA5 | 0xED => long(reading).map(|_| Token::Passed),
        0xAE => features(reading).map(Token::Features),
        // The state of a session, and of another way to log on: behind a length of four bytes.
        0xE4 | 0xEE => reading.int().and_then(|size| reading.bytes(size as usize)).map(|_| Token::Passed),
        0x78 => reading.int().map(|_| Token::Passed),
        _ => return Err(broken(&format!("a token 0x{kind:02X} that is not known"))),
    })
}

fn long<'a>(reading: &mut MessageReader<'a>) -> Option<&'a [u8]> {
    let size = reading.short()?;
    reading.bytes(size.into())
}

fn row<'a>(reading: &mut MessageReader<'a>, columns: &[ColumnType]) -> Option<&'a [u8]> {
    let all = reading.rest;
    for column in columns {
        take(column.extent, reading)?;
    }
    all.get(..all.len() - reading.rest.len())
}

fn row_with_nulls<'a>(reading: &mut MessageReader<'a>, columns: &[ColumnType]) -> Option<&'a [u8]> {
    let all = reading.rest;
    let nulls = reading.bytes(columns.len().div_ceil(8))?;
    for (place, column) in columns.iter().enumerate() {
        if !is_null(nulls, place) {
            take(column.extent, reading)?;
        }
    }
    all.get(..all.len() - reading.rest.len())
}

/// Whether the bits in front of a row say that a value is null.
#[inline]
pub(super) fn is_null(nulls: &[u8], place: usize) -> bool {
    nulls.get(place / 8).is_some_and(|bits| bits >> (place % 8) & 1 == 1)
}

fn done(reading: &mut MessageReader<'_>, kind: EndKind) -> Option<Token<'static>> {
    let (status, _, rows) = (reading.short()?, reading.short()?, reading.long()?);
    let has = |bit: u16| status & bit != 0;
    Some(Token::Done(EndToken {
        kind,
        more: has(0x1),
        failed: has(0x2) || has(0x100),
        stopped: has(0x20),
        rows: has(0x10).then_some(rows),
    }))
}

/// A description of columns. None at all means those of before.
fn described<'a>(
    reading: &mut MessageReader<'a>,
    columns: &mut Vec<ColumnType>,
    flags: &mut Vec<u16>,
) -> Result<Option<Token<'a>>, Error> {
    let Some(count) = reading.short() else { return Ok(None) };
    if count == 0xFFFF {
        return Ok(Some(Token::Columns));
    }
    columns.clear();
    flags.clear();
    for place in 1..=count {
        let Some((flag, kind)) = reading.int().and_then(|_| reading.short()).zip(ColumnType::read(reading)) else {
            return Ok(None);
        };
        let kind = kind.ok_or_else(|| {
            broken(&format!(
                "column {place} has a type that is not read (text, ntext, image, XML, variant): cast it to varchar(max)"
            ))
        })?;
        if reading.short_text().is_none() {
            return Ok(None);
        }
        columns.push(kind);
        flags.push(flag);
    }
    Ok(Some(Token::Columns))
}

fn returned<'a>(reading: &mut MessageReader<'a>) -> Result<Option<Token<'a>>, Error> {
    let head = |reading: &mut MessageReader<'a>| {
        reading.short()?;
        reading.short_text()?;
        reading.bytes(7)?;
        ColumnType::read(reading)
    };
    let Some(kind) = head(reading) else { return Ok(None) };
    let kind = kind.ok_or_else(|| broken("a parameter with a type that is not read"))?;
    let Some(bytes) = take(kind.extent, reading) else { return Ok(None) };
    let mut scratch = super::values::Scratch::default();
    let value = super::values::value(&kind, bytes, &mut scratch).ok().and_then(|value| value.integer());
    Ok(Some(Token::Returned(value)))
}

fn features<'a>(reading: &mut MessageReader<'a>) -> Option<&'a [u8]> {
    let all = reading.rest;
    while reading.byte()? != 0xFF {
        let size = reading.int()?;
        reading.bytes(size as usize)?;
    }
    all.get(..all.len() - reading.rest.len())
}

fn changed<'a>(reading: &mut MessageReader<'a>) -> Result<Option<Token<'a>>, Error> {
    let Some(body) = long(reading) else { return Ok(None) };
    let mut inner = MessageReader { rest: body };
    let cut = || broken("a change of the session that ends too soon");
    let change = match inner.byte().ok_or_else(cut)? {
        4 => {
            let size = text(inner.short_text().ok_or_else(cut)?);
            EnvironmentChange::PacketSize(size.parse().map_err(|_| broken("a size of packets that is no number"))?)
        }
        7 => match inner.byte().ok_or_else(cut)? {
            5 => EnvironmentChange::Collation(inner.array().ok_or_else(cut)?),
            _ => EnvironmentChange::Other,
        },
        8 => match inner.byte().ok_or_else(cut)? {
            8 => EnvironmentChange::Transaction(inner.long().ok_or_else(cut)?),
            _ => EnvironmentChange::Other,
        },
        9 | 10 | 17 => EnvironmentChange::Transaction(0),
        20 => return route(&mut inner).map(Some),
        21 => return Err(broken("a route to a database, though no such extension was asked for")),
        // The old data of a promoted transaction are longer than said; we never ask for one.
        15 => return Err(broken("a transaction of several servers")),
        _ => EnvironmentChange::Other,
    };
    Ok(Some(Token::Changed(change)))
}

/// Another server to go to: all of it behind a length of two bytes, and the name behind one in letters.
fn route<'a>(inner: &mut MessageReader<'a>) -> Result<Token<'a>, Error> {
    match route_parts(inner) {
        // By TCP, which has no port 0.
        Some((0, port, server)) if port != 0 && !server.is_empty() => Ok(Token::Routed { port, server }),
        Some(_) => Err(broken("a route that is none to a port of a server")),
        None => Err(broken("a route that ends too soon")),
    }
}

fn route_parts<'a>(inner: &mut MessageReader<'a>) -> Option<(u8, u16, &'a [u8])> {
    let size = inner.short()?;
    let mut data = MessageReader { rest: inner.bytes(size.into())? };
    Some((data.byte()?, data.short()?, data.long_text()?))
}

#[cfg(test)]
mod tests {
    use super::super::published::{body, tokens};
    use super::super::types::{Content, VARCHAR};
    use super::*;

    /// [MS-TDS] 4.7: the answer to `select 'foo' as 'bar'`.
    const BATCH: [u8; 51] = [
        0x04, 0x01, 0x00, 0x33, 0x00, 0x00, 0x01, 0x00, 0x81, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x20, 0x00, 0xA7,
        0x03, 0x00, 0x09, 0x04, 0xD0, 0x00, 0x34, 0x03, 0x62, 0x00, 0x61, 0x00, 0x72, 0x00, 0xD1, 0x03, 0x00, 0x66,
        0x6F, 0x6F, 0xFD, 0x10, 0x00, 0xC1, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    ];
    /// [MS-TDS] 4.9: the answer to a call of a procedure.
    const CALL: [u8; 39] = [
        0x04, 0x01, 0x00, 0x27, 0x00, 0x00, 0x01, 0x00, 0xFF, 0x11, 0x00, 0xC1, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00,
        0x00, 0x00, 0x00, 0x79, 0x00, 0x00, 0x00, 0x00, 0xFE, 0x00, 0x00, 0xE0, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
        0x00, 0x00, 0x00,
    ];

    #[test]
    fn published_answers_are_read_and_nothing_of_what_is_cut() {
        let (body, mut columns) = (body(&BATCH), Vec::new());
        let end = EndToken { kind: EndKind::Statement, more: false, failed: false, stopped: false, rows: Some(1) };
        assert_eq!(tokens(&body, &mut columns), [Token::Columns, Token::Row(b"\x03\0foo"), Token::Done(end)]);
        assert_eq!(
            columns.iter().map(|column| (column.id, column.size, column.content)).collect::<Vec<_>>(),
            [(VARCHAR, 3, Content::Bytes)]
        );
        for cut in 0..body.len() {
            let whole = tokens(&body[..cut], &mut Vec::new()).len();
            assert_eq!(whole, usize::from(cut >= 24) + usize::from(cut >= 30), "cut at {cut}");
        }
    }

    /// The grammar of [MS-TDS] 2.2.7.9, type 20, byte by byte: protocol, port and name have 11 bytes, and the old value is two zeros.
    const ROUTE: [u8; 20] = [
        0xE3, 0x10, 0x00, 0x14, 0x0B, 0x00, 0x00, 0x39, 0x30, 0x03, 0x00, b'd', 0x00, b'b', 0x00, b'2', 0x00, 0x00,
        0x00, 0xFD,
    ];

    #[test]
    fn a_route_is_read_and_nothing_of_what_is_cut() {
        let route = Token::Routed { port: 12_345, server: b"d\0b\x002\0" };
        assert_eq!(tokens(&ROUTE, &mut Vec::new()), [route]);
        for cut in 0..19 {
            assert!(tokens(&ROUTE[..cut], &mut Vec::new()).is_empty(), "cut at {cut}");
        }
        let refused = |place: usize, byte: u8| {
            let mut wrong = ROUTE;
            wrong[place] = byte;
            let mut reading = MessageReader { rest: &wrong };
            next(&mut reading, &mut Vec::new(), &mut Vec::new()).expect_err("it is no route").to_string()
        };
        // A kind of its own, another protocol, lengths that do not fit, no name.
        assert!(refused(3, 21).contains("a route to a database"));
        assert!(refused(6, 1).contains("none to a port"));
        assert!(refused(4, 40).contains("ends too soon"));
        assert!(refused(4, 4).contains("ends too soon"));
        assert!(refused(9, 4).contains("ends too soon"));
        assert!(refused(9, 0).contains("none to a port"));
        let mut nowhere = ROUTE;
        (nowhere[7], nowhere[8]) = (0, 0);
        next(&mut MessageReader { rest: &nowhere }, &mut Vec::new(), &mut Vec::new()).expect_err("there is no port 0");
    }

    /// [MS-TDS] 2.2.7.11: each extension with its data behind four bytes of length, then an end.
    #[test]
    fn an_acknowledgement_of_extensions_is_read_whole() {
        const FEATURES: [u8; 14] = [0xAE, 0x02, 0x00, 0x00, 0x00, 0x00, 0x0A, 0x01, 0x00, 0x00, 0x00, 0x01, 0xFF, 0xFD];
        assert_eq!(tokens(&FEATURES, &mut Vec::new()), [Token::Features(&FEATURES[1..13])]);
        for cut in 0..13 {
            assert!(tokens(&FEATURES[..cut], &mut Vec::new()).is_empty(), "cut at {cut}");
        }
    }

    #[test]
    fn the_published_answer_to_a_call_has_two_ends() {
        let inside = EndToken { kind: EndKind::Inside, more: true, failed: false, stopped: false, rows: Some(1) };
        let end = EndToken { kind: EndKind::Procedure, more: false, failed: false, stopped: false, rows: None };
        let body = body(&CALL);
        assert_eq!(tokens(&body, &mut Vec::new()), [Token::Done(inside), Token::Passed, Token::Done(end)]);
    }
}
