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
    /// Items of `levels`, if that is a list.
    pub(crate) levels: Vec<LevelText>,
}

/// A level as written.
#[derive(Debug, Clone)]
pub(crate) struct LevelText {
    pub(crate) line: Option<usize>,
    pub(crate) value: Toml,
    /// Leaves of a table, by their paths below the factor's setting; `None` for a plain value.
    pub(crate) keys: Option<Vec<Assignment>>,
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
        .ok_or_else(|| Error::new(format!("--set {text}: use setting=value, such as workload.warehouses=2")))?;
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
        let reason = "factors must be tables: use [[factor]] with setting and levels".to_owned();
        parsed.faults.push(Fault {
            line: line_of_item(text, item),
            key: "factor".to_owned(),
            reason,
            suggestion: None,
        });
        return;
    };
    for table in tables {
        let key = |(key, item): (&str, &Item)| {
            let value = item.clone().into_value().ok()?;
            Some(Assignment { path: key.to_owned(), line: line_of_item(text, item), value })
        };
        let keys: Vec<Assignment> = table.iter().filter_map(key).collect();
        parsed.factors.push(FactorText::of(keys, Some(text)));
    }
}

impl FactorText {
    /// A factor with these keys; lines are those of `text`.
    pub(crate) fn of(keys: Vec<Assignment>, text: Option<&str>) -> Self {
        let list = keys.iter().find(|key| key.path == "levels");
        let of_value = |value: &Toml| value.span().zip(text).map(|(span, text)| line_of(text, span.start));
        let level = |value: &Toml| {
            let keys = value.as_inline_table().map(|_| {
                let mut keys = Vec::new();
                leaves("", value, &of_value, &mut keys);
                keys
            });
            let of_keys = || keys.iter().flatten().find_map(|key| key.line);
            let line = of_value(value).or_else(of_keys).or(list.and_then(|list| list.line));
            LevelText { line, value: value.clone(), keys }
        };
        let levels = list.and_then(|list| list.value.as_array()).into_iter().flatten().map(level).collect();
        Self { line: keys.first().and_then(|key| key.line), keys, levels }
    }

    /// The setting that it names.
    pub(crate) fn setting(&self) -> Option<&str> {
        self.keys.iter().find(|key| key.path == "setting").and_then(|key| key.value.as_str())
    }

    /// Its values of a setting as written, with their lines.
    pub(crate) fn values<'a>(&'a self, path: &'a str) -> impl Iterator<Item = (Option<usize>, &'a Toml)> {
        let below = self.setting().and_then(|setting| path.strip_prefix(setting));
        let rest = below.and_then(|below| below.strip_prefix('.'));
        let own = self.levels.iter().filter(move |level| below == Some("") && level.keys.is_none());
        let keys = self.levels.iter().flat_map(|level| level.keys.iter().flatten());
        let in_tables = keys.filter(move |key| rest == Some(&key.path)).map(|key| (key.line, &key.value));
        own.map(|level| (level.line, &level.value)).chain(in_tables)
    }

    /// The line where it stands, or where it first assigns a setting of its group.
    pub(crate) fn line_of(&self, path: &str) -> Option<usize> {
        if self.setting() == Some(path) { self.line } else { self.values(path).find_map(|(line, _)| line) }
    }

    /// Whether it varies a setting.
    pub(crate) fn gives(&self, path: &str) -> bool {
        self.setting() == Some(path) || self.values(path).next().is_some()
    }

    /// Leaves a setting out of a group; levels that become the same are one. Nothing is left of a factor without any assignment.
    pub(crate) fn leave_out(&mut self, path: &str) {
        if !self.gives(path) {
            return;
        }
        let rest = self.setting().and_then(|setting| path.strip_prefix(setting)).unwrap_or_default().to_owned();
        let rest = rest.strip_prefix('.').unwrap_or_default();
        let mut kept: Vec<LevelText> = Vec::new();
        for mut level in std::mem::take(&mut self.levels) {
            level.keys.iter_mut().for_each(|keys| keys.retain(|key| key.path != rest));
            if !kept.iter().any(|other| other.is_like(&level)) {
                kept.push(level);
            }
        }
        self.levels = kept;
    }

    /// Whether no level assigns anything.
    pub(crate) fn is_empty(&self) -> bool {
        self.levels.iter().all(|level| level.keys.as_ref().is_some_and(Vec::is_empty))
    }
}

impl LevelText {
    /// Whether both are tables of the same keys and values.
    fn is_like(&self, other: &Self) -> bool {
        let words = |level: &Self| {
            let key = |key: &Assignment| (key.path.clone(), key.value.to_string().trim().to_owned());
            level.keys.as_ref().map(|keys| keys.iter().map(key).collect::<std::collections::BTreeSet<_>>())
        };
        words(self).is_some() && words(self) == words(other)
    }
}

/// Leaves of an inline table with their paths below it; a table without keys is a leaf below the first level.
fn leaves(path: &str, value: &Toml, line: &impl Fn(&Toml) -> Option<usize>, found: &mut Vec<Assignment>) {
    match value.as_inline_table() {
        Some(table) if path.is_empty() || !table.is_empty() => {
            for (key, inner) in table.iter() {
                let path = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
                leaves(&path, inner, line, found);
            }
        }
        _ => found.push(Assignment { path: path.to_owned(), line: line(value), value: value.clone() }),
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
