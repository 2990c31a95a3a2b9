//! Appends one chunk to its table and sums up what was sent.

use crate::workloads::blocking_session::BlockingSession;
use crate::workloads::warehouse::data::{Cell, Chunk, Content, Date, Kind, MOST_COLUMNS, Row, Rows, Table};
use crate::workloads::warehouse::suite::Dates;
use proofload_engine::{Column, ColumnKind, Decimal, RowSource, Session as _, Table as Shape, Value};
use proofload_model::error::Error;
use std::fmt::Write as _;

/// Microseconds of a day.
const DAY_US: i64 = 86_400_000_000;

/// The rows of a chunk, handed out one by one.
struct ChunkRowSource {
    table: Table,
    rows: Rows,
    row: Row,
    dates: Dates,
    /// ISO dates of the row, where dates go as text.
    texts: [String; MOST_COLUMNS],
    content: Content,
    expected: u64,
}

impl RowSource for ChunkRowSource {
    fn expected(&self) -> Option<u64> {
        Some(self.expected)
    }

    fn next(&mut self, sink: &mut dyn FnMut(&[Value<'_>])) -> bool {
        if !self.rows.next(&mut self.row) {
            return false;
        }
        self.content.add(self.table, &self.row);
        if self.dates == Dates::Text {
            self.write_dates();
        }
        let mut values = [Value::Null; MOST_COLUMNS];
        let width = self.row.width();
        for (column, value) in values.iter_mut().enumerate().take(width) {
            *value = match self.row.cell(column) {
                Cell::Integer(value) => Value::Integer(value),
                Cell::Decimal(units) => Value::Decimal(Decimal { units, scale: 2 }),
                Cell::Date(_) if self.dates == Dates::Text => Value::Text(&self.texts[column]),
                Cell::Date(Date(days)) => Value::Time(i64::from(days) * DAY_US),
                Cell::Text(text) => Value::Text(text),
            };
        }
        sink(&values[..width]);
        true
    }
}

impl ChunkRowSource {
    fn write_dates(&mut self) {
        for column in 0..self.row.width() {
            if let Cell::Date(date) = self.row.cell(column) {
                self.texts[column].clear();
                write!(self.texts[column], "{date}").expect("a text in memory takes everything");
            }
        }
    }
}

/// Appends the rows of a chunk in the open transaction; returns what they come to.
pub(super) fn append(session: &mut BlockingSession, chunk: Chunk, scale: f64, dates: Dates) -> Result<Content, Error> {
    let columns: Vec<Column<'_>> =
        chunk.table.columns().iter().map(|(name, kind)| Column { name, kind: sent(*kind, dates) }).collect();
    let shape = Shape { name: chunk.table.name(), columns: &columns };
    let mut source = ChunkRowSource {
        table: chunk.table,
        rows: chunk.rows(scale),
        row: Row::new(),
        dates,
        texts: Default::default(),
        content: Content::default(),
        expected: chunk.expected_rows(scale),
    };
    let taken = session.runtime.block_on(session.session.append(&shape, &mut source))?;
    if taken != source.content.rows {
        return Err(Error::new(format!("the engine accepted {taken} rows, but {} were sent", source.content.rows)));
    }
    Ok(source.content)
}

/// Kind in which a column's values are sent.
fn sent(kind: Kind, dates: Dates) -> ColumnKind {
    match kind {
        Kind::Integer => ColumnKind::Integer { bits: 32 },
        Kind::Long => ColumnKind::Integer { bits: 64 },
        Kind::Decimal | Kind::Quantity => ColumnKind::Decimal { scale: 2 },
        Kind::Date if dates == Dates::Native => ColumnKind::Date,
        Kind::Text | Kind::Date => ColumnKind::Text,
    }
}
