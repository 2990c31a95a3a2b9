//! What clients send, taken apart by the grammar of the document.

use super::behaviour::Parameter;
use super::datum::{Datum, moment_width};
use std::collections::BTreeMap;

/// Reads from the front.
pub(super) struct Front<'a>(pub(super) &'a [u8]);

impl<'a> Front<'a> {
    pub(super) fn take(&mut self, count: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(count);
        self.0 = rest;
        taken
    }

    fn u8(&mut self) -> u8 {
        self.take(1)[0]
    }

    fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.take(2).try_into().expect("two"))
    }

    fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take(4).try_into().expect("four"))
    }

    fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.take(8).try_into().expect("eight"))
    }
}

pub(super) fn wide(bytes: &[u8]) -> String {
    let units: Vec<u16> = bytes.chunks(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
    String::from_utf16(&units).expect("UTF-16")
}

/// The options of the first message, by their numbers.
pub(super) fn first_message(body: &[u8]) -> BTreeMap<u8, Vec<u8>> {
    let number = |bytes: &[u8]| usize::from(u16::from_be_bytes([bytes[0], bytes[1]]));
    let options = body.chunks(5).take_while(|option| option[0] != 0xFF);
    let data = |option: &[u8]| body[number(&option[1..])..][..number(&option[3..])].to_vec();
    options.map(|option| (option[0], data(option))).collect()
}

/// A token with which an account logs on.
#[derive(Debug, PartialEq)]
pub(crate) struct TokenLogin {
    /// The client repeats that the server has asked for a token.
    pub(crate) echoes: bool,
    pub(crate) token: String,
    /// What the client repeats of the server's number.
    pub(crate) nonce: Vec<u8>,
}

/// An account that logs on.
#[derive(Debug)]
pub(crate) struct Login {
    pub(crate) version: u32,
    pub(crate) packet_size: usize,
    pub(crate) user: String,
    pub(crate) password: String,
    pub(crate) program: String,
    pub(crate) database: String,
    pub(crate) server: String,
    pub(crate) read_only: bool,
    pub(crate) features: Vec<u8>,
    pub(crate) by_token: Option<TokenLogin>,
}

pub(super) fn login(body: &[u8]) -> Login {
    let number = |place: usize| u32::from_le_bytes(body[place..place + 4].try_into().expect("four"));
    assert_eq!(number(0) as usize, body.len(), "the length of a login");
    let bytes = |place: usize| {
        let start = usize::from(u16::from_le_bytes([body[place], body[place + 1]]));
        let letters = usize::from(u16::from_le_bytes([body[place + 2], body[place + 3]]));
        body[start..start + 2 * letters].to_vec()
    };
    let password: Vec<u8> = bytes(44).into_iter().map(|byte| (byte ^ 0xA5).rotate_right(4)).collect();
    let (mut features, mut by_token) = (Vec::new(), None);
    if body[27] & 0x10 != 0 {
        let place = usize::from(u16::from_le_bytes([body[56], body[57]]));
        let mut front = Front(&body[number(place) as usize..]);
        loop {
            let feature = front.u8();
            if feature == 0xFF {
                break;
            }
            features.push(feature);
            let size = front.u32();
            let data = front.take(size as usize);
            if feature == 2 {
                by_token = Some(token_login(Front(data)));
            }
        }
        assert_eq!(front.0, [0; 0], "extensions end the login");
    }
    Login {
        version: number(4),
        packet_size: number(8) as usize,
        user: wide(&bytes(40)),
        password: wide(&password),
        program: wide(&bytes(48)),
        database: wide(&bytes(68)),
        server: wide(&bytes(52)),
        read_only: body[26] & 0x20 != 0,
        features,
        by_token,
    }
}

/// A login by a token that the client has: its kind is 1, in the seven bits above the one that repeats.
fn token_login(mut front: Front<'_>) -> TokenLogin {
    let options = front.u8();
    assert_eq!(options >> 1, 1, "a token that the client has");
    let size = front.u32() as usize;
    TokenLogin { echoes: options & 1 == 1, token: wide(front.take(size)), nonce: front.0.to_vec() }
}

/// Descriptor of the transaction in what goes in front of a request.
pub(super) fn headers(front: &mut Front<'_>) -> u64 {
    let all = front.u32() as usize - 4;
    let mut inner = Front(front.take(all));
    assert_eq!((inner.u32(), inner.u16()), (18, 2), "the one header");
    let transaction = inner.u64();
    assert_eq!((inner.u32(), inner.0), (1, &[][..]), "one request at a time");
    transaction
}

/// A call.
#[derive(Debug)]
pub(super) enum Called {
    Named(String),
    Numbered(u16),
}

pub(super) fn calls(mut front: Front<'_>) -> Vec<(Called, Vec<Parameter>)> {
    let mut all = Vec::new();
    while !front.0.is_empty() {
        let called = match front.u16() {
            0xFFFF => Called::Numbered(front.u16()),
            letters => Called::Named(wide(front.take(2 * usize::from(letters)))),
        };
        front.u16();
        let mut parameters = Vec::new();
        while !front.0.is_empty() && front.0[0] != 0xFF {
            let letters = front.u8();
            front.take(2 * usize::from(letters));
            let by_reference = front.u8() & 1 == 1;
            let kind = front.u8();
            let value = value(kind, &mut front);
            parameters.push(Parameter { by_reference, kind, value });
        }
        if !front.0.is_empty() {
            front.u8();
        }
        all.push((called, parameters));
    }
    all
}

fn value(kind: u8, front: &mut Front<'_>) -> Datum {
    match kind {
        0x26 => {
            front.u8();
            short(front, |bytes| Datum::Integer(integer(bytes)))
        }
        0x6A => {
            let [_, _, scale] = <[u8; 3]>::try_from(front.take(3)).expect("three");
            short(front, |bytes| decimal(bytes, scale))
        }
        0x2A => {
            let scale = front.u8();
            short(front, |bytes| moment(bytes, scale))
        }
        0xA5 => {
            front.u16();
            match front.u16() {
                0xFFFF => Datum::Null,
                size => Datum::Bytes(front.take(usize::from(size)).to_vec()),
            }
        }
        0xA7 | 0xE7 => {
            let size = front.u16();
            front.take(5);
            let bytes = if size == 0xFFFF { parts(front) } else { long(front) };
            let read =
                |bytes: Vec<u8>| if kind == 0xE7 { wide(&bytes) } else { String::from_utf8(bytes).expect("UTF-8") };
            bytes.map_or(Datum::Null, |bytes| Datum::Text(read(bytes)))
        }
        0xF3 => table(front),
        other => panic!("a parameter of type {other:02X}"),
    }
}

/// A table: the name of its type, its columns, its rows.
fn table(front: &mut Front<'_>) -> Datum {
    let (database, schema, type_name) = (name(front), name(front), name(front));
    assert_eq!(database, "", "the type is of this database");
    let mut sizes = Vec::new();
    for _ in 0..front.u16() {
        assert_eq!((front.u32(), front.u16()), (0, 0), "no type of a user, no flags");
        assert_eq!(front.u8(), 0x26, "columns of integers");
        sizes.push(front.u8());
        assert_eq!(name(front), "", "columns have no names");
    }
    assert_eq!(front.u8(), 0, "nothing more is told of the columns");
    let mut rows = Vec::new();
    loop {
        match front.u8() {
            0 => break,
            token => assert_eq!(token, 1, "a row"),
        }
        let mut row = Vec::new();
        for size in &sizes {
            assert_eq!(front.0[0], *size, "a value of the width of its column");
            row.push(short(front, |bytes| Datum::Integer(integer(bytes))));
        }
        rows.push(row);
    }
    let dot = if schema.is_empty() { "" } else { "." };
    Datum::Table(format!("{schema}{dot}{type_name}"), rows)
}

/// A text with its length in letters in one byte.
fn name(front: &mut Front<'_>) -> String {
    let letters = front.u8();
    wide(front.take(2 * usize::from(letters)))
}

fn short(front: &mut Front<'_>, read: impl Fn(&[u8]) -> Datum) -> Datum {
    match front.u8() {
        0 => Datum::Null,
        size => read(front.take(usize::from(size))),
    }
}

fn long(front: &mut Front<'_>) -> Option<Vec<u8>> {
    match front.u16() {
        0xFFFF => None,
        size => Some(front.take(usize::from(size)).to_vec()),
    }
}

fn parts(front: &mut Front<'_>) -> Option<Vec<u8>> {
    let told = front.u64();
    if told == u64::MAX {
        return None;
    }
    let mut all = Vec::new();
    loop {
        let size = front.u32();
        if size == 0 {
            assert_eq!(all.len() as u64, told, "the length that was told");
            return Some(all);
        }
        all.extend(front.take(size as usize));
    }
}

fn integer(bytes: &[u8]) -> i64 {
    let mut all = if bytes.last().is_some_and(|last| last & 0x80 != 0) && bytes.len() > 1 { [0xFF; 8] } else { [0; 8] };
    all[..bytes.len()].copy_from_slice(bytes);
    i64::from_le_bytes(all)
}

fn decimal(bytes: &[u8], scale: u8) -> Datum {
    let mut all = [0; 16];
    all[..bytes.len() - 1].copy_from_slice(&bytes[1..]);
    let units = i128::from_le_bytes(all);
    Datum::Decimal(if bytes[0] == 0 { -units } else { units }, scale)
}

fn moment(bytes: &[u8], scale: u8) -> Datum {
    let (clock, date) = bytes.split_at(moment_width(scale));
    let mut all = [0; 8];
    all[..clock.len()].copy_from_slice(clock);
    Datum::Moment(u32::from_le_bytes([date[0], date[1], date[2], 0]), u64::from_le_bytes(all))
}

/// Rows in bulk: names of columns, then values.
pub(super) fn bulk(body: &[u8]) -> (Vec<String>, Vec<Vec<Datum>>) {
    let mut front = Front(body);
    assert_eq!(front.u8(), 0x81, "columns come first");
    let mut columns = Vec::new();
    for _ in 0..front.u16() {
        assert_eq!(front.u32(), 0, "no type of a user");
        front.u16();
        let kind = front.u8();
        let about = match kind {
            0x26 | 0x68 | 0x2A => front.take(1),
            0x6A => front.take(3),
            0xA7 | 0xAF | 0xE7 => front.take(7),
            _ => &[],
        };
        let letters = front.u8();
        columns.push((kind, about.to_vec(), wide(front.take(2 * usize::from(letters)))));
    }
    let mut rows = Vec::new();
    loop {
        match front.u8() {
            0xD1 => rows.push(columns.iter().map(|(kind, about, _)| bulk_value(*kind, about, &mut front)).collect()),
            0xFD => {
                assert_eq!(front.0.len(), 12, "an end is the last");
                return (columns.into_iter().map(|(_, _, name)| name).collect(), rows);
            }
            other => panic!("a token {other:02X} among rows"),
        }
    }
}

fn bulk_value(kind: u8, about: &[u8], front: &mut Front<'_>) -> Datum {
    match kind {
        0x30 => Datum::Integer(front.u8().into()),
        0x34 => Datum::Integer(integer(front.take(2))),
        0x38 => Datum::Integer(integer(front.take(4))),
        0x7F => Datum::Integer(integer(front.take(8))),
        0x26 | 0x68 => short(front, |bytes| Datum::Integer(integer(bytes))),
        0x6A => short(front, |bytes| decimal(bytes, about[2])),
        0x2A => short(front, |bytes| moment(bytes, about[0])),
        0x28 => short(front, |bytes| Datum::Date(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0]))),
        0xA7 | 0xAF | 0xE7 => {
            let bytes = if about[..2] == [0xFF; 2] { parts(front) } else { long(front) };
            let read =
                |bytes: Vec<u8>| if kind == 0xE7 { wide(&bytes) } else { String::from_utf8(bytes).expect("UTF-8") };
            bytes.map_or(Datum::Null, |bytes| Datum::Text(read(bytes)))
        }
        other => panic!("a column of type {other:02X}"),
    }
}
