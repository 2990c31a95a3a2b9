//! `studies`: those that come with the program, listed, printed or copied.

use super::study_needs::StudyNeeds;
use super::target;
use crate::catalogue::catalogue;
use crate::cli_first::StudiesArguments;
use crate::exit::Exit;
use crate::output;
use crate::studies::{BuiltInStudy, STUDIES, nearest, study};
use proofload_model::study::{Study, faults_text, validate};
use serde_json::{Value as Json, json};
use std::path::PathBuf;

/// Lists, prints or copies.
pub(crate) fn run(arguments: &StudiesArguments) -> Exit {
    match carry_out(arguments) {
        Ok(()) => Exit::Good,
        Err((exit, text)) => output::failure(arguments.json, exit, &text),
    }
}

fn carry_out(arguments: &StudiesArguments) -> Result<(), (Exit, String)> {
    let failed = |text: String| (Exit::Failure, text);
    match (arguments.show.as_ref().or(arguments.name.as_ref()), &arguments.copy) {
        (Some(name), _) if arguments.json => {
            let found = named(name)?;
            let mut told = row_json(found).map_err(failed)?;
            told["text"] = json!(found.text);
            output::result(&format!("{:#}", json!({ "form": 1, "study": told }))).map_err(failed)
        }
        (Some(name), _) => output::result(named(name)?.text).map_err(failed),
        (None, Some(name)) => copy(named(name)?, arguments),
        (None, None) if arguments.json => {
            let rows: Vec<Json> = STUDIES.iter().map(row_json).collect::<Result<_, _>>().map_err(failed)?;
            output::result(&format!("{:#}", json!({ "form": 1, "studies": rows }))).map_err(failed)
        }
        (None, None) => output::result(&list().map_err(failed)?).map_err(failed),
    }
}

fn named(name: &str) -> Result<&'static BuiltInStudy, (Exit, String)> {
    study(name).ok_or_else(|| {
        let names = || STUDIES.iter().map(|study| study.name).collect::<Vec<_>>().join(", ");
        let known = match nearest(name) {
            Some(near) => format!("did you mean {}? proofload studies lists all", near.name),
            None => format!("known: {}", names()),
        };
        (Exit::Usage, format!("unknown study {name}; {known}"))
    })
}

fn copy(found: &BuiltInStudy, arguments: &StudiesArguments) -> Result<(), (Exit, String)> {
    let file = arguments.output.clone().unwrap_or_else(|| PathBuf::from(format!("{}.toml", found.name)));
    target::write(Some(&file), arguments.overwrite, found.text).map_err(|text| (Exit::Failure, text))?;
    if file.as_os_str() != "-" {
        super::init::tell_next(&file);
    }
    Ok(())
}

/// The study of a file; all of them are valid, which a test checks.
fn read(found: &BuiltInStudy) -> Result<Study, String> {
    validate(found.text, &[], &catalogue())
        .map_err(|faults| format!("failed to read the built-in study {}: {}", found.name, faults_text(&faults)))
}

fn list() -> Result<String, String> {
    let mut text = String::new();
    for (folder, about) in [("quick", "minutes on a laptop"), ("papers", "sizes of published studies")] {
        text.push_str(&format!("{folder}: {about}\n"));
        for found in STUDIES.iter().filter(|study| study.folder == folder) {
            let study = read(found)?;
            let needs = StudyNeeds::of(&study).map_err(|error| error.to_string())?;
            let others = needs.needs().iter().map(|need| format!("needs {need}"));
            let lines = [study.title().to_owned(), needs.time(), needs.place()].into_iter().chain(others);
            text.push_str(&format!("\n  {}\n{}", found.name, lines.map(|line| wrapped(&line)).collect::<String>()));
        }
        text.push('\n');
    }
    text.push_str("proofload studies --copy NAME writes one to a file, --show NAME prints one\n");
    Ok(text)
}

/// Columns of a terminal in which a list stays whole.
const COLUMNS: usize = 80;

/// A line of an entry, broken between words where it is too long.
fn wrapped(line: &str) -> String {
    let (mut text, mut column) = (String::new(), 0);
    for word in line.split(' ') {
        let width = word.chars().count();
        if column == 0 || column + 1 + width > COLUMNS {
            text.push_str(if column == 0 { "      " } else { "\n        " });
            column = if column == 0 { 6 } else { 8 };
        } else {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        column += width;
    }
    text + "\n"
}

fn row_json(found: &BuiltInStudy) -> Result<Json, String> {
    let study = read(found)?;
    let mut row = StudyNeeds::of(&study).map_err(|error| error.to_string())?.json();
    row["name"] = json!(found.name);
    row["folder"] = json!(found.folder);
    row["title"] = json!(study.title());
    Ok(row)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_study_is_valid_and_says_what_it_costs() {
        for found in STUDIES {
            let row = row_json(found).unwrap();
            assert_eq!(row["name"], read(found).unwrap().name(), "a study has the name of its file");
            assert!(row["runs_at_most"].as_u64().is_some_and(|runs| runs > 0), "{row}");
        }
        let list = list().unwrap();
        assert!(list.lines().all(|line| line.chars().count() <= COLUMNS), "{list}");
    }
}
