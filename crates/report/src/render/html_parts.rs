//! The parts of sections as HTML.

use super::html_inline::{prose, quoted, reason};
use crate::blocks::{Align, Block, Cell, Chart, Figure, Inline, Notice, Numbering, Prose, Table};
use crate::charts::{Frame, draw_bars, draw_heat, draw_heat_scale, draw_panel};
use crate::numbers::{count, shown_as_is};

/// Parts in order.
pub(super) fn blocks(parts: &[Block], numbering: &Numbering) -> String {
    parts.iter().map(|part| block(part, numbering)).collect()
}

fn block(part: &Block, numbering: &Numbering) -> String {
    let text = |pieces: &[Inline]| prose(pieces, numbering);
    match part {
        Block::Heading(level, pieces) => format!("<h{level}>{}</h{level}>\n", text(pieces)),
        Block::Paragraph(pieces) => format!("<p>{}</p>\n", text(pieces)),
        Block::Lead(pieces) => format!("<p class=\"lead\">{}</p>\n", text(pieces)),
        Block::List(items) => format!("<ul>\n{}</ul>\n", list_items(items, numbering)),
        Block::Steps(items) => format!("<ol>\n{}</ol>\n", list_items(items, numbering)),
        Block::KeyValues(pairs) => pairs_html(pairs, numbering),
        Block::Headlines(pairs) => {
            let item = |(what, value): &(Prose, Prose)| {
                format!("<div><dt>{}</dt><dd>{}</dd></div>\n", text(what), text(value))
            };
            format!("<dl class=\"headlines\">\n{}</dl>\n", pairs.iter().map(item).collect::<String>())
        }
        Block::Table(table) => table_html(table, numbering),
        Block::Figure(figure) => figure_html(figure, numbering),
        Block::Notice(kind, pieces) => format!(
            "<div class=\"notice {}\" role=\"note\"><b>{}:</b> {}</div>\n",
            notice_class(*kind),
            kind.word(),
            text(pieces)
        ),
        Block::Code(label, body) => format!(
            "<p class=\"codelabel\">{}</p>\n<pre tabindex=\"0\"><code>{}</code></pre>\n",
            text(label),
            quoted(body)
        ),
        Block::Fold(label, parts) => format!(
            "<details class=\"fold\"><summary>{}</summary>\n{}</details>\n",
            text(label),
            blocks(parts, numbering)
        ),
    }
}

fn list_items(items: &[Prose], numbering: &Numbering) -> String {
    items.iter().map(|item| format!("<li>{}</li>\n", prose(item, numbering))).collect()
}

fn pairs_html(pairs: &[(Prose, Prose)], numbering: &Numbering) -> String {
    let item = |(name, value): &(Prose, Prose)| {
        format!("<dt>{}</dt><dd>{}</dd>\n", prose(name, numbering), prose(value, numbering))
    };
    format!("<dl class=\"pairs\">\n{}</dl>\n", pairs.iter().map(item).collect::<String>())
}

fn notice_class(kind: Notice) -> &'static str {
    match kind {
        Notice::Gap => "missing",
        Notice::Void => "void",
        Notice::Caution => "caution",
        Notice::Remark => "remark",
    }
}

/// A table in a box that scrolls where the screen is narrower.
fn table_html(table: &Table, numbering: &Numbering) -> String {
    let label = numbering.label(table.id).filter(|_| !table.id.is_empty());
    let id = label.map(|_| format!(" id=\"{}\"", table.id)).unwrap_or_default();
    let number = label.map(|label| format!("<b>{label}.</b> ")).unwrap_or_default();
    let mut text = format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table{id}>",
        label.unwrap_or("Data")
    );
    if !table.caption.is_empty() {
        text.push_str(&format!("<caption>{number}{}</caption>", prose(&table.caption, numbering)));
    }
    text.push_str("<thead><tr>");
    for column in &table.columns {
        let class = if column.align == Align::Right { " class=\"n\"" } else { "" };
        let unit = column.unit.as_ref().map(|unit| format!("<span class=\"unit\">{}</span>", quoted(unit)));
        text.push_str(&format!(
            "<th scope=\"col\"{class}>{}{}</th>",
            prose(&column.title, numbering),
            unit.unwrap_or_default()
        ));
    }
    text.push_str("</tr></thead>\n<tbody>\n");
    for row in &table.rows {
        text.push_str("<tr>");
        for (index, value) in row.iter().enumerate() {
            let align = table.columns.get(index).map_or(Align::Left, |column| column.align);
            text.push_str(&cell(value, index == 0, align, numbering));
        }
        text.push_str("</tr>\n");
    }
    text.push_str("</tbody></table></div>\n");
    if !table.note.is_empty() {
        text.push_str(&format!("<p class=\"note\">{}</p>\n", prose(&table.note, numbering)));
    }
    text
}

fn cell(cell: &Cell, first: bool, align: Align, numbering: &Numbering) -> String {
    let class = if align == Align::Right { " class=\"n\"" } else { "" };
    match cell {
        Cell::Empty => "<td></td>".to_owned(),
        Cell::Prose(pieces) if first => format!("<th scope=\"row\"{class}>{}</th>", prose(pieces, numbering)),
        Cell::Prose(pieces) => format!("<td{class}>{}</td>", prose(pieces, numbering)),
        Cell::Count(number) => format!("<td class=\"n\">{}</td>", count(*number)),
        Cell::Gap(why) => format!("<td class=\"gap\">not measured: {}</td>", quoted(why)),
        Cell::Verdict(true, word) => format!("<td><span class=\"good\">✓ {}</span></td>", quoted(word)),
        Cell::Verdict(false, word) => format!("<td><span class=\"bad\">✗ {}</span></td>", quoted(word)),
        Cell::Quantity(quantity) => {
            let shown = shown_as_is(quantity);
            let support = match &shown.interval {
                Some((low, high)) => format!("{low}\u{2009}–\u{2009}{high}"),
                None => "no interval".to_owned(),
            };
            format!(
                "<td class=\"n\">{}<span class=\"ci\"{}>{support}, n\u{202f}{}</span></td>",
                shown.value,
                reason(&shown),
                shown.n
            )
        }
    }
}

/// A chart with its caption and the data behind it.
fn figure_html(figure: &Figure, numbering: &Numbering) -> String {
    let label = numbering.label(figure.id).unwrap_or("Figure");
    format!(
        "<figure id=\"{}\">\n{}\n<figcaption><b>{label}.</b> {}</figcaption>\n\
         <details><summary>Data behind {label}</summary>\n{}</details>\n</figure>\n",
        figure.id,
        chart_html(&figure.chart, &figure.alt),
        prose(&figure.caption, numbering),
        table_html(&figure.data, numbering)
    )
}

fn chart_html(chart: &Chart, alt: &str) -> String {
    match chart {
        Chart::Plot(panel) => draw_panel(panel, Frame::WIDE) + &draw_panel(panel, Frame::NARROW),
        Chart::Bars(bars) => draw_bars(bars, Frame::WIDE, alt) + &draw_bars(bars, Frame::NARROW, alt),
        Chart::Panels(panels) => {
            let drawn = panels.iter().map(|panel| titled(&panel.title, &draw_panel(panel, Frame::PANEL)));
            format!(
                "<div class=\"panels\" role=\"group\" aria-label=\"{}\">{}</div>",
                quoted(alt),
                drawn.collect::<String>()
            )
        }
        Chart::Heats(heats) => {
            let drawn =
                heats.iter().map(|heat| titled(&heat.title, &draw_heat(heat, "chart panel"))).collect::<String>();
            let key = heats.first().map(|heat| draw_heat_scale(heat.full, &heat.legend)).unwrap_or_default();
            format!("<div class=\"panels\" role=\"group\" aria-label=\"{}\">{drawn}</div>{key}", quoted(alt))
        }
    }
}

fn titled(title: &str, drawing: &str) -> String {
    if title.is_empty() {
        format!("<div>{drawing}</div>\n")
    } else {
        format!("<div><p>{}</p>{drawing}</div>\n", quoted(title))
    }
}
