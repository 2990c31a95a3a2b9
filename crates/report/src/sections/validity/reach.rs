//! How far the interval of each valid point reaches: what recurs in its windows, whether means vary less over longer times, and the
//! movement that is left open. Judges nothing.

use crate::blocks::{Block, Notice, Prose, prose};
use crate::findings::{Findings, PointFindings, WindowReach, may_be_narrow, reach};
use crate::numbers::{count, short};
use proofload_analysis::reach::{ENOUGH_RECURRENCES, Recurrence, RecurrenceKind};
use proofload_model::units::duration_words;
use std::time::Duration;

/// A sentence for each valid point, folded, after a warning for those whose interval may be too narrow.
pub(crate) fn blocks(findings: &Findings<'_>) -> Vec<Block> {
    let told = told(findings);
    if told.is_empty() {
        return Vec::new();
    }
    let mut blocks: Vec<Block> = warning(&told).into_iter().collect();
    let lines = told.iter().map(|(point, windows)| prose![format!("{}: {}.", point.label(), sentence(windows))]);
    let title = prose!["How far the interval of each point reaches"];
    blocks.push(Block::Fold(title, vec![Block::List(lines.collect())]));
    blocks
}

/// What the first screen says where intervals may be too narrow; nothing elsewhere.
pub(crate) fn doubt(findings: &Findings<'_>) -> Prose {
    let told = told(findings);
    match (told.iter().filter(|(_, windows)| may_be_narrow(windows)).count(), told.len()) {
        (0, _) => Prose::new(),
        (_, 1) => prose!["Its interval may be too narrow for longer times: throughput varied slowly. "],
        (narrow, all) => prose! {
            "At ", narrow, " of ", all,
            " points the interval may be too narrow for longer times: throughput varied slowly. "
        },
    }
}

/// Valid points with their windows; a point that is rated whole has none.
fn told<'f>(findings: &'f Findings<'_>) -> Vec<(&'f PointFindings, Vec<&'f WindowReach>)> {
    let windows = |point: &PointFindings| -> Vec<&'f WindowReach> {
        point.runs.iter().filter_map(|run| reach(findings, run)).collect()
    };
    let each = findings.valid().map(|point| (point, windows(point)));
    each.filter(|(_, windows)| !windows.is_empty()).collect()
}

fn warning(told: &[(&PointFindings, Vec<&WindowReach>)]) -> Option<Block> {
    let narrow = told.iter().filter(|(_, windows)| may_be_narrow(windows));
    let names: Vec<String> = narrow.map(|(point, _)| point.label()).collect();
    (!names.is_empty()).then(|| {
        Block::Notice(
            Notice::Caution,
            prose! {
                "means of throughput vary nearly as much over a tenth of the window as over half of that, so the \
                 interval may be too narrow for longer times (repetitions spread over hours would tell): ",
                names.join(", "), "."
            },
        )
    })
}

/// What holds for all windows of a point, as the worst of them has it.
fn sentence(windows: &[&WindowReach]) -> String {
    let slowest: Option<Vec<&Recurrence>> = windows.iter().map(|window| window.slowest()).collect();
    let slowest = slowest.and_then(|all| all.into_iter().min_by_key(|recurrence| recurrence.count));
    let mut text = slowest.map_or_else(
        || "recurrence unknown: the interval is of this window".to_owned(),
        |slowest| recurrence(slowest, windows.len()),
    );
    if may_be_narrow(windows) {
        text.push_str("; throughput varied slowly: the interval may be too narrow for longer times");
    }
    let largest = windows.iter().filter_map(|window| window.movement).max_by(f64::total_cmp);
    if let Some(movement) = largest {
        let percent = short((1_000.0 * movement).ceil() / 10.0);
        text.push_str(&format!("; a movement of up to {percent} % over the window cannot be excluded"));
    }
    text
}

fn recurrence(slowest: &Recurrence, windows: usize) -> String {
    let holds = if windows == 1 { "holds" } else { "each window holds at least" };
    let times = if slowest.count == 1 { "recurrence" } else { "recurrences" };
    let what = match slowest.of {
        RecurrenceKind::Checkpoints => "checkpoints",
        RecurrenceKind::Throughput => "of throughput itself",
    };
    let period = slowest.period.filter(|period| *period >= 1.0);
    let every = period.map(|period| format!(", one every {}", duration_words(Duration::from_secs_f64(period.round()))));
    let few = if slowest.count < ENOUGH_RECURRENCES { ", fewer than 10: the interval is of this window" } else { "" };
    format!("{holds} {} {times} ({what}{}){few}", count(slowest.count), every.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(recurrences: Vec<Recurrence>, variance_ratio: f64, movement: f64) -> WindowReach {
        WindowReach { recurrences, variance_ratio: Some(variance_ratio), movement: Some(movement) }
    }

    #[test]
    fn sentences_say_what_recurs_what_is_slow_and_what_is_not_excluded() {
        let checkpoints = |count: u64| Recurrence { of: RecurrenceKind::Checkpoints, count, period: Some(30.0) };
        let unknown = window(Vec::new(), 0.5, 0.0301);
        assert_eq!(
            sentence(&[&unknown]),
            "recurrence unknown: the interval is of this window; a movement of up to 3.1 % over the window cannot be excluded"
        );
        let often = window(vec![checkpoints(12)], 0.75, 0.02);
        assert_eq!(
            sentence(&[&often]),
            "holds 12 recurrences (checkpoints, one every 30 s); a movement of up to 2 % over the window cannot be excluded"
        );
        let rarely = WindowReach { movement: None, ..window(vec![checkpoints(1)], 0.9, 0.0) };
        assert_eq!(
            sentence(&[&often, &rarely]),
            "each window holds at least 1 recurrence (checkpoints, one every 30 s), fewer than 10: the interval is of this window; \
             throughput varied slowly: the interval may be too narrow for longer times; a movement of up to 2 % over the window \
             cannot be excluded"
        );
        let text = sentence(&[&often, &unknown]);
        assert!(text.starts_with("recurrence unknown"), "one of the windows is: {text}");
    }

    /// Throughput that rises and falls once over the window.
    #[test]
    fn slow_throughput_is_warned_of_and_doubted_on_the_first_screen() {
        let stored = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/records/format-4-memory.proof");
        let record = proofload_record::read(std::path::Path::new(stored)).expect("the record is read");
        assert!(doubt(&crate::findings::evaluate(&record)).is_empty(), "six seconds tell nothing");
        let mut findings = crate::findings::evaluate(&record);
        for run in findings.points.iter_mut().flat_map(|point| &mut point.runs) {
            run.per_second =
                (0..400).map(|t| 100.0 + 20.0 * (std::f64::consts::PI * f64::from(t) / 400.0).sin()).collect();
            let window = run.window.as_mut().expect("it was measured");
            (window.from, window.to) = (0, 400);
        }
        assert!(!doubt(&findings).is_empty());
        let blocks = blocks(&findings);
        assert!(matches!(blocks.as_slice(), [Block::Notice(Notice::Caution, _), Block::Fold(..)]), "{}", blocks.len());
    }
}
