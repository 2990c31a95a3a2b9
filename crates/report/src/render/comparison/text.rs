//! A comparison for a terminal.

use super::parts::{
    differences, heads, left_out, metric_head, p_value, paragraph, records, sides, told_first, warnings,
};
use super::table::{ComparedTable, Room};
use crate::findings::comparison::{Comparison, Row, Verdict};
use crate::numbers::count;

/// Columns that stand back where there is no room: what the verdict says too, then what the ratio is of.
const SPARE: &[&[usize]] = &[&[5], &[1, 2]];

/// Renders a comparison for a terminal of so many columns.
pub(crate) fn comparison_text(comparison: &Comparison<'_>, terminal: Option<usize>) -> String {
    let room = Room::of(terminal);
    let mut text = told_first(comparison, room);
    text.push_str(&format!("{}\n{}", records(comparison, room), differences(comparison, room)));
    text.push_str(&warnings(comparison, room));
    text.push('\n');
    if comparison.rows.is_empty() {
        text.push_str("Nothing could be compared.\n");
        return text + &left_out(comparison, room);
    }
    let (head, groups) = (heads(comparison, ["p", "verdict"]), groups(comparison));
    text.push_str(&ComparedTable { head, groups, spare: SPARE }.text(room));
    text + &left_out(comparison, room) + &legend(comparison, room)
}

fn groups(comparison: &Comparison<'_>) -> Vec<(String, Vec<Vec<String>>)> {
    let group = |(metric, places): (_, Vec<usize>)| {
        let (title, factor) = metric_head(comparison, metric, &places);
        let rows = places.iter().map(|place| cells(comparison, &comparison.rows[*place], factor)).collect();
        (title, rows)
    };
    comparison.by_metric().into_iter().map(group).collect()
}

fn cells(comparison: &Comparison<'_>, row: &Row, factor: f64) -> Vec<String> {
    let mut cells = sides(comparison, row, factor);
    cells.extend([p_value(row.p_corrected), verdict(row)]);
    cells
}

/// A verdict; where no difference was shown, with the change that would have been.
fn verdict(row: &Row) -> String {
    if row.verdict != Verdict::NotShown {
        return row.verdict.words().to_owned();
    }
    let (below, above) = row.shown_from;
    match 100.0 * (above - 1.0).max(1.0 - below) {
        change if !change.is_finite() => "not shown (unbounded)".to_owned(),
        change if change < 9.95 => format!("not shown (±{change:.1} %)"),
        change => format!("not shown (±{change:.0} %)"),
    }
}

fn legend(comparison: &Comparison<'_>, room: Room) -> String {
    let corrected = match comparison.rows.len() {
        1 => "the verdict is a test at 5 %".to_owned(),
        rows => format!("p values and verdicts are corrected for all {} rows (Holm, 5 %)", count(rows as u64)),
    };
    let mut text = format!("B/A is the candidate over the baseline. Each interval covers its own row; {corrected}.");
    if let Some(how) = comparison.in_turns() {
        text = format!("{how} {text}");
    }
    if comparison.rows.iter().any(|row| row.verdict == Verdict::NotShown) {
        text.push_str(
            " Where no difference is shown, one may still exist; brackets give the observed change that would have been shown.",
        );
    }
    if let Some(estimands) = comparison.estimands_of_rows() {
        text.push_str(&format!(" {estimands}"));
    }
    format!("\n{}", paragraph(&text, room))
}
