//! The appendix from which the study can be run again: file, settings, versions, seeds, facts, events.

use super::document::{date, instant};
use crate::blocks::{Block, Cell, Column, Inline, Notice, Prose, Table, TableOf, cells, prose};
use crate::findings::Findings;
use proofload_model::deployment::InstanceName;
use proofload_model::samples::Fact;
use proofload_model::study::{Factor, values_of};
use proofload_record::{Attempt, PLAN_DOCUMENT, STUDY_DOCUMENT, STUDY_FILE, State};
use std::collections::{BTreeSet, HashMap};

/// Log lines shown, the last ones.
const LOG_LINES: usize = 200;

/// Documents longer than this are named, not shown, characters.
const LONGEST_DOCUMENT: usize = 20_000;

pub(super) fn render(findings: &Findings<'_>) -> Vec<Block> {
    let mut blocks = vec![
        Block::Paragraph(prose![
            "All details here come from the record, which also contains every second, histogram and reading behind \
             the figures above."
        ]),
        Block::Heading(prose!["To reproduce this study"]),
    ];
    blocks.extend(again(findings));
    blocks.push(Block::Heading(prose!["Versions, sessions and seeds"]));
    blocks.push(Block::KeyValues(versions(findings)));
    blocks.push(Block::Table(attempts(findings)));
    blocks.push(Block::Fold(prose!["All settings as resolved"], vec![Block::Table(settings(findings))]));
    blocks.push(Block::Fold(prose!["All facts as recorded"], vec![Block::Table(facts(findings))]));
    blocks.push(Block::Fold(prose!["Events of every attempt"], vec![Block::Table(events(findings))]));
    blocks.extend(documents(findings));
    blocks.extend(logs(findings));
    blocks
}

fn again(findings: &Findings<'_>) -> Vec<Block> {
    let name = findings.record.study.name();
    let mut blocks = vec![Block::Paragraph(prose! {
        "Save the study file below as ", Inline::Code(format!("{name}.toml")), ", then run ",
        Inline::Code(format!("proofload run {name}.toml")), " and ",
        Inline::Code(format!("proofload report {name}.proof")),
        ". The seed reproduces data, inputs and the order of points; ", Inline::Code("proofload doctor".to_owned()),
        " shows what the machine supports."
    })];
    match findings.record.documents.get(STUDY_FILE) {
        Some(text) => blocks.push(Block::Code(prose!["The original study file:"], text.clone())),
        None => blocks.push(Block::Notice(Notice::Gap, prose!["the record does not contain the original study file."])),
    }
    blocks
}

fn versions(findings: &Findings<'_>) -> Vec<(Prose, Prose)> {
    let record = findings.record;
    let mut pairs = vec![
        (prose!["Record begun"], prose![date(record.created)]),
        (prose!["Seed of the study"], prose![record.study.seed().to_string()]),
    ];
    for session in &record.sessions {
        pairs.push((
            prose!["Session"],
            prose![session.program.clone(), " on kernel ", session.machine.clone(), ", ", date(session.at)],
        ));
    }
    let sealed = record.attempts.iter().filter(|attempt| attempt.seal_holds == Some(true)).count();
    let finished = record.attempts.iter().filter(|attempt| attempt.state == State::Finished);
    let broken = finished.filter(|attempt| attempt.seal_holds != Some(true)).count();
    pairs.push((
        prose!["Seals"],
        prose! {
            sealed, " finished attempts whose SHA-256 seal matches their rows, ", broken, " whose seal does not match"
        },
    ));
    let changed = record.faults.iter().map(|fault| (prose!["Changed after writing"], prose![fault.clone()]));
    pairs.extend(changed);
    pairs
}

fn attempts(findings: &Findings<'_>) -> Table {
    let end = |attempt: &Attempt| match &attempt.state {
        State::Finished => "finished".to_owned(),
        State::Open => "interrupted or running".to_owned(),
        State::Failed { .. } if attempt.is_interrupted() => "interrupted".to_owned(),
        State::Failed { reason } => format!("failed: {reason}"),
    };
    let caption = prose!["Every attempt at a run, in order, with the seed of its inputs. Times are UTC."];
    TableOf::new("table-attempts", caption, &findings.record.attempts)
        .words("Attempt", |attempt| attempt.id.to_string())
        .words("Run", |attempt| attempt.run.index.saturating_add(1).to_string())
        .words("Point", |attempt| {
            findings.points.get(attempt.run.point as usize).map(|point| point.label()).unwrap_or_default()
        })
        .words("Repetition", |attempt| match attempt.run.sentinel {
            true => prose!["sentinel"],
            false => prose![u64::from(attempt.run.repetition) + 1],
        })
        .words("Seed", |attempt| attempt.run.seed.to_string())
        .words("Begun", |attempt| instant(attempt.started))
        .words("End", |attempt| end(attempt))
        .table()
}

fn settings(findings: &Findings<'_>) -> Table {
    let study = &findings.record.study;
    let varied = findings.factors.iter().flat_map(Factor::paths);
    let paths: BTreeSet<String> = study.settings.0.keys().cloned().chain(varied).collect();
    let row = |path: &String| {
        let values = values_of(path, &study.settings, &findings.factors);
        let words: Vec<String> = values.into_iter().map(|value| without_image(&value.to_string())).collect();
        cells![Cell::code(path.clone()), words.join(", ")]
    };
    Table {
        id: "table-all-settings",
        caption: prose!["Settings of the study, defaults included; a factor shows its levels."],
        columns: ["Setting", "Value"].map(Column::words).to_vec(),
        rows: paths.iter().map(row).collect(),
        ..Table::default()
    }
}

/// A value as it is, but for the bytes of an image.
fn without_image(value: &str) -> String {
    match value.split_once(";base64,").filter(|(head, _)| head.starts_with("data:image/")) {
        Some((head, body)) => format!("{}, {} bytes", head.trim_start_matches("data:"), body.len() / 4 * 3),
        None => value.to_owned(),
    }
}

/// Facts with the same reading in several attempts stand once, with those attempts.
fn facts(findings: &Findings<'_>) -> Table {
    let record = findings.record;
    let mut read: Vec<(&Fact, Vec<String>)> = Vec::new();
    let mut places: HashMap<FactKey<'_>, usize> = HashMap::new();
    let mut add = |of: String, fact| {
        let place = *places.entry(key(fact)).or_insert_with(|| {
            read.push((fact, Vec::new()));
            read.len() - 1
        });
        read[place].1.push(of);
    };
    record.facts.iter().for_each(|fact| add(place("study", &fact.instance), fact));
    let finished: Vec<_> = record.attempts.iter().filter(|attempt| attempt.state == State::Finished).collect();
    for attempt in &finished {
        attempt.facts.iter().for_each(|fact| add(place(&attempt.id.to_string(), &fact.instance), fact));
    }
    let none = || "–".to_owned();
    let row = |(fact, of): (&Fact, Vec<String>)| {
        let all = of.len() == finished.len() && finished.len() > 1;
        cells! {
            if all { place("all attempts", &fact.instance) } else { of.join(", ") }, fact.subject.clone(),
            Cell::code(fact.name.clone()), fact.requested.clone().unwrap_or_else(none),
            fact.effective.clone().unwrap_or_else(none), fact.source.clone()
        }
    };
    Table {
        id: "table-all-facts",
        caption: prose!["Facts: requested and recorded values, by the study or by the numbered attempts."],
        columns: ["Of", "Subject", "Name", "Asked", "Read", "Source"].map(Column::words).to_vec(),
        rows: read.into_iter().map(row).collect(),
        ..Table::default()
    }
}

/// What makes two readings the same row.
type FactKey<'f> = (&'f str, &'f str, &'f InstanceName, Option<&'f str>, Option<&'f str>, &'f str);

fn key(fact: &Fact) -> FactKey<'_> {
    let (asked, read) = (fact.requested.as_deref(), fact.effective.as_deref());
    (&fact.subject, &fact.name, &fact.instance, asked, read, &fact.source)
}

/// The study or an attempt, and the standby of it that a row is about.
fn place(whole: &str, of: &InstanceName) -> String {
    if of.is_standby() { format!("{whole}, {of}") } else { whole.to_owned() }
}

fn attempt_text(attempt: i64) -> String {
    format!("attempt {attempt}")
}

/// Attempts whose events stand on the page.
const MOST_ATTEMPTS: usize = 12;

fn events(findings: &Findings<'_>) -> Table {
    let record = findings.record;
    let row = |place: String, event: &proofload_record::AttemptEvent| {
        let detail: String = event.listed.chars().take(400).collect();
        cells![place, instant(event.at), Cell::code(event.event.name().to_owned()), detail]
    };
    let mut rows: Vec<Vec<Cell>> = record.events.iter().map(|event| row("study".to_owned(), event)).collect();
    // Not every reader wants the page of a hundred runs.
    for attempt in record.attempts.iter().take(MOST_ATTEMPTS) {
        rows.extend(attempt.events.iter().map(|event| row(place(&attempt_text(attempt.id), &event.instance), event)));
    }
    let left_out = match record.attempts.len().saturating_sub(MOST_ATTEMPTS) {
        0 => String::new(),
        others => format!(" The other {others} attempts are in the record and in the export."),
    };
    Table {
        id: "table-events",
        caption: prose!["Events, UTC; long details are truncated here and complete in the record.", left_out],
        columns: ["Of", "When", "Event", "Detail"].map(Column::words).to_vec(),
        rows,
        ..Table::default()
    }
}

/// Documents of other tools; the study's own forms are shown elsewhere.
fn documents(findings: &Findings<'_>) -> Vec<Block> {
    let own = [STUDY_FILE, STUDY_DOCUMENT, PLAN_DOCUMENT];
    let others = findings.record.documents.iter().filter(|(name, _)| !own.contains(&name.as_str()));
    let fold = |(name, body): (&String, &String)| {
        let label = prose!["Document ", Inline::Code(name.clone())];
        if body.chars().count() > LONGEST_DOCUMENT {
            let words = prose!["It has ", body.chars().count(), " characters and is in the record."];
            return Block::Fold(label, vec![Block::Paragraph(words)]);
        }
        Block::Fold(label, vec![Block::Code(Prose::new(), body.clone())])
    };
    others.map(fold).collect()
}

fn logs(findings: &Findings<'_>) -> Option<Block> {
    let lines = &findings.record.logs;
    let shown = &lines[lines.len().saturating_sub(LOG_LINES)..];
    let text: String = shown
        .iter()
        .map(|line| format!("{} {} {}: {}\n", instant(line.at), line.level, line.source, line.text))
        .collect();
    (!shown.is_empty()).then(|| {
        let label = prose!["Log: the last ", shown.len(), " of ", lines.len(), " lines"];
        Block::Fold(label, vec![Block::Code(Prose::new(), text)])
    })
}
