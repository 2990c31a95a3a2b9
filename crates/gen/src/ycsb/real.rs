//! Logarithm and exponential that are the same on every machine.
//!
//! Those of the standard library come from the system and differ between systems in their last bit, which once in
//! a while makes another rank, and so another operation of the same index. These use nothing but IEEE 754's basic
//! operations, in a fixed order. Their error is a few units in the last place; they know no special values.

/// Upper 32 bits of ln 2, so that small multiples are exact, and the rest.
const LN_2_HIGH: f64 = 0.693_147_180_369_123_8;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
/// Added and subtracted, it rounds a double of modest size to a whole number.
pub(super) const ROUNDER: f64 = 3.0 * (1_u64 << 51) as f64;
/// Least exponent whose power of e is a normal number.
const LEAST: f64 = -708.0;
const MOST: f64 = 709.0;

/// The natural logarithm of a positive normal number.
///
/// x = 2^k m, and ln m = 2 artanh(s) with s = (m - 1) / (m + 1), by its series.
#[inline]
pub(super) fn ln(x: f64) -> f64 {
    let (exponent, mantissa) = take_apart(x);
    let above = mantissa - 1.0;
    let s = above / (above + 2.0);
    exponent * LN_2_HIGH + (2.0 * s * polynomial(&ODD_INVERSES, s * s) + exponent * LN_2_LOW)
}

/// k and m with x = 2^k m and m in sqrt(1/2)..sqrt(2).
#[inline]
pub(super) fn take_apart(x: f64) -> (f64, f64) {
    let bits = x.to_bits().cast_signed();
    let exponent = (bits - std::f64::consts::FRAC_1_SQRT_2.to_bits().cast_signed()) >> 52;
    (exponent as f64, f64::from_bits((bits - (exponent << 52)).cast_unsigned()))
}

/// e^x; the nearest that it can give where that is below 10^-307 or above 10^307.
///
/// x = k ln 2 + r with r in -ln(2)/2..ln(2)/2, and e^r by its series.
#[inline]
pub(super) fn exp(x: f64) -> f64 {
    let x = x.clamp(LEAST, MOST);
    let exponent = (x * std::f64::consts::LOG2_E + ROUNDER) - ROUNDER;
    let rest = (x - exponent * LN_2_HIGH) - exponent * LN_2_LOW;
    let scale = f64::from_bits((1_023 + exponent as i64).cast_unsigned() << 52);
    polynomial(&INVERSE_FACTORIALS, rest) * scale
}

/// (e^t - 1) / t for t = ln u, and 1 for t = 0; keeps its digits for small t, where e^t - 1 alone would lose them.
///
/// Source: Higham, "Accuracy and stability of numerical algorithms", section 1.14.1, after Kahan.
#[inline]
pub(super) fn exp_m1_ratio(t: f64) -> f64 {
    let u = exp(t);
    if u == 1.0 { 1.0 } else { (u - 1.0) / ln(u) }
}

/// ln(1 + t) / t, and 1 for t = 0; -1 < t. Source: as above.
#[inline]
pub(super) fn ln_1p_ratio(t: f64) -> f64 {
    let u = 1.0 + t;
    if u == 1.0 { 1.0 } else { ln(u) / (u - 1.0) }
}

/// The sum of c[k] x^k, by Estrin's scheme: few steps that wait for each other.
#[inline]
pub(super) fn polynomial(c: &[f64; 16], x: f64) -> f64 {
    let (x2, x4, x8) = (x * x, (x * x) * (x * x), (x * x) * (x * x) * ((x * x) * (x * x)));
    let four = |k: usize| (c[k] + c[k + 1] * x) + (c[k + 2] + c[k + 3] * x) * x2;
    (four(0) + four(4) * x4) + (four(8) + four(12) * x4) * x8
}

/// 1 / (2k + 1)
const ODD_INVERSES: [f64; 16] = {
    let mut inverses = [0.0; 16];
    let mut k = 0;
    while k < 16 {
        inverses[k] = 1.0 / (2 * k + 1) as f64;
        k += 1;
    }
    inverses
};

/// 1 / k!
const INVERSE_FACTORIALS: [f64; 16] = {
    let mut inverses = [1.0; 16];
    let mut factorial = 1.0;
    let mut k = 1;
    while k < 16 {
        factorial *= k as f64;
        inverses[k] = 1.0 / factorial;
        k += 1;
    }
    inverses
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seed;

    /// The largest error in units of the last place, over numbers of `low..high`, against `known`.
    fn worst(low: f64, high: f64, ours: fn(f64) -> f64, known: fn(f64) -> f64) -> f64 {
        let mut rng = Seed(1).rng();
        let mut x = || low + (high - low) * (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        let errors = (0..100_000).map(|_| {
            let x = x();
            ((ours(x) - known(x)) / (known(x) * f64::EPSILON)).abs()
        });
        errors.fold(0.0, f64::max)
    }

    #[test]
    fn errors_are_a_few_units_in_the_last_place() {
        for (low, high) in [(1e-3, 0.7), (0.7, 1.0), (1.0, 1.5), (1.5, 1e3), (1e3, 1e18)] {
            let error = worst(low, high, ln, f64::ln);
            assert!(error < 4.0, "ln on {low}..{high}: {error}");
        }
        for (low, high) in [(-40.0, -1.0), (-1.0, 1.0), (1.0, 40.0)] {
            let error = worst(low, high, exp, f64::exp);
            assert!(error < 4.0, "exp on {low}..{high}: {error}");
        }
        for (low, high) in [(-0.9, -0.1), (-1e-3, 1e-3), (-1e-15, 1e-15), (0.1, 10.0)] {
            let error = worst(low, high, exp_m1_ratio, |t| t.exp_m1() / t);
            assert!(error < 8.0, "(e^t - 1) / t on {low}..{high}: {error}");
            let error = worst(low, high, ln_1p_ratio, |t| t.ln_1p() / t);
            assert!(error < 8.0, "ln(1 + t) / t on {low}..{high}: {error}");
        }
    }

    #[test]
    fn ends_are_calm() {
        assert_eq!((ln(1.0), exp(0.0), exp_m1_ratio(0.0), ln_1p_ratio(0.0)), (0.0, 1.0, 1.0, 1.0));
        assert!(exp(f64::INFINITY) > 1e307 && exp(f64::NEG_INFINITY) < 1e-307);
    }
}
