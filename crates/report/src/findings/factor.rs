//! Factors and levels in words and numbers.

use crate::workloads::WORKLOADS;
use proofload_model::engines::named_engine;
use proofload_model::settings::{GROUP_TITLES, STANDARD, Value, table_text};
use proofload_model::units::{Bytes, duration_words, parse_duration};
use std::collections::BTreeMap;

/// What a setting is called in running text: by the table of settings or by the words of a workload, else by its path; a group of settings
/// by the last part of its common beginning.
pub fn setting_title(path: &str) -> String {
    let standard = STANDARD.iter().find(|spec| spec.path == path).and_then(|spec| spec.title);
    let own = || WORKLOADS.iter().flat_map(|workload| workload.settings).find(|(known, _)| *known == path);
    let title = standard.or_else(|| own().map(|(_, title)| *title)).or_else(|| group_title(path));
    title.unwrap_or(path).to_owned()
}

/// What a group of settings is called; `None` for a single setting.
fn group_title(path: &str) -> Option<&str> {
    let titled = GROUP_TITLES.iter().find(|(known, _)| *known == path).map(|(_, title)| *title);
    let is_above = |known: &str| known.strip_prefix(path).is_some_and(|rest| rest.starts_with('.'));
    let is_group = STANDARD.iter().any(|spec| is_above(spec.path));
    titled.or_else(|| path.rsplit('.').next().filter(|_| is_group))
}

/// A level as a number, for axes: bytes, seconds or the number itself; `None` for words.
pub fn level_number(value: &Value) -> Option<f64> {
    match value {
        Value::Bytes(bytes) => Some(bytes.0 as f64),
        Value::Integer(number) => Some(*number as f64),
        Value::Number(number) => Some(*number),
        Value::Duration(time) => Some(time.as_secs_f64()),
        Value::Text(text) => text_number(text),
        Value::Boolean(_) | Value::List(_) | Value::Table(_) => None,
    }
}

/// A setting of an engine is text that may mean a size, a time or a number.
fn text_number(text: &str) -> Option<f64> {
    let size = || Bytes::parse(text).ok().map(|bytes| bytes.0 as f64);
    let time = || parse_duration(text).ok().map(|time| time.as_secs_f64());
    text.parse::<f64>().ok().filter(|number| number.is_finite()).or_else(size).or_else(time)
}

/// A level as a paper writes it: a space before the unit.
pub fn level_text(value: &Value) -> String {
    match value {
        Value::Bytes(bytes) => spaced(&bytes.to_string()),
        Value::Duration(time) => duration_words(*time).replace(' ', "\u{a0}"),
        Value::Text(text) if text_number(text).is_some() => spaced(text),
        Value::Text(text) => named_engine(text).map_or_else(|| text.clone(), |engine| engine.title.clone()),
        Value::List(items) if items.is_empty() => "none".to_owned(),
        Value::List(items) => items.join(", "),
        Value::Table(values) => table_text(values, level_text),
        other => other.to_string(),
    }
}

/// A level of a setting in words: a group of settings that has words of its own by them, others as [`level_text`].
pub fn level_of(setting: &str, value: &Value) -> String {
    match value {
        Value::Table(values) if setting == CACHE => cache_words(values).unwrap_or_else(|| level_text(value)),
        _ => level_text(value),
    }
}

/// The group of settings of a tier's cache.
const CACHE: &str = "storage.cache";

/// `no cache`, `cache of 30 % of the data, for data`; `None` where the level says nothing of its size.
fn cache_words(values: &BTreeMap<String, Value>) -> Option<String> {
    let size = match (values.get("percent"), values.get("size")) {
        (Some(Value::Integer(0)), _) => return Some("no cache".to_owned()),
        (Some(percent), _) => format!("cache of {percent}\u{a0}% of the data"),
        (None, Some(Value::Bytes(Bytes(0)))) => return Some("no cache".to_owned()),
        (None, Some(size)) => format!("cache of {}", level_text(size)),
        (None, None) => return None,
    };
    let volumes = match values.get("accelerate") {
        Some(Value::List(volumes)) => format!(" for {}", volumes.join(" and ")),
        _ => String::new(),
    };
    let others = values.iter().filter(|(key, _)| !["percent", "size", "accelerate"].contains(&key.as_str()));
    let others = others.map(|(key, value)| format!(", {key} {}", level_text(value)));
    Some(format!("{size}{volumes}{}", others.collect::<String>()))
}

/// What stands between levels in a row: a semicolon where a level of a group has commas of its own.
pub(crate) fn between<'a>(mut levels: impl Iterator<Item = &'a Value>) -> &'static str {
    let has_commas = |level: &Value| matches!(level, Value::Table(values) if values.len() > 1);
    if levels.any(has_commas) { "; " } else { ", " }
}

/// A size of a fact as people say it: `24684084KiB` as `23.5 GiB`; other text as it stands.
pub fn size_text(text: &str) -> String {
    let Some(bytes) = Bytes::parse(text).ok().filter(|_| !text.contains(' ')) else { return text.to_owned() };
    let units = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
    let unit = units.into_iter().find(|(_, shift)| bytes.0 >= 1 << shift);
    unit.map_or_else(
        || spaced(text),
        |(unit, shift)| format!("{}\u{a0}{unit}", crate::numbers::short(bytes.0 as f64 / (1u64 << shift) as f64)),
    )
}

/// `64MiB` as `64 MiB`, the space not breaking.
fn spaced(text: &str) -> String {
    match text.find(|letter: char| letter.is_alphabetic()) {
        Some(at) if at > 0 && !text[..at].ends_with(' ') => format!("{}\u{a0}{}", &text[..at], &text[at..]),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(value: Value, number: Option<f64>, text: &str) {
        assert_eq!((level_number(&value), level_text(&value).as_str()), (number, text));
    }

    #[test]
    fn sizes_of_facts_are_readable() {
        for (fact, text) in
            [("24684084KiB", "23.5\u{a0}GiB"), ("0B", "0\u{a0}B"), ("256GiB", "256\u{a0}GiB"), ("8 of 9", "8 of 9")]
        {
            assert_eq!(size_text(fact), text);
        }
    }

    #[test]
    fn levels_are_numbers_where_they_can_be() {
        check(Value::Bytes(Bytes::mebi(64)), Some(67_108_864.0), "64\u{a0}MiB");
        check(Value::Integer(8), Some(8.0), "8");
        check(Value::Text("64MiB".to_owned()), Some(67_108_864.0), "64\u{a0}MiB");
        check(Value::Text("sqlite".to_owned()), None, "SQLite");
        check(Value::Duration(std::time::Duration::from_secs(90)), Some(90.0), "1\u{a0}min\u{a0}30\u{a0}s");
        check(Value::Boolean(true), None, "true");
    }

    #[test]
    fn a_level_of_a_group_is_its_keys_and_values_and_never_a_number() {
        let table = |values: &[(&str, Value)]| {
            Value::Table(values.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect())
        };
        let values = [("warm_up.round", Value::Bytes(Bytes::mebi(64))), ("cores", Value::Integer(2))];
        check(table(&values), None, "cores 2, warm_up.round 64\u{a0}MiB");
        check(table(&values[1..]), None, "cores 2");
        check(table(&[]), None, "unchanged");
    }

    #[test]
    fn a_cache_is_called_by_its_size_and_its_volumes() {
        let table = |values: &[(&str, Value)]| {
            Value::Table(values.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect())
        };
        let volumes = |names: &[&str]| Value::List(names.iter().map(|name| (*name).to_owned()).collect());
        let levels = [
            table(&[("percent", Value::Integer(0))]),
            table(&[("percent", Value::Integer(30)), ("accelerate", volumes(&["data"]))]),
            table(&[("size", Value::Bytes(Bytes::mebi(64))), ("accelerate", volumes(&["data", "log"]))]),
            table(&[("mode", Value::Text("write-around".to_owned()))]),
        ];
        let words = levels.map(|level| level_of("storage.cache", &level).replace('\u{a0}', " "));
        let known =
            ["no cache", "cache of 30 % of the data for data", "cache of 64 MiB for data and log", "mode write-around"];
        assert_eq!(words, known);
    }

    #[test]
    fn a_group_is_called_by_its_last_part() {
        let titles =
            ["replication", "procedure.warm_up", "engine.settings", "engine.settings.work_mem", "limits.cores"];
        let known = ["replication", "warm_up", "engine settings", "engine.settings.work_mem", "cores"];
        assert_eq!(titles.map(setting_title), known);
    }
}
