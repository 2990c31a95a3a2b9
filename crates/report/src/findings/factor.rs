//! Factors and levels in words and numbers.

use crate::workloads::WORKLOADS;
use proofload_model::engines::named_engine;
use proofload_model::settings::{STANDARD, Value};
use proofload_model::units::{Bytes, duration_text, parse_duration};

/// What a setting is called in running text: by the table of settings or by the words of a workload, else by its path.
pub fn setting_title(path: &str) -> String {
    let standard = STANDARD.iter().find(|spec| spec.path == path).and_then(|spec| spec.title);
    let own = || WORKLOADS.iter().flat_map(|workload| workload.settings).find(|(known, _)| *known == path);
    standard.or_else(|| own().map(|(_, title)| *title)).unwrap_or(path).to_owned()
}

/// A level as a number, for axes: bytes, seconds or the number itself; `None` for words.
pub fn level_number(value: &Value) -> Option<f64> {
    match value {
        Value::Bytes(bytes) => Some(bytes.0 as f64),
        Value::Integer(number) => Some(*number as f64),
        Value::Number(number) => Some(*number),
        Value::Duration(time) => Some(time.as_secs_f64()),
        Value::Text(text) => text_number(text),
        Value::Boolean(_) | Value::List(_) => None,
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
        Value::Duration(time) => spaced(&duration_text(*time)),
        Value::Text(text) if text_number(text).is_some() => spaced(text),
        Value::Text(text) => named_engine(text).map_or_else(|| text.clone(), |engine| engine.title.clone()),
        Value::List(items) if items.is_empty() => "none".to_owned(),
        Value::List(items) => items.join(", "),
        other => other.to_string(),
    }
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
        check(Value::Duration(std::time::Duration::from_secs(90)), Some(90.0), "90\u{a0}s");
        check(Value::Boolean(true), None, "true");
    }
}
