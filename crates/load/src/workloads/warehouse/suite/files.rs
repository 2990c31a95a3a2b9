//! The files of `suites/warehouse/`: queries, lists, answers. May not interpret them.

use crate::workloads::dialect;
use std::sync::OnceLock;

/// The text of a file below `suites/warehouse/`.
pub(super) fn file(path: &str) -> Option<&'static str> {
    dialect::file(&format!("suites/warehouse/{path}"))
}

/// What the names of probes begin with.
const PROBE: &str = "probe_";

/// The probe that scans the largest table, which no index helps.
pub(crate) const SCAN: &str = "probe_scan";

/// Names of all queries, in order: those of the files `standard/q….sql`, then probes, `standard/probe_….sql`.
pub(crate) fn kinds() -> &'static [&'static str] {
    static KINDS: OnceLock<Vec<&'static str>> = OnceLock::new();
    KINDS.get_or_init(|| {
        let names =
            dialect::paths().filter_map(|path| path.strip_prefix("suites/warehouse/standard/")?.strip_suffix(".sql"));
        let (probes, others): (Vec<_>, Vec<_>) = names.partition(|name| is_probe(name));
        others.into_iter().filter(|name| name.starts_with('q')).chain(probes).collect()
    })
}

/// Whether it is a probe: a query that runs only when it is named.
pub(crate) fn is_probe(name: &str) -> bool {
    name.starts_with(PROBE)
}

/// The golden answer of a query at a scale factor, if there is one.
pub(crate) fn golden(scale: f64, query: &str) -> Option<&'static str> {
    file(&format!("answers/sf{scale}/{query}.csv"))
}
