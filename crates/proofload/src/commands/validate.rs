//! `validate`: all faults of a study at once.

use crate::cli::StudyArguments;
use crate::exit::Exit;
use crate::output;

/// Checks a study file.
pub(crate) fn run(arguments: &StudyArguments) -> Exit {
    match super::study_file::read(arguments) {
        Ok(file) => {
            let points = proofload_model::plan::expand(&file.study).points.len();
            output::result(&format!(
                "{}: valid, {points} point{}",
                arguments.study.display(),
                if points == 1 { "" } else { "s" }
            ));
            Exit::Good
        }
        Err(exit) => exit,
    }
}
