//! The parts of sections as HTML.

use super::html_inline::{prose, quoted, term_id};
use super::html_table::table_html;
use crate::blocks::{Block, Chart, Figure, Inline, Notice, Numbering, Panel, Prose, Strips};
use crate::charts::{
    Frame, draw_bars, draw_diagram, draw_dots, draw_heat, draw_heat_scale, draw_key, draw_panel, draw_stacks,
    draw_strips,
};

/// Parts in order, below a heading of a level.
pub(super) fn blocks(parts: &[Block], level: u8, numbering: &Numbering) -> String {
    parts.iter().map(|part| block(part, level, numbering)).collect()
}

fn block(part: &Block, level: u8, numbering: &Numbering) -> String {
    let text = |pieces: &[Inline]| prose(pieces, numbering);
    match part {
        Block::Heading(pieces) => format!("<h{0}>{1}</h{0}>\n", level + 1, text(pieces)),
        Block::Paragraph(pieces) => format!("<p>{}</p>\n", text(pieces)),
        Block::Lead(pieces) => format!("<p class=\"lead\">{}</p>\n", text(pieces)),
        Block::List(items) => format!("<ul>\n{}</ul>\n", list_items(items, numbering)),
        Block::Steps(items) => format!("<ol>\n{}</ol>\n", list_items(items, numbering)),
        Block::KeyValues(pairs) => pairs_html(pairs, numbering),
        Block::Terms(terms) => terms_html(terms),
        Block::Table(table) => table_html(table, "Table", numbering),
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
            blocks(parts, level, numbering)
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

fn terms_html(terms: &[(&str, &str)]) -> String {
    let item = |(name, definition): &(&str, &str)| {
        format!("<dt id=\"{}\">{}</dt><dd>{}</dd>\n", term_id(name), quoted(name), quoted(definition))
    };
    format!("<dl class=\"pairs\">\n{}</dl>\n", terms.iter().map(item).collect::<String>())
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
pub(super) fn figure_html(figure: &Figure, numbering: &Numbering) -> String {
    let label = numbering.label(figure.id).unwrap_or("Figure");
    format!(
        "<figure id=\"{}\">\n{}\n<figcaption><b>{label}.</b> {}</figcaption>\n\
         <details><summary>Data behind {label}</summary>\n{}</details>\n</figure>\n",
        figure.id,
        chart_html(&figure.chart, &figure.alt),
        prose(&figure.caption, numbering),
        table_html(&figure.data, &format!("Data behind {label}"), numbering)
    )
}

fn chart_html(chart: &Chart, alt: &str) -> String {
    match chart {
        Chart::Plot(panel) => draw_panel(panel, Frame::WIDE) + &draw_panel(panel, Frame::NARROW),
        Chart::Strips(stacks) => strips_html(stacks, alt),
        Chart::Stacks(stacks) => draw_stacks(stacks, Frame::WIDE, alt) + &draw_stacks(stacks, Frame::NARROW, alt),
        Chart::Diagram(diagram) => draw_diagram(diagram, Frame::WIDE, alt) + &draw_diagram(diagram, Frame::NARROW, alt),
        Chart::Dots(dots) => draw_dots(dots, Frame::WIDE, alt) + &draw_dots(dots, Frame::NARROW, alt),
        Chart::Bars(bars) => draw_bars(bars, Frame::WIDE, alt) + &draw_bars(bars, Frame::NARROW, alt),
        Chart::Panels(panels) => {
            let (panels, key) = with_one_key(panels);
            let drawn = panels.iter().map(|panel| titled(&panel.title, &draw_panel(panel, Frame::PANEL)));
            format!(
                "{key}<div class=\"panels\" role=\"group\" aria-label=\"{}\">{}</div>",
                quoted(alt),
                drawn.collect::<String>()
            )
        }
        Chart::Heats(heats) => {
            if let [only] = heats.as_slice()
                && only.labelled
            {
                return draw_heat(only, "chart heat") + &draw_heat_scale(only.full, &only.legend);
            }
            let drawn =
                heats.iter().map(|heat| titled(&heat.title, &draw_heat(heat, "chart panel"))).collect::<String>();
            let key = heats.first().map(|heat| draw_heat_scale(heat.full, &heat.legend)).unwrap_or_default();
            format!("<div class=\"panels\" role=\"group\" aria-label=\"{}\">{drawn}</div>{key}", quoted(alt))
        }
    }
}

/// Panels whose series have the same names without them, and the key of all.
fn with_one_key(panels: &[Panel]) -> (Vec<Panel>, String) {
    let names =
        |panel: &Panel| panel.series.iter().map(|series| (series.role, series.name.clone())).collect::<Vec<_>>();
    let longest = panels.iter().map(names).max_by_key(Vec::len).unwrap_or_default();
    let known = |panel: &Panel| names(panel).iter().all(|name| longest.contains(name));
    if panels.len() < 2 || longest.len() < 2 || !panels.iter().all(known) {
        return (panels.to_vec(), String::new());
    }
    let mut bare = panels.to_vec();
    bare.iter_mut().flat_map(|panel| &mut panel.series).for_each(|series| series.name.clear());
    (bare, draw_key(&longest))
}

/// One stack across the page, wide and narrow; several in a grid.
fn strips_html(stacks: &[Strips], alt: &str) -> String {
    if let [only] = stacks {
        let drawn = |class, frame| format!("<div class=\"strips {class}\">{}</div>", draw_strips(&only.panels, frame));
        return drawn("wide", Frame::WIDE) + &drawn("narrow", Frame::NARROW);
    }
    let drawn = stacks.iter().map(|stack| {
        titled(&stack.title, &format!("<div class=\"strips\">{}</div>", draw_strips(&stack.panels, Frame::STACK)))
    });
    format!("<div class=\"panels\" role=\"group\" aria-label=\"{}\">{}</div>", quoted(alt), drawn.collect::<String>())
}

fn titled(title: &str, drawing: &str) -> String {
    if title.is_empty() {
        format!("<div>{drawing}</div>\n")
    } else {
        format!("<div><p>{}</p>{drawing}</div>\n", quoted(title))
    }
}
