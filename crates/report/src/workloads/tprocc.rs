//! TPROC-C in the words of its papers.

use super::workload::{Clocks, CountedKind, PacedRules, SPEC, Work, Workload};
use crate::metrics::{
    CPU, DEVICE_READ_BANDWIDTH, DEVICE_WRITE_BANDWIDTH, NEW_ORDER_P99, NOPM, NOPM_DATABASE, OBSERVED, RELATIVE, TPM,
    TPM_ENGINE, TPM_ENGINE_RATIO,
};
use proofload_model::setting_words::LoadPacing;
use proofload_model::settings::{Settings, setting};

pub(super) const WORKLOAD: Workload = Workload {
    kind: "tprocc",
    name: |_| "TPROC-C".to_owned(),
    kicker: Some("TPROC-C, a TPC-C-derived workload · not a TPC result"),
    profile: Some(profile),
    disclaimer: "TPC-C-derived; not a TPC result",
    foot: "The workload is TPC-C-derived; the results are not TPC results and not comparable with them.",
    work: Work { one: "transaction", many: "transactions", one_capital: "Transaction", many_capital: "Transactions" },
    kinds: &[
        ("new_order", "New-Order"),
        ("payment", "Payment"),
        ("order_status", "Order-Status"),
        ("delivery", "Delivery"),
        ("stock_level", "Stock-Level"),
        ("deferred_delivery", "Delivery, deferred part"),
    ],
    headline: TPM,
    scale: &[
        (setting::WORKLOAD_WAREHOUSES, "warehouse", "warehouses"),
        (setting::WORKLOAD_VIRTUAL_USERS, "virtual user", "virtual users"),
    ],
    tails: &["new_order"],
    figure: &[TPM.drawn(), NOPM.drawn()],
    results: &[TPM, TPM_ENGINE, TPM_ENGINE_RATIO, NOPM, NOPM_DATABASE, RELATIVE, CPU, NEW_ORDER_P99.headed()],
    results_note: "Values of void points show what was observed in their window; they are context, not results. TPM \
        counts completed transactions of all types, those rolled back by design included and failures excluded. CPU \
        is the mean over the cores that the database may run on.",
    terminal: &[TPM, NOPM, RELATIVE, CPU, DEVICE_READ_BANDWIDTH, DEVICE_WRITE_BANDWIDTH, NEW_ORDER_P99],
    description: "The workload is TPROC-C, derived from TPC-C: nine tables and five transactions with the inputs and \
        the mix that TPC-C defines (New-Order about 45 %, Payment 43 %, Order-Status, Delivery and Stock-Level 4 % \
        each), one in a hundred New-Orders is rolled back by design. It is not a TPC benchmark, its results are not \
        TPC results, and they are not comparable with any.",
    choices: &[
        (
            LoadPacing::PATH,
            "saturated",
            "Users are saturated: each sends its next transaction as soon as the previous one has ended, without \
             keying or think times. It is a closed loop, so a slower database also receives fewer requests.",
        ),
        (
            LoadPacing::PATH,
            "paced",
            "Users are paced: terminals keep TPC-C's keying and think times and share a few sessions; response time \
             counts from the end of keying and includes waiting for a session. A Delivery is queued, answered at once \
             and executed later.",
        ),
        (setting::WORKLOAD_FORM, "statements", "Transactions are sent as statements from the client."),
        (setting::WORKLOAD_FORM, "procedures", "Transactions are procedures stored in the database."),
    ],
    verification: "the workload's consistency conditions over all of its data, a search for every acknowledged order \
        in the database",
    definitions: &[
        (
            "TPM",
            "Completed transactions of all types per minute of the window, those rolled back by design included, failures excluded; counted by the clients.",
        ),
        (
            "NOPM",
            "New orders per minute of the window, rolled-back ones excluded: from the clients' counts, and from the growth of the sum of `d_next_o_id` in the database. They must agree.",
        ),
    ],
    facts: &[],
    rates: &[(TPM, 60.0)],
    counted: &[CountedKind {
        kind: "new_order",
        counter: "new_orders",
        metric: NOPM,
        metric_database: NOPM_DATABASE,
        missing: "the workload has no New-Order",
        audit: "new orders, client and database",
        rule: "the database contains every acknowledged New-Order, and beyond them at most those with uncertain outcome",
    }],
    compared: &[TPM.name, "response_ns_p50.*", "response_ns_p95.*", "response_ns_p99.*", "response_ns_p999.*"],
    rated: &[],
    observed: OBSERVED,
    settings: &[
        (setting::WORKLOAD_VIRTUAL_USERS, "virtual users"),
        (setting::WORKLOAD_WAREHOUSES, "warehouses"),
        (setting::WORKLOAD_MIX, "mix"),
        (setting::WORKLOAD_FORM, "form of the transactions"),
        (setting::WORKLOAD_DEPARTURES, "departures from the clauses"),
        (LoadPacing::PATH, "pacing"),
    ],
    clocks: Clocks::Response,
    beyond_percentile: 0,
    paced: Some(PacedRules {
        counted: ("new_order", "new orders"),
        limits: &[
            ("new_order", 5.0),
            ("payment", 5.0),
            ("order_status", 5.0),
            ("delivery", 5.0),
            ("stock_level", 20.0),
            ("deferred_delivery", 80.0),
        ],
        source: "clauses 5.2.5.3, 5.2.5.7 and 2.7.2",
        least: (setting::WORKLOAD_WAREHOUSES, "warehouse", 9.0),
    }),
    is_read: |kind| matches!(kind, "order_status" | "stock_level"),
    has_transactions: true,
    rates_queries: false,
    tells_absence: false,
};

/// `spec`, `spec with departures 4, 6`, or the pinned set under the name of what it is like.
fn profile(settings: &Settings) -> String {
    if settings.text(setting::WORKLOAD_PROFILE) == Ok("hammerdb-compatible") {
        return "HammerDB-compatible (6.0)".to_owned();
    }
    let departures: Vec<&str> =
        settings.list(setting::WORKLOAD_DEPARTURES).iter().map(String::as_str).filter(|word| *word != "none").collect();
    if departures.is_empty() { SPEC.to_owned() } else { format!("{SPEC} with departures {}", departures.join(", ")) }
}
