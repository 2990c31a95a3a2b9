//! The data under the queries, from the facts that each run records. May not guess what is not recorded.

use proofload_model::samples::Fact;
use proofload_model::settings::Settings;
use proofload_record::Attempt;

/// `workload.kind` of this workload.
pub const KIND: &str = "warehouse";

/// Settings that say how tables are stored, the first that is given counts.
const LAYOUTS: &[&str] = &["workload.layout", "engine.layout", "layout"];

/// How engines store tables where no setting says it.
const BY_ENGINE: &[(&str, &str)] =
    &[("duckdb", "columns"), ("sqlite", "rows"), ("postgresql", "rows"), ("mariadb", "rows")];

/// What was loaded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WarehouseData {
    /// Scale factor, as recorded.
    pub scale_factor: Option<String>,
    /// Generator with its version.
    pub generator: Option<String>,
    /// Bytes of the rows in their text form.
    pub raw_bytes: Option<u64>,
    /// Bytes of the tables in the database.
    pub table_bytes: Option<u64>,
    /// Bytes of their indexes.
    pub index_bytes: Option<u64>,
}

impl WarehouseData {
    /// Bytes of tables and indexes.
    pub fn stored_bytes(&self) -> Option<u64> {
        Some(self.table_bytes? + self.index_bytes?)
    }
}

/// Reads the facts of a run.
pub fn warehouse_data(attempt: &Attempt) -> WarehouseData {
    let text = |name: &str| fact(attempt, "data", name).map(str::to_owned);
    let bytes = |name: &str| fact(attempt, "data", name)?.parse().ok().filter(|bytes| *bytes > 0);
    WarehouseData {
        scale_factor: text("scale_factor"),
        generator: text("generator"),
        raw_bytes: bytes("raw_bytes"),
        table_bytes: bytes("table_bytes"),
        index_bytes: fact(attempt, "data", "index_bytes").and_then(|text| text.parse().ok()),
    }
}

/// The last value of a fact.
pub(super) fn fact<'a>(attempt: &'a Attempt, subject: &str, name: &str) -> Option<&'a str> {
    let named = |fact: &&Fact| fact.subject == subject && fact.name == name;
    attempt.facts.iter().rev().find(named)?.effective.as_deref()
}

/// `rows` or `columns`: by a setting, else by the engine; none where neither says it.
pub fn layout(settings: &Settings) -> Option<String> {
    let set = LAYOUTS.iter().find_map(|path| settings.text(path).ok());
    let engine = || settings.text("engine.kind").ok();
    let by_engine = || BY_ENGINE.iter().find(|(kind, _)| Some(*kind) == engine()).map(|(_, layout)| *layout);
    set.or_else(by_engine).map(str::to_owned)
}
