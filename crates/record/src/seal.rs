//! Seals of formats 1 to 3: the hash of most of what a finished attempt wrote. From format 4 on the [chain](crate::chain) does more.

use crate::compat::Format;
use crate::digest::Digest;
use crate::error::Error;
use crate::verification::attempts_of_series;
use rusqlite::Connection;
use std::collections::BTreeMap;

/// Tables that a seal covers, in the order in which it hashes them.
const TABLES: &[&str] = &["fact", "interval", "operation", "histogram", "failure", "series", "mark", "verification"];

/// Tables that records have from format 3 on.
const AGENT_TABLES: &[&str] = &["agent_interval", "agent_histogram"];

/// Hashes the rows of an attempt, table by table in row order.
pub(crate) fn hash(connection: &Connection, format: Format, attempt: i64) -> Result<String, Error> {
    let mut digest = Digest::new();
    for table in tables(format) {
        digest.bare(table.as_bytes());
        let sql = format!("SELECT * FROM {table} NOT INDEXED WHERE attempt = ?1 ORDER BY id");
        absorb(connection, &sql, attempt, &mut digest)?;
    }
    let samples = "SELECT sample.* FROM sample NOT INDEXED JOIN series NOT INDEXED ON series.id = sample.series \
                   WHERE series.attempt = ?1 ORDER BY sample.id";
    absorb(connection, samples, attempt, &mut digest)?;
    Ok(digest.hexadecimal())
}

/// Hashes the rows of many attempts as [`hash`] does, by one scan of each table whatever their number.
pub(crate) fn hashes(
    connection: &Connection,
    format: Format,
    attempts: impl Iterator<Item = i64>,
) -> rusqlite::Result<BTreeMap<i64, String>> {
    let mut digests: BTreeMap<i64, Digest> = attempts.map(|attempt| (attempt, Digest::new())).collect();
    for table in tables(format) {
        digests.values_mut().for_each(|digest| digest.bare(table.as_bytes()));
        let sql = format!("SELECT attempt, {table}.* FROM {table} NOT INDEXED ORDER BY id");
        absorb_all(connection, &sql, &mut digests, &Some)?;
    }
    let of_series = attempts_of_series(connection)?;
    let sql = "SELECT series, sample.* FROM sample NOT INDEXED ORDER BY id";
    absorb_all(connection, sql, &mut digests, &|series| of_series.get(&series).copied())?;
    Ok(digests.into_iter().map(|(attempt, digest)| (attempt, digest.hexadecimal())).collect())
}

fn tables(format: Format) -> impl Iterator<Item = &'static str> {
    let of_agents = if format.has_agent_tables() { AGENT_TABLES } else { &[] };
    TABLES.iter().chain(of_agents).copied()
}

fn absorb(connection: &Connection, sql: &str, attempt: i64, digest: &mut Digest) -> Result<(), Error> {
    let mut absorb = || digest.rows(&mut *connection.prepare_cached(sql)?, [attempt]);
    absorb().map(|_| ()).map_err(|error| Error::sqlite("failed to seal a finished run", &error))
}

/// Absorbs each row of a scan, without its first column, which names its owner, with the digest of its attempt.
fn absorb_all(
    connection: &Connection,
    sql: &str,
    digests: &mut BTreeMap<i64, Digest>,
    attempt_of: &dyn Fn(i64) -> Option<i64>,
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        #[cfg(test)]
        crate::verification::ROWS_PROVED.set(crate::verification::ROWS_PROVED.get() + 1);
        let owner: Option<i64> = row.get(0)?;
        let Some(attempt) = owner.and_then(attempt_of) else { continue };
        if let Some(digest) = digests.get_mut(&attempt) {
            digest.row(row, 1)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verification::ROWS_PROVED;

    #[test]
    fn seals_of_many_attempts_are_those_of_each_by_one_scan() {
        let connection = Connection::open_in_memory().expect("a database in memory");
        let (format, mut rows) = (Format(3), 0);
        for table in tables(format) {
            let sql = format!("CREATE TABLE {table} (id INTEGER PRIMARY KEY, attempt INTEGER, body TEXT)");
            connection.execute_batch(&sql).expect("a table is made");
            for attempt in [1, 2, 1, 3] {
                let sql = format!("INSERT INTO {table} (attempt, body) VALUES ({attempt}, '{table} {attempt}')");
                rows += connection.execute(&sql, []).expect("a row fits");
            }
        }
        let samples = "CREATE TABLE sample (id INTEGER PRIMARY KEY, series INTEGER NOT NULL, value REAL NOT NULL)";
        connection.execute_batch(samples).expect("a table is made");
        for series in [1, 2, 3, 4, 1] {
            let sql = format!("INSERT INTO sample (series, value) VALUES ({series}, 0.5)");
            rows += connection.execute(&sql, []).expect("a row fits");
        }
        let before = ROWS_PROVED.get();
        let found = hashes(&connection, format, 1..=3).expect("they are hashed");
        assert_eq!(ROWS_PROVED.get() - before, rows as u64);
        for attempt in 1..=3 {
            assert_eq!(found.get(&attempt), hash(&connection, format, attempt).ok().as_ref(), "attempt {attempt}");
        }
    }
}
