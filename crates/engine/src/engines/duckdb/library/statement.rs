//! Prepared statements: made, bound, run.

use super::column::VectorColumn;
use super::connection::{Connection, Handle, error_of, sql_text};
use super::functions::{Index, RawDecimal, RawHuge, RawPrepared, RawResult, RawTimestamp, SUCCESS, State, text};
use super::rows::Rows;
use std::ptr;
use std::sync::Arc;

/// `duckdb_statement_type` of statements that return the rows asked for: select, explain, execute, pragma, call, relation.
const QUERIES: &[u32] = &[1, 4, 8, 17, 19, 22];
/// Likewise of those that change rows and return some only when told so: insert, update, delete, merge.
const CHANGES: &[u32] = &[2, 3, 5, 30];
/// The one column that a change returns when it was not told to return rows.
const COUNT: &str = "Count";
/// The one column of a statement that DuckDB cannot plan before it knows its parameters' types.
const UNKNOWN: &str = "unknown";
/// Digits of the widest decimal that fits 64 bits.
const WIDTH: u8 = 18;

/// A value to bind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in super::super) enum BindValue<'a> {
    /// SQL null.
    Null,
    /// An integer.
    Integer(i64),
    /// An exact decimal: units and digits after the point.
    Decimal(i64, u8),
    /// Microseconds since the epoch.
    Time(i64),
    /// Text.
    Text(&'a str),
}

/// A prepared statement.
#[derive(Debug)]
pub(in super::super) struct PreparedStatement {
    handle: Arc<Handle>,
    raw: *mut RawPrepared,
    columns: Vec<VectorColumn>,
}

impl Connection {
    /// Prepares one statement.
    pub(in super::super) fn prepare(&self, sql: &str) -> Result<PreparedStatement, String> {
        let sql = sql_text(sql)?;
        let functions = self.handle.functions();
        let mut prepared = PreparedStatement { handle: self.handle.clone(), raw: ptr::null_mut(), columns: Vec::new() };
        // SAFETY: the connection is open, the text ends with a zero byte, the place is ours.
        let state = unsafe { (functions.prepare)(self.handle.raw, sql.as_ptr(), &raw mut prepared.raw) };
        if state == SUCCESS {
            return Ok(prepared);
        }
        // SAFETY: the statement was written by the call that failed; its text ends with a zero byte and lives as long as it.
        Err(unsafe { text((functions.prepare_error)(prepared.raw), "DuckDB gave no reason") })
    }
}

impl PreparedStatement {
    /// Number of parameters.
    pub(in super::super) fn parameters(&self) -> usize {
        // SAFETY: the statement is ours.
        (unsafe { (self.handle.functions().nparams)(self.raw) }) as usize
    }

    /// Number of columns of the rows it returns, 0 when it returns no rows; `None` when that shows only when it runs.
    pub(in super::super) fn width(&self) -> Option<usize> {
        let functions = self.handle.functions();
        // SAFETY: the statement is ours.
        let (kind, width) = unsafe {
            ((functions.prepared_statement_type)(self.raw), (functions.prepared_statement_column_count)(self.raw))
        };
        let name = if width == 1 { self.first_name() } else { String::new() };
        let returns = QUERIES.contains(&kind) || (CHANGES.contains(&kind) && name != COUNT);
        (name != UNKNOWN).then_some(if returns { width as usize } else { 0 })
    }

    fn first_name(&self) -> String {
        let functions = self.handle.functions();
        // SAFETY: the statement is ours, and so is the text that comes back, which ends with a zero byte.
        unsafe {
            let name = (functions.prepared_statement_column_name)(self.raw, 0);
            let copy = text(name, "");
            (functions.free)(name.cast_mut().cast());
            copy
        }
    }

    /// Binds the parameter `$place`, from 1.
    #[inline]
    pub(in super::super) fn bind(&mut self, place: usize, value: BindValue<'_>) -> Result<(), String> {
        if self.bind_raw(place as Index, value) == SUCCESS {
            return Ok(());
        }
        // SAFETY: the statement is ours; its text ends with a zero byte and lives as long as it.
        Err(unsafe { text((self.handle.functions().prepare_error)(self.raw), "no such parameter") })
    }

    #[inline]
    fn bind_raw(&mut self, place: Index, value: BindValue<'_>) -> State {
        let functions = self.handle.functions();
        // SAFETY: the statement is ours; DuckDB checks the place and copies the value, texts by the length given.
        unsafe {
            match value {
                BindValue::Null => (functions.bind_null)(self.raw, place),
                BindValue::Integer(value) => (functions.bind_int64)(self.raw, place, value),
                BindValue::Decimal(units, scale) => (functions.bind_decimal)(self.raw, place, decimal(units, scale)),
                BindValue::Time(micros) => (functions.bind_timestamp)(self.raw, place, RawTimestamp(micros)),
                BindValue::Text(value) => {
                    (functions.bind_varchar_length)(self.raw, place, value.as_ptr().cast(), value.len() as Index)
                }
            }
        }
    }

    /// Runs it to its end; the whole result is kept by DuckDB, within its memory limit.
    #[inline]
    pub(in super::super) fn execute(&mut self) -> Result<Rows<'_>, String> {
        let functions = self.handle.functions();
        let mut result = RawResult::EMPTY;
        // SAFETY: the statement is ours, the place for the result too.
        if unsafe { (functions.execute_prepared)(self.raw, &raw mut result) } == SUCCESS {
            return Ok(Rows::new(functions, result, &mut self.columns));
        }
        let reason = error_of(functions, &mut result);
        // SAFETY: the result was written by the call above, also when it failed; not used again.
        unsafe { (functions.destroy_result)(&raw mut result) };
        Err(reason)
    }
}

impl Drop for PreparedStatement {
    fn drop(&mut self) {
        // SAFETY: the statement is ours and not used again; results hold what they need of it. Null is passed over.
        unsafe { (self.handle.functions().destroy_prepare)(&raw mut self.raw) };
    }
}

/// DuckDB's form of a decimal.
#[inline]
fn decimal(units: i64, scale: u8) -> RawDecimal {
    let value = RawHuge { lower: units as u64, upper: -i64::from(units < 0) };
    // Nineteen digits need the next wider form.
    let width = if units.unsigned_abs() < 10u64.pow(u32::from(WIDTH)) { WIDTH } else { WIDTH + 1 };
    RawDecimal { width, scale, value }
}
