//! The key-value workload in the words of YCSB and of the studies that used it.

use super::generic::{OPERATION, THROUGHPUT};
use super::workload::{ABSENT, Clocks, GIVEN, Workload};
use crate::metrics::{
    CPU, FAILED, INSERT_MEAN, OBSERVED, READ_MEAN, READ_MODIFY_WRITE_MEAN, READ_P99, RELATIVE, RUN_THROUGHPUT,
    RUN_TIME, SCAN_MEAN, THROUGHPUT as PER_SECOND, UPDATE_MEAN, UPDATE_P99,
};
use proofload_model::facts::{FactName, client, data};
use proofload_model::settings::{Settings, setting};

/// Facts that the section on method shows.
const FACTS: &[FactName] = &[
    client::PATH,
    client::ENGINE_IN_PROCESS,
    client::OPERATION_MIX,
    client::KEY_CHOICE,
    client::KEY_MODE,
    client::RECORD_SHAPE,
    client::DATA_RECORDS,
    client::READS_CHECKED,
    client::READS_COMPARED,
    data::RECORDS,
    data::RECORD_SHAPE,
    data::READ_BACK,
];

pub(super) const WORKLOAD: Workload = Workload {
    kind: "ycsb",
    name,
    kicker: Some("key-value workload in YCSB's vocabulary · not made with YCSB"),
    profile: None,
    disclaimer: "key-value operations in YCSB's vocabulary; not made with YCSB",
    foot: "",
    work: OPERATION,
    kinds: &[
        ("read", "Read"),
        ("update", "Update"),
        ("insert", "Insert"),
        ("scan", "Scan"),
        ("read_modify_write", "Read-modify-write"),
    ],
    headline: PER_SECOND,
    scale: &[
        (setting::WORKLOAD_RECORDS, "record", "records"),
        (setting::WORKLOAD_VIRTUAL_USERS, "virtual user", "virtual users"),
    ],
    tails: &["read", "update", "insert", "scan", "read_modify_write"],
    figure: &[PER_SECOND.drawn()],
    results: &[
        RUN_TIME,
        PER_SECOND,
        READ_MEAN.headed(),
        UPDATE_MEAN.headed(),
        INSERT_MEAN.headed(),
        SCAN_MEAN.headed(),
        READ_MODIFY_WRITE_MEAN.headed(),
        CPU,
    ],
    results_note: "Values of void points show what was observed in their window; they are context, not results. Means \
        are of response times. CPU is the mean over the cores that the database may run on.",
    terminal: &[PER_SECOND, RELATIVE, READ_MEAN, READ_P99, UPDATE_MEAN, UPDATE_P99, FAILED, CPU],
    description: "The workload consists of YCSB's operations on the records of one table: read, update, insert, scan \
        and read-modify-write, in the mix and with the choice of keys listed below. Keys, values and operations are \
        functions of the seed and of the operation's number, so every value read can be verified. The load generator \
        is Proofload's own, not YCSB's.",
    choices: &[
        (
            setting::WORKLOAD_RATE,
            ABSENT,
            "Users are saturated: each sends its next operation as soon as the previous one has ended. It is a closed \
             loop, so a slower database also receives fewer requests.",
        ),
        (
            setting::WORKLOAD_RATE,
            GIVEN,
            "Operations become due at a fixed rate, independent of the database; response times count from the due time.",
        ),
        (
            setting::WORKLOAD_OPERATIONS,
            GIVEN,
            "A run ends when its number of operations is done; the window lies inside it.",
        ),
    ],
    verification: "a comparison of sampled or all records with the values from the seed, a search for each user's \
        latest acknowledged writes",
    definitions: &[
        THROUGHPUT,
        (
            "Run time",
            "If a run ends after a number of operations: time from zero to the end of the last operation. Otherwise \
             the length of the measured window.",
        ),
        (
            "Service time",
            "Time from the actual start to the completion. For saturated users it equals the response time.",
        ),
        (
            "Device bytes",
            "Bytes written to the device per byte of field values updated or inserted, both per second of the window.",
        ),
        (
            "Stall",
            "A second of the window with less than half of its median throughput, or with a response time above ten \
             times the window's 99th percentile.",
        ),
    ],
    facts: FACTS,
    rates: &[],
    counted: &[],
    compared: &[PER_SECOND.name, "response_ns_p50.*", "response_ns_p95.*", "response_ns_p99.*", "response_ns_p999.*"],
    rated: &[RUN_THROUGHPUT, RUN_TIME],
    observed: OBSERVED,
    settings: &[
        (setting::WORKLOAD_VIRTUAL_USERS, "virtual users"),
        (setting::WORKLOAD_RECORDS, "records"),
        (setting::WORKLOAD_MIX, "mix"),
        (setting::WORKLOAD_KEY_MODE, "choice of keys"),
        (setting::WORKLOAD_KEYS, "distribution of keys"),
    ],
    clocks: Clocks::Both,
    beyond_percentile: 10,
    paced: None,
    is_read: |kind| matches!(kind, "read" | "scan"),
    has_transactions: false,
    rates_queries: false,
    tells_absence: true,
};

/// `YCSB workload A`, or the mix of the study's own.
fn name(settings: &Settings) -> String {
    match settings.text(setting::WORKLOAD_MIX) {
        Ok("own") => "YCSB's operations in the study's own mix".to_owned(),
        Ok(preset) => format!("YCSB workload {}", preset.to_uppercase()),
        Err(_) => "YCSB's operations".to_owned(),
    }
}
