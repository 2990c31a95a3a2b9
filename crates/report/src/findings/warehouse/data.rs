//! The data under the queries, from the facts that each run records. May not guess what is not recorded.

use proofload_model::engines::named_engine;
use proofload_model::facts::{FactName, data};
use proofload_model::settings::{Settings, setting};
use proofload_record::Attempt;

/// `workload.kind` of this workload.
pub const KIND: &str = "warehouse";

/// The setting that says how tables are stored.
pub(super) const LAYOUT: &str = setting::WORKLOAD_LAYOUT;

/// Its values that say it; another leaves it to the engine.
const STORES: &[&str] = &["rows", "columns"];

/// What was loaded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WarehouseData {
    /// Scale factor, as recorded.
    pub scale_factor: Option<String>,
    /// Generator with its version.
    pub generator: Option<String>,
    /// `rows` or `columns`, as the manifest of the data says.
    pub layout: Option<String>,
    /// Bytes of the rows in their text form.
    pub raw_bytes: Option<u64>,
    /// Bytes of the tables in the database.
    pub table_bytes: Option<u64>,
    /// Bytes of their indexes.
    pub index_bytes: Option<u64>,
}

impl WarehouseData {
    /// Bytes of tables and indexes.
    pub(crate) fn stored_bytes(&self) -> Option<u64> {
        Some(self.table_bytes? + self.index_bytes?)
    }
}

/// Reads the facts of a run.
pub fn warehouse_data(attempt: &Attempt) -> WarehouseData {
    let text = |name: FactName| name.text(&attempt.facts).map(str::to_owned);
    let bytes = |name: FactName| name.number(&attempt.facts).map(|bytes| bytes as u64);
    WarehouseData {
        scale_factor: text(data::SCALE_FACTOR),
        generator: text(data::GENERATOR),
        layout: text(data::LAYOUT),
        raw_bytes: bytes(data::RAW_BYTES).filter(|bytes| *bytes > 0),
        table_bytes: bytes(data::TABLE_BYTES).filter(|bytes| *bytes > 0),
        index_bytes: bytes(data::INDEX_BYTES),
    }
}

/// `rows` or `columns`: by a setting, else by the engine; `None` where neither says it.
pub fn layout(settings: &Settings) -> Option<String> {
    let set = settings.text(LAYOUT).ok().filter(|word| STORES.contains(word));
    let by_engine = || settings.text(setting::ENGINE_KIND).ok().and_then(named_engine)?.layout.as_deref();
    set.or_else(by_engine).map(str::to_owned)
}

/// Which queries ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct QueryWork {
    /// `workload.mix`.
    pub(super) mix: String,
    /// `workload.queries`, or `all`.
    pub(super) queries: String,
}

/// What a point's settings say of its queries; studies that could not say a mix ran each query once a round.
pub(super) fn work(settings: &Settings) -> QueryWork {
    let queries = settings.list(setting::WORKLOAD_QUERIES).join(" ");
    QueryWork {
        mix: settings.text(setting::WORKLOAD_MIX).unwrap_or("each").to_owned(),
        queries: if queries.is_empty() { "all".to_owned() } else { queries },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_model::settings::Value;

    #[test]
    fn the_setting_says_the_layout_and_else_the_engine() {
        let check = |engine: &str, set: Option<&str>, expected: Option<&str>| {
            let pairs = [("engine.kind", Some(engine)), (LAYOUT, set)];
            let given =
                pairs.into_iter().filter_map(|(path, word)| Some((path.to_owned(), Value::Text(word?.to_owned()))));
            assert_eq!(layout(&Settings(given.collect())).as_deref(), expected, "{engine} {set:?}");
        };
        check("postgresql", Some("columns"), Some("columns"));
        check("postgresql", Some("engine"), Some("rows"));
        check("postgresql", None, Some("rows"));
        check("duckdb", Some("engine"), Some("columns"));
        check("another", Some("engine"), None);
        check("another", Some("rows"), Some("rows"));
    }
}
