//! A workload that the report does not know by name: told in operations per second, without claims about what it does.

use super::workload::{Clocks, Digits, Headline, MetricColumn, Terminal, Work, Workload};
use crate::metrics::OBSERVED;

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
    name: |settings| format!("The workload {}", settings.text("workload.kind").unwrap_or_default()),
    kicker: None,
    profile: None,
    disclaimer: "defined by the study; not the result of any benchmark council",
    foot: "",
    work: OPERATION,
    kinds: &[],
    headline: Headline { metric: "throughput", words: "operations per second" },
    scale: &[("workload.virtual_users", "virtual user", "virtual users")],
    tails: &[],
    headlines: &[("largest throughput, operations per second, at ", "throughput")],
    figure: &[MetricColumn { title: "Throughput", unit: "operations per second", metric: "throughput" }],
    results: &[
        MetricColumn { title: "Throughput", unit: "operations/s", metric: "throughput" },
        MetricColumn { title: "Of the largest", unit: "%", metric: "relative_percent" },
        MetricColumn { title: "CPU", unit: "%", metric: "cpu_percent" },
        MetricColumn { title: "p99", unit: "ms", metric: "response_ns_p99.all" },
    ],
    results_note: "Values of void points are what was observed in their window; they are context, not results. CPU is the mean over the \
                   cores that the database may run on.",
    terminal: &[
        Terminal { title: "ops/s", metric: "throughput", digits: Digits::Whole },
        Terminal { title: "% of max", metric: "relative_percent", digits: Digits::Tenths },
        Terminal { title: "CPU %", metric: "cpu_percent", digits: Digits::Tenths },
        Terminal { title: "read MB/s", metric: "device_read_mb_s", digits: Digits::Three },
        Terminal { title: "write MB/s", metric: "device_write_mb_s", digits: Digits::Three },
        Terminal { title: "p99 ms", metric: "response_ns_p99.all", digits: Digits::Three },
    ],
    description: "",
    choices: &[(
        "workload.pacing",
        "saturated",
        "Users are saturated: each sends its next operation as soon as the last one has ended. It is a closed loop, so a \
         slower database is also asked less often.",
    )],
    verification: "whatever the workload checks of its data",
    definitions: &[THROUGHPUT],
    facts: &[],
    rates: &[],
    counted: &[],
    compared: &["throughput", "response_ns_p50.*", "response_ns_p95.*", "response_ns_p99.*", "response_ns_p999.*"],
    rated: &[],
    observed: OBSERVED,
    settings: &[("workload.virtual_users", "virtual users")],
    clocks: Clocks::Response,
    beyond_percentile: 10,
    paced: None,
    tells_absence: false,
};
