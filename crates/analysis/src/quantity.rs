//! The only form in which a number may leave analysis: with unit, sample size and interval, or the
//! reason why there is no interval. Nothing here computes; it makes leaving something out impossible.

use crate::order_statistics::METHOD as METHOD_OF_SEEN_VALUES;
use std::borrow::Cow;
use std::fmt;

use serde_json::{Value, json};

/// What stands in the place of an upper end that bounds nothing.
pub const NO_UPPER_BOUND: &str = "no upper bound";

/// Times a value from which the upper end of its interval bounds nothing; ours.
const UNBOUNDED_FROM: f64 = 1_000.0;

/// Tells whether an interval above zero ends more than a thousandfold above its value, as that of two runs far apart on the
/// logarithmic scale does: its lower end alone says something. An interval that reaches down to zero is not of that kind.
pub fn is_unbounded_above(value: f64, (low, high): (f64, f64)) -> bool {
    low > 0.0 && high > UNBOUNDED_FROM * value
}

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
        let bounds = if low.is_finite() && high == f64::INFINITY { NO_UPPER_BOUND } else { "no finite bounds" };
        Self::none(format!("{method} gave {bounds}"))
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

    /// Tells whether its interval has no upper end that bounds anything: [`is_unbounded_above`]. One that ends at a value that was seen
    /// has.
    pub fn is_unbounded_above(&self) -> bool {
        match &self.interval {
            Interval::Known { method, .. } if method == METHOD_OF_SEEN_VALUES => false,
            interval => interval.bounds().is_some_and(|bounds| is_unbounded_above(self.value, bounds)),
        }
    }

    /// Both ends of its interval for a chart; `None` also where there is no upper bound, whose line would leave no room for the rest.
    pub fn drawn_bounds(&self) -> Option<(f64, f64)> {
        self.interval.bounds().filter(|_| !self.is_unbounded_above())
    }

    /// The same quantity in another unit: value and bounds times `factor`.
    pub fn scaled(&self, factor: f64, unit: Unit) -> Self {
        Self::new(self.value * factor, unit, self.n, self.interval.scaled(factor))
    }

    /// `{value, unit, n, ci95: [low, high] | null}`, with `ci95_missing: "why"` where there is no
    /// interval, or one that has no upper bound (then with its lower end, `ci95_low`), and `ci95_method` where there is one. A value that is not finite is null.
    pub fn to_json(&self) -> Value {
        match &self.interval {
            Interval::Known { low, method, .. } if self.is_unbounded_above() => json!({
                "value": self.value, "unit": self.unit.0, "n": self.n,
                "ci95": null, "ci95_low": low, "ci95_missing": format!("{NO_UPPER_BOUND}: at least {low} ({method})"),
            }),
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
            Interval::Known { low, .. } if self.is_unbounded_above() => {
                write!(f, " [{low:.4}, {NO_UPPER_BOUND}], n = {}", self.n)
            }
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
        for (low, high) in [(f64::NAN, 1.0), (f64::NEG_INFINITY, f64::INFINITY), (2.0, 1.0)] {
            let interval = Interval::known(low, high, "test");
            assert_eq!(interval, Interval::none("test gave no finite bounds"));
        }
        assert_eq!(Interval::known(0.5, f64::INFINITY, "test"), Interval::none("test gave no upper bound"));
        assert_eq!(Interval::none(""), Interval::none("no reason was given"));
        let absent = Quantity::new(f64::NAN, Unit::RATIO, 0, Interval::known(0.0, 1.0, "test"));
        assert_eq!(absent.interval().bounds(), None);
    }

    #[test]
    fn an_upper_end_that_bounds_nothing_is_no_number() {
        let wide = |low: f64| Quantity::new(2.0, Unit::RATIO, 2, Interval::known(low, 8e10, "test"));
        check(
            &wide(0.5),
            r#"{"ci95":null,"ci95_low":0.5,"ci95_missing":"no upper bound: at least 0.5 (test)","n":2,"unit":"ratio","value":2.0}"#,
        );
        assert_eq!(wide(0.5).to_string(), "2.0000 ratio [0.5000, no upper bound], n = 2");
        // A small share with an interval down to nothing is bounded by its upper end.
        let share = Quantity::new(0.001, Unit::PERCENT, 30, Interval::known(0.0, 2.0, "test"));
        assert!(wide(0.5).is_unbounded_above() && !share.is_unbounded_above());
        assert_eq!((wide(0.5).drawn_bounds(), share.drawn_bounds()), (None, Some((0.0, 2.0))));
        assert!(!Quantity::new(1.0, Unit::RATIO, 2, Interval::known(0.1, 900.0, "test")).is_unbounded_above());
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
