//! Waits by event: how often all sessions waited, and how long, as totals that never fall. The server adds waits for tables up over the tables
//! that it knows, so that its own numbers fall when one is dropped. Source: MySQL manual, "Wait Event Summary Tables"; times are kept in
//! picoseconds.

use super::wire::ServerConnection;
use crate::contract::{Error, Observation};
use proofload_model::samples::Reading;
use std::collections::BTreeMap;

/// Waits since the start, as far as the server keeps them (`performance_schema`): event, number, milliseconds. Idle sessions are not waits.
/// Those for tables are told before the first, which would be lost otherwise: what was not told has no rate.
const READ: &str = "SELECT event_name, count_star, sum_timer_wait / 1000000000 \
    FROM performance_schema.events_waits_summary_global_by_event_name \
    WHERE (count_star > 0 OR event_name LIKE 'wait/io/table/%' OR event_name LIKE 'wait/lock/table/%') AND event_name <> 'idle'";

/// Series by event, each with the unit of its rate: number of waits, and time that all sessions waited.
const SERIES: [(&str, &str); 2] = [("waits", "1/s"), ("wait_time", "ms/s")];

/// A number of the server that may fall, and its total.
#[derive(Debug, Clone, Copy, Default)]
struct WaitNumber {
    /// What the server said last.
    last: f64,
    /// What was added up of what it said.
    total: f64,
}

impl WaitNumber {
    /// Adds what has come since; nothing where the number has fallen.
    fn take(&mut self, now: f64) -> f64 {
        self.total += (now - self.last).max(0.0);
        self.last = now;
        self.total
    }
}

/// Totals of the waits, by event.
#[derive(Debug, Default)]
pub(super) struct WaitTotals(BTreeMap<String, [WaitNumber; SERIES.len()]>);

impl WaitTotals {
    /// Reads the waits; nothing where the server does not keep them, or the account may not read them.
    pub(super) async fn read(&mut self, connection: &mut ServerConnection) -> Result<Vec<Observation>, Error> {
        let rows = connection.rows_allowed(READ).await?;
        Ok(rows.iter().filter_map(|row| self.take(row)).flatten().collect())
    }

    /// The totals of one event.
    fn take(&mut self, row: &[Option<String>]) -> Option<[Observation; SERIES.len()]> {
        let [Some(event), Some(count), Some(time)] = row else { return None };
        let now: [f64; SERIES.len()] = [count.parse().ok()?, time.parse().ok()?];
        let numbers = self.0.entry(event.clone()).or_default();
        Some(std::array::from_fn(|place| {
            let (name, unit) = SERIES[place];
            let (name, component, unit) = (name.to_owned(), event.clone(), unit.to_owned());
            let reading = Reading { name, component, unit, value: numbers[place].take(now[place]) };
            Observation { reading, cumulative: true }
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_has_a_number_and_a_time_that_never_fall() {
        let mut totals = WaitTotals::default();
        let event = "wait/io/table/sql/handler";
        let mut told = |count: &str, time: &str| {
            let row = [event, count, time].map(|text| Some(text.to_owned()));
            let found = totals.take(&row).expect("it is whole");
            found.map(|one| {
                assert!(one.cumulative && one.reading.component == event, "{one:?}");
                (one.reading.name, one.reading.unit, one.reading.value)
            })
        };
        let expected = |count: f64, time: f64| {
            [("waits".to_owned(), "1/s".to_owned(), count), ("wait_time".to_owned(), "ms/s".to_owned(), time)]
        };
        assert_eq!(told("12", "3.5000"), expected(12.0, 3.5));
        assert_eq!(told("20", "4.0000"), expected(20.0, 4.0));
        assert_eq!(told("3", "1.0000"), expected(20.0, 4.0), "a table was dropped");
        assert_eq!(told("5", "1.5000"), expected(22.0, 4.5));
        assert_eq!(totals.take(&[Some(event.to_owned()), None, Some("1".to_owned())]), None);
    }
}
