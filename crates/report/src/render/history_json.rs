//! Histories for programs: stable keys, times as microseconds since 1970 and as text.

use crate::findings::history::{History, LevelChange, Track};
use serde_json::{Value, json};

/// Renders histories and the files that are left out.
pub(crate) fn history_json(histories: &[History], skipped: &[(String, String)]) -> String {
    let skipped: Vec<Value> = skipped.iter().map(|(file, why)| json!({"file": file, "why": why})).collect();
    let studies: Vec<Value> = histories.iter().map(study).collect();
    let mut text = json!({"form": 1, "studies": studies, "skipped": skipped}).to_string();
    text.push('\n');
    text
}

fn study(history: &History) -> Value {
    let tracks: Vec<Value> = history.tracks.iter().map(|one| track(history, one)).collect();
    json!({"study": history.study, "title": history.title, "records": history.records, "tracks": tracks})
}

fn track(history: &History, track: &Track) -> Value {
    let file = |record: usize| history.records[record].file.as_str();
    let change = |change: &LevelChange| {
        json!({
            "record": file(change.record), "before": change.before, "after": change.after, "p": change.p,
            "better": change.is_better,
        })
    };
    json!({
        "point": track.point, "metric": track.metric, "unit": track.unit,
        "values": track.values.iter().map(|value| json!({
            "record": file(value.record), "valid": value.is_valid, "value": value.value, "interval": value.interval,
        })).collect::<Vec<_>>(),
        "changes": track.changes.iter().map(change).collect::<Vec<_>>(),
    })
}
