//! Probabilities for the audit of inputs: tails of the binomial, normal and chi-square distributions.
//!
//! Sources: regularised incomplete beta function by Lentz's continued fraction (DLMF 8.17.22), regularised incomplete
//! gamma function by series and continued fraction (DLMF 8.11.4, 8.9.2), logarithm of gamma by Stirling's series (DLMF
//! 5.11.1).

/// Smallest denominator of a continued fraction.
const TINY: f64 = 1e-300;
/// Relative accuracy at which iterations end.
const ACCURACY: f64 = 1e-13;
/// Iterations at most: the fraction needs about the root of the larger parameter.
const ITERATIONS: u32 = 1_000_000;

/// Two-sided tail of a binomial distribution: twice the smaller of P(X ≤ k) and P(X ≥ k), at most 1.
pub(super) fn binomial_p(successes: u64, trials: u64, share: f64) -> f64 {
    (2.0 * binomial_at_most(successes, trials, share).min(binomial_at_least(successes, trials, share))).min(1.0)
}

/// P(X ≤ k).
pub(super) fn binomial_at_most(successes: u64, trials: u64, share: f64) -> f64 {
    if successes >= trials { 1.0 } else { beta((trials - successes) as f64, successes as f64 + 1.0, 1.0 - share) }
}

/// P(X ≥ k).
fn binomial_at_least(successes: u64, trials: u64, share: f64) -> f64 {
    if successes == 0 { 1.0 } else { beta(successes as f64, (trials - successes) as f64 + 1.0, share) }
}

/// Two-sided tail of the normal distribution beyond this many standard deviations.
pub(super) fn normal_p(deviations: f64) -> f64 {
    gamma_q(0.5, deviations * deviations / 2.0)
}

/// Upper tail of the chi-square distribution.
pub(super) fn chi_square_p(statistic: f64, degrees: u64) -> f64 {
    if degrees == 0 { 1.0 } else { gamma_q(degrees as f64 / 2.0, statistic / 2.0) }
}

/// Logarithm of the gamma function, for positive arguments.
fn ln_gamma(x: f64) -> f64 {
    if x < 10.0 {
        return ln_gamma(x + 1.0) - x.ln();
    }
    let inverse = 1.0 / x;
    let square = inverse * inverse;
    let series = inverse * (1.0 / 12.0 - square * (1.0 / 360.0 - square * (1.0 / 1260.0 - square / 1680.0)));
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + series
}

/// Regularised incomplete beta function I_x(a, b).
fn beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - beta(b, a, 1.0 - x);
    }
    let front = a * x.ln() + b * (-x).ln_1p() + ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b);
    front.exp() / a * beta_fraction(a, b, x)
}

/// The continued fraction of the incomplete beta function.
fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    let mut lentz = Lentz::new(1.0);
    lentz.step(-(a + b) * x / (a + 1.0), 1.0);
    for m in 1..ITERATIONS {
        let m = f64::from(m);
        lentz.step(m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m)), 1.0);
        let change = lentz.step(-(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0)), 1.0);
        if (change - 1.0).abs() < ACCURACY {
            break;
        }
    }
    1.0 / lentz.value
}

/// Regularised upper incomplete gamma function Q(a, x).
fn gamma_q(a: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 1.0;
    }
    let front = (a * x.ln() - x - ln_gamma(a)).exp();
    if x < a + 1.0 { 1.0 - front * gamma_series(a, x) } else { front / gamma_fraction(a, x) }
}

/// The series of the lower incomplete gamma function.
fn gamma_series(a: f64, x: f64) -> f64 {
    let (mut term, mut sum) = (1.0 / a, 1.0 / a);
    for n in 1..ITERATIONS {
        term *= x / (a + f64::from(n));
        sum += term;
        if term < sum * ACCURACY {
            break;
        }
    }
    sum
}

/// The continued fraction of the upper incomplete gamma function.
fn gamma_fraction(a: f64, x: f64) -> f64 {
    let mut lentz = Lentz::new(x + 1.0 - a);
    for n in 1..ITERATIONS {
        let n = f64::from(n);
        let change = lentz.step(n * (a - n), x + 2.0 * n + 1.0 - a);
        if (change - 1.0).abs() < ACCURACY {
            break;
        }
    }
    lentz.value
}

/// Lentz's method for b0 + a1/(b1 + a2/(b2 + …)).
struct Lentz {
    value: f64,
    c: f64,
    d: f64,
}

impl Lentz {
    fn new(b0: f64) -> Self {
        let value = if b0 == 0.0 { TINY } else { b0 };
        Self { value, c: value, d: 0.0 }
    }

    /// Takes one more term; returns by what the value was multiplied.
    fn step(&mut self, a: f64, b: f64) -> f64 {
        let never_zero = |x: f64| if x.abs() < TINY { TINY } else { x };
        self.d = 1.0 / never_zero(b + a * self.d);
        self.c = never_zero(b + a / self.c);
        let change = self.c * self.d;
        self.value *= change;
        change
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(found: f64, expected: f64) {
        assert!((found - expected).abs() <= 1e-9 * expected.abs().max(1e-3), "{found} instead of {expected}");
    }

    #[test]
    fn tails_are_those_of_closed_forms() {
        // P(X ≤ 1) of 3 throws of a coin; P(X ≥ 3) of 3; all of 20 with share 0.9.
        check(binomial_at_most(1, 3, 0.5), 0.5);
        check(binomial_at_least(3, 3, 0.5), 0.125);
        check(binomial_at_least(20, 20, 0.9), 0.9_f64.powi(20));
        check(binomial_p(5, 10, 0.5), 1.0);
        // With two degrees of freedom the tail is exp(-x/2); with four exp(-x/2)(1 + x/2).
        check(chi_square_p(3.0, 2), (-1.5_f64).exp());
        check(chi_square_p(30.0, 2), (-15.0_f64).exp());
        check(chi_square_p(3.0, 4), (-1.5_f64).exp() * 2.5);
        // The published 5 % point of the normal distribution.
        check(normal_p(1.959_963_984_540_054), 0.05);
    }

    #[test]
    fn binomial_tails_sum_up_single_probabilities() {
        let (trials, share) = (40_u64, 0.15_f64);
        let mut single = (1.0 - share).powi(40);
        let mut sum = 0.0;
        for k in 0..=trials {
            sum += single;
            check(binomial_at_most(k, trials, share), sum);
            single *= share / (1.0 - share) * (trials - k) as f64 / (k + 1) as f64;
        }
    }

    #[test]
    fn large_samples_approach_the_normal_distribution() {
        // 3 standard deviations below the mean of 10^8 trials.
        let (trials, share) = (100_000_000_u64, 0.01_f64);
        let deviation = (trials as f64 * share * (1.0 - share)).sqrt();
        let p = binomial_p((trials as f64 * share - 3.0 * deviation) as u64, trials, share);
        assert!((p / normal_p(3.0) - 1.0).abs() < 0.01, "{p}");
    }
}
