//! The history of a study as a document: whether its level changed, a figure for each point, and every record. For Markdown and HTML.

use super::document::date;
use crate::blocks::{
    Axis, Band, BandKind, Block, Cell, Chart, Column, Document, Figure, Inline, Notice, Opening, OpeningState, Panel,
    Prose, Role, Sample, SectionBlocks, SectionPlace, Series, Table, TableOf, cells, prose,
};
use crate::findings::history::{History, HistoryRecord, LevelChange, Track, TrackValue};
use crate::numbers::{counted, short};
use proofload_analysis::change_points::{FALSE_ALARMS, LEAST_SEGMENT, LEAST_VALUES};
use proofload_analysis::quantity::is_unbounded_above;
use std::collections::BTreeMap;

/// Changes that the first screen names.
const NAMED: usize = 3;

/// Panels in the figure.
const MOST_PANELS: usize = 12;

/// Longer tables of records are folded.
const MOST_RECORDS: usize = 40;

/// Rows of a table; older records are in the JSON form.
const MOST_ROWS: usize = 1_000;

/// Values that a panel draws one by one; of more it draws the lowest and the highest of each of its columns.
const MOST_MARKS: usize = 1_000;

/// Columns of a panel, about as many as it has points across.
const MARK_COLUMNS: f64 = 350.0;

/// Dates below an axis.
const MOST_TICKS: usize = 4;

/// Seconds of a day.
const DAY_S: f64 = 86_400.0;

/// A document of one study.
pub(crate) fn history_document(history: &History, skipped: &[(String, String)]) -> Document {
    let section = |id, title, blocks| SectionBlocks { id, title, level: 2, place: SectionPlace::Front, blocks };
    let mut sections = Vec::new();
    if history.tracks.is_empty() {
        let gap = Block::Notice(Notice::Gap, prose!["no record has a finished run."]);
        sections.push(section("figures", "Each figure by date", vec![gap]));
    }
    let changes = history.changes();
    if !changes.is_empty() {
        sections.push(section("changes", "Changes of level", vec![Block::Table(changes_table(history))]));
    }
    sections.push(section("records", "Records", records(history)));
    if !skipped.is_empty() {
        let line = |(file, why): &(String, String)| prose![Inline::Code(file.clone()), ": ", why.clone()];
        sections.push(section("skipped", "Left out", vec![Block::List(skipped.iter().map(line).collect())]));
    }
    Document {
        title: history.title.clone(),
        subtitle: prose!["History of the study ", Inline::Code(history.study.clone())],
        logo: String::new(),
        opening: opening(history, skipped),
        sections,
        foot: "",
    }
}

fn opening(history: &History, skipped: &[(String, String)]) -> Opening {
    let changes = history.changes();
    let (count, results) = (history.records.len(), history.records.iter().filter(|record| record.has_result()).count());
    let mut verdict = prose![Inline::Strong(prose![counted(count, "record")]), ", ", results, " with a result. "];
    if !skipped.is_empty() {
        verdict.extend(prose![counted(skipped.len(), "file"), " left out. "]);
    }
    let named: Vec<String> =
        changes.iter().take(NAMED).map(|(track, change)| sentence(history, track, change)).collect();
    let answer = match changes.first() {
        Some((track, change)) => prose![in_short(history, track, change)],
        None if results >= LEAST_VALUES => prose!["No change of level is shown. "],
        None => prose!["Too few results to look for changes of level: at least ", LEAST_VALUES, " are needed. "],
    };
    let between = match (history.records.first(), history.records.last()) {
        (Some(first), Some(last)) => prose![date(first.begun()), " to ", date(last.begun()), ". "],
        _ => Prose::new(),
    };
    let more = if changes.len() > NAMED { format!("; {} more below", changes.len() - NAMED) } else { String::new() };
    let claims = [
        ("Changes", if named.is_empty() { Prose::new() } else { prose![named.join("; "), more, ". "] }),
        ("Period", between),
        ("Versions", prose![versions(history).join(", "), ". "]),
        ("How sure", prose![method()]),
    ];
    Opening {
        state: if results == 0 { OpeningState::Void } else { OpeningState::Good },
        verdict,
        answer,
        claims: claims.into_iter().filter(|(_, text)| !text.is_empty()).collect(),
        figure: figure(history),
    }
}

/// How changes are found and how often by chance.
pub(crate) fn method() -> String {
    format!(
        "Changes of level by E-divisive on the results of each series, at least {LEAST_VALUES} in all and {LEAST_SEGMENT} on \
         each side. A series without a change shows one in {} % of the cases. What changed besides is not known from this; see compare. ",
        short(100.0 * FALSE_ALARMS)
    )
}

/// `TPM at 256 MiB fell by 12 % with the record of 1 May 2026.`
fn in_short(history: &History, track: &Track, change: &LevelChange) -> String {
    let record = &history.records[change.record];
    let day = super::document::day(record.begun());
    format!("{} at {} {} with the record of {day}. ", track.title, track.point, moved(change))
}

/// `fell by 12 %`.
fn moved(change: &LevelChange) -> String {
    let verb = if change.after > change.before { "rose" } else { "fell" };
    match change.after / change.before - 1.0 {
        share if share.is_finite() => format!("{verb} by {} %", short((100.0 * share.abs() * 10.0).round() / 10.0)),
        _ => verb.to_owned(),
    }
}

/// `TPM at 256 MiB fell by 12 %, from 36,505 to 32,010, with x.proof of 1 May 2026 (p 0.003)`.
pub(crate) fn sentence(history: &History, track: &Track, change: &LevelChange) -> String {
    let record = &history.records[change.record];
    format!(
        "{} at {} {}, from {} to {}, with {} of {} (p {})",
        track.title,
        track.point,
        moved(change),
        short(change.before),
        short(change.after),
        record.file,
        date(record.begun()),
        short(change.p)
    )
}

/// Programs and engines of the records, each once, in order of their first record.
fn versions(history: &History) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for record in &history.records {
        for version in [&record.program, &record.engine] {
            if !version.is_empty() && !found.contains(version) {
                found.push(version.clone());
            }
        }
    }
    found
}

fn figure(history: &History) -> Option<Figure> {
    if history.tracks.is_empty() {
        return None;
    }
    let panels: Vec<Panel> = history.tracks.iter().take(MOST_PANELS).map(|track| panel(history, track)).collect();
    let alt = panels.iter().map(|panel| panel.alt.clone()).collect::<Vec<_>>().join(" ");
    let hidden = history.tracks.len() - panels.len();
    let mut rest = if hidden == 0 { String::new() } else { format!(" {hidden} more series are in the JSON form.") };
    if history.tracks.iter().any(|track| track.values.len() > MOST_MARKS) {
        rest += " Of values that lie closer than can be drawn, the lowest and the highest are shown.";
    }
    Some(Figure {
        id: "figure-history",
        caption: prose! {
            "Each figure by date of its record, with 95 % intervals; void results are grey. Lines mark changes of \
             level; the dashed line is the level since the change before.", rest
        },
        alt,
        chart: Chart::Panels(panels),
        data: data(history),
    })
}

fn day(history: &History, record: usize) -> f64 {
    let first = history.records.first().map_or(0, |record| record.created);
    (history.records[record].created - first) as f64 * 1e-6 / DAY_S
}

fn panel(history: &History, track: &Track) -> Panel {
    let sample = |value: &TrackValue| {
        let interval = value.interval.filter(|bounds| !is_unbounded_above(value.value, *bounds));
        Sample { x: day(history, value.record), y: value.value, interval }
    };
    let of = |valid: bool| {
        let values = track.values.iter().filter(|value| value.is_valid == valid).map(sample).collect::<Vec<_>>();
        if values.len() > MOST_MARKS { outermost(&values) } else { values }
    };
    let mut series = vec![Series { name: String::new(), role: Role::Measured(0), samples: of(true) }];
    if track.values.iter().any(|value| !value.is_valid) {
        series.push(Series { name: String::new(), role: Role::Void, samples: of(false) });
    }
    let band = |change: &LevelChange| {
        let at = day(history, change.record);
        Band { from: at, to: at, kind: BandKind::Instant, label: String::new() }
    };
    let told = track.changes.iter().map(|change| format!("{}. ", sentence(history, track, change))).collect::<String>();
    Panel {
        title: format!("{}, {}", track.title, track.point),
        alt: format!("{} at {}: {} values. {told}", track.title, track.point, track.values.len()),
        x: Axis { ticks: Some(ticks(history)), from_zero: false, ..Axis::linear("Date", "") },
        y: Axis { from_zero: track.more_is_better, ..Axis::linear(&track.title, &track.unit) },
        bands: track.changes.iter().map(band).collect(),
        rules: rules(history, track),
        series,
    }
}

/// The lowest and the highest of values that are drawn into one column.
fn outermost(values: &[Sample]) -> Vec<Sample> {
    let (first, last) = values
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value.x), high.max(value.x)));
    let column = |value: &Sample| (MARK_COLUMNS * (value.x - first) / (last - first).max(f64::MIN_POSITIVE)) as u32;
    let mut columns: BTreeMap<u32, (Sample, Sample)> = BTreeMap::new();
    for value in values {
        let (low, high) = columns.entry(column(value)).or_insert_with(|| (*value, *value));
        if value.y < low.y {
            *low = *value;
        }
        if value.y > high.y {
            *high = *value;
        }
    }
    columns.into_values().flat_map(|(low, high)| if low.y == high.y { vec![low] } else { vec![low, high] }).collect()
}

/// The mean level between changes.
fn rules(history: &History, track: &Track) -> Vec<crate::blocks::Rule> {
    let ends: Vec<usize> = track.changes.iter().map(|change| change.record).collect();
    let last = history.records.len().saturating_sub(1);
    let rule = |(number, change): (usize, &LevelChange)| {
        let from = if number == 0 { 0 } else { ends[number - 1] };
        [
            (from, ends[number], change.before),
            (ends[number], ends.get(number + 1).copied().unwrap_or(last), change.after),
        ]
    };
    let mut levels: Vec<(usize, usize, f64)> = track.changes.iter().enumerate().flat_map(rule).collect();
    levels.dedup_by_key(|(from, ..)| *from);
    let drawn = levels.into_iter().map(|(from, to, y)| crate::blocks::Rule {
        y,
        span: Some((day(history, from), day(history, to))),
        label: String::new(),
    });
    drawn.collect()
}

/// Dates below the axis: the first, the last, and some in between.
fn ticks(history: &History) -> Vec<(f64, String)> {
    let last = history.records.len().saturating_sub(1);
    let step = (last / (MOST_TICKS - 1)).max(1);
    let mut chosen: Vec<usize> = (0..=last).step_by(step).take(MOST_TICKS - 1).chain([last]).collect();
    chosen.dedup();
    chosen.into_iter().map(|record| (day(history, record), iso_day(&history.records[record]))).collect()
}

/// `2026-11-26`.
pub(crate) fn iso_day(record: &HistoryRecord) -> String {
    super::document::iso_day(record.begun())
}

fn data(history: &History) -> Table {
    let left_out = history.records.len().saturating_sub(MOST_ROWS);
    TableOf::new("", Prose::new(), history.records.iter().enumerate().skip(left_out))
        .words("Date", |(_, record)| iso_day(record))
        .words("Record", |(_, record)| record.file.clone())
        .each(
            history.tracks.iter().take(MOST_PANELS),
            |track| Column::quantities(format!("{}, {}", track.title, track.point), &track.unit),
            |(place, _), track| {
                let value = track.values.iter().find(|value| value.record == *place)?;
                Some(short(value.value) + if value.is_valid { "" } else { " (void)" })
            },
        )
        .note(older(history))
}

/// Says how many records a table leaves out.
fn older(history: &History) -> Prose {
    match history.records.len().saturating_sub(MOST_ROWS) {
        0 => Prose::new(),
        left => prose![counted(left, "older record"), " in the JSON form. "],
    }
}

fn changes_table(history: &History) -> Table {
    let caption = prose!["Changes of level, newest first, with the mean of the results before and after."];
    TableOf::new("table-changes", caption, history.changes())
        .words("First record", |(_, change)| iso_day(&history.records[change.record]))
        .words("File", |(_, change)| history.records[change.record].file.clone())
        .words("Point", |(track, _)| track.point.clone())
        .words("Figure", |(track, _)| track.title.clone())
        .words("Before", |(_, change)| short(change.before))
        .words("After", |(_, change)| short(change.after))
        .words("p", |(_, change)| short(change.p))
        .words("Direction", |(_, change)| {
            Cell::Verdict(change.is_better, if change.is_better { "better" } else { "worse" })
        })
        .note(prose![method()])
}

fn records(history: &History) -> Vec<Block> {
    let row = |record: &HistoryRecord| {
        let valid = record.points.iter().filter(|point| point.is_valid).count();
        cells! {
            iso_day(record), record.file.clone(), record.program.clone(), record.engine.clone(),
            format!("{valid} of {}", record.points.len())
        }
    };
    let table = Block::Table(Table {
        id: "table-records",
        caption: prose!["Every record of the study, newest first."],
        columns: ["Begun", "File", "Program", "Engine", "Points valid"].map(Column::words).to_vec(),
        rows: history.records.iter().rev().take(MOST_ROWS).map(row).collect(),
        note: older(history),
    });
    match history.records.len() {
        many if many > MOST_RECORDS => {
            vec![Block::Fold(prose!["All ", crate::numbers::count(many as u64), " records"], vec![table])]
        }
        _ => vec![table],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_values_the_outermost_of_each_column_are_drawn() {
        let value = |number: u32| {
            let x = f64::from(number);
            Sample { x, y: if number == 777 { -5.0 } else { (x * 0.7).sin() }, interval: None }
        };
        let drawn = outermost(&(0..10_000).map(value).collect::<Vec<_>>());
        assert!((700..=702).contains(&drawn.len()), "{}", drawn.len());
        assert!(drawn.iter().any(|value| value.y == -5.0), "what falls out is seen");
        let at_once = vec![Sample { x: 3.0, y: 1.0, interval: None }; 5];
        assert_eq!(outermost(&at_once).len(), 1);
    }
}
