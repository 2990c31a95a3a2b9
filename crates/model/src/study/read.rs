//! Reading TOML into a flat list of assignments with their lines. Knows no settings.

use super::fault::{Fault, nearest};
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

/// Most keys, tables and levels of a study together. The largest study of this repository has some hundred; rules compare keys with each
/// other, so that a study of millions would keep them busy for hours.
const MOST_ENTRIES: usize = 20_000;

/// Takes a study file apart; a fault of syntax, or too many entries, leave nothing else to say.
pub(crate) fn take_apart(text: &str) -> ParsedStudy {
    let mut parsed = ParsedStudy::default();
    let lines = LineStarts::of(text);
    let document = match Document::parse(text) {
        Ok(document) => document,
        Err(error) => {
            let line = error.span().map(|span| lines.line_of(span.start));
            parsed.faults.push(Fault::new(line, "", format!("not TOML: {}", error.message())));
            return parsed;
        }
    };
    for (key, item) in document.as_table().iter() {
        if key == "factor" { take_factors(&lines, item, &mut parsed) } else { flatten(&lines, key, item, &mut parsed) }
    }
    let entries = parsed.entries();
    if entries > MOST_ENTRIES {
        let reason = format!(
            "{entries} keys, tables and levels, at most {MOST_ENTRIES} are taken; is this another kind of file?"
        );
        return ParsedStudy { faults: vec![Fault::new(None, "", reason)], ..ParsedStudy::default() };
    }
    parsed
}

impl ParsedStudy {
    /// Number of its keys, tables without a key, and levels.
    fn entries(&self) -> usize {
        let of_level = |level: &LevelText| 1 + level.keys.as_ref().map_or(0, Vec::len);
        let of_factor = |factor: &FactorText| factor.keys.len() + factor.levels.iter().map(of_level).sum::<usize>();
        let of_factors: usize = self.factors.iter().map(of_factor).sum();
        self.assignments.len() + self.empty_tables.len() + self.faults.len() + self.factors.len() + of_factors
    }
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
fn take_factors(lines: &LineStarts, item: &Item, parsed: &mut ParsedStudy) {
    let tables: Option<Vec<&dyn TableLike>> = match item {
        Item::ArrayOfTables(tables) => Some(tables.iter().map(|table| table as &dyn TableLike).collect()),
        Item::Value(Toml::Array(items)) => {
            items.iter().map(|item| item.as_inline_table().map(|table| table as &dyn TableLike)).collect()
        }
        _ => None,
    };
    let Some(tables) = tables else {
        let reason = "factors must be tables: use [[factor]] with setting and levels";
        parsed.faults.push(Fault::new(lines.line_of_item(item), "factor", reason));
        return;
    };
    for table in tables {
        let key = |(key, item): (&str, &Item)| {
            let value = item.clone().into_value().ok()?;
            Some(Assignment { path: key.to_owned(), line: lines.line_of_item(item), value })
        };
        let keys: Vec<Assignment> = table.iter().filter_map(key).collect();
        parsed.factors.push(FactorText::of(keys, Some(lines)));
    }
}

impl FactorText {
    /// A factor with these keys; without `lines` its values have none.
    pub(crate) fn of(keys: Vec<Assignment>, lines: Option<&LineStarts>) -> Self {
        let list = keys.iter().find(|key| key.path == "levels");
        let of_value = |value: &Toml| value.span().zip(lines).map(|(span, lines)| lines.line_of(span.start));
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

    /// Leaves a setting out of a group; levels that become the same are one. Tells whether anything is left: not of the factor
    /// of the setting alone, and not of a group without any assignment.
    #[must_use]
    pub(crate) fn leave_out(&mut self, path: &str) -> bool {
        if !self.gives(path) {
            return true;
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
        self.setting() != Some(path) && !self.is_empty()
    }

    /// Whether no level assigns anything.
    fn is_empty(&self) -> bool {
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
fn flatten(lines: &LineStarts, path: &str, item: &Item, parsed: &mut ParsedStudy) {
    if let Some(table) = item.as_table_like() {
        if table.is_empty() {
            parsed.empty_tables.push((path.to_owned(), lines.line_of_item(item)));
        }
        for (key, inner) in table.iter() {
            flatten(lines, &format!("{path}.{key}"), inner, parsed);
        }
    } else if let Some(value) = item.as_value() {
        parsed.assignments.push(Assignment {
            path: path.to_owned(),
            line: lines.line_of_item(item),
            value: value.clone(),
        });
    } else {
        let suggestion = nearest(path, ["factor"].into_iter()).map(|name| format!("[[{name}]]"));
        let (line, reason) = (lines.line_of_item(item), "a list of tables is not allowed here".to_owned());
        parsed.faults.push(Fault { line, key: path.to_owned(), reason, suggestion });
    }
}

/// Where the lines of a text begin, so that a position is found without a walk through the text.
pub(crate) struct LineStarts {
    /// Positions behind each end of a line, upwards.
    starts: Vec<usize>,
}

impl LineStarts {
    fn of(text: &str) -> Self {
        Self { starts: text.match_indices('\n').map(|(at, _)| at + 1).collect() }
    }

    /// Line of a byte position, from 1.
    fn line_of(&self, position: usize) -> usize {
        self.starts.partition_point(|start| *start <= position) + 1
    }

    /// Line of an item, if it has a place.
    fn line_of_item(&self, item: &Item) -> Option<usize> {
        item.span().map(|span| self.line_of(span.start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_in_the_line_that_its_newline_ends() {
        let lines = LineStarts::of("a\n\nbc\n");
        assert_eq!([0, 1, 2, 3, 5, 6, 99].map(|at| lines.line_of(at)), [1, 1, 2, 3, 3, 4, 4]);
    }

    #[test]
    fn a_file_of_more_entries_than_a_study_has_is_refused_as_a_whole() {
        let levels = |count: usize| format!("[[factor]]\nsetting = \"a.b\"\nlevels = [{}]\n", "1,".repeat(count));
        let keys = |count: usize| (0..count).map(|key| format!("k{key} = 1\n")).collect::<String>();
        for text in [levels(MOST_ENTRIES), keys(MOST_ENTRIES + 1)] {
            let parsed = take_apart(&text);
            assert!(parsed.assignments.is_empty() && parsed.factors.is_empty());
            let [fault] = parsed.faults.as_slice() else { panic!("{:?}", parsed.faults) };
            assert!(fault.reason.contains("at most 20000 are taken"), "{fault}");
        }
        assert!(take_apart(&keys(MOST_ENTRIES)).faults.is_empty());
    }
}
