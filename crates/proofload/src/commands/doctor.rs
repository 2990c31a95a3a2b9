//! `doctor`: what this machine allows, with a remedy for what it does not.

use crate::cli::DoctorArguments;
use crate::exit::Exit;
use crate::output;
use proofload_testbed::doctor::{Diagnosis, State, diagnose};
use std::path::PathBuf;

/// Looks and prints. Ends with 1 when something is missing that the study needs.
pub(crate) fn run(arguments: &DoctorArguments) -> Exit {
    let folder = match &arguments.study {
        None => PathBuf::from("."),
        Some(path) => match super::study_file::read_with(path, &arguments.set) {
            Ok(file) => PathBuf::from(file.study.settings.text("storage.path").unwrap_or(".")),
            Err(refusal) => return refusal.tell(arguments.json),
        },
    };
    let found = diagnose(&folder);
    output::result(&if arguments.json { json(&found) } else { text(&found) });
    if arguments.study.is_some() && found.iter().any(|diagnosis| diagnosis.state == State::Missing) {
        Exit::Failure
    } else {
        Exit::Good
    }
}

const fn word(state: State) -> &'static str {
    match state {
        State::Good => "good",
        State::Warning => "warning",
        State::Missing => "missing",
    }
}

fn text(found: &[Diagnosis]) -> String {
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

fn json(found: &[Diagnosis]) -> String {
    let items: Vec<serde_json::Value> = found
        .iter()
        .map(|diagnosis| {
            serde_json::json!({
                "subject": diagnosis.subject, "state": word(diagnosis.state), "found": diagnosis.found, "remedy": diagnosis.remedy
            })
        })
        .collect();
    format!("{:#}", serde_json::json!({ "form": 1, "findings": items }))
}
