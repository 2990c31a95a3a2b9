//! Each setting as asked and as in force, and what was used of the limited resources: the end of "what was tested".

use super::facts;
use crate::blocks::{Block, Cell, Column, Notice, Prose, Table, TableOf, cells, prose};
use crate::findings::{Findings, PointFindings, setting_title};
use proofload_model::facts::{FactName, limit, usage};
use proofload_model::samples::Fact;

/// A setting at one point or at all: the cells behind its name.
type Read = Vec<Cell>;

/// Where a setting was read, and its reading at each of those points.
struct Setting {
    subject: String,
    name: String,
    readings: Vec<(String, Read)>,
}

/// Use of memory that is shown; the titles head the columns.
static USAGE: &[FactName] = &[
    usage::MEMORY_PEAK,
    usage::MEMORY_ANON,
    usage::MEMORY_FILE,
    usage::REFAULTS_FILE,
    usage::LIMIT_HITS,
    usage::OOM_KILLS,
];

/// The same of cores and device. What a limit of CPU time counts is there only under such a limit.
static WORK: &[FactName] = &[
    usage::CPU_TIME,
    usage::CPU_SYSTEM,
    usage::CPU_PERIODS,
    usage::THROTTLED_PERIODS,
    usage::THROTTLED_TIME,
    usage::IO_READ,
    usage::IO_READS,
    usage::IO_WRITTEN,
    usage::IO_WRITES,
];

/// What was asked for at each point and what was read back.
pub(super) fn asked(findings: &Findings<'_>) -> Vec<Block> {
    let mut blocks = vec![Block::Paragraph(prose! {
        "A requested limit may not be in force. Each limit was read back from where it acts, before and after the \
         load; a limit that could not be verified voids its point. ", factors(findings)
    })];
    let settings = settings(findings);
    if settings.is_empty() {
        blocks.push(Block::Notice(Notice::Gap, prose!["no setting was read back."]));
        return blocks;
    }
    blocks.push(Block::Table(Table {
        id: "table-settings",
        caption: prose![
            "Settings as requested and as read back: the last reading of each point's first run, or the first reading \
             of any run that differed. A setting that was the same at every point is listed once."
        ],
        columns: ["Setting", "Points", "Asked", "In force", "Read from", "Holds"].map(Column::words).to_vec(),
        rows: settings.into_iter().flat_map(|setting| rows(setting, findings.points.len())).collect(),
        note: Vec::new(),
    }));
    blocks
}

/// One row where every point reads alike, else one for each.
fn rows(setting: Setting, points: usize) -> Vec<Vec<Cell>> {
    let name = facts::title(&setting.subject, &setting.name);
    let row = |place: String, read: Read| [cells![Cell::Prose(name.clone()), place], read].concat();
    let first = setting.readings.first().map(|(_, read)| read.clone()).unwrap_or_default();
    let alike = setting.readings.iter().all(|(_, read)| *read == first);
    if alike && points > 1 && setting.readings.len() == points {
        return vec![row("all\u{a0}points".to_owned(), first)];
    }
    setting.readings.into_iter().map(|(place, read)| row(place, read)).collect()
}

/// Settings in the order of their readings, limits first.
fn settings(findings: &Findings<'_>) -> Vec<Setting> {
    let mut settings: Vec<Setting> = Vec::new();
    for point in &findings.points {
        for fact in of_point(findings, point) {
            let known = settings.iter().position(|known| known.subject == fact.subject && known.name == fact.name);
            let at = known.unwrap_or_else(|| {
                settings.push(Setting { subject: fact.subject.clone(), name: fact.name.clone(), readings: Vec::new() });
                settings.len() - 1
            });
            if let Some(setting) = settings.get_mut(at) {
                setting.readings.push((point.label(), cells(fact)));
            }
        }
    }
    settings.sort_by_key(|setting| setting.subject != limit::SUBJECT);
    settings
}

/// One fact for each setting that was asked for at a point, in the order of the record.
fn of_point<'a>(findings: &'a Findings<'_>, point: &PointFindings) -> Vec<&'a Fact> {
    let attempts = point.runs.iter().filter_map(|run| findings.finished(run.run.index));
    let mut chosen: Vec<&Fact> = Vec::new();
    for (number, attempt) in attempts.enumerate() {
        for fact in attempt.facts.iter().filter(|fact| fact.requested.is_some() && !fact.instance.is_standby()) {
            let known = chosen.iter_mut().find(|known| known.subject == fact.subject && known.name == fact.name);
            match known {
                None => chosen.push(fact),
                Some(known) if known.holds == Some(false) => {}
                Some(known) if number == 0 || fact.holds == Some(false) => *known = fact,
                Some(_) => {}
            }
        }
    }
    chosen
}

fn cells(fact: &Fact) -> Read {
    let word = |value: &Option<String>| {
        let text = value.as_ref().map(|text| facts::value(&fact.subject, &fact.name, &fact.source, text));
        text.map_or_else(|| Cell::Gap("could not be read".to_owned()), Cell::datum)
    };
    let verdict = match fact.holds {
        Some(true) => Cell::Verdict(true, "holds"),
        Some(false) => Cell::Verdict(false, "differs"),
        None => Cell::Verdict(false, "not verified"),
    };
    cells![word(&fact.requested), word(&fact.effective), fact.source.clone(), verdict]
}

/// What was used of the limited resources, by point; what the kernel told at no point stands below each table.
pub(super) fn usage(findings: &Findings<'_>) -> Vec<Block> {
    let memory = usage_table(
        findings,
        "table-usage",
        USAGE,
        "Memory use of each point during its entire first run, by the control group's counters. A peak at the limit \
         shows that the limit had an effect; pages that were read again had been evicted although they were needed.",
        "Not reported by the kernel: ",
    );
    let work = usage_table(
        findings,
        "table-work",
        WORK,
        "CPU and device use of each point's control group during its entire first run, by the kernel's counters, and \
         how often the CPU limit throttled it. Control groups v1 do not count writes that the kernel flushes later.",
        "Not counted without a CPU limit, or before any device limit was set: ",
    );
    memory.into_iter().chain(work).collect()
}

fn usage_table(
    findings: &Findings<'_>,
    id: &'static str,
    shown: &'static [FactName],
    caption: &'static str,
    without: &'static str,
) -> Option<Block> {
    let attempt = |point: &PointFindings| point.runs.first().and_then(|run| findings.finished(run.run.index));
    let attempts: Vec<(String, &[Fact])> = findings
        .points
        .iter()
        .filter_map(|point| Some((point.label(), attempt(point)?.facts.as_slice())))
        .filter(|(_, facts)| shown.iter().any(|name| name.last(facts).is_some()))
        .collect();
    let is_told = |name: &&FactName| attempts.iter().any(|(_, facts)| name.last(facts).is_some());
    let (told, untold): (Vec<_>, Vec<_>) = shown.iter().partition(is_told);
    if told.is_empty() {
        return None;
    }
    let untold: Vec<String> = untold.iter().map(|name| name.title.to_lowercase()).collect();
    let note = if untold.is_empty() { Prose::new() } else { prose![without, untold.join(", "), "."] };
    let table = TableOf::new(id, prose![caption], &attempts)
        .words("Point", |(label, _)| label.clone())
        .each(
            told,
            |name| Column::counts(name.title),
            |(_, facts), name| name.last(facts).map_or_else(not_told, usage_cell),
        )
        .note(note);
    Some(Block::Table(table))
}

fn not_told() -> Cell {
    Cell::Gap("not reported by the kernel".to_owned())
}

fn usage_cell(fact: &Fact) -> Cell {
    let Some(text) = fact.effective.as_deref() else { return Cell::Gap("could not be read".to_owned()) };
    match text.parse() {
        Ok(number) => Cell::Count(number),
        Err(_) => Cell::datum(facts::value(&fact.subject, &fact.name, &fact.source, text)),
    }
}

fn factors(findings: &Findings<'_>) -> String {
    let names: Vec<String> = findings.factors.iter().map(|factor| setting_title(&factor.setting)).collect();
    if names.is_empty() || findings.points.len() < 2 {
        return "No setting varied.".to_owned();
    }
    let names = names.join(", ");
    format!("Varied: {names}, and the engine settings derived from it. Everything else was the same for all points.")
}
