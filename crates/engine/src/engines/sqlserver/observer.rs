//! Looks at a server once a second: its counters, its files, what its sessions wait for. May not change anything.

use super::address::ServerAddress;
use super::session::connect;
use super::thread_times::{self, ThreadTimes};
use super::wire::ServerConnection;
use crate::contract::{Error, Observation, Observer, OwnedRow, OwnedValue, RoleCpu, Target, Value};
use proofload_model::samples::Reading;
use std::time::Duration;

/// An observer waits no longer for an answer.
pub(super) const PATIENCE: Duration = Duration::from_secs(3);
/// What the server lists it as, so that it can be left out.
pub(super) const PROGRAM: &str = "proofload observer";
/// It waits for nobody's locks.
const SETUP: &str = "SET LOCK_TIMEOUT 500";

/// All that is read, in one batch: kind, name, component, value. Counters that end in "/sec" are totals all the same.
const READ: &str = include_str!("observer.sql");

/// What is read beside it where the server has it and the account may see it.
const MORE: [&str; 2] = [include_str!("tempdb.sql"), include_str!("availability_counters.sql")];

/// Errors of a text that names what a server lacks, or what the account may not see: column, object, permissions.
const LACKING: &[&str] = &["207", "208", "229", "297", "300"];

/// Observes one server over a connection of its own.
#[derive(Debug)]
pub(super) struct CounterObserver {
    /// Declared before the runtime, on which its socket is registered.
    link: Option<ServerConnection>,
    address: ServerAddress,
    /// Texts that the server has answered with one of [`LACKING`], which are sent no more.
    lacking: Vec<&'static str>,
    threads: ThreadTimes,
    runtime: tokio::runtime::Runtime,
}

impl CounterObserver {
    /// An observer of this target; nothing is connected yet.
    pub(super) fn new(target: &Target) -> Result<Self, Error> {
        let mut address = ServerAddress::of(target)?;
        address.options.patience = Some(PATIENCE);
        PROGRAM.clone_into(&mut address.program);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Error::other(format!("make a runtime: {error}")))?;
        Ok(Self { link: None, address, lacking: Vec::new(), threads: ThreadTimes::default(), runtime })
    }
}

impl Observer for CounterObserver {
    fn observe(&mut self) -> Result<Vec<Observation>, Error> {
        let Self { link, address, lacking, threads, runtime } = self;
        let read = async {
            let connection = match link {
                Some(connection) => connection,
                None => {
                    let mut opened = connect(address, &address.database).await?;
                    opened.text(SETUP).await?;
                    link.insert(opened)
                }
            };
            let mut rows = connection.rows(READ).await?;
            for text in MORE {
                rows.extend(where_there(connection, text, lacking).await?);
            }
            threads.take(&where_there(connection, thread_times::READ, lacking).await?, PROGRAM);
            Ok(rows.iter().filter_map(|row| observation(row)).collect())
        };
        let outcome = runtime.block_on(async {
            let late = |_| Err(Error::other(format!("no answer within {PATIENCE:?}")));
            tokio::time::timeout(PATIENCE, read).await.unwrap_or_else(late)
        });
        if outcome.is_err() {
            self.link = None;
        }
        outcome.map_err(|error: Error| error.context("read the server's counters; the account needs VIEW SERVER STATE"))
    }

    fn thread_roles(&self) -> &[(u32, String)] {
        self.threads.roles()
    }

    fn role_times(&self) -> &[RoleCpu] {
        self.threads.totals()
    }
}

/// The rows of a text; no row where the server lacks what it names.
async fn where_there(
    connection: &mut ServerConnection,
    text: &'static str,
    lacking: &mut Vec<&'static str>,
) -> Result<Vec<OwnedRow>, Error> {
    if lacking.contains(&text) {
        return Ok(Vec::new());
    }
    match connection.rows(text).await {
        Err(error) if LACKING.contains(&error.code()) => {
            lacking.push(text);
            Ok(Vec::new())
        }
        read => read,
    }
}

/// A row as a number: `name`, `component`, unit, whether it is a total, value.
fn observation(row: &[OwnedValue]) -> Option<Observation> {
    let [OwnedValue::Text(name), OwnedValue::Text(component), OwnedValue::Text(unit), total, value] = row else {
        return None;
    };
    let number = match value.as_value() {
        Value::Integer(number) => number as f64,
        Value::Decimal(decimal) => decimal.units as f64 / 10f64.powi(decimal.scale.into()),
        _ => return None,
    };
    let (name, component, unit) = (name.trim().to_owned(), component.trim().to_owned(), unit.trim().to_owned());
    Some(Observation {
        reading: Reading { name, component, unit, value: number },
        cumulative: total.as_value() == Value::Integer(1),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_a_number_with_its_unit() {
        let text = |text: &str| OwnedValue::Text(text.to_owned());
        let row = [text("commits"), text(" "), text("1/s"), OwnedValue::Integer(1), OwnedValue::Integer(7)];
        let found = observation(&row).expect("it is whole");
        assert_eq!(
            (found.reading.name.as_str(), found.reading.component.as_str(), found.reading.unit.as_str()),
            ("commits", "", "1/s")
        );
        assert!(found.cumulative && found.reading.value == 7.0);
        assert_eq!(observation(&row[..4]), None);
    }
}
