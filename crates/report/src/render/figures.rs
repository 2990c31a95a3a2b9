//! The figures of a paper as files: a drawing that stands alone, and its data as CSV. For those who write a paper of their own.

use super::html_parts::with_one_key;
use super::table_csv::table_csv;
use crate::blocks::{Block, Chart, Document, Figure, Heat, Numbering};
use crate::charts::{
    Drawing, Frame, draw_bars, draw_diagram, draw_dots, draw_heat, draw_heat_scale, draw_panel, draw_stacks,
    draw_strips, escape,
};
use std::collections::BTreeMap;

/// The style sheet of pages; its rules for drawings go into each file.
const STYLE: &str = include_str!("style.css");

/// Space around a figure and between its drawings, pixels.
const GAP: f64 = 12.0;

/// Height of a title above a drawing, pixels.
const TITLE: f64 = 20.0;

/// A figure as files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FigureFiles {
    /// Name without an ending, such as `figure-2-setup`.
    pub name: String,
    /// The drawing: one SVG file that needs no other.
    pub svg: String,
    /// The data behind it as CSV.
    pub csv: String,
}

/// Every figure of a document in order, folded ones too.
pub(crate) fn figures(document: &Document) -> Vec<FigureFiles> {
    let numbering = Numbering::of(document);
    let mut found: Vec<&Figure> = document.opening.figure.iter().collect();
    document.sections.iter().for_each(|section| collect(&section.blocks, &mut found));
    found.into_iter().map(|figure| files(figure, &numbering)).collect()
}

fn collect<'d>(blocks: &'d [Block], found: &mut Vec<&'d Figure>) {
    for block in blocks {
        match block {
            Block::Figure(figure) => found.push(figure),
            Block::Fold(_, blocks) => collect(blocks, found),
            _ => {}
        }
    }
}

fn files(figure: &Figure, numbering: &Numbering) -> FigureFiles {
    let label = numbering.label(figure.id).unwrap_or("Figure").to_lowercase().replace(' ', "-");
    let name = format!("{label}-{}", figure.id.trim_start_matches("figure-"));
    FigureFiles { name, svg: Sketch::of(figure, Medium::File).svg, csv: table_csv(&figure.data) }
}

/// Drawings below each other, with a title above them.
struct Stack {
    title: String,
    drawings: Vec<Drawing>,
}

impl Stack {
    fn of(drawing: Drawing) -> Self {
        Self { title: String::new(), drawings: vec![drawing] }
    }

    fn width(&self) -> f64 {
        self.drawings.iter().map(|drawing| drawing.width).fold(0.0, f64::max)
    }

    fn height(&self) -> f64 {
        let title = if self.title.is_empty() { 0.0 } else { TITLE };
        title + self.drawings.iter().map(|drawing| drawing.height).sum::<f64>()
    }

    fn at(&self, (left, mut top): (f64, f64)) -> String {
        let mut text = String::new();
        if !self.title.is_empty() {
            text.push_str(&format!(
                r#"<text class="title" x="{left:.1}" y="{:.1}">{}</text>"#,
                top + TITLE - 6.0,
                escape(&self.title)
            ));
            top += TITLE;
        }
        for drawing in &self.drawings {
            text.push_str(&drawing.nested((left, top)));
            top += drawing.height;
        }
        text
    }
}

/// What a figure is drawn for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Medium {
    /// A file of its own.
    File,
    /// A sheet of paper, on which it has to leave room for others.
    Sheet,
}

impl Medium {
    /// The frame of what goes across the page.
    const fn wide(self) -> Frame {
        match self {
            Self::File => Frame::WIDE,
            Self::Sheet => Frame::SHEET,
        }
    }

    /// What the style sheet lacks for printers without colours.
    fn dashes(self, chart: &Chart) -> &'static str {
        match (self, chart) {
            (Self::Sheet, Chart::Panels(_)) => DASHES,
            _ => "",
        }
    }

    /// How many stacks of strips stand beside each other, and the frame of each.
    const fn strips(self, count: usize) -> (usize, Frame) {
        match (self, count) {
            (Self::File, _) => (2, Frame::STACK),
            (Self::Sheet, 3 | 5..) => (3, Frame::THIRD_OF_SHEET),
            (Self::Sheet, _) => (2, Frame::HALF_OF_SHEET),
        }
    }
}

/// Rules for thin lines of several series in one panel, told apart without colours.
const DASHES: &str = "svg .l.t.s1 { stroke-dasharray: 5 2; }\nsvg .l.t.s2 { stroke-dasharray: 1.5 2; }\n";

/// Rows of so many stacks.
fn grid(stacks: Vec<Stack>, columns: usize) -> Vec<Vec<Stack>> {
    let mut rows: Vec<Vec<Stack>> = Vec::new();
    for stack in stacks {
        match rows.last_mut().filter(|row| row.len() < columns) {
            Some(row) => row.push(stack),
            None => rows.push(vec![stack]),
        }
    }
    rows
}

/// The drawings of a chart in rows.
fn stacks(chart: &Chart, alt: &str, medium: Medium) -> Vec<Vec<Stack>> {
    let wide = medium.wide();
    let titled = |title: &str, drawings| Stack { title: title.to_owned(), drawings };
    let alone = |drawing| vec![vec![Stack::of(drawing)]];
    match chart {
        Chart::Plot(panel) => alone(draw_panel(panel, wide)),
        Chart::Stacks(stacks) => alone(draw_stacks(stacks, wide, alt)),
        Chart::Diagram(diagram) => alone(draw_diagram(diagram, wide, alt)),
        Chart::Dots(dots) => alone(draw_dots(dots, wide, alt)),
        Chart::Bars(bars) => alone(draw_bars(bars, wide, alt)),
        Chart::Strips(stacks) => match stacks.as_slice() {
            [only] => vec![vec![titled(&only.title, draw_strips(&only.panels, wide))]],
            several => {
                let (columns, frame) = medium.strips(several.len());
                let drawn = several.iter().map(|one| titled(&one.title, draw_strips(&one.panels, frame)));
                grid(drawn.collect(), columns)
            }
        },
        Chart::Panels(panels) => {
            let (panels, key) = with_one_key(panels);
            let drawn = panels.iter().map(|panel| titled(&panel.title, vec![draw_panel(panel, Frame::PANEL)]));
            let key = key.map(|key| vec![Stack::of(key)]);
            key.into_iter().chain(grid(drawn.collect(), 2)).collect()
        }
        Chart::Heats(heats) => {
            let drawn = heats.iter().map(|heat: &Heat| titled(&heat.title, vec![draw_heat(heat, "")]));
            let scale = heats.first().map(|heat| vec![Stack::of(draw_heat_scale(heat.full, &heat.legend))]);
            grid(drawn.collect(), 2).into_iter().chain(scale).collect()
        }
    }
}

/// A figure as one SVG file with its style inside, on white.
pub(super) struct Sketch {
    /// The file.
    pub(super) svg: String,
    /// Width, pixels.
    pub(super) width: f64,
    /// Height, pixels.
    pub(super) height: f64,
}

impl Sketch {
    /// Draws a figure.
    pub(super) fn of(figure: &Figure, medium: Medium) -> Self {
        let rows = stacks(&figure.chart, &figure.alt, medium);
        let row_width = |row: &Vec<Stack>| row.iter().map(Stack::width).sum::<f64>() + GAP * (row.len() + 1) as f64;
        let width = rows.iter().map(row_width).fold(0.0, f64::max);
        let (mut body, mut top) = (String::new(), GAP);
        for row in &rows {
            let mut left = GAP;
            for stack in row {
                body.push_str(&stack.at((left, top)));
                left += stack.width() + GAP;
            }
            top += row.iter().map(Stack::height).fold(0.0, f64::max) + GAP;
        }
        let svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{top:.0}\" viewBox=\"0 0 {width:.0} \
             {top:.0}\" role=\"img\">\n<title>{}</title>\n<style>\n{}</style>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{body}\n</svg>\n",
            escape(&figure.alt),
            style() + medium.dashes(&figure.chart)
        );
        Self { svg, width, height: top }
    }
}

/// The rules for drawings with the light colours in place of variables, which many programs do not know.
fn style() -> String {
    let root = STYLE.split_once(":root {").and_then(|(_, rest)| rest.split_once('}')).map_or("", |(root, _)| root);
    let declared = root.split(';').filter_map(|one| one.trim().strip_prefix("--")?.split_once(':'));
    let variables: BTreeMap<&str, &str> = declared.map(|(name, value)| (name, value.trim())).collect();
    let rules = STYLE.lines().map(str::trim).filter(|line| line.starts_with("svg "));
    let mut text: String = rules.map(|rule| format!("{}\n", without_variables(rule, &variables))).collect();
    text.push_str("svg .title { font-weight: 600; }\n");
    text
}

fn without_variables(rule: &str, variables: &BTreeMap<&str, &str>) -> String {
    let mut pieces = rule.split("var(--");
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (name, rest) = piece.split_once(')').unwrap_or((piece, ""));
        text.push_str(variables.get(name).copied().unwrap_or("inherit"));
        text.push_str(rest);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_style_of_a_file_has_no_variable_left() {
        let style = style();
        assert!(style.contains("svg .s0 { stroke: #0072b2; }"), "{style}");
        assert!(!style.contains("var(") && !style.contains("inherit") && !style.contains("svg.chart"), "{style}");
    }
}
