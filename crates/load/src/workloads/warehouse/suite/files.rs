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

/// What the names of probes begin with.
const PROBE: &str = "probe_";

/// The probe that scans the largest table, which no index helps.
pub(in crate::workloads::warehouse) const SCAN: &str = "probe_scan";

/// Names of all queries, in order: those of the files `standard/q….sql`, then probes, `standard/probe_….sql`.
pub(in crate::workloads::warehouse) fn kinds() -> &'static [&'static str] {
    static KINDS: OnceLock<Vec<&'static str>> = OnceLock::new();
    KINDS.get_or_init(|| {
        let names = FILES.iter().filter_map(|(path, _)| path.strip_prefix("standard/")?.strip_suffix(".sql"));
        let (probes, others): (Vec<_>, Vec<_>) = names.partition(|name| is_probe(name));
        others.into_iter().filter(|name| name.starts_with('q')).chain(probes).collect()
    })
}

/// Is it a probe: a query that runs only when it is named?
pub(in crate::workloads::warehouse) fn is_probe(name: &str) -> bool {
    name.starts_with(PROBE)
}

/// The golden answer of a query at a scale factor, if there is one.
pub(in crate::workloads::warehouse) fn golden(scale: f64, query: &str) -> Option<&'static str> {
    file(&format!("answers/sf{scale}/{query}.csv"))
}
