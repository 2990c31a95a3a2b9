//! What was tested: machine, software, storage, data, and each setting as asked and as in force.

use super::section::{Section, always};
use crate::blocks::{Block, Cell, Column, Inline, Notice, Prose, Table, prose};
use crate::findings::{Findings, setting_title, size_text};
use proofload_model::samples::Fact;
use std::collections::BTreeMap;

/// The section.
pub(super) const SECTION: Section =
    Section { id: "tested", title: "What was tested", level: 2, numbered: true, needs: always, render };

/// Subjects of facts in the order of the section, with their headings; others follow by name.
const SUBJECTS: &[(&str, &str)] = &[
    ("host", "Machine"),
    ("storage", "Storage"),
    ("engine", "Database"),
    ("data", "Data"),
    ("client", "Load generator"),
];

/// Parts of names of facts that only those need who run it again.
const DETAILS: &[&str] = &["hash", "format", "generator_version", "c_load", "load_time"];

/// Longer lists of facts are folded.
const SHOWN: usize = 14;

fn render(findings: &Findings<'_>) -> Vec<Block> {
    let mut blocks = Vec::new();
    let observed = observed(findings);
    for (subject, title) in SUBJECTS {
        blocks.push(Block::Heading(4, prose![*title]));
        match observed.get(*subject) {
            Some(facts) => blocks.extend(facts_blocks(facts)),
            None => blocks.push(Block::Notice(Notice::Gap, prose!["no facts about this were recorded."])),
        }
    }
    blocks.push(Block::Heading(4, prose!["Settings, asked and in force"]));
    blocks.extend(asked(findings));
    blocks.extend(usage(findings));
    blocks
}

/// Plain observations by subject: the study's, and those that are equal in every finished run. Values that differ between
/// runs are listed together.
fn observed(findings: &Findings<'_>) -> BTreeMap<String, Vec<(String, String)>> {
    let mut values: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    let mut order: Vec<(String, String)> = Vec::new();
    for fact in all_facts(findings).into_iter().filter(|fact| fact.requested.is_none()) {
        let key = (fact.subject.clone(), fact.name.clone());
        let seen = fact.effective.as_deref().map(size_text);
        let value = seen.unwrap_or_else(|| format!("not observed: {}", fact.source));
        let known = values.entry(key.clone()).or_default();
        if known.is_empty() {
            order.push(key);
        }
        if !known.contains(&value) {
            known.push(value);
        }
    }
    let mut subjects: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    for (subject, name) in order {
        let values = values.remove(&(subject.clone(), name.clone())).unwrap_or_default();
        let text = match values.as_slice() {
            [only] => only.clone(),
            [first, .., last] => format!("{first} … {last} ({} values over the runs)", values.len()),
            [] => continue,
        };
        subjects.entry(subject).or_default().push((name, text));
    }
    subjects
}

/// Facts of the study and of the finished attempts.
fn all_facts<'a>(findings: &'a Findings<'_>) -> Vec<&'a Fact> {
    let record = findings.record;
    let finished = record.plan.runs.iter().filter_map(|run| record.finished(run.index));
    record.facts.iter().chain(finished.flat_map(|attempt| &attempt.facts)).collect()
}

fn facts_blocks(facts: &[(String, String)]) -> Vec<Block> {
    let is_detail = |name: &str| DETAILS.iter().any(|part| name.contains(part));
    let (details, main): (Vec<_>, Vec<_>) = facts.iter().partition(|(name, _)| is_detail(name));
    let pair = |(name, value): &(String, String)| -> (Prose, Prose) {
        (prose![name.replace(['_', '.'], " ")], prose![value.clone()])
    };
    let shown = main.len().min(SHOWN);
    let pairs = |facts: &[&(String, String)]| -> Vec<(Prose, Prose)> { facts.iter().copied().map(pair).collect() };
    let mut blocks = vec![Block::KeyValues(pairs(&main[..shown]))];
    let folded = [pairs(&main[shown..]), pairs(&details)].concat();
    if !folded.is_empty() {
        blocks.push(Block::Fold(prose![folded.len(), " more"], vec![Block::KeyValues(folded)]));
    }
    blocks
}

/// What was asked for at each point and what was read back.
fn asked(findings: &Findings<'_>) -> Vec<Block> {
    let mut rows = Vec::new();
    for point in &findings.points {
        let Some(attempt) = point.runs.first().and_then(|run| findings.record.finished(run.run.index)) else {
            continue;
        };
        let mut seen: Vec<(&str, &str)> = Vec::new();
        for fact in attempt.facts.iter().rev().filter(|fact| fact.requested.is_some()) {
            if seen.contains(&(fact.subject.as_str(), fact.name.as_str())) {
                continue;
            }
            seen.push((&fact.subject, &fact.name));
            rows.push((point.id, row(&point.label(), fact)));
        }
    }
    rows.sort_by_key(|(point, _)| *point);
    let mut blocks = vec![Block::Paragraph(prose![
        "A limit that was asked for is not a limit that holds. Each was read back from where it acts, before the load and after it; \
         one that could not be verified voids its point. ",
        factors(findings)
    ])];
    if rows.is_empty() {
        blocks.push(Block::Notice(Notice::Gap, prose!["no setting was read back."]));
        return blocks;
    }
    blocks.push(Block::Table(Table {
        id: "table-settings",
        caption: prose!["Settings as asked and as read back, in the first run of each point; read last."],
        columns: ["Point", "Setting", "Asked", "In force", "Read from", "Holds"].map(Column::words).to_vec(),
        rows: rows.into_iter().map(|(_, row)| row).collect(),
        note: Vec::new(),
    }));
    blocks
}

/// What was used of the limited resources, by point.
fn usage(findings: &Findings<'_>) -> Option<Block> {
    let mut rows = Vec::new();
    for point in &findings.points {
        let Some(attempt) = point.runs.first().and_then(|run| findings.record.finished(run.run.index)) else {
            continue;
        };
        for fact in attempt.facts.iter().filter(|fact| fact.subject == "limit" && fact.requested.is_none()) {
            let value = fact.effective.as_deref().map(size_text);
            let value = value.map_or_else(|| Cell::Gap("could not be read".to_owned()), Cell::datum);
            rows.push(vec![
                Cell::datum(point.label()),
                Cell::code(fact.name.clone()),
                value,
                Cell::datum(fact.source.clone()),
            ]);
        }
    }
    (!rows.is_empty()).then(|| {
        let table = Table {
            id: "table-usage",
            caption: prose!["What each point used of the limited resources over its whole first run; a peak at the limit says that the limit was felt."],
            columns: ["Point", "Name", "Value", "Read from"].map(Column::words).to_vec(),
            rows,
            note: Vec::new(),
        };
        Block::Fold(prose!["Use of the limited resources"], vec![Block::Table(table)])
    })
}

fn row(label: &str, fact: &Fact) -> Vec<Cell> {
    let word = |value: &Option<String>| value.clone().map_or(Cell::Gap("could not be read".to_owned()), Cell::datum);
    vec![
        Cell::datum(label),
        Cell::Prose(vec![Inline::Code(fact.name.clone())]),
        word(&fact.requested),
        word(&fact.effective),
        Cell::datum(fact.source.clone()),
        match fact.holds {
            Some(true) => Cell::Verdict(true, "holds"),
            Some(false) => Cell::Verdict(false, "differs"),
            None => Cell::Verdict(false, "not verified"),
        },
    ]
}

fn factors(findings: &Findings<'_>) -> String {
    let names: Vec<String> =
        findings.record.study.factors.iter().map(|factor| setting_title(&factor.setting)).collect();
    if names.is_empty() {
        "No setting varied.".to_owned()
    } else {
        format!("What varied: {}; everything else was the same for all points.", names.join(", "))
    }
}
