//! `status`: where a record stands, also while it is written.

use crate::cli::StatusArguments;
use crate::exit::Exit;
use crate::output;
use proofload_model::plan::Run;
use proofload_record::{Attempt, Record, State};
use proofload_report::findings::{SearchFindings, SearchState, searches, void_reasons};
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

/// How one run of the plan stands.
struct Standing {
    /// State of its last attempt.
    state: &'static str,
    /// Verdict on it, once it has finished.
    verdict: Option<&'static str>,
    /// Reasons, or where it is.
    note: String,
}

impl Standing {
    fn open(state: &'static str, note: impl Into<String>) -> Self {
        Self { state, verdict: None, note: note.into() }
    }

    /// The verdict on a finished run, and why.
    fn finished(record: &Record, attempt: &Attempt) -> Self {
        let changed = match attempt.seal_holds {
            Some(true) => None,
            Some(false) => Some("ITS SEAL IS BROKEN: rows were changed"),
            None => Some("IT HAS NO SEAL: rows were changed"),
        };
        let settings = record.plan.settings(&record.study, attempt.run.point);
        let reasons: Vec<String> = void_reasons(attempt, &settings).iter().map(ToString::to_string).collect();
        let verdict = if reasons.is_empty() { "valid" } else { "void" };
        let note = changed.map_or_else(|| reasons.join("; "), str::to_owned);
        Self { state: "finished", verdict: Some(verdict), note }
    }
}

/// How one run of the plan stands.
fn standing(record: &Record, run: &Run) -> Standing {
    let of_run: Vec<&Attempt> = record.attempts.iter().filter(|attempt| attempt.run.index == run.index).collect();
    if let Some(attempt) = record.finished(run.index) {
        return Standing::finished(record, attempt);
    }
    match of_run.last().map(|attempt| (&attempt.state, attempt)) {
        None => Standing::open("waiting", ""),
        Some((State::Failed { reason }, _)) => Standing::open("failed", reason.clone()),
        Some((_, attempt)) if record.being_written => {
            let phase = attempt.events.last().map_or("begun", |event| event.event.name());
            Standing::open("running", format!("{phase}, {} intervals", attempt.intervals.len()))
        }
        Some(_) => Standing::open("unfinished", "its conductor ended; `proofload resume` runs it again"),
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
        let Standing { state, verdict, note } = standing(record, run);
        let word = verdict.unwrap_or(state);
        text.push_str(format!("  {word:<10} run {:<3} {}  {note}", run.index, levels(record, run)).trim_end());
        text.push('\n');
    }
    text.extend(record.faults.iter().map(|fault| format!("CHANGED AFTER IT WAS WRITTEN: {fault}\n")));
    let searches = told_searches(record);
    text.extend(searches.iter().map(|(label, told, _)| format!("search{label}: {told}\n")));
    let open = finished < record.plan.runs.len() || searches.iter().any(|(.., ended)| !ended);
    let has_void = record.plan.runs.iter().any(|run| standing(record, run).verdict == Some("void"));
    if open && !record.being_written {
        text.push_str(&format!("continue with: proofload resume {}\n", arguments.record.display()));
    } else if has_void && !record.being_written {
        text.push_str(&format!(
            "measure void points again with: proofload resume {} --void\n",
            arguments.record.display()
        ));
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
            let Standing { state, verdict, note } = standing(record, run);
            let levels = levels(record, run);
            json!({ "run": run.index, "point": run.point, "levels": levels, "state": state, "verdict": verdict, "note": note })
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
