//! The certificate itself: what was rated, what it is made of, and the rating of each point.

use super::host;
use super::parts::{metric, plain, point_cell, rated};
use crate::blocks::{Block, Cell, Inline, Notice, Prose, Table, cells, columns, prose};
use crate::findings::warehouse::{Rating, baselines, raw_of};
use crate::findings::{Findings, PointFindings, level_text};
use crate::metrics::{DATABASE_CPU, DRIVER_CPU, QUERIES_PER_HOUR, QUERIES_PER_HOUR_PER_TB};
use proofload_analysis::warehouse::Confidence;
use proofload_model::settings::setting;
use proofload_model::study::values_of;

/// Only runs by rounds have any before what is rated.
const ROUNDS: &str = setting::WORKLOAD_ROUNDS;
const WARM_UP_ROUNDS: &str = setting::WORKLOAD_WARM_UP_ROUNDS;

/// Settings of the configuration, where the study has them.
const CONFIGURATION: &[(&str, &str)] = &[
    (setting::ENGINE_KIND, "Engine"),
    (setting::WORKLOAD_SCALE_FACTOR, "Scale factor"),
    (setting::WORKLOAD_STREAMS, "Streams"),
    (setting::WORKLOAD_LAYOUT, "Layout of the tables"),
    (setting::WORKLOAD_MIX, "Mix of queries, simple/average/complex"),
    (setting::WORKLOAD_PARALLELISM, "Threads per query"),
    (ROUNDS, "Rounds per stream"),
    (WARM_UP_ROUNDS, "Warm-up rounds among them"),
    (setting::WORKLOAD_QUERY_CAP, "Time cap per query"),
    (setting::LIMITS_MEMORY, "Memory of the database"),
    (setting::LIMITS_MEMORY_PER_DATA, "Memory of the database, share of the raw size"),
    (setting::LIMITS_CORES, "Cores of the database"),
    (setting::LIMITS_CPU, "CPU limit of the database, CPU s/s"),
    (setting::LIMITS_READ_BANDWIDTH, "Read bandwidth limit of the device"),
    (setting::LIMITS_WRITE_BANDWIDTH, "Write bandwidth limit of the device"),
    (setting::LIMITS_READ_IOPS, "Read request limit, 1/s"),
    (setting::LIMITS_WRITE_IOPS, "Write request limit, 1/s"),
];

pub(in super::super) fn render(findings: &Findings<'_>) -> Vec<Block> {
    let mut blocks = vec![Block::Paragraph(prose! {
        "This part rates the configuration in the manner of data warehouse appliance ratings. Data and queries are \
         TPC-H-derived; this is neither a TPC result nor a vendor's certificate. For the confidence of each formula \
         see ", Inline::Reference("table-formulas"), "."
    })];
    blocks.extend(ratings(findings));
    blocks.push(Block::Fold(prose!["Configuration"], vec![Block::KeyValues(configuration(findings))]));
    let materials = host::materials(findings);
    let materials = if materials.is_empty() {
        Block::Notice(Notice::Gap, prose!["no facts of the machine were recorded."])
    } else {
        Block::KeyValues(materials)
    };
    blocks.push(Block::Fold(prose!["Bill of materials"], vec![materials]));
    blocks.push(Block::Fold(host::verdict(findings), vec![host::checks(findings)]));
    blocks
}

/// Settings with all their levels.
fn configuration(findings: &Findings<'_>) -> Vec<(Prose, Prose)> {
    let study = &findings.record.study;
    let values = |path| values_of(path, &study.settings, &findings.factors);
    let rounds = !values(ROUNDS).is_empty();
    let pair = |(path, title): &(&'static str, &'static str)| {
        let words: Vec<String> = values(path).into_iter().map(level_text).collect();
        (!words.is_empty()).then(|| (prose![*title], prose![words.join(", ")]))
    };
    CONFIGURATION.iter().filter(|(path, _)| *path != WARM_UP_ROUNDS || rounds).filter_map(pair).collect()
}

fn ratings(findings: &Findings<'_>) -> Vec<Block> {
    let rated = rated(findings);
    if rated.is_empty() {
        return vec![Block::Notice(Notice::Gap, prose!["no run of this study is finished."])];
    }
    let mut blocks = vec![
        Block::Table(Table {
            id: "table-rating",
            caption: prose!["The rating of each point: TPC-H-derived, not a TPC result."],
            columns: columns! {
                point(findings), words("Layout"), quantities("Raw data", "GB"), metric(&QUERIES_PER_HOUR),
                metric(&QUERIES_PER_HOUR_PER_TB.headed()), metric(&DATABASE_CPU), words("Bound"),
                quantities("Maximum user data", "TB"), words("Verdict")
            },
            rows: rated.iter().map(|(point, rating)| rating_row(point, rating)).collect(),
            note: prose!["Maximum user data: ", Inline::Reference("capacity"), "."],
        }),
        bounds(findings, &rated),
    ];
    blocks.extend(driver(findings, &rated));
    blocks.extend(relative(findings, &rated));
    blocks
}

fn rating_row(point: &PointFindings, rating: &Rating) -> Vec<Cell> {
    let bound = match &rating.verdict {
        Ok(verdict) => Cell::Prose(prose![verdict.bound.word()]),
        Err(why) => Cell::Gap(why.clone()),
    };
    cells! {
        point_cell(point), rating.layout.clone().map_or_else(|| Cell::Gap("not recorded".to_owned()), Cell::datum),
        raw_of(&rating.data), metric(point, QUERIES_PER_HOUR), metric(point, QUERIES_PER_HOUR_PER_TB),
        metric(point, DATABASE_CPU), bound, rating.maximum.clone(),
        Cell::Verdict(point.verdict.is_valid(), point.verdict.word())
    }
}

/// What bound each point, with what that rests on.
fn bounds(findings: &Findings<'_>, rated: &[(&PointFindings, Rating)]) -> Block {
    let row = |(point, rating): &(&PointFindings, Rating)| {
        let (bound, confidence, reasons) = match &rating.verdict {
            Ok(verdict) if verdict.confidence == Confidence::None => {
                (verdict.bound.word(), "–", verdict.reasons.join("; "))
            }
            Ok(verdict) => (verdict.bound.word(), verdict.confidence.word(), verdict.reasons.join("; ")),
            Err(why) => ("unclear", "–", why.clone()),
        };
        cells![point_cell(point), Cell::Prose(prose![bound]), Cell::Prose(prose![confidence]), reasons]
    };
    Block::Table(Table {
        id: "table-bound",
        caption: prose!["Bottleneck of each point, and its confidence."],
        columns: columns![point(findings), words("Bound"), words("Confidence"), words("Evidence")],
        rows: rated.iter().map(row).collect(),
        note: prose![
            "I/O-bound: CPU below 80 % and the device above 80 % of its calibrated sequential rate. CPU-bound: CPU \
             above 90 %. Otherwise unclear: neither was saturated, for example because few streams leave cores idle. \
             Firm: the 95 % confidence intervals lie on one side of these limits, and the calibration does not \
             contradict."
        ],
    })
}

/// The load generator's own share of the CPU time beyond which an embedded engine's figures speak of it too, %.
const MOST_DRIVER: f64 = 1.0;

/// What the load generator took of an embedded engine's CPU time; `None` where every engine is a server.
fn driver(findings: &Findings<'_>, rated: &[(&PointFindings, Rating)]) -> Option<Block> {
    let row = |(point, _): &(&PointFindings, Rating)| {
        let share = point.metric(DRIVER_CPU).ok()?.value();
        let verdict = Cell::Verdict(
            share <= MOST_DRIVER,
            if share <= MOST_DRIVER { "within 1\u{a0}%" } else { "above 1\u{a0}%" },
        );
        Some(vec![point_cell(point), metric(point, DRIVER_CPU), verdict])
    };
    let rows: Vec<Vec<Cell>> = rated.iter().filter_map(row).collect();
    let within = rows.iter().flatten().all(|cell| !matches!(cell, Cell::Verdict(false, _)));
    (!rows.is_empty()).then(|| {
        let table = Block::Table(Table {
            id: "table-driver",
            caption: prose! {
                "Driver overhead: the streams' share of the CPU time if the engine runs inside the load generator."
            },
            columns: columns![point(findings), metric(&DRIVER_CPU), words("Within 1\u{a0}%")],
            rows,
            note: prose![
                "CPU time of the streams' threads outside the engine's calls: generating queries, comparing answers \
                 and recording. It is part of the database's CPU."
            ],
        });
        if within {
            Block::Fold(prose!["Driver overhead: at most 1\u{a0}% of the CPU time at every point"], vec![table])
        } else {
            table
        }
    })
}

/// Relative throughput against every reference of this workload, and why there is none.
fn relative(findings: &Findings<'_>, rated: &[(&PointFindings, Rating)]) -> Vec<Block> {
    let mut rows = Vec::new();
    let mut reasons: Vec<&str> = Vec::new();
    for (point, rating) in rated {
        for (name, percent) in &rating.relative {
            match percent {
                Ok(percent) => {
                    let value = plain(*percent, "%", 1, "the reference has no interval");
                    rows.push(cells![point_cell(point), name.clone(), value]);
                }
                Err(why) if reasons.contains(&why.as_str()) => {}
                Err(why) => reasons.push(why),
            }
        }
    }
    let mut blocks = Vec::new();
    if !rows.is_empty() {
        blocks.push(Block::Table(relative_table(findings, rows)));
    }
    let gap = |why: &&str| Block::Notice(Notice::Gap, prose!["relative throughput: ", (*why).to_owned(), "."]);
    blocks.extend(reasons.iter().map(gap));
    blocks
}

fn relative_table(findings: &Findings<'_>, rows: Vec<Vec<Cell>>) -> Table {
    Table {
        id: "table-relative",
        caption: prose!["Relative throughput: queries/h × TB in per cent of a named reference with the same work."],
        columns: columns![point(findings), words("Reference"), quantities("Relative throughput", "%")],
        rows,
        note: hashes(findings),
    }
}

/// Which stored records the references come from.
fn hashes(findings: &Findings<'_>) -> Prose {
    let mut note = Prose::new();
    for reference in baselines(findings) {
        if let Some(hash) = &reference.record_sha256 {
            note.extend(prose! {
                "SHA-256 of the record “", reference.title.clone(), "”: ", Inline::Code(hash.clone()), ". "
            });
        }
    }
    note
}
