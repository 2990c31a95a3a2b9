//! Which loads there are: steps of equal ratios, and middles of ranges. Pure arithmetic.

use super::types::Question;

/// Steps that are smaller than this are not worth one of their own before the largest load.
const SMALL_STEP: f64 = 1.2;

impl Question {
    /// Ratio of neighbouring loads while the search climbs: 2, or more where half of the points would not come to the end.
    pub(super) fn ratio(&self) -> f64 {
        (self.to / self.from).powf(2.0 / self.points.max(2) as f64).max(2.0)
    }

    /// The next load upwards; `None` above the largest.
    pub(super) fn above(&self, load: f64) -> Option<f64> {
        if load >= self.to {
            return None;
        }
        let next = self.tidy(load * self.ratio()).max(if self.whole { load + 1.0 } else { load });
        Some(if next * SMALL_STEP >= self.to { self.to } else { next })
    }

    /// A load between two, at equal ratios to both; `None` where the range is narrow enough.
    pub(super) fn middle(&self, low: f64, high: f64) -> Option<f64> {
        if high <= low * (1.0 + self.resolution) || (self.whole && high - low <= 1.0) {
            return None;
        }
        let exact = (low * high).sqrt();
        [self.tidy(exact), exact.floor(), exact.ceil(), exact]
            .into_iter()
            .find(|middle| *middle > low && *middle < high && (!self.whole || middle.fract() == 0.0))
    }

    /// A whole number, or one of three digits.
    fn tidy(&self, load: f64) -> f64 {
        if self.whole {
            return load.round();
        }
        let unit = 10f64.powf(load.log10().floor() - 2.0);
        // Through text: a product of a power of ten has digits that nobody asked for.
        format!("{:.6e}", (load / unit).round() * unit).parse().unwrap_or(load)
    }
}
