//! A connection, its whole texts of SQL, and the one thing that another thread may do to it: interrupt it.

use super::database::Database;
use super::functions::{Functions, RawConnection, RawResult, SUCCESS, text};
use std::ffi::CString;
use std::marker::PhantomData;
use std::ptr;
use std::sync::Arc;

/// The handle of a connection, which its statements and its interrupter hold too.
#[derive(Debug)]
pub(super) struct Handle {
    database: Arc<Database>,
    pub(super) raw: *mut RawConnection,
}

// SAFETY: what works on a connection is reachable only through `Connection`, `PreparedStatement` and `Appender`, which stay on one
// thread; other threads hold an `Interrupter`. DuckDB does not mind on which thread a connection is closed.
unsafe impl Send for Handle {}
// SAFETY: as above; `duckdb_interrupt` is made to be called while another thread runs a statement.
unsafe impl Sync for Handle {}

impl Handle {
    pub(super) fn functions(&self) -> &'static Functions {
        self.database.functions
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: the last holder is gone, so no statement, appender or interrupt uses the connection.
        unsafe { (self.functions().disconnect)(&raw mut self.raw) };
    }
}

/// A connection; stays on its thread.
#[derive(Debug)]
pub(in super::super) struct Connection {
    pub(super) handle: Arc<Handle>,
    here: PhantomData<*const ()>,
}

impl Connection {
    /// Connects; the error is a text.
    pub(in super::super) fn open(database: Arc<Database>) -> Result<Self, String> {
        let mut raw = ptr::null_mut();
        // SAFETY: the database is open as long as its owner lives; the place is ours.
        let state = unsafe { (database.functions.connect)(database.raw, &raw mut raw) };
        if state != SUCCESS {
            return Err("DuckDB refused the connection and gave no reason".to_owned());
        }
        Ok(Self { handle: Arc::new(Handle { database, raw }), here: PhantomData })
    }

    /// Runs statements separated by semicolons, and forgets what they return.
    pub(in super::super) fn run(&self, sql: &str) -> Result<(), String> {
        let functions = self.handle.functions();
        let sql = sql_text(sql)?;
        let mut result = RawResult::EMPTY;
        // SAFETY: the connection is open, the text ends with a zero byte, the place for the result is ours.
        let state = unsafe { (functions.query)(self.handle.raw, sql.as_ptr(), &raw mut result) };
        let outcome = if state == SUCCESS { Ok(()) } else { Err(error_of(functions, &mut result)) };
        // SAFETY: written by the call above, also when it failed; not used again.
        unsafe { (functions.destroy_result)(&raw mut result) };
        outcome
    }

    /// What another thread needs to interrupt this connection.
    pub(in super::super) fn interrupter(&self) -> Interrupter {
        Interrupter(self.handle.clone())
    }
}

/// Interrupts what a connection runs.
#[derive(Debug)]
pub(in super::super) struct Interrupter(Arc<Handle>);

impl Interrupter {
    /// Ends the running statement with an error; nothing when none runs.
    pub(in super::super) fn interrupt(&self) {
        // SAFETY: the handle keeps the connection open; DuckDB sets an atomic flag.
        unsafe { (self.0.functions().interrupt)(self.0.raw) };
    }
}

/// SQL with a zero byte at its end.
pub(super) fn sql_text(sql: &str) -> Result<CString, String> {
    CString::new(sql).map_err(|_| "the SQL contains a NUL byte".to_owned())
}

/// The error of a result that failed.
pub(super) fn error_of(functions: &Functions, result: &mut RawResult) -> String {
    // SAFETY: the result was written by a call that failed; its text ends with a zero byte and lives as long as it.
    unsafe { text((functions.result_error)(result), "DuckDB gave no reason") }
}
