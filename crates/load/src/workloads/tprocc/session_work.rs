//! Session and work space of a virtual user: two flights whose memory is reused, and buffers. Allocates nothing per
//! transaction once the memory has grown.

use super::session_opener::SessionOpener;
use super::settings::{Form, TproccSettings};
use proofload_engine::{AnySession, Control, Error, ErrorClass, Flight, Row, Session, Value};
use proofload_gen::tprocc::Departures;
use proofload_model::time::Clock;
use std::sync::Arc;

/// A virtual user's means.
pub(super) struct SessionWork {
    /// The session, with the statements of [`statements`](super::statements) prepared.
    pub(super) session: AnySession,
    opener: Arc<SessionOpener>,
    /// Calls of the flight before; its answers are read while the next flight is filled.
    pub(super) first: Flight,
    /// Calls of the next flight.
    pub(super) second: Flight,
    /// c_data, being rewritten.
    pub(super) c_data: String,
    /// h_data, being put together.
    pub(super) h_data: String,
    /// The clock that dates orders, payments and deliveries.
    pub(super) clock: Arc<dyn Clock>,
    /// Form in which transactions reach the engine.
    pub(super) form: Form,
    /// Whether New-Order and Payment as statements take one flight.
    pub(super) in_one_flight: bool,
    /// Departures of the transactions from the clauses.
    pub(super) departures: Departures,
    /// Whether the engine keeps data. One that does not answers everything with ones, from which nothing can be
    /// concluded.
    pub(super) keeps_data: bool,
}

impl SessionWork {
    /// A work space with a new session.
    pub(super) async fn open(
        opener: Arc<SessionOpener>,
        settings: &TproccSettings,
        clock: Arc<dyn Clock>,
        keeps_data: bool,
    ) -> Result<Self, Error> {
        Ok(Self {
            session: opener.session().await?,
            in_one_flight: opener.in_one_flight,
            opener,
            first: Flight::new(),
            second: Flight::new(),
            c_data: String::with_capacity(1024),
            h_data: String::with_capacity(64),
            clock,
            form: settings.form,
            departures: settings.profile.departures,
            keeps_data,
        })
    }

    /// Opens a session in the place of one that was lost.
    pub(super) async fn reconnect(&mut self) -> Result<(), Error> {
        self.session = self.opener.session().await?;
        Ok(())
    }

    /// Now, for date columns.
    pub(super) fn date(&self) -> Value<'static> {
        Value::Time(self.clock.wall().0)
    }

    /// Flies the first flight.
    pub(super) async fn fly_first(&mut self) -> Result<(), Error> {
        self.session.fly(&mut self.first).await
    }

    /// Flies the second flight.
    pub(super) async fn fly_second(&mut self) -> Result<(), Error> {
        self.session.fly(&mut self.second).await
    }

    /// Rolls back what an error has left open.
    pub(super) async fn roll_back(&mut self) -> Result<(), Error> {
        self.first.clear();
        self.first.control(Control::Rollback);
        self.session.fly(&mut self.first).await
    }
}

/// An integer parameter.
pub(super) fn int(value: i32) -> Value<'static> {
    Value::Integer(value.into())
}

/// The one row that a call must have brought.
pub(super) fn only<'a>(flight: &'a Flight, call: usize, what: &str) -> Result<Row<'a>, Error> {
    flight.row(call, 0).ok_or_else(|| wrong(format!("no such row of {what}")))
}

/// Values of a row, checked: a null or another kind is an error of the data.
pub(super) trait Columns<'a> {
    /// A count or key of 32 bits.
    fn int(&self, column: usize) -> Result<i32, Error>;
    /// Units of a decimal of this scale.
    fn units(&self, column: usize, scale: u8) -> Result<i64, Error>;
    /// A text. Integers, as the null engine has, count as empty texts.
    fn text(&self, column: usize) -> Result<&'a str, Error>;
    /// Fails unless the columns from `first` on hold values: they must have come back, and nobody looks at them.
    fn present(&self, first: usize) -> Result<(), Error>;
}

impl<'a> Columns<'a> for Row<'a> {
    fn int(&self, column: usize) -> Result<i32, Error> {
        let value = self.value(column).integer().and_then(|value| i32::try_from(value).ok());
        value.ok_or_else(|| unfit(self, column, "a 32-bit integer"))
    }

    fn units(&self, column: usize, scale: u8) -> Result<i64, Error> {
        self.value(column).units(scale).ok_or_else(|| unfit(self, column, "a decimal"))
    }

    fn text(&self, column: usize) -> Result<&'a str, Error> {
        match self.value(column) {
            Value::Text(text) => Ok(text),
            Value::Integer(_) => Ok(""),
            _ => Err(unfit(self, column, "text")),
        }
    }

    fn present(&self, first: usize) -> Result<(), Error> {
        match (first..self.width()).find(|column| self.value(*column) == Value::Null) {
            Some(column) => Err(unfit(self, column, "a value")),
            None => Ok(()),
        }
    }
}

/// An error of the data: stops the user.
pub(super) fn wrong(text: String) -> Error {
    Error::new(ErrorClass::Data, "", text)
}

fn unfit(row: &Row<'_>, column: usize, wanted: &str) -> Error {
    wrong(format!("column {} of an answer is {:?}, but must be {wanted}", column + 1, row.value(column)))
}
