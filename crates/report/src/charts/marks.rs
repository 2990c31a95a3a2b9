//! Markers, lines and labels of series: each has a colour, a dash and a shape, so that none is told by colour alone.

use super::svg::{Anchor, Svg, place, width_of};
use crate::blocks::{Role, Sample};

/// How many colours the style sheet has.
const COLOURS: usize = 6;

/// The class of a series' lines and markers.
pub(super) fn class(role: Role) -> String {
    match role {
        Role::Measured(number) | Role::Dots(number) | Role::Curve(number) => format!("s{}", number % COLOURS),
        Role::Trace(number) => format!("t s{}", number % COLOURS),
        Role::Reference => "ref".to_owned(),
        Role::Void => "void".to_owned(),
    }
}

/// Whether the values of the series are joined.
pub(super) fn has_line(role: Role) -> bool {
    !matches!(role, Role::Void | Role::Dots(_))
}

/// Draws a marker of a series.
pub(super) fn marker(svg: &mut Svg, role: Role, (x, y): (f64, f64), size: f64) {
    let class = format!("m {}", class(role));
    let points = |corners: &[(f64, f64)]| {
        let places = corners.iter().map(|(dx, dy)| format!("{} {}", place(x + dx * size), place(y + dy * size)));
        format!("M{}Z", places.collect::<Vec<_>>().join("L"))
    };
    match role {
        Role::Trace(_) | Role::Curve(_) => {}
        Role::Void => {
            svg.line(&class, (x - size, y - size), (x + size, y + size));
            svg.line(&class, (x - size, y + size), (x + size, y - size));
        }
        Role::Reference => svg.circle(&class, (x, y), size * 0.9),
        Role::Measured(number) | Role::Dots(number) => match number % COLOURS {
            0 => svg.circle(&class, (x, y), size),
            1 => svg.rectangle(&class, (x - size * 0.9, y - size * 0.9), (x + size * 0.9, y + size * 0.9)),
            2 => svg.shape(&class, &points(&[(0.0, -1.2), (1.1, 0.9), (-1.1, 0.9)])),
            3 => svg.shape(&class, &points(&[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)])),
            4 => svg.shape(&class, &points(&[(0.0, 1.2), (1.1, -0.9), (-1.1, -0.9)])),
            _ => svg.shape(&class, &points(&[(-0.6, -1.1), (0.6, -1.1), (1.1, 0.6), (0.0, 1.2), (-1.1, 0.6)])),
        },
    }
}

/// Draws the interval of a value as a vertical bar with ends.
pub(super) fn interval(svg: &mut Svg, role: Role, x: f64, (low, high): (f64, f64)) {
    let class = format!("e {}", class(role));
    svg.line(&class, (x, low), (x, high));
    svg.line(&class, (x - 4.0, low), (x + 4.0, low));
    svg.line(&class, (x - 4.0, high), (x + 4.0, high));
}

/// The places of samples.
pub(super) fn places(samples: &[Sample], place: impl Fn(&Sample) -> (f64, f64)) -> Vec<(f64, f64)> {
    let at = |sample: &Sample| if sample.y.is_finite() { place(sample) } else { (f64::NAN, f64::NAN) };
    samples.iter().map(at).collect()
}

/// Keys in rows that fit a width, each with its place: its name, and so much room for its mark.
pub(super) fn key_rows<'n, M>(
    keys: impl Iterator<Item = (M, &'n str)>,
    room: f64,
    width: f64,
) -> Vec<Vec<(f64, M, &'n str)>> {
    let mut rows: Vec<Vec<(f64, M, &str)>> = Vec::new();
    let mut left = f64::INFINITY;
    for (mark, name) in keys {
        let needed = width_of(name) + room;
        if left + needed > width {
            rows.push(Vec::new());
            left = 8.0;
        }
        if let Some(row) = rows.last_mut() {
            row.push((left, mark, name));
        }
        left += needed;
    }
    rows
}

/// A key: line, marker and name, as in a legend.
pub(super) fn key(svg: &mut Svg, role: Role, (x, y): (f64, f64), name: &str) {
    if has_line(role) {
        svg.path(&format!("l {}", class(role)), &[(x, y - 4.0), (x + 18.0, y - 4.0)]);
    }
    marker(svg, role, (x + 9.0, y - 4.0), 4.0);
    svg.text("n", (x + 24.0, y), Anchor::Start, name);
}
