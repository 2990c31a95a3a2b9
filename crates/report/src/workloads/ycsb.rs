//! The key-value workload in the words of YCSB and of the studies that used it.

use super::generic::{OPERATION, THROUGHPUT};
use super::workload::{ABSENT, Clocks, GIVEN, Workload};
use crate::metrics::{
    CPU, FAILED, INSERT_MEAN, OBSERVED, READ_MEAN, READ_MODIFY_WRITE_MEAN, READ_P99, RELATIVE, RUN_THROUGHPUT,
    RUN_TIME, SCAN_MEAN, THROUGHPUT as PER_SECOND, UPDATE_MEAN, UPDATE_P99,
};
use proofload_model::facts::{FactName, client, data};
use proofload_model::settings::Settings;

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
    scale: &[("workload.records", "record", "records"), ("workload.virtual_users", "virtual user", "virtual users")],
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
    results_note: "Values of void points are what was observed in their window; they are context, not results. Means are of response times. \
                   CPU is the mean over the cores that the database may run on.",
    terminal: &[PER_SECOND, RELATIVE, READ_MEAN, READ_P99, UPDATE_MEAN, UPDATE_P99, FAILED, CPU],
    description: "The workload is made of YCSB's operations on records of one table: read, update, insert, scan and read-modify-write, in the mix and \
                  with the choice of keys listed below. Keys, values and operations are functions of the seed and of the operation's number, \
                  so every value that is read can be verified. The load is Proofload's own and not YCSB's.",
    choices: &[
        (
            "workload.rate",
            ABSENT,
            "Users are saturated: each sends its next operation as soon as the last one has ended. It is a closed loop, so a slower \
             database is also asked less often.",
        ),
        (
            "workload.rate",
            GIVEN,
            "Operations are due at a rate that does not wait for the database; response times count from when each was due.",
        ),
        ("workload.operations", GIVEN, "A run ends when its number of operations is done; the window lies inside it."),
    ],
    verification: "sampled or all records read back and compared with what the seed says, each user's latest acknowledged writes looked for",
    definitions: &[
        THROUGHPUT,
        (
            "Run time",
            "Of a study that ends by a number of operations: from time zero to the end of the last operation. Else: the length of the measured window.",
        ),
        (
            "Service time",
            "From the actual start to the completion. Where users are saturated it equals the response time.",
        ),
        (
            "Device bytes",
            "Per byte of values written: bytes written to the device over bytes of field values updated or inserted, both per second of the window.",
        ),
        (
            "Stall",
            "A second of the window with less than half of its median throughput, or one with a response time above ten times the window's 99th percentile.",
        ),
    ],
    facts: FACTS,
    rates: &[],
    counted: &[],
    compared: &[PER_SECOND.name, "response_ns_p50.*", "response_ns_p95.*", "response_ns_p99.*", "response_ns_p999.*"],
    rated: &[RUN_THROUGHPUT, RUN_TIME],
    observed: OBSERVED,
    settings: &[
        ("workload.virtual_users", "virtual users"),
        ("workload.records", "records"),
        ("workload.mix", "mix"),
        ("workload.key_mode", "choice of keys"),
        ("workload.keys", "distribution of keys"),
    ],
    clocks: Clocks::Both,
    beyond_percentile: 10,
    paced: None,
    tells_absence: true,
};

/// `YCSB workload A`, or the mix of the study's own.
fn name(settings: &Settings) -> String {
    match settings.text("workload.mix") {
        Ok("own") => "YCSB's operations in a mix of the study's own".to_owned(),
        Ok(preset) => format!("YCSB workload {}", preset.to_uppercase()),
        Err(_) => "YCSB's operations".to_owned(),
    }
}
