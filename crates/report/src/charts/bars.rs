//! Horizontal bars with intervals, for factors whose levels are words.

use super::axis::Layout;
use super::marks::class;
use super::plot::{Frame, axis_title};
use super::svg::{Anchor, Drawing, Svg, width_of};
use crate::blocks::{Bar, Bars, Group, Role};
use crate::numbers::short;

const BAR: f64 = 16.0;
const GAP: f64 = 12.0;

/// Draws bars as SVG.
pub(crate) fn draw_bars(bars: &Bars, frame: Frame, alt: &str) -> Drawing {
    let keys = if bars.names.len() > 1 { bars.names.len() as f64 * 18.0 } else { 0.0 };
    let above = if frame.names_beside { 0.0 } else { 18.0 };
    let group_height = BAR * bars.names.len().max(1) as f64 + GAP + above;
    let (top, height) = (10.0 + keys, 10.0 + keys + group_height * bars.groups.len() as f64 + 44.0);
    let mut svg = Svg::new(frame.width, height);
    let longest = bars.groups.iter().map(|group| width_of(&group.label)).fold(20.0, f64::max);
    let left = if frame.names_beside { (longest + 16.0).min(frame.width * 0.4) } else { 10.0 };
    let (right, bottom) = (frame.width - 70.0, height - 42.0);
    let x = Layout::new(&bars.axis, ends(bars), ((right - left) / 80.0) as usize, (left, right));
    for (value, label) in &x.ticks {
        let at = x.place(*value);
        svg.line("g", (at, top), (at, bottom));
        svg.text("k", (at, bottom + 16.0), Anchor::Middle, label);
    }
    for (index, name) in bars.names.iter().enumerate().filter(|_| bars.names.len() > 1) {
        let y = 18.0 * index as f64 + 4.0;
        svg.rectangle(&format!("bar {}", class(Role::Measured(index))), (left, y), (left + 14.0, y + 11.0));
        svg.text("n", (left + 20.0, y + 10.0), Anchor::Start, name);
    }
    for (index, group) in bars.groups.iter().enumerate() {
        let y = top + group_height * index as f64 + GAP / 2.0;
        let middle = y + (group_height - GAP) / 2.0 + 4.0;
        if frame.names_beside {
            svg.text("n", (left - 8.0, middle), Anchor::End, &group.label);
        } else {
            svg.text("n", (left, y + 11.0), Anchor::Start, &group.label);
        }
        draw_group(&mut svg, (group, bars.observed.get(index).copied().flatten()), &x, y + above);
    }
    svg.line("a", (x.place(0.0), top), (x.place(0.0), bottom));
    svg.text("y", ((left + right) / 2.0, bottom + 34.0), Anchor::Middle, &axis_title(&bars.axis));
    svg.finish(frame.class, alt)
}

fn draw_group(svg: &mut Svg, (group, observed): (&Group, Option<Bar>), x: &Layout, top: f64) {
    for (index, value) in group.values.iter().enumerate() {
        let y = top + BAR * index as f64;
        match (value, observed) {
            (Some(bar), _) => draw_bar(svg, *bar, (class(Role::Measured(index)), ""), x, y),
            (None, Some(bar)) => draw_bar(svg, bar, (class(Role::Void), " void"), x, y),
            (None, None) => svg.text("b", (x.place(0.0) + 6.0, y + 12.0), Anchor::Start, "no valid result"),
        }
    }
}

/// Draws a bar of a class, with its value and a word behind it.
fn draw_bar(svg: &mut Svg, (value, interval): Bar, (class, word): (String, &str), x: &Layout, y: f64) {
    let end = x.place(value);
    svg.rectangle(&format!("bar {class}"), (x.place(0.0), y + 1.0), (end, y + BAR - 1.0));
    let mut label_at = end;
    if let Some((low, high)) = interval {
        let (low, high, middle) = (x.place(low), x.place(high), y + BAR / 2.0);
        svg.line("whisker", (low, middle), (high, middle));
        svg.line("whisker", (low, middle - 4.0), (low, middle + 4.0));
        svg.line("whisker", (high, middle - 4.0), (high, middle + 4.0));
        label_at = label_at.max(high);
    }
    svg.text("k", (label_at + 5.0, y + 12.0), Anchor::Start, &format!("{}{word}", short(value)));
}

fn ends(bars: &Bars) -> impl Iterator<Item = f64> + '_ {
    let valid = bars.groups.iter().flat_map(|group| group.values.iter().flatten());
    let values = valid.chain(bars.observed.iter().flatten());
    values.flat_map(|(value, interval)| [*value, interval.map_or(*value, |(_, high)| high)])
}
