//! Reading the rows of several load agents. Records of formats before 3 have none.

use crate::compat::Format;
use crate::error::Error;
use crate::rows::all;
use proofload_model::samples::{AgentHistogram, AgentSecond, HistogramDelta, LatencyClock};
use rusqlite::Connection;

/// What several load agents did, each by itself; empty for a load of one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentRows {
    /// Seconds, in the order of their numbers, then of the agents.
    pub seconds: Vec<AgentSecond>,
    /// Latencies over the measured window.
    pub histograms: Vec<AgentHistogram>,
}

/// The rows of an attempt.
pub(crate) fn read(connection: &Connection, format: Format, attempt: i64) -> Result<AgentRows, Error> {
    if !format.has_agent_tables() {
        return Ok(AgentRows::default());
    }
    let rows =
        || Ok(AgentRows { seconds: seconds(connection, attempt)?, histograms: histograms(connection, attempt)? });
    rows().map_err(|error: rusqlite::Error| Error::sqlite("failed to read the results of load agents", &error))
}

fn seconds(connection: &Connection, attempt: i64) -> rusqlite::Result<Vec<AgentSecond>> {
    let sql = "SELECT agent, number, completed, failed, dropped, count, sum_ns, max_ns, client FROM agent_interval NOT INDEXED \
               WHERE attempt = ?1 ORDER BY number, agent";
    all(connection, sql, [attempt], |row| {
        Ok(AgentSecond {
            agent: row.get(0)?,
            number: row.get(1)?,
            completed: row.get(2)?,
            failed: row.get(3)?,
            dropped: row.get(4)?,
            count: row.get(5)?,
            sum_ns: row.get(6)?,
            max_ns: row.get(7)?,
            client: serde_json::from_str(&row.get::<_, String>(8)?).unwrap_or_default(),
        })
    })
}

fn histograms(connection: &Connection, attempt: i64) -> rusqlite::Result<Vec<AgentHistogram>> {
    let sql = "SELECT agent, clock, count, sum_ns, max_ns, payload FROM agent_histogram NOT INDEXED WHERE attempt = ?1 ORDER BY id";
    all(connection, sql, [attempt], |row| {
        let clock = LatencyClock::from_word(&row.get::<_, String>(1)?).unwrap_or(LatencyClock::Response);
        let delta = HistogramDelta {
            kind: String::new(),
            clock,
            count: row.get(2)?,
            sum_ns: row.get(3)?,
            max_ns: row.get(4)?,
            payload: row.get(5)?,
        };
        Ok(AgentHistogram { agent: row.get(0)?, delta })
    })
}
