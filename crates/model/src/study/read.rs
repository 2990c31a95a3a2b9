//! Reading TOML into a flat list of assignments with their lines. Knows no settings.

use super::fault::Fault;
use crate::error::Error;
use toml_edit::{Document, Item, TableLike, Value as Toml};

/// One key with its value, wherever it stood.
#[derive(Debug, Clone)]
pub struct Assignment {
    /// Dotted path.
    pub path: String,
    /// Line in the file, from 1; `None` for `--set`.
    pub line: Option<usize>,
    /// The value.
    pub value: Toml,
}

/// A `[[factor]]` as written.
#[derive(Debug, Clone)]
pub(crate) struct FactorText {
    pub(crate) line: Option<usize>,
    pub(crate) keys: Vec<Assignment>,
}

/// A study file taken apart.
#[derive(Debug, Clone, Default)]
pub(crate) struct ParsedStudy {
    pub(crate) assignments: Vec<Assignment>,
    pub(crate) factors: Vec<FactorText>,
    pub(crate) faults: Vec<Fault>,
    /// Tables without a key, with their lines.
    pub(crate) empty_tables: Vec<(String, Option<usize>)>,
}

/// Takes a study file apart; a fault of syntax leaves nothing else to say.
pub(crate) fn take_apart(text: &str) -> ParsedStudy {
    let mut parsed = ParsedStudy::default();
    let document = match Document::parse(text) {
        Ok(document) => document,
        Err(error) => {
            let line = error.span().map(|span| line_of(text, span.start));
            parsed.faults.push(Fault {
                line,
                key: String::new(),
                reason: format!("not TOML: {}", error.message()),
                suggestion: None,
            });
            return parsed;
        }
    };
    for (key, item) in document.as_table().iter() {
        if key == "factor" { take_factors(text, item, &mut parsed) } else { flatten(text, key, item, &mut parsed) }
    }
    parsed
}

/// Reads `key=value` of `--set`; the value is TOML, or a text when it is not.
pub fn parse_assignment(text: &str) -> Result<Assignment, Error> {
    let (path, value) = text
        .split_once('=')
        .filter(|(path, _)| !path.trim().is_empty())
        .ok_or_else(|| Error::new(format!("--set {text}: write it as setting=value, such as workload.warehouses=2")))?;
    let value = value.trim();
    let toml = value.parse::<Toml>().unwrap_or_else(|_| Toml::from(value));
    Ok(Assignment { path: path.trim().to_owned(), line: None, value: toml })
}

/// `[[factor]]` tables.
fn take_factors(text: &str, item: &Item, parsed: &mut ParsedStudy) {
    let tables: Option<Vec<&dyn TableLike>> = match item {
        Item::ArrayOfTables(tables) => Some(tables.iter().map(|table| table as &dyn TableLike).collect()),
        Item::Value(Toml::Array(items)) => {
            items.iter().map(|item| item.as_inline_table().map(|table| table as &dyn TableLike)).collect()
        }
        _ => None,
    };
    let Some(tables) = tables else {
        let reason = "factors are tables: write [[factor]] with setting and levels".to_owned();
        parsed.faults.push(Fault {
            line: line_of_item(text, item),
            key: "factor".to_owned(),
            reason,
            suggestion: None,
        });
        return;
    };
    for table in tables {
        let keys = table
            .iter()
            .filter_map(|(key, item)| item.as_value().map(|value| (key, value)))
            .map(|(key, value)| Assignment {
                path: key.to_owned(),
                line: value.span().map(|span| line_of(text, span.start)),
                value: value.clone(),
            })
            .collect::<Vec<_>>();
        let line = keys.first().and_then(|key| key.line);
        parsed.factors.push(FactorText { line, keys });
    }
}

/// Leaves of a table, inline or not, with their dotted paths.
fn flatten(text: &str, path: &str, item: &Item, parsed: &mut ParsedStudy) {
    if let Some(table) = item.as_table_like() {
        if table.is_empty() {
            parsed.empty_tables.push((path.to_owned(), line_of_item(text, item)));
        }
        for (key, inner) in table.iter() {
            flatten(text, &format!("{path}.{key}"), inner, parsed);
        }
    } else if let Some(value) = item.as_value() {
        parsed.assignments.push(Assignment {
            path: path.to_owned(),
            line: line_of_item(text, item),
            value: value.clone(),
        });
    } else {
        let reason = "a list of tables is not allowed here".to_owned();
        parsed.faults.push(Fault { line: line_of_item(text, item), key: path.to_owned(), reason, suggestion: None });
    }
}

/// Line of an item, if it has a place.
fn line_of_item(text: &str, item: &Item) -> Option<usize> {
    item.span().map(|span| line_of(text, span.start))
}

/// Line of a byte position, from 1.
fn line_of(text: &str, position: usize) -> usize {
    text.as_bytes()[..position.min(text.len())].iter().filter(|byte| **byte == b'\n').count() + 1
}
