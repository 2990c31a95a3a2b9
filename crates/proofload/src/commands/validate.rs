//! `validate`: all faults of a study at once. Faults are what was asked for, so with `--json` they are the result.

use super::study_file::{Refusal, faults_json, read_with};
use super::verdict::counted;
use crate::cli::CheckArguments;
use crate::exit::Exit;
use crate::output;
use proofload_model::plan::{expand, most_runs};
use serde_json::json;

/// Checks a study file.
pub(crate) fn run(arguments: &CheckArguments) -> Exit {
    let path = arguments.study.study.display();
    match read_with(&arguments.study.study, &arguments.study.set) {
        Ok(file) => {
            if !arguments.json {
                file.tell_advice();
            }
            let plan = expand(&file.study);
            let (points, runs) = (plan.points.len(), most_runs(&file.study));
            let open = if runs > plan.runs.len() {
                format!(", and a search of at most {}", counted(runs, "run"))
            } else {
                String::new()
            };
            let text = if arguments.json {
                let found = json!({
                    "form": 1, "file": path.to_string(), "valid": true, "study": file.study.name(), "points": points,
                    "runs": plan.runs.len(), "runs_at_most": runs, "faults": [],
                });
                format!("{found:#}")
            } else {
                format!("{path}: valid, {}{open}", counted(points, "point"))
            };
            output::conclude(arguments.json, &text, Exit::Good)
        }
        Err(Refusal::Faults { text, faults }) if arguments.json => {
            let (exit, faults) = (Exit::StudyInvalid, faults_json(&faults));
            // The same as of the other commands, beside the result.
            let error = json!({ "exit": exit.number(), "meaning": exit.meaning(), "text": text, "faults": faults });
            let found =
                json!({ "form": 1, "file": path.to_string(), "valid": false, "faults": faults, "error": error });
            output::conclude(true, &format!("{found:#}"), Exit::StudyInvalid)
        }
        Err(refusal) => refusal.tell(arguments.json),
    }
}
