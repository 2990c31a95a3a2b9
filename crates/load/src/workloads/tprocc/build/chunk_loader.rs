//! Loads one chunk: draws its rows, hands them to the engine, and hashes them on the way.

use super::tables::{MOST_COLUMNS, key, shape};
use crate::workloads::blocking_session::BlockingSession;
use proofload_engine::{AsciiText, Decimal, RowSource, Session as _, Value};
use proofload_gen::tprocc::population::{
    self, Chunk, ContentHash, Hundredths, Population, Row, RowHash, RowStream, StreamVisitor, Table, TenThousandths,
    Timestamp, ValueVisitor,
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
        let mut source = TableRows::new(rows, &mut *self.more);
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

impl<'m, S: RowStream> TableRows<'m, S> {
    fn new(rows: S, more: &'m mut dyn FnMut(u64)) -> Self {
        Self { rows, content: ContentHash::default(), more }
    }

    /// The next row in an array of so many values, at least the table's columns. It is walked through once.
    #[inline]
    fn next_in<const PLACES: usize>(&mut self, sink: &mut dyn FnMut(&[Value<'_>])) -> bool {
        let Self { rows, content, more } = self;
        let Some(row) = rows.next_row() else { return false };
        let mut taken = HashedValues { hash: RowHash::new(S::Row::TABLE), values: [Value::Null; PLACES], count: 0 };
        row.visit_values(&mut taken);
        let HashedValues { hash, values, count } = taken;
        content.add(hash);
        if content.rows.is_multiple_of(ROWS_TOLD) {
            (**more)(ROWS_TOLD);
        }
        sink(&values[..count]);
        true
    }
}

impl<S: RowStream> RowSource for TableRows<'_, S> {
    fn order(&self) -> &[&str] {
        key(S::Row::TABLE)
    }

    fn next(&mut self, sink: &mut dyn FnMut(&[Value<'_>])) -> bool {
        // Every place is emptied for every row: the many rows of order lines shall not pay for the columns of customers. The width is a constant of
        // the table, so that only one of these is compiled for it.
        if const { S::Row::COLUMNS.len() <= 3 } {
            self.next_in::<3>(sink)
        } else if const { S::Row::COLUMNS.len() <= 10 } {
            self.next_in::<10>(sink)
        } else if const { S::Row::COLUMNS.len() <= 17 } {
            self.next_in::<17>(sink)
        } else {
            self.next_in::<MOST_COLUMNS>(sink)
        }
    }
}

/// The values of a row for the engine, hashed as they are taken.
struct HashedValues<'r, const PLACES: usize> {
    hash: RowHash,
    values: [Value<'r>; PLACES],
    count: usize,
}

impl<'r, const PLACES: usize> ValueVisitor<'r> for HashedValues<'r, PLACES> {
    #[inline(always)]
    fn visit(&mut self, value: population::Value<'r>) {
        self.hash.value(value);
        self.values[self.count] = engine_value(value);
        self.count += 1;
    }
}

/// A drawn value as engines take it. Texts are drawn from ASCII.
#[inline]
fn engine_value(value: population::Value<'_>) -> Value<'_> {
    match value {
        population::Value::Null => Value::Null,
        population::Value::Integer(number) => Value::Integer(number),
        population::Value::Hundredths(Hundredths(units)) => Value::Decimal(Decimal { units, scale: 2 }),
        population::Value::TenThousandths(TenThousandths(units)) => Value::Decimal(Decimal { units, scale: 4 }),
        population::Value::Timestamp(Timestamp(time)) => Value::Time(time),
        population::Value::Text(text) => Value::Ascii(AsciiText(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_gen::Seed;
    use proofload_gen::tprocc::{CLoad, Profile, Scale};

    /// Reads the keys of rows.
    struct KeysRead;

    impl StreamVisitor for KeysRead {
        type Error = String;

        fn visit<S: RowStream>(&mut self, mut rows: S) -> Result<(), String> {
            let table = S::Row::TABLE;
            let place = |name: &&str| table.columns().iter().position(|column| column.name == *name);
            let places: Vec<usize> = key(table).iter().map(|name| place(name).expect("a column")).collect();
            let mut before = Vec::new();
            while let Some(row) = rows.next_row() {
                let mut all = Vec::new();
                row.for_each_value(|value| match value {
                    population::Value::Integer(number) => all.push(number),
                    _ => all.push(0),
                });
                let now: Vec<i64> = places.iter().map(|place| all[*place]).collect();
                if !places.is_empty() && before >= now {
                    return Err(format!("{}: {now:?} comes after {before:?}", table.name()));
                }
                before = now;
            }
            Ok(())
        }
    }

    /// Compares the rows that an engine is given with the drawn ones.
    struct RowsCompared;

    impl StreamVisitor for RowsCompared {
        type Error = String;

        fn visit<S: RowStream>(&mut self, rows: S) -> Result<(), String> {
            let (table, mut told) = (S::Row::TABLE, 0_u64);
            let mut more = |rows: u64| told += rows;
            let mut source = TableRows::new(rows, &mut more);
            let mut given = ContentHash::default();
            let mut add = |values: &[Value<'_>]| {
                assert_eq!(values.len(), S::Row::COLUMNS.len(), "{}", table.name());
                let mut hash = RowHash::new(table);
                values.iter().for_each(|value| hash.value(drawn_value(*value)));
                given.add(hash);
            };
            while source.next(&mut add) {}
            let drawn = source.content;
            assert_eq!(told, drawn.rows / ROWS_TOLD * ROWS_TOLD, "{}", table.name());
            if given == drawn { Ok(()) } else { Err(format!("{}: {given:?} is not {drawn:?}", table.name())) }
        }
    }

    /// A value of an engine as it is drawn.
    fn drawn_value(value: Value<'_>) -> population::Value<'_> {
        match value {
            Value::Null => population::Value::Null,
            Value::Integer(number) => population::Value::Integer(number),
            Value::Decimal(Decimal { units, scale: 2 }) => population::Value::Hundredths(Hundredths(units)),
            Value::Decimal(Decimal { units, .. }) => population::Value::TenThousandths(TenThousandths(units)),
            Value::Time(time) => population::Value::Timestamp(Timestamp(time)),
            Value::Ascii(AsciiText(text)) => {
                assert!(text.is_ascii(), "{value:?}");
                population::Value::Text(text)
            }
            Value::Text(_) | Value::Integers(_) => panic!("no column holds such a value"),
        }
    }

    fn toy_population() -> Population {
        let (seed, profile) = (Seed(1), Profile::SPEC);
        Population { seed, profile, scale: Scale::TOY, c_load: CLoad::draw(seed, &profile), loaded_at: Timestamp(0) }
    }

    #[test]
    fn engines_are_given_the_rows_that_are_hashed() {
        for chunk in Chunk::all(2) {
            toy_population().visit(chunk, &mut RowsCompared).unwrap();
        }
    }

    /// An engine that is told the order does not sort, and refuses rows out of it.
    #[test]
    fn rows_come_in_the_order_of_their_keys() {
        for chunk in Chunk::all(2) {
            toy_population().visit(chunk, &mut KeysRead).unwrap();
        }
    }
}
