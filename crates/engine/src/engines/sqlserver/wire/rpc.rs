//! Calls of procedures, several in one message. Source: [MS-TDS] 2.2.6.6.

use super::connection::ServerConnection;
use super::parameters::ParameterKind;
use super::reading::encode;
use super::table::TableParameter;
use super::types::INTN;
use crate::contract::{Error, Value};

/// Mark between two calls.
const NEXT_CALL: u8 = 0xFF;

/// What is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engines::sqlserver) enum Procedure<'a> {
    /// A procedure of the database, by its name in UTF-16.
    Named(&'a [u8]),
    /// Describes a statement and gives its number.
    Prepare,
    /// Runs the statement of a number.
    Execute,
    /// Both at once.
    PrepareAndExecute,
}

/// Adds what is called, without options.
#[inline]
pub(super) fn put_procedure(procedure: Procedure<'_>, out: &mut Vec<u8>) {
    let mut number = |number: u16| {
        out.extend_from_slice(&[0xFF, 0xFF]);
        out.extend_from_slice(&number.to_le_bytes());
    };
    match procedure {
        Procedure::Named(name) => {
            out.extend_from_slice(&((name.len() / 2) as u16).to_le_bytes());
            out.extend_from_slice(name);
        }
        Procedure::Prepare => number(11),
        Procedure::Execute => number(12),
        Procedure::PrepareAndExecute => number(13),
    }
    out.extend_from_slice(&[0, 0]);
}

impl ServerConnection {
    /// Begins a call in the message; `is_first` is the one after [`ServerConnection::begin_request`].
    #[inline]
    pub(in crate::engines::sqlserver) fn begin_call(&mut self, procedure: Procedure<'_>, is_first: bool) {
        if !is_first {
            self.message.push(NEXT_CALL);
        }
        put_procedure(procedure, &mut self.message);
    }

    /// Adds a parameter.
    #[inline]
    pub(in crate::engines::sqlserver) fn put(&mut self, kind: ParameterKind, value: Value<'_>) -> Result<(), Error> {
        let collation = self.collation();
        kind.write(value, collation, &mut self.message)
    }

    /// Adds a table; a value by the numbers of its row and its column.
    #[inline]
    pub(in crate::engines::sqlserver) fn put_table(
        &mut self,
        table: &TableParameter,
        rows: usize,
        value: impl Fn(usize, usize) -> i32,
    ) {
        table.write(rows, value, &mut self.message);
    }

    /// Adds the number of a statement that is known.
    #[inline]
    pub(in crate::engines::sqlserver) fn put_handle(&mut self, handle: i32) {
        self.message.extend_from_slice(&[0, 0, INTN, 4, 4]);
        self.message.extend_from_slice(&handle.to_le_bytes());
    }

    /// Adds room for the number of a statement, which the server gives back. One that stands there is forgotten.
    pub(in crate::engines::sqlserver) fn put_handle_wanted(&mut self, old: Option<i32>) {
        self.message.extend_from_slice(&[0, 1, INTN, 4]);
        self.message.push(if old.is_some() { 4 } else { 0 });
        self.message.extend(old.into_iter().flat_map(i32::to_le_bytes));
    }

    /// Adds a text in UTF-16, of any length: the text or the declaration of a statement; nothing is null.
    pub(in crate::engines::sqlserver) fn put_statement(&mut self, text: &str) {
        self.message.extend_from_slice(&[0, 0, 0xE7, 0xFF, 0xFF]);
        let collation = self.collation();
        self.message.extend_from_slice(&collation);
        if text.is_empty() {
            self.message.extend_from_slice(&[0xFF; 8]);
            return;
        }
        let mut wide = Vec::with_capacity(2 * text.len());
        encode(text, &mut wide);
        self.message.extend_from_slice(&(wide.len() as u64).to_le_bytes());
        self.message.extend_from_slice(&(wide.len() as u32).to_le_bytes());
        self.message.extend_from_slice(&wide);
        self.message.extend_from_slice(&[0; 4]);
    }

    /// Takes back a call of the message that cannot be sent whole.
    pub(in crate::engines::sqlserver) fn forget_message(&mut self) {
        self.message.clear();
    }
}
