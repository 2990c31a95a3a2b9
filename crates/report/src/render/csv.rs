//! CSV in tidy long form: one row per point and metric; a profile whose name may not be left behind has a column. Source of the quoting: RFC 4180.

use crate::findings::{Estimand, Findings, Measured, PointFindings};
use crate::metrics::RELATIVE;

/// Renders findings.
pub(crate) fn csv(findings: &Findings<'_>) -> String {
    let profile = crate::workloads::named_profile(&findings.record.study.settings);
    let factors: Vec<&str> = findings.factors.iter().map(|factor| factor.setting.as_str()).collect();
    let mut text = row(std::iter::once("point".to_owned())
        .chain(profile.iter().map(|_| "profile".to_owned()))
        .chain(factors.iter().map(|factor| (*factor).to_owned()))
        .chain(
            ["verdict", "estimand", "metric", "type", "value", "unit", "ci_low", "ci_high", "n", "note"]
                .map(str::to_owned),
        ));
    for point in &findings.points {
        text.push_str(&point_rows(point, profile.as_ref(), findings.blocks.is_some()));
    }
    text
}

/// The rows of a point; its share of the largest is a ratio where it was formed inside repetitions.
fn point_rows(point: &PointFindings, profile: Option<&String>, in_blocks: bool) -> String {
    let mut text = String::new();
    let relative = std::iter::once((RELATIVE.key(), &point.relative));
    let metrics = point.metrics.iter().map(|(key, value)| (key.clone(), value));
    for (key, value) in metrics.chain(relative) {
        let (metric, kind) = key.family();
        let levels = point.levels.iter().map(|(_, value)| value.to_string());
        let start = std::iter::once(point.id.to_string()).chain(profile.cloned()).chain(levels);
        let is_ratio = in_blocks && key == RELATIVE;
        let claim = if is_ratio { Estimand::RATIO } else { point.estimand_name().unwrap_or_default() };
        let middle = [point.verdict.word().to_owned(), claim.to_owned(), metric, kind.unwrap_or_default()];
        text.push_str(&row(start.chain(middle).chain(numbers(value))));
    }
    text
}

fn numbers(value: &Measured) -> [String; 6] {
    match value {
        Err(why) => [String::new(), String::new(), String::new(), String::new(), "0".to_owned(), why.clone()],
        Ok(quantity) => {
            let (low, high, note) = match quantity.interval() {
                proofload_analysis::quantity::Interval::Known { low, method, .. } if quantity.is_unbounded_above() => {
                    (low.to_string(), String::new(), format!("95 % confidence interval, no upper bound: {method}"))
                }
                proofload_analysis::quantity::Interval::Known { low, high, method } => {
                    (low.to_string(), high.to_string(), format!("95 % confidence interval: {method}"))
                }
                proofload_analysis::quantity::Interval::None { why } => {
                    (String::new(), String::new(), format!("no confidence interval: {why}"))
                }
            };
            let unit = quantity.unit().to_string();
            [quantity.value().to_string(), unit, low, high, quantity.n().to_string(), note]
        }
    }
}

/// Fields as a line.
pub(super) fn row(fields: impl Iterator<Item = String>) -> String {
    fields.map(|field| quoted_field(&field)).collect::<Vec<_>>().join(",") + "\r\n"
}

/// A field in quotes where it needs them. One that a spreadsheet would take for a formula gets an apostrophe before it.
pub(crate) fn quoted_field(field: &str) -> String {
    let is_number = field.parse::<f64>().is_ok();
    let field = match field.chars().next() {
        Some('=' | '+' | '-' | '@' | '\t' | '\r') if !is_number => format!("'{field}"),
        _ => field.to_owned(),
    };
    if field.contains([',', '"', '\n', '\r']) { format!("\"{}\"", field.replace('"', "\"\"")) } else { field }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_needed_and_never_formulas() {
        assert_eq!(quoted_field("plain"), "plain");
        assert_eq!(quoted_field("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(quoted_field("=1+1"), "'=1+1");
        assert_eq!(quoted_field("-5.25"), "-5.25");
    }
}
