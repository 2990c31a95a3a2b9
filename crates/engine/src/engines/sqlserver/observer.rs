//! Looks at a server once a second: its counters, its files, what its sessions wait for. May not change anything.

use super::address::ServerAddress;
use super::availability::{hosts_to_read, open};
use super::key_rates::{KeyRates, PROCEDURES, SESSION_WAITS};
use super::thread_times::{self, ThreadTimes};
use super::wire::ServerConnection;
use crate::contract::{Error, ErrorClass, Observation, Observer, OwnedRow, OwnedValue, RoleCpu, Target, Value};
use crate::engines::blocking::{PATIENCE, in_time, runtime};
use proofload_model::samples::Reading;
use std::time::Duration;

/// Longest wait for the answer to a text that it can do without.
const MORE_PATIENCE: Duration = Duration::from_secs(1);
/// What the server lists it as, so that it can be left out.
pub(super) const PROGRAM: &str = "proofload observer";
/// It waits for nobody's locks.
const SETUP: &str = "SET LOCK_TIMEOUT 500";

/// All that is read, in one batch: name, component, unit, whether it is a total, value. Counters that end in "/sec" are totals all the same.
/// Waits are told by kind with their number and time, but for those of work that has nothing to do. Source: Microsoft's documentation,
/// "`sys.dm_os_wait_stats`".
const READ: &str = include_str!("observer.sql");

/// What is read beside it where the server has it and the account may see it.
const MORE: [&str; 2] = [include_str!("tempdb.sql"), include_str!("availability_counters.sql")];

/// Errors of a text that names what a server lacks, or what the account may not see: column, object, permissions.
const LACKING: &[&str] = &["207", "208", "229", "297", "300"];

/// Observes one server over a connection of its own; of several hosts that whose database takes writes.
#[derive(Debug)]
pub(super) struct CounterObserver {
    /// Declared before the runtime, on which its socket is registered.
    link: Option<ServerConnection>,
    hosts: Vec<ServerAddress>,
    /// Texts that the server has answered with one of [`LACKING`], which are sent no more.
    lacking: Vec<&'static str>,
    threads: ThreadTimes,
    /// What is added up by plan of a procedure, and by set of sessions.
    by_key: [KeyRates; 2],
    runtime: tokio::runtime::Runtime,
}

impl CounterObserver {
    /// An observer of this target; nothing is connected yet.
    pub(super) fn new(target: &Target) -> Result<Self, Error> {
        let hosts = hosts_to_read(target)?;
        let by_key = [KeyRates::new(&PROCEDURES), KeyRates::new(&SESSION_WAITS)];
        let (lacking, threads) = (Vec::new(), ThreadTimes::default());
        Ok(Self { link: None, hosts, lacking, threads, by_key, runtime: runtime()? })
    }
}

impl Observer for CounterObserver {
    fn observe(&mut self) -> Result<Vec<Observation>, Error> {
        let Self { link, hosts, lacking, threads, by_key, runtime } = self;
        // Kept outside of what is read in time, so that a late answer to a text that is optional does not take them away.
        let (mut base, mut of_threads, mut of_keys) = (None, None, [const { None::<Vec<OwnedRow>> }; 2]);
        let read = async {
            let connection = match link {
                Some(connection) => connection,
                None => {
                    let mut opened = open(hosts).await?;
                    opened.text(SETUP).await?;
                    link.insert(opened)
                }
            };
            let found = connection.rows(READ).await?;
            let rows = base.insert(found);
            for text in MORE {
                rows.extend(where_there(link, text, lacking).await.unwrap_or_default());
            }
            of_threads = where_there(link, thread_times::READ, lacking).await;
            for (rows, rates) in of_keys.iter_mut().zip(by_key.iter()) {
                *rows = where_there(link, rates.sql(), lacking).await;
            }
            Ok::<(), Error>(())
        };
        let outcome = runtime.block_on(in_time(PATIENCE, read));
        match of_threads {
            Some(rows) => threads.take(&rows, PROGRAM),
            None => threads.miss(),
        }
        let mut rated = Vec::new();
        for (rates, rows) in by_key.iter_mut().zip(of_keys) {
            match rows {
                Some(rows) => rated.extend(rates.take(&rows)),
                None => rates.miss(),
            }
        }
        if outcome.is_err() {
            self.link = None;
        }
        let rows: Result<Vec<OwnedRow>, Error> = base.map_or_else(|| outcome.map(|()| Vec::new()), Ok);
        rows.map(|rows| rows.iter().filter_map(|row| observation(row)).chain(rated).collect())
            .map_err(|error| error.context("read the server's counters; the account needs VIEW SERVER STATE"))
    }

    fn role_times(&self) -> &[RoleCpu] {
        self.threads.totals()
    }
}

/// The rows of an optional text; `None` where they could not be read. Drops a link that is lost, or on which the answer is late.
async fn where_there(
    link: &mut Option<ServerConnection>,
    text: &'static str,
    lacking: &mut Vec<&'static str>,
) -> Option<Vec<OwnedRow>> {
    if lacking.contains(&text) {
        return None;
    }
    let connection = link.as_mut()?;
    let answer = tokio::time::timeout(MORE_PATIENCE, connection.rows(text)).await;
    match answer {
        Ok(Ok(rows)) => return Some(rows),
        Ok(Err(error)) if LACKING.contains(&error.code()) => lacking.push(text),
        // The server has answered, and may do so in a second.
        Ok(Err(error)) if !error.code().is_empty() && error.class() != ErrorClass::ConnectionLost => {}
        _ => *link = None,
    }
    None
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
    fn waits_of_work_are_not_among_those_of_nothing_to_do() {
        let told = READ.split("UNION ALL").find(|part| part.contains("sys.dm_os_wait_stats")).expect("waits are read");
        assert!(told.contains("s.waiting_tasks_count)") && told.contains("s.wait_time_ms)"), "{told}");
        let (from_the_start, left_out) = told.split_once("-- Work that has nothing to do").expect("both are listed");
        for wait in [
            "WRITELOG",
            "PAGEIOLATCH_SH",
            "PAGELATCH_EX",
            "LCK_M_X",
            "SOS_SCHEDULER_YIELD",
            "CXPACKET",
            "RESOURCE_SEMAPHORE",
            "HADR_SYNC_COMMIT",
            "HADR_LOGCAPTURE_WAIT",
            "ASYNC_NETWORK_IO",
            "THREADPOOL",
        ] {
            assert!(!left_out.contains(&format!("'{wait}'")), "{wait} is left out");
            assert!(from_the_start.contains(&format!("'{wait}'")), "the first waits of {wait} are lost");
        }
        for begin in told.split("NOT LIKE '").skip(1).filter_map(|rest| rest.split('[').next()) {
            assert!(["SLEEP", "BROKER", "XE", "QDS", "WAIT", "SQLTRACE"].contains(&begin), "{begin}");
        }
    }

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
        let unknown = [&row[..4], &[OwnedValue::Null]].concat();
        assert_eq!(observation(&unknown), None, "what is not known is left out and not zero");
    }
}
