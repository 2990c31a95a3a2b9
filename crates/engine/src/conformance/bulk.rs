//! Rows that are appended in bulk are there as they were given, all or nothing.

use super::bench::{Bench, cents};
use super::checks::CheckResult;
use super::expect::{equal, refused_as, some};
use crate::contract::{
    AsciiText, Column, ColumnKind, Error, ErrorClass, OwnedRow, OwnedValue, RowSource, Session as _, Table, Value,
};

/// The table of bulk rows.
pub(super) const BULK: Table<'_> = Table {
    name: "bulk",
    columns: &[
        Column { name: "id", kind: ColumnKind::Integer { bits: 32 } },
        Column { name: "big", kind: ColumnKind::Integer { bits: 64 } },
        Column { name: "amount", kind: ColumnKind::Decimal { scale: 2 } },
        Column { name: "name", kind: ColumnKind::Text },
        Column { name: "moment", kind: ColumnKind::Time },
    ],
};

/// Rows `next..end`; every seventh has nulls, and every other a text that is said to be ASCII.
pub(super) struct BulkRows {
    pub(super) next: i64,
    pub(super) end: i64,
}

impl RowSource for BulkRows {
    fn next(&mut self, sink: &mut dyn FnMut(&[Value<'_>])) -> bool {
        if self.next == self.end {
            return false;
        }
        let id = self.next;
        let name = if id % 2 == 0 { format!("row {id} ä") } else { format!("row {id}") };
        let name = if id % 2 == 0 { Value::Text(&name) } else { Value::Ascii(AsciiText(name.as_bytes())) };
        if id % 7 == 0 {
            sink(&[Value::Integer(id), Value::Null, Value::Null, Value::Null, Value::Null]);
        } else {
            let amount = cents(id * 1001 - 5_000_000);
            sink(&[Value::Integer(id), Value::Integer(-id), amount, name, Value::Time(id * 1_000_003)]);
        }
        self.next += 1;
        true
    }
}

fn cell(row: Option<&OwnedRow>, column: usize) -> Result<&OwnedValue, Error> {
    some("a column of a row", row.and_then(|row| row.get(column)))
}

pub(super) async fn append(bench: &Bench<'_>) -> Result<CheckResult, Error> {
    let mut session = bench.connect().await?;
    equal("rows appended", session.append(&BULK, &mut BulkRows { next: 0, end: 20_000 }).await?, 20_000)?;
    let rows = session.query("SELECT count(*), count(name), sum(big), sum(amount) FROM bulk").await?;
    let kept = (0..20_000i64).filter(|id| id % 7 != 0);
    let value = |column: usize| cell(rows.first(), column).map(OwnedValue::as_value);
    equal("rows", value(0)?.integer(), Some(20_000))?;
    equal("rows without nulls", value(1)?.integer(), Some(kept.clone().count() as i64))?;
    equal("the sum of integers", value(2)?.integer(), Some(-kept.clone().sum::<i64>()))?;
    equal("the sum of decimals", value(3)?.units(2), Some(kept.map(|id| id * 1001 - 5_000_000).sum()))?;
    let rows = session.query("SELECT id, name, moment FROM bulk WHERE id IN (4, 5, 7) ORDER BY id").await?;
    let (full, empty) = (rows.first(), rows.get(2));
    equal("a text", cell(full, 1)?, &OwnedValue::Text("row 4 ä".to_owned()))?;
    equal("an ASCII text", cell(rows.get(1), 1)?, &OwnedValue::Text("row 5".to_owned()))?;
    equal("a time", cell(full, 2)?.as_value().integer(), Some(4_000_012))?;
    equal("nulls", (cell(empty, 1)?, cell(empty, 2)?), (&OwnedValue::Null, &OwnedValue::Null))?;
    Ok(CheckResult::Kept)
}

pub(super) async fn append_is_atomic(bench: &Bench<'_>) -> Result<CheckResult, Error> {
    let mut session = bench.connect().await?;
    let taken = session.append(&BULK, &mut BulkRows { next: 19_990, end: 20_010 }).await;
    refused_as("keys that are taken", taken, ErrorClass::Data)?;
    session.script("BEGIN").await?;
    equal("rows appended", session.append(&BULK, &mut BulkRows { next: 30_000, end: 30_010 }).await?, 10)?;
    session.script("ROLLBACK").await?;
    let rows = session.query("SELECT count(*) FROM bulk").await?;
    equal("rows afterwards", cell(rows.first(), 0)?.as_value().integer(), Some(20_000))?;
    Ok(CheckResult::Kept)
}
