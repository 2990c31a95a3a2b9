//! What a gate says, for a terminal and a log of continuous integration: the last line is the outcome.

use super::parts::{differences, heads, left_out, metric_head, paragraph, ratio, records, sides, told_first, warnings};
use super::table::{ComparedTable, Room};
use crate::findings::comparison::{Comparison, Gate, GateOutcome, JudgedRow, NotInTurns, Rules};

/// Columns that stand back where there is no room: what the ratio is of, then what it was judged by.
const SPARE: &[&[usize]] = &[&[1, 2], &[5]];

/// Renders a gate over its comparison for a terminal of so many columns.
pub(crate) fn gate_text(comparison: &Comparison<'_>, gate: &Gate, rules: &Rules, terminal: Option<usize>) -> String {
    let room = Room::of(terminal);
    let mut text = told_first(comparison, room);
    text.push_str(&format!("{}\n{}", records(comparison, room), differences(comparison, room)));
    text.push_str(&warnings(comparison, room));
    if !gate.rows.is_empty() {
        text.push('\n');
        let (head, groups) = (heads(comparison, ["limit", "finding"]), groups(comparison, gate));
        text.push_str(&ComparedTable { head, groups, spare: SPARE }.text(room));
    }
    text.push_str(&left_out(comparison, room));
    if let Some(estimands) = comparison.estimands_of_rows() {
        text.push_str(&format!("\n{}", paragraph(&estimands, room)));
    }
    text.push('\n');
    text + &outcome(gate, rules, room)
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

fn outcome(gate: &Gate, rules: &Rules, room: Room) -> String {
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
    paragraph(&format!("gate {word}: {why}{warned}"), room)
}
