//! The warehouse workload in the words of appliance ratings. Everything says that it is derived from TPC-H.

use super::workload::{Clocks, GIVEN, Work, Workload};
use crate::metrics::{
    COMPRESSION, CPU, FAILED, OBSERVED_BUT_CPU, QUERIES_PER_HOUR, QUERIES_PER_HOUR_PER_TB, QUERY_TIME, RUN_THROUGHPUT,
    RUN_TIME, SCAN_PHYSICAL,
};
use proofload_model::facts::{FactName, client, data};
use proofload_model::settings::{Settings, setting};

/// Facts that the section on method shows.
const FACTS: &[FactName] = &[
    data::DATA,
    data::GENERATOR,
    data::SCALE_FACTOR,
    data::LAYOUT,
    data::RAW_BYTES,
    data::TABLE_BYTES,
    data::INDEX_BYTES,
    data::CHECKED_AFTER_LOAD,
    client::QUERIES,
    client::OPERATION_MIX.titled("Mix: each query once per round, or simple/average/complex by count"),
    client::QUERIES_PER_ROUND,
    client::SIMPLE_SHARE,
    client::AVERAGE_SHARE,
    client::COMPLEX_SHARE,
    client::PARAMETERS,
    client::ANSWERS,
];

pub(super) const WORKLOAD: Workload = Workload {
    kind: "warehouse",
    name,
    kicker: Some("analytic queries, TPC-H-derived · not a TPC result"),
    profile: None,
    disclaimer: "TPC-H-derived data and queries; not a TPC result",
    foot: "The data and queries are TPC-H-derived; the results are not TPC results and not comparable with them.",
    work: Work { one: "query", many: "queries", one_capital: "Query", many_capital: "Queries" },
    kinds: &[
        ("q01", "Q1"),
        ("q02", "Q2"),
        ("q03", "Q3"),
        ("q04", "Q4"),
        ("q05", "Q5"),
        ("q06", "Q6"),
        ("q07", "Q7"),
        ("q08", "Q8"),
        ("q09", "Q9"),
        ("q10", "Q10"),
        ("q11", "Q11"),
        ("q12", "Q12"),
        ("q13", "Q13"),
        ("q14", "Q14"),
        ("q15", "Q15"),
        ("q16", "Q16"),
        ("q17", "Q17"),
        ("q18", "Q18"),
        ("q19", "Q19"),
        ("q20", "Q20"),
        ("q21", "Q21"),
        ("q22", "Q22"),
    ],
    headline: QUERIES_PER_HOUR,
    scale: &[(setting::WORKLOAD_STREAMS, "stream", "streams")],
    tails: &[],
    figure: &[QUERIES_PER_HOUR.drawn(), QUERIES_PER_HOUR_PER_TB.drawn()],
    results: &[QUERIES_PER_HOUR, QUERIES_PER_HOUR_PER_TB, SCAN_PHYSICAL, CPU, COMPRESSION],
    results_note: "Values of void points show what was observed; they are context, not results. A query that failed, \
        hit its cap or has a wrong answer does not count. TPC-H-derived, not a TPC result; CPU is the mean over the \
        cores that the database may run on.",
    terminal: &[QUERIES_PER_HOUR, QUERIES_PER_HOUR_PER_TB, SCAN_PHYSICAL, CPU, COMPRESSION, FAILED],
    description: "The workload consists of analytic queries over data derived from TPC-H: eight tables from a \
        built-in generator, and queries in the dialect of each engine. Each stream runs the queries one after another \
        in its own order. It is not a TPC benchmark, its results are not TPC results, and they are not comparable \
        with any.",
    choices: &[
        (
            setting::WORKLOAD_ROUNDS,
            GIVEN,
            "A run ends when every stream has completed a given number of rounds, and is rated as a whole. Rates \
             cover the period in which all streams were active. A round counts with the share of its time in this \
             period, so each query counts as often as it occurs in the rounds.",
        ),
        (setting::WORKLOAD_MIX, "each", "A round contains each chosen query once."),
        (
            setting::WORKLOAD_QUERY_CAP,
            GIVEN,
            "A query that exceeds its cap is cancelled and counts as failed; its stream continues.",
        ),
        (
            setting::WORKLOAD_PARAMETERS,
            "validation",
            "Queries use their validation values, so answers are compared with golden answers; a wrong answer counts \
             as a failed query.",
        ),
        (
            setting::WORKLOAD_PARAMETERS,
            "seeded",
            "Query values are drawn for each stream and round; answers are not compared with golden answers.",
        ),
    ],
    verification: "rows and content of the tables after the load, and the queries' answers against golden answers if \
        available",
    definitions: &[
        (
            "Queries per hour",
            "Valid queries per hour, counted by the clients: over the period in which all streams were active if a \
             run ends after a number of rounds, otherwise over the measured window.",
        ),
        (
            "Queries/h × TB",
            "Queries per hour times the raw size in TB (10^12 bytes of the tables as text). The product prevents \
             small data sets from looking better; at 1 TB it equals queries per hour and TB.",
        ),
        (
            "Physical scan rate",
            "Bytes read from the data's device, in MB (10^6 bytes) per second: reads of the database's control group \
             if the kernel counts them, otherwise all reads by the block layer's counters. The table of scan rates \
             shows which.",
        ),
        (
            "CPU of the database",
            "CPU of the database's processes only, from its control group if there is one, otherwise by sampling its \
             threads. It is in per cent of the CPU time that its cores or its CPU limit allow. The table of \
             consumption shows the source. For an embedded engine it includes the load generator.",
        ),
        (
            "File reads",
            "Bytes that the engine read from its files, whether from the device or the system's cache, by its own \
             counters.",
        ),
        (
            "Logical scan rate",
            "Bytes of the pages that queries requested, in the engine's cache or not, by its own counters. Without \
             such counters: not measured.",
        ),
        (
            "MCR, BCR",
            "Consumption: MB (10^6 bytes) that a scan requests per second of CPU time, in cache and cold; measured \
             before the first run.",
        ),
        ("Compression", "Raw bytes divided by bytes of the tables in the database, without and with indexes."),
    ],
    facts: FACTS,
    rates: &[],
    counted: &[],
    compared: &[QUERIES_PER_HOUR.name, QUERY_TIME.name],
    rated: &[QUERIES_PER_HOUR, QUERIES_PER_HOUR_PER_TB, QUERY_TIME, RUN_THROUGHPUT, RUN_TIME],
    observed: OBSERVED_BUT_CPU,
    settings: &[
        (setting::WORKLOAD_STREAMS, "streams"),
        (setting::WORKLOAD_SCALE_FACTOR, "scale factor"),
        (setting::WORKLOAD_MIX, "mix"),
    ],
    clocks: Clocks::Response,
    beyond_percentile: 10,
    paced: None,
    is_read: |_| true,
    has_transactions: false,
    rates_queries: true,
    tells_absence: true,
};

/// The name with the scale factor, which is no whole number.
fn name(settings: &Settings) -> String {
    match settings.number(setting::WORKLOAD_SCALE_FACTOR) {
        Ok(scale) => format!("A TPC-H-derived set of analytic queries at scale factor {scale}"),
        Err(_) => "A TPC-H-derived set of analytic queries".to_owned(),
    }
}
