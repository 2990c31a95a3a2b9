//! Boxes in a row with the links between them; below each other where the page is narrow.

use super::plot::Frame;
use super::svg::{Anchor, Drawing, Svg, WIDTH_OF_CHARACTER, width_of, wrapped};
use crate::blocks::{Diagram, DiagramBox};

const LINE: f64 = 17.0;
const PADDING: f64 = 12.0;
const LINK: f64 = 84.0;

/// Draws boxes as SVG.
pub(crate) fn draw_diagram(diagram: &Diagram, frame: Frame, alt: &str) -> Drawing {
    if frame.names_beside { beside(diagram, frame, alt) } else { below(diagram, frame, alt) }
}

/// Height of a box with its lines.
fn height(lines: usize) -> f64 {
    2.0 * PADDING + LINE * (lines + 1) as f64
}

fn beside(diagram: &Diagram, frame: Frame, alt: &str) -> Drawing {
    let count = diagram.boxes.len().max(1) as f64;
    let width = (frame.width - LINK * (count - 1.0)) / count;
    let wrapped: Vec<Vec<String>> = diagram.boxes.iter().map(|one| lines(one, width - 2.0 * PADDING)).collect();
    let tallest = wrapped.iter().map(|lines| height(lines.len())).fold(0.0, f64::max);
    let mut svg = Svg::new(frame.width, tallest + 2.0);
    for (place, (one, lines)) in diagram.boxes.iter().zip(&wrapped).enumerate() {
        let left = (width + LINK) * place as f64;
        draw_box(&mut svg, one, lines, (left, 1.0), (left + width, tallest));
        if place + 1 < diagram.boxes.len() {
            let middle = tallest / 2.0;
            svg.line("a", (left + width, middle), (left + width + LINK, middle));
            svg.text("b", (left + width + LINK / 2.0, middle - 5.0), Anchor::Middle, &one.link);
        }
    }
    svg.finish(frame.class, alt)
}

fn below(diagram: &Diagram, frame: Frame, alt: &str) -> Drawing {
    let wrapped: Vec<Vec<String>> = diagram.boxes.iter().map(|one| lines(one, frame.width - 2.0 * PADDING)).collect();
    let link = 26.0;
    let all: f64 = wrapped.iter().map(|lines| height(lines.len()) + link).sum::<f64>() - link;
    let mut svg = Svg::new(frame.width, all + 2.0);
    let mut top = 1.0;
    for (place, (one, lines)) in diagram.boxes.iter().zip(&wrapped).enumerate() {
        let bottom = top + height(lines.len());
        draw_box(&mut svg, one, lines, (1.0, top), (frame.width - 1.0, bottom));
        if place + 1 < diagram.boxes.len() {
            svg.line("a", (frame.width / 2.0, bottom), (frame.width / 2.0, bottom + link));
            svg.text("b", (frame.width / 2.0 + 8.0, bottom + 17.0), Anchor::Start, &one.link);
        }
        top = bottom + link;
    }
    svg.finish(frame.class, alt)
}

fn draw_box(svg: &mut Svg, one: &DiagramBox, lines: &[String], from: (f64, f64), to: (f64, f64)) {
    svg.rectangle("box", from, to);
    let title = shortened(&one.title, to.0 - from.0 - 2.0 * PADDING);
    svg.text("v", (from.0 + PADDING, from.1 + PADDING + 11.0), Anchor::Start, &title);
    for (number, line) in lines.iter().enumerate() {
        svg.text("k", (from.0 + PADDING, from.1 + PADDING + 11.0 + LINE * (number + 1) as f64), Anchor::Start, line);
    }
}

/// Lines that fit a width, wrapped at spaces.
fn lines(one: &DiagramBox, width: f64) -> Vec<String> {
    one.lines.iter().flat_map(|text| wrapped(text, width)).map(|line| shortened(&line, width)).collect()
}

/// Text cut to a width.
fn shortened(text: &str, width: f64) -> String {
    if width_of(text) <= width {
        return text.to_owned();
    }
    let room = ((width / WIDTH_OF_CHARACTER) as usize).saturating_sub(1);
    text.chars().take(room).chain(['…']).collect()
}
