//! Heat maps in ten steps of one hue, light to dark; neighbours of one step are drawn as one rectangle.

use super::svg::{Anchor, Drawing, LINE, Svg, width_of, wrapped};
use crate::blocks::Heat;
use crate::numbers::short;

/// Number of steps of the scale.
const STEPS: usize = 10;

/// Draws a heat map as SVG.
pub(crate) fn draw_heat(heat: &Heat, class: &str) -> Drawing {
    let width = if heat.labelled { 720.0 } else { 350.0 };
    let narrowest = if heat.labelled { 22.0 } else { 3.0 };
    let row_height = (180.0 / heat.rows.len().max(1) as f64).clamp(narrowest, narrowest.max(18.0));
    let left = 12.0 + heat.rows.iter().map(|row| width_of(row)).fold(10.0, f64::max);
    let (right, top) = (width - 8.0, 6.0);
    let bottom = top + row_height * heat.rows.len() as f64;
    let columns = heat.cells.iter().map(Vec::len).max().unwrap_or(0).max(1);
    let column = (right - left) / columns as f64;
    let tick_lines = |label: &str| if heat.labelled { wrapped(label, column - 6.0) } else { vec![label.to_owned()] };
    let rows = heat.x_ticks.iter().map(|(_, label)| tick_lines(label).len()).max().unwrap_or(1);
    let title_at = bottom + 17.0 + LINE * rows as f64;
    let mut svg = Svg::new(width, title_at + 7.0);
    for (index, cells) in heat.cells.iter().enumerate() {
        let y = top + row_height * index as f64;
        let stretches = if heat.labelled { singles(cells, heat.full) } else { stretches(cells, heat.full) };
        for (from, to, step) in stretches {
            let name = step.map_or_else(|| "h none".to_owned(), |step| format!("h h{step}"));
            let ends = (left + column * to as f64, y + row_height - 0.5);
            svg.rectangle(&name, (left + column * from as f64, y), ends);
            if let Some(value) = cells.get(from).copied().flatten().filter(|_| heat.labelled) {
                let class = if step.is_some_and(|step| step >= STEPS / 2) { "hl dark" } else { "hl" };
                let middle = left + column * (from as f64 + 0.5);
                svg.text(class, (middle, y + row_height / 2.0 + 4.0), Anchor::Middle, &short(value.round()));
            }
        }
    }
    let mut free_from = 0.0;
    for (index, label) in heat.rows.iter().enumerate() {
        let y = top + row_height * (index as f64 + 0.5);
        if y - 6.0 >= free_from {
            svg.text("k", (left - 5.0, y + 4.0), Anchor::End, label);
            free_from = y + 7.0;
        }
    }
    let mut free_from = f64::NEG_INFINITY;
    for (index, label) in &heat.x_ticks {
        let x = left + column * (*index as f64 + if columns <= 16 { 0.5 } else { 0.0 });
        let lines = tick_lines(label);
        let half = lines.iter().map(|line| width_of(line)).fold(0.0, f64::max) / 2.0;
        if x - half >= free_from {
            for (row, line) in lines.iter().enumerate() {
                svg.text("k", (x, bottom + LINE * (row as f64 + 1.0)), Anchor::Middle, line);
            }
            free_from = x + half + 4.0;
        }
    }
    svg.text("y", ((left + right) / 2.0, title_at), Anchor::Middle, &heat.x_title);
    svg.finish(class, &heat.alt)
}

/// The key of the scale: ten steps with their ends named.
pub(crate) fn draw_heat_scale(full: f64, legend: &str) -> Drawing {
    let mut svg = Svg::new(350.0, 40.0);
    for step in 0..STEPS {
        let x = 8.0 + 20.0 * step as f64;
        svg.rectangle(&format!("h h{step}"), (x, 4.0), (x + 20.0, 16.0));
    }
    svg.text("k", (8.0, 30.0), Anchor::Start, "0");
    svg.text("k", (208.0, 30.0), Anchor::End, &short(full));
    svg.text("k", (218.0, 14.0), Anchor::Start, legend);
    svg.finish("chart key", &format!("Scale: light is 0, dark is {}, {legend}", short(full)))
}

/// Each cell as a stretch of its own.
fn singles(cells: &[Option<f64>], full: f64) -> Vec<(usize, usize, Option<usize>)> {
    let one = |(index, cell): (usize, &Option<f64>)| {
        stretches(std::slice::from_ref(cell), full).into_iter().map(move |(_, _, step)| (index, index + 1, step))
    };
    cells.iter().enumerate().flat_map(one).collect()
}

/// Stretches of equal steps: from, to (exclusive) and the step.
fn stretches(cells: &[Option<f64>], full: f64) -> Vec<(usize, usize, Option<usize>)> {
    let step = |value: &Option<f64>| {
        let value = value.filter(|value| value.is_finite())?;
        Some(((value / full * STEPS as f64) as usize).min(STEPS - 1))
    };
    let mut stretches: Vec<(usize, usize, Option<usize>)> = Vec::new();
    for (index, value) in cells.iter().enumerate() {
        match stretches.last_mut() {
            Some(last) if last.2 == step(value) => last.1 = index + 1,
            _ => stretches.push((index, index + 1, step(value))),
        }
    }
    stretches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_neighbours_are_one_stretch_and_gaps_stay_gaps() {
        let cells = [Some(5.0), Some(9.0), None, Some(100.0), Some(95.0)];
        assert_eq!(stretches(&cells, 100.0), [(0, 2, Some(0)), (2, 3, None), (3, 5, Some(9))]);
    }
}
