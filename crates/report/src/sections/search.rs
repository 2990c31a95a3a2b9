//! The search: its answer or why there is none, and its path point by point.

use super::charts::verdict_cell;
use crate::blocks::{Block, Cell, Column, Inline, Notice, Prose, Table, TableOf, prose};
use crate::findings::{ChosenLoad, Findings, SearchFindings, SearchState, SentencePart, setting_title};
use crate::metrics::{RESPONSE_P99, THROUGHPUT};
use proofload_model::study::Goal;

/// Longer paths are folded; the table of results has their points, too.
const MOST_STEPS: usize = 6;

pub(super) fn render(findings: &Findings<'_>) -> Vec<Block> {
    let Some(first) = findings.searches.first() else { return Vec::new() };
    let mut blocks = vec![Block::Paragraph(how(findings, first))];
    blocks.extend(findings.searches.iter().map(answer));
    let table = Block::Table(path(findings, first));
    let steps: usize = findings.searches.iter().map(|search| search.path.len()).sum();
    blocks.push(match steps > MOST_STEPS {
        true => Block::Fold(prose!["The path: ", steps, " steps, and why each was chosen"], vec![table]),
        false => table,
    });
    blocks
}

/// What was asked and how it was looked for.
fn how(findings: &Findings<'_>, search: &SearchFindings) -> Prose {
    let asked = &search.asked;
    let ends = [&asked.from, &asked.to].map(|end| proofload_model::study::load_of(end).unwrap_or(f64::NAN));
    let [from, to] = ends.map(|end| search.load(end));
    let mut text = prose! {
        "The study searched ", setting_title(&asked.setting), " from ", from, " to ", to, " for the ", search.goal(),
        ". Each point was chosen from the results before it. The load rose by equal ratios until it passed the answer. \
         Then the remaining range was narrowed until it was no wider than ",
        crate::numbers::short(100.0 * asked.resolution), " % of the load, or until all of at most ", asked.points,
        " measurements were used."
    };
    if findings.searches.len() > 1 {
        text.extend(prose![" This was done for each of ", findings.searches.len(), " combinations of levels."]);
    }
    if let Goal::Percentile { .. } = asked.goal {
        text.extend(prose![" An overloaded point never meets the limit, regardless of its response times."]);
    }
    text
}

/// The answer of one search.
fn answer(search: &SearchFindings) -> Block {
    let mut text = Prose::new();
    if !search.label.is_empty() {
        text.push(Inline::Strong(prose![search.label.clone(), ": "]));
    }
    text.extend(sentence(search));
    if search.found().is_some() {
        return Block::Paragraph(text);
    }
    let notice = if matches!(search.state, SearchState::Ended(_)) { Notice::Caution } else { Notice::Gap };
    Block::Notice(notice, text)
}

/// The answer, or why there is none, with its numbers.
pub(super) fn sentence(search: &SearchFindings) -> Prose {
    let inline = |told: SentencePart| match told {
        SentencePart::Words(words) => Inline::from(words),
        SentencePart::Number(quantity) => Inline::from(*quantity),
    };
    search.told().into_iter().map(inline).collect()
}

/// The points of every search in the order in which they were chosen.
fn path(findings: &Findings<'_>, first: &SearchFindings) -> Table {
    let several = findings.searches.len() > 1;
    let measure = match &first.asked.goal {
        Goal::Max { .. } => Column::quantities(THROUGHPUT.title, THROUGHPUT.unit),
        Goal::Percentile { statistic, .. } => {
            Column::quantities(format!("{}, {statistic}", RESPONSE_P99.axis), RESPONSE_P99.axis_unit)
        }
    };
    let rows =
        findings.searches.iter().flat_map(|search| search.path.iter().enumerate().map(move |step| (search, step)));
    let caption = prose!["Path of the search: its points in the order in which they were chosen."];
    TableOf::new("table-search", caption, rows)
        .words("Step", |(_, (step, _))| step + 1)
        .when(several, |table| table.words("With", |(search, _)| search.label.clone()))
        .words(super::charts::capital(&setting_title(&first.asked.setting)), |(search, (_, chosen))| {
            search.load(chosen.load)
        })
        .words("Chosen because", |(_, (_, chosen))| chosen.whys.join("; "))
        .column(measure, |(search, (_, chosen))| match &search.asked.goal {
            Goal::Max { .. } => chosen.value.clone(),
            Goal::Percentile { .. } => super::charts::milliseconds(chosen.value.clone()),
        })
        .when(first.is_side_by_side(), |table| {
            table.quantities("Share of the largest, side by side", "", |(_, (_, chosen))| chosen.of_largest.clone())
        })
        .words("Verdict", |(search, (_, chosen))| verdict(search, chosen, &findings.points[chosen.point]))
        .table()
}

/// Whether a point keeps the limit, or whether it is a result at all.
fn verdict(search: &SearchFindings, chosen: &ChosenLoad, point: &crate::findings::PointFindings) -> Cell {
    let Goal::Percentile { at_most, .. } = &search.asked.goal else {
        return verdict_cell(point);
    };
    match &chosen.value {
        _ if !point.verdict.is_valid() => Cell::Verdict(false, point.verdict.word()),
        _ if point.overload().is_some() => Cell::Verdict(false, "overloaded"),
        Ok(value) if value.value() <= at_most.as_nanos() as f64 => Cell::Verdict(true, "kept"),
        Ok(_) => Cell::Verdict(false, "broken"),
        Err(_) => Cell::Verdict(false, "unknown"),
    }
}
