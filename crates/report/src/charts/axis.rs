//! Maps values to places on the paper, and chooses ticks.

use crate::blocks::{Axis, Scale};
use crate::numbers::short;

/// An axis laid out between two places.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    scale: Scale,
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    /// Ticks and their labels.
    pub(super) ticks: Vec<(f64, String)>,
}

impl Layout {
    /// Lays out an axis for values; about `wanted` ticks.
    pub(super) fn new(axis: &Axis, values: impl Iterator<Item = f64>, wanted: usize, (from, to): (f64, f64)) -> Self {
        let positive_only = axis.scale == Scale::Logarithmic;
        let all = values.chain(axis.within.into_iter().flat_map(|(low, high)| [low, high]));
        let usable = all.filter(|value| value.is_finite() && (!positive_only || *value > 0.0));
        let (low, high) =
            usable.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        let given = (low, high);
        // Nothing usable: an axis all the same.
        let (low, high) = if low > high { (if positive_only { 1.0 } else { 0.0 }, 1.0) } else { (low, high) };
        let mut layout = match axis.scale {
            Scale::Linear => linear(axis, low, high, wanted),
            Scale::Logarithmic => logarithmic(low, high),
        };
        if let Some(ticks) = &axis.ticks {
            layout.with_given(ticks, given);
        }
        (layout.from, layout.to) = (from, to);
        layout
    }

    /// Where a value lies.
    pub(super) fn place(&self, value: f64) -> f64 {
        let share = match self.scale {
            Scale::Linear => (value - self.low) / (self.high - self.low),
            Scale::Logarithmic => (value.max(f64::MIN_POSITIVE) / self.low).ln() / (self.high / self.low).ln(),
        };
        self.from + share.clamp(-0.02, 1.02) * (self.to - self.from)
    }

    /// Ticks of the study's own, such as the levels of a factor; the axis ends a little outside the values.
    fn with_given(&mut self, ticks: &[(f64, String)], (low, high): (f64, f64)) {
        let all = || ticks.iter().map(|(value, _)| *value).filter(|value| value.is_finite());
        let (low, high) = (all().fold(low, f64::min), all().fold(high, f64::max));
        self.ticks = ticks.to_vec();
        if low > high {
            return;
        }
        match self.scale {
            // Words have no distance: each stands in the middle of a place of its own.
            Scale::Linear if are_words(ticks) => (self.low, self.high) = (low - 0.5, high + 0.5),
            Scale::Linear => {
                let margin = if high > low { (high - low) * 0.06 } else { 0.5 };
                let zero_near = high > low && low >= 0.0 && low - margin < 0.0;
                (self.low, self.high) = (if zero_near { 0.0 } else { low - margin }, high + margin);
            }
            Scale::Logarithmic => {
                let margin = if high > low { (high / low).powf(0.06) } else { 2.0 };
                (self.low, self.high) = (low / margin, high * margin);
            }
        }
    }
}

/// Whether ticks number words one after the other, such as engines by name.
pub(super) fn are_words(ticks: &[(f64, String)]) -> bool {
    ticks.len() > 1
        && ticks.iter().enumerate().all(|(place, (at, word))| *at == place as f64 && word.parse::<f64>().is_err())
}

/// The smallest of 1, 2, 2.5, 5 times a power of ten that is at least `rough`.
fn nice_step(rough: f64) -> f64 {
    let power = 10f64.powf(rough.log10().floor());
    let factor = [1.0, 2.0, 2.5, 5.0].into_iter().find(|factor| factor * power >= rough * 0.999).unwrap_or(10.0);
    factor * power
}

fn linear(axis: &Axis, low: f64, high: f64, wanted: usize) -> Layout {
    let low = if axis.from_zero { low.min(0.0) } else { low };
    let high = axis.up_to.map_or(high, |end| end.max(if high > end * 1.02 { high } else { end }));
    let high = if high > low { high } else { low + 1.0 };
    let step = nice_step((high - low) / wanted.max(1) as f64);
    let first = (low / step + 1e-9).floor();
    let last = if axis.up_to == Some(high) { (high / step + 1e-9).floor() } else { (high / step - 1e-9).ceil() };
    let steps = (last - first).round().max(1.0) as u64;
    let ticks = (0..=steps).map(|index| step * (first + index as f64)).map(|value| (value, short(value))).collect();
    let end = (step * last).max(high);
    Layout { scale: Scale::Linear, low: step * first, high: end, from: 0.0, to: 1.0, ticks }
}

fn logarithmic(low: f64, high: f64) -> Layout {
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let last = last.max(first + 1);
    let factors: &[f64] = if last - first <= 2 { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let ticks = (first..=last).flat_map(|power| factors.iter().map(move |factor| factor * 10f64.powi(power)));
    let (start, end) = (10f64.powi(first), 10f64.powi(last));
    let start = factors.iter().map(|factor| factor * start).filter(|tick| *tick <= low * 1.0001).fold(start, f64::max);
    let end =
        factors.iter().map(|factor| factor * end / 10.0).filter(|tick| *tick >= high * 0.9999).fold(end, f64::min);
    let (start, end) = if end > start * 1.001 { (start, end) } else { (start / 2.0, end * 2.0) };
    let ticks = ticks.filter(|tick| (start * 0.999..=end * 1.001).contains(tick));
    let ticks = ticks.map(|value| (value, short(value))).collect();
    Layout { scale: Scale::Logarithmic, low: start, high: end, from: 0.0, to: 1.0, ticks }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(axis: Axis, values: &[f64], expected: &str) {
        let layout = Layout::new(&axis, values.iter().copied(), 5, (0.0, 100.0));
        let labels: Vec<String> =
            layout.ticks.iter().map(|(value, label)| format!("{label}@{:.0}", layout.place(*value))).collect();
        assert_eq!(labels.join(" "), expected);
    }

    #[test]
    fn ticks_are_round_and_cover_the_values() {
        check(Axis::linear("x", ""), &[3.0, 940.0], "0@0 200@20 400@40 600@60 800@80 1,000@100");
        check(Axis::linear("x", ""), &[0.0, 0.0], "0@0 0.2@20 0.4@40 0.6@60 0.8@80 1@100");
        check(Axis { up_to: Some(100.0), ..Axis::linear("x", "%") }, &[41.0], "0@0 20@20 40@40 60@60 80@80 100@100");
        check(Axis::logarithmic("x", "ms"), &[0.3, 7.0], "0.2@0 0.5@23 1@41 2@59 5@82 10@100");
        check(Axis::logarithmic("x", "ms"), &[0.3, 7000.0], "0.1@0 1@20 10@40 100@60 1,000@80 10,000@100");
        check(Axis::logarithmic("x", "ms"), &[], "1@50 2@100");
        check(Axis::logarithmic("x", "ms"), &[5.0], "5@50 10@100");
        check(Axis::linear("x", ""), &[], "0@0 0.2@20 0.4@40 0.6@60 0.8@80 1@100");
        let given = |words: [&str; 2]| {
            let ticks = words.iter().enumerate().map(|(place, word)| (place as f64, (*word).to_owned()));
            Axis { ticks: Some(ticks.collect()), from_zero: false, ..Axis::linear("x", "") }
        };
        check(given(["SQLite", "PostgreSQL"]), &[0.0, 1.0], "SQLite@25 PostgreSQL@75");
        check(given(["0", "1"]), &[0.0, 1.0], "0@0 1@94");
    }
}
