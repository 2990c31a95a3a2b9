//! The state of a record for programs: described in `docs/guides/machine-readable.md`.

use super::status::Status;
use super::verdict::StudyResult;
use crate::live::{RunEnd, RunRow, RunningRun, Standing, ended_json, load_json, phase_span};
use proofload_model::plan::Run;
use proofload_record::Record;
use serde_json::{Value as Json, json};
use std::path::Path;

/// The whole object.
pub(super) fn as_json(status: &Status, record: &Record, result: Option<&StudyResult>, path: &Path) -> Json {
    let runs = record.plan.runs.iter().zip(&status.rows);
    let searches = status.searches.iter();
    let search =
        |(label, told, ended): &(String, String, bool)| json!({ "of": label.trim(), "text": told, "ended": ended });
    json!({
        "form": 2, "study": record.study.name(), "being_written": record.being_written, "faults": record.faults,
        "done": status.head.done, "of": status.head.of, "of_is_at_most": status.head.at_most,
        "elapsed_s": status.head.elapsed.map(|time| time.as_secs()), "left_s": status.head.left.map(|left| left.time.as_secs()),
        "unit": format!("{}/s", status.work), "result": result.map(StudyResult::json),
        "next": result.map(|_| status.next.json(path)),
        "runs": runs.map(|(run, row)| run_json(record, run, row, status.work)).collect::<Vec<_>>(),
        "searches": searches.map(search).collect::<Vec<_>>(),
    })
}

fn levels(record: &Record, run: &Run) -> String {
    let levels = &record.plan.points[run.point as usize].levels;
    let text: Vec<String> = levels.iter().map(|(setting, value)| format!("{setting}={value}")).collect();
    if text.is_empty() { "(one point)".to_owned() } else { text.join(" ") }
}

fn run_json(record: &Record, run: &Run, row: &RunRow, work: &str) -> Json {
    let mut object = json!({
        "run": run.index, "point": run.point, "levels": levels(record, run), "state": state(row),
        "verdict": null, "note": "", "phase": null, "phase_s": null, "phase_at_least_s": null, "phase_at_most_s": null, "attempt": null,
        "rate": null, "rate_half_width": null, "response_p99_ns": null, "failed": null, "stolen": null, "foreign": null,
        "foreign_reads": null, "spin": null, "modelled_busy": null, "reasons": [],
    });
    let more = match &row.standing {
        Standing::Waiting => json!({}),
        Standing::Unfinished => json!({ "note": "its conductor ended; it will be run again" }),
        Standing::Running(running) => running_json(running, row, work),
        Standing::Ended(ended) => {
            let note = match ended {
                RunEnd::Failed(trouble) => trouble.clone(),
                RunEnd::Interrupted => "interrupted".to_owned(),
                RunEnd::Judged(summary) => summary.voids.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
            };
            let mut told = ended_json(ended, work);
            told["note"] = note.into();
            told
        }
    };
    if let (Json::Object(object), Json::Object(more)) = (&mut object, more) {
        // What stands for the whole study, or is an event's, is no key of a run.
        object.extend(more.into_iter().filter(|(key, _)| !matches!(key.as_str(), "event" | "trouble" | "unit")));
    }
    object
}

const fn state(row: &RunRow) -> &'static str {
    match &row.standing {
        Standing::Waiting => "waiting",
        Standing::Running(_) => "running",
        Standing::Ended(RunEnd::Judged(_)) => "finished",
        Standing::Ended(RunEnd::Failed(_)) => "failed",
        Standing::Ended(RunEnd::Interrupted) | Standing::Unfinished => "unfinished",
    }
}

fn running_json(running: &RunningRun, row: &RunRow, work: &str) -> Json {
    let span = phase_span(running.phase, &row.times);
    let mut told = if running.phase.is_under_load() { load_json(&running.load, work) } else { json!({}) };
    told["phase"] = running.phase.words().into();
    told["phase_s"] = running.in_phase.as_secs().into();
    told["phase_at_least_s"] = json!(span.map(|span| span.at_least.as_secs_f64()));
    told["phase_at_most_s"] = json!(span.and_then(|span| span.at_most).map(|most| most.as_secs_f64()));
    told["attempt"] = running.attempt.into();
    told
}
