//! One set of axes with bands, rules and series. Names stand at the lines where there is room, else above them.

use super::axis::{Layout, are_words};
use super::marks::{self, class, has_line, interval, key, marker, places};
use super::svg::{Anchor, Drawing, LINE, Svg, width_of, wrapped};
use crate::blocks::{Axis, BandKind, Panel, Role, Sample, Series};
use crate::numbers::short;

/// The size of a drawing, in its own pixels, and where the names of series go.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Frame {
    /// Width.
    pub(crate) width: f64,
    /// Height of the axes' area and what is below it; keys above add to it.
    pub(crate) height: f64,
    /// Whether names are written beside the ends of lines; else above the axes.
    pub(crate) names_beside: bool,
    /// Class of the drawing, for the style sheet.
    pub(crate) class: &'static str,
}

impl Frame {
    /// Across the page.
    pub(crate) const WIDE: Self = Self { width: 720.0, height: 350.0, names_beside: true, class: "chart wide" };
    /// Across a sheet of paper, lower, so that two find room on it.
    pub(crate) const SHEET: Self = Self { width: 720.0, height: 280.0, names_beside: true, class: "chart wide" };
    /// One of two stacks of strips beside each other on a sheet.
    pub(crate) const HALF_OF_SHEET: Self = Self { height: 134.0, ..Self::STACK };
    /// One of three of them.
    pub(crate) const THIRD_OF_SHEET: Self = Self { width: 232.0, ..Self::HALF_OF_SHEET };
    /// Layout for screens of a phone's width.
    pub(crate) const NARROW: Self = Self { width: 360.0, height: 290.0, names_beside: false, class: "chart narrow" };
    /// One of several beside each other.
    pub(crate) const PANEL: Self = Self { width: 350.0, height: 210.0, names_beside: false, class: "chart panel" };

    /// One of several stacks of strips beside each other.
    pub(crate) const STACK: Self = Self { width: 350.0, height: 150.0, names_beside: false, class: "chart panel" };

    /// Whether names stand beside the lines.
    fn has_names_beside(self, panel: &Panel) -> bool {
        self.names_beside && has_names(panel) && longest_name(panel) + 22.0 <= MOST_BESIDE * self.width
    }

    /// The same for a panel of strips: the first the largest, the others lower, the last with the writing of the axis.
    fn strip(self, is_first: bool, is_last: bool) -> Self {
        let axis = if is_last { 36.0 } else { 0.0 };
        Self { height: (self.height * if is_first { 0.84 } else { 0.38 }).round() + axis, ..self }
    }
}

/// Share of a drawing's width up to which names stand beside the lines, not above them.
const MOST_BESIDE: f64 = 0.3;

/// Values of a panel up to this number stand beside their markers.
const LABELLED: usize = 8;

/// Draws panels below each other whose axes begin at one place; the horizontal axis is named once, below.
pub(crate) fn draw_strips(panels: &[Panel], frame: Frame) -> Vec<Drawing> {
    let last = panels.len().saturating_sub(1);
    let frames = || panels.iter().enumerate().map(|(place, panel)| (panel, frame.strip(place == 0, place == last)));
    let left = frames().map(|(panel, frame)| AxesPlace::of(panel, frame).left).fold(0.0, f64::max);
    let right = frames().map(|(panel, frame)| AxesPlace::of(panel, frame).right).fold(frame.width, f64::min);
    let drawn = frames().enumerate().map(|(place, (panel, frame))| {
        let own = AxesPlace::of(panel, frame);
        // Only the last has the writing of the axis below it.
        let bottom = if place < last { frame.height - 7.0 } else { own.bottom };
        draw(panel, frame, AxesPlace { left, right, bottom, axis_named: place == last, ..own })
    });
    drawn.collect()
}

/// Where the axes of a panel lie.
#[derive(Debug, Clone, Copy, PartialEq)]
struct AxesPlace {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    height: f64,
    axis_named: bool,
}

impl AxesPlace {
    fn of(panel: &Panel, frame: Frame) -> Self {
        let names_beside = frame.has_names_beside(panel);
        let keys = if names_beside { 0 } else { key_rows(panel, frame.width - 12.0).len() };
        let top = 10.0 + 18.0 * keys as f64 + if axis_title(&panel.y).is_empty() { 4.0 } else { 24.0 };
        let below = LINE * (tick_rows(panel, frame.width - 60.0) - 1) as f64;
        let height = frame.height + 18.0 * keys as f64 + below;
        let bottom = height - below - if panel.x.title.is_empty() { 24.0 } else { 42.0 };
        let y = Layout::new(&panel.y, y_values(panel), ((bottom - top) / 45.0) as usize, (bottom, top));
        let left = 14.0 + y.ticks.iter().map(|(_, label)| width_of(label)).fold(20.0, f64::max);
        let right = frame.width - if names_beside { longest_name(panel) + 22.0 } else { 14.0 };
        Self { left, right, top, bottom, height, axis_named: true }
    }
}

/// The drawing in the making.
struct Plot<'a> {
    svg: Svg,
    panel: &'a Panel,
    x: Layout,
    y: Layout,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    axis_named: bool,
}

/// Draws a panel as SVG.
pub(crate) fn draw_panel(panel: &Panel, frame: Frame) -> Drawing {
    draw(panel, frame, AxesPlace::of(panel, frame))
}

fn draw(panel: &Panel, frame: Frame, place: AxesPlace) -> Drawing {
    let names_beside = frame.has_names_beside(panel);
    let keys = if names_beside { Vec::new() } else { key_rows(panel, frame.width - 12.0) };
    let AxesPlace { left, right, top, bottom, height, axis_named } = place;
    let y = Layout::new(&panel.y, y_values(panel), (((bottom - top) / 45.0) as usize).max(1), (bottom, top));
    let x = Layout::new(&panel.x, x_values(panel), ((right - left) / 80.0) as usize, (left, right));
    let mut plot = Plot { svg: Svg::new(frame.width, height), panel, x, y, left, right, top, bottom, axis_named };
    plot.bands();
    plot.axes();
    plot.rules();
    plot.series();
    plot.band_names();
    // In a small panel the values of several series would lie on each other.
    if frame.class != Frame::PANEL.class || panel.series.len() < 2 {
        plot.values();
    }
    if names_beside {
        plot.names();
    }
    for (row, keys) in keys.iter().enumerate() {
        for (left, role, name) in keys {
            key(&mut plot.svg, *role, (*left, 16.0 + 18.0 * row as f64), name);
        }
    }
    plot.svg.finish(frame.class, &panel.alt)
}

/// Draws the key of several panels.
pub(crate) fn draw_key(names: &[(Role, String)]) -> Drawing {
    let mut svg = Svg::new(720.0, 22.0);
    let mut left = 4.0;
    for (role, name) in names {
        key(&mut svg, *role, (left, 16.0), name);
        left += width_of(name) + 46.0;
    }
    let told: Vec<&str> = names.iter().map(|(_, name)| name.as_str()).collect();
    svg.finish("chart key wide-key", &format!("Key to the panels below: {}.", told.join(", ")))
}

/// Whether series are told apart by names.
fn has_names(panel: &Panel) -> bool {
    panel.series.len() > 1 && panel.series.iter().any(|series| !series.name.is_empty())
}

/// Width of the longest name of a series.
fn longest_name(panel: &Panel) -> f64 {
    panel.series.iter().map(|series| width_of(&series.name)).fold(0.0, f64::max)
}

/// Lines of a tick's label: words are broken where each has a place of its own.
fn tick_lines(ticks: &[(f64, String)], label: &str, width: f64) -> Vec<String> {
    if are_words(ticks) { wrapped(label, width / ticks.len() as f64 - 8.0) } else { vec![label.to_owned()] }
}

/// Most lines of a tick of the horizontal axis that is as wide.
fn tick_rows(panel: &Panel, width: f64) -> usize {
    let ticks = panel.x.ticks.as_deref().unwrap_or_default();
    ticks.iter().map(|(_, label)| tick_lines(ticks, label, width).len()).max().unwrap_or(1)
}

/// Keys in rows that fit the width.
fn key_rows(panel: &Panel, width: f64) -> Vec<Vec<(f64, Role, &str)>> {
    let named = panel.series.iter().filter(|series| panel.series.len() > 1 && !series.name.is_empty());
    marks::key_rows(named.map(|series| (series.role, series.name.as_str())), 40.0, width)
}

fn x_values(panel: &Panel) -> impl Iterator<Item = f64> + '_ {
    let samples = panel.series.iter().flat_map(|series| series.samples.iter().map(|sample| sample.x));
    samples.chain(panel.bands.iter().flat_map(|band| [band.from, band.to]))
}

fn y_values(panel: &Panel) -> impl Iterator<Item = f64> + '_ {
    let ends = |sample: &Sample| {
        let (low, high) = sample.interval.unwrap_or((sample.y, sample.y));
        [sample.y, low, high]
    };
    let samples = panel.series.iter().flat_map(move |series| series.samples.iter().flat_map(ends));
    samples.chain(panel.rules.iter().map(|rule| rule.y))
}

/// Title and unit of an axis.
pub(super) fn axis_title(axis: &Axis) -> String {
    match (axis.title.is_empty(), axis.unit.is_empty()) {
        (_, true) => axis.title.clone(),
        (true, false) => axis.unit.clone(),
        (false, false) => format!("{}, {}", axis.title, axis.unit),
    }
}

/// Labels at the head of a plot, with their rows and extents, so that no two overlap.
#[derive(Debug, Default)]
struct LabelRows(Vec<(usize, (f64, f64))>);

impl LabelRows {
    /// Takes the first row from one on in which there is room between two places.
    fn take(&mut self, from: usize, (left, right): (f64, f64)) -> usize {
        let is_taken =
            |row: usize| self.0.iter().any(|(other, (start, end))| *other == row && left < *end && *start < right);
        let row = (from..).find(|row| !is_taken(*row)).unwrap_or(from);
        self.0.push((row, (left, right)));
        row
    }

    /// The foot of a row's letters below the head of the plot.
    fn foot(row: usize) -> f64 {
        12.0 + 12.0 * row as f64
    }
}

impl Plot<'_> {
    fn bands(&mut self) {
        for band in &self.panel.bands {
            let (from, to) = (self.x.place(band.from).max(self.left), self.x.place(band.to).min(self.right));
            let corners = ((from, self.top), (to, self.bottom));
            match band.kind {
                BandKind::Instant => {
                    let x = self.x.place(band.from);
                    self.svg.line("rule", (x, self.top), (x, self.bottom));
                }
                BandKind::Checkpoint => self.svg.line("checkpoint", (from, self.top), (from, self.bottom)),
                BandKind::Absent => self.svg.hatching("hatch", corners.0, corners.1),
                BandKind::WarmUp | BandKind::Unprotected => self.svg.rectangle("band warm", corners.0, corners.1),
                BandKind::Window => self.svg.rectangle("band window", corners.0, corners.1),
                BandKind::Knee => self.svg.rectangle("band knee", corners.0, corners.1),
                BandKind::Away => self.svg.rectangle("band away", corners.0, corners.1),
            }
        }
    }

    /// Names of bands and instants, after the series: no line goes through their letters.
    fn band_names(&mut self) {
        let (mut instants, mut labels) = (0, LabelRows::default());
        for band in &self.panel.bands {
            let (from, to) = (self.x.place(band.from).max(self.left), self.x.place(band.to).min(self.right));
            match band.kind {
                BandKind::Instant => {
                    instants += 1;
                    self.instant_name(band.from, &band.label, instants, &mut labels);
                    continue;
                }
                BandKind::Checkpoint => continue,
                BandKind::Absent
                | BandKind::WarmUp
                | BandKind::Unprotected
                | BandKind::Window
                | BandKind::Knee
                | BandKind::Away => {}
            }
            let (width, middle) = (width_of(&band.label), (from + to) / 2.0);
            if width < to - from {
                let row = labels.take(0, (middle - width / 2.0, middle + width / 2.0));
                self.svg.text("b", (middle, self.top + LabelRows::foot(row)), Anchor::Middle, &band.label);
            }
        }
    }

    /// The name of a vertical line, at least one line lower than that of the instant before.
    fn instant_name(&mut self, at: f64, label: &str, row: usize, labels: &mut LabelRows) {
        let (x, width) = (self.x.place(at), width_of(label));
        let fits = x + 4.0 + width < self.right;
        let (from, anchor) = if fits { (x + 4.0, Anchor::Start) } else { (x - 4.0, Anchor::End) };
        let row = labels.take(row, if fits { (from, from + width) } else { (from - width, from) });
        self.svg.text("b", (from, self.top + LabelRows::foot(row)), anchor, label);
    }

    fn axes(&mut self) {
        for (value, label) in &self.y.ticks {
            let y = self.y.place(*value);
            self.svg.line("g", (self.left, y), (self.right, y));
            self.svg.text("k", (self.left - 6.0, y + 4.0), Anchor::End, label);
        }
        self.svg.line("a", (self.left, self.bottom), (self.right, self.bottom));
        let (mut free_from, mut rows) = (f64::NEG_INFINITY, 1);
        for (value, label) in &self.x.ticks {
            let x = self.x.place(*value);
            self.svg.line("a", (x, self.bottom), (x, self.bottom + 4.0));
            if !self.axis_named {
                continue;
            }
            let lines = tick_lines(&self.x.ticks, label, self.right - self.left);
            let half = lines.iter().map(|line| width_of(line)).fold(0.0, f64::max) / 2.0;
            if x - half >= free_from {
                for (row, line) in lines.iter().enumerate() {
                    self.svg.text("k", (x, self.bottom + 17.0 + LINE * row as f64), Anchor::Middle, line);
                }
                rows = rows.max(lines.len());
                free_from = x + half + 6.0;
            }
        }
        let title = axis_title(&self.panel.y);
        self.svg.text("y", (4.0, self.top - 13.0), Anchor::Start, &title);
        let title = if self.axis_named { axis_title(&self.panel.x) } else { String::new() };
        let centre = (self.left + self.right) / 2.0;
        self.svg.text("y", (centre, self.bottom + 21.0 + LINE * rows as f64), Anchor::Middle, &title);
    }

    fn rules(&mut self) {
        for rule in &self.panel.rules {
            let (from, to) = rule.span.map_or((self.left, self.right), |(a, b)| (self.x.place(a), self.x.place(b)));
            let y = self.y.place(rule.y);
            self.svg.line("rule", (from, y), (to, y));
            if !rule.label.is_empty() {
                self.svg.text("b", (to, y - 5.0), Anchor::End, &rule.label);
            }
        }
    }

    fn series(&mut self) {
        for series in &self.panel.series {
            let at = |sample: &Sample| (self.x.place(sample.x), self.y.place(sample.y));
            let line = places(&series.samples, at);
            let role = series.role;
            if has_line(role) {
                self.svg.path(&format!("l {}", class(role)), &line);
            }
            for (sample, centre) in series.samples.iter().zip(&line).filter(|(sample, _)| sample.y.is_finite()) {
                if let Some((low, high)) = sample.interval {
                    interval(&mut self.svg, role, centre.0, (self.y.place(low), self.y.place(high)));
                }
                marker(&mut self.svg, role, *centre, 4.0);
            }
        }
    }

    /// Values beside their markers, where there are few: below a rising line, above a falling one.
    fn values(&mut self) {
        let marked = |series: &&Series| !matches!(series.role, Role::Trace(_) | Role::Curve(_) | Role::Reference);
        let finite = |series: &Series| series.samples.iter().filter(|sample| sample.y.is_finite()).count();
        if self.panel.series.iter().filter(marked).map(finite).sum::<usize>() > LABELLED {
            return;
        }
        for series in self.panel.series.iter().filter(marked) {
            let samples: Vec<&Sample> = series.samples.iter().filter(|sample| sample.y.is_finite()).collect();
            for (place, sample) in samples.iter().enumerate() {
                let neighbour = samples.get(place + 1).map(|next| next.y - sample.y);
                let before = place.checked_sub(1).and_then(|before| samples.get(before)).map(|last| sample.y - last.y);
                let (x, y) = (self.x.place(sample.x), self.y.place(sample.y));
                let label = short(sample.y);
                let fits = x + 8.0 + width_of(&label) < self.right + 12.0;
                let rising = if fits { neighbour.or(before) } else { before }.unwrap_or(0.0) >= 0.0;
                let dy = if rising == fits { 17.0 } else { -9.0 };
                let (dx, anchor) = if fits { (8.0, Anchor::Start) } else { (-8.0, Anchor::End) };
                // Below the axis there is its own writing.
                let dy = if y + dy > self.bottom - 3.0 { -9.0 } else { dy };
                self.svg.text("v", (x + dx, y + dy), anchor, &label);
            }
        }
    }

    /// Names beside the last value of each series, pushed apart.
    fn names(&mut self) {
        let mut names: Vec<(f64, Role, &str)> = self
            .panel
            .series
            .iter()
            .filter(|series| !series.name.is_empty())
            .filter_map(|series| {
                let last = series.samples.iter().rev().find(|sample| sample.y.is_finite())?;
                Some((self.y.place(last.y), series.role, series.name.as_str()))
            })
            .collect();
        names.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut free_from = self.top - 4.0;
        let below: f64 = names.len() as f64 * 15.0;
        for (index, (y, role, name)) in names.into_iter().enumerate() {
            let room = self.bottom - below + 15.0 * index as f64;
            let y = y.min(room).max(free_from);
            free_from = y + 15.0;
            marker(&mut self.svg, role, (self.right + 10.0, y), 3.5);
            if matches!(role, Role::Curve(_)) {
                self.svg.path(&format!("l {}", class(role)), &[(self.right + 1.0, y), (self.right + 16.0, y)]);
            }
            self.svg.text("n", (self.right + 18.0, y + 4.0), Anchor::Start, name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_stands_below_those_that_it_would_stand_on() {
        let mut labels = LabelRows::default();
        assert_eq!([labels.take(0, (10.0, 50.0)), labels.take(0, (60.0, 90.0))], [0, 0], "beside each other");
        assert_eq!([labels.take(1, (40.0, 70.0)), labels.take(0, (20.0, 65.0))], [1, 2], "the first row with room");
    }
}
