//! The paper as one Typst file: a template, and the paper's content as one value, so that no text of a record is ever read as markup.

use super::blocks::{blocks, figure_value};
use super::inline::{prose, shown};
use super::layout::Layout;
use crate::Appendix;
use crate::blocks::{Document, Opening, OpeningState, Prose, SectionBlocks, SectionPlace};
use proofload_model::time::WallTime;
use serde_json::{Value, json};

/// How the content is set, without any of it.
const TEMPLATE: &str = include_str!("paper.typ");

/// Version of the content's form, for those who read it from a source.
const FORM: u32 = 1;

/// What a paper on sheets says of its record.
#[derive(Debug, Clone, Copy)]
pub(crate) struct About<'a> {
    /// Name of the study.
    pub(crate) study: &'a str,
    /// SHA-256 of the record's file; empty where it is not known.
    pub(crate) sha256: &'a str,
    /// When the record was made: the date of the paper.
    pub(crate) created: WallTime,
}

/// Renders a document.
pub(crate) fn typst(document: &Document, about: About<'_>, appendix: Appendix) -> String {
    let content = content(document, about, appendix).to_string();
    format!(
        "// A paper made by Proofload; typst compile --pdf-standard ua-1 FILE makes a PDF of it.\n\
         #let paper = json(bytes({}))\n\n{TEMPLATE}",
        literal(&content)
    )
}

/// A string of Typst's code.
fn literal(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn content(document: &Document, about: About<'_>, appendix: Appendix) -> Value {
    let layout = Layout::of(document, appendix);
    let (rest, paper): (Vec<&SectionBlocks>, Vec<&SectionBlocks>) =
        document.sections.iter().partition(|section| section.place == SectionPlace::Appendix);
    let sections = |sections: &[&SectionBlocks]| -> Vec<Value> {
        sections.iter().filter(|one| layout.shows(one)).map(|one| section(one, &layout)).collect()
    };
    let left_out: Vec<&str> =
        if layout.is_full() { Vec::new() } else { rest.iter().map(|section| section.title).collect() };
    json!({
        "form": FORM, "title": shown(&document.title), "author": concat!("Proofload ", env!("CARGO_PKG_VERSION")),
        "date": date(about.created), "study": shown(about.study), "sha256": about.sha256,
        "subtitle": prose(&document.subtitle, &layout), "opening": opening(&document.opening, &layout),
        "sections": sections(&paper), "appendix": sections(&rest), "left_out": left_out, "foot": document.foot,
    })
}

/// Year to second, UTC; null outside of the calendar.
fn date(at: WallTime) -> Value {
    let Ok(stamp) = jiff::Timestamp::from_microsecond(at.0) else { return Value::Null };
    let at = stamp.to_zoned(jiff::tz::TimeZone::UTC);
    json!({
        "year": at.year(), "month": at.month(), "day": at.day(),
        "hour": at.hour(), "minute": at.minute(), "second": at.second(),
    })
}

fn opening(opening: &Opening, layout: &Layout) -> Value {
    let (mark, state) = match opening.state {
        OpeningState::Good => ("✓", "good"),
        OpeningState::Partial => ("!", "partial"),
        OpeningState::Void => ("✗", "void"),
    };
    let claim = |(name, claim): &(&str, Prose)| json!([name, prose(claim, layout)]);
    json!({
        "mark": mark, "state": state, "verdict": prose(&opening.verdict, layout),
        "answer": prose(&opening.answer, layout), "claims": opening.claims.iter().map(claim).collect::<Vec<_>>(),
        "figure": opening.figure.as_ref().map(|figure| figure_value(figure, layout)),
    })
}

fn section(section: &SectionBlocks, layout: &Layout) -> Value {
    let number = layout.numbering.label(section.id).unwrap_or_default().trim_start_matches("appendix ");
    json!({
        "id": section.id, "number": number, "title": section.title, "level": section.level.clamp(2, 3) - 1,
        "blocks": blocks(&section.blocks, layout),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_literal_ends_where_its_text_does() {
        assert_eq!(literal("a\"#b\\\"c\\"), r##""a\"#b\\\"c\\""##);
    }
}
