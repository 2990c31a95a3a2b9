//! What was found, in the order of the questions that a user has.

use super::study;
use crate::cli::DoctorArguments;
use crate::conductor::quiet_check::{self, Neighbours};
use crate::exit::Exit;
use crate::output;
use proofload_testbed::doctor::{Diagnosis, State, diagnose, machine};
use serde_json::{Value as Json, json};
use std::path::{Path, PathBuf};

/// What a diagnosis is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Whether the study can run.
    Run,
    /// Whether others are at work.
    Quiet,
    /// What the machine does to results.
    Machine,
}

impl Part {
    const fn word(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Quiet => "quiet",
            Self::Machine => "machine",
        }
    }
}

/// Everything that was found.
struct Examination {
    /// The study's file; `None` when the machine alone was looked at.
    study: Option<PathBuf>,
    found: Vec<(Part, Diagnosis)>,
    /// What others did while the host was looked at.
    neighbours: Option<Neighbours>,
}

/// Looks and prints. Ends with 1 when something is missing that the study needs.
pub(crate) fn run(arguments: &DoctorArguments) -> Exit {
    let examination = match &arguments.study {
        None => of_machine(),
        Some(path) => match crate::commands::study_file::read_with(path, &arguments.set) {
            Ok(file) => {
                if !arguments.json {
                    output::note(&format!("observing this host for {} s …", quiet_check::LOOK.as_secs()));
                }
                of_study(path, &file.study)
            }
            Err(refusal) => return refusal.tell(arguments.json),
        },
    };
    let text = if arguments.json { examination.json() } else { examination.text() };
    let is_missing = examination.study.is_some() && !examination.can_run();
    output::conclude(arguments.json, &text, if is_missing { Exit::Failure } else { Exit::Good })
}

fn of_machine() -> Examination {
    let found = diagnose(Path::new(".")).into_iter().map(|diagnosis| (Part::Machine, diagnosis)).collect();
    Examination { study: None, found, neighbours: None }
}

fn of_study(path: &Path, study: &proofload_model::study::Study) -> Examination {
    let folder = PathBuf::from(study.settings.text("storage.path").unwrap_or("."));
    let neighbours = study::neighbours(study, &folder);
    let of = |part: Part, all: Vec<Diagnosis>| all.into_iter().map(move |diagnosis| (part, diagnosis));
    let found = of(Part::Run, study::can_run(study, &folder))
        .chain(of(Part::Quiet, study::quiet(study, &neighbours)))
        .chain(of(Part::Machine, machine(&folder)))
        .chain(of(Part::Machine, vec![study::unused_engines(study)]))
        .collect();
    Examination { study: Some(path.to_owned()), found, neighbours: neighbours.ok() }
}

impl Examination {
    fn part(&self, part: Part) -> impl Iterator<Item = &Diagnosis> {
        self.found.iter().filter(move |(of, _)| *of == part).map(|(_, diagnosis)| diagnosis)
    }

    fn can_run(&self) -> bool {
        self.part(Part::Run).all(|diagnosis| diagnosis.state != State::Missing)
    }

    fn text(&self) -> String {
        let Some(study) = &self.study else { return lines(self.part(Part::Machine)) };
        let missing = self.part(Part::Run).filter(|diagnosis| diagnosis.state == State::Missing).count();
        let can_run = match missing {
            0 => "yes".to_owned(),
            1 => "no, one thing is missing".to_owned(),
            many => format!("no, {many} things are missing"),
        };
        let quiet = self.neighbours.as_ref().map_or_else(|| "unknown".to_owned(), Neighbours::verdict);
        let next = match missing {
            0 => format!("next: proofload run {}\n", study.display()),
            _ => format!("next: fix what is missing above, then run proofload doctor {}\n", study.display()),
        };
        format!(
            "Can it run?  {can_run}\n{}\nIs it quiet?  {quiet}\n{}\nWhat this machine does to results\n{}\n{next}",
            lines(self.part(Part::Run)),
            lines(self.part(Part::Quiet)),
            lines(self.part(Part::Machine)),
        )
    }

    fn json(&self) -> String {
        let finding = |(part, diagnosis): &(Part, Diagnosis)| {
            let Diagnosis { subject, state, found, remedy } = diagnosis;
            json!({ "part": part.word(), "subject": subject, "state": word(*state), "found": found, "remedy": remedy })
        };
        let findings: Vec<Json> = self.found.iter().map(finding).collect();
        let neighbours = self.neighbours.as_ref().map(Neighbours::json);
        format!("{:#}", json!({ "form": 1, "findings": findings, "neighbours": neighbours }))
    }
}

const fn word(state: State) -> &'static str {
    match state {
        State::Good => "good",
        State::Warning => "warning",
        State::Missing => "missing",
    }
}

fn lines<'a>(found: impl Iterator<Item = &'a Diagnosis>) -> String {
    let found: Vec<&Diagnosis> = found.collect();
    let width = found.iter().map(|diagnosis| diagnosis.subject.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for diagnosis in found {
        text.push_str(&format!("{:<8} {:<width$}  {}\n", word(diagnosis.state), diagnosis.subject, diagnosis.found));
        if let Some(remedy) = &diagnosis.remedy {
            text.push_str(&format!("{:<8} {:<width$}  -> {remedy}\n", "", ""));
        }
    }
    text
}
