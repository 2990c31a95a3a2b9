//! The chain of a record of format 4 or later: links that hash every row, each also the link before it. May not judge; see
//! [`verification`](crate::verification).
//!
//! A link holds the hash of the rows of one attempt that has ended, if it is written for one, and the hash of all rows that belong to no
//! attempt and came since the link before. A row that belongs to no attempt is never committed without its link.

use crate::compat::Format;
use crate::digest::Digest;
use crate::error::Error;
use rusqlite::{Connection, Row, params};
use std::collections::HashMap;

/// Owner of the rows of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The study's.
    Study,
    /// The study's, or those of an attempt.
    Either,
    /// An attempt's.
    Attempt,
}

/// A table of the chain.
#[derive(Debug)]
pub(crate) struct ChainTable {
    /// Its name.
    pub(crate) table: &'static str,
    /// Owner of its rows.
    pub(crate) owner: Owner,
    /// SQL that gives the number of the attempt of a row, or NULL.
    pub(crate) attempt: &'static str,
}

impl ChainTable {
    /// Tells whether the attempt of a row is that of its series, which a scan looks up itself.
    pub(crate) fn is_of_series(&self) -> bool {
        self.attempt == OF_SERIES
    }
}

/// SQL that gives the attempt of a sample of format 4.
const OF_SERIES: &str = "(SELECT series.attempt FROM series WHERE series.id = sample.series)";

const fn chained(table: &'static str, owner: Owner, attempt: &'static str) -> ChainTable {
    ChainTable { table, owner, attempt }
}

/// Samples of format 4, in the place of `series_set` and `sample`.
const SAMPLE_OF_ONE: ChainTable = chained("sample", Owner::Attempt, OF_SERIES);

/// Every table of a format but the chain itself, in the order in which links hash them.
pub(crate) fn chained_tables(format: Format) -> impl Iterator<Item = &'static ChainTable> {
    let packed = format.has_packed_samples();
    CHAINED.iter().filter_map(move |chained| match chained.table {
        "series_set" if !packed => None,
        "sample" if !packed => Some(&SAMPLE_OF_ONE),
        _ => Some(chained),
    })
}

/// Every table but the chain itself, in the order in which links hash them.
const CHAINED: &[ChainTable] = &[
    chained("document", Owner::Study, "NULL"),
    chained("session", Owner::Study, "NULL"),
    chained("attempt", Owner::Attempt, "id"),
    chained("event", Owner::Either, "attempt"),
    chained("fact", Owner::Either, "attempt"),
    chained("interval", Owner::Attempt, "attempt"),
    chained("operation", Owner::Attempt, "attempt"),
    chained("histogram", Owner::Attempt, "attempt"),
    chained("agent_interval", Owner::Attempt, "attempt"),
    chained("agent_histogram", Owner::Attempt, "attempt"),
    chained("failure", Owner::Attempt, "attempt"),
    chained("series", Owner::Attempt, "attempt"),
    chained("series_set", Owner::Attempt, "attempt"),
    chained("sample", Owner::Attempt, "attempt"),
    chained("mark", Owner::Attempt, "attempt"),
    chained("verification", Owner::Attempt, "attempt"),
    chained("log", Owner::Either, "attempt"),
];

/// Why a link was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LinkKind {
    /// Rows of the study came.
    Study,
    /// An attempt went through.
    Finished,
    /// An attempt failed.
    Failed,
    /// An attempt was left by its conductor.
    Left,
    /// The record was closed.
    Closed,
}

impl LinkKind {
    const ALL: [Self; 5] = [Self::Study, Self::Finished, Self::Failed, Self::Left, Self::Closed];

    /// The word in the record.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Study => "study",
            Self::Finished => "finished",
            Self::Failed => "failed",
            Self::Left => "left",
            Self::Closed => "closed",
        }
    }

    fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }
}

/// Number of the last row of each table with rows of the study, by the table's name.
pub(crate) type Marks = [i64; 5];

/// Tables with rows of the study, in the order of [`Marks`] and of the columns.
pub(crate) fn of_study() -> impl Iterator<Item = &'static ChainTable> {
    CHAINED.iter().filter(|chained| chained.owner != Owner::Attempt)
}

/// A link.
#[derive(Debug, Clone)]
pub(crate) struct Link {
    pub(crate) id: i64,
    /// Why it was written; `None` for a word that no link has.
    pub(crate) kind: Option<LinkKind>,
    /// The attempt that it ends.
    pub(crate) attempt: Option<i64>,
    /// The rows of the study that it and the links before it cover.
    pub(crate) marks: Marks,
    /// Hash of the rows of its attempt; empty without one.
    pub(crate) of_attempt: String,
    /// Hash of the rows of the study since the link before.
    pub(crate) of_study: String,
    /// Hash of all this and of the link before.
    pub(crate) sha256: String,
}

impl Link {
    /// Reads those whose numbers are larger than one, in order.
    pub(crate) fn after(connection: &Connection, after: i64) -> rusqlite::Result<Vec<Self>> {
        let sql = "SELECT id, kind, attempt, document, session, event, fact, log, of_attempt, of_study, sha256 \
                   FROM link NOT INDEXED WHERE id > ?1 ORDER BY id";
        connection.prepare(sql)?.query_map([after], Self::read)?.collect()
    }

    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: row.get(0)?,
            kind: LinkKind::from_word(&row.get::<_, String>(1)?),
            attempt: row.get(2)?,
            marks: [row.get(3)?, row.get(4)?, row.get(5)?, row.get(6)?, row.get(7)?],
            of_attempt: row.get(8)?,
            of_study: row.get(9)?,
            sha256: row.get(10)?,
        })
    }

    /// Hashes what the link says, and the link before.
    pub(crate) fn hash(&self, before: &str) -> String {
        let mut digest = Digest::new();
        digest.text("proofload link 1");
        digest.text(before);
        digest.number(self.id);
        digest.text(self.kind.map_or("", LinkKind::word));
        digest.number(self.attempt.unwrap_or(-1));
        for mark in self.marks {
            digest.number(mark);
        }
        digest.text(&self.of_attempt);
        digest.text(&self.of_study);
        digest.hexadecimal()
    }
}

/// Begins the hash of the rows of an attempt, or of the study.
pub(crate) fn begin() -> Digest {
    Digest::new()
}

/// The end of the chain while a record is written.
#[derive(Debug)]
pub(crate) struct Chain {
    format: Format,
    last: i64,
    head: String,
    marks: Marks,
    /// Last rows of all tables when an attempt began, by table: its rows come after them.
    begun: HashMap<i64, HashMap<&'static str, i64>>,
}

impl Chain {
    /// Begins the chain of a record that has no link.
    pub(crate) fn new(format: Format) -> Self {
        Self { format, last: 0, head: String::new(), marks: [0; 5], begun: HashMap::new() }
    }

    /// Finds the end of the chain of a record that is to be continued.
    pub(crate) fn of(connection: &Connection, format: Format) -> Result<Self, Error> {
        let links = Link::after(connection, 0).map_err(|error| Error::sqlite("failed to read the chain", &error))?;
        let last = links.last();
        Ok(Self {
            format,
            last: last.map_or(0, |link| link.id),
            head: last.map_or_else(String::new, |link| link.sha256.clone()),
            marks: last.map_or([0; 5], |link| link.marks),
            begun: HashMap::new(),
        })
    }

    /// Notes where the rows of an attempt begin.
    pub(crate) fn begin_attempt(&mut self, connection: &Connection, attempt: i64) -> rusqlite::Result<()> {
        let last = |chained: &ChainTable| Ok((chained.table, last_row(connection, chained.table)?));
        let mut marks: HashMap<_, _> = chained_tables(self.format).map(last).collect::<rusqlite::Result<_>>()?;
        // The attempt's own row is there already.
        marks.insert("attempt", attempt - 1);
        self.begun.insert(attempt, marks);
        Ok(())
    }

    /// Adds a link to an open transaction.
    pub(crate) fn add(
        &mut self,
        connection: &Connection,
        kind: LinkKind,
        attempt: Option<i64>,
    ) -> rusqlite::Result<()> {
        let mut marks = [0; 5];
        let mut of_study_rows = begin();
        for ((mark, before), chained) in marks.iter_mut().zip(self.marks).zip(of_study()) {
            let ChainTable { table, attempt, .. } = chained;
            *mark = last_row(connection, table)?;
            of_study_rows.text(table);
            let sql = format!("SELECT * FROM {table} NOT INDEXED WHERE id > ?1 AND {attempt} IS NULL ORDER BY id");
            of_study_rows.rows(&mut *connection.prepare_cached(&sql)?, [before])?;
        }
        let of_attempt = match attempt {
            Some(attempt) => self.hash_of_attempt(connection, attempt)?,
            None => String::new(),
        };
        let of_study = of_study_rows.hexadecimal();
        let mut link =
            Link { id: self.last + 1, kind: Some(kind), attempt, marks, of_attempt, of_study, sha256: String::new() };
        link.sha256 = link.hash(&self.head);
        connection.prepare_cached("INSERT INTO link VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)")?.execute(
            params![
                link.id,
                kind.word(),
                attempt,
                marks[0],
                marks[1],
                marks[2],
                marks[3],
                marks[4],
                link.of_attempt,
                link.of_study,
                link.sha256
            ],
        )?;
        (self.last, self.marks, self.head) = (link.id, marks, link.sha256);
        Ok(())
    }

    fn hash_of_attempt(&mut self, connection: &Connection, attempt: i64) -> rusqlite::Result<String> {
        let begun = self.begun.remove(&attempt).unwrap_or_default();
        let mut rows = begin();
        for chained in chained_tables(self.format).filter(|chained| chained.owner != Owner::Study) {
            let ChainTable { table, attempt: of, .. } = chained;
            let after = begun.get(table).copied().unwrap_or(0);
            rows.text(table);
            let sql = format!("SELECT * FROM {table} NOT INDEXED WHERE id > ?2 AND {of} = ?1 ORDER BY id");
            rows.rows(&mut *connection.prepare_cached(&sql)?, [attempt, after])?;
        }
        Ok(rows.hexadecimal())
    }
}

/// Attempts that no link ends.
pub(crate) fn open_attempts(connection: &Connection) -> rusqlite::Result<Vec<i64>> {
    let sql = "SELECT id FROM attempt NOT INDEXED WHERE id NOT IN \
               (SELECT attempt FROM link NOT INDEXED WHERE attempt IS NOT NULL) ORDER BY id";
    connection.prepare(sql)?.query_map([], |row| row.get(0))?.collect()
}

/// The number of the last row of a table; 0 without any.
pub(crate) fn last_row(connection: &Connection, table: &str) -> rusqlite::Result<i64> {
    let sql = format!("SELECT coalesce(max(id), 0) FROM {table}");
    connection.prepare_cached(&sql)?.query_row([], |row| row.get(0))
}
