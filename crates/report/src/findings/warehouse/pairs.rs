//! Row store against column store: points that differ in layout alone, and the ratio of their metrics.

use super::super::evaluate::Findings;
use super::super::factor::level_text;
use super::super::level::Measured;
use super::super::point::PointFindings;
use super::data::{KIND, LAYOUT, layout};
use crate::metrics::MetricKey;
use proofload_analysis::quantity::{Interval, Quantity, Unit};
use proofload_import::{Reference, ReferencePoint};
use proofload_model::settings::{Value, setting};
use std::collections::BTreeMap;

/// Settings whose levels may differ within a pair.
const LAYOUT_SETTINGS: &[&str] = &[setting::ENGINE_KIND, LAYOUT];

/// A row store and a column store under the same levels of all other factors.
#[derive(Debug, Clone)]
pub struct Pairing<'f> {
    /// The shared levels in words; empty when there are no other factors.
    pub label: String,
    /// The row store.
    pub rows: &'f PointFindings,
    /// The column store.
    pub columns: &'f PointFindings,
}

impl Pairing<'_> {
    /// A metric of the column store in multiples of the row store's.
    pub fn ratio(&self, metric: impl Into<MetricKey>) -> Measured {
        let metric: MetricKey = metric.into();
        quotient(&self.columns.result(&metric)?, &self.rows.result(metric)?)
    }
}

/// All pairs, in the order of the points.
pub fn pairings<'f>(findings: &'f Findings<'_>) -> Vec<Pairing<'f>> {
    let of = |wanted: &str| -> Vec<(String, &'f PointFindings)> {
        let stored = |point: &&PointFindings| {
            layout(&findings.record.plan.settings(&findings.record.study, point.id)).as_deref() == Some(wanted)
        };
        findings.points.iter().filter(stored).map(|point| (others(point), point)).collect()
    };
    let columns = of("columns");
    let mut found = Vec::new();
    for (label, rows) in of("rows") {
        let same = columns.iter().filter(|(other, _)| *other == label);
        found.extend(same.map(|(_, columns)| Pairing { label: label.clone(), rows, columns }));
    }
    found
}

fn others(point: &PointFindings) -> String {
    let told = |(setting, value): &(String, Value)| match value {
        Value::Table(values) => {
            let is_other = |key: &String| !LAYOUT_SETTINGS.contains(&format!("{setting}.{key}").as_str());
            let others: BTreeMap<_, _> = values.clone().into_iter().filter(|(key, _)| is_other(key)).collect();
            (!others.is_empty()).then(|| level_text(&Value::Table(others)))
        }
        value => (!LAYOUT_SETTINGS.contains(&setting.as_str())).then(|| level_text(value)),
    };
    point.levels.iter().filter_map(told).collect::<Vec<_>>().join(", ")
}

/// Published pairs of this workload: the reference, its row store, its column store.
pub fn published_pairings<'f>(
    findings: &'f Findings<'_>,
) -> Vec<(&'f Reference, &'f ReferencePoint, &'f ReferencePoint)> {
    let named = findings.reference.as_ref().and_then(|reference| reference.as_ref().ok());
    let ours = |reference: &&Reference| reference.workload.as_deref() == Some(KIND);
    let pair = |reference: &'f Reference| {
        let of = |wanted: &str| reference.points.iter().find(|point| point.level("layout") == Some(wanted));
        Some((reference, of("rows")?, of("columns")?))
    };
    named.into_iter().chain(&findings.beside).filter(ours).filter_map(pair).collect()
}

/// A quotient with its interval from both intervals on the logarithmic scale, the two being independent.
fn quotient(above: &Quantity, below: &Quantity) -> Measured {
    let ratio = above.value() / below.value();
    if !ratio.is_finite() {
        return Err("the row store's value is zero".to_owned());
    }
    let half = |quantity: &Quantity| {
        let (low, high) = quantity.interval().bounds()?;
        (low > 0.0).then(|| (high / low).ln() / 2.0)
    };
    let interval = match (half(above), half(below)) {
        (Some(above), Some(below)) => {
            let half = above.hypot(below);
            Interval::known(ratio * (-half).exp(), ratio * half.exp(), "from both intervals of the logarithms")
        }
        _ => Interval::none("one of the two has no interval"),
    };
    Ok(Quantity::new(ratio, Unit::named("×"), above.n() + below.n(), interval))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quotient_carries_both_intervals() {
        let quantity = |value: f64, factor: f64| {
            let interval = Interval::known(value / factor, value * factor, "test");
            Quantity::new(value, Unit::PER_SECOND, 5, interval)
        };
        let found = quotient(&quantity(20.0, 1.1), &quantity(4.0, 1.1)).unwrap();
        let (low, high) = found.interval().bounds().expect("an interval");
        let factor = 1.1f64.powf(2f64.sqrt());
        assert!((found.value() - 5.0).abs() < 1e-9 && (high - 5.0 * factor).abs() < 1e-9);
        assert!((low * high - 25.0).abs() < 1e-9, "exchanging the two gives the reciprocal");
        let none = Quantity::new(0.0, Unit::PER_SECOND, 5, Interval::none("test"));
        assert!(quotient(&none, &none).is_err());
        assert!(quotient(&none, &quantity(4.0, 1.1)).unwrap().interval().bounds().is_none());
    }
}
