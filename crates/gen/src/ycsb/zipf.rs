//! The exact zipfian distribution, for any skew and any number of ranks, in constant memory and start-up time.
//!
//! Rejection-inversion. Source: Hörmann, Derflinger, "Rejection-inversion to generate variates from monotone
//! discrete distributions", ACM TOMACS 6 (1996), algorithm RI with the shortcut of its section 3. Nothing is
//! summed; growth of the number of ranks changes one constant.

use super::compatible::Draws;
use super::real::{exp, exp_m1_ratio, ln, ln_1p_ratio};
use super::stream::Stream;

/// The least argument of ln(1 + t) that leaves a positive number.
const NEARLY_MINUS_ONE: f64 = -1.0 + f64::EPSILON / 2.0;

/// A skew: ranks k = 1, 2, ... in proportion to k^-θ.
#[derive(Clone, Copy, Debug)]
pub(super) struct Skew {
    /// 1 - θ
    complement: f64,
    /// -θ
    exponent: f64,
    /// H(1.5) - 1, one end of the range that is inverted
    low: f64,
    /// 2 - H⁻¹(H(2.5) - h(2)): a point no farther than this below its rank is accepted unseen
    shortcut: f64,
}

/// A skew over so many ranks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Zipf {
    skew: Skew,
    ranks: f64,
    /// H(ranks + 0.5), the other end of the range
    high: f64,
}

impl Skew {
    /// The skew `theta`, at least 0.
    pub(super) fn new(theta: f64) -> Self {
        let mut skew = Self { complement: 1.0 - theta, exponent: -theta, low: 0.0, shortcut: 0.0 };
        skew.low = skew.integral(1.5) - 1.0;
        skew.shortcut = 2.0 - skew.inverse(skew.integral(2.5) - skew.height(2.0));
        skew
    }

    /// The distribution over the ranks 1 to `ranks`; at least one.
    pub(super) fn over(self, ranks: u64) -> Zipf {
        let ranks = ranks.max(1) as f64;
        Zipf { skew: self, ranks, high: self.integral(ranks + 0.5) }
    }

    /// h(x) = x^-θ
    fn height(&self, x: f64) -> f64 {
        exp(self.exponent * ln(x))
    }

    /// H(x) = (x^(1-θ) - 1) / (1-θ), or ln x for θ = 1
    fn integral(&self, x: f64) -> f64 {
        let log = ln(x);
        exp_m1_ratio(self.complement * log) * log
    }

    /// H⁻¹(y) = (1 + y (1-θ))^(1/(1-θ)), or e^y for θ = 1
    #[inline]
    fn inverse(&self, y: f64) -> f64 {
        // Rounding may carry the argument to -1 and past it at the far end of a skew above 1.
        exp(ln_1p_ratio((self.complement * y).max(NEARLY_MINUS_ONE)) * y)
    }
}

impl Zipf {
    /// Sets another number of ranks; see [`Skew::over`].
    pub(super) fn set_ranks(&mut self, ranks: u64) {
        *self = self.skew.over(ranks);
    }

    /// A rank, 1 to the number of ranks.
    #[inline]
    pub(super) fn draw(&self, stream: &mut Stream) -> u64 {
        loop {
            let area = self.high + stream.unit() * (self.skew.low - self.high);
            let x = self.skew.inverse(area);
            let rank = ((x + 0.5) as i64 as f64).clamp(1.0, self.ranks);
            if rank - x <= self.skew.shortcut || area >= self.skew.integral(rank + 0.5) - self.skew.height(rank) {
                return rank as u64;
            }
        }
    }
}
