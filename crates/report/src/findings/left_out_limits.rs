//! Limits that a study was carried out without, since the machine did not allow them.

use proofload_model::events::RunEvent;
use proofload_model::setting_words::WhenRefused;
use proofload_model::settings::limit_settings;
use proofload_record::{Record, STUDY_FILE};

/// Settings of the limits that were left out, as `limits.when_refused` allows; empty where none was.
pub(crate) fn limits_left_out(record: &Record) -> Vec<&str> {
    let told = record.events.iter().rev().find_map(|event| match &event.event {
        RunEvent::LimitsLeftOut(settings) => Some(settings),
        _ => None,
    });
    match told {
        Some(settings) => settings.iter().map(String::as_str).collect(),
        None => named_by_title(record),
    }
}

/// The same of records that were written before there was an event of it: their study file has what was laid over it as lines below its text,
/// and what was refused is named by the title as well; what somebody took away by choice is not.
fn named_by_title(record: &Record) -> Vec<&str> {
    let text = record.documents.get(STUDY_FILE).map_or("", String::as_str);
    if !WhenRefused::allows_without(&record.study.settings) {
        return Vec::new();
    }
    let titles =
        text.lines().rev().filter_map(|line| line.strip_prefix("# --set 'study.title=\"")?.strip_suffix("\"'"));
    let named =
        titles.filter_map(|title| title.rsplit_once(", without ")).map(|(_, names)| names).next().unwrap_or_default();
    let is_left_out = |path: &&str| {
        let laid_over = format!("# --set '{path}=none'");
        named.split(", ").any(|name| name == *path) && text.lines().any(|line| line == laid_over)
    };
    limit_settings().map(|spec| spec.path).filter(is_left_out).collect()
}
