//! A session of the null engine. Allocates nothing per flight once the flight's memory has grown.

use crate::contract::{Action, Error, Flight, OwnedRow, RowSource, Statement, Table, Value};
use std::time::Duration;

/// A connection to nothing.
#[derive(Debug)]
pub struct NullSession {
    service_time: Duration,
    widths: Vec<u16>,
}

impl NullSession {
    pub(super) fn new(service_time: Duration) -> Self {
        Self { service_time, widths: Vec::new() }
    }

    /// One row of ones for each statement, one row affected.
    fn answer(&self, flight: &mut Flight) -> Result<(), Error> {
        for index in 0..flight.len() {
            let Action::Run(statement) = flight.action(index) else { continue };
            let width = *self.widths.get(usize::from(statement.0)).ok_or_else(|| {
                Error::other(format!(
                    "failed to run statement {}: only {} are prepared",
                    statement.0,
                    self.widths.len()
                ))
            })?;
            flight.start_answer(index, usize::from(width));
            flight.answer_repeated(index, Value::Integer(1), usize::from(width));
            flight.end_answer(index, 1);
        }
        Ok(())
    }
}

impl crate::contract::Session for NullSession {
    async fn prepare(&mut self, statements: &[Statement]) -> Result<(), Error> {
        self.widths = statements.iter().map(|statement| statement.columns).collect();
        Ok(())
    }

    async fn fly(&mut self, flight: &mut Flight) -> Result<(), Error> {
        if !self.service_time.is_zero() {
            tokio::time::sleep(self.service_time).await;
        }
        self.answer(flight)
    }

    async fn query(&mut self, _sql: &str) -> Result<Vec<OwnedRow>, Error> {
        Ok(Vec::new())
    }

    async fn script(&mut self, _sql: &str) -> Result<(), Error> {
        Ok(())
    }

    async fn append(&mut self, _table: &Table<'_>, rows: &mut dyn RowSource) -> Result<u64, Error> {
        let mut count = 0;
        while rows.next(&mut |_| count += 1) {}
        Ok(count)
    }
}
