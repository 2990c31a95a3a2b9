//! The parts of sections as values.

use super::inline::{prose, shown, shown_lines};
use super::layout::Layout;
use super::table::table_value;
use crate::blocks::{Block, Figure, Inline, Prose};
use crate::render::figures::{Medium, Sketch};
use serde_json::{Value, json};

/// Parts in order; folded ones only in a paper that has all.
pub(super) fn blocks(parts: &[Block], layout: &Layout) -> Vec<Value> {
    parts.iter().flat_map(|part| block(part, layout)).collect()
}

fn block(part: &Block, layout: &Layout) -> Vec<Value> {
    let text = |is: &str, pieces: &[Inline]| json!({ "is": is, "text": prose(pieces, layout) });
    vec![match part {
        Block::Heading(pieces) => text("heading", pieces),
        Block::Paragraph(pieces) => text("paragraph", pieces),
        Block::Lead(pieces) => text("lead", pieces),
        Block::List(items) => list("list", items, layout),
        Block::Steps(items) => list("steps", items, layout),
        Block::KeyValues(pairs) => {
            let pair = |(name, value): &(Prose, Prose)| json!([prose(name, layout), prose(value, layout)]);
            json!({ "is": "pairs", "items": pairs.iter().map(pair).collect::<Vec<_>>() })
        }
        Block::Terms(terms) => {
            let item = |(name, definition): &(&str, &str)| json!([[["text", name]], [["text", definition]]]);
            json!({ "is": "terms", "items": terms.iter().map(item).collect::<Vec<_>>() })
        }
        Block::Table(table) => table_value(table, layout),
        Block::Figure(figure) => figure_value(figure, layout),
        Block::Notice(kind, pieces) => {
            json!({ "is": "notice", "word": kind.word(), "text": prose(pieces, layout) })
        }
        Block::Code(label, body) => {
            json!({ "is": "code", "label": prose(label, layout), "text": shown_lines(body.trim_end()) })
        }
        Block::Fold(label, parts) if layout.is_full() => {
            let mut all = vec![text("heading", label)];
            all.extend(blocks(parts, layout));
            return all;
        }
        Block::Fold(..) => return Vec::new(),
    }]
}

fn list(is: &str, items: &[Prose], layout: &Layout) -> Value {
    json!({ "is": is, "items": items.iter().map(|item| prose(item, layout)).collect::<Vec<_>>() })
}

/// A drawing with its caption and its description; the data behind it only in a paper that has all.
pub(super) fn figure_value(figure: &Figure, layout: &Layout) -> Value {
    let sketch = Sketch::of(figure, Medium::Sheet);
    json!({
        "is": "figure", "id": figure.id, "label": layout.numbering.label(figure.id).unwrap_or("Figure"),
        "caption": prose(&figure.caption, layout), "alt": shown(&figure.alt), "svg": sketch.svg,
        "width": sketch.width.round(), "height": sketch.height.round(),
        "data": layout.is_full().then(|| table_value(&figure.data, layout)),
    })
}
