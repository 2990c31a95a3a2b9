//! What limited throughput: candidates ranked by what was observed, none of them confirmed.

use super::charts::{shown_of, spread};
use super::opening::why_at as opening_why;
use crate::blocks::{
    Block, Cell, Chart, Column, Figure, Heat, Inline, Notice, Prose, Table, TableOf, cells, columns, prose,
};
use crate::findings::{Findings, PointFindings, Ranking, within_the_whole};
use crate::numbers::short;

/// Candidates listed for each point.
const LISTED: usize = 3;

/// Most points that have a sentence unfolded; the heat map has all.
const MOST_SENTENCES: usize = 6;

/// Most points that are columns of the heat map.
const MOST_COLUMNS: usize = 16;

pub(super) fn render(findings: &Findings<'_>) -> Vec<Block> {
    let sentences: Vec<Prose> =
        findings.points.iter().map(|point| opening_why(findings, point)).filter(|text| !text.is_empty()).collect();
    let count = sentences.len();
    let sentences = Block::List(sentences);
    let mut blocks = vec![
        match count > MOST_SENTENCES {
            true => Block::Fold(prose!["A sentence for each of the ", count, " points"], vec![sentences]),
            false => sentences,
        },
        Block::Paragraph(prose![
            Inline::Strong(prose!["Observed, not confirmed by intervention"]),
            ": a busy resource is not necessarily the cause. It is one if changing this resource alone changes the \
             throughput."
        ]),
    ];
    blocks.extend(heat(findings).map(|figure| Block::Figure(Box::new(figure))));
    blocks
        .push(Block::Fold(prose!["Candidates of each point with their evidence"], vec![Block::Table(table(findings))]));
    let mut missing: Vec<&'static str> =
        findings.rankings.iter().flat_map(|ranking| ranking.not_observed.iter().copied()).collect();
    missing.sort_unstable();
    missing.dedup();
    if !missing.is_empty() {
        blocks.push(Block::Notice(
            Notice::Gap,
            prose![missing.join(", "), ". Resources that were not observed cannot be excluded."],
        ));
    }
    blocks
}

/// Use of every resource at every point.
fn heat(findings: &Findings<'_>) -> Option<Figure> {
    let mut names: Vec<String> = Vec::new();
    for found in findings.rankings.iter().flat_map(|ranking| &ranking.uses) {
        if !names.contains(&found.name) {
            names.push(found.name.clone());
        }
    }
    if names.is_empty() {
        return None;
    }
    let ranked = findings.points.iter().filter_map(|point| Some((point, findings.ranking(point.id)?)));
    let ranked: Vec<(&PointFindings, &Ranking)> = ranked.collect();
    let count = ranked.len();
    let points = spread(ranked, MOST_COLUMNS);
    let value = |ranking: &Ranking, name: &str| {
        let found = ranking.uses.iter().find(|found| found.name == name)?;
        Some(100.0 * found.share.min(1.0))
    };
    let cells = names.iter().map(|name| points.iter().map(|(_, ranking)| value(ranking, name)).collect());
    let told = points.iter().map(|(point, ranking)| {
        let most = ranking.uses.iter().max_by(|a, b| a.share.total_cmp(&b.share));
        most.map_or_else(String::new, |most| {
            format!("{}: {} {} %.", point.label(), most.name, short((100.0 * most.share).round()))
        })
    });
    let alt = format!(
        "Heat map of utilization by resource and point; the highest of each. {}",
        told.collect::<Vec<_>>().join(" ")
    );
    let data = TableOf::new("", Prose::new(), &names)
        .words("Resource", |name| (*name).clone())
        .each(
            &points,
            |(point, _)| Column::counts(point.label()),
            |name, (_, ranking)| match value(ranking, name) {
                Some(value) => Cell::datum(short(value.round())),
                None => Cell::Gap("not observed".to_owned()),
            },
        )
        .table();
    Some(Figure {
        id: "figure-bottleneck",
        caption: prose! {
            "Utilization of each resource in the measured window, in per cent; stalls in per cent of the time. Points \
             run from left to right.", shown_of(points.len(), count)
        },
        alt: alt.clone(),
        chart: Chart::Heats(vec![Heat {
            title: String::new(),
            alt,
            x_title: super::charts::capital(&super::charts::factors_title(findings)),
            x_ticks: points.iter().enumerate().map(|(place, (point, _))| (place, point.label())).collect(),
            rows: names.clone(),
            cells: cells.collect(),
            full: 100.0,
            legend: "% of it".to_owned(),
            labelled: true,
        }]),
        data,
    })
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
            "Candidates for the bottleneck of each point, most likely first. Observed, not confirmed by intervention."
        ],
        columns: columns! {
            words("Point"), counts("Rank"), words("Candidate"), quantities("Use", "% of the window"), words("Evidence")
        },
        rows,
        note: Vec::new(),
    }
}

fn point_rows(point: &PointFindings, ranking: &Ranking) -> Vec<Vec<Cell>> {
    if ranking.candidates.is_empty() {
        return vec![cells! {
            point.label(), Cell::Empty, Cell::Prose(prose!["none"]), Cell::Empty,
            Cell::Prose(prose!["no observed resource came near its limit"])
        }];
    }
    let row = |(place, candidate): (usize, &proofload_analysis::bottleneck::Candidate)| {
        let measure = within_the_whole(candidate.measure.scaled(100.0, proofload_analysis::quantity::Unit::PERCENT));
        cells! {
            point.label(), Cell::Count(place as u64 + 1), candidate.name.clone(), measure, candidate.evidence.clone()
        }
    };
    ranking.candidates.iter().take(LISTED).enumerate().map(row).collect()
}
