//! The first screen of a comparison: which of the two is better in what, and the ratios as a figure.

use crate::blocks::{
    Axis, Cell, Chart, DotRows, Figure, Group, Inline, Opening, OpeningState, Prose, Table, cells, columns, prose,
};
use crate::findings::comparison::{Comparison, Gate, GateOutcome, Row, Verdict, contention_words};
use crate::numbers::short;

/// Rows that the figure shows.
const DRAWN: usize = 24;

/// Rows that a sentence names.
const NAMED: usize = 3;

/// The first screen.
pub(crate) fn opening(comparison: &Comparison<'_>, gate: Option<&Gate>) -> Opening {
    let main = main_rows(comparison);
    let (state, verdict) = verdict(comparison, gate);
    let others = comparison.rows.iter().filter(|row| !main.iter().any(|known| std::ptr::eq(*known, *row)));
    let checked = contention_words(&comparison.checks).map(|words| prose![words, " "]).unwrap_or_default();
    let all = [
        ("Duets with known ratios", checked),
        ("What differs", shown(comparison, others.clone().filter(|row| row.verdict != Verdict::NotShown))),
        ("Where no difference is shown", not_shown(comparison, &main)),
        ("What else differs", other_differences(comparison)),
        ("How sure", sure(comparison)),
    ];
    let claims = all.into_iter().filter(|(_, text)| !text.is_empty()).collect();
    // Before any other figure, which would be taken for that of throughput.
    let missing = comparison.throughput_missing().map(|words| prose![words, " "]).unwrap_or_default();
    let answer = [missing, answer(comparison, &main)].concat();
    Opening { state, verdict, answer, claims, figure: figure(comparison, gate) }
}

/// Rows of the metric that is compared first: of throughput, unless it could not be compared.
fn main_rows<'c>(comparison: &'c Comparison<'_>) -> Vec<&'c Row> {
    let Some(first) = comparison.rows.first() else { return Vec::new() };
    comparison.rows.iter().filter(|row| row.metric.key == first.metric.key).collect()
}

fn verdict(comparison: &Comparison<'_>, gate: Option<&Gate>) -> (OpeningState, Prose) {
    if let Some(gate) = gate {
        let standing = if gate.passes { OpeningState::Good } else { OpeningState::Void };
        let word = match (gate.outcome, gate.passes) {
            (GateOutcome::Undecided, true) => "passed, undecided",
            (outcome, _) => outcome.word(),
        };
        let reason = gate.reasons.first().map(|reason| prose![reason.clone(), ". "]).unwrap_or_default();
        return (standing, [vec![Inline::Strong(prose!["Gate: ", word, ". "])], reason].concat());
    }
    if comparison.rows.is_empty() {
        let left = comparison.void.len() + comparison.left_out.len() + comparison.alone.len();
        let text = prose![Inline::Strong(prose!["Nothing could be compared. "]), left, " reasons are listed below. "];
        return (OpeningState::Void, text);
    }
    let differ = comparison.rows.iter().filter(|row| row.verdict != Verdict::NotShown).count();
    let text = prose![
        Inline::Strong(prose! {
            comparison.rows.len(), if comparison.rows.len() == 1 { " comparison. " } else { " comparisons. " }
        }),
        differ,
        if differ == 1 { " shows a difference. " } else { " show a difference. " }
    ];
    let is_whole = comparison.void.is_empty() && comparison.throughput_missing().is_none();
    (if is_whole { OpeningState::Good } else { OpeningState::Partial }, text)
}

/// What is said of the metric that is compared first, as strong as the corrected tests allow.
fn answer(comparison: &Comparison<'_>, main: &[&Row]) -> Prose {
    let Some(first) = main.first() else { return Prose::new() };
    let shown: Vec<&&Row> = main.iter().filter(|row| row.verdict != Verdict::NotShown).collect();
    let one = comparison.pairs.len() == 1;
    if shown.is_empty() {
        let change = main.iter().map(|row| change(row)).fold(0.0, f64::max);
        let bound = if change.is_finite() {
            prose!["; a difference of ", short(change.round()), " % or more would have been shown at every point"]
        } else {
            Prose::new()
        };
        let lead = prose!["No difference between A and B is shown in ", first.metric.title.clone()];
        return [lead, bound, prose![". "]].concat();
    }
    let mut text = Prose::new();
    for (number, row) in shown.iter().take(NAMED).enumerate() {
        let lead = if number == 0 { "B is " } else { "; " };
        let at = if one { String::new() } else { format!(" at {}", comparison.label(row.pair)) };
        text.extend(prose![lead, row.verdict.words(), at, ": ", Inline::brief(&row.ratio, "×"), " of A"]);
        if number == 0 {
            text.extend(prose![" in ", row.metric.title.clone()]);
        }
    }
    text.extend(prose![". "]);
    if shown.len() < main.len() {
        text.extend(prose!["At ", main.len() - shown.len(), " of ", main.len(), " points no difference is shown. "]);
    }
    text
}

/// The change that a row would have shown, %; infinite where its samples do not bound it.
fn change(row: &Row) -> f64 {
    let (below, above) = row.shown_from;
    100.0 * (above - 1.0).max(1.0 - below)
}

fn shown<'c>(comparison: &Comparison<'_>, rows: impl Iterator<Item = &'c Row>) -> Prose {
    let rows: Vec<&Row> = rows.collect();
    let mut text = Prose::new();
    for row in rows.iter().take(NAMED) {
        let lead = if text.is_empty() { "" } else { "; " };
        let ratio = Inline::ranged(&row.ratio, "×");
        text.extend(prose![lead, row.metric.title.clone(), " at ", comparison.label(row.pair).to_owned(), ": ", ratio]);
    }
    if rows.len() > NAMED {
        text.extend(prose!["; ", rows.len() - NAMED, " more below"]);
    }
    if text.is_empty() { text } else { [text, prose![". "]].concat() }
}

fn not_shown(comparison: &Comparison<'_>, main: &[&Row]) -> Prose {
    let hidden = comparison.rows.iter().filter(|row| row.verdict == Verdict::NotShown).count();
    if hidden == 0 {
        return Prose::new();
    }
    let main_hidden = main.iter().filter(|row| row.verdict == Verdict::NotShown).count();
    prose! {
        hidden, " of ", comparison.rows.len(), " rows, ", main_hidden,
        " of them of the first metric. A difference may still exist there. "
    }
}

fn other_differences(comparison: &Comparison<'_>) -> Prose {
    let names: Vec<String> = comparison.differences.iter().map(|difference| difference.name.clone()).collect();
    match names.as_slice() {
        [] => prose!["No setting, version or fact. "],
        few if few.len() <= NAMED => prose![few.join(", "), ". "],
        many => prose![many[..NAMED].join(", "), " and ", many.len() - NAMED, " more. "],
    }
}

fn sure(comparison: &Comparison<'_>) -> Prose {
    let turns = match comparison.in_turns() {
        Some(how) => prose![how.to_owned(), " "],
        None => prose!["A and B were not measured in turns, so the ratios include changes of the host between them. "],
    };
    let all = match comparison.rows.len() {
        1 => prose!["The verdict is a test at 5 %. "],
        rows => prose!["Verdicts are corrected for all ", rows, " rows (Holm, 5 %). "],
    };
    if comparison.rows.is_empty() { Prose::new() } else { [turns, all].concat() }
}

/// The tolerance of all rows, as a share; `None` where they have several.
fn one_tolerance(gate: &Gate) -> Option<f64> {
    let first = gate.rows.first()?.tolerance;
    gate.rows.iter().all(|row| row.tolerance == first).then_some(first)
}

/// Ratios with their intervals.
fn figure(comparison: &Comparison<'_>, gate: Option<&Gate>) -> Option<Figure> {
    let rows: Vec<&Row> = comparison.rows.iter().take(DRAWN).collect();
    if rows.is_empty() {
        return None;
    }
    let name = |row: &Row| match comparison.pairs.len() {
        1 => row.metric.title.clone(),
        _ => format!("{}, {}", comparison.label(row.pair), row.metric.title),
    };
    let group =
        |row: &&Row| Group { label: name(row), values: vec![Some((row.ratio.value(), row.ratio.drawn_bounds()))] };
    let told = |row: &&Row| format!("{} {}: {}", name(row), short(row.ratio.value()), row.verdict.words());
    let alt = format!("Dot chart of the ratio B/A. {}.", rows.iter().map(told).collect::<Vec<_>>().join("; "));
    let cells = |row: &&Row| cells![name(row), row.ratio.clone(), Cell::Prose(prose![row.verdict.words()])];
    let cut = comparison.rows.len() > DRAWN;
    let tolerance = gate.and_then(one_tolerance);
    Some(Figure {
        id: "figure-ratios",
        caption: prose![
            "Ratio B/A with the 95 % interval of each row; at the dashed line both are equal.",
            tolerance.map_or(String::new(), |share| format!(
                " Shaded: the gate's tolerance, {}\u{a0}%.",
                short(100.0 * share)
            )),
            if cut { " Only the first rows are shown." } else { "" }
        ],
        alt,
        chart: Chart::Dots(DotRows {
            axis: Axis::logarithmic("Ratio B/A", ""),
            names: vec![String::new()],
            rows: rows.iter().map(group).collect(),
            rule: Some(1.0),
            band: tolerance.map(|share| (1.0 - share, 1.0 + share)),
        }),
        data: Table {
            columns: columns![words("Row"), quantities("B/A", ""), words("Verdict")],
            rows: rows.iter().map(cells).collect(),
            ..Table::default()
        },
    })
}
