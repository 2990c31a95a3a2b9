//! The files of `suites/warehouse/`, embedded when the program is built. May not interpret them.

use std::sync::OnceLock;

/// Path below `suites/warehouse/` and text, sorted by path.
const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/warehouse_files.rs"));

/// Folder of the headers, and of the texts that need no dialect.
pub(super) const STANDARD: &str = "standard";

/// The text of a file.
pub(super) fn file(path: &str) -> Option<&'static str> {
    FILES.iter().find(|(known, _)| *known == path).map(|(_, text)| *text)
}

/// The first of a file in several folders: its path and text.
pub(super) fn first(folders: &[&str], name: &str) -> Option<(String, &'static str)> {
    folders.iter().map(|folder| format!("{folder}/{name}")).find_map(|path| file(&path).map(|text| (path, text)))
}

/// Names of all queries, in order: those of the files `standard/q….sql`.
pub(in crate::workloads::warehouse) fn kinds() -> &'static [&'static str] {
    static KINDS: OnceLock<Vec<&'static str>> = OnceLock::new();
    let name =
        |path: &'static str| path.strip_prefix("standard/")?.strip_suffix(".sql").filter(|name| name.starts_with('q'));
    KINDS.get_or_init(|| FILES.iter().filter_map(|(path, _)| name(path)).collect())
}

/// The golden answer of a query at a scale factor, if there is one.
pub(in crate::workloads::warehouse) fn golden(scale: f64, query: &str) -> Option<&'static str> {
    file(&format!("answers/sf{scale}/{query}.csv"))
}
