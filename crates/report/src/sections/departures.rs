//! Departures from the clauses under which runs were made: what each is, and at which points it was on.

use crate::blocks::{Block, Cell, Column, Prose, Table, cells, prose};
use crate::findings::Findings;
use proofload_model::facts::{Description, client};
use std::collections::BTreeMap;

/// Makes the section of TPROC-C; left out where every run followed the clauses.
pub(super) fn render(findings: &Findings<'_>) -> Vec<Block> {
    let departures = departures(findings);
    if departures.is_empty() {
        return Vec::new();
    }
    let measured = findings.points.iter().filter(|point| !point.runs.is_empty()).count();
    let row = |number: &str, (Description { name, words }, points): &(Description, Vec<String>)| {
        let place = if points.len() == measured { "all points".to_owned() } else { points.join(", ") };
        cells![number.trim_start_matches('0').to_owned(), Cell::code(name.clone()), words.clone(), place]
    };
    let table = Table {
        id: "table-departures",
        caption: prose![
            "Departures from the clauses of TPC-C 5.11, by number, and the points at which they were active."
        ],
        columns: ["Number", "Name", "Behaviour and clause", "Points"].map(Column::words).to_vec(),
        rows: departures.iter().map(|(number, told)| row(number, told)).collect(),
        note: prose![
            "Not reproduced are HammerDB's departures 7, 9, 15 and 16, its inputs drawn on the server, its matching \
             of order lines by array position and its discounts in per cent. They lose or falsify data, or apply only \
             to paced loads."
        ],
    };
    vec![Block::Paragraph(lead(findings)), Block::Table(table)]
}

fn lead(findings: &Findings<'_>) -> Prose {
    match crate::workloads::named_profile(&findings.record.study.settings) {
        Some(profile) => prose! {
            "The profile of this study is ", profile,
            ". Its figures are comparable only within that profile, not with runs that follow the clauses."
        },
        None => prose![
            "Points differ in their departures from the clauses; compare their figures only to see the effect of \
             these departures."
        ],
    }
}

/// Number, description and points of each departure that was on.
fn departures<'f>(findings: &'f Findings<'_>) -> BTreeMap<&'f str, (Description, Vec<String>)> {
    let mut departures: BTreeMap<&str, (Description, Vec<String>)> = BTreeMap::new();
    for point in &findings.points {
        for run in &point.runs {
            let attempt = findings.finished(run.run.index);
            for fact in attempt.iter().flat_map(|attempt| &attempt.facts) {
                let Some((number, description)) = client::DEPARTURE.description(fact) else { continue };
                let (_, points) = departures.entry(number).or_insert_with(|| (description, Vec::new()));
                if points.last() != Some(&point.label()) {
                    points.push(point.label());
                }
            }
        }
    }
    departures
}
