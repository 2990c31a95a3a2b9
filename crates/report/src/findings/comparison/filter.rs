//! Which metrics and which points a comparison is asked for, checked before anything is compared.

use super::super::evaluate::Findings;
use super::super::factor::{between, level_text};
use super::metric::{Metric, known, metrics_of};
use super::pairing::Pair;
use crate::error::Error;
use crate::metrics::{MetricKey, WRITES_AWAY};
use std::collections::BTreeSet;

/// What was asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ComparisonFilter {
    /// Names of metrics, also with an ending `.*`; when empty, those that the workload is compared by.
    pub metrics: Vec<String>,
    /// Levels of the points to compare; all points when empty. Levels of one setting are alternatives.
    pub levels: Vec<Level>,
}

/// A level as it was asked for: `limits.memory=64MiB`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Level {
    /// Path of the setting.
    pub setting: String,
    /// The level as a study writes it.
    pub value: String,
}

impl Level {
    /// Reads `SETTING=LEVEL`; `None` when a part is missing.
    pub fn parse(text: &str) -> Option<Self> {
        let (setting, value) = text.split_once('=')?;
        let (setting, value) = (setting.trim().to_owned(), value.trim().to_owned());
        (!setting.is_empty() && !value.is_empty()).then_some(Self { setting, value })
    }
}

/// The metrics to compare, each once. The error names one that is not known, and those that are.
pub(super) fn metrics(
    chosen: &ComparisonFilter,
    baseline: &Findings<'_>,
    candidate: &Findings<'_>,
) -> Result<Vec<Metric>, Error> {
    let workload = baseline.workload;
    let mut kinds = [baseline.kinds(), candidate.kinds()].concat();
    kinds.sort();
    kinds.dedup();
    workload.sort_kinds(&mut kinds);
    let all = |kind: &String| kind == "all";
    kinds.retain(|kind| !all(kind));
    let asked: Vec<&str> = chosen.metrics.iter().map(String::as_str).collect();
    let mut names = if asked.is_empty() { workload.compared.to_vec() } else { asked };
    let drilled =
        |findings: &Findings<'_>| findings.points.iter().any(|point| point.metrics.contains_key(&WRITES_AWAY.key()));
    if chosen.metrics.is_empty() && drilled(baseline) && drilled(candidate) {
        names.push(WRITES_AWAY.name);
    }
    let mut metrics: Vec<Metric> = Vec::new();
    for name in names {
        let found = metrics_of(name, workload, &kinds);
        if found.is_empty() {
            return Err(Error::new(format!(
                "this workload has no metric {name} to compare; use one of: {}. <kind> is one of: all, {}",
                known(workload).join(", "),
                kinds.join(", ")
            )));
        }
        metrics.extend(found);
    }
    if chosen.metrics.is_empty() {
        // The workload's own list has percentile by percentile; kind by kind reads better.
        metrics.sort_by_key(|metric| kind_place(metric, &kinds));
    }
    let mut seen: BTreeSet<MetricKey> = BTreeSet::new();
    metrics.retain(|metric| seen.insert(metric.key.clone()));
    Ok(metrics)
}

/// Where the kind of a metric stands among the workload's; what has no kind comes first.
fn kind_place(metric: &Metric, kinds: &[String]) -> usize {
    let (_, kind) = metric.key.family();
    kind.map_or(0, |kind| 1 + kinds.iter().position(|known| *known == kind).unwrap_or(kinds.len()))
}

/// Keeps the pairs that were asked for. The error names a level that no pair has.
pub(super) fn keep(pairs: &mut Vec<Pair<'_>>, chosen: &ComparisonFilter) -> Result<(), Error> {
    for level in &chosen.levels {
        if !pairs.iter().any(|pair| has(pair, level)) {
            let (setting, value) = (&level.setting, &level.value);
            return Err(Error::new(format!("no point has {setting}={value}; {}", levels_of(pairs, setting))));
        }
    }
    let settings: Vec<&str> = chosen.levels.iter().map(|level| level.setting.as_str()).collect();
    pairs.retain(|pair| {
        settings.iter().all(|setting| chosen.levels.iter().any(|level| level.setting == **setting && has(pair, level)))
    });
    Ok(())
}

fn has(pair: &Pair<'_>, level: &Level) -> bool {
    let found = pair.levels.iter().find(|(setting, _)| *setting == level.setting);
    let in_group = || pair.key.get(&level.setting);
    let Some(value) = found.and_then(|(_, value)| value.as_ref()).or_else(in_group) else { return false };
    let plain = |text: &str| text.replace([' ', '\u{a0}'], "");
    value.to_string() == level.value || plain(&level_text(value)) == plain(&level.value)
}

fn levels_of(pairs: &[Pair<'_>], setting: &str) -> String {
    let mut levels: Vec<String> = Vec::new();
    let of_setting = pairs.iter().flat_map(|pair| &pair.levels).filter(|(known, _)| known == setting);
    for value in of_setting.filter_map(|(_, value)| value.as_ref()) {
        let text = value.to_string();
        if !levels.contains(&text) {
            levels.push(text);
        }
    }
    if levels.is_empty() {
        let mut settings: Vec<&str> =
            pairs.iter().flat_map(|pair| &pair.levels).map(|(name, _)| name.as_str()).collect();
        settings.dedup();
        let factors = if settings.is_empty() { "the records have no factor".to_owned() } else { settings.join(", ") };
        return format!("the factors are: {factors}");
    }
    let separator = between(pairs.iter().flat_map(|pair| &pair.levels).filter_map(|(_, value)| value.as_ref()));
    format!("its levels are: {}", levels.join(separator))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_has_a_setting_and_a_value() {
        let level = |setting: &str, value: &str| Level { setting: setting.to_owned(), value: value.to_owned() };
        assert_eq!(Level::parse("limits.memory = 64MiB"), Some(level("limits.memory", "64MiB")));
        for wrong in ["limits.memory", "=64MiB", "limits.memory=", ""] {
            assert_eq!(Level::parse(wrong), None, "{wrong}");
        }
    }
}
