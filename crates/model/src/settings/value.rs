//! Values of settings and a set of them by dotted path. May not know which settings exist.

use crate::error::Error;
use crate::units::{Bytes, duration_text};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// The value of one setting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Value {
    /// Text or a word of a choice.
    Text(String),
    /// Whole number.
    Integer(i64),
    /// Number with a fraction.
    Number(f64),
    /// Yes or no.
    Boolean(bool),
    /// Size.
    Bytes(Bytes),
    /// Time span.
    Duration(Duration),
    /// List of texts, such as a command.
    List(Vec<String>),
    /// Settings of a group by their paths below its beginning: a level of a factor, never the value of one setting.
    Table(BTreeMap<String, Value>),
}

impl Value {
    /// What it assigns to a setting as a level of a factor; `None` where a table leaves the setting as the study has it.
    pub fn assigned(&self, factor: &str, path: &str) -> Option<&Self> {
        match self {
            Self::Table(values) => values.get(path.strip_prefix(factor)?.strip_prefix('.')?),
            value => (factor == path).then_some(value),
        }
    }

    /// Text that equal values share, so that values can be looked up by it. Zeros of both signs are equal; values of one text need not be.
    #[must_use]
    pub fn key_text(&self) -> String {
        match self {
            Self::Number(number) => (number + 0.0).to_string(),
            Self::Table(values) => table_text(values, Self::key_text),
            other => other.to_string(),
        }
    }
}

/// What a level that assigns nothing is called. Not "as given", which is said of figures.
const UNCHANGED: &str = "unchanged";

/// Keys of a table with their values in words, as a report and a plan show a level.
pub fn table_text(values: &BTreeMap<String, Value>, word: impl Fn(&Value) -> String) -> String {
    if values.is_empty() {
        return UNCHANGED.to_owned();
    }
    values.iter().map(|(key, value)| format!("{key} {}", word(value))).collect::<Vec<_>>().join(", ")
}

impl fmt::Display for Value {
    /// Writes it as in a study file, without quotes; a table as keys with their values.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Integer(number) => write!(f, "{number}"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Boolean(value) => write!(f, "{value}"),
            Self::Bytes(bytes) => write!(f, "{bytes}"),
            Self::Duration(time) => f.write_str(&duration_text(*time)),
            Self::List(items) => f.write_str(&items.join(" ")),
            Self::Table(values) => f.write_str(&table_text(values, ToString::to_string)),
        }
    }
}

/// Resolved settings by dotted path, such as `limits.memory`. Keys without a value are absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Settings(pub BTreeMap<String, Value>);

impl Settings {
    /// The value at a path.
    pub fn get(&self, path: &str) -> Option<&Value> {
        self.0.get(path)
    }

    /// Text at a path; the error names the path. Validated studies have every key that has a default.
    pub fn text(&self, path: &str) -> Result<&str, Error> {
        match self.get(path) {
            Some(Value::Text(text)) => Ok(text),
            other => Err(missing(path, "text", other)),
        }
    }

    /// Whole number at a path.
    pub fn integer(&self, path: &str) -> Result<i64, Error> {
        match self.get(path) {
            Some(Value::Integer(number)) => Ok(*number),
            other => Err(missing(path, "a whole number", other)),
        }
    }

    /// Whole number at a path, as a count.
    pub fn count(&self, path: &str) -> Result<u32, Error> {
        u32::try_from(self.integer(path)?).map_err(|_| missing(path, "a count", self.get(path)))
    }

    /// Number at a path.
    pub fn number(&self, path: &str) -> Result<f64, Error> {
        match self.get(path) {
            Some(Value::Number(number)) => Ok(*number),
            Some(Value::Integer(number)) => Ok(*number as f64),
            other => Err(missing(path, "a number", other)),
        }
    }

    /// Yes or no at a path.
    pub fn boolean(&self, path: &str) -> Result<bool, Error> {
        match self.get(path) {
            Some(Value::Boolean(value)) => Ok(*value),
            other => Err(missing(path, "true or false", other)),
        }
    }

    /// Size at a path.
    pub fn bytes(&self, path: &str) -> Result<Bytes, Error> {
        match self.get(path) {
            Some(Value::Bytes(bytes)) => Ok(*bytes),
            other => Err(missing(path, "a size", other)),
        }
    }

    /// Time span at a path.
    pub fn duration(&self, path: &str) -> Result<Duration, Error> {
        match self.get(path) {
            Some(Value::Duration(time)) => Ok(*time),
            other => Err(missing(path, "a duration", other)),
        }
    }

    /// List at a path; empty when absent.
    pub fn list(&self, path: &str) -> &[String] {
        match self.get(path) {
            Some(Value::List(items)) => items,
            _ => &[],
        }
    }

    /// All settings below a prefix (given without the dot), with the rest of their paths.
    pub fn below<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (&'a str, &'a Value)> {
        self.0.iter().filter_map(move |(path, value)| {
            path.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('.')).map(|rest| (rest, value))
        })
    }

    /// The same settings with some replaced; a table replaces each setting that it assigns.
    #[must_use]
    pub fn with<'a>(&self, changes: impl IntoIterator<Item = (&'a String, &'a Value)>) -> Self {
        let mut changed = self.clone();
        for (path, value) in changes {
            changed.0.extend(Self::of_level(path, value).0);
        }
        changed
    }

    /// What one level of a factor assigns.
    pub fn of_level(factor: &str, level: &Value) -> Self {
        Self(match level {
            Value::Table(values) => {
                values.iter().map(|(key, value)| (format!("{factor}.{key}"), value.clone())).collect()
            }
            value => BTreeMap::from([(factor.to_owned(), value.clone())]),
        })
    }
}

/// The error of a getter.
fn missing(path: &str, wanted: &str, found: Option<&Value>) -> Error {
    match found {
        None => Error::new(format!("setting {path} is required but not set")),
        Some(value) => Error::new(format!("setting {path} is {value}, but must be {wanted}")),
    }
}
