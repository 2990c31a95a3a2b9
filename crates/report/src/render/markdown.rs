//! Markdown: the same paper as plain text with tables; charts are their description and their data.

use super::quantity::in_text;
use crate::blocks::{
    Align, Block, Cell, Detail, Document, Figure, Inline, Numbering, Opening, OpeningState, Prose, Table,
};
use crate::numbers::{PrintedQuantity, count, shown_as_is};
use proofload_analysis::quantity::Quantity;
use proofload_model::letters::is_steering;

/// Renders a document.
pub(crate) fn markdown(document: &Document) -> String {
    let numbering = Numbering::of(document);
    let mut page = format!("# {}\n\n{}\n\n", quoted(&document.title), prose(&document.subtitle, &numbering));
    page.push_str(&opening(&document.opening, &numbering));
    for section in &document.sections {
        let hashes = "#".repeat(usize::from(section.level.clamp(2, 3)));
        let number = numbering.label(section.id).map(|label| format!("{} ", label.replace("appendix", "Appendix")));
        let number = number.unwrap_or_default();
        page.push_str(&format!("\n{hashes} {number}{}\n\n", quoted(section.title)));
        page.push_str(&blocks(&section.blocks, &numbering));
    }
    while page.ends_with("\n\n") {
        page.pop();
    }
    page
}

/// The first screen.
fn opening(opening: &Opening, numbering: &Numbering) -> String {
    let mark = if opening.state == OpeningState::Void { "✗" } else { "✓" };
    let mut text = format!("{mark} {}\n\n", prose(&opening.verdict, numbering).trim_end());
    if !opening.answer.is_empty() {
        text.push_str(&format!("{}\n\n", strong(&prose(&opening.answer, numbering)).trim_end()));
    }
    for (name, claim) in &opening.claims {
        text.push_str(&format!("- **{name}**: {}\n", prose(claim, numbering)));
    }
    if !opening.claims.is_empty() {
        text.push('\n');
    }
    if let Some(figure) = &opening.figure {
        text.push_str(&figure_text(figure, numbering));
    }
    text
}

/// Text of a record, so that it can be neither markup nor HTML.
fn quoted(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '|' => escaped.extend(['\\', letter]),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '\n' | '\r' | '\t' => escaped.push(' '),
            steering if is_steering(steering) => {}
            other => escaped.push(other),
        }
    }
    escaped
}

/// A code span that holds any text: one more backtick than the text has in a row.
fn code_span(text: &str) -> String {
    let text: String = text.chars().map(|letter| if is_steering(letter) { ' ' } else { letter }).collect();
    let fence = "`".repeat(longest_run(&text) + 1);
    let padding = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{padding}{}{padding}{fence}", text.replace('|', "\\|"))
}

fn longest_run(text: &str) -> usize {
    text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0)
}

/// Bold text. Asterisks before a space close nothing. Source: CommonMark 0.31, section 6.2.
fn strong(text: &str) -> String {
    let bold = text.trim_end();
    format!("**{bold}**{}", &text[bold.len()..])
}

fn prose(pieces: &[Inline], numbering: &Numbering) -> String {
    let piece = |piece: &Inline| match piece {
        Inline::Text(text) | Inline::Term(text, ..) => quoted(text),
        Inline::Datum(text) => quoted(text),
        Inline::Code(text) => code_span(text),
        Inline::Strong(pieces) => strong(&prose(pieces, numbering)),
        Inline::Quantity(quantity, words, detail) => quantity_text(quantity, *words, *detail),
        Inline::Count(number) => count(*number),
        Inline::Reference(id) => match numbering.label(id) {
            Some(label) if label.starts_with(|letter: char| letter.is_ascii_digit()) => format!("section {label}"),
            Some(label) => label.to_owned(),
            None => "appendix".to_owned(),
        },
    };
    pieces.iter().map(piece).collect()
}

fn quantity_text(quantity: &Quantity, words: Option<&'static str>, detail: Detail) -> String {
    let (shown, value) = in_text(quantity, words, detail, " ");
    match (detail, &shown.interval) {
        (Detail::Value, _) => value,
        (Detail::Interval, Some((low, high))) => format!("{value} ({low} to {high})"),
        (Detail::Interval, None) => format!("{value} (no interval)"),
        (Detail::Whole, _) => format!("{value} {}", support(&shown)),
    }
}

fn support(shown: &PrintedQuantity) -> String {
    match &shown.interval {
        Some((low, high)) => format!("({low} to {high}; n = {})", shown.n),
        None => {
            let why = shown.missing.as_deref().unwrap_or("no reason was given");
            format!("(n = {}, no interval: {})", shown.n, quoted(why))
        }
    }
}

fn blocks(parts: &[Block], numbering: &Numbering) -> String {
    parts.iter().map(|part| block(part, numbering)).collect()
}

fn block(part: &Block, numbering: &Numbering) -> String {
    let text = |pieces: &[Inline]| prose(pieces, numbering);
    let pair = |(name, value): &(Prose, Prose)| format!("- **{}**: {}\n", text(name), text(value));
    match part {
        Block::Heading(pieces) => format!("#### {}\n\n", text(pieces)),
        Block::Paragraph(pieces) | Block::Lead(pieces) => format!("{}\n\n", text(pieces).trim_end()),
        Block::List(items) => items.iter().map(|item| format!("- {}\n", text(item))).collect::<String>() + "\n",
        Block::Steps(items) => {
            let numbered = items.iter().enumerate().map(|(index, item)| format!("{}. {}\n", index + 1, text(item)));
            numbered.collect::<String>() + "\n"
        }
        Block::Terms(terms) => {
            let item = |(name, definition): &(&str, &str)| format!("- **{}**: {}\n", quoted(name), quoted(definition));
            terms.iter().map(item).collect::<String>() + "\n"
        }
        Block::KeyValues(pairs) => pairs.iter().map(pair).collect::<String>() + "\n",
        Block::Table(table) => table_text(table, numbering),
        Block::Figure(figure) => figure_text(figure, numbering),
        Block::Notice(kind, pieces) => format!("> **{}:** {}\n\n", kind.word(), text(pieces)),
        Block::Code(label, body) => {
            let fence = "`".repeat((longest_run(body) + 1).max(3));
            format!("{}\n\n{fence}\n{}\n{fence}\n\n", text(label), body.trim_end())
        }
        Block::Fold(label, parts) => format!("**{}**\n\n{}", text(label), blocks(parts, numbering)),
    }
}

fn figure_text(figure: &Figure, numbering: &Numbering) -> String {
    format!(
        "**{}.** {}\n\n> {}\n\n{}",
        numbering.label(figure.id).unwrap_or("Figure"),
        prose(&figure.caption, numbering),
        quoted(&figure.alt),
        table_text(&figure.data, numbering)
    )
}

fn table_text(table: &Table, numbering: &Numbering) -> String {
    let mut text = String::new();
    if !table.caption.is_empty() {
        let label = numbering.label(table.id).map(|label| format!("**{label}.** ")).unwrap_or_default();
        text.push_str(&format!("{label}{}\n\n", prose(&table.caption, numbering)));
    }
    let heads = table.columns.iter().map(|column| {
        let unit = column.unit.as_ref().map(|unit| format!(", {}", quoted(unit))).unwrap_or_default();
        prose(&column.title, numbering) + &unit
    });
    text.push_str(&format!("| {} |\n|", heads.collect::<Vec<_>>().join(" | ")));
    for column in &table.columns {
        text.push_str(if column.align == Align::Right { "---:|" } else { "---|" });
    }
    text.push('\n');
    for row in &table.rows {
        let cells: Vec<String> = row.iter().map(|value| cell(value, numbering)).collect();
        text.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
    text.push('\n');
    if !table.note.is_empty() {
        text.push_str(&format!("{}\n\n", prose(&table.note, numbering)));
    }
    text
}

fn cell(cell: &Cell, numbering: &Numbering) -> String {
    match cell {
        Cell::Empty => String::new(),
        Cell::Prose(pieces) => prose(pieces, numbering),
        Cell::Count(number) => count(*number),
        Cell::Gap(why) => format!("*not measured: {}*", quoted(why)),
        Cell::Verdict(true, word) => format!("✓ {word}"),
        Cell::Verdict(false, word) => format!("✗ **{word}**"),
        Cell::Quantity(quantity) => {
            let shown = shown_as_is(quantity);
            format!("{} {}", shown.value, support(&shown))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bold_text_ends_before_its_space() {
        assert_eq!(strong("7 comparisons. "), "**7 comparisons.** ");
        assert_eq!(strong("7 comparisons."), "**7 comparisons.**");
    }
}
