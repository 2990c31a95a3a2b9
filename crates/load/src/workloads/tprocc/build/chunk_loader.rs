//! Loads one chunk: draws its rows, hands them to the engine, and hashes them on the way.

use super::tables::{MOST_COLUMNS, key, shape};
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
    /// Texts of the row, one after the other.
    texts: Vec<u8>,
    more: &'m mut dyn FnMut(u64),
}

impl<'m, S: RowStream> TableRows<'m, S> {
    fn new(rows: S, more: &'m mut dyn FnMut(u64)) -> Self {
        Self { rows, content: ContentHash::default(), texts: Vec::new(), more }
    }

    /// The next row in an array of so many values, at least the table's columns. Its texts are checked as one.
    #[inline]
    fn next_in<const PLACES: usize>(&mut self, sink: &mut dyn FnMut(&[Value<'_>])) -> bool {
        let Self { rows, content, texts, more } = self;
        let Some(row) = rows.next_row() else { return false };
        let mut hash = RowHash::new(S::Row::TABLE);
        texts.clear();
        row.for_each_value(|value| {
            hash.value(value);
            if let population::Value::Text(text) = value {
                texts.extend_from_slice(text);
            }
        });
        content.add(hash);
        if content.rows.is_multiple_of(ROWS_TOLD) {
            (**more)(ROWS_TOLD);
        }
        let mut texts = str::from_utf8(texts).expect("texts are drawn from ASCII");
        let (mut values, mut count) = ([Value::Null; PLACES], 0);
        row.for_each_value(|value| {
            values[count] = engine_value(value, &mut texts);
            count += 1;
        });
        sink(&values[..count]);
        true
    }
}

impl<S: RowStream> RowSource for TableRows<'_, S> {
    fn order(&self) -> &[&str] {
        key(S::Row::TABLE)
    }

    fn next(&mut self, sink: &mut dyn FnMut(&[Value<'_>])) -> bool {
        // Every place is emptied for every row: the many rows of order lines shall not pay for the columns of customers.
        match S::Row::COLUMNS.len() {
            0..=3 => self.next_in::<3>(sink),
            4..=10 => self.next_in::<10>(sink),
            11..=17 => self.next_in::<17>(sink),
            _ => self.next_in::<MOST_COLUMNS>(sink),
        }
    }
}

/// A drawn value as engines take it; a text is the next of `texts`, which starts with it.
#[inline]
fn engine_value<'t>(value: population::Value<'_>, texts: &mut &'t str) -> Value<'t> {
    match value {
        population::Value::Null => Value::Null,
        population::Value::Integer(number) => Value::Integer(number),
        population::Value::Hundredths(Hundredths(units)) => Value::Decimal(Decimal { units, scale: 2 }),
        population::Value::TenThousandths(TenThousandths(units)) => Value::Decimal(Decimal { units, scale: 4 }),
        population::Value::Timestamp(Timestamp(time)) => Value::Time(time),
        population::Value::Text(text) => {
            let (text, rest) = texts.split_at(text.len());
            *texts = rest;
            Value::Text(text)
        }
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
            Value::Text(text) => population::Value::Text(text.as_bytes()),
            Value::Integers(_) => panic!("no column holds a list"),
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
