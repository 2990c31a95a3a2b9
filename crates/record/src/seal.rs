//! A seal: the hash of everything that a finished attempt wrote, so that a later change shows.

use crate::compat::Format;
use crate::error::Error;
use crate::schema::{AGENT_TABLES, ATTEMPT_TABLES};
use rusqlite::Connection;
use rusqlite::types::ValueRef;
use sha2::{Digest, Sha256};

/// SHA-256 over the rows of an attempt, table by table in row order, each value with its type and length.
pub(crate) fn hash(connection: &Connection, attempt: i64) -> Result<String, Error> {
    let mut hasher = Sha256::new();
    let of_agents = if Format::of(connection)?.has_agent_tables() { AGENT_TABLES } else { &[] };
    for table in ATTEMPT_TABLES.iter().chain(of_agents) {
        hasher.update(table.as_bytes());
        absorb(connection, &format!("SELECT * FROM {table} WHERE attempt = ?1 ORDER BY id"), attempt, &mut hasher)?;
    }
    let samples = "SELECT sample.* FROM sample JOIN series ON series.id = sample.series WHERE series.attempt = ?1 ORDER BY sample.id";
    absorb(connection, samples, attempt, &mut hasher)?;
    Ok(hexadecimal(hasher))
}

/// SHA-256 of everything that a reader gives.
pub(crate) fn hash_of_bytes(reader: &mut impl std::io::Read) -> std::io::Result<String> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match reader.read(&mut buffer)? {
            0 => return Ok(hexadecimal(hasher)),
            count => hasher.update(&buffer[..count]),
        }
    }
}

fn hexadecimal(hasher: Sha256) -> String {
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn absorb(connection: &Connection, sql: &str, attempt: i64, hasher: &mut Sha256) -> Result<(), Error> {
    let wrong = |error: rusqlite::Error| Error::sqlite("sealing a finished run", &error);
    let mut statement = connection.prepare_cached(sql).map_err(wrong)?;
    let columns = statement.column_count();
    let mut rows = statement.query([attempt]).map_err(wrong)?;
    while let Some(row) = rows.next().map_err(wrong)? {
        for column in 0..columns {
            absorb_value(row.get_ref(column).map_err(wrong)?, hasher);
        }
    }
    Ok(())
}

fn absorb_value(value: ValueRef<'_>, hasher: &mut Sha256) {
    let (tag, bytes): (u8, &[u8]) = match value {
        ValueRef::Null => (0, &[]),
        ValueRef::Integer(number) => return absorb_number(1, &number.to_le_bytes(), hasher),
        ValueRef::Real(number) => return absorb_number(2, &number.to_le_bytes(), hasher),
        ValueRef::Text(bytes) => (3, bytes),
        ValueRef::Blob(bytes) => (4, bytes),
    };
    hasher.update([tag]);
    hasher.update((bytes.len() as u64).to_le_bytes());
    hasher.update(bytes);
}

fn absorb_number(tag: u8, bytes: &[u8; 8], hasher: &mut Sha256) {
    hasher.update([tag]);
    hasher.update(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The one-block message of FIPS 180-4, appendix B.1, and more than one buffer.
    #[test]
    fn bytes_hash_as_the_standard_says() {
        let hash = |bytes: &[u8]| hash_of_bytes(&mut &bytes[..]).expect("memory reads");
        assert_eq!(hash(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(hash(&vec![7; 200_000]), hexadecimal(Sha256::new().chain_update(vec![7; 200_000])));
    }
}
