//! Tokens of answers, put together by the grammar of the document.

use super::behaviour::{Part, TokenRule};
use super::datum::{ColumnForm, Datum};

/// What an answer is made of so far.
#[derive(Default)]
pub(super) struct Tokens {
    pub(super) bytes: Vec<u8>,
    columns: Vec<ColumnForm>,
}

/// Bits of an end.
pub(super) const MORE: u16 = 1;
pub(super) const FAILED: u16 = 2;
pub(super) const COUNTED: u16 = 0x10;
pub(super) const STOPPED: u16 = 0x20;

fn short(text: &str, out: &mut Vec<u8>) {
    out.push(text.encode_utf16().count() as u8);
    out.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
}

impl Tokens {
    fn long(&mut self, token: u8, body: &[u8]) {
        self.bytes.push(token);
        self.bytes.extend((body.len() as u16).to_le_bytes());
        self.bytes.extend(body);
    }

    pub(super) fn done(&mut self, token: u8, status: u16, rows: u64) {
        self.bytes.push(token);
        self.bytes.extend(status.to_le_bytes());
        self.bytes.extend(0xC1u16.to_le_bytes());
        self.bytes.extend(rows.to_le_bytes());
    }

    /// A change that is told by texts.
    pub(super) fn changed(&mut self, kind: u8, new: &str, old: &str) {
        let mut body = vec![kind];
        short(new, &mut body);
        short(old, &mut body);
        self.long(0xE3, &body);
    }

    pub(super) fn collation(&mut self, collation: [u8; 5]) {
        let mut body = vec![7, 5];
        body.extend(collation);
        body.push(0);
        self.long(0xE3, &body);
    }

    /// A transaction has begun.
    pub(super) fn begun(&mut self, descriptor: u64) {
        let mut body = vec![8, 8];
        body.extend(descriptor.to_le_bytes());
        body.push(0);
        self.long(0xE3, &body);
    }

    /// It has ended, as 9 by a commit, as 10 by a rollback.
    pub(super) fn ended(&mut self, kind: u8, descriptor: u64) {
        let mut body = vec![kind, 0, 8];
        body.extend(descriptor.to_le_bytes());
        self.long(0xE3, &body);
    }

    pub(super) fn login_taken(&mut self, version: u32) {
        let mut body = vec![1];
        body.extend(version.to_be_bytes());
        short("a server of the tests", &mut body);
        body.extend([16, 0, 0, 1]);
        self.long(0xAD, &body);
    }

    /// Acknowledges extensions: by default that UTF-8 is spoken, and a login by token.
    pub(super) fn acknowledged(&mut self, rule: Option<&TokenRule>) {
        let mut usual = vec![0xAE, 0x0A, 1, 0, 0, 0, 1];
        if rule.is_some() {
            usual.extend([2, 0, 0, 0, 0]);
        }
        usual.push(0xFF);
        self.bytes.extend(rule.and_then(|rule| rule.acknowledges.clone()).unwrap_or(usual));
    }

    /// Another server that the client has to go to: by TCP, with an empty old value.
    pub(super) fn sent_on(&mut self, server: &str, port: u16) {
        let mut route = vec![0];
        route.extend(port.to_le_bytes());
        route.extend((server.encode_utf16().count() as u16).to_le_bytes());
        route.extend(server.encode_utf16().flat_map(u16::to_le_bytes));
        let mut body = vec![20];
        body.extend((route.len() as u16).to_le_bytes());
        body.extend(route);
        body.extend([0, 0]);
        self.long(0xE3, &body);
    }

    pub(super) fn returned_status(&mut self) {
        self.bytes.extend([0x79, 0, 0, 0, 0]);
    }

    pub(super) fn returned_handle(&mut self, handle: i32) {
        self.bytes.extend([0xAC, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0x26, 4, 4]);
        self.bytes.extend(handle.to_le_bytes());
    }

    /// A part of an answer that is a token; `end` is the token that ends a statement.
    pub(super) fn part(&mut self, part: &Part, end: u8) {
        match part {
            Part::Columns(columns) => {
                self.columns.clone_from(columns);
                self.bytes.push(0x81);
                self.bytes.extend((columns.len() as u16).to_le_bytes());
                for (place, kind) in columns.iter().enumerate() {
                    self.bytes.extend([0, 0, 0, 0, 9, 0]);
                    kind.describe(&mut self.bytes);
                    short(&format!("c{place}"), &mut self.bytes);
                }
                // Their order, and that nothing is known of it.
                self.long(0xA9, &[0, 0]);
            }
            Part::Row(row) => {
                self.bytes.push(0xD1);
                self.columns.iter().zip(row).for_each(|(kind, value)| kind.write(value, &mut self.bytes));
            }
            Part::RowWithNulls(row) => {
                self.bytes.push(0xD2);
                let mut nulls = vec![0u8; row.len().div_ceil(8)];
                for (place, _) in row.iter().enumerate().filter(|(_, value)| **value == Datum::Null) {
                    nulls[place / 8] |= 1 << (place % 8);
                }
                self.bytes.extend(nulls);
                let present = self.columns.iter().zip(row).filter(|(_, value)| **value != Datum::Null);
                present.for_each(|(kind, value)| kind.write(value, &mut self.bytes));
            }
            Part::Count(rows) => self.done(end, MORE | COUNTED, *rows),
            Part::Error { number, severity, procedure, line, message } => {
                self.said(0xAA, *number, *severity, message, procedure, *line);
                self.done(end, MORE | FAILED, 0);
            }
            Part::Message(message) => {
                let number = if message.ends_with("percent processed.") { 3211 } else { 5701 };
                self.said(0xAB, number, 0, message, "", 1);
            }
            Part::Raw(bytes) => self.bytes.extend(bytes),
            Part::Silence | Part::Late | Part::Close => {}
        }
    }

    fn said(&mut self, token: u8, number: u32, severity: u8, message: &str, procedure: &str, line: u32) {
        let mut body = number.to_le_bytes().to_vec();
        body.extend([3, severity]);
        body.extend((message.encode_utf16().count() as u16).to_le_bytes());
        body.extend(message.encode_utf16().flat_map(u16::to_le_bytes));
        short("server", &mut body);
        short(procedure, &mut body);
        body.extend(line.to_le_bytes());
        self.long(token, &body);
    }
}
