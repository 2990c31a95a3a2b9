//! What limited throughput: candidates ranked by what was observed, none of them confirmed.

use super::section::{Section, a_finished_run};
use crate::blocks::{Block, Cell, Column, Inline, Notice, Table, prose};
use crate::findings::{Findings, PointFindings, Ranking};

/// The section.
pub(super) const SECTION: Section =
    Section { id: "bottleneck", title: "What limited it", level: 2, numbered: true, needs: a_finished_run, render };

/// Candidates listed for each point.
const LISTED: usize = 3;

fn render(findings: &Findings<'_>) -> Vec<Block> {
    let mut blocks = vec![Block::Paragraph(prose![
        "Candidates are ranked by what was observed in the measured window. ",
        Inline::Strong(prose!["They are observed, not confirmed by intervention"]),
        ": a resource that is busy is not yet a cause. It becomes one when changing it, and nothing else, changes the throughput; this study has changed nothing but its factors."
    ])];
    if let Some(largest) = findings.largest()
        && let Some(first) = findings.ranking(largest.id).and_then(|ranking| ranking.candidates.first())
    {
        blocks.push(Block::Paragraph(prose![
            "At the point with the largest throughput, ",
            largest.label(),
            ", the first candidate is ",
            Inline::Strong(prose![first.name.clone()]),
            ": ",
            first.evidence.clone(),
            "."
        ]));
    }
    blocks.push(Block::Table(table(findings)));
    let mut missing: Vec<&'static str> =
        findings.rankings.iter().flat_map(|ranking| ranking.not_observed.iter().copied()).collect();
    missing.sort_unstable();
    missing.dedup();
    if !missing.is_empty() {
        blocks.push(Block::Notice(
            Notice::Gap,
            prose![missing.join(", "), ". What was not observed cannot be excluded."],
        ));
    }
    blocks
}

fn table(findings: &Findings<'_>) -> Table {
    let mut rows = Vec::new();
    for point in &findings.points {
        let Some(ranking) = findings.ranking(point.id) else { continue };
        rows.extend(point_rows(point, ranking));
    }
    Table {
        id: "table-bottleneck",
        caption: prose![
            "Candidates for the bottleneck of each point, likeliest first. Observed, not confirmed by intervention."
        ],
        columns: vec![
            Column::words("Point"),
            Column::counts("Rank"),
            Column::words("Candidate"),
            Column::quantities("Use", "% of the window"),
            Column::words("Evidence"),
        ],
        rows,
        note: Vec::new(),
    }
}

fn point_rows(point: &PointFindings, ranking: &Ranking) -> Vec<Vec<Cell>> {
    if ranking.candidates.is_empty() {
        return vec![vec![
            Cell::datum(point.label()),
            Cell::Empty,
            Cell::Prose(prose!["none"]),
            Cell::Empty,
            Cell::Prose(prose!["nothing that was observed came near a limit"]),
        ]];
    }
    let row = |(place, candidate): (usize, &proofload_analysis::bottleneck::Candidate)| {
        let measure = candidate.measure.scaled(100.0, proofload_analysis::quantity::Unit::PERCENT);
        vec![
            Cell::datum(point.label()),
            Cell::Count(place as u64 + 1),
            Cell::datum(candidate.name.clone()),
            Cell::Quantity(measure),
            Cell::datum(candidate.evidence.clone()),
        ]
    };
    ranking.candidates.iter().take(LISTED).enumerate().map(row).collect()
}
