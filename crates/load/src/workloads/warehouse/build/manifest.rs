//! The manifest: what the data is and which parts of its build are done, kept in the database beside the data.

use crate::workloads::blocking_session::{BlockingSession, integer, text};
use crate::workloads::manifest::{self, COMPLETE};
use crate::workloads::suite::Suite;
use crate::workloads::warehouse::data::{Chunk, Content, Table};
use proofload_engine::Value;
use proofload_model::error::Error;
use std::collections::BTreeMap;

/// What stands in an entry that says only that something is done.
pub(super) const DONE: &str = "yes";

/// Entry of the bytes of tables and of indexes.
const SIZES: &str = "bytes of tables and indexes";

/// The manifest of a database, read whole.
#[derive(Debug, Clone, Default)]
pub(crate) struct Manifest {
    entries: BTreeMap<String, String>,
}

impl Manifest {
    /// Reads it; `None` when the database has none, or one whose load was killed before it noted anything.
    pub(crate) fn read(session: &mut BlockingSession, suite: &Suite) -> Result<Option<Self>, Error> {
        let found = session.one_row(&suite.statement("manifest_exists")?.sql)?;
        if integer(&found, 0)? == 0 {
            return Ok(None);
        }
        let rows = session.query(&suite.statement("manifest_rows")?.sql)?;
        let entry = |row| Ok((text(row, 0)?.to_owned(), text(row, 1)?.to_owned()));
        let entries: BTreeMap<String, String> = rows.iter().map(entry).collect::<Result<_, Error>>()?;
        Ok((!entries.is_empty()).then_some(Self { entries }))
    }

    /// An error unless the data are those that are wanted; it names each difference and what to do.
    pub(crate) fn fits(&self, wanted: &[(&'static str, String)]) -> Result<(), Error> {
        let remedy = "give the study another name or storage.path, or remove the data to load them again";
        manifest::fits(|name| self.text(name), wanted, remedy)
    }

    /// The text of an entry.
    pub(super) fn text(&self, entry: &str) -> Option<&str> {
        self.entries.get(entry).map(String::as_str)
    }

    /// Whether there is an entry of this name.
    pub(super) fn has(&self, entry: &str) -> bool {
        self.entries.contains_key(entry)
    }

    /// Whether the build is complete.
    pub(crate) fn is_complete(&self) -> bool {
        self.has(COMPLETE)
    }

    /// Sum of the noted chunks of a table.
    pub(crate) fn content(&self, table: Table) -> Result<Content, Error> {
        let prefix = format!("chunk {} ", table.name());
        let mut content = Content::default();
        for (entry, text) in self.entries.iter().filter(|(entry, _)| entry.starts_with(&prefix)) {
            let part = Content::read(text, table);
            content.merge(&part.ok_or_else(|| Error::new(format!("the manifest's entry {entry:?} is not valid")))?);
        }
        Ok(content)
    }

    /// Bytes of the official text form of all tables.
    pub(crate) fn raw_bytes(&self) -> Result<u64, Error> {
        Table::ALL.into_iter().map(|table| Ok(self.content(table)?.bytes)).sum()
    }

    /// Bytes of the tables and of their indexes after the build, as the engine said them.
    pub(crate) fn sizes(&self) -> Option<(u64, u64)> {
        let (tables, indexes) = self.entries.get(SIZES)?.split_once(' ')?;
        Some((tables.parse().ok()?, indexes.parse().ok()?))
    }
}

/// Entry of a chunk.
pub(in crate::workloads::warehouse) fn chunk_entry(chunk: Chunk) -> String {
    format!("chunk {} {}/{}", chunk.table.name(), chunk.part, chunk.parts)
}

/// Entry of an index.
pub(super) fn index_entry(name: &str) -> String {
    format!("index {name}")
}

/// SQL that adds an entry.
pub(in crate::workloads::warehouse) fn add(suite: &Suite, entry: &str, content: &str) -> Result<String, Error> {
    let values = [("entry", Value::Text(entry)), ("content", Value::Text(content))];
    Ok(suite.with_values("manifest_add", &values)? + ";\n")
}

/// SQL that notes the sizes.
pub(super) fn add_sizes(suite: &Suite, tables: i64, indexes: i64) -> Result<String, Error> {
    add(suite, SIZES, &format!("{tables} {indexes}"))
}

/// SQL that notes the end of the build.
pub(super) fn add_complete(suite: &Suite) -> Result<String, Error> {
    add(suite, COMPLETE, DONE)
}
