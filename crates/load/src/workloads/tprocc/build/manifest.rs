//! The manifest: what the data is and which parts of its build are done, kept in the database beside the data.

use super::chunk_loader::Part;
use crate::workloads::blocking_session::{BlockingSession, integer, text};
use crate::workloads::manifest::{self, COMPLETE};
use crate::workloads::tprocc::dialect::Dialect;
use crate::workloads::tprocc::settings::{FORMAT, TproccSettings};
use proofload_engine::Value;
use proofload_gen::tprocc::population::{Chunk, ContentHash, GENERATOR_VERSION, Population, Table};
use proofload_model::error::Error;
use std::collections::BTreeMap;

/// One row.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Note {
    row_count: i64,
    content: String,
}

/// The manifest of a database, read whole.
#[derive(Debug, Clone, Default)]
pub(crate) struct Manifest {
    notes: BTreeMap<(String, i64), Note>,
}

/// Identity of the data: name and value, in the order in which differences are reported.
pub(crate) fn wanted(settings: &TproccSettings, population: &Population) -> Vec<(&'static str, String)> {
    vec![
        ("format", FORMAT.to_string()),
        ("generator version", GENERATOR_VERSION.to_string()),
        ("content hash version", ContentHash::VERSION.to_string()),
        ("profile", population.profile.name()),
        ("scale", settings.scale.name.to_owned()),
        ("warehouses", settings.warehouses.to_string()),
        ("seed", population.seed.0.to_string()),
        ("c_load", population.c_load.0.to_string()),
        ("load time", population.loaded_at.0.to_string()),
    ]
}

impl Manifest {
    /// Reads it; `None` when the database has none, or one whose build was killed before it noted anything.
    pub(crate) fn read(session: &mut BlockingSession, dialect: &Dialect) -> Result<Option<Self>, Error> {
        let found = session.query(&dialect.suite.statement("manifest_exists")?.sql)?;
        if found.first().map(|row| integer(row, 0)).transpose()?.unwrap_or(0) == 0 {
            return Ok(None);
        }
        let mut manifest = Self::default();
        for row in session.query(&dialect.suite.statement("manifest_rows")?.sql)? {
            let note = Note { row_count: integer(&row, 2)?, content: text(&row, 3)?.to_owned() };
            manifest.notes.insert((text(&row, 0)?.to_owned(), integer(&row, 1)?), note);
        }
        Ok((!manifest.notes.is_empty()).then_some(manifest))
    }

    /// An error unless the data are those that are wanted; it names each difference and what to do.
    pub(crate) fn fits(&self, wanted: &[(&'static str, String)]) -> Result<(), Error> {
        let remedy = "give the study another name or storage.path, or remove the data to rebuild them";
        manifest::fits(|name| self.content(name), wanted, remedy)
    }

    /// The text of an entry that belongs to no warehouse.
    pub(crate) fn content(&self, entry: &str) -> Option<&str> {
        self.notes.get(&(entry.to_owned(), 0)).map(|note| note.content.as_str())
    }

    /// Whether the build is complete.
    pub(crate) fn is_complete(&self) -> bool {
        self.content(COMPLETE).is_some()
    }

    /// Whether a chunk is loaded.
    pub(crate) fn has(&self, chunk: Chunk) -> bool {
        let w_id = i64::from(chunk.warehouse().unwrap_or(0));
        chunk.tables().iter().all(|table| self.notes.contains_key(&(rows_entry(*table), w_id)))
    }

    /// Whether a chunk is noted with exactly these contents.
    pub(super) fn holds(&self, chunk: Chunk, parts: &[Part]) -> Result<bool, Error> {
        let w_id = i64::from(chunk.warehouse().unwrap_or(0));
        for part in parts {
            if self.notes.get(&(rows_entry(part.table), w_id)) != Some(&note_of(part)?) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Rows and content hash of a table, from its chunks.
    pub(crate) fn table(&self, table: Table) -> Result<ContentHash, Error> {
        let entry = rows_entry(table);
        let mut sum = ContentHash::default();
        for ((_, w_id), note) in self.notes.iter().filter(|((name, _), _)| *name == entry) {
            let wrong =
                || Error::new(format!("the manifest's entry {entry:?} of warehouse {w_id} is not a content hash"));
            let part = u128::from_str_radix(&note.content, 16).map_err(|_| wrong())?;
            let rows = u64::try_from(note.row_count).map_err(|_| wrong())?;
            sum.merge(ContentHash { sum: part, rows });
        }
        Ok(sum)
    }
}

/// Entry of the rows of a table in a chunk.
fn rows_entry(table: Table) -> String {
    format!("rows {}", table.name())
}

/// SQL that removes an entry.
pub(crate) fn remove(dialect: &Dialect, entry: &str) -> Result<String, Error> {
    Ok(dialect.suite.with_values("manifest_remove", &[("entry", Value::Text(entry))])? + ";\n")
}

/// SQL that adds an entry.
pub(crate) fn add(dialect: &Dialect, entry: &str, content: &str) -> Result<String, Error> {
    add_row(dialect, entry, 0, Note { row_count: 0, content: content.to_owned() })
}

/// SQL that notes a loaded chunk.
pub(in crate::workloads::tprocc) fn add_chunk(
    dialect: &Dialect,
    chunk: Chunk,
    parts: &[Part],
) -> Result<String, Error> {
    let mut script = String::new();
    for part in parts {
        script.push_str(&add_row(dialect, &rows_entry(part.table), chunk.warehouse().unwrap_or(0), note_of(part)?)?);
    }
    Ok(script)
}

/// The note of the rows of one table in a chunk.
fn note_of(part: &Part) -> Result<Note, Error> {
    let row_count = i64::try_from(part.content.rows).map_err(|_| Error::new("a chunk has too many rows"))?;
    Ok(Note { row_count, content: part.content.to_string() })
}

/// SQL that notes the end of the build.
pub(super) fn add_complete(dialect: &Dialect) -> Result<String, Error> {
    add(dialect, COMPLETE, "yes")
}

fn add_row(dialect: &Dialect, entry: &str, w_id: i32, note: Note) -> Result<String, Error> {
    let values = [
        ("entry", Value::Text(entry)),
        ("w_id", Value::Integer(w_id.into())),
        ("row_count", Value::Integer(note.row_count)),
        ("content", Value::Text(&note.content)),
    ];
    Ok(dialect.suite.with_values("manifest_add", &values)? + ";\n")
}
