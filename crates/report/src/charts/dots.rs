//! Rows of dots with intervals on one axis: ratios beside each other, or many things measured in several ways.

use super::axis::Layout;
use super::marks::marker;
use super::plot::{Frame, axis_title};
use super::svg::{Anchor, Drawing, Svg, width_of};
use crate::blocks::{DotRows, Group, Role};
use crate::numbers::short;

const ROW: f64 = 22.0;

/// Draws rows of dots as SVG.
pub(crate) fn draw_dots(dots: &DotRows, frame: Frame, alt: &str) -> Drawing {
    let keys = if dots.names.len() > 1 { dots.names.len() as f64 * 18.0 } else { 0.0 };
    let above = if frame.names_beside { 0.0 } else { 16.0 };
    let top = 10.0 + keys;
    let row = ROW + above;
    let bottom = top + row * dots.rows.len() as f64;
    let mut svg = Svg::new(frame.width, bottom + 44.0);
    let longest = dots.rows.iter().map(|row| width_of(&row.label)).fold(20.0, f64::max);
    let left = if frame.names_beside { (longest + 16.0).min(frame.width * 0.45) } else { 12.0 };
    let right = frame.width - 56.0;
    let x = Layout::new(&dots.axis, ends(dots), ((right - left) / 80.0) as usize, (left, right));
    if let Some((low, high)) = dots.band {
        svg.rectangle("band window", (x.place(low), top), (x.place(high), bottom));
    }
    for (value, label) in &x.ticks {
        let at = x.place(*value);
        svg.line("g", (at, top), (at, bottom));
        svg.text("k", (at, bottom + 16.0), Anchor::Middle, label);
    }
    if let Some(rule) = dots.rule {
        svg.line("rule", (x.place(rule), top), (x.place(rule), bottom));
    }
    for (index, name) in dots.names.iter().enumerate().filter(|_| dots.names.len() > 1) {
        let y = 18.0 * index as f64 + 10.0;
        marker(&mut svg, Role::Dots(index), (left + 6.0, y), 4.0);
        svg.text("n", (left + 18.0, y + 4.0), Anchor::Start, name);
    }
    for (index, group) in dots.rows.iter().enumerate() {
        let y = top + row * index as f64;
        if frame.names_beside {
            svg.text("n", (left - 8.0, y + ROW / 2.0 + 4.0), Anchor::End, &group.label);
        } else {
            svg.text("n", (left, y + 13.0), Anchor::Start, &group.label);
        }
        draw_row(&mut svg, group, &x, y + above + ROW / 2.0, dots.names.len() < 2);
    }
    svg.line("a", (left, bottom), (right, bottom));
    svg.text("y", ((left + right) / 2.0, bottom + 34.0), Anchor::Middle, &axis_title(&dots.axis));
    svg.finish(frame.class, alt)
}

fn draw_row(svg: &mut Svg, group: &Group, x: &Layout, y: f64, labelled: bool) {
    for (index, value) in group.values.iter().enumerate() {
        let Some((value, interval)) = value else { continue };
        let mut end = x.place(*value);
        if let Some((low, high)) = interval {
            svg.line("whisker", (x.place(*low), y), (x.place(*high), y));
            end = end.max(x.place(*high));
        }
        marker(svg, Role::Dots(index), (x.place(*value), y), 4.0);
        if labelled {
            svg.text("v", (end + 8.0, y + 4.0), Anchor::Start, &short(*value));
        }
    }
}

fn ends(dots: &DotRows) -> impl Iterator<Item = f64> + '_ {
    let values = dots.rows.iter().flat_map(|row| row.values.iter().flatten());
    let values = values.flat_map(|(value, interval)| {
        let (low, high) = interval.unwrap_or((*value, *value));
        [*value, low, high]
    });
    values.chain(dots.rule).chain(dots.band.into_iter().flat_map(|(low, high)| [low, high]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::Axis;

    #[test]
    fn a_row_has_its_dot_its_interval_and_its_value() {
        let rows = vec![
            Group { label: "one".to_owned(), values: vec![Some((0.5, Some((0.4, 0.6))))] },
            Group { label: "two".to_owned(), values: vec![None] },
        ];
        let axis = Axis::logarithmic("Ratio B/A", "");
        let dots = DotRows { axis, names: vec![String::new()], rows, rule: Some(1.0), band: Some((0.97, 1.03)) };
        let drawn = draw_dots(&dots, Frame::WIDE, "words").inline();
        assert_eq!(drawn.matches("whisker").count(), 1, "{drawn}");
        assert!(drawn.contains(">0.5</text>") && drawn.contains("band window") && drawn.contains("two"), "{drawn}");
    }
}
