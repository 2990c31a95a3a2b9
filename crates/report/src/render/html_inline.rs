//! Running text and quantities as HTML.

use super::quantity::{in_brackets, in_text};
use crate::blocks::{Detail, Inline, Numbering};
pub(super) use crate::charts::escape as quoted;
use crate::numbers::{PrintedQuantity, count};
use proofload_analysis::quantity::Quantity;

/// Running text.
pub(super) fn prose(pieces: &[Inline], numbering: &Numbering) -> String {
    pieces.iter().map(|piece| inline(piece, numbering)).collect()
}

fn inline(piece: &Inline, numbering: &Numbering) -> String {
    match piece {
        Inline::Text(text) => unbroken(&quoted(text)),
        Inline::Term(text, name, definition) => format!(
            "<a class=\"term\" href=\"#{}\" title=\"{}\">{}</a>",
            term_id(name),
            quoted(definition),
            quoted(text)
        ),
        Inline::Datum(text) => unbroken(&quoted(text)),
        Inline::Code(text) => format!("<code>{}</code>", quoted(text)),
        Inline::Strong(pieces) => format!("<strong>{}</strong>", prose(pieces, numbering)),
        Inline::Quantity(quantity, words, detail) => quantity_text(quantity, *words, *detail),
        Inline::Count(number) => format!("<span class=\"q\">{}</span>", count(*number)),
        Inline::Reference(id) => match numbering.label(id) {
            Some(label) if label.starts_with(|letter: char| letter.is_ascii_digit()) => {
                format!("<a href=\"#{id}\">section {label}</a>")
            }
            Some(label) => format!("<a href=\"#{id}\">{label}</a>"),
            None => format!("<a href=\"#{id}\">appendix</a>"),
        },
    }
}

/// Place of a term in the list of terms.
pub(super) fn term_id(name: &str) -> String {
    let letter = |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '-' };
    format!("term-{}", name.chars().map(letter).collect::<String>())
}

/// No line ends between a number and its per cent sign.
fn unbroken(text: &str) -> String {
    text.replace(" %", "\u{a0}%")
}

/// Value, unit, then interval and sample size, smaller, as far as they are wanted.
fn quantity_text(quantity: &Quantity, words: Option<&'static str>, detail: Detail) -> String {
    let (shown, value) = in_text(quantity, words, detail, "\u{a0}");
    let value = format!("<span class=\"q\">{}</span>", quoted(&value));
    match in_brackets(&shown, detail, " ") {
        Some(support) => format!("{value} <span class=\"ci\"{}>{support}</span>", reason(&shown)),
        None => value,
    }
}

/// Why there is no interval, for those who point at it.
pub(super) fn reason(shown: &PrintedQuantity) -> String {
    shown.missing.as_ref().map(|why| format!(" title=\"no interval: {}\"", quoted(why))).unwrap_or_default()
}
