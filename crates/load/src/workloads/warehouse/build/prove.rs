//! Reads tables back and compares what they hold with what was sent.

use crate::workloads::blocking_session::{BlockingSession, integer, text};
use crate::workloads::warehouse::data::{Content, Date, Kind, Row, Table, key_ranges, parse_date};
use proofload_engine::{OwnedRow, OwnedValue, Statement};
use proofload_model::error::Error;

/// Microseconds of a day.
const DAY_US: i64 = 86_400_000_000;

/// Fails unless a table has as many rows as were sent; `count` is the dialect's number of rows.
pub(super) fn count(session: &mut BlockingSession, count: &str, table: Table, sent: &Content) -> Result<(), Error> {
    let name = table.name();
    let found = integer(&session.one_row(&format!("SELECT {count} FROM {name}"))?, 0)?;
    if u64::try_from(found) == Ok(sent.rows) {
        return Ok(());
    }
    Err(Error::new(format!("{name} has {found} rows, but {} were sent; the load is not complete", sent.rows)))
}

/// Fails unless all tables are stored as they should be, by these words; `otherwise` names those that are not.
pub(super) fn layout(session: &mut BlockingSession, otherwise: &Statement, words: &str) -> Result<(), Error> {
    let found = session.query(&otherwise.sql)?;
    let names: Vec<&str> = found.iter().map(|row| text(row, 0)).collect::<Result<_, _>>()?;
    if names.is_empty() {
        return Ok(());
    }
    Err(Error::new(format!("{} should be stored by {words}, but are not", names.join(", "))))
}

/// Fails unless the rows of a table are those that were sent, column by column.
pub(super) fn columns(session: &mut BlockingSession, table: Table, scale: f64, sent: &Content) -> Result<(), Error> {
    let mut found = Content::default();
    read_table(session, table, scale, |row| found.add(table, row))?;
    let differing = found.differing(sent, table);
    if differing.is_empty() && found.rows == sent.rows {
        return Ok(());
    }
    Err(Error::new(format!(
        "{} rows of {} were read back, but {} were sent; columns that differ: {}; the load is not complete",
        found.rows,
        table.name(),
        sent.rows,
        if differing.is_empty() { "none".to_owned() } else { differing.join(", ") }
    )))
}

/// Reads all rows of a table, range after range of its keys.
pub(crate) fn read_table(
    session: &mut BlockingSession,
    table: Table,
    scale: f64,
    mut take: impl FnMut(&Row),
) -> Result<(), Error> {
    let names: Vec<&str> = table.columns().iter().map(|(name, _)| *name).collect();
    let (key, names, mut row) = (names[table.key()[0]], names.join(", "), Row::new());
    for (from, to) in key_ranges(table, scale) {
        let sql = format!("SELECT {names} FROM {} WHERE {key} >= {from} AND {key} < {to}", table.name());
        for found in session.query(&sql)? {
            fill(&mut row, table, &found)
                .ok_or_else(|| Error::new(format!("a row of {} does not fit its columns: {found:?}", table.name())))?;
            take(&row);
        }
    }
    Ok(())
}

/// Puts values that were read into a row; `None` when one does not fit its column.
fn fill(row: &mut Row, table: Table, found: &OwnedRow) -> Option<()> {
    row.clear();
    for (value, (_, kind)) in found.iter().zip(table.columns()) {
        match kind {
            Kind::Integer | Kind::Long => row.integer(value.as_value().integer()?),
            Kind::Decimal | Kind::Quantity => row.decimal(value.as_value().units(2)?),
            Kind::Date => row.date(date(value)?),
            Kind::Text => match value {
                OwnedValue::Text(text) => row.text(text),
                _ => return None,
            },
        }
    }
    (row.width() == table.columns().len()).then_some(())
}

fn date(value: &OwnedValue) -> Option<Date> {
    match value {
        OwnedValue::Text(text) => parse_date(text),
        OwnedValue::Time(micros) if micros % DAY_US == 0 => Some(Date(i32::try_from(micros / DAY_US).ok()?)),
        _ => None,
    }
}
