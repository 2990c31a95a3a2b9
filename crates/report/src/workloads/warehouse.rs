//! The warehouse workload in the words of appliance ratings. Everything says that it is derived from TPC-H.

use super::workload::{Clocks, GIVEN, Work, Workload};
use crate::metrics::{
    COMPRESSION, CPU, FAILED, OBSERVED_BUT_CPU, QUERIES_PER_HOUR, QUERIES_PER_HOUR_PER_TB, QUERY_TIME, RUN_THROUGHPUT,
    RUN_TIME, SCAN_PHYSICAL,
};
use proofload_model::facts::{FactName, client, data};
use proofload_model::settings::Settings;

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
    client::OPERATION_MIX.titled("Mix: each query once a round, or simple/average/complex by count"),
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
    foot: "The data and queries are TPC-H-derived; nothing here is a TPC result or comparable with one.",
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
    scale: &[("workload.streams", "stream", "streams")],
    tails: &[],
    figure: &[QUERIES_PER_HOUR.drawn(), QUERIES_PER_HOUR_PER_TB.drawn()],
    results: &[QUERIES_PER_HOUR, QUERIES_PER_HOUR_PER_TB, SCAN_PHYSICAL, CPU, COMPRESSION],
    results_note: "Values of void points are what was observed; they are context, not results. A query whose answer is wrong, that failed or that ran \
                   into its cap does not count. TPC-H-derived, not a TPC result; CPU is the mean over the cores that the database may run on.",
    terminal: &[QUERIES_PER_HOUR, QUERIES_PER_HOUR_PER_TB, SCAN_PHYSICAL, CPU, COMPRESSION, FAILED],
    description: "The workload is made of analytic queries over data derived from TPC-H: eight tables from a generator in the process, and queries in the \
                  dialect of each engine. Streams run the queries one after another, each in an order of its own. It is not a TPC benchmark, its \
                  results are not TPC results, and they are not comparable with any.",
    choices: &[
        (
            "workload.rounds",
            GIVEN,
            "A run ends when every stream is through a given number of rounds, and is rated whole: rates are of the stretch in which all \
             streams were at work, and a round counts by the share of its time in it, so that each query counts as often as its rounds have it.",
        ),
        ("workload.mix", "each", "A round has each chosen query once."),
        (
            "workload.query_cap",
            GIVEN,
            "A query that takes longer than its cap is ended, counted as failed, and its stream goes on.",
        ),
        (
            "workload.parameters",
            "validation",
            "Queries have the values of their validation, so that answers are compared with golden ones; a wrong answer is a failed query.",
        ),
        (
            "workload.parameters",
            "seeded",
            "Values in the queries are drawn for each stream and round; their answers are not compared with golden ones.",
        ),
    ],
    verification: "rows and content of the tables after the load, and the queries' answers against golden ones where there are any",
    definitions: &[
        (
            "Queries per hour",
            "Valid queries per hour: of all streams at work together where a run ends by a number of rounds, else of the measured window; counted by the clients.",
        ),
        (
            "Queries/h × TB",
            "The same times the raw size in TB (10^12 bytes of the tables as text). It multiplies, so that a small set does not look better; at 1 TB it is queries per hour and TB.",
        ),
        (
            "Physical scan rate",
            "Bytes that the device under the data read, in MB (10^6 bytes) per second: for the database's control group where the kernel counts \
             them, else for everybody, by the block layer's counters. The table of scan rates says which.",
        ),
        (
            "CPU of the database",
            "Of its processes, whatever ran beside them: by the accounting of its control group where there is one, else by sampling its threads; \
             in per cent of the CPU seconds per second that its cores give or its limit of CPU time allows. The table of consumption says which. \
             An embedded engine's has the load generator in it.",
        ),
        (
            "File reads",
            "Bytes that the engine read from its files, from the device or from the system's cache; by its own counters.",
        ),
        (
            "Logical scan rate",
            "Bytes of the pages that queries asked for, in the engine's cache or not; by its own counters. Where it has none: not measured.",
        ),
        (
            "MCR, BCR",
            "Consumption: MB (10^6 bytes) that a scan asks for per second of CPU time, in cache and cold; found out before the first run.",
        ),
        ("Compression", "Raw bytes over bytes of the tables in the database, without and with indexes."),
    ],
    facts: FACTS,
    rates: &[],
    counted: &[],
    compared: &[QUERIES_PER_HOUR.name, QUERY_TIME.name],
    rated: &[QUERIES_PER_HOUR, QUERIES_PER_HOUR_PER_TB, QUERY_TIME, RUN_THROUGHPUT, RUN_TIME],
    observed: OBSERVED_BUT_CPU,
    settings: &[("workload.streams", "streams"), ("workload.scale_factor", "scale factor"), ("workload.mix", "mix")],
    clocks: Clocks::Response,
    beyond_percentile: 10,
    paced: None,
    tells_absence: true,
};

/// The name with the scale factor, which is no whole number.
fn name(settings: &Settings) -> String {
    match settings.number("workload.scale_factor") {
        Ok(scale) => format!("A TPC-H-derived set of analytic queries at scale factor {scale}"),
        Err(_) => "A TPC-H-derived set of analytic queries".to_owned(),
    }
}
