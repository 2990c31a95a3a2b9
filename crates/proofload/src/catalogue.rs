//! Joins the registries of engines and workloads into the catalogue that studies are checked against.

use proofload_model::catalogue::Catalogue;

/// All that is built in.
pub(crate) fn catalogue() -> Catalogue {
    Catalogue {
        engines: proofload_engine::ENGINES.iter().map(|engine| engine.facts()).collect(),
        workloads: proofload_load::WORKLOADS.iter().map(|workload| workload.facts()).collect(),
    }
}
