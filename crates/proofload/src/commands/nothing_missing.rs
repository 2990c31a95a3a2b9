//! `resume` of a record in which nothing is missing: says so and leaves the file alone. A session would add links to its chain, and a
//! signature, which is over its bytes, would not fit any more.

use super::ending::{Ending, EndingStyle};
use super::run::void_runs;
use super::sign::closed;
use super::status::has_every_run;
use crate::cli::{ProgressForm, ResumeArguments, ResumeVoid};
use crate::conductor::nothing_is_missing;
use crate::exit::Exit;
use crate::output;
use proofload_record::Record;
use serde_json::json;

/// Tells how the study has ended; `None` where there is something to do, or where a session has to find out what there is. What is known of
/// the record's progress comes first, so that samples are read only of one whose runs have all finished.
pub(super) fn told(arguments: &ResumeArguments, progress: &Record) -> Option<Exit> {
    if progress.being_written || !has_every_run(progress) {
        return None;
    }
    let (record, proof) = proofload_record::read_proved(&arguments.record).ok()?;
    // A conductor that was killed has not closed its record, and may have left something on the machine; its last rows may stand beside the file.
    let is_closed = (proof.closed || proof.head.is_none()) && closed(&arguments.record).is_ok();
    if !is_closed || !record.faults.is_empty() || record.being_written || !nothing_is_missing(&record) {
        return None;
    }
    let is_again = arguments.void.contains(&ResumeVoid::Again);
    if is_again && !void_runs(&record).is_empty() {
        return None;
    }
    let as_json = arguments.show.progress == Some(ProgressForm::Json);
    let text = words(&arguments.record.display().to_string(), is_again);
    output::note(&if as_json { json!({ "event": "note", "text": text }).to_string() } else { text });
    let accepts_void = arguments.void.contains(&ResumeVoid::Ok);
    let style = EndingStyle { as_json, with_report: !arguments.show.no_report, accepts_void };
    Some(Ending::complete(&record, &arguments.record, style).tell(style))
}

fn words(record: &str, is_again: bool) -> String {
    let void = if is_again { ", and no point is void because of the host" } else { "" };
    format!("nothing is missing in {record}{void}; the file was not changed")
}
