//! Just enough of engines and workloads to validate a study.

use proofload_model::catalogue::{
    Capabilities, Catalogue, EngineFacts, WorkloadFacts, no_contradictions, no_refused_settings,
};
use proofload_model::intervention::LIVE_ENGINE;
use proofload_model::settings::{Kind, Scope, SettingSpec};

const WORKLOAD: &[SettingSpec] = &[
    SettingSpec::new("workload.warehouses", Kind::Integer { least: 1, most: 100_000 }, "1", "Warehouses."),
    SettingSpec::new("workload.virtual_users", Kind::Integer { least: 1, most: 100_000 }, "1", "Users.").load(),
    SettingSpec::new("workload.pacing", Kind::OneOf(&["saturated", "paced"]), "saturated", "Pacing."),
    SettingSpec::new("workload.form", Kind::OneOf(&["statements", "procedures"]), "statements", "Form."),
];

const YCSB: Scope = Scope::Workload("ycsb");

const KEY_VALUE: &[SettingSpec] = &[
    SettingSpec::new("workload.records", Kind::Integer { least: 1, most: i64::MAX }, "1000", "Records.").only(YCSB),
    SettingSpec::new("workload.mix", Kind::OneOf(&["a", "b", "own"]), "a", "Mix.").only(YCSB),
    SettingSpec::optional("workload.operations", Kind::Integer { least: 1, most: i64::MAX }, "Count.").only(YCSB),
];

const WAREHOUSE: Scope = Scope::Workload("warehouse");

const ANALYTIC: &[SettingSpec] = &[
    SettingSpec::required("workload.scale_factor", Kind::Number { least: 0.01, most: 1e5 }, "Scale.").only(WAREHOUSE),
    SettingSpec::new("workload.streams", Kind::Integer { least: 1, most: 10_000 }, "1", "Streams.").only(WAREHOUSE),
    SettingSpec::optional("workload.rounds", Kind::Integer { least: 1, most: 1_000_000 }, "Rounds.").only(WAREHOUSE),
];

const fn engine(name: &'static str, embedded: bool) -> EngineFacts {
    let capabilities = Capabilities {
        embedded,
        sql: true,
        documents: false,
        local_instance: !embedded,
        url: !embedded,
        limits_at_url: &[],
        restore_at_url: false,
        file_snapshot: true,
        memory_setting: true,
        replication: None,
        durable: true,
        tier_in_process: false,
        log_folder: false,
    };
    EngineFacts {
        name,
        title: name,
        capabilities,
        password: None,
        minimum_memory_bytes: 1,
        settings: &[],
        setting_names: None,
        refused_settings: no_refused_settings,
        live: [false; LIVE_ENGINE.len()],
        thread_roles: &[],
    }
}

const fn workload(name: &'static str, settings: &'static [SettingSpec]) -> WorkloadFacts {
    WorkloadFacts {
        name,
        title: name,
        settings,
        needs_sql: true,
        operations: || &["new_order"],
        contradictions: no_contradictions,
        raw_bytes: |_| proofload_model::units::Bytes(0),
    }
}

/// Engines by name, TPROC-C, the key-value workload and the warehouse.
pub(crate) fn catalogue() -> Catalogue {
    Catalogue {
        engines: vec![
            engine("sqlite", true),
            engine("postgresql", false),
            engine("mongodb", false),
            engine("duckdb", true),
        ],
        workloads: vec![
            workload("tprocc", WORKLOAD),
            WorkloadFacts { needs_sql: false, ..workload("ycsb", KEY_VALUE) },
            workload("warehouse", ANALYTIC),
        ],
    }
}
