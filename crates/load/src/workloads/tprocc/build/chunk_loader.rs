//! Loads one chunk: draws its rows, hands them to the engine, and hashes them on the way.

use super::tables::{MOST_COLUMNS, shape};
use crate::workloads::blocking_session::BlockingSession;
use proofload_engine::{Decimal, RowSource, Session as _, Value};
use proofload_gen::tprocc::population::{
    self, Chunk, ContentHash, Hundredths, Population, Row, RowHash, RowStream, StreamVisitor, Table, TenThousandths,
    Timestamp,
};
use proofload_model::error::Error;

/// Rows loaded into a table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part {
    pub(super) table: Table,
    pub(super) content: ContentHash,
}

/// Rows after which a loader reports progress.
const ROWS_TOLD: u64 = 4_096;

/// Loads a chunk in the open transaction; says every so often how many more rows there are.
pub(super) fn load(
    session: &mut BlockingSession,
    population: &Population,
    chunk: Chunk,
    more: &mut dyn FnMut(u64),
) -> Result<Vec<Part>, Error> {
    let mut loader = ChunkLoader { session, parts: Vec::new(), more };
    population.visit(chunk, &mut loader)?;
    Ok(loader.parts)
}

struct ChunkLoader<'d> {
    session: &'d mut BlockingSession,
    parts: Vec<Part>,
    more: &'d mut dyn FnMut(u64),
}

impl StreamVisitor for ChunkLoader<'_> {
    type Error = Error;

    fn visit<S: RowStream>(&mut self, rows: S) -> Result<(), Error> {
        let table = S::Row::TABLE;
        let mut source = TableRows { rows, content: ContentHash::default(), more: &mut *self.more };
        let BlockingSession { runtime, session } = &mut *self.session;
        let loaded = runtime.block_on(session.append(&shape(table), &mut source))?;
        if loaded != source.content.rows {
            let draws = source.content.rows;
            return Err(Error::new(format!("{}: {draws} rows were generated, but {loaded} were loaded", table.name())));
        }
        let content = source.content;
        (self.more)(content.rows % ROWS_TOLD);
        self.parts.push(Part { table, content });
        Ok(())
    }
}

/// Rows for the engine.
struct TableRows<'m, S> {
    rows: S,
    content: ContentHash,
    more: &'m mut dyn FnMut(u64),
}

impl<S: RowStream> RowSource for TableRows<'_, S> {
    fn next(&mut self, sink: &mut dyn FnMut(&[Value<'_>])) -> bool {
        let Some(row) = self.rows.next_row() else { return false };
        let (mut hash, mut values, mut count) = (RowHash::new(S::Row::TABLE), [Value::Null; MOST_COLUMNS], 0);
        row.for_each_value(|value| {
            hash.value(value);
            values[count] = engine_value(value);
            count += 1;
        });
        self.content.add(hash);
        if self.content.rows.is_multiple_of(ROWS_TOLD) {
            (self.more)(ROWS_TOLD);
        }
        sink(&values[..count]);
        true
    }
}

/// A drawn value as engines take it.
fn engine_value(value: population::Value<'_>) -> Value<'_> {
    match value {
        population::Value::Null => Value::Null,
        population::Value::Integer(number) => Value::Integer(number),
        population::Value::Hundredths(Hundredths(units)) => Value::Decimal(Decimal { units, scale: 2 }),
        population::Value::TenThousandths(TenThousandths(units)) => Value::Decimal(Decimal { units, scale: 4 }),
        population::Value::Timestamp(Timestamp(time)) => Value::Time(time),
        population::Value::Text(text) => Value::Text(text),
    }
}
