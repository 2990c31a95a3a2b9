//! Logarithm and power rounded as the exact value would be, but for a few cases in a million.
//!
//! YCSB's ranks hang on the last bit of Java's `Math.pow`, which differs between systems. The nearest double is the
//! value that libraries agree on most often: of a million powers as YCSB draws them, Java 17.0.15 on x86-64 gives 547
//! another last bit, of a million logarithms 12, and none of those made another key. The arithmetic is on unevaluated
//! sums of two doubles, in basic operations only, and so alike on every machine.
//!
//! Sources: Dekker, "A floating-point technique for extending the available precision", Numer. Math. 18 (1971);
//! Tang, "Table-driven implementation of the logarithm function", ACM TOMS 16 (1990), for the shape of `ln_pair`.

use super::real::{ROUNDER, polynomial, take_apart};

/// A number as the sum of a double and a much smaller one.
#[derive(Clone, Copy, Debug)]
struct Pair {
    high: f64,
    low: f64,
}

/// ln 2
const LN_2: Pair = Pair { high: std::f64::consts::LN_2, low: 2.319_046_813_846_299_6e-17 };

/// The natural logarithm of a positive normal number.
#[inline]
pub(super) fn ln(x: f64) -> f64 {
    ln_pair(x).high
}

/// `base` to the power of `exponent`, for a positive normal base and a result between 10^-300 and 10^300.
#[inline]
pub(super) fn power(base: f64, exponent: f64) -> f64 {
    exp_pair(ln_pair(base).times(Pair::of(exponent)))
}

impl Pair {
    const fn of(high: f64) -> Self {
        Self { high, low: 0.0 }
    }

    /// a + b, exactly. Knuth.
    const fn sum(a: f64, b: f64) -> Self {
        let high = a + b;
        let part = high - a;
        Self { high, low: (a - (high - part)) + (b - part) }
    }

    /// a + b, exactly, where a is the larger in size.
    const fn sum_of_ordered(a: f64, b: f64) -> Self {
        let high = a + b;
        Self { high, low: b - (high - a) }
    }

    /// a b, exactly, for sizes below 10^300. Dekker, after Veltkamp's split into halves of 26 bits.
    const fn product(a: f64, b: f64) -> Self {
        let high = a * b;
        let ((a1, a2), (b1, b2)) = (split(a), split(b));
        Self { high, low: ((a1 * b1 - high) + a1 * b2 + a2 * b1) + a2 * b2 }
    }

    const fn plus(self, other: Self) -> Self {
        let sum = Self::sum(self.high, other.high);
        Self::sum_of_ordered(sum.high, sum.low + (self.low + other.low))
    }

    const fn times(self, other: Self) -> Self {
        let product = Self::product(self.high, other.high);
        Self::sum_of_ordered(product.high, product.low + (self.high * other.low + self.low * other.high))
    }

    /// The same times a power of two.
    const fn scaled(self, scale: f64) -> Self {
        Self { high: self.high * scale, low: self.low * scale }
    }

    const fn over(self, divisor: f64) -> Self {
        let high = self.high / divisor;
        let back = Self::product(high, divisor);
        Self::sum_of_ordered(high, ((self.high - back.high) - back.low + self.low) / divisor)
    }
}

const fn split(a: f64) -> (f64, f64) {
    let shifted = a * ((1 << 27) + 1) as f64;
    let high = shifted - (shifted - a);
    (high, a - high)
}

/// ln x = k ln 2 - ln c + ln(1 + r), where x = 2^k m, c is near 1/m, and r = m c - 1 is below 2^-7.
#[inline]
fn ln_pair(x: f64) -> Pair {
    let (exponent, mantissa) = take_apart(x);
    let (inverse, log) = INVERSES[(mantissa * STEPS + 0.5) as usize - FIRST];
    let product = Pair::product(mantissa, inverse);
    let r = Pair::sum(product.high - 1.0, product.low);
    let tail = r.high * r.high * r.high * polynomial(&THIRD_ON, r.high);
    let near = r.plus(r.times(r).scaled(-0.5)).plus(Pair::of(tail));
    Pair::of(exponent).times(LN_2).plus(log).plus(near)
}

/// e^x = 2^k (e^r)^64, where x = k ln 2 + 64 r, with e^r - 1 squared up in its own small size.
#[inline]
fn exp_pair(x: Pair) -> f64 {
    const SQUARINGS: i32 = 6;
    let exponent = (x.high * std::f64::consts::LOG2_E + ROUNDER) - ROUNDER;
    let r = x.plus(Pair::of(-exponent).times(LN_2)).scaled(1.0 / f64::from(1 << SQUARINGS));
    let tail = r.high * r.high * r.high * polynomial(&FACTORIAL_INVERSES_FROM_THREE, r.high);
    let mut above_one = r.plus(r.times(r).scaled(0.5)).plus(Pair::of(tail));
    for _ in 0..SQUARINGS {
        above_one = above_one.scaled(2.0).plus(above_one.times(above_one));
    }
    let power = Pair::of(1.0).plus(above_one);
    power.high * f64::from_bits((1_023 + exponent as i64).cast_unsigned() << 52)
}

/// 1/3 - x/4 + x²/5 ...: what ln(1 + x) has behind x - x²/2, over x³.
const THIRD_ON: [f64; 16] = {
    let mut coefficients = [0.0; 16];
    let mut k = 0;
    while k < 16 {
        coefficients[k] = if k % 2 == 0 { 1.0 } else { -1.0 } / (k + 3) as f64;
        k += 1;
    }
    coefficients
};

/// 1/3!, 1/4!, ...
const FACTORIAL_INVERSES_FROM_THREE: [f64; 16] = {
    let mut coefficients = [0.0; 16];
    let mut factorial = 2.0;
    let mut k = 0;
    while k < 16 {
        factorial *= (k + 3) as f64;
        coefficients[k] = 1.0 / factorial;
        k += 1;
    }
    coefficients
};

/// The table's arguments are whole numbers over this, from `FIRST`: 1 is among them, so that logarithms near 0 keep
/// their digits.
const STEPS: f64 = 128.0;
const FIRST: usize = 90;
const ENTRIES: usize = 93;

/// 1/m rounded, and minus the logarithm of that.
static INVERSES: [(f64, Pair); ENTRIES] = {
    let mut table = [(1.0, Pair::of(0.0)); ENTRIES];
    let mut entry = 0;
    while entry < ENTRIES {
        let inverse = STEPS / (entry + FIRST) as f64;
        table[entry] = (inverse, minus_ln_by_series(inverse));
        entry += 1;
    }
    table
};

/// -ln c = 2 artanh(s), s = (1 - c) / (1 + c), by its series; c within 0.7..1.43.
const fn minus_ln_by_series(c: f64) -> Pair {
    // Both sums are exact as pairs; their quotient is refined once by its remainder.
    let (above, below) = (Pair::sum(1.0, -c), Pair::sum(1.0, c));
    let quotient = above.high / below.high;
    let remainder = above.plus(below.times(Pair::of(-quotient)));
    let s = Pair::sum_of_ordered(quotient, remainder.high / below.high);
    let square = s.times(s);
    let (mut power, mut sum, mut k) = (s, s, 3);
    while k < 51 {
        power = power.times(square);
        sum = sum.plus(power.over(k as f64));
        k += 2;
    }
    sum.scaled(2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_rounded_to_the_nearest() {
        for (base, exponent, expected) in POWERS {
            assert_eq!(power(base, exponent).to_bits(), expected.to_bits(), "{base:e} to the power of {exponent}");
        }
    }

    #[test]
    fn logarithms_are_rounded_to_the_nearest() {
        for (x, expected) in LOGARITHMS {
            assert_eq!(ln(x).to_bits(), expected.to_bits(), "ln {x:e}");
        }
    }

    // Values from mpmath with 250 bits, rounded to the nearest double. The first eight of each table are those of
    // 100,000 draws that lie nearest to the middle between two doubles.
    const POWERS: [(f64, f64, f64); 21] = [
        (0.8270726121270607, 99.99999999999991, 5.680204526758079e-09),
        (0.9109878305403566, 99.99999999999991, 8.938353934039763e-05),
        (0.9704582310021237, 99.99999999999991, 0.049852252716536434),
        (0.8393311290770127, 99.99999999999991, 2.473620381820506e-08),
        (0.9110229071899727, 99.99999999999991, 8.972835824748607e-05),
        (0.9951516631346422, 99.99999999999991, 0.6150739233594184),
        (0.8366600586564724, 99.99999999999991, 1.7984719476166998e-08),
        (0.8644848704435483, 99.99999999999991, 4.7395782572251666e-07),
        (0.8719484740260026, 99.99999999999991, 1.1196497734084019e-06),
        (0.8585566457094675, 99.99999999999991, 2.3817458942109194e-07),
        (0.8670554916509807, 99.99999999999991, 6.37807065905022e-07),
        (0.8794940911109966, 99.99999999999991, 2.6502851258340268e-06),
        (2.0, 0.99, 1.9861849908740719),
        (3.0, 0.99, 2.9672220125165123),
        (999999.0, 0.99, 870962.7277021222),
        (0.5, 0.99, 0.5034777750283594),
        (1.9999999998e-10, 0.010000000000000009, 0.7998532245215714),
        (0.1, 250.5, 3.1622776601684234e-251),
        (7.0, -300.25, 1.816826625073108e-254),
        (1.0, 5.0, 1.0),
        (1.0000000000000002, 10000000000.0, 1.0000022204485144),
    ];
    const LOGARITHMS: [(f64, f64); 18] = [
        (0.42415995855528643, -0.8576446341515207),
        (0.9141883455895008, -0.08971866137238),
        (0.21859357177998084, -1.5205411099850608),
        (0.16391628053546725, -1.8083994660393652),
        (0.8795483986106527, -0.12834668663053747),
        (0.9982527098387416, -0.0017488184532180187),
        (0.9316063232409243, -0.07084495348862686),
        (0.7470791421065307, -0.2915841528661759),
        (0.7004326704865392, -0.3560570341892326),
        (0.24560443430864143, -1.4040330278695277),
        (0.42473012647965724, -0.8563013082718516),
        (0.38757923825101437, -0.9478349652840393),
        (1.0, 0.0),
        (0.9999999999999999, -1.1102230246251565e-16),
        (1.0000000000000002, 2.2204460492503128e-16),
        (0.05, -2.995732273553991),
        (1.1102230246251565e-16, -36.7368005696771),
        (1e+300, 690.7755278982137),
    ];
}
