//! The parts of sections as HTML.

use super::html_inline::{prose, quoted, term_id};
use super::html_table::table_html;
use crate::blocks::{Block, Chart, Figure, Heat, Inline, Notice, Numbering, Panel, Prose, Strips};
use crate::charts::{
    Drawing, Frame, draw_bars, draw_diagram, draw_dots, draw_heat, draw_heat_scale, draw_key, draw_panel, draw_stacks,
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
        Chart::Plot(panel) => in_both(|frame| draw_panel(panel, frame)),
        Chart::Strips(stacks) => strips_html(stacks, alt),
        Chart::Stacks(stacks) => in_both(|frame| draw_stacks(stacks, frame, alt)),
        Chart::Diagram(diagram) => in_both(|frame| draw_diagram(diagram, frame, alt)),
        Chart::Dots(dots) => in_both(|frame| draw_dots(dots, frame, alt)),
        Chart::Bars(bars) => in_both(|frame| draw_bars(bars, frame, alt)),
        Chart::Panels(panels) => {
            let (panels, key) = with_one_key(panels);
            let drawn = panels.iter().map(|panel| titled(&panel.title, &draw_panel(panel, Frame::PANEL).inline()));
            let key = key.map(|key| key.inline()).unwrap_or_default();
            format!("{key}{}", grid(alt, &drawn.collect::<String>()))
        }
        Chart::Heats(heats) => {
            let scale = |heat: &Heat| draw_heat_scale(heat.full, &heat.legend).inline();
            if let [only] = heats.as_slice()
                && only.labelled
            {
                return draw_heat(only, "chart heat").inline() + &scale(only);
            }
            let drawn = heats.iter().map(|heat| titled(&heat.title, &draw_heat(heat, "chart panel").inline()));
            grid(alt, &drawn.collect::<String>()) + &heats.first().map(scale).unwrap_or_default()
        }
    }
}

/// A drawing in the wide and in the narrow frame; the style sheet shows one of them.
fn in_both(draw: impl Fn(Frame) -> Drawing) -> String {
    [Frame::WIDE, Frame::NARROW].map(|frame| draw(frame).inline()).concat()
}

fn grid(alt: &str, drawn: &str) -> String {
    format!("<div class=\"panels\" role=\"group\" aria-label=\"{}\">{drawn}</div>", quoted(alt))
}

/// Panels whose series have the same names without them, and the key of all.
pub(super) fn with_one_key(panels: &[Panel]) -> (Vec<Panel>, Option<Drawing>) {
    let names =
        |panel: &Panel| panel.series.iter().map(|series| (series.role, series.name.clone())).collect::<Vec<_>>();
    let longest = panels.iter().map(names).max_by_key(Vec::len).unwrap_or_default();
    let known = |panel: &Panel| names(panel).iter().all(|name| longest.contains(name));
    if panels.len() < 2 || longest.len() < 2 || !panels.iter().all(known) {
        return (panels.to_vec(), None);
    }
    let mut bare = panels.to_vec();
    bare.iter_mut().flat_map(|panel| &mut panel.series).for_each(|series| series.name.clear());
    (bare, Some(draw_key(&longest)))
}

/// One stack across the page, wide and narrow; several in a grid.
fn strips_html(stacks: &[Strips], alt: &str) -> String {
    let stack = |panels: &[Panel], frame| draw_strips(panels, frame).iter().map(Drawing::inline).collect::<String>();
    if let [only] = stacks {
        let drawn = |class, frame| format!("<div class=\"strips {class}\">{}</div>", stack(&only.panels, frame));
        return drawn("wide", Frame::WIDE) + &drawn("narrow", Frame::NARROW);
    }
    let drawn = stacks
        .iter()
        .map(|one| titled(&one.title, &format!("<div class=\"strips\">{}</div>", stack(&one.panels, Frame::STACK))));
    grid(alt, &drawn.collect::<String>())
}

fn titled(title: &str, drawing: &str) -> String {
    if title.is_empty() {
        format!("<div>{drawing}</div>\n")
    } else {
        format!("<div><p>{}</p>{drawing}</div>\n", quoted(title))
    }
}
