//! How much data: what fits, up to which size targets can hold, what cannot be derived; and every formula with how sure it is.

use super::super::section::{Section, SectionPlace, always};
use super::parts::{point_cell, point_column, rated};
use crate::blocks::{Block, Cell, Column, Notice, Prose, Table, prose};
use crate::findings::warehouse::{Rating, Reach, TARGETS_S};
use crate::findings::{Findings, PointFindings};
use crate::sections::charts::measured_cell;
use proofload_analysis::warehouse::{FARTHEST, FORMULAS, Formula, RawTerabytes, Reserve};

/// The section.
pub(in super::super) const SECTION: Section = Section {
    id: "capacity",
    title: "User data capacity",
    level: 3,
    place: SectionPlace::Paper,
    needs: always,
    render,
};

/// Why the rated user data capacity of a published certificate has no formula here. Its value (36 TB) is one point of a function of at
/// least four inputs, and published ratios of rated to maximum run from 0.33 to 0.88.
const RATED_USER_DATA: &str = "the rated user data capacity cannot be derived; missing: how the relative throughputs of row and \
column store are combined; how storage and memory enter; the reference configuration's own figures; a second published point to test a \
formula against.";

fn render(findings: &Findings<'_>) -> Vec<Block> {
    let rated = rated(findings);
    let mut blocks = Vec::new();
    if !rated.is_empty() {
        blocks.push(Block::Table(capacities(findings, &rated)));
    }
    blocks.push(Block::Notice(Notice::Remark, prose![RATED_USER_DATA]));
    blocks.push(Block::Fold(prose!["Assumptions"], vec![Block::KeyValues(assumptions())]));
    blocks.push(Block::Fold(prose!["Formulas and how sure they are"], vec![Block::Table(formulas())]));
    blocks
}

fn percent(share: f64) -> String {
    format!("{}\u{a0}%", crate::numbers::short(100.0 * share))
}

fn assumptions() -> Vec<(Prose, Prose)> {
    let reserve = Reserve::PUBLISHED;
    vec![
        (
            prose!["Storage"],
            prose!["as the study states it in hardware.capacity; all of it for data and temporary files"],
        ),
        (
            prose!["Reserves"],
            prose![
                percent(reserve.free_share),
                " stays free, ",
                percent(reserve.temporary_share),
                " of the rest is for temporary files, as in published ratings"
            ],
        ),
        (prose!["Compression"], prose!["the measured one, with indexes; never a planning number"]),
        (
            prose!["Targets"],
            prose![
                "a mean response time of the mix with the point's streams; a query's device reads and CPU time are taken to grow with the raw size, memory and mix to stay as they are"
            ],
        ),
        (
            prose!["Bound"],
            prose![
                "by the busier of device (calibrated sequential rate) and cores: the target cannot hold beyond it, and need not hold up to it"
            ],
        ),
        (
            prose!["Extrapolation"],
            prose![
                "at most ",
                crate::numbers::short(FARTHEST),
                " times the measured raw size; beyond that no figure is given"
            ],
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
        caption: prose!["How much raw user data: what fits, and up to which size a mean response time can hold."],
        columns: [point_column(findings), Column::quantities("Maximum user data", "TB raw")]
            .into_iter()
            .chain(targets)
            .collect(),
        rows: rated.iter().map(row).collect(),
        note: prose![
            "In brackets what binds. Beyond: farther than may be concluded from the measured size; measure more data. The model is Proofload's own."
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
            "Formulas of this certificate and how sure they are. P5 is the published appliance rating in references/dwft-36tb.toml."
        ],
        columns: ["Figure", "Formula", "Status", "Source"].map(Column::words).to_vec(),
        rows: FORMULAS.iter().map(row).collect(),
        note: Prose::new(),
    }
}
