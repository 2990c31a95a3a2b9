//! Running text as values: a list of pieces, each a list of its kind and its texts.

use super::layout::Layout;
use crate::blocks::{Detail, Inline};
use crate::numbers::count;
use crate::render::quantity::{in_brackets, in_text};
use proofload_analysis::quantity::Quantity;
use proofload_model::letters::is_steering;
use serde_json::{Value, json};

/// Running text.
pub(super) fn prose(pieces: &[Inline], layout: &Layout) -> Value {
    pieces.iter().map(|piece| inline(piece, layout)).collect()
}

fn inline(piece: &Inline, layout: &Layout) -> Value {
    match piece {
        Inline::Text(text) | Inline::Term(text, ..) => words(text),
        Inline::Datum(text) => words(text),
        Inline::Code(text) => json!(["code", shown(text)]),
        Inline::Strong(pieces) => json!(["strong", prose(pieces, layout)]),
        Inline::Quantity(quantity, words, detail) => quantity_text(quantity, *words, *detail),
        Inline::Count(number) => words(&count(*number)),
        Inline::Reference(id) => reference(id, layout),
    }
}

/// Words; no line ends between a number and its per cent sign.
fn words(text: &str) -> Value {
    json!(["text", shown(text).replace(" %", "\u{a0}%")])
}

/// A link to a part that is in this paper; else its name alone.
fn reference(id: &str, layout: &Layout) -> Value {
    let label = match layout.numbering.label(id) {
        Some(label) if label.starts_with(|letter: char| letter.is_ascii_digit()) => format!("section\u{a0}{label}"),
        Some(label) => label.replace(' ', "\u{a0}"),
        None => "appendix".to_owned(),
    };
    if layout.has(id) { json!(["link", id, label]) } else { json!(["text", label]) }
}

/// Value with its unit, then what stands behind it, smaller.
fn quantity_text(quantity: &Quantity, words: Option<&'static str>, detail: Detail) -> Value {
    let (shown, value) = in_text(quantity, words, detail, "\u{a0}");
    json!(["quantity", value, in_brackets(&shown, detail, "\u{a0}").unwrap_or_default()])
}

/// A text as it may be shown: ends of lines and tabs become spaces, other letters that steer are left out.
pub(super) fn shown(text: &str) -> String {
    let letter = |letter: char| match letter {
        '\n' | '\t' => Some(' '),
        steering if is_steering(steering) => None,
        other => Some(other),
    };
    text.chars().filter_map(letter).collect()
}

/// A text of several lines as it may be shown.
pub(super) fn shown_lines(text: &str) -> String {
    text.lines().map(shown).collect::<Vec<_>>().join("\n")
}
