//! `status`: where a record stands, also while it is written.

use crate::cli::StatusArguments;
use crate::exit::Exit;
use crate::output;
use proofload_model::plan::Run;
use proofload_record::{Attempt, Record, State};
use proofload_report::findings::{SearchFindings, SearchState, searches};
use serde_json::json;

/// Prints it.
pub(crate) fn run(arguments: &StatusArguments) -> Exit {
    let record = match proofload_record::read(&arguments.record) {
        Ok(record) => record,
        Err(error) => return output::failure(arguments.json, Exit::Failure, &error.to_string()),
    };
    output::result(&if arguments.json { as_json(&record) } else { as_text(&record, arguments) });
    Exit::Good
}

/// How one run of the plan stands, in a word and a sentence.
fn standing(record: &Record, run: &Run) -> (&'static str, String) {
    let of_run: Vec<&Attempt> = record.attempts.iter().filter(|attempt| attempt.run.index == run.index).collect();
    if let Some(attempt) = record.finished(run.index) {
        let note = match attempt.seal_holds {
            Some(true) => "",
            Some(false) => "ITS SEAL IS BROKEN: rows were changed",
            None => "IT HAS NO SEAL: rows were changed",
        };
        return ("finished", note.to_owned());
    }
    match of_run.last().map(|attempt| (&attempt.state, attempt)) {
        None => ("waiting", String::new()),
        Some((State::Failed { reason }, _)) => ("failed", reason.clone()),
        Some((_, attempt)) if record.being_written => {
            let phase = attempt.events.last().map_or("begun", |event| event.event.name());
            ("running", format!("{phase}, {} intervals", attempt.intervals.len()))
        }
        Some(_) => ("unfinished", "its conductor ended; `proofload resume` runs it again".to_owned()),
    }
}

fn levels(record: &Record, run: &Run) -> String {
    let levels = &record.plan.points[run.point as usize].levels;
    let text: Vec<String> = levels.iter().map(|(setting, value)| format!("{setting}={value}")).collect();
    if text.is_empty() { "(one point)".to_owned() } else { text.join(" ") }
}

fn as_text(record: &Record, arguments: &StatusArguments) -> String {
    let finished = record.plan.runs.iter().filter(|run| record.finished(run.index).is_some()).count();
    let doing = if record.being_written { "being written now" } else { "at rest" };
    let mut text =
        format!("{}: {} of {} runs finished, {doing}\n", record.study.name(), finished, record.plan.runs.len());
    for run in &record.plan.runs {
        let (word, sentence) = standing(record, run);
        text.push_str(format!("  {word:<10} run {:<3} {}  {sentence}", run.index, levels(record, run)).trim_end());
        text.push('\n');
    }
    text.extend(record.faults.iter().map(|fault| format!("CHANGED AFTER IT WAS WRITTEN: {fault}\n")));
    let searches = told_searches(record);
    text.extend(searches.iter().map(|(label, told, _)| format!("search{label}: {told}\n")));
    let open = finished < record.plan.runs.len() || searches.iter().any(|(.., ended)| !ended);
    if open && !record.being_written {
        text.push_str(&format!("continue with: proofload resume {}\n", arguments.record.display()));
    }
    text
}

/// Every search of the study: of which levels, how it stands, and whether it has ended.
fn told_searches(record: &Record) -> Vec<(String, String, bool)> {
    let label = |search: &SearchFindings| {
        if search.label.is_empty() { String::new() } else { format!(" ({})", search.label) }
    };
    let ended = |search: &SearchFindings| matches!(search.state, SearchState::Ended(_));
    searches(record).iter().map(|search| (label(search), search.text(), ended(search))).collect()
}

fn as_json(record: &Record) -> String {
    let runs: Vec<serde_json::Value> = record
        .plan
        .runs
        .iter()
        .map(|run| {
            let (word, sentence) = standing(record, run);
            json!({ "run": run.index, "point": run.point, "levels": levels(record, run), "state": word, "note": sentence })
        })
        .collect();
    format!(
        "{:#}",
        json!({
            "form": 1, "study": record.study.name(), "being_written": record.being_written, "faults": record.faults, "runs": runs,
            "searches": told_searches(record).iter().map(|(label, told, ended)| json!({ "of": label.trim(), "text": told, "ended": ended })).collect::<Vec<_>>(),
        })
    )
}
