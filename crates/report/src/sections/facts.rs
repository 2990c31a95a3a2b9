//! Facts in the words and units of papers: what a fact is called and how its value is read. May not choose which facts are shown.

pub(super) mod in_full;
pub(super) mod standby_hosts;

use crate::blocks::{Inline, Prose, prose};
use crate::findings::{level_number, size_text};
use crate::numbers::{capital, count};
use proofload_model::facts::{Reading, engine, known, limit};
use proofload_model::settings::Value;

/// What a fact is called.
pub(super) fn title(subject: &str, name: &str) -> Prose {
    let title = known(subject, name).map_or("", |row| row.title);
    match title.strip_prefix('`').and_then(|text| text.split_once('`')) {
        Some((code, rest)) => vec![Inline::Code(code.to_owned()), Inline::Text(rest)],
        None if !title.is_empty() => prose![title],
        None if subject == engine::SUBJECT || subject == limit::SUBJECT => vec![Inline::Code(name.to_owned())],
        None => prose![sentence(name)],
    }
}

/// `clock_source` as `Clock source`, `rows.order_line` as `Rows order line`.
fn sentence(name: &str) -> String {
    capital(&name.replace(['_', '.'], " "))
}

/// The value of a fact, in readable units.
pub(super) fn value(subject: &str, name: &str, source: &str, text: &str) -> String {
    let number = text.parse::<u64>().ok();
    match (known(subject, name).map_or(Reading::Text, |row| row.reading), number) {
        (Reading::Words(words), _) => {
            words.iter().find(|(word, _)| *word == text).map_or_else(|| text.to_owned(), |(_, ours)| (*ours).to_owned())
        }
        (Reading::Bytes, Some(_)) => size_text(&format!("{text}B")),
        (Reading::Kibibytes, Some(number)) => format!("{}\u{a0}KiB", count(number)),
        (Reading::Milliseconds, Some(number)) => format!("{}\u{a0}ms", count(number)),
        (Reading::Count("") | Reading::Answer, Some(number)) => count(number),
        (Reading::Count(of), Some(number)) => format!("{}\u{a0}{of}", count(number)),
        (Reading::PagesOrKibibytes, Some(number)) => format!("{}\u{a0}pages", count(number)),
        (Reading::PagesOrKibibytes, None) => {
            let kibibytes = text.strip_prefix('-').map(|size| size_text(&format!("{size}KiB")));
            kibibytes.map_or_else(|| text.to_owned(), |size| format!("{size} ({text})"))
        }
        (Reading::Answer, None) => answer(text),
        (Reading::Items, _) => text.split(',').map(str::trim).collect::<Vec<_>>().join(", "),
        (Reading::Rate(_), _) => rate(text),
        _ if source == "pg_settings" => size_text(&binary(text)),
        _ => spaced_time(&size_text(&text.replace(" kB", " KiB"))),
    }
}

/// An answer in words; other text as it stands.
fn answer(text: &str) -> String {
    match text {
        "true" => "yes".to_owned(),
        "false" => "no".to_owned(),
        other => other.to_owned(),
    }
}

/// A rate as people say it: `200MiB/s` as `200 MiB/s`, `5000 requests/s` as `5,000 requests/s`; other text as it stands.
fn rate(text: &str) -> String {
    let words = text.split_once(' ').and_then(|(number, of)| Some((number.parse::<u64>().ok()?, of)));
    match (words, text.strip_suffix("/s")) {
        (Some((number, of)), _) => format!("{}\u{a0}{of}", count(number)),
        (None, Some(size)) => format!("{}/s", size_text(size)),
        (None, None) => text.to_owned(),
    }
}

/// PostgreSQL writes kB, MB, GB for powers of 1,024. Source: its manual, "Parameter Names and Values".
fn binary(text: &str) -> String {
    let units = [("kB", "KiB"), ("MB", "MiB"), ("GB", "GiB"), ("TB", "TiB")];
    let found = units.into_iter().find_map(|(theirs, ours)| Some((text.strip_suffix(theirs)?, ours)));
    match found.filter(|(size, _)| size.bytes().all(|byte| byte.is_ascii_digit())) {
        Some((size, unit)) => format!("{size}{unit}"),
        None => spaced_time(text),
    }
}

/// `0.159s` as `0.159 s`, `5min` as `5 min`; other text as it stands.
fn spaced_time(text: &str) -> String {
    let Some(at) = text.find(|letter: char| letter.is_ascii_alphabetic()) else { return text.to_owned() };
    let (number, unit) = text.split_at(at);
    let is_time = ["us", "ms", "s", "min", "h", "d"].contains(&unit) && number.parse::<f64>().is_ok();
    if is_time { format!("{number}\u{a0}{unit}") } else { text.to_owned() }
}

/// Values that differ between runs in one text: both of two, else the ends of the range.
pub(super) fn together(mut values: Vec<String>) -> String {
    let number = |text: &String| level_number(&Value::Text(text.replace('\u{a0}', "")));
    if values.iter().all(|value| number(value).is_some()) {
        values.sort_by(|one, other| number(one).partial_cmp(&number(other)).unwrap_or(std::cmp::Ordering::Equal));
    }
    match values.as_slice() {
        [] => String::new(),
        [only] => only.clone(),
        [one, other] => format!("{one} or {other}, by run"),
        [first, .., last] => format!("{first} … {last} ({} values over the runs)", values.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(subject: &str, name: &str, source: &str, text: &str, expected: &str) {
        assert_eq!(value(subject, name, source, text).replace('\u{a0}', " "), expected);
    }

    #[test]
    fn values_have_units() {
        check("storage", "read_ahead_kb", "", "8192", "8,192 KiB");
        check("storage", "rotational", "", "1", "yes");
        check("host", "smt", "", "notsupported", "not supported");
        check("host", "smt", "", "on", "on");
        check("host", "memory", "", "24684084KiB", "23.5 GiB");
        check("engine", "cache_size", "PRAGMA cache_size", "-16384", "16 MiB (-16384)");
        check("engine", "cache_size", "PRAGMA cache_size", "2000", "2,000 pages");
        check("engine", "page_size", "PRAGMA page_size", "4096", "4 KiB");
        check("data", "rows.stock", "manifest", "400000", "400,000");
        check("engine", "instance.start_time", "", "0.159s", "0.159 s");
        check("limit", "read_bandwidth", "", "200MiB/s", "200 MiB/s");
        check("limit", "read_iops", "", "5000 requests/s", "5,000 requests/s");
        check("limit", "cpu", "", "0.5 CPU s/s", "0.5 CPU s/s");
    }

    #[test]
    fn sizes_of_postgresql_are_powers_of_1024() {
        check("engine", "wal_buffers", "pg_settings", "768kB", "768 KiB");
        check("engine", "max_wal_size", "pg_settings", "1GB", "1 GiB");
        check("engine", "work_mem", "pg_settings", "4096kB", "4 MiB");
        check("engine", "checkpoint_timeout", "pg_settings", "5min", "5 min");
        check("engine", "jit", "pg_settings", "on", "on");
        check("engine", "max_connections", "pg_settings", "18", "18");
    }

    #[test]
    fn values_of_several_runs_stand_in_order() {
        let of = |values: &[&str]| together(values.iter().map(|value| (*value).to_owned()).collect());
        assert_eq!(of(&["1.5\u{a0}MiB", "768\u{a0}KiB"]), "768\u{a0}KiB or 1.5\u{a0}MiB, by run");
        assert_eq!(of(&["7", "12", "9"]), "7 … 12 (3 values over the runs)");
        assert_eq!(of(&["off"]), "off");
    }
}
