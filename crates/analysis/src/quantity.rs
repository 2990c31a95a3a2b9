//! The only form in which a number may leave analysis: with unit, sample size and interval, or the
//! reason why there is no interval. Nothing here computes; it makes leaving something out impossible.

use std::borrow::Cow;
use std::fmt;

use serde_json::{Value, json};

/// The unit of a quantity as it is printed: "transactions/min", "ns", "MB/s", "%".
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Unit(pub Cow<'static, str>);

impl Unit {
    /// A ratio of two quantities of the same unit.
    pub const RATIO: Self = Self::named("ratio");
    /// Hundredths of a stated whole.
    pub const PERCENT: Self = Self::named("%");
    /// Operations or transactions per second.
    pub const PER_SECOND: Self = Self::named("1/s");
    /// Operations or transactions per minute.
    pub const PER_MINUTE: Self = Self::named("1/min");
    /// Nanoseconds.
    pub const NANOSECONDS: Self = Self::named("ns");
    /// Millions of bytes per second.
    pub const MB_PER_SECOND: Self = Self::named("MB/s");
    /// Relative change of a result per relative change of a factor.
    pub const ELASTICITY: Self = Self::named("d ln X / d ln R");

    /// A unit by its printed name.
    pub const fn named(name: &'static str) -> Self {
        Self(Cow::Borrowed(name))
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A 95 % confidence interval, or the reason why there is none.
#[derive(Clone, Debug, PartialEq)]
pub enum Interval {
    /// Bounds in the unit of the quantity.
    Known {
        /// Lower bound of the 95 % interval.
        low: f64,
        /// Upper bound of the 95 % interval.
        high: f64,
        /// How it was computed, as a phrase for the report.
        method: Cow<'static, str>,
    },
    /// No interval, and why.
    None {
        /// A lower-case fragment for the report, such as "one repetition only".
        why: String,
    },
}

impl Interval {
    /// An interval whose bounds are finite and in order; anything else becomes `None` and says so.
    pub fn known(low: f64, high: f64, method: impl Into<Cow<'static, str>>) -> Self {
        let method = method.into();
        if low.is_finite() && high.is_finite() && low <= high {
            return Self::Known { low, high, method };
        }
        Self::none(format!("{method} gave no finite bounds"))
    }

    /// The lack of an interval; an empty reason is replaced, never printed.
    pub fn none(why: impl Into<String>) -> Self {
        let why = why.into();
        let why = if why.is_empty() { "no reason was given".to_owned() } else { why };
        Self::None { why }
    }

    /// (low, high) where known.
    pub fn bounds(&self) -> Option<(f64, f64)> {
        match self {
            Self::Known { low, high, .. } => Some((*low, *high)),
            Self::None { .. } => None,
        }
    }

    /// The same interval in another unit; a negative factor exchanges the bounds.
    pub fn scaled(&self, factor: f64) -> Self {
        match self {
            Self::None { .. } => self.clone(),
            Self::Known { low, high, method } => {
                let (a, b) = (low * factor, high * factor);
                Self::known(a.min(b), a.max(b), method.clone())
            }
        }
    }
}

/// A measured number, complete: there is no way to make one without unit, sample size and interval.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    value: f64,
    unit: Unit,
    n: u64,
    interval: Interval,
}

impl Quantity {
    /// A number in `unit` from `n` samples with its interval. A value that is not finite is kept and
    /// printed as missing; its interval is dropped with that reason.
    pub fn new(value: f64, unit: Unit, n: u64, interval: Interval) -> Self {
        let interval = match interval {
            Interval::Known { .. } if !value.is_finite() => Interval::none("the value is not a number"),
            other => other,
        };
        Self { value, unit, n, interval }
    }

    /// The number itself, in [`Quantity::unit`].
    pub fn value(&self) -> f64 {
        self.value
    }

    /// Its unit.
    pub fn unit(&self) -> &Unit {
        &self.unit
    }

    /// How many samples it comes from (intervals, requests or repetitions: the section says which).
    pub fn n(&self) -> u64 {
        self.n
    }

    /// Its 95 % interval or why there is none.
    pub fn interval(&self) -> &Interval {
        &self.interval
    }

    /// The same quantity in another unit: value and bounds times `factor`.
    pub fn scaled(&self, factor: f64, unit: Unit) -> Self {
        Self::new(self.value * factor, unit, self.n, self.interval.scaled(factor))
    }

    /// `{value, unit, n, ci95: [low, high] | null}`, with `ci95_missing: "why"` where there is no
    /// interval and `ci95_method` where there is one. A value that is not finite is null.
    pub fn to_json(&self) -> Value {
        match &self.interval {
            Interval::Known { low, high, method } => json!({
                "value": self.value, "unit": self.unit.0, "n": self.n,
                "ci95": [low, high], "ci95_method": method,
            }),
            Interval::None { why } => json!({
                "value": self.value, "unit": self.unit.0, "n": self.n,
                "ci95": null, "ci95_missing": why,
            }),
        }
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.4} {}", self.value, self.unit)?;
        match &self.interval {
            Interval::Known { low, high, .. } => {
                write!(f, " [{low:.4}, {high:.4}], n = {}", self.n)
            }
            Interval::None { why } => write!(f, " (no interval: {why}), n = {}", self.n),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(quantity: &Quantity, text: &str) {
        assert_eq!(quantity.to_json().to_string(), text);
    }

    #[test]
    fn json_has_value_unit_interval_and_sample_size() {
        check(
            &Quantity::new(2.0, Unit::PER_SECOND, 30, Interval::known(1.5, 2.5, "block bootstrap")),
            r#"{"ci95":[1.5,2.5],"ci95_method":"block bootstrap","n":30,"unit":"1/s","value":2.0}"#,
        );
        check(
            &Quantity::new(2.0, Unit::PERCENT, 1, Interval::none("one sample only")),
            r#"{"ci95":null,"ci95_missing":"one sample only","n":1,"unit":"%","value":2.0}"#,
        );
    }

    #[test]
    fn an_interval_that_is_not_finite_or_out_of_order_says_so() {
        for (low, high) in [(f64::NAN, 1.0), (0.0, f64::INFINITY), (2.0, 1.0)] {
            let interval = Interval::known(low, high, "test");
            assert_eq!(interval, Interval::none("test gave no finite bounds"));
        }
        assert_eq!(Interval::none(""), Interval::none("no reason was given"));
        let absent = Quantity::new(f64::NAN, Unit::RATIO, 0, Interval::known(0.0, 1.0, "test"));
        assert_eq!(absent.interval().bounds(), None);
    }

    #[test]
    fn scaling_moves_value_and_bounds_together() {
        let per_second = Quantity::new(2.0, Unit::PER_SECOND, 9, Interval::known(1.0, 3.0, "test"));
        let per_minute = per_second.scaled(60.0, Unit::PER_MINUTE);
        assert_eq!(per_minute.value(), 120.0);
        assert_eq!(per_minute.interval().bounds(), Some((60.0, 180.0)));
        assert_eq!(per_second.scaled(-1.0, Unit::PER_SECOND).interval().bounds(), Some((-3.0, -1.0)));
        assert_eq!(per_minute.to_string(), "120.0000 1/min [60.0000, 180.0000], n = 9");
    }
}
