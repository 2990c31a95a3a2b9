//! `engine.settings.*` of SQLite: the pragmas that a study may set, applied per session and read back.
//! Values are brought to one written form first, so nothing of a study's text reaches SQL as it stands.

use super::failure::failed;
use crate::contract::Error;
use proofload_model::catalogue::{EnginePlace, RefusedSetting};
use proofload_model::facts::engine;
use proofload_model::samples::Fact;
use proofload_model::units::{Bytes, parse_duration};
use rusqlite::Connection;
use rusqlite::types::ValueRef;
use std::time::Duration;

/// How a pragma's value is written.
#[derive(Debug, Clone, Copy)]
enum Form {
    /// One of some words; SQLite may give back the number.
    Words(&'static [(&'static str, i64)]),
    /// A whole number.
    Count,
    /// Bytes: a number or a size such as `64MiB`.
    Size,
    /// A page cache: pages, or KiB when negative, or a size.
    Cache,
    /// Milliseconds: a number or a duration.
    Milliseconds,
}

/// Off and on.
const SWITCH: Form = Form::Words(&[("OFF", 0), ("ON", 1), ("FALSE", 0), ("TRUE", 1), ("NO", 0), ("YES", 1)]);

/// The pragmas that may be set, in the order in which they are applied: those that shape a new file come first.
const PRAGMAS: &[(&str, Form)] = &[
    ("page_size", Form::Size),
    ("auto_vacuum", Form::Words(&[("NONE", 0), ("FULL", 1), ("INCREMENTAL", 2)])),
    ("busy_timeout", Form::Milliseconds),
    ("locking_mode", Form::Words(&[("NORMAL", 0), ("EXCLUSIVE", 1)])),
    (
        "journal_mode",
        Form::Words(&[("DELETE", 0), ("PERSIST", 1), ("OFF", 2), ("TRUNCATE", 3), ("MEMORY", 4), ("WAL", 5)]),
    ),
    ("synchronous", Form::Words(&[("OFF", 0), ("NORMAL", 1), ("FULL", 2), ("EXTRA", 3)])),
    ("cache_size", Form::Cache),
    ("mmap_size", Form::Size),
    ("wal_autocheckpoint", Form::Count),
    ("journal_size_limit", Form::Size),
    ("temp_store", Form::Words(&[("DEFAULT", 0), ("FILE", 1), ("MEMORY", 2)])),
    ("foreign_keys", SWITCH),
    ("automatic_index", SWITCH),
    ("cell_size_check", SWITCH),
    ("threads", Form::Count),
    ("analysis_limit", Form::Count),
    ("soft_heap_limit", Form::Size),
    ("hard_heap_limit", Form::Size),
];

/// What holds unless the study says otherwise: the write-ahead log, durable commits, and ten seconds of patience with another
/// writer before a transaction is given back as retryable.
const DEFAULTS: &[(&str, &str)] = &[("journal_mode", "WAL"), ("synchronous", "FULL"), ("busy_timeout", "10000")];

/// Pragmas that a study's reader wants to know whether or not they were asked for; `page_count` is the file's size.
const OBSERVED: &[&str] = &[
    "page_size",
    "page_count",
    "cache_size",
    "mmap_size",
    "wal_autocheckpoint",
    "temp_store",
    "foreign_keys",
    "threads",
];

/// A pragma to apply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pragma {
    name: &'static str,
    asked: String,
    canonical: String,
}

/// A setting that is no pragma: how long one query may take.
const STATEMENT_TIMEOUT: &str = "statement_timeout";

/// Another one: how writers of this process meet.
const WRITERS: &str = "writers";

/// The word for writers that come in their order.
const QUEUE: &str = "queue";

/// Whether the writers of this process come in their order.
pub(super) fn has_queue(settings: &[(String, String)]) -> bool {
    writers(settings) == QUEUE
}

/// How the writers of this process meet.
pub(super) fn writers_fact(settings: &[(String, String)]) -> Fact {
    engine::SETTING.of(WRITERS).observed(writers(settings), "Proofload's sessions")
}

fn writers(settings: &[(String, String)]) -> &str {
    settings.iter().rev().find(|(name, _)| name == WRITERS).map_or("busy", |(_, value)| value)
}

/// How long one query may take, if the settings limit it.
pub(super) fn statement_timeout(settings: &[(String, String)]) -> Result<Option<Duration>, Error> {
    let given = settings.iter().rev().find(|(name, _)| name == STATEMENT_TIMEOUT);
    let read = |(_, value): &(String, String)| {
        parse_duration(value).map_err(|error| Error::other(format!("SQLite setting {STATEMENT_TIMEOUT}: {error}")))
    };
    given.map(read).transpose()
}

/// Names of all settings.
pub(super) fn names() -> Vec<&'static str> {
    PRAGMAS.iter().map(|(name, _)| *name).chain([STATEMENT_TIMEOUT]).collect()
}

/// Settings with a value that is not of their form; nothing of unknown names.
pub(super) fn refused(_place: EnginePlace, settings: &[(String, String)]) -> Vec<RefusedSetting> {
    let refused = |(name, value): &(String, String)| {
        let one = [(name.clone(), value.clone())];
        let error = match PRAGMAS.iter().find(|(known, _)| known == name) {
            Some(&(known, form)) => pragma(known, form, value).err()?,
            None => statement_timeout(&one).err()?,
        };
        Some(RefusedSetting { name: name.clone(), value: value.clone(), reason: error.to_string() })
    };
    settings.iter().filter_map(refused).collect()
}

/// The pragmas that settings ask for, ours as defaults, later settings over earlier ones; in order of application.
pub(super) fn asked(settings: &[(String, String)]) -> Result<Vec<Pragma>, Error> {
    if let Some((name, _)) = settings.iter().find(|(name, _)| {
        ![STATEMENT_TIMEOUT, WRITERS].contains(&name.as_str()) && !PRAGMAS.iter().any(|(known, _)| known == name)
    }) {
        let known: Vec<&str> = PRAGMAS.iter().map(|(name, _)| *name).collect();
        return Err(Error::other(format!("unknown SQLite setting {name:?}; known: {}", known.join(", "))));
    }
    let value = |name: &str| {
        let given = settings.iter().rev().find(|(given, _)| given == name).map(|(_, value)| value.as_str());
        given.or_else(|| DEFAULTS.iter().find(|(default, _)| *default == name).map(|(_, value)| *value))
    };
    PRAGMAS.iter().filter_map(|&(name, form)| value(name).map(|value| pragma(name, form, value))).collect()
}

/// An error where pragmas ask for what a tier does not carry: a log that is no write-ahead log, and memory maps.
pub(super) fn expect_for_tier(pragmas: &[Pragma]) -> Result<(), Error> {
    let is = |name: &str, wanted: &str| pragmas.iter().all(|pragma| pragma.name != name || pragma.canonical == wanted);
    if is("journal_mode", "WAL") && is("mmap_size", "0") {
        return Ok(());
    }
    Err(Error::other(
        "storage.kind = \"tier\" needs SQLite's journal_mode = \"WAL\" and no mmap_size; remove both settings",
    ))
}

/// Applies pragmas to a connection.
pub(super) fn apply(connection: &Connection, pragmas: &[Pragma]) -> Result<(), Error> {
    for pragma in pragmas {
        connection
            .execute_batch(&format!("PRAGMA {} = {}", pragma.name, pragma.canonical))
            .map_err(|error| failed(error).context(format!("failed to set {} to {}", pragma.name, pragma.asked)))?;
    }
    Ok(())
}

/// What was asked and what is in force, as this connection sees it, and the file's size in pages.
pub(super) fn facts(connection: &Connection, pragmas: &[Pragma]) -> Result<Vec<Fact>, Error> {
    let mut facts = vec![engine::VERSION.observed(rusqlite::version(), "SQLite")];
    for pragma in pragmas {
        let effective = read_back(connection, pragma.name)?;
        let (holds, source) = (effective == pragma.canonical, format!("PRAGMA {}", pragma.name));
        facts.push(engine::SETTING.of(pragma.name).compared(&pragma.asked, Some(effective), holds, source));
    }
    for name in OBSERVED {
        if !pragmas.iter().any(|pragma| pragma.name == *name) {
            let found = read_back(connection, name)?;
            facts.push(engine::SETTING.of(name).observed(found, format!("PRAGMA {name}")));
        }
    }
    Ok(facts)
}

/// Brings a value to its written form.
fn pragma(name: &'static str, form: Form, asked: &str) -> Result<Pragma, Error> {
    let canonical = canonical(form, asked.trim())
        .ok_or_else(|| Error::other(format!("SQLite setting {name} = {asked:?} must be {}", words(form))))?;
    Ok(Pragma { name, asked: asked.to_owned(), canonical })
}

fn canonical(form: Form, text: &str) -> Option<String> {
    let number = text.parse::<i64>().ok();
    match form {
        Form::Words(words) => words
            .iter()
            .find(|(word, _)| word.eq_ignore_ascii_case(text))
            .map(|(_, value)| *value)
            .or(number)
            .and_then(|value| words.iter().find(|(_, known)| *known == value))
            .map(|(word, _)| (*word).to_owned()),
        Form::Count => number.map(|number| number.to_string()),
        Form::Size => number.or_else(|| size(text)).map(|number| number.to_string()),
        Form::Cache => number.or_else(|| Some(-(size(text)? / 1024))).map(|number| number.to_string()),
        Form::Milliseconds => number.or_else(|| milliseconds(text)).map(|number| number.to_string()),
    }
}

fn size(text: &str) -> Option<i64> {
    i64::try_from(Bytes::parse(text).ok()?.0).ok()
}

fn milliseconds(text: &str) -> Option<i64> {
    i64::try_from(parse_duration(text).ok()?.as_millis()).ok()
}

fn words(form: Form) -> String {
    match form {
        Form::Words(words) => words.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", "),
        Form::Count => "a whole number".to_owned(),
        Form::Size => "a number of bytes or a size such as 64MiB".to_owned(),
        Form::Cache => "a number of pages, a negative number of KiB, or a size such as 64MiB".to_owned(),
        Form::Milliseconds => "a number of milliseconds or a duration such as 5s".to_owned(),
    }
}

/// A pragma's value in its written form.
fn read_back(connection: &Connection, name: &str) -> Result<String, Error> {
    let text = connection
        .query_row(&format!("PRAGMA {name}"), [], |row| {
            Ok(match row.get_ref(0)? {
                ValueRef::Integer(value) => value.to_string(),
                other => other.as_str().unwrap_or("not text").to_owned(),
            })
        })
        .map_err(|error| failed(error).context(format!("failed to read {name} back")))?;
    let form = PRAGMAS.iter().find(|(known, _)| *known == name).map(|(_, form)| *form);
    Ok(form.and_then(|form| canonical(form, &text)).unwrap_or(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, value: &str, expected: Option<&str>) {
        let found = asked(&[(name.to_owned(), value.to_owned())])
            .ok()
            .and_then(|pragmas| pragmas.into_iter().find(|pragma| pragma.name == name))
            .map(|pragma| pragma.canonical);
        assert_eq!(found.as_deref(), expected, "{name} = {value}");
    }

    #[test]
    fn values_get_one_written_form() {
        check("synchronous", "2", Some("FULL"));
        check("synchronous", "normal", Some("NORMAL"));
        check("synchronous", "7", None);
        check("cache_size", "2MiB", Some("-2048"));
        check("cache_size", "-2000", Some("-2000"));
        check("busy_timeout", "5s", Some("5000"));
        check("foreign_keys", "true", Some("ON"));
        check("mmap_size", "1GiB", Some("1073741824"));
        check("journal_mode", "WAL; DROP TABLE item", None);
    }

    #[test]
    fn a_value_of_another_form_is_told_before_a_database_is_opened() {
        let given =
            [("journal_mode", "wall"), ("synchronous", "normal"), ("statement_timeout", "soon"), ("nothing", "1")];
        let given = given.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let found = refused(EnginePlace::Here, &given);
        let names: Vec<&str> = found.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["journal_mode", "statement_timeout"]);
        assert!(found[0].reason.contains("\"wall\" must be DELETE, PERSIST"), "{}", found[0].reason);
    }

    #[test]
    fn unknown_names_are_refused_with_the_known_ones() {
        let error = asked(&[("cachesize".to_owned(), "1".to_owned())]).unwrap_err().to_string();
        assert!(error.contains("\"cachesize\"") && error.contains("cache_size"), "{error}");
    }
}
