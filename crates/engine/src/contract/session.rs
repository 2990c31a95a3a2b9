//! A session: one connection of one virtual user, loader or checker.

use super::error::Error;
use super::flight::Flight;
use super::rows::{RowSource, Table};
use super::statement::Statement;
use super::value::Value;
use proofload_model::samples::Reading;

/// A row of a cold query, owned.
pub type OwnedRow = Vec<OwnedValue>;

/// A value of a cold query, owned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OwnedValue {
    /// SQL null.
    Null,
    /// Integer.
    Integer(i64),
    /// Decimal.
    Decimal(super::value::Decimal),
    /// Text.
    Text(String),
    /// Microseconds since the epoch.
    Time(i64),
    /// Integers in their order.
    Integers(Vec<i32>),
}

impl From<Value<'_>> for OwnedValue {
    fn from(value: Value<'_>) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Integer(value) => Self::Integer(value),
            Value::Decimal(value) => Self::Decimal(value),
            Value::Text(value) => Self::Text(value.to_owned()),
            Value::Ascii(value) => Self::Text(String::from_utf8_lossy(value.0).into_owned()),
            Value::Time(value) => Self::Time(value),
            Value::Integers(list) => Self::Integers(list.to_vec()),
        }
    }
}

impl OwnedValue {
    /// Borrowed form.
    pub fn as_value(&self) -> Value<'_> {
        match self {
            Self::Null => Value::Null,
            Self::Integer(value) => Value::Integer(*value),
            Self::Decimal(value) => Value::Decimal(*value),
            Self::Text(value) => Value::Text(value),
            Self::Time(value) => Value::Time(*value),
            Self::Integers(list) => Value::Integers(list),
        }
    }
}

/// One connection. Not `Send`: it belongs to its client thread.
#[expect(async_fn_in_trait, reason = "sessions stay on their client thread, so no Send bound is wanted")]
pub trait Session {
    /// Prepares statements; statement `i` gets `StatementId(i)`. Called once, before the load.
    async fn prepare(&mut self, statements: &[Statement]) -> Result<(), Error>;

    /// Runs the flight's calls in order and fills in the answers; the error is that of the first call that failed. A transaction
    /// is then spoilt: none of its calls takes effect, a later `Commit` is refused, and the next flight's `Rollback` (harmless
    /// when nothing is open) or the engine itself ends it. Outside a transaction, an engine that pipelines may still run the
    /// calls after the failed one. An error of class `ConnectionLost` of a flight with a `Commit` means: outcome unknown.
    async fn fly(&mut self, flight: &mut Flight) -> Result<(), Error>;

    /// Runs one query outside the hot path and returns all rows.
    async fn query(&mut self, sql: &str) -> Result<Vec<OwnedRow>, Error>;

    /// Runs statements outside the hot path, separated by semicolons.
    async fn script(&mut self, sql: &str) -> Result<(), Error>;

    /// Appends rows by the fastest way that the engine has, inside the open transaction if there is one; returns their number.
    async fn append(&mut self, table: &Table<'_>, rows: &mut dyn RowSource) -> Result<u64, Error>;

    /// Tells whether the instance takes writes at this time, as a standby does once it was promoted; true where an engine has no standbys.
    async fn takes_writes(&mut self) -> Result<bool, Error> {
        Ok(true)
    }

    /// Tells, without waiting, whether the connection has ended, so that nothing is sent in vain; false where that cannot be known.
    fn has_ended(&mut self) -> bool {
        false
    }

    /// Tells whether the server has warned since this was last asked; false where it cannot.
    fn take_warning(&mut self) -> bool {
        false
    }

    /// Counters of an embedded engine since the last call (differences), such as cache hits; nothing for servers.
    fn counters(&mut self, _into: &mut Vec<Reading>) {}
}
