//! What a gate says, for a terminal and a log of continuous integration: the last line is the outcome.

use super::parts::{differences, heads, left_out, metric_head, paragraph, ratio, records, sides, table, warnings};
use crate::findings::comparison::{Comparison, Gate, GateOutcome, JudgedRow, NotInTurns, Rules};

/// Renders a gate over its comparison.
pub(crate) fn gate_text(comparison: &Comparison<'_>, gate: &Gate, rules: &Rules) -> String {
    let mut text = format!("{}\n{}", records(comparison), differences(comparison));
    text.push_str(&warnings(comparison));
    if !gate.rows.is_empty() {
        text.push('\n');
        text.push_str(&table(&heads(comparison, ["limit", "finding"]), &groups(comparison, gate)));
    }
    text.push_str(&left_out(comparison));
    if let Some(estimands) = comparison.estimands_of_rows() {
        text.push_str(&format!("\n{}", paragraph(&estimands)));
    }
    text.push('\n');
    text + &outcome(gate, rules)
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

fn outcome(gate: &Gate, rules: &Rules) -> String {
    let word = match (gate.outcome, gate.passes) {
        (GateOutcome::Undecided, true) => "passed, undecided",
        (outcome, _) => outcome.word(),
    };
    let rows = gate.rows.len();
    let held = if rows == 1 { "the comparison held".to_owned() } else { format!("all {rows} comparisons held") };
    let why = if gate.reasons.is_empty() { held } else { gate.reasons.join("; ") };
    let warned = if gate.not_alternated > 0 && rules.not_in_turns == NotInTurns::Warn {
        let so = if gate.passes { "are part of the ratios" } else { "may be the cause" };
        format!(
            "; the runs of A and B did not alternate in {} of {rows}, so changes of the host between them {so}",
            gate.not_alternated
        )
    } else {
        String::new()
    };
    paragraph(&format!("gate {word}: {why}{warned}"))
}
