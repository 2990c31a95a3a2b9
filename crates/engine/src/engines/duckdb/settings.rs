//! What was asked of DuckDB and what is in force, as a session reads it back from `duckdb_settings()` and the file.

use super::database::{self, file};
use super::failure::failed;
use super::library::Connection;
use super::options::Options;
use super::values;
use crate::contract::{Error, OwnedValue, Target};
use crate::engines::switch::switch;
use proofload_model::facts::{client, engine};
use proofload_model::samples::Fact;
use proofload_model::units::{Bytes, duration_text};

/// Options that a study's reader wants to know whether or not they were asked for.
const OBSERVED: &[&str] = &[
    "threads",
    "memory_limit",
    "temp_directory",
    "max_temp_directory_size",
    "checkpoint_threshold",
    "preserve_insertion_order",
    "default_block_size",
];
/// An option that only shapes a new file: what is in force is the file's own.
const BLOCK_SIZE: &str = "default_block_size";

/// All facts.
pub(super) fn verify(target: &Target) -> Result<Vec<Fact>, Error> {
    let options = Options::read(&target.place.settings)?;
    let opened = database::open(target, &options)?;
    let mut facts = vec![
        engine::VERSION.observed(opened.library.version, "duckdb_library_version"),
        engine::LIBRARY.observed(opened.library.path.display().to_string(), "the loaded library"),
        engine::FILE.observed(file(target).display().to_string(), "the study's folder"),
    ];
    if let Some(limit) = options.statement_timeout {
        facts.push(client::STATEMENT_TIMEOUT.carried_out(duration_text(limit), "enforced by the client"));
    }
    for (name, asked) in &options.asked {
        facts.push(compared(name, asked, read_back(&opened.connection, name)?));
    }
    for name in OBSERVED.iter().filter(|name| options.value(name).is_none()) {
        if let Some(found) = read_back(&opened.connection, name)? {
            facts.push(engine::SETTING.of(name).observed(found, source(name)));
        }
    }
    Ok(facts)
}

fn compared(name: &str, asked: &str, found: Option<String>) -> Fact {
    let holds = found.as_deref().is_some_and(|found| agree(asked, found));
    engine::SETTING.of(name).compared(asked, found, holds, source(name))
}

fn source(name: &str) -> &'static str {
    if name == BLOCK_SIZE { "pragma_database_size()" } else { "duckdb_settings()" }
}

/// An option's value as text; `None` when there is no such option.
fn read_back(connection: &Connection, name: &str) -> Result<Option<String>, Error> {
    let sql = if name == BLOCK_SIZE {
        "SELECT CAST(block_size AS VARCHAR) FROM pragma_database_size() LIMIT 1".to_owned()
    } else {
        format!("SELECT value FROM duckdb_settings() WHERE name = '{name}'")
    };
    let context = |text: String| failed(text).context(format!("failed to read {name} back"));
    let mut statement = connection.prepare(&sql).map_err(context)?;
    let mut rows = statement.execute().map_err(context)?;
    let Some(chunk) = rows.next_chunk() else { return Ok(None) };
    Ok(match values::read_owned(chunk.cell(0, 0))? {
        OwnedValue::Text(text) => Some(text),
        OwnedValue::Null => Some(String::new()),
        other => Some(format!("{other:?}")),
    })
}

/// Whether the value read back is the one asked for. DuckDB prints sizes with one digit after the point, so sizes agree
/// within that.
fn agree(asked: &str, found: &str) -> bool {
    let (asked, found) = (asked.trim(), found.trim());
    if asked.eq_ignore_ascii_case(found) || asked.parse::<f64>().is_ok_and(|asked| found.parse() == Ok(asked)) {
        return true;
    }
    let Some((low, high)) = printed_size(found) else {
        return switch(asked).is_some() && switch(asked) == switch(found);
    };
    let asked = Bytes::parse(asked).map(|size| size.0 as f64).ok().or_else(|| asked.parse().ok());
    asked.is_some_and(|asked| (low..=high).contains(&asked))
}

/// The sizes in bytes that are printed like this, such as `47.6 MiB`.
fn printed_size(text: &str) -> Option<(f64, f64)> {
    let (number, unit) = text.split_once(' ')?;
    let factor = match unit {
        "byte" | "bytes" => 1.0,
        "KiB" => 1024.0,
        "MiB" => 1_048_576.0,
        "GiB" => 1_073_741_824.0,
        "TiB" => 1_099_511_627_776.0,
        _ => return None,
    };
    let number: f64 = number.parse().ok()?;
    Some(((number - 0.1) * factor, (number + 0.1) * factor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_agree_however_duckdb_prints_them() {
        for (asked, found) in [
            ("64MiB", "64.0 MiB"),
            ("1536MiB", "1.5 GiB"),
            ("100MB", "95.3 MiB"),
            ("4", "4"),
            ("true", "1"),
            ("ON", "true"),
            ("nulls_last", "NULLS_LAST"),
        ] {
            assert!(agree(asked, found), "{asked} {found}");
        }
        for (asked, found) in [("64MiB", "65.0 MiB"), ("4", "5"), ("true", "false"), ("16384", "262144"), ("x", "")] {
            assert!(!agree(asked, found), "{asked} {found}");
        }
    }
}
