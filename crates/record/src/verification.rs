//! Whether a record is as it was written: SQLite's own check, the tables as they were made, every link of the chain, every seal.
//!
//! Tables are read by one scan each, as readers of rows read them; no index is trusted.

use crate::chain::{ChainTable, Link, LinkKind, Owner, begin, chained_tables, of_study};
use crate::compat::Format;
use crate::digest::Digest;
use crate::error::Error;
use crate::last_rows::LastRows;
use crate::rows::all;
use crate::{schema, seal};
use rusqlite::Connection;
use std::collections::{BTreeMap, HashMap};

#[cfg(test)]
thread_local! {
    /// Rows that tests have hashed on this thread.
    pub(crate) static ROWS_PROVED: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// What a record says of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proof {
    /// Format of the record.
    pub format: i32,
    /// Links of the chain; 0 before format 4.
    pub links: usize,
    /// SHA-256 of the last link, which stands for all before it.
    pub head: Option<String>,
    /// Whether the record was closed after the last row.
    pub closed: bool,
    /// What is not as it was written, in words; empty when all is.
    pub faults: Vec<String>,
    /// Attempts that ended, and whether their rows are as they were.
    pub(crate) attempts: BTreeMap<i64, AttemptEnd>,
    /// Whether there is a fault that may concern every attempt.
    pub(crate) shared: bool,
}

/// An attempt that has a seal or a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AttemptEnd {
    pub(crate) finished: bool,
    pub(crate) intact: bool,
}

impl Proof {
    /// Tells whether the seal of an attempt holds; `None` while it has none.
    pub(crate) fn seal_holds(&self, attempt: i64) -> Option<bool> {
        let ended = self.attempts.get(&attempt).filter(|ended| ended.finished)?;
        Some(ended.intact && !self.shared)
    }

    fn fault(&mut self, text: impl Into<String>) {
        self.faults.push(text.into());
    }

    fn shared_fault(&mut self, text: impl Into<String>) {
        self.shared = true;
        self.fault(text);
    }
}

/// Wraps an error of a check of the file.
fn wrong(error: &rusqlite::Error) -> Error {
    Error::sqlite("failed to check the file", error)
}

/// Refuses a file that SQLite finds damaged, or whose tables are not those of its format.
pub(crate) fn check_file(connection: &Connection, format: Format) -> Result<(), Error> {
    let found: Vec<String> =
        all(connection, "PRAGMA integrity_check(3)", [], |row| row.get(0)).map_err(|error| wrong(&error))?;
    if found != ["ok"] {
        return Err(Error::damaged(format!("the file is damaged: {}; use another copy", found.join("; "))));
    }
    check_tables(connection, format)
}

/// Refuses a file whose tables are not those of its format.
pub(crate) fn check_tables(connection: &Connection, format: Format) -> Result<(), Error> {
    let sql = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name";
    let mut tables: Vec<String> = all(connection, sql, [], |row| row.get(0)).map_err(|error| wrong(&error))?;
    tables.sort_unstable();
    let as_made =
        if format.has_chain() { tables == schema::objects(format) } else { !tables.iter().any(|sql| is_link(sql)) };
    if as_made {
        Ok(())
    } else {
        Err(Error::damaged("its tables or triggers do not match its format: another program changed it"))
    }
}

fn is_link(sql: &str) -> bool {
    sql.starts_with("CREATE TABLE link ")
}

/// Checks chain and seals.
pub(crate) fn prove(connection: &Connection, format: Format) -> Result<Proof, Error> {
    let mut proof = Proof { format: format.0, ..Proof::default() };
    let proved = if format.has_chain() {
        prove_chain(connection, format, LastRows::default(), &mut proof).map(|_| ())
    } else {
        prove_seals(connection, format, &mut proof)
    };
    proved.map_err(|error| Error::sqlite("failed to check the chain", &error))?;
    Ok(proof)
}

/// Checks what came after rows up to which a record with a chain is proved; `proof` is that of all before, and then of all. Tells whether no
/// attempt goes on: what comes next can then be proved from there on.
pub(crate) fn prove_newer(
    connection: &Connection,
    format: Format,
    after: LastRows,
    proof: &mut Proof,
) -> Result<bool, Error> {
    let proved = prove_chain(connection, format, after, proof);
    proved.map_err(|error| Error::sqlite("failed to check the chain", &error))
}

/// Records before format 4 have seals only.
fn prove_seals(connection: &Connection, format: Format, proof: &mut Proof) -> rusqlite::Result<()> {
    let sql = "SELECT attempt, sha256 FROM seal NOT INDEXED ORDER BY id";
    let seals: Vec<(i64, String)> = all(connection, sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let hashes = seal::hashes(connection, format, seals.iter().map(|(attempt, _)| *attempt))?;
    for (attempt, sha256) in seals {
        let intact = hashes.get(&attempt) == Some(&sha256);
        if !intact {
            proof.fault(format!("rows of attempt {attempt} were changed after it finished"));
        }
        proof.attempts.insert(attempt, AttemptEnd { finished: true, intact });
    }
    Ok(())
}

fn prove_chain(connection: &Connection, format: Format, after: LastRows, proof: &mut Proof) -> rusqlite::Result<bool> {
    let links = Link::after(connection, after.get("link"))?;
    let mut rows = RowHashes::of(connection, &links, after)?;
    for chained in chained_tables(format) {
        rows.scan(connection, chained, &links, proof)?;
    }
    let mut before = proof.head.take().unwrap_or_default();
    for (link, of_study) in links.iter().zip(std::mem::take(&mut rows.of_study)) {
        if link.kind.is_none() || link.hash(&before) != link.sha256 {
            proof.shared_fault(format!("link {} of the chain does not match the previous link", link.id));
        }
        if of_study.hexadecimal() != link.of_study {
            proof.shared_fault(format!(
                "documents, sessions or other rows of the study under link {} were changed",
                link.id
            ));
        }
        before.clone_from(&link.sha256);
        let Some(attempt) = link.attempt else { continue };
        let found = rows.of_attempts.remove(&attempt).map(Digest::hexadecimal);
        let intact = found.as_ref() == Some(&link.of_attempt);
        if !intact {
            proof.fault(format!("rows of attempt {attempt} were changed after it ended (link {})", link.id));
        }
        proof.attempts.insert(attempt, AttemptEnd { finished: link.kind == Some(LinkKind::Finished), intact });
    }
    proof.links += links.len();
    proof.head = (proof.links > 0).then_some(before);
    proof.closed = links.last().map_or(proof.closed, |link| link.kind == Some(LinkKind::Closed));
    if proof.closed && !rows.of_attempts.is_empty() {
        let open: Vec<String> = rows.of_attempts.keys().map(ToString::to_string).collect();
        proof.shared_fault(format!("the record was closed, but no link covers attempt {}", open.join(", ")));
    }
    if proof.links == 0 {
        proof.shared_fault("the chain has no link");
    }
    // A record is in WAL mode from its first attempt until it is closed.
    let mode: String = connection.query_row("PRAGMA journal_mode", [], |row| row.get(0))?;
    if !proof.closed && mode != "wal" && !proof.attempts.is_empty() {
        proof.shared_fault("the record was closed, but its closing link is missing");
    }
    Ok(rows.of_attempts.is_empty())
}

/// The first link that covers a row of the study; as many as there are links where none does. Rows come in the order of their numbers, so that
/// links before that of the row before cover none of them, and each link is looked at once for a table.
fn first_that_covers(links: &[Link], place: usize, row: i64, from: usize) -> usize {
    let covers = |link: &Link| link.marks[place] >= row;
    links.iter().skip(from).position(covers).map_or(links.len(), |more| from + more)
}

/// The attempt of each series.
pub(crate) fn attempts_of_series(connection: &Connection) -> rusqlite::Result<HashMap<i64, i64>> {
    let sql = "SELECT id, attempt FROM series NOT INDEXED ORDER BY id";
    let rows = all(connection, sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.into_iter().collect())
}

/// Hashes of rows as they are now.
struct RowHashes {
    /// Digests by attempt.
    of_attempts: BTreeMap<i64, Digest>,
    /// Digests by link.
    of_study: Vec<Digest>,
    /// Rows up to these are left out.
    after: LastRows,
}

impl RowHashes {
    fn of(connection: &Connection, links: &[Link], after: LastRows) -> rusqlite::Result<Self> {
        let sql = "SELECT id FROM attempt NOT INDEXED WHERE id > ?1 ORDER BY id";
        let attempts: Vec<i64> = all(connection, sql, [after.get("attempt")], |row| row.get(0))?;
        Ok(Self {
            of_attempts: attempts.into_iter().map(|attempt| (attempt, begin())).collect(),
            of_study: links.iter().map(|_| begin()).collect(),
            after,
        })
    }

    /// Hashes the rows of a table, each with those of its attempt or of its link.
    fn scan(
        &mut self,
        connection: &Connection,
        chained: &ChainTable,
        links: &[Link],
        proof: &mut Proof,
    ) -> rusqlite::Result<()> {
        let ChainTable { table, owner, attempt } = *chained;
        if owner != Owner::Study {
            self.of_attempts.values_mut().for_each(|digest| digest.text(table));
        }
        let place = of_study().position(|chained| chained.table == table);
        if place.is_some() {
            self.of_study.iter_mut().for_each(|digest| digest.text(table));
        }
        let of_series = if chained.is_of_series() { Some(attempts_of_series(connection)?) } else { None };
        let owner = if of_series.is_some() { "series" } else { attempt };
        let sql = format!("SELECT {owner}, {table}.* FROM {table} NOT INDEXED WHERE id > ?1 ORDER BY id");
        let mut statement = connection.prepare(&sql)?;
        let columns = 1..statement.column_count();
        let (mut rows, mut stray, mut link) = (statement.query([self.after.get(table)])?, 0_u64, 0);
        while let Some(row) = rows.next()? {
            #[cfg(test)]
            ROWS_PROVED.set(ROWS_PROVED.get() + 1);
            let owner: Option<i64> = row.get(0)?;
            let owner = of_series.as_ref().map_or(owner, |known| owner.and_then(|series| known.get(&series).copied()));
            let digest = match (owner, place) {
                (Some(attempt), _) => self.of_attempts.get_mut(&attempt),
                (None, Some(place)) => {
                    // The number of a row is the first column of every table.
                    let id: i64 = row.get(1)?;
                    link = first_that_covers(links, place, id, link);
                    self.of_study.get_mut(link)
                }
                (None, None) => None,
            };
            match digest {
                Some(digest) => digest.columns(row, columns.clone())?,
                None => stray += 1,
            }
        }
        if stray > 0 {
            proof.shared_fault(format!("{stray} rows of the table {table} are outside the chain"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Marks that fall are those of a chain that was tampered with: the first link that covers a row is still found.
    #[test]
    fn going_on_from_the_link_of_the_row_before_finds_what_a_whole_search_finds() {
        let link = |id: i64, mark: i64| Link {
            id,
            kind: Some(LinkKind::Study),
            attempt: None,
            marks: [mark; 5],
            of_attempt: String::new(),
            of_study: String::new(),
            sha256: String::new(),
        };
        let links: Vec<Link> = (1..).zip([2, 2, 5, 3, 9, 7]).map(|(id, mark)| link(id, mark)).collect();
        let mut from = 0;
        for row in 1..=11 {
            from = first_that_covers(&links, 0, row, from);
            let whole = links.iter().position(|link| link.marks[0] >= row);
            assert_eq!(from, whole.unwrap_or(links.len()), "row {row}");
        }
    }
}
