//! How much data: what fits, up to which size targets can hold, what cannot be derived; and every formula with how sure it is.

use super::parts::{point_cell, rated};
use crate::blocks::{Block, Cell, Column, Notice, Prose, Table, prose};
use crate::findings::warehouse::{Rating, Reach, TARGETS_S};
use crate::findings::{Findings, PointFindings};
use crate::numbers::percent;
use crate::sections::charts::measured_cell;
use proofload_analysis::warehouse::{FARTHEST, FORMULAS, Formula, RawTerabytes, Reserve};

/// Why the rated user data capacity of a published certificate has no formula here. Its value (36 TB) is one point of a function of at
/// least four inputs, and published ratios of rated to maximum run from 0.33 to 0.88.
const RATED_USER_DATA: &str = "the rated user data capacity cannot be derived. Missing are: the rule that combines \
    the relative throughputs of row and column store, the influence of storage and memory, the figures of the \
    reference configuration, and a second published point to test a formula.";

pub(in super::super) fn render(findings: &Findings<'_>) -> Vec<Block> {
    let rated = rated(findings);
    let mut blocks = Vec::new();
    if !rated.is_empty() {
        let table = Block::Table(capacities(findings, &rated));
        blocks.push(match rated.iter().any(|(_, rating)| is_sized(rating)) {
            true => table,
            false => {
                Block::Fold(prose!["No size follows from these measurements: each point with its reason"], vec![table])
            }
        });
    }
    blocks.push(Block::Fold(
        prose!["Why there is no rated user data capacity"],
        vec![Block::Notice(Notice::Remark, prose![RATED_USER_DATA])],
    ));
    blocks.push(Block::Fold(prose!["Assumptions"], vec![Block::KeyValues(assumptions())]));
    blocks.push(Block::Fold(prose!["Formulas and their confidence"], vec![Block::Table(formulas())]));
    blocks
}

/// Whether a point says how much data fits, or up to which size a target holds.
fn is_sized(rating: &Rating) -> bool {
    rating.maximum.is_ok() || rating.targets.iter().any(|reach| matches!(reach, Reach::Until(_)))
}

fn assumptions() -> Vec<(Prose, Prose)> {
    let reserve = Reserve::PUBLISHED;
    vec![
        (prose!["Storage"], prose!["as stated in hardware.capacity; all of it is for data and temporary files"]),
        (
            prose!["Reserves"],
            prose! {
                percent(reserve.free_share), " stays free, ", percent(reserve.temporary_share),
                " of the rest is for temporary files, as in published ratings"
            },
        ),
        (prose!["Compression"], prose!["the measured ratio, with indexes; never a planning value"]),
        (
            prose!["Targets"],
            prose![
                "a mean response time of the mix with the point's streams. Assumption: device reads and CPU time of a \
                 query grow with the raw size; memory and mix stay the same"
            ],
        ),
        (
            prose!["Bound"],
            prose![
                "set by the busier of device (calibrated sequential rate) and cores: an upper bound, so the target \
                 may fail below it"
            ],
        ),
        (
            prose!["Extrapolation"],
            prose!["at most ", crate::numbers::short(FARTHEST), " times the measured raw size; no figures beyond that"],
        ),
    ]
}

fn capacities(findings: &Findings<'_>, rated: &[(&PointFindings, Rating)]) -> Table {
    let targets = TARGETS_S.iter().map(|seconds| {
        let (value, unit) = match *seconds {
            seconds if seconds < 60.0 => (seconds, "s"),
            seconds if seconds < 3_600.0 => (seconds / 60.0, "min"),
            seconds => (seconds / 3_600.0, "h"),
        };
        Column::quantities(format!("Largest for {}\u{a0}{unit}", crate::numbers::short(value)), "GB raw")
    });
    let row = |(point, rating): &(&PointFindings, Rating)| {
        let largest = rating.targets.iter().map(reach_cell);
        [point_cell(point), measured_cell(rating.maximum.clone())].into_iter().chain(largest).collect()
    };
    Table {
        id: "table-capacity",
        caption: prose!["Raw user data: the size that fits, and the largest size for a mean response time."],
        columns: [Column::point(findings), Column::quantities("Maximum user data", "TB raw")]
            .into_iter()
            .chain(targets)
            .collect(),
        rows: rated.iter().map(row).collect(),
        note: prose![
            "Brackets show the limiting resource. Beyond: too far from the measured size for a conclusion; measure \
             with more data. The model is Proofload's own."
        ],
    }
}

fn reach_cell(reach: &Reach) -> Cell {
    let gigabytes = |raw: &RawTerabytes| crate::numbers::short(raw.0 * 1e3);
    match reach {
        Reach::Until(found) => Cell::datum(format!("{} ({})", gigabytes(&found.raw), found.binding.word())),
        Reach::Beyond(raw) => Cell::datum(format!("beyond {}", gigabytes(raw))),
        Reach::Unknown(why) => Cell::Gap(why.clone()),
    }
}

fn formulas() -> Table {
    let row = |formula: &Formula| {
        [formula.name, formula.text, formula.status.word(), formula.source]
            .map(|text| Cell::Prose(prose![text]))
            .to_vec()
    };
    Table {
        id: "table-formulas",
        caption: prose![
            "Formulas of this certificate and their confidence. P5 is the published appliance rating in \
             references/dwft-36tb.toml."
        ],
        columns: ["Figure", "Formula", "Status", "Source"].map(Column::words).to_vec(),
        rows: FORMULAS.iter().map(row).collect(),
        note: Prose::new(),
    }
}
