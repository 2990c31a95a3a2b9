//! Blanks the values in messages that are recorded: names, types and lengths stay. A message that is not understood whole is not kept. Knows
//! nothing of where recordings go.

use super::packet::MessageKind;
use super::reading::MessageReader;
use super::tokens::{self, EnvironmentChange, Token, is_null};
use super::types::{Bytes, ColumnType, take};
use std::ops::Range;

/// Bytes in front of statements and calls: in which transaction they are. Source: [MS-TDS] 2.2.5.3.
const HEADERS: usize = 22;
/// Mark between two calls; no name of a parameter is that long. Source: [MS-TDS] 2.2.6.6.
const NEXT_CALL: u8 = 0xFF;
/// Type of a table that is a parameter.
const TABLE: u8 = 0xF3;
/// Change of a session whose values are names: database, language, partner of a mirror, instance. Source: [MS-TDS] 2.2.7.9.
const NAMES: [u8; 4] = [1, 2, 13, 19];

/// Places of a message that are blanked.
struct Places<'a> {
    whole: &'a [u8],
    found: Vec<Range<usize>>,
}

impl<'a> Places<'a> {
    /// Adds a part of the message.
    fn add(&mut self, part: &[u8]) {
        let start = part.as_ptr().addr() - self.whole.as_ptr().addr();
        self.found.push(start..start + part.len());
    }

    /// Adds a value, without the lengths of its parts.
    fn add_value(&mut self, bytes: Bytes<'_>) {
        match bytes {
            Bytes::Null => {}
            Bytes::Whole(bytes) => self.add(bytes),
            Bytes::Parts(parts) => {
                let mut reading = MessageReader { rest: parts };
                while let Some(part) = reading.int().and_then(|size| reading.bytes(size as usize)) {
                    self.add(part);
                }
            }
        }
    }

    fn add_row(&mut self, row: &'a [u8], with_nulls: bool, columns: &[ColumnType]) -> Option<()> {
        let mut reading = MessageReader { rest: row };
        let nulls = if with_nulls { reading.bytes(columns.len().div_ceil(8))? } else { &[] };
        for (number, column) in columns.iter().enumerate() {
            if !is_null(nulls, number) {
                self.add_value(take(column.extent, &mut reading)?);
            }
        }
        Some(())
    }

    /// Adds the texts of an error or a message: what is said, the names of server and procedure.
    fn add_said(&mut self, body: &'a [u8]) -> Option<()> {
        let mut reading = MessageReader { rest: body };
        reading.bytes(6)?;
        self.add(reading.long_text()?);
        self.add(reading.short_text()?);
        self.add(reading.short_text()?);
        Some(())
    }

    /// Adds what a token of an answer holds of values and names; `None`: it belongs to a login, or is not known here.
    fn add_token(&mut self, token: Token<'a>, bytes: &'a [u8], columns: &[ColumnType]) -> Option<()> {
        match token {
            Token::Row(row) => self.add_row(row, false, columns),
            Token::RowWithNulls(row) => self.add_row(row, true, columns),
            Token::Said { body, .. } => self.add_said(body),
            Token::Changed(EnvironmentChange::Other) => {
                let mut reading = MessageReader { rest: bytes.get(3..)? };
                if NAMES.contains(&reading.byte()?) {
                    self.add(reading.short_text()?);
                    self.add(reading.short_text()?);
                }
                Some(())
            }
            // The number of a statement, never a value of ours.
            Token::Returned(_) | Token::Columns | Token::Changed(_) | Token::Done(_) => Some(()),
            // The order of columns, the answer of a procedure.
            Token::Passed if matches!(bytes.first(), Some(0x79 | 0xA9)) => Some(()),
            Token::Passed | Token::Routed { .. } | Token::Features(_) => None,
        }
    }

    fn add_calls(&mut self) -> Option<()> {
        let mut reading = MessageReader { rest: self.whole };
        reading.bytes(HEADERS)?;
        loop {
            // A number in two bytes behind the mark, or a name; then options.
            let name = match reading.short()? {
                0xFFFF => 2,
                letters => 2 * usize::from(letters),
            };
            reading.bytes(name + 2)?;
            loop {
                match reading.rest.first() {
                    None => return Some(()),
                    Some(&NEXT_CALL) => break,
                    Some(_) => self.add_parameter(&mut reading)?,
                }
            }
            reading.byte()?;
        }
    }

    fn add_parameter(&mut self, reading: &mut MessageReader<'a>) -> Option<()> {
        reading.short_text()?;
        // By value, or given back.
        reading.byte()?;
        if reading.rest.first() == Some(&TABLE) {
            return self.add_table(reading);
        }
        let kind = ColumnType::read(reading)??;
        self.add_value(take(kind.extent, reading)?);
        Some(())
    }

    /// Adds the rows of a table. Source: [MS-TDS] 2.2.5.5.5.
    fn add_table(&mut self, reading: &mut MessageReader<'a>) -> Option<()> {
        reading.byte()?;
        for _ in 0..3 {
            reading.short_text()?;
        }
        let mut columns = Vec::new();
        for _ in 0..reading.short()? {
            // The user's type, flags.
            reading.bytes(6)?;
            columns.push(ColumnType::read(reading)??);
            reading.short_text()?;
        }
        // Without further descriptions of the columns; then a mark in front of each row, and a zero.
        if reading.byte()? != 0 {
            return None;
        }
        while reading.byte()? == 1 {
            for column in &columns {
                self.add_value(take(column.extent, reading)?);
            }
        }
        Some(())
    }
}

fn blank(bytes: &mut [u8], places: Vec<Range<usize>>) {
    for place in places {
        bytes[place].fill(0);
    }
}

/// Blanks an answer, or says that it is not understood. `columns` are those of the connection's answers so far.
pub(super) fn answer(bytes: &mut [u8], columns: &mut Vec<ColumnType>, flags: &mut Vec<u16>) -> bool {
    let mut places = Places { whole: bytes, found: Vec::new() };
    let mut reading = MessageReader { rest: places.whole };
    while !reading.rest.is_empty() {
        let rest = reading.rest;
        let Ok(Some(token)) = tokens::next(&mut reading, columns, flags) else { return false };
        let taken = &rest[..rest.len() - reading.rest.len()];
        if places.add_token(token, taken, columns).is_none() {
            return false;
        }
    }
    let found = places.found;
    blank(bytes, found);
    true
}

/// Blanks a message to the server, or says that nothing of it may be kept. Of a text of statements the first word stays.
pub(super) fn request(kind: MessageKind, bytes: &mut [u8]) -> bool {
    match kind {
        MessageKind::Batch => {
            let Some(text) = bytes.get_mut(HEADERS..) else { return false };
            let word = text.chunks_exact(2).take_while(|unit| unit[0].is_ascii_alphabetic() && unit[1] == 0).count();
            text[2 * word..].fill(0);
            true
        }
        MessageKind::Rpc => {
            let mut places = Places { whole: bytes, found: Vec::new() };
            let understood = places.add_calls().is_some();
            let found = places.found;
            blank(bytes, found);
            understood
        }
        MessageKind::Attention => bytes.is_empty(),
        MessageKind::Answer | MessageKind::Bulk | MessageKind::Login | MessageKind::PreLogin => false,
    }
}
