//! One session with a runtime of its own, for work outside the hot path: builds and checks. Blocking.

use proofload_engine::{AnySession, Engine, Error as EngineError, OwnedRow, OwnedValue, Session as _, Target};
use proofload_model::error::Error;
use tokio::runtime::{Builder, Runtime};

/// A session and its runtime.
pub(crate) struct BlockingSession {
    pub(crate) runtime: Runtime,
    pub(crate) session: AnySession,
}

impl BlockingSession {
    /// Connects.
    pub(crate) fn open(engine: &dyn Engine, target: &Target) -> Result<Self, EngineError> {
        let runtime = runtime().map_err(|error| EngineError::other(error.to_string()))?;
        let session = runtime.block_on(target.connect(async |target| engine.connect(target).await))?;
        Ok(Self { runtime, session })
    }

    /// Runs statements.
    pub(crate) fn script(&mut self, sql: &str) -> Result<(), Error> {
        Ok(self.runtime.block_on(self.session.script(sql))?)
    }

    /// Ends a transaction that failed.
    pub(in crate::workloads) fn roll_back(&mut self) {
        // Where none is open it fails or warns; a session that is lost shows itself at its next statement.
        let _none_open = self.script("ROLLBACK");
    }

    /// Runs one query.
    pub(crate) fn query(&mut self, sql: &str) -> Result<Vec<OwnedRow>, EngineError> {
        self.runtime.block_on(self.session.query(sql))
    }

    /// The one row of a query.
    pub(crate) fn one_row(&mut self, sql: &str) -> Result<OwnedRow, EngineError> {
        self.query(sql)?
            .into_iter()
            .next()
            .ok_or_else(|| EngineError::other("a query returned no row, but one is expected"))
    }
}

/// A runtime for one thread.
pub(crate) fn runtime() -> Result<Runtime, Error> {
    Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Error::new(format!("failed to start the async runtime: {error}")))
}

/// A count or key of a row.
pub(crate) fn integer(row: &OwnedRow, column: usize) -> Result<i64, Error> {
    let value = row.get(column).and_then(|value| value.as_value().integer());
    value.ok_or_else(|| Error::new(format!("column {} of a query must be a whole number: {row:?}", column + 1)))
}

/// Hundredths of a row.
pub(crate) fn hundredths(row: &OwnedRow, column: usize) -> Result<i64, Error> {
    let value = row.get(column).and_then(|value| value.as_value().units(2));
    value.ok_or_else(|| Error::new(format!("column {} of a query must be an amount: {row:?}", column + 1)))
}

/// A text of a row.
pub(crate) fn text(row: &OwnedRow, column: usize) -> Result<&str, Error> {
    match row.get(column) {
        Some(OwnedValue::Text(text)) => Ok(text),
        other => Err(Error::new(format!("column {} of a query is {other:?}, but must be text", column + 1))),
    }
}
