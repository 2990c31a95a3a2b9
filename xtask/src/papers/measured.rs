//! Ratios of two figures of a JSON report, with an interval. May not know what a paper printed.

use serde_json::Value;

/// A ratio of two of our figures.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ratio {
    pub(super) value: f64,
    /// 95 % confidence interval, or why there is none.
    pub(super) interval: Result<(f64, f64), String>,
    /// The smaller of both sample sizes.
    pub(super) samples: u64,
}

/// A figure with its interval; without spread when it is itself the reference of relative figures.
struct Figure {
    value: f64,
    interval: Result<(f64, f64), String>,
    samples: u64,
}

/// The ratio of the figures at two places of a report; an error when one is missing or its point is void.
///
/// The interval is formed on the logarithmic scale from both intervals (MOVER: Zou and Donner, Statistics in Medicine 27, 2008), as of
/// independent figures. For figures of the same seconds, which rise and fall together, it is wider than need be.
pub(super) fn ratio(report: &Value, of: &str, to: &str) -> Result<Ratio, String> {
    let (above, below) = (figure(report, of)?, figure(report, to)?);
    let interval = match (&above.interval, &below.interval) {
        (Ok(a), Ok(b)) => mover((above.value, *a), (below.value, *b)),
        (Err(why), _) | (_, Err(why)) => Err(why.clone()),
    };
    if below.value <= 0.0 {
        return Err(format!("{to} is {}", below.value));
    }
    Ok(Ratio { value: above.value / below.value, interval, samples: above.samples.min(below.samples) })
}

fn mover(
    (a, (a_low, a_high)): (f64, (f64, f64)),
    (b, (b_low, b_high)): (f64, (f64, f64)),
) -> Result<(f64, f64), String> {
    if a_low <= 0.0 || b_low <= 0.0 {
        return Err("an interval reaches 0".to_owned());
    }
    let (down, up) = ((a / a_low).ln().hypot((b_high / b).ln()), (a_high / a).ln().hypot((b / b_low).ln()));
    Ok((a / b * (-down).exp(), a / b * up.exp()))
}

fn figure(report: &Value, place: &str) -> Result<Figure, String> {
    if let Some(point) = place.strip_prefix("/points/").and_then(|rest| rest.split('/').next()) {
        let verdict = report.pointer(&format!("/points/{point}/verdict")).and_then(Value::as_str);
        let verdict = verdict.ok_or_else(|| format!("the record has no point {point}"))?;
        if !verdict.starts_with("valid") {
            return Err(format!("point {point} is {verdict}"));
        }
    }
    let found = report.pointer(place).ok_or_else(|| format!("the report has no {place}"))?;
    let word = |name: &str| found.get(name).and_then(Value::as_str);
    let value = found.get("value").and_then(Value::as_f64);
    let value = value.ok_or_else(|| word("missing").unwrap_or("no value was measured").to_owned())?;
    let bound = |index: usize| found.get("ci95").and_then(|bounds| bounds.get(index)).and_then(Value::as_f64);
    let missing = word("ci95_missing").unwrap_or("no interval");
    let interval = match bound(0).zip(bound(1)) {
        Some(bounds) => Ok(bounds),
        // What relative figures are relative to has no spread of its own: theirs holds it.
        None if missing == "the largest point is the reference" => Ok((value, value)),
        None => Err(missing.to_owned()),
    };
    Ok(Figure { value, interval, samples: found.get("n").and_then(Value::as_u64).unwrap_or(0) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn report() -> Value {
        json!({ "points": [
            { "verdict": "valid", "metrics": { "x": { "value": 10.0, "ci95": [8.0, 12.5], "n": 30 } } },
            { "verdict": "valid, wide", "metrics": { "x": { "value": 20.0, "ci95": [16.0, 25.0], "n": 20 } } },
            { "verdict": "void", "metrics": { "x": { "value": 20.0, "ci95": [16.0, 25.0], "n": 20 } } },
            { "verdict": "valid", "metrics": { "x": { "value": 5.0, "ci95": null, "ci95_missing": "one run", "n": 1 } } },
            { "verdict": "valid", "metrics": { "x": { "value": 100.0, "ci95": null, "ci95_missing": "the largest point is the reference", "n": 1 } } }
        ] })
    }

    fn of(a: u32, b: u32) -> Result<Ratio, String> {
        ratio(&report(), &format!("/points/{a}/metrics/x"), &format!("/points/{b}/metrics/x"))
    }

    #[test]
    fn the_interval_of_a_ratio_holds_the_spread_of_both() {
        let found = of(0, 1).unwrap();
        let (low, high) = found.interval.clone().unwrap();
        // ln 1.25 on both sides of both: √2 · ln 1.25.
        let width = (2.0f64.sqrt() * 1.25f64.ln()).exp();
        assert!((found.value - 0.5).abs() < 1e-12 && found.samples == 20);
        assert!((low - 0.5 / width).abs() < 1e-12 && (high - 0.5 * width).abs() < 1e-12, "{low} {high}");
        let (low, high) = of(0, 4).unwrap().interval.unwrap();
        assert!((low - 0.08).abs() < 1e-12 && (high - 0.125).abs() < 1e-12, "{low} {high}");
    }

    #[test]
    fn what_is_void_or_missing_has_a_reason_instead() {
        assert_eq!(of(0, 2), Err("point 2 is void".to_owned()));
        assert_eq!(of(0, 7), Err("the record has no point 7".to_owned()));
        assert_eq!(of(0, 3).unwrap().interval, Err("one run".to_owned()));
        assert_eq!(ratio(&report(), "/points/0/metrics/y", "/x").unwrap_err(), "the report has no /points/0/metrics/y");
    }
}
