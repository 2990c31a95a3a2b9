//! The set-up in full: every fact of machine, software, storage and data, and each setting as asked and as in force.

use super::standby_hosts;
use super::{title, together, value};
use crate::blocks::{Block, Inline, Notice, Prose, prose};
use crate::findings::Findings;
use crate::sections::settings;
use proofload_model::facts::{self, FactName};
use proofload_model::samples::Fact;
use proofload_record::Attempt;
use std::collections::BTreeMap;

/// Subjects of facts in the order of the section, with their headings; others follow by name.
const SUBJECTS: &[(&str, &str)] = &[
    (facts::host::SUBJECT, "Machine"),
    (facts::storage::SUBJECT, "Storage"),
    (facts::engine::SUBJECT, "Database"),
    (facts::data::SUBJECT, "Data"),
    (facts::client::SUBJECT, "Load generator"),
];

/// Longer lists of facts are folded.
const SHOWN: usize = 14;

pub(crate) fn render(findings: &Findings<'_>) -> Vec<Block> {
    let mut blocks = Vec::new();
    let observed = observed(findings);
    for (subject, title) in SUBJECTS {
        blocks.push(Block::Heading(prose![*title]));
        match observed.get(*subject) {
            Some(observed) => blocks.extend(facts_blocks(subject, observed)),
            None => blocks.push(Block::Notice(Notice::Gap, prose!["no facts about it were recorded."])),
        }
    }
    blocks.extend(standby_hosts::blocks(findings));
    blocks.push(Block::Heading(prose!["Settings, requested and in force"]));
    blocks.extend(settings::asked(findings));
    blocks.extend(settings::usage(findings));
    blocks.push(Block::Heading(prose!["This record"]));
    blocks.push(Block::KeyValues(crate::sections::document::of_record(findings)));
    blocks
}

/// A fact that was only read: its name, and its values over the runs; empty where it could not be read.
struct ObservedFact {
    name: String,
    values: Vec<String>,
}

/// Plain observations by subject, of the study and of every finished run.
fn observed(findings: &Findings<'_>) -> BTreeMap<String, Vec<ObservedFact>> {
    let mut subjects: BTreeMap<String, Vec<ObservedFact>> = BTreeMap::new();
    for fact in all_facts(findings).into_iter().filter(|fact| fact.requested.is_none()) {
        let subject = subjects.entry(fact.subject.clone()).or_default();
        let at = subject.iter().position(|known| known.name == fact.name).unwrap_or_else(|| {
            subject.push(ObservedFact { name: fact.name.clone(), values: Vec::new() });
            subject.len() - 1
        });
        let read = fact.effective.as_ref().map(|text| value(&fact.subject, &fact.name, &fact.source, text));
        if let (Some(known), Some(read)) = (subject.get_mut(at), read)
            && !known.values.contains(&read)
        {
            known.values.push(read);
        }
    }
    subjects
}

/// Facts by name, those that were observed, in the order asked for.
pub(crate) fn named(findings: &Findings<'_>, names: &[FactName]) -> Vec<(Prose, Prose)> {
    let observed = observed(findings);
    let pair = |row: &FactName| {
        let fact = observed.get(row.subject)?.iter().find(|fact| fact.name == row.name)?;
        let words = together(fact.values.clone());
        (!words.is_empty()).then(|| (prose![row.title.to_owned()], prose![words]))
    };
    names.iter().filter_map(pair).collect()
}

/// A fact in words; `None` where it was not read.
pub(crate) fn told(findings: &Findings<'_>, name: &FactName) -> Option<String> {
    let observed = observed(findings);
    let fact = observed.get(name.subject)?.iter().find(|fact| fact.name == name.name)?;
    Some(together(fact.values.clone())).filter(|text| !text.is_empty())
}

/// Facts of the study and of the finished attempts; those of data from whichever attempt built them, for a build outlives an attempt
/// that was interrupted after it.
fn all_facts<'a>(findings: &'a Findings<'_>) -> Vec<&'a Fact> {
    let record = findings.record;
    let counted = |attempt: &'a Attempt| {
        let is_finished = findings.finished(attempt.run.index).is_some_and(|last| last.id == attempt.id);
        let of_primary = attempt.facts.iter().filter(|fact| !fact.instance.is_standby());
        of_primary.filter(move |fact| is_finished || fact.subject == facts::data::SUBJECT)
    };
    let of_study = record.facts.iter().filter(|fact| !fact.instance.is_standby());
    of_study.chain(record.attempts.iter().flat_map(counted)).collect()
}

/// True for what only those need who repeat a run; several load agents put their name behind that of the fact.
fn is_detail(subject: &str, name: &str) -> bool {
    facts::known(subject, facts::without_agent(name)).is_some_and(|row| row.is_detail)
}

fn facts_blocks(subject: &str, observed: &[ObservedFact]) -> Vec<Block> {
    let (seen, unseen): (Vec<&ObservedFact>, Vec<&ObservedFact>) =
        observed.iter().partition(|fact| !fact.values.is_empty());
    let is_detail = |fact: &&ObservedFact| is_detail(subject, &fact.name);
    let (details, main): (Vec<&ObservedFact>, Vec<&ObservedFact>) = seen.into_iter().partition(is_detail);
    let pair = |fact: &&ObservedFact| -> (Prose, Prose) {
        (title(subject, &fact.name), prose![together(fact.values.clone())])
    };
    let (shown, rest) = main.split_at(main.len().min(SHOWN));
    let mut pairs: Vec<(Prose, Prose)> = shown.iter().map(pair).collect();
    if !unseen.is_empty() {
        pairs.push((prose!["Not observed"], names(subject, &unseen)));
    }
    let mut blocks = vec![Block::KeyValues(pairs)];
    let folded: Vec<(Prose, Prose)> = rest.iter().chain(&details).map(pair).collect();
    if !folded.is_empty() {
        blocks.push(Block::Fold(prose![folded.len(), " more"], vec![Block::KeyValues(folded)]));
    }
    blocks
}

/// A title inside a sentence: its capital goes, unless it is an abbreviation.
fn uncapital(piece: Inline) -> Inline {
    let text = match &piece {
        Inline::Text(text) => (*text).to_owned(),
        Inline::Datum(text) => text.clone(),
        _ => return piece,
    };
    let mut letters = text.chars();
    match (letters.next(), letters.next()) {
        (Some(first), Some(second)) if second.is_lowercase() => {
            Inline::Datum(first.to_lowercase().chain([second]).chain(letters).collect())
        }
        _ => piece,
    }
}

/// Titles of facts, one after the other; where they were looked for stands in the appendix.
fn names(subject: &str, facts: &[&ObservedFact]) -> Prose {
    let mut text: Prose = Vec::new();
    for fact in facts {
        text.extend(if text.is_empty() { Prose::new() } else { prose![", "] });
        text.extend(title(subject, &fact.name).into_iter().map(uncapital));
    }
    text
}
