//! Limits that a study was carried out without, since the machine did not allow them.

use proofload_model::settings::limit_settings;
use proofload_record::Record;

/// Settings of the limits that were left out, as `limits.when_refused` allows; empty where none was. A record keeps what was laid over its study
/// file as lines below the file's text.
pub(crate) fn limits_left_out(record: &Record) -> Vec<&'static str> {
    let text = record.documents.get("study.toml").map_or("", String::as_str);
    if record.study.settings.text("limits.when_refused") != Ok("without") {
        return Vec::new();
    }
    // What was refused is named by the title as well; what somebody took away by choice is not.
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
