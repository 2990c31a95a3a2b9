//! SHA-256 over rows: each value with its type and length, so that no two different rows hash alike. May not know tables.

use rusqlite::types::ValueRef;
use rusqlite::{Params, Row, Statement};
use sha2::{Digest as _, Sha256};

/// A hash that grows.
#[derive(Clone)]
pub(crate) struct Digest(Sha256);

impl Digest {
    pub(crate) fn new() -> Self {
        Self(Sha256::new())
    }

    /// Absorbs bytes as they are: a name whose place fixes its end.
    pub(crate) fn bare(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
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
        for column in first..row.as_ref().column_count() {
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
        self.0.update([tag]);
        self.0.update((bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }

    fn fixed(&mut self, tag: u8, bytes: [u8; 8]) {
        self.0.update([tag]);
        self.0.update(bytes);
    }

    /// Gives the hash in hexadecimal digits.
    pub(crate) fn hexadecimal(self) -> String {
        self.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}
