//! A comparison as a document: what differs, the rows, what was left out. For Markdown and HTML.

pub(super) mod opening;
pub(super) mod queries;

use super::document::date;
use crate::blocks::{
    Block, Cell, Column, Document, Inline, Notice, Prose, SectionBlocks, SectionPlace, Table, cells, columns, prose,
};
use crate::findings::comparison::{Comparison, Difference, Gate, GateOutcome, NamedRecord, Row, Verdict, Which};
use crate::findings::setting_title;
use crate::workloads::workload;
use opening::opening;

/// Longer tables of differences are folded.
const MOST_DIFFERENCES: usize = 12;

/// A comparison as a document; with what a gate says of it, where one was asked.
pub(crate) fn comparison_document(comparison: &Comparison<'_>, gate: Option<&Gate>) -> Document {
    let section = |id, title, blocks| SectionBlocks { id, title, level: 2, place: SectionPlace::Front, blocks };
    let records = [Which::Baseline, Which::Candidate].map(|which| imprint(which, comparison.named(which))).to_vec();
    let mut sections = Vec::new();
    if let Some(gate) = gate {
        sections.push(section("gate", "Gate", gate_blocks(gate)));
    }
    sections.push(section("comparisons", "Comparisons", rows(comparison, gate)));
    if let Some(figure) = queries::figure(comparison) {
        sections.push(section("queries", "Query by query", vec![figure]));
    }
    sections.push(section("differences", "What else differs", differences(comparison)));
    let left_out = left_out(comparison);
    if !left_out.is_empty() {
        sections.push(section("left-out", "Not compared", vec![Block::List(left_out)]));
    }
    sections.push(section("records", "The two records", vec![Block::KeyValues(records)]));
    Document {
        title: title(comparison),
        subtitle: prose!["Comparison: candidate B against baseline A"],
        logo: String::new(),
        opening: opening(comparison, gate),
        sections,
        foot: workload(&comparison.baseline.record.study.settings).foot,
    }
}

/// The titles of both studies, those of the files where they are equal.
fn title(comparison: &Comparison<'_>) -> String {
    let of = |which| comparison.named(which).record.study.title();
    match (of(Which::Candidate), of(Which::Baseline)) {
        (same, other) if same == other => {
            format!("{same}: {} against {}", comparison.candidate.file, comparison.baseline.file)
        }
        (candidate, baseline) => format!("{candidate} against {baseline}"),
    }
}

fn imprint(which: Which, named: &NamedRecord<'_>) -> (Prose, Prose) {
    let record = named.record;
    let program = record.sessions.first().map_or_else(String::new, |session| session.program.clone());
    let name = match which {
        Which::Baseline => "A, baseline",
        Which::Candidate => "B, candidate",
    };
    let code = |text: &str| Inline::Code(text.to_owned());
    let words = prose! {
        code(&named.file), ", study ", code(record.study.name()), ", ", date(record.created), ", ", program,
        ", SHA-256 ", code(&named.sha256)
    };
    (prose![name], words)
}

fn gate_blocks(gate: &Gate) -> Vec<Block> {
    let word = match (gate.outcome, gate.passes) {
        (GateOutcome::Undecided, true) => "passed, undecided",
        (outcome, _) => outcome.word(),
    };
    let mut blocks = vec![Block::Lead(vec![Inline::Strong(prose![word])])];
    if !gate.reasons.is_empty() {
        blocks.push(Block::List(gate.reasons.iter().map(|reason| prose![reason.clone()]).collect()));
    }
    blocks
}

fn differences(comparison: &Comparison<'_>) -> Vec<Block> {
    if comparison.differences.is_empty() {
        return vec![Block::Paragraph(prose!["No setting, version or fact differs."])];
    }
    let told = |value: &Option<String>| match value {
        Some(value) => Cell::datum(value.clone()),
        None => Cell::Prose(prose!["not set or not recorded"]),
    };
    let points = |difference: &Difference| match difference.points.len() {
        0 => Cell::Empty,
        all if all == comparison.pairs.len() => Cell::Prose(prose!["all points"]),
        _ => Cell::datum(difference.points.join("; ")),
    };
    let row = |difference: &Difference| {
        let name = Cell::code(difference.name.clone());
        vec![name, points(difference), told(&difference.baseline), told(&difference.candidate)]
    };
    let table = Block::Table(Table {
        id: "table-differences",
        caption: prose!["What else differs between A and B."],
        columns: ["Setting, version or fact", "Points", "A", "B"].map(Column::words).to_vec(),
        rows: comparison.differences.iter().map(row).collect(),
        ..Table::default()
    });
    match comparison.differences.len() {
        many if many > MOST_DIFFERENCES => {
            vec![Block::Fold(prose![many, " settings, versions and facts differ"], vec![table])]
        }
        _ => vec![table],
    }
}

fn rows(comparison: &Comparison<'_>, gate: Option<&Gate>) -> Vec<Block> {
    let mut blocks: Vec<Block> = comparison
        .warnings
        .iter()
        .map(|warning| Block::Notice(Notice::Caution, prose![warning.clone(), "."]))
        .collect();
    if comparison.rows.is_empty() {
        blocks.push(Block::Notice(Notice::Gap, prose!["nothing could be compared."]));
        return blocks;
    }
    let titles: Vec<String> = comparison.factors.iter().map(|setting| setting_title(setting)).collect();
    let first = if titles.is_empty() { "Point".to_owned() } else { titles.join(", ") };
    let mut columns = columns![words(first)];
    columns.extend(["Metric", "A", "B", "B/A", "Estimand", "p, corrected", "Verdict"].map(Column::words));
    if gate.is_some() {
        columns.extend(["Limit of B/A", "Finding"].map(Column::words));
    }
    let rows = comparison.rows.iter().enumerate().map(|(place, row)| {
        let mut cells = row_cells(comparison, row);
        if let Some(judged) = gate.and_then(|gate| gate.rows.iter().find(|judged| judged.row == place)) {
            cells.extend([Cell::datum(format!("{:.3}", judged.limit)), Cell::Prose(prose![judged.finding.word()])]);
        }
        cells
    });
    blocks.push(Block::Table(Table {
        id: "table-comparisons",
        caption: prose!["Every metric of every pair of points."],
        columns,
        rows: rows.collect(),
        note: note(comparison),
    }));
    blocks
}

fn row_cells(comparison: &Comparison<'_>, row: &Row) -> Vec<Cell> {
    cells! {
        comparison.label(row.pair), row.metric.title.clone(), Cell::Prose(prose![&row.baseline]),
        Cell::Prose(prose![&row.candidate]), Cell::Prose(prose![&row.ratio]),
        comparison.estimands(row).map_or(Cell::Empty, Cell::datum),
        if row.p_corrected < 0.000_95 { "<0.001".to_owned() } else { format!("{:.3}", row.p_corrected) },
        Cell::Prose(verdict(row))
    }
}

/// A verdict; where no difference was shown, with the ratios that would have been.
fn verdict(row: &Row) -> Prose {
    let (below, above) = row.shown_from;
    match row.verdict {
        Verdict::NotShown if below > 0.0 && above.is_finite() => {
            prose![format!("no difference shown; ratios up to {below:.3} or from {above:.3} would have been")]
        }
        Verdict::NotShown => prose! {
            "no difference shown; the samples are too few to say which difference would have been"
        },
        shown => vec![Inline::Strong(prose![shown.words()])],
    }
}

fn note(comparison: &Comparison<'_>) -> Prose {
    let how = comparison.in_turns().map_or_else(String::new, |how| format!("{how} "));
    let corrected = match comparison.rows.len() {
        1 => prose!["The verdict is a test at 5 %. "],
        rows => prose!["p values and verdicts are corrected for all ", rows, " rows (Holm, 5 %). "],
    };
    let lead = prose![how, "B/A is candidate divided by baseline; each 95 % confidence interval covers its own row. "];
    [lead, corrected, prose!["Where no difference is shown, one may still exist."]].concat()
}

fn left_out(comparison: &Comparison<'_>) -> Vec<Prose> {
    let described = |pair: usize| comparison.described(pair).to_owned();
    let mut items = Vec::new();
    for void in &comparison.void {
        let (label, letter) = (described(void.pair), void.which.letter());
        items.push(prose![label, ": ", void.verdict, " in ", letter, ": ", void.reasons.join("; ")]);
    }
    for (pair, which) in &comparison.alone {
        items.push(prose![described(*pair), ": only ", which.letter(), " has it"]);
    }
    for left in &comparison.left_out {
        items.push(prose![left.metric.title.clone(), " at ", described(left.pair), ": ", left.why.clone()]);
    }
    items
}
