//! What differs between two records besides what they measured: settings, versions, facts about hosts, engines and data. What
//! differs from run to run by its nature is left out.

use super::super::drills::report_of;
use super::super::evaluate::Findings;
use super::super::point::PointFindings;
use super::beside::are_in_turns;
use super::duet_checks::checks_of;
use super::pairing::{ComparedFactor, Pair};
use proofload_model::facts::{data, engine, host, known, usage};
use proofload_model::samples::Fact;
use proofload_model::settings::setting;
use std::collections::{BTreeMap, BTreeSet};

/// Settings that only name a study.
const NAMES: &[&str] = &[setting::STUDY_NAME, setting::STUDY_TITLE, setting::STUDY_REFERENCE];

/// What a difference is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// A setting of the study.
    Setting,
    /// The program that made the record, or the kernel that it ran on.
    Version,
    /// A fact that was read.
    Fact,
}

impl Subject {
    /// Its word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Setting => "setting",
            Self::Version => "version",
            Self::Fact => "fact",
        }
    }
}

/// One difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// What it is about.
    pub subject: Subject,
    /// Path of the setting, or subject and name of the fact.
    pub name: String,
    /// Value in the baseline; `None` where it has no value or it could not be read.
    pub baseline: Option<String>,
    /// Value in the candidate, likewise.
    pub candidate: Option<String>,
    /// Labels of the paired points at which it differs so; empty where it concerns the whole record.
    pub points: Vec<String>,
}

/// All differences, settings first.
pub(super) fn differences(
    factors: &[ComparedFactor],
    pairs: &[Pair<'_>],
    baseline: &Findings<'_>,
    candidate: &Findings<'_>,
) -> Vec<Difference> {
    let mut found = settings(factors, baseline, candidate);
    found.extend(versions(baseline, candidate));
    found.extend(between(&read(&baseline.record.facts), &read(&candidate.record.facts)));
    found.extend(of_data(&data_of(baseline), &data_of(candidate), is_found_by_procedure(baseline, candidate)));
    found.extend(of_points(pairs, baseline, candidate));
    found.extend(paces(baseline, candidate));
    let settings: Vec<Difference> =
        found.iter().filter(|difference| difference.subject == Subject::Setting).cloned().collect();
    found.retain(|difference| !settings.iter().any(|setting| repeats(difference, setting)));
    found
}

/// Whether a fact only reads back what the setting of its name asks for.
fn repeats(difference: &Difference, setting: &Difference) -> bool {
    let path = difference.name.replace(' ', ".");
    let named = setting.name == path || setting.name == path.replacen("engine.", "engine.settings.", 1);
    let values = (&difference.baseline, &difference.candidate) == (&setting.baseline, &setting.candidate);
    difference.subject == Subject::Fact && named && values
}

fn settings(factors: &[ComparedFactor], baseline: &Findings<'_>, candidate: &Findings<'_>) -> Vec<Difference> {
    let [ours, theirs] = [baseline, candidate].map(|findings| &findings.record.study.settings.0);
    let names: BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
    let told = names
        .into_iter()
        .filter(|name| !factors.iter().any(|factor| factor.covers(name)) && !NAMES.contains(&name.as_str()));
    let text =
        |of: &BTreeMap<String, proofload_model::settings::Value>, name: &str| of.get(name).map(ToString::to_string);
    told.map(|name| Difference {
        subject: Subject::Setting,
        name: name.clone(),
        baseline: text(ours, name),
        candidate: text(theirs, name),
        points: Vec::new(),
    })
    .filter(differs)
    .collect()
}

fn differs(difference: &Difference) -> bool {
    difference.baseline != difference.candidate
}

fn versions(baseline: &Findings<'_>, candidate: &Findings<'_>) -> Vec<Difference> {
    let programs = |findings: &Findings<'_>| listed(findings.record.sessions.iter().map(|line| line.program.clone()));
    let kernels = |findings: &Findings<'_>| listed(findings.record.sessions.iter().map(|line| line.machine.clone()));
    let difference = |name: &str, of: &dyn Fn(&Findings<'_>) -> Option<String>| Difference {
        subject: Subject::Version,
        name: name.to_owned(),
        baseline: of(baseline),
        candidate: of(candidate),
        points: Vec::new(),
    };
    [difference("program", &programs), difference("conductor's kernel", &kernels)].into_iter().filter(differs).collect()
}

/// Different values in order, as one text.
fn listed(values: impl Iterator<Item = String>) -> Option<String> {
    let values: BTreeSet<String> = values.collect();
    (!values.is_empty()).then(|| values.into_iter().collect::<Vec<_>>().join(", "))
}

/// Facts by subject and name, with every value that was read.
type Read = BTreeMap<(String, String), BTreeSet<Option<String>>>;

fn read<'a>(facts: impl IntoIterator<Item = &'a Fact>) -> Read {
    let mut read = Read::new();
    let is_passing = |fact: &Fact| {
        fact.subject == usage::SUBJECT || known(&fact.subject, &fact.name).is_some_and(|row| row.is_passing)
    };
    for fact in facts.into_iter().filter(|fact| !is_passing(fact)) {
        // A standby's host is no second reading of the primary's.
        let of = if fact.instance.is_standby() { format!(" ({})", fact.instance) } else { String::new() };
        read.entry((fact.subject.clone(), format!("{}{of}", fact.name))).or_default().insert(fact.effective.clone());
    }
    read
}

fn between(ours: &Read, theirs: &Read) -> Vec<Difference> {
    let names: BTreeSet<&(String, String)> = ours.keys().chain(theirs.keys()).collect();
    let text = |of: &Read, name: &(String, String)| listed(of.get(name)?.iter().flatten().cloned());
    let difference = |name: &(String, String)| Difference {
        subject: Subject::Fact,
        name: format!("{} {}", name.0, name.1),
        baseline: text(ours, name),
        candidate: text(theirs, name),
        points: Vec::new(),
    };
    names.into_iter().map(difference).filter(differs).collect()
}

/// Differences of the data. A record that found them built by another study tells nothing of them, in one line, and nothing at all where the procedure
/// of the comparison itself had built them.
fn of_data(ours: &Read, theirs: &Read, is_found_by_procedure: bool) -> Vec<Difference> {
    if ours.is_empty() == theirs.is_empty() {
        return between(ours, theirs);
    }
    if is_found_by_procedure {
        return Vec::new();
    }
    let built = |of: &Read| Some(if of.is_empty() { "found (built earlier)" } else { "built" }.to_owned());
    let (baseline, candidate) = (built(ours), built(theirs));
    vec![Difference { subject: Subject::Fact, name: "data".to_owned(), baseline, candidate, points: Vec::new() }]
}

/// Whether one of two studies that were measured with each other found its data built by the comparison: by a duet with a known ratio before it,
/// or by the other study, whose folder and name it has.
fn is_found_by_procedure(baseline: &Findings<'_>, candidate: &Findings<'_>) -> bool {
    let is_proved = !checks_of([baseline.record, candidate.record]).is_empty();
    let [ours, theirs] = [baseline, candidate].map(|findings| {
        let study = &findings.record.study;
        (study.name().to_owned(), study.settings.text(setting::STORAGE_PATH).unwrap_or_default().to_owned())
    });
    are_in_turns(baseline, candidate) && (is_proved || ours == theirs)
}

/// Facts of the runs of paired points; the same difference at several points is listed once.
fn of_points(pairs: &[Pair<'_>], baseline: &Findings<'_>, candidate: &Findings<'_>) -> Vec<Difference> {
    let mut found: Vec<Difference> = Vec::new();
    for pair in pairs {
        let (Some(ours), Some(theirs)) = (pair.baseline, pair.candidate) else { continue };
        if ours.runs.is_empty() || theirs.runs.is_empty() {
            continue;
        }
        for mut difference in between(&facts_of(baseline, ours), &facts_of(candidate, theirs)) {
            let same = |known: &&mut Difference| {
                (&known.name, &known.baseline, &known.candidate)
                    == (&difference.name, &difference.baseline, &difference.candidate)
            };
            match found.iter_mut().find(same) {
                Some(known) => known.points.push(pair.label.clone()),
                None => {
                    difference.points.push(pair.label.clone());
                    found.push(difference);
                }
            }
        }
    }
    found
}

fn facts_of(findings: &Findings<'_>, point: &PointFindings) -> Read {
    let attempts = point.runs.iter().filter_map(|run| findings.finished(run.run.index));
    let facts = attempts.flat_map(|attempt| &attempt.facts).filter(|fact| !fact.instance.is_standby());
    // Hosts are compared by the facts of the whole records.
    let is_elsewhere = |fact: &Fact| [data::SUBJECT, host::SUBJECT].contains(&fact.subject.as_str());
    // What the settings say already; records made before it have none.
    let of_settings = [engine::DURABLE_COMMITS, engine::POWER_SAFE_COMMITS, engine::ISOLATION];
    let is_of_settings = |fact: &Fact| of_settings.iter().any(|name| name.is_of(fact));
    read(facts.filter(|fact| !is_elsewhere(fact) && !is_of_settings(fact)))
}

/// Difference of the paces of the probers away from faults: what a prober takes there is missing in the level before a fault. Records
/// without drills have none.
fn paces(baseline: &Findings<'_>, candidate: &Findings<'_>) -> Option<Difference> {
    let [ours, theirs] = [baseline, candidate].map(|findings| {
        let reports = findings.record.attempts.iter().filter_map(report_of);
        reports.map(|report| report.prober.ledger.paces.calm_step.max(1)).max()
    });
    let told = |step: u32| match step {
        1 => "every operation".to_owned(),
        step => format!("one operation in {step}"),
    };
    let difference = Difference {
        subject: Subject::Fact,
        name: "prober calm pace".to_owned(),
        baseline: Some(told(ours?)),
        candidate: Some(told(theirs?)),
        points: Vec::new(),
    };
    Some(difference).filter(differs)
}

/// Facts of the data, compared over the whole record: the attempt that built the data has them, whichever point came first, and even if
/// it was interrupted afterwards.
fn data_of(findings: &Findings<'_>) -> Read {
    let facts = findings.record.attempts.iter().flat_map(|attempt| &attempt.facts);
    read(facts.filter(|fact| fact.subject == data::SUBJECT))
}
