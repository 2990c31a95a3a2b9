//! What a gate says, for a terminal and a log of continuous integration: the last line is the outcome.

use super::super::text::plain;
use super::parts::{
    differences, figure, interval, left_out, metric_head, paragraph, points_head, ratio, records, table, warnings,
};
use crate::findings::comparison::{Comparison, Gate, GateOutcome, Judged};

/// Renders a gate over its comparison.
pub(crate) fn gate_text(comparison: &Comparison<'_>, gate: &Gate) -> String {
    let mut text = format!("{}\n{}", records(comparison), differences(comparison));
    text.push_str(&warnings(comparison));
    if !gate.rows.is_empty() {
        text.push('\n');
        let points = points_head(comparison);
        let head = [points.as_str(), "A", "B", "B/A", "95 % interval", "limit", "finding"];
        text.push_str(&table(&head, &groups(comparison, gate)));
    }
    text.push_str(&left_out(comparison));
    text.push('\n');
    text + &outcome(gate)
}

fn groups(comparison: &Comparison<'_>, gate: &Gate) -> Vec<(String, Vec<Vec<String>>)> {
    let group = |(metric, places): (_, Vec<usize>)| {
        let (title, factor) = metric_head(comparison, metric, &places);
        let judged = gate.rows.iter().filter(|judged| places.contains(&judged.row));
        (title, judged.map(|judged| cells(comparison, judged, factor)).collect())
    };
    comparison.by_metric().into_iter().map(group).collect()
}

fn cells(comparison: &Comparison<'_>, judged: &Judged, factor: f64) -> Vec<String> {
    let row = &comparison.rows[judged.row];
    vec![
        plain(comparison.label(row.pair)),
        figure(row.baseline.value() * factor),
        figure(row.candidate.value() * factor),
        ratio(row.ratio.value()),
        interval(row),
        ratio(judged.limit),
        judged.finding.word().to_owned(),
    ]
}

fn outcome(gate: &Gate) -> String {
    let word = match (gate.outcome, gate.passes) {
        (GateOutcome::Undecided, true) => "passed, undecided",
        (outcome, _) => outcome.word(),
    };
    let rows = gate.rows.len();
    let held = if rows == 1 { "the comparison held".to_owned() } else { format!("all {rows} comparisons held") };
    let why = if gate.reasons.is_empty() { held } else { gate.reasons.join("; ") };
    paragraph(&format!("gate {word}: {why}"))
}
