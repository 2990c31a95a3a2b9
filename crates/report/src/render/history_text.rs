//! Histories for a terminal: what changed first, then a line for each record.

use super::text::{plain, wrapped_to};
use crate::findings::history::{History, HistoryRecord, Track};
use crate::numbers::short;
use crate::sections::{change_sentence, history_method, iso_day};
use proofload_analysis::quantity::{NO_UPPER_BOUND, is_unbounded_above};

/// Widest line of a terminal.
const WIDTH: usize = 100;

/// Points with a column.
const MOST_POINTS: usize = 4;

/// Newest records with a line.
const MOST_RECORDS: usize = 30;

/// Changes with a line.
const MOST_CHANGES: usize = 8;

/// Files that are left out, with their reasons.
const MOST_SKIPPED: usize = 3;

/// Renders all studies.
pub(crate) fn history_text(histories: &[History], skipped: &[(String, String)]) -> String {
    let mut lines: Vec<String> = Vec::new();
    for history in histories {
        lines.extend(study(history));
        lines.push(String::new());
    }
    if !skipped.is_empty() {
        let files = if skipped.len() == 1 { "file is" } else { "files are" };
        lines.push(format!("{} {files} left out:", skipped.len()));
        let told = |(file, why): &(String, String)| wrapped_to(WIDTH, &plain(&format!("{file}: {why}")));
        lines.extend(skipped.iter().take(MOST_SKIPPED).flat_map(told));
    }
    lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

fn study(history: &History) -> Vec<String> {
    let mut lines = vec![plain(&format!("{}: {}", history.study, history.title))];
    let changes = history.changes();
    for (track, change) in changes.iter().take(MOST_CHANGES) {
        let mark = if change.is_better { "+" } else { "!" };
        lines.extend(wrapped_to(WIDTH, &plain(&format!("{mark} {}", change_sentence(history, track, change)))));
    }
    match changes.len() {
        0 => lines.push("no change of level is shown".to_owned()),
        many if many > MOST_CHANGES => lines.push(format!("{} more changes: --format html", many - MOST_CHANGES)),
        _ => {}
    }
    lines.push(String::new());
    lines.extend(table(history));
    if history.records.len() > MOST_RECORDS {
        lines.push(format!("{} older records: --format html", history.records.len() - MOST_RECORDS));
    }
    lines.push(String::new());
    lines.extend(wrapped_to(WIDTH, history_method().trim_end()));
    lines
}

/// A line for each of the newest records: throughput at the first points.
fn table(history: &History) -> Vec<String> {
    let Some(main) = history.tracks.first().map(|track| track.metric.clone()) else { return Vec::new() };
    let tracks: Vec<&Track> = history.tracks.iter().filter(|track| track.metric == main).take(MOST_POINTS).collect();
    let mut rows = vec![
        [
            vec!["date".to_owned(), "record".to_owned(), "program".to_owned()],
            tracks.iter().map(|track| plain(&track.point)).collect(),
        ]
        .concat(),
    ];
    let newest = history.records.len().saturating_sub(MOST_RECORDS);
    for (place, record) in history.records.iter().enumerate().skip(newest).rev() {
        rows.push([lead(record), tracks.iter().map(|track| value(track, place)).collect()].concat());
    }
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |row: &Vec<String>| {
        let cell = |(column, text): (usize, &String)| {
            let width = widths[column];
            if column < 3 { format!("{text:<width$}") } else { format!("{text:>width$}") }
        };
        row.iter().enumerate().map(cell).collect::<Vec<_>>().join("  ")
    };
    let unit = tracks.first().map(|track| format!("{}, {}", track.title, track.unit)).unwrap_or_default();
    [vec![unit], rows.iter().map(line).collect()].concat()
}

fn lead(record: &HistoryRecord) -> Vec<String> {
    let program = record.program.strip_prefix("proofload ").unwrap_or(&record.program);
    let name = std::path::Path::new(&record.file)
        .file_name()
        .map_or_else(|| record.file.clone(), |name| name.to_string_lossy().into_owned());
    vec![iso_day(record), plain(&name), plain(program)]
}

/// A value with half of its interval's width in per cent; void ones in brackets.
fn value(track: &Track, place: usize) -> String {
    let Some(found) = track.values.iter().find(|value| value.record == place) else { return "-".to_owned() };
    let width = found.interval.map(|(low, high)| match is_unbounded_above(found.value, (low, high)) {
        true => format!(" ({NO_UPPER_BOUND})"),
        false => format!(" ±{} %", short((50.0 * (high - low) / found.value).round())),
    });
    let text = format!("{}{}", short(found.value), width.unwrap_or_default());
    if found.is_valid { text } else { format!("({text})") }
}
