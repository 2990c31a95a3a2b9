//! The parts of sections as HTML.

use super::html_inline::{prose, quoted};
use super::html_table::table_html;
use crate::blocks::{Block, Chart, Figure, Inline, Notice, Numbering, Prose};
use crate::charts::{Frame, draw_bars, draw_heat, draw_heat_scale, draw_panel, draw_stacks};

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
        Chart::Stacks(stacks) => draw_stacks(stacks, Frame::WIDE, alt) + &draw_stacks(stacks, Frame::NARROW, alt),
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
