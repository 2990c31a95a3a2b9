//! Horizontal bars of parts that add up, with a mark of what was forecast.

use super::axis::Layout;
use super::marks::{self, class};
use super::plot::{Frame, axis_title};
use super::svg::{Anchor, Drawing, Svg, width_of};
use crate::blocks::{Role, Stack, Stacks};
use crate::numbers::short;

const BAR: f64 = 20.0;
const GAP: f64 = 14.0;
const KEY: f64 = 18.0;

/// Draws stacks as SVG. The last part, which is the rest, has a neutral colour.
pub(crate) fn draw_stacks(stacks: &Stacks, frame: Frame, alt: &str) -> Drawing {
    let keys = key_rows(stacks, frame.width - 12.0);
    let above = if frame.names_beside { 0.0 } else { KEY };
    let row = BAR + GAP + above;
    let top = 10.0 + KEY * keys.len() as f64;
    let mut svg = Svg::new(frame.width, top + row * stacks.rows.len() as f64 + 44.0);
    let longest = stacks.rows.iter().map(|row| width_of(&row.label)).fold(20.0, f64::max);
    let left = if frame.names_beside { (longest + 16.0).min(frame.width * 0.4) } else { 10.0 };
    let (right, bottom) = (frame.width - 60.0, top + row * stacks.rows.len() as f64);
    let x = Layout::new(&stacks.axis, ends(stacks), ((right - left) / 80.0) as usize, (left, right));
    for (value, label) in &x.ticks {
        let at = x.place(*value);
        svg.line("g", (at, top), (at, bottom));
        svg.text("k", (at, bottom + 16.0), Anchor::Middle, label);
    }
    for (index, keys) in keys.iter().enumerate() {
        let y = 4.0 + KEY * index as f64;
        for (at, part, name) in keys {
            match part {
                Some(part) => svg.rectangle(&fill(stacks, *part), (*at, y), (at + 14.0, y + 11.0)),
                None => svg.line("whisker", (at + 7.0, y - 1.0), (at + 7.0, y + 12.0)),
            }
            svg.text("n", (at + 20.0, y + 10.0), Anchor::Start, name);
        }
    }
    for (index, stack) in stacks.rows.iter().enumerate() {
        let y = top + row * index as f64 + GAP / 2.0;
        if frame.names_beside {
            svg.text("n", (left - 8.0, y + BAR / 2.0 + 4.0), Anchor::End, &stack.label);
        } else {
            svg.text("n", (left, y + 11.0), Anchor::Start, &stack.label);
        }
        draw_stack(&mut svg, stacks, stack, &x, y + above);
    }
    svg.line("a", (x.place(0.0), top), (x.place(0.0), bottom));
    svg.text("y", ((left + right) / 2.0, bottom + 34.0), Anchor::Middle, &axis_title(&stacks.axis));
    svg.finish(frame.class, alt)
}

fn draw_stack(svg: &mut Svg, stacks: &Stacks, stack: &Stack, x: &Layout, top: f64) {
    let mut from = 0.0;
    for (index, part) in stack.parts.iter().enumerate().filter(|(_, part)| **part > 0.0) {
        let class = format!("{} part", fill(stacks, index));
        svg.rectangle(&class, (x.place(from), top), (x.place(from + part), top + BAR));
        from += part;
    }
    let mut label_at = x.place(from);
    if let Some(mark) = stack.mark {
        let at = x.place(mark);
        svg.line("whisker", (at, top - 4.0), (at, top + BAR + 4.0));
        label_at = label_at.max(at);
    }
    svg.text("k", (label_at + 5.0, top + BAR / 2.0 + 4.0), Anchor::Start, &short(from));
}

/// The class of a part.
fn fill(stacks: &Stacks, part: usize) -> String {
    let class = if part + 1 == stacks.names.len() { "rest".to_owned() } else { class(Role::Measured(part)) };
    format!("bar {class}")
}

/// Keys in rows that fit the width: place, number of the part (`None` for the mark) and name.
fn key_rows(stacks: &Stacks, width: f64) -> Vec<Vec<(f64, Option<usize>, &str)>> {
    let parts = stacks.names.iter().enumerate().map(|(part, name)| (Some(part), name.as_str()));
    let mark = stacks.rows.iter().any(|row| row.mark.is_some()).then_some((None, stacks.mark.as_str()));
    marks::key_rows(parts.chain(mark), 34.0, width)
}

fn ends(stacks: &Stacks) -> impl Iterator<Item = f64> + '_ {
    stacks.rows.iter().flat_map(|row| [row.parts.iter().sum(), row.mark.unwrap_or(0.0)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::Axis;

    #[test]
    fn parts_follow_each_other_and_the_mark_stands_at_its_value() {
        let rows = vec![Stack { label: "a".to_owned(), parts: vec![1.0, 0.0, 3.0], mark: Some(2.0) }];
        let names = ["one", "two", "rest"].map(str::to_owned).to_vec();
        let stacks = Stacks { axis: Axis::linear("Time", "ms"), names, rows, mark: "forecast".to_owned() };
        let drawn = draw_stacks(&stacks, Frame::WIDE, "words").inline();
        assert_eq!(drawn.matches("part\"").count(), 2, "a part of nothing is not drawn: {drawn}");
        assert!(drawn.contains("bar rest part") && drawn.contains("forecast"), "{drawn}");
        let x = |class: &str| {
            let place = drawn.find(&format!("class=\"{class}\" x")).unwrap_or_else(|| panic!("{class}: {drawn}"));
            drawn[place..].split('"').nth(3).unwrap().parse::<f64>().unwrap()
        };
        assert!(x("bar s0 part") < x("bar rest part"), "{drawn}");
    }
}
