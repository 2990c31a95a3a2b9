//! What can be wrong with a text, told from its tokens.

use super::texts::Text;
use std::collections::{BTreeMap, BTreeSet};

/// Words and signs of other dialects.
const OTHERS: &[&str] =
    &["LIMIT", "RETURNING", "::", "BOOLEAN", "ILIKE", "GREATEST", "DIV", "NOW", "SERIAL", "TEMP", "TEMPORARY"];
/// Beginnings of the columns of the tables of orders.
const PREFIXES: &[&str] = &["w_", "d_", "c_", "h_", "no_", "o_", "ol_", "i_", "s_"];

/// Tables with their columns.
#[derive(Debug, Default)]
pub(crate) struct Schema {
    tables: BTreeMap<String, BTreeSet<String>>,
}

impl Schema {
    pub(crate) fn of(texts: &[Text]) -> Self {
        let mut schema = Self::default();
        for text in texts {
            for place in 0..text.tokens.len() {
                if text.has(place, &["CREATE", "TABLE"]) && text.at(place + 3) == "(" {
                    let parts = text.parts(place + 4, text.behind(place + 3) - 1);
                    let names = parts.iter().filter_map(|part| part.first()).filter(|name| *name != "PRIMARY").cloned();
                    schema.tables.insert(text.at(place + 2).to_owned(), names.collect());
                }
            }
        }
        schema
    }

    /// Columns of the tables of data.
    pub(crate) fn columns(&self) -> usize {
        self.tables.iter().filter(|(name, _)| *name != "proofload_manifest").map(|(_, columns)| columns.len()).sum()
    }

    fn has_column(&self, name: &str) -> bool {
        self.tables.values().any(|columns| columns.contains(name))
    }

    /// Whether the tables are those of orders.
    fn is_of_orders(&self) -> bool {
        self.tables.get("warehouse").is_some_and(|columns| columns.contains("w_id"))
    }
}

/// All that is wrong with a text.
pub(crate) fn faults(text: &Text, all: &[Text], schema: &Schema) -> Vec<String> {
    let mut found = Vec::new();
    variables(text, &mut found);
    separators(text, &mut found);
    calls(text, all, &mut found);
    insertions(text, schema, &mut found);
    columns(text, all, schema, &mut found);
    for (place, token) in text.tokens.iter().enumerate() {
        let parameter = place > 0 && text.at(place - 1) == ":";
        if !parameter && OTHERS.iter().any(|other| token.eq_ignore_ascii_case(other)) {
            found.push(format!("{token} is not of this language"));
        }
    }
    found.into_iter().map(|fault| format!("{}: {fault}", text.name)).collect()
}

/// Name and parameters of the procedure that a text creates.
fn procedure(text: &Text) -> Option<(&str, Vec<&str>)> {
    if !text.has(0, &["CREATE", "PROCEDURE"]) || text.at(3) != "(" {
        return None;
    }
    let parameters = text.parts(4, text.behind(3) - 1);
    Some((
        text.at(2),
        parameters.iter().filter_map(|part| part.first()).map(|name| name.trim_start_matches('@')).collect(),
    ))
}

/// Variables that are used and not declared, or declared and not used.
fn variables(text: &Text, found: &mut Vec<String>) {
    let Some((_, parameters)) = procedure(text) else { return };
    let mut declared: BTreeSet<String> = parameters.iter().map(|name| format!("@{name}")).collect();
    let mut place = text.behind(3);
    let body = place;
    let mut uses: BTreeMap<&str, usize> = BTreeMap::new();
    while place < text.tokens.len() {
        if text.has(place, &["DECLARE"]) {
            let end = (place..text.tokens.len()).find(|end| text.at(*end) == ";").unwrap_or(text.tokens.len());
            let names = text.parts(place + 1, end);
            declared.extend(names.iter().filter_map(|part| part.first()).cloned());
            place = end;
        } else if text.at(place).starts_with('@') && !text.at(place).starts_with("@@") {
            *uses.entry(text.at(place)).or_default() += 1;
        }
        place += 1;
    }
    assert!(body > 3);
    found.extend(uses.keys().filter(|name| !declared.contains(**name)).map(|name| format!("{name} is not declared")));
    found.extend(
        declared.iter().filter(|name| !uses.contains_key(name.as_str())).map(|name| format!("{name} is not used")),
    );
}

/// `THROW`, and `WITH` at the start of a statement, need a semicolon before them.
fn separators(text: &Text, found: &mut Vec<String>) {
    for place in 0..text.tokens.len() {
        let begins = text.has(place, &["THROW"]) || (text.has(place, &["WITH"]) && text.has(place + 2, &["AS", "("]));
        let before = place.checked_sub(1).map_or(";", |before| text.at(before));
        if begins && before != ";" && !before.eq_ignore_ascii_case("BEGIN") {
            found.push(format!("{} is not behind a semicolon", text.at(place)));
        }
    }
}

/// Columns of a type of tables.
fn columns_of_type(text: &Text, name: &str) -> Option<usize> {
    let is_it = text.has(0, &["CREATE", "TYPE", name, "AS", "TABLE", "("]);
    is_it.then(|| text.parts(6, text.behind(5) - 1).iter().filter(|part| part[0] != "PRIMARY").count())
}

/// A table among the parameters of a call: a comment names its type, which the procedure declares there as the last, and which has a column for
/// each list that follows and one for the number of the row. Returns what is wrong with it.
fn table_of_lists(comment: &str, lists: usize, (name, declared): (&str, &str), all: &[Text]) -> Option<String> {
    let kind = comment.trim_start_matches("/*").trim_end_matches("*/").trim().strip_prefix("table ")?;
    let is_declared = all.iter().any(|text| {
        let place = (0..text.tokens.len()).find(|place| text.at(*place) == format!("@{declared}"));
        text.has(0, &["CREATE", "PROCEDURE", name])
            && place.is_some_and(|place| text.has(place + 1, &[kind, "READONLY", ")"]))
    });
    if !is_declared {
        return Some(format!("a table {kind} stands where {name} declares {declared}"));
    }
    match all.iter().find_map(|text| columns_of_type(text, kind)) {
        None => Some(format!("{kind} is no type of tables")),
        Some(columns) if columns != lists + 1 => Some(format!("{lists} lists where {kind} has {columns} columns")),
        Some(_) => None,
    }
}

/// Calls of procedures against what they declare, by name and order.
fn calls(text: &Text, all: &[Text], found: &mut Vec<String>) {
    if !text.has(0, &["EXEC"]) {
        return;
    }
    let end = text.tokens.iter().position(|token| token == ";").unwrap_or(text.tokens.len());
    let mut given: Vec<&str> =
        text.tokens[2..end].iter().map(String::as_str).filter(|token| !matches!(*token, ":" | ",")).collect();
    let name = text.at(1);
    let Some((_, declared)) = all.iter().filter_map(procedure).find(|(known, _)| *known == name) else {
        found.push(format!("{name} is no procedure"));
        return;
    };
    if let Some(place) = given.iter().position(|token| token.starts_with("/*")) {
        let lists = given.split_off(place);
        let as_declared = declared.get(place).copied().unwrap_or_default();
        found.extend(table_of_lists(lists[0], lists.len() - 1, (name, as_declared), all));
        given.push(as_declared);
    }
    if given.len() != declared.len() {
        found.push(format!("{} parameters where {name} declares {}", given.len(), declared.len()));
    }
    let wrong = given.iter().zip(&declared).filter(|(given, declared)| given != declared);
    found.extend(wrong.map(|(given, declared)| format!("{given} stands where {name} declares {declared}")));
}

/// Columns of insertions against the tables, and as many values as columns.
fn insertions(text: &Text, schema: &Schema, found: &mut Vec<String>) {
    for place in (0..text.tokens.len()).filter(|place| text.has(*place, &["INSERT", "INTO"])) {
        let (table, open) = (text.at(place + 2), place + 3);
        if table.starts_with('@') || text.at(open) != "(" {
            continue;
        }
        let Some(columns) = schema.tables.get(table) else {
            // Some tables are made by texts that this folder falls back on.
            if schema.is_of_orders() {
                found.push(format!("{table} is no table"));
            }
            continue;
        };
        let named = text.parts(open + 1, text.behind(open) - 1);
        let missing =
            named.iter().filter_map(|part| part.first()).filter(|name| !columns.contains(*name) && *name != "[");
        found.extend(missing.map(|name| format!("{table} has no column {name}")));
        let behind = text.behind(open);
        let values = if text.has(behind, &["VALUES"]) {
            text.parts(behind + 2, text.behind(behind + 1) - 1)
        } else {
            let stops = ["FROM", "WHERE", ";"];
            let mut depth = 0;
            let end = (behind + 1..text.tokens.len()).find(|end| {
                depth += i32::from(text.at(*end) == "(") - i32::from(text.at(*end) == ")");
                depth == 0 && stops.iter().any(|stop| text.at(*end).eq_ignore_ascii_case(stop))
            });
            text.parts(behind + 1, end.unwrap_or(text.tokens.len()))
        };
        if values.len() != named.len() && text.tokens.iter().all(|token| token != "{") {
            found.push(format!("{} values for {} columns", values.len(), named.len()));
        }
    }
}

/// Names that look like columns of the tables of orders, and are neither these nor those of results that some text names.
fn columns(text: &Text, all: &[Text], schema: &Schema, found: &mut Vec<String>) {
    if !schema.is_of_orders() || text.has(0, &["CREATE", "TABLE"]) {
        return;
    }
    let is_named = |name: &str| {
        let named =
            |other: &Text| other.tokens.windows(2).any(|pair| pair[0].eq_ignore_ascii_case("AS") && pair[1] == name);
        all.iter().any(named)
    };
    for (place, token) in text.tokens.iter().enumerate() {
        let parameter = place > 0 && text.at(place - 1) == ":";
        if !parameter
            && PREFIXES.iter().any(|prefix| token.starts_with(prefix))
            && !schema.has_column(token)
            && !is_named(token)
        {
            found.push(format!("{token} is no column"));
        }
    }
}
