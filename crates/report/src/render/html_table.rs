//! Tables as HTML, in a box that scrolls where the screen is narrower.

use super::gaps::gaps;
use super::html_inline::{prose, quoted, reason};
use crate::blocks::{Align, Cell, Column, Numbering, SampleSizes, Table};
use crate::numbers::{count, shown_as_is};
use proofload_analysis::quantity::Quantity;

/// Columns from which a table is printed smaller.
const MANY: usize = 8;

/// A table with its caption and its note; without a number of its own it is called by what it belongs to.
pub(super) fn table_html(table: &Table, above: &str, numbering: &Numbering) -> String {
    let sizes = table.sample_sizes();
    let gaps = gaps(table);
    let label = numbering.label(table.id).filter(|_| !table.id.is_empty());
    let mut text = String::new();
    if !table.caption.is_empty() {
        let id = label.map(|_| format!(" id=\"{}\"", table.id)).unwrap_or_default();
        let number = label.map(|label| format!("<b>{label}.</b> ")).unwrap_or_default();
        text.push_str(&format!("<p class=\"caption\"{id}>{number}{}</p>\n", prose(&table.caption, numbering)));
    }
    let name = match label {
        Some(_) => format!("aria-labelledby=\"{}\"", table.id),
        None => format!("aria-label=\"{}\"", quoted(above)),
    };
    let region = format!("<div class=\"scroll\" tabindex=\"0\" role=\"region\" {name}>");
    let cards = is_of_cards(table);
    let classes: Vec<&str> = [(cards, "cards"), (table.columns.len() >= MANY, "many")]
        .into_iter()
        .filter(|(is, _)| *is)
        .map(|(_, name)| name)
        .collect();
    let class = if classes.is_empty() { String::new() } else { format!(" class=\"{}\"", classes.join(" ")) };
    let caption = match label {
        Some(_) => format!(" aria-labelledby=\"{}\"", table.id),
        None => String::new(),
    };
    text.push_str(&format!(
        "{region}<table{class}{caption}><thead><tr>{}</tr></thead>\n<tbody>\n",
        heads(table, &sizes, numbering)
    ));
    for (index, row) in table.rows.iter().enumerate() {
        text.push_str("<tr>");
        for (column, value) in row.iter().enumerate() {
            let align = table.columns.get(column).map_or(Align::Left, |column| column.align);
            let text_of_cell = match value {
                Cell::Gap(why) => gap(why, &gaps),
                value => cell(value, (column, align), &sizes, numbering),
            };
            let head = table.columns.get(column).filter(|_| cards && column > 0);
            text.push_str(&head.map_or(text_of_cell.clone(), |head| headed(&text_of_cell, head, numbering)));
        }
        if let Some(rows) = &sizes.rows {
            let size = rows.get(index).copied().flatten().map(count).unwrap_or_default();
            text.push_str(&format!("<td class=\"n\" data-head=\"n\">{size}</td>"));
        }
        text.push_str("</tr>\n");
    }
    text.push_str("</tbody></table></div>\n");
    if !table.note.is_empty() || !gaps.is_empty() {
        let reasons =
            gaps.iter().enumerate().map(|(number, why)| format!(" <sup>{}</sup>\u{a0}{}.", number + 1, quoted(why)));
        text.push_str(&format!(
            "<p class=\"note\">{}{}</p>\n",
            prose(&table.note, numbering),
            reasons.collect::<String>()
        ));
    }
    text
}

fn gap(why: &str, gaps: &[&str]) -> String {
    match gaps.iter().position(|known| *known == why) {
        Some(number) => format!("<td class=\"gap\">not measured<sup>{}</sup></td>", number + 1),
        None => format!("<td class=\"gap\">not measured: {}</td>", quoted(why)),
    }
}

/// Columns of numbers beyond which a phone shows each row as a card.
const MOST_BESIDE: usize = 4;

/// Whether a phone shows each row as a card: words alone in several columns, or more numbers than it has room for.
fn is_of_cards(table: &Table) -> bool {
    let of_words = table.columns.iter().all(|column| column.align == Align::Left);
    table.columns.len() > if of_words { 2 } else { MOST_BESIDE }
}

/// A cell that bears the head of its column, for where the heads are not seen.
fn headed(cell: &str, column: &Column, numbering: &Numbering) -> String {
    let unit = column.unit.as_ref().map(|unit| format!(", {}", quoted(unit))).unwrap_or_default();
    // A title may have markup, which an attribute may not.
    let title: String = without_tags(&prose(&column.title, numbering));
    cell.replacen("<td", &format!("<td data-head=\"{title}{unit}\""), 1)
}

/// The text of markup.
fn without_tags(markup: &str) -> String {
    let parts = markup.split('<').enumerate();
    parts
        .map(|(place, part)| if place == 0 { part } else { part.split_once('>').map_or("", |(_, text)| text) })
        .collect()
}

fn heads(table: &Table, sizes: &SampleSizes, numbering: &Numbering) -> String {
    let head = |(index, column): (usize, &Column)| {
        let class = if column.align == Align::Right { " class=\"n\"" } else { "" };
        let unit = column.unit.as_ref().map(|unit| format!("<span class=\"unit\">{}</span>", quoted(unit)));
        let size = sizes.heads.get(index).copied().flatten();
        let size = size.map(|size| format!("<span class=\"unit\">n\u{202f}=\u{202f}{}</span>", count(size)));
        let title = prose(&column.title, numbering);
        format!("<th scope=\"col\"{class}>{title}{}{}</th>", unit.unwrap_or_default(), size.unwrap_or_default())
    };
    let mut heads: String = table.columns.iter().enumerate().map(head).collect();
    if sizes.rows.is_some() {
        heads.push_str("<th scope=\"col\" class=\"n\">n</th>");
    }
    heads
}

fn cell(cell: &Cell, (column, align): (usize, Align), sizes: &SampleSizes, numbering: &Numbering) -> String {
    let class = if align == Align::Right { " class=\"n\"" } else { "" };
    match cell {
        Cell::Empty => "<td></td>".to_owned(),
        Cell::Prose(pieces) if column == 0 => format!("<th scope=\"row\"{class}>{}</th>", prose(pieces, numbering)),
        Cell::Prose(pieces) => format!("<td{class}>{}</td>", prose(pieces, numbering)),
        Cell::Count(number) => format!("<td class=\"n\">{}</td>", count(*number)),
        Cell::Gap(why) => gap(why, &[]),
        Cell::Verdict(true, word) => format!("<td><span class=\"good\">✓\u{a0}{}</span></td>", quoted(word)),
        Cell::Verdict(false, word) => format!("<td><span class=\"bad\">✗\u{a0}{}</span></td>", quoted(word)),
        Cell::Quantity(quantity) => quantity_cell(quantity, sizes.in_cell(column)),
    }
}

/// A number; below it, smaller, its confidence interval, and its sample size unless that stands elsewhere.
fn quantity_cell(quantity: &Quantity, with_size: bool) -> String {
    let shown = shown_as_is(quantity);
    let interval = match &shown.interval {
        Some((low, high)) => format!("{low}\u{2009}–\u{2009}{high}"),
        None => "no interval".to_owned(),
    };
    let size = if with_size { format!(", n\u{202f}=\u{202f}{}", shown.n) } else { String::new() };
    format!("<td class=\"n\">{}<span class=\"ci\"{}>{interval}{size}</span></td>", shown.value, reason(&shown))
}
