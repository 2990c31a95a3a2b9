//! Quantiles of the normal and of Student's distribution, and sample moments. Closed formulas only.

/// Arithmetic mean; NaN for no values.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Sample variance with divisor n − 1; NaN for fewer than two values.
pub fn variance(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return f64::NAN;
    }
    let centre = mean(values);
    values.iter().map(|x| (x - centre).powi(2)).sum::<f64>() / (values.len() - 1) as f64
}

/// Quantile `p` in [0, 1] of values sorted upwards, linear between order statistics
/// (Hyndman and Fan 1996, type 7); NaN for no values.
pub fn quantile_of_sorted(sorted: &[f64], p: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else {
        return f64::NAN;
    };
    let place = p.clamp(0.0, 1.0) * last as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(last);
    sorted[below] + (sorted[above] - sorted[below]) * (place - below as f64)
}

/// The median; NaN for no values.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    quantile_of_sorted(&sorted, 0.5)
}

/// Quantile of the standard normal distribution for `p` in (0, 1), relative error below 1.2e-9.
///
/// Source: Acklam's rational approximation (2003).
pub fn normal_quantile(p: f64) -> f64 {
    const A: [f64; 6] = [
        -39.696_830_286_653_76,
        220.946_098_424_520_5,
        -275.928_510_446_968_7,
        138.357_751_867_269,
        -30.664_798_066_147_16,
        2.506_628_277_459_239,
    ];
    const B: [f64; 6] = [
        -54.476_098_798_224_06,
        161.585_836_858_040_9,
        -155.698_979_859_886_6,
        66.801_311_887_719_72,
        -13.280_681_552_885_72,
        1.0,
    ];
    const C: [f64; 6] = [
        -0.007_784_894_002_430_293,
        -0.322_396_458_041_136_5,
        -2.400_758_277_161_838,
        -2.549_732_539_343_734,
        4.374_664_141_464_968,
        2.938_163_982_698_783,
    ];
    const D: [f64; 5] =
        [0.007_784_695_709_041_462, 0.322_467_129_070_039_8, 2.445_134_137_142_996, 3.754_408_661_907_416, 1.0];
    const TAIL: f64 = 0.024_25;
    let polynomial = |terms: &[f64], x: f64| terms.iter().fold(0.0, |sum, c| sum * x + c);
    if p > 1.0 - TAIL {
        return -normal_quantile(1.0 - p);
    }
    if p < TAIL {
        let q = (-2.0 * p.ln()).sqrt();
        return polynomial(&C, q) / polynomial(&D, q);
    }
    let q = p - 0.5;
    q * polynomial(&A, q * q) / polynomial(&B, q * q)
}

/// Quantile of Student's distribution for `p` in (0, 1) with `freedom` degrees of freedom, which need
/// not be whole; values below 1 are taken as 1. Error below 0.5 % for two or more degrees.
///
/// Source: G. W. Hill, Algorithm 396, Communications of the ACM 13 (1970).
pub fn student_quantile(p: f64, freedom: f64) -> f64 {
    if p < 0.5 {
        return -student_quantile(1.0 - p, freedom);
    }
    let n = freedom.max(1.0);
    let two_tails = 2.0 * (1.0 - p);
    if n < 1.000_001 {
        return 1.0 / (two_tails * std::f64::consts::FRAC_PI_2).tan();
    }
    let a = 1.0 / (n - 0.5);
    let b = (48.0 / a) / a;
    let mut c = ((20_700.0 * a / b - 98.0) * a - 16.0) * a + 96.36;
    let d = ((94.5 / (b + c) - 3.0) / b + 1.0) * (a * std::f64::consts::FRAC_PI_2).sqrt() * n;
    let mut y = (d * two_tails).powf(2.0 / n);
    if y > 0.05 + a {
        let x = normal_quantile(two_tails * 0.5);
        y = x * x;
        if n < 5.0 {
            c += 0.3 * (n - 4.5) * (x + 0.6);
        }
        c += (((0.05 * d * x - 5.0) * x - 7.0) * x - 2.0) * x + b;
        y = (((((0.4 * y + 6.3) * y + 36.0) * y + 94.5) / c - y - 3.0) / b + 1.0) * x;
        y = (a * y * y).exp_m1();
    } else {
        y = ((1.0 / (((n + 6.0) / (n * y) - 0.089 * d - 0.822) * (n + 2.0) * 3.0) + 0.5 / (n + 4.0)) * y - 1.0)
            * (n + 1.0)
            / (n + 2.0)
            + 1.0 / y;
    }
    (n * y).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(found: f64, expected: f64, relative: f64) {
        assert!((found - expected).abs() <= relative * expected.abs(), "found {found}, expected {expected}");
    }

    #[test]
    fn normal_quantiles_match_the_tables() {
        check(normal_quantile(0.975), 1.959_963_985, 1e-8);
        check(normal_quantile(0.001), -3.090_232_306, 1e-8);
        assert!(normal_quantile(0.5).abs() < 1e-12);
    }

    #[test]
    fn student_quantiles_match_the_tables() {
        check(student_quantile(0.975, 1.0), 12.706, 1e-3);
        check(student_quantile(0.975, 2.0), 4.303, 5e-3);
        check(student_quantile(0.975, 4.0), 2.776, 5e-3);
        check(student_quantile(0.975, 9.0), 2.262, 1e-3);
        check(student_quantile(0.95, 29.0), 1.699, 1e-3);
        check(student_quantile(0.025, 600.0), -1.964, 1e-3);
    }

    #[test]
    fn quantiles_interpolate_between_order_statistics() {
        check(quantile_of_sorted(&[1.0, 2.0, 4.0], 0.75), 3.0, 1e-12);
        check(median(&[9.0, 1.0, 5.0]), 5.0, 1e-12);
        assert!(quantile_of_sorted(&[], 0.5).is_nan());
        check(variance(&[1.0, 3.0]), 2.0, 1e-12);
    }
}
