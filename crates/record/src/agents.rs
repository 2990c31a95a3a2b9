//! Reading the rows of several load agents. Records of formats before 3 have none.

use crate::compat::Format;
use crate::rows::{RowChoice, by_attempt};
use proofload_model::samples::{AgentHistogram, AgentSecond, HistogramDelta, LatencyClock};
use rusqlite::{Connection, Row};
use std::collections::HashMap;

/// What several load agents did, each by itself; empty for a load of one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentRows {
    /// Seconds, in the order of their numbers, then of the agents.
    pub seconds: Vec<AgentSecond>,
    /// Latencies over the measured window.
    pub histograms: Vec<AgentHistogram>,
}

/// The rows of attempts that had several.
pub(crate) fn read(
    connection: &Connection,
    format: Format,
    choice: RowChoice<'_>,
) -> rusqlite::Result<HashMap<i64, AgentRows>> {
    let mut found: HashMap<i64, AgentRows> = HashMap::new();
    if !format.has_agent_tables() {
        return Ok(found);
    }
    let sql = "SELECT agent, number, completed, failed, dropped, count, sum_ns, max_ns, client, attempt FROM agent_interval NOT INDEXED \
               WHERE id > ?1 ORDER BY number, agent";
    for (attempt, seconds) in by_attempt(connection, ("agent_interval", sql), 9, choice, second)? {
        found.entry(attempt.unwrap_or_default()).or_default().seconds = seconds;
    }
    let sql = "SELECT agent, clock, count, sum_ns, max_ns, payload, attempt FROM agent_histogram NOT INDEXED \
               WHERE id > ?1 ORDER BY id";
    for (attempt, histograms) in by_attempt(connection, ("agent_histogram", sql), 6, choice, histogram)? {
        found.entry(attempt.unwrap_or_default()).or_default().histograms = histograms;
    }
    Ok(found)
}

fn second(row: &Row<'_>) -> rusqlite::Result<AgentSecond> {
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
}

fn histogram(row: &Row<'_>) -> rusqlite::Result<AgentHistogram> {
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
}
