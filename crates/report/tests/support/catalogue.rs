//! Just enough of engines and workloads to validate a study.

use proofload_model::catalogue::{Capabilities, Catalogue, EngineFacts, WorkloadFacts};
use proofload_model::settings::{Kind, Scope, SettingSpec};

const WORKLOAD: &[SettingSpec] = &[
    SettingSpec::new("workload.warehouses", Kind::Integer { least: 1, most: 100_000 }, "1", "Warehouses."),
    SettingSpec::new("workload.virtual_users", Kind::Integer { least: 1, most: 100_000 }, "1", "Users."),
    SettingSpec::new("workload.pacing", Kind::OneOf(&["saturated", "paced"]), "saturated", "Pacing."),
    SettingSpec::new("workload.form", Kind::OneOf(&["statements", "procedures"]), "statements", "Form."),
];

const YCSB: Scope = Scope::Workload("ycsb");

const KEY_VALUE: &[SettingSpec] = &[
    SettingSpec::new("workload.records", Kind::Integer { least: 1, most: i64::MAX }, "1000", "Records.").only(YCSB),
    SettingSpec::new("workload.mix", Kind::OneOf(&["a", "b", "own"]), "a", "Mix.").only(YCSB),
    SettingSpec::optional("workload.rate", Kind::Integer { least: 1, most: i64::MAX }, "Rate.").only(YCSB),
    SettingSpec::optional("workload.operations", Kind::Integer { least: 1, most: i64::MAX }, "Count.").only(YCSB),
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

/// Engines by name, TPROC-C and the key-value workload.
pub(crate) fn catalogue() -> Catalogue {
    Catalogue {
        engines: vec![engine("sqlite", true), engine("postgresql", false), engine("mongodb", false)],
        workloads: vec![
            WorkloadFacts { name: "tprocc", title: "TPROC-C", settings: WORKLOAD, needs_sql: true },
            WorkloadFacts { name: "ycsb", title: "key-value", settings: KEY_VALUE, needs_sql: false },
        ],
    }
}
