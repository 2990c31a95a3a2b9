//! The rows: how many there are and what stands in each, from the seed alone. May not touch a database.

use proofload_engine::{OwnedRow, RowSource, Value};
use proofload_gen::Seed;
use proofload_model::error::Error;
use proofload_model::settings::Settings;

/// All rows of the table, by their keys from 0 on.
#[derive(Debug, Clone, Copy)]
pub(super) struct ExampleTable {
    /// Number of rows.
    pub(super) count: u64,
    seed: Seed,
}

impl ExampleTable {
    /// The rows that resolved settings and a seed make.
    pub(super) fn read(settings: &Settings, seed: u64) -> Result<Self, Error> {
        Ok(Self { count: settings.integer("workload.rows")?.unsigned_abs(), seed: Seed(seed) })
    }

    /// Content of the row of this key.
    pub(super) fn content(self, key: u64) -> i64 {
        i64::from(self.seed.of(key).rng().between(0, i32::MAX))
    }

    /// Keys and contents in the order of keys.
    pub(super) fn all(self) -> impl Iterator<Item = (i64, i64)> {
        (0..self.count).map(move |key| (key.cast_signed(), self.content(key)))
    }

    /// The first difference between these rows and those that were found, in the order of keys; `None` when they are equal.
    pub(super) fn difference(self, found: &[OwnedRow]) -> Option<String> {
        if found.len() as u64 != self.count {
            return Some(format!("there are {} rows where {} are wanted", found.len(), self.count));
        }
        let number = |row: &OwnedRow, column: usize| row.get(column).and_then(|value| value.as_value().integer());
        let mut pairs = self.all().zip(found);
        let (wanted, row) =
            pairs.find(|((key, content), row)| number(row, 0) != Some(*key) || number(row, 1) != Some(*content))?;
        Some(format!("{row:?} stands where {wanted:?} is wanted"))
    }
}

/// ExampleTable for the engine to append.
pub(super) struct AppendedRows {
    /// All rows.
    pub(super) rows: ExampleTable,
    /// Key of the next one.
    pub(super) next: u64,
}

impl RowSource for AppendedRows {
    fn next(&mut self, sink: &mut dyn FnMut(&[Value<'_>])) -> bool {
        if self.next == self.rows.count {
            return false;
        }
        sink(&[Value::Integer(self.next.cast_signed()), Value::Integer(self.rows.content(self.next))]);
        self.next += 1;
        true
    }
}
