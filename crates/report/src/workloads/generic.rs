//! A workload that the report does not know by name: told in operations per second, without claims about what it does.

use super::workload::{Clocks, Work, Workload};
use crate::metrics::{
    CPU, DEVICE_READ_BANDWIDTH, DEVICE_WRITE_BANDWIDTH, OBSERVED, RELATIVE, RESPONSE_P99, THROUGHPUT as PER_SECOND,
};
use proofload_model::setting_words::LoadPacing;
use proofload_model::settings::setting;

/// What throughput is where the operation is the unit of work.
pub(super) const THROUGHPUT: (&str, &str) = (
    "Throughput",
    "Completed operations of all kinds per second of the window, failures excluded; counted by the clients.",
);

/// An operation.
pub(super) const OPERATION: Work =
    Work { one: "operation", many: "operations", one_capital: "Operation", many_capital: "Operations" };

pub(super) const WORKLOAD: Workload = Workload {
    kind: "",
    name: |settings| format!("The workload {}", settings.text(setting::WORKLOAD_KIND).unwrap_or_default()),
    kicker: None,
    profile: None,
    disclaimer: "defined by the study; not the result of any benchmark council",
    foot: "",
    work: OPERATION,
    kinds: &[],
    headline: PER_SECOND,
    scale: &[(setting::WORKLOAD_VIRTUAL_USERS, "virtual user", "virtual users")],
    tails: &[],
    figure: &[PER_SECOND.drawn()],
    results: &[PER_SECOND, RELATIVE, CPU, RESPONSE_P99.headed()],
    results_note: "Values of void points show what was observed in their window; they are context, not results. CPU \
        is the mean over the cores that the database may run on.",
    terminal: &[PER_SECOND, RELATIVE, CPU, DEVICE_READ_BANDWIDTH, DEVICE_WRITE_BANDWIDTH, RESPONSE_P99],
    description: "",
    choices: &[(
        LoadPacing::PATH,
        "saturated",
        "Users are saturated: each sends its next operation as soon as the previous one has ended. It is a closed \
         loop, so a slower database also receives fewer requests.",
    )],
    verification: "the workload's own checks of its data",
    definitions: &[THROUGHPUT],
    facts: &[],
    rates: &[],
    counted: &[],
    compared: &[PER_SECOND.name, "response_ns_p50.*", "response_ns_p95.*", "response_ns_p99.*", "response_ns_p999.*"],
    rated: &[],
    observed: OBSERVED,
    settings: &[(setting::WORKLOAD_VIRTUAL_USERS, "virtual users")],
    clocks: Clocks::Response,
    beyond_percentile: 10,
    paced: None,
    is_read: |_| false,
    has_transactions: false,
    rates_queries: false,
    tells_absence: false,
};
