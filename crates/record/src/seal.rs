//! Seals of formats 1 to 3: the hash of most of what a finished attempt wrote. From format 4 on the [chain](crate::chain) does more.

use crate::compat::Format;
use crate::digest::Digest;
use crate::error::Error;
use rusqlite::Connection;

/// Tables that a seal covers, in the order in which it hashes them.
const TABLES: &[&str] = &["fact", "interval", "operation", "histogram", "failure", "series", "mark", "verification"];

/// Tables that records have from format 3 on.
const AGENT_TABLES: &[&str] = &["agent_interval", "agent_histogram"];

/// Hashes the rows of an attempt, table by table in row order.
pub(crate) fn hash(connection: &Connection, format: Format, attempt: i64) -> Result<String, Error> {
    let mut digest = Digest::new();
    let of_agents = if format.has_agent_tables() { AGENT_TABLES } else { &[] };
    for table in TABLES.iter().chain(of_agents) {
        digest.bare(table.as_bytes());
        let sql = format!("SELECT * FROM {table} NOT INDEXED WHERE attempt = ?1 ORDER BY id");
        absorb(connection, &sql, attempt, &mut digest)?;
    }
    let samples = "SELECT sample.* FROM sample NOT INDEXED JOIN series NOT INDEXED ON series.id = sample.series \
                   WHERE series.attempt = ?1 ORDER BY sample.id";
    absorb(connection, samples, attempt, &mut digest)?;
    Ok(digest.hexadecimal())
}

fn absorb(connection: &Connection, sql: &str, attempt: i64, digest: &mut Digest) -> Result<(), Error> {
    let mut absorb = || digest.rows(&mut *connection.prepare_cached(sql)?, [attempt]);
    absorb().map(|_| ()).map_err(|error| Error::sqlite("failed to seal a finished run", &error))
}
