//! Reading a study file with its `--set` changes. Shared by the commands that take one.

use crate::catalogue::catalogue;
use crate::cli::StudyArguments;
use crate::exit::Exit;
use crate::output;
use proofload_model::study::{Study, faults_text, parse_assignment, validate};
use std::path::Path;

/// A study and its text.
pub(crate) struct StudyFile {
    pub(crate) text: String,
    pub(crate) study: Study,
}

/// Reads and checks; faults are printed.
pub(crate) fn read(arguments: &StudyArguments) -> Result<StudyFile, Exit> {
    read_with(&arguments.study, &arguments.set)
}

/// The same, from the parts.
pub(crate) fn read_with(path: &Path, set: &[String]) -> Result<StudyFile, Exit> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        output::error(&format!("reading the study {}: {error}", path.display()));
        Exit::Usage
    })?;
    let mut overrides = Vec::new();
    for assignment in set {
        match parse_assignment(assignment) {
            Ok(assignment) => overrides.push(assignment),
            Err(error) => {
                output::error(&error.to_string());
                return Err(Exit::Usage);
            }
        }
    }
    match validate(&text, &overrides, &catalogue()) {
        Ok(study) => Ok(StudyFile { text: with_changes(text, set), study }),
        Err(faults) => {
            let count = if faults.len() == 1 { "1 fault".to_owned() } else { format!("{} faults", faults.len()) };
            output::error(&format!("the study {} has {count}", path.display()));
            output::note(faults_text(&faults).trim_end());
            Err(Exit::StudyInvalid)
        }
    }
}

/// The text as it goes into the record: with the changes of the command line as comments at its end.
fn with_changes(mut text: String, set: &[String]) -> String {
    if !set.is_empty() {
        text.push_str("\n# changed on the command line:\n");
        for change in set {
            text.push_str(&format!("# --set '{change}'\n"));
        }
    }
    text
}
