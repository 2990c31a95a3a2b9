//! Running text without any markup, for terminals and programs.

use super::quantity::in_text;
use super::text::{NARROWEST, plain as without_steering, wrapped_to};
use crate::blocks::{Detail, Inline, Opening, OpeningState, Prose};
use crate::numbers::count;
use proofload_analysis::quantity::Quantity;
use serde_json::{Map, Value, json};

/// Widest line of a terminal.
const WIDTH: usize = 80;

/// Running text as it is read; references to parts of a paper name the report.
pub(super) fn plain(pieces: &[Inline]) -> String {
    read(pieces, "see the report")
}

/// The same with the words for a reference to another part.
fn read(pieces: &[Inline], elsewhere: &'static str) -> String {
    let piece = |piece: &Inline| match piece {
        Inline::Text(text) | Inline::Term(text, ..) => (*text).to_owned(),
        Inline::Datum(text) | Inline::Code(text) => text.clone(),
        Inline::Strong(pieces) => read(pieces, elsewhere),
        Inline::Quantity(quantity, words, detail) => quantity_text(quantity, *words, *detail),
        Inline::Count(number) => count(*number),
        Inline::Reference(_) => elsewhere.to_owned(),
    };
    let text: String = pieces.iter().map(piece).collect();
    without_steering(&text).trim_end().to_owned()
}

fn quantity_text(quantity: &Quantity, words: Option<&'static str>, detail: Detail) -> String {
    let (shown, value) = in_text(quantity, words, detail, " ");
    match (detail, &shown.interval) {
        (Detail::Value, _) => value,
        (_, Some((low, high))) => format!("{value} [{low} to {high}]"),
        (_, None) => format!("{value} [no interval]"),
    }
}

/// The first screen for a terminal: title, verdict, answer, and what it rests on. Reasons stand below it.
pub(crate) fn opening_text(title: &str, opening: &Opening, terminal: Option<usize>) -> String {
    let wrapped = |text: &str| wrapped(terminal.map_or(WIDTH, |terminal| terminal.clamp(NARROWEST, WIDTH)), text);
    let mark = match opening.state {
        OpeningState::Good => "✓",
        OpeningState::Partial => "!",
        OpeningState::Void => "✗",
    };
    let text = |pieces: &[Inline]| read(pieces, "see below");
    let mut lines = wrapped(&without_steering(title));
    lines.extend(wrapped(&format!("{mark} {}", text(&opening.verdict))));
    if !opening.answer.is_empty() {
        lines.push(String::new());
        lines.extend(wrapped(&text(&opening.answer)));
    }
    if !opening.claims.is_empty() {
        lines.push(String::new());
    }
    for (name, claim) in &opening.claims {
        lines.extend(wrapped(&format!("{name}: {}", text(claim))));
    }
    lines.push(String::new());
    lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// Lines of a terminal's width; no line ends between a number and its per cent sign.
fn wrapped(width: usize, text: &str) -> Vec<String> {
    const HELD: &str = "\u{1f}%";
    let lines = wrapped_to(width, &text.replace(" %", HELD));
    lines.into_iter().map(|line| line.replace(HELD, " %")).collect()
}

/// The first screen for programs: words to show, never to parse.
pub(super) fn opening_json(opening: &Opening) -> Value {
    let state = match opening.state {
        OpeningState::Good => "good",
        OpeningState::Partial => "partial",
        OpeningState::Void => "void",
    };
    let claim = |(name, claim): &(&str, Prose)| (key(name), Value::from(plain(claim)));
    let claims: Map<String, Value> = opening.claims.iter().map(claim).collect();
    json!({
        "state": state, "verdict": plain(&opening.verdict), "answer": plain(&opening.answer), "claims": claims,
    })
}

/// `What broke first` as `what_broke_first`, without what stands in brackets.
fn key(name: &str) -> String {
    let name = name.split(" (").next().unwrap_or(name);
    name.to_lowercase().replace(' ', "_")
}
