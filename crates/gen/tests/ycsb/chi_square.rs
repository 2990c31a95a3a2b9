//! Pearson's chi-square test: how probable a deviation at least as large is.

/// Draws up to a number, expected and found.
pub(crate) struct Cell {
    pub(crate) last: u64,
    pub(crate) expected: f64,
    pub(crate) found: u64,
}

/// The probability that a right generator deviates as much or more; 1 for a single cell.
pub(crate) fn p_value(cells: &[Cell]) -> f64 {
    if cells.len() < 2 {
        return 1.0;
    }
    let chi_square: f64 = cells.iter().map(|cell| (cell.found as f64 - cell.expected).powi(2) / cell.expected).sum();
    upper_gamma((cells.len() - 1) as f64 / 2.0, chi_square / 2.0)
}

/// The regularised upper incomplete gamma function Q(a, x), by its series or its continued fraction.
///
/// Source: Abramowitz, Stegun, "Handbook of mathematical functions", 6.5.29 and 6.5.31; modified Lentz's method.
fn upper_gamma(a: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 1.0;
    }
    let scale = (a * x.ln() - x - ln_gamma(a)).exp();
    if x < a + 1.0 {
        let (mut term, mut sum, mut n) = (1.0 / a, 1.0 / a, a);
        while term > sum * 1e-15 {
            n += 1.0;
            term *= x / n;
            sum += term;
        }
        return 1.0 - sum * scale;
    }
    let mut b = x + 1.0 - a;
    let (mut c, mut d) = (1e300, 1.0 / b);
    let mut fraction = d;
    for n in 1..10_000 {
        let n = f64::from(n);
        let numerator = n * (a - n);
        b += 2.0;
        d = 1.0 / (numerator * d + b);
        c = b + numerator / c;
        fraction *= c * d;
        if (c * d - 1.0).abs() < 1e-15 {
            break;
        }
    }
    fraction * scale
}

/// ln Γ(a) for a > 0: Stirling's series after moving the argument above 20.
fn ln_gamma(a: f64) -> f64 {
    if a < 20.0 {
        return ln_gamma(a + 1.0) - a.ln();
    }
    (a - 0.5) * a.ln() - a + (2.0 * std::f64::consts::PI).ln() / 2.0 + 1.0 / (12.0 * a) - 1.0 / (360.0 * a.powi(3))
}

#[test]
fn p_values_are_those_of_the_tables() {
    // Critical values for 5 % and 1 % (Abramowitz, Stegun, table 26.8).
    for (freedom, chi_square, p) in [(1.0, 3.841_46, 0.05), (10.0, 23.209_3, 0.01), (100.0, 124.342, 0.05)] {
        let found = upper_gamma(freedom / 2.0, chi_square / 2.0);
        assert!((found - p).abs() < 1e-5, "{freedom}: {found}");
    }
    assert!((upper_gamma(50.0, 10.0) - 1.0).abs() < 1e-12);
}
