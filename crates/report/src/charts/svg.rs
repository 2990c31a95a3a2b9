//! Writing SVG: escaped text, coordinates with at most one decimal.

use proofload_model::letters::is_steering;
use std::fmt::Write;

/// An SVG drawing in the making.
pub(super) struct Svg {
    body: String,
    width: f64,
    height: f64,
}

/// How text lines up with its place.
#[derive(Clone, Copy)]
pub(super) enum Anchor {
    /// Begins there.
    Start,
    /// Is centred there.
    Middle,
    /// Ends there.
    End,
}

/// Distance of the lines of a hatching along x.
const HATCH_STEP: f64 = 7.0;

impl Svg {
    /// An empty drawing.
    pub(super) fn new(width: f64, height: f64) -> Self {
        Self { body: String::new(), width, height }
    }

    /// A straight line.
    pub(super) fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(place);
        let _ = write!(self.body, r#"<line class="{class}" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"/>"#);
    }

    /// A rectangle; its sides may be given in any order.
    pub(super) fn rectangle(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let (left, right) = (from.0.min(to.0), from.0.max(to.0));
        let (top, bottom) = (from.1.min(to.1), from.1.max(to.1));
        let [x, y, width, height] = [left, top, right - left, bottom - top].map(place);
        let _ = write!(self.body, r#"<rect class="{class}" x="{x}" y="{y}" width="{width}" height="{height}"/>"#);
    }

    /// A rectangle of slanting lines: where nothing is known. It is told from a shade in greyscale too.
    pub(super) fn hatching(&mut self, class: &str, (left, top): (f64, f64), (right, bottom): (f64, f64)) {
        let height = bottom - top;
        let mut foot = left - height;
        let mut places = Vec::new();
        while foot < right {
            let (from, to) = ((left - foot).max(0.0), (right - foot).min(height));
            places.extend([(foot + from, bottom - from), (foot + to, bottom - to), (f64::NAN, f64::NAN)]);
            foot += HATCH_STEP;
        }
        self.path(class, &places);
    }

    /// Lines through places; a place that is not finite breaks them.
    pub(super) fn path(&mut self, class: &str, places: &[(f64, f64)]) {
        let mut commands = String::new();
        let mut pen_down = false;
        for (x, y) in places {
            let finite = x.is_finite() && y.is_finite();
            if finite {
                let _ = write!(commands, "{}{} {}", if pen_down { "L" } else { "M" }, place(*x), place(*y));
            }
            pen_down = finite;
        }
        if !commands.is_empty() {
            self.shape(class, &commands);
        }
    }

    /// A closed shape by its path commands.
    pub(super) fn shape(&mut self, class: &str, commands: &str) {
        let _ = write!(self.body, r#"<path class="{class}" d="{commands}"/>"#);
    }

    /// A circle.
    pub(super) fn circle(&mut self, class: &str, centre: (f64, f64), radius: f64) {
        let [x, y, radius] = [centre.0, centre.1, radius].map(place);
        let _ = write!(self.body, r#"<circle class="{class}" cx="{x}" cy="{y}" r="{radius}"/>"#);
    }

    /// A line of text.
    pub(super) fn text(&mut self, class: &str, at: (f64, f64), anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let _ = write!(
            self.body,
            r#"<text class="{class}" x="{}" y="{}" text-anchor="{anchor}">{}</text>"#,
            place(at.0),
            place(at.1),
            escape(text)
        );
    }

    /// The drawing with its description.
    pub(super) fn finish(self, class: &str, alt: &str) -> Drawing {
        let Self { body, width, height } = self;
        Drawing { class: class.to_owned(), alt: alt.to_owned(), width, height, body }
    }
}

/// A finished drawing.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Drawing {
    class: String,
    alt: String,
    /// Width in its own pixels.
    pub(crate) width: f64,
    /// Height in its own pixels.
    pub(crate) height: f64,
    body: String,
}

impl Drawing {
    /// The drawing for a page, as wide as the page lets it be.
    pub(crate) fn inline(&self) -> String {
        format!(
            r#"<svg class="{}" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>"#,
            self.class,
            place(self.width),
            place(self.height),
            escape(&self.alt),
            self.body
        )
    }

    /// The drawing at a place within another one.
    pub(crate) fn nested(&self, (left, top): (f64, f64)) -> String {
        format!(
            r#"<svg x="{}" y="{}" width="{}" height="{}" overflow="visible">{}</svg>"#,
            place(left),
            place(top),
            place(self.width),
            place(self.height),
            self.body
        )
    }
}

/// A coordinate with at most one decimal.
pub(super) fn place(value: f64) -> String {
    let text = format!("{value:.1}");
    let short = text.strip_suffix(".0").unwrap_or(&text);
    if short == "-0" { "0".to_owned() } else { short.to_owned() }
}

/// Text for SVG and HTML, in elements and in quoted attributes. Control characters, which neither may hold, are left out.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\n' | '\t' => escaped.push(letter),
            steering if is_steering(steering) => {}
            other => escaped.push(other),
        }
    }
    escaped
}

/// Height of a line of an axis's writing, pixels.
pub(super) const LINE: f64 = 14.0;

/// The estimated width of a character at the chart's font size of 13 pixels.
pub(super) const WIDTH_OF_CHARACTER: f64 = 7.1;

/// The estimated width of text at the chart's font size, pixels.
pub(super) fn width_of(text: &str) -> f64 {
    text.chars().count() as f64 * WIDTH_OF_CHARACTER
}

/// Breaks a text between words into lines up to a width; a longer word has a line of its own.
pub(super) fn wrapped(text: &str, width: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if width_of(line) + width_of(word) + WIDTH_OF_CHARACTER <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}
