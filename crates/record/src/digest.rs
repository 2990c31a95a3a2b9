//! SHA-256 over rows: each value with its type and length, so that no two different rows hash alike. May not know tables.

use rusqlite::types::ValueRef;
use rusqlite::{Params, Row, Statement};
use sha2::{Digest as _, Sha256};
use std::ops::Range;

/// Bytes that are hashed at once: values are a few bytes each, and a hash is called per value a hundred million times for a day of load.
const PART: usize = 1 << 12;

/// A hash that grows.
#[derive(Clone)]
pub(crate) struct Digest {
    hash: Sha256,
    /// What is not hashed yet.
    pending: Vec<u8>,
}

impl Digest {
    pub(crate) fn new() -> Self {
        Self { hash: Sha256::new(), pending: Vec::new() }
    }

    /// Absorbs bytes as they are: a name whose place fixes its end.
    pub(crate) fn bare(&mut self, bytes: &[u8]) {
        self.pending.extend_from_slice(bytes);
        self.hash_part();
    }

    /// Absorbs a text with its length.
    pub(crate) fn text(&mut self, text: &str) {
        self.value(ValueRef::Text(text.as_bytes()));
    }

    /// Absorbs a number.
    pub(crate) fn number(&mut self, number: i64) {
        self.value(ValueRef::Integer(number));
    }

    /// Absorbs the columns of a row from the first one on that is asked for.
    pub(crate) fn row(&mut self, row: &Row<'_>, first: usize) -> rusqlite::Result<()> {
        self.columns(row, first..row.as_ref().column_count())
    }

    /// Absorbs some columns of a row.
    pub(crate) fn columns(&mut self, row: &Row<'_>, columns: Range<usize>) -> rusqlite::Result<()> {
        for column in columns {
            self.value(row.get_ref(column)?);
        }
        Ok(())
    }

    /// Absorbs every row of a statement; gives their number.
    pub(crate) fn rows(&mut self, statement: &mut Statement<'_>, parameters: impl Params) -> rusqlite::Result<u64> {
        let (mut rows, mut count) = (statement.query(parameters)?, 0);
        while let Some(row) = rows.next()? {
            self.row(row, 0)?;
            count += 1;
        }
        Ok(count)
    }

    fn value(&mut self, value: ValueRef<'_>) {
        let (tag, bytes): (u8, &[u8]) = match value {
            ValueRef::Null => (0, &[]),
            ValueRef::Integer(number) => return self.fixed(1, number.to_le_bytes()),
            ValueRef::Real(number) => return self.fixed(2, number.to_le_bytes()),
            ValueRef::Text(bytes) => (3, bytes),
            ValueRef::Blob(bytes) => (4, bytes),
        };
        self.pending.push(tag);
        self.pending.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        self.pending.extend_from_slice(bytes);
        self.hash_part();
    }

    fn fixed(&mut self, tag: u8, bytes: [u8; 8]) {
        self.pending.push(tag);
        self.pending.extend_from_slice(&bytes);
        self.hash_part();
    }

    fn hash_part(&mut self) {
        if self.pending.len() >= PART {
            self.hash.update(&self.pending);
            self.pending.clear();
        }
    }

    /// Gives the hash in hexadecimal digits.
    pub(crate) fn hexadecimal(mut self) -> String {
        self.hash.update(&self.pending);
        self.hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}
