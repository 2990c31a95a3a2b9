//! Just enough of engines and workloads to validate a study.

use proofload_model::catalogue::{Capabilities, Catalogue, EngineFacts, WorkloadFacts};
use proofload_model::settings::{Kind, SettingSpec};

const WORKLOAD: &[SettingSpec] = &[
    SettingSpec::new("workload.warehouses", Kind::Integer { least: 1, most: 100_000 }, "1", "Warehouses."),
    SettingSpec::new("workload.virtual_users", Kind::Integer { least: 1, most: 100_000 }, "1", "Users."),
    SettingSpec::new("workload.pacing", Kind::OneOf(&["saturated", "paced"]), "saturated", "Pacing."),
    SettingSpec::new("workload.form", Kind::OneOf(&["statements", "procedures"]), "statements", "Form."),
];

const fn engine(name: &'static str, embedded: bool) -> EngineFacts {
    let capabilities = Capabilities {
        embedded,
        sql: true,
        documents: false,
        procedures: !embedded,
        local_instance: !embedded,
        url: !embedded,
        file_snapshot: true,
        memory_setting: true,
        durable: true,
    };
    EngineFacts { name, title: name, capabilities, minimum_memory_bytes: 1, settings: &[] }
}

/// SQLite and PostgreSQL by name, and TPROC-C.
pub(crate) fn catalogue() -> Catalogue {
    Catalogue {
        engines: vec![engine("sqlite", true), engine("postgresql", false)],
        workloads: vec![WorkloadFacts { name: "tprocc", title: "TPROC-C", settings: WORKLOAD, needs_sql: true }],
    }
}
