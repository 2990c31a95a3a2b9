//! What a gate says, for a terminal and a log of continuous integration: the last line is the outcome.

use super::parts::{differences, heads, left_out, metric_head, paragraph, ratio, records, sides, table, warnings};
use crate::findings::comparison::{Comparison, Gate, GateOutcome, JudgedRow};

/// Renders a gate over its comparison.
pub(crate) fn gate_text(comparison: &Comparison<'_>, gate: &Gate) -> String {
    let mut text = format!("{}\n{}", records(comparison), differences(comparison));
    text.push_str(&warnings(comparison));
    if !gate.rows.is_empty() {
        text.push('\n');
        text.push_str(&table(&heads(comparison, ["limit", "finding"]), &groups(comparison, gate)));
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

fn cells(comparison: &Comparison<'_>, judged: &JudgedRow, factor: f64) -> Vec<String> {
    let row = &comparison.rows[judged.row];
    let mut cells = sides(comparison, row, factor);
    cells.extend([ratio(judged.limit), judged.finding.word().to_owned()]);
    cells
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
