//! Points of two records paired by their levels. A setting that is a factor of one record only has its fixed value in the other.

use super::super::evaluate::Findings;
use super::super::factor::{between, level_text, setting_title};
use super::super::point::PointFindings;
use proofload_model::plan::{Point, expand};
use proofload_model::settings::{Settings, Value};
use proofload_model::study::{Factor, Study};
use std::collections::{BTreeMap, BTreeSet};

/// One of the two records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// The record that the other is compared with.
    Baseline,
    /// The record that is judged.
    Candidate,
}

impl Which {
    /// Its letter in tables.
    pub(crate) const fn letter(self) -> &'static str {
        match self {
            Self::Baseline => "A",
            Self::Candidate => "B",
        }
    }

    /// Its word in machine-readable output.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Baseline => "baseline",
            Self::Candidate => "candidate",
        }
    }
}

/// A factor by which points are paired.
#[derive(Debug, Clone)]
pub(super) struct ComparedFactor {
    /// Path of the setting; of a group, the common beginning of its settings.
    pub(super) setting: String,
    /// Settings that either record varies by it.
    paths: BTreeSet<String>,
}

impl ComparedFactor {
    /// Whether points are paired by the value of this setting.
    pub(super) fn covers(&self, path: &str) -> bool {
        self.paths.contains(path)
    }
}

/// Levels of the factors of both records; `None` where a setting has no value.
pub(super) type Levels = Vec<(String, Option<Value>)>;

/// Values of all settings that the factors vary.
type Key = BTreeMap<String, Value>;

/// A point that both records have, or one of them.
#[derive(Debug, Clone)]
pub(super) struct Pair<'f> {
    /// Its levels.
    pub(super) levels: Levels,
    /// What they come to, which both points share.
    pub(super) key: Key,
    /// The same in words.
    pub(super) label: String,
    /// The baseline's point.
    pub(super) baseline: Option<&'f PointFindings>,
    /// The candidate's.
    pub(super) candidate: Option<&'f PointFindings>,
}

impl Pair<'_> {
    /// Factors and levels in words.
    pub(super) fn described(&self) -> String {
        let text = |(setting, value): &(String, Option<Value>)| {
            format!("{} {}", setting_title(setting), words(value.as_ref()))
        };
        if self.levels.is_empty() {
            return self.label.clone();
        }
        self.levels.iter().map(text).collect::<Vec<_>>().join(between(values(&self.levels)))
    }
}

/// Factors of both records, the baseline's first. One whose settings another varies as well is no factor of its own.
pub(super) fn factors<'a>(of_both: impl Iterator<Item = &'a Factor>) -> Vec<ComparedFactor> {
    let mut all: Vec<ComparedFactor> = Vec::new();
    for Factor { setting, levels } in of_both {
        let paths = Factor { setting: setting.clone(), levels: levels.clone() }.paths();
        match all.iter_mut().find(|known| known.setting == *setting) {
            Some(known) => known.paths.extend(paths),
            None => all.push(ComparedFactor { setting: setting.clone(), paths }),
        }
    }
    let is_covered = |place: usize| {
        let larger = |other: usize| all[other].paths.len() > all[place].paths.len() || other < place;
        (0..all.len()).any(|other| other != place && larger(other) && all[place].paths.is_subset(&all[other].paths))
    };
    let kept: Vec<usize> = (0..all.len()).filter(|place| !is_covered(*place)).collect();
    kept.into_iter().map(|place| all[place].clone()).collect()
}

/// Pairs in the order of the baseline's points, then what only the candidate has.
pub(super) fn pairs<'f>(
    factors: &[ComparedFactor],
    baseline: &'f Findings<'_>,
    candidate: &'f Findings<'_>,
) -> Vec<Pair<'f>> {
    let of = |findings: &Findings<'_>, point: &PointFindings| {
        let settings = findings.record.plan.settings(&findings.record.study, point.id);
        let own = |factor: &str| point.levels.iter().find(|(setting, _)| setting == factor).map(|(_, level)| level);
        unpaired(factors, own, &settings)
    };
    let mut pairs: Vec<Pair<'f>> =
        baseline.points.iter().map(|point| Pair { baseline: Some(point), ..of(baseline, point) }).collect();
    for point in &candidate.points {
        let found = Pair { candidate: Some(point), ..of(candidate, point) };
        match pairs.iter_mut().find(|pair| pair.key == found.key) {
            Some(pair) => pair.candidate = Some(point),
            None => pairs.push(found),
        }
    }
    tell_apart(factors, &mut pairs);
    pairs
}

/// Pairs of the points that two studies will have, in the same order; nothing of them is measured yet.
pub(super) fn planned_pairs(factors: &[ComparedFactor], [baseline, candidate]: [&Study; 2]) -> Vec<Pair<'static>> {
    let points = |study: &Study| -> Vec<Pair<'static>> {
        let plan = expand(study);
        let of = |point: &Point| {
            let own = |factor: &str| point.levels.get(factor);
            unpaired(factors, own, &plan.settings(study, point.id))
        };
        plan.points.iter().map(of).collect()
    };
    let mut pairs = points(baseline);
    let mut known: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (place, pair) in pairs.iter().enumerate() {
        known.entry(key_text(&pair.key)).or_default().push(place);
    }
    for found in points(candidate) {
        let alike = known.entry(key_text(&found.key)).or_default();
        let is_there = alike.iter().any(|place| pairs[*place].key == found.key);
        if !is_there {
            alike.push(pairs.len());
            pairs.push(found);
        }
    }
    tell_apart(factors, &mut pairs);
    pairs
}

/// Text that equal keys share.
fn key_text(key: &Key) -> String {
    key.iter().map(|(path, value)| format!("{path}={}\n", value.key_text())).collect()
}

/// Labels, each its own: where levels that read the same come to different settings, their label says all of these.
fn tell_apart(factors: &[ComparedFactor], pairs: &mut [Pair<'_>]) {
    let labels: Vec<String> = pairs.iter().map(|pair| label(&pair.levels)).collect();
    let mut counts: BTreeMap<&String, usize> = BTreeMap::new();
    labels.iter().for_each(|label| *counts.entry(label).or_default() += 1);
    for (label_before, pair) in labels.iter().zip(pairs.iter_mut()) {
        if counts[label_before] > 1 {
            pair.levels = factors.iter().map(|factor| (factor.setting.clone(), in_full(factor, &pair.key))).collect();
        }
        pair.label = label(&pair.levels);
    }
}

/// A point of neither record yet: its levels as it tells them, or as the settings are that the other record varies; and what they come to.
fn unpaired<'v>(
    factors: &[ComparedFactor],
    own: impl Fn(&str) -> Option<&'v Value>,
    settings: &Settings,
) -> Pair<'static> {
    let paths = factors.iter().flat_map(|factor| &factor.paths);
    let key: Key = paths.filter_map(|path| Some((path.clone(), settings.get(path)?.clone()))).collect();
    let level = |factor: &ComparedFactor| {
        (factor.setting.clone(), own(&factor.setting).cloned().or_else(|| in_full(factor, &key)))
    };
    let levels = factors.iter().map(level).collect();
    Pair { label: String::new(), levels, key, baseline: None, candidate: None }
}

/// The level of a factor with every setting that has a value; `None` for a single setting without one.
fn in_full(factor: &ComparedFactor, key: &Key) -> Option<Value> {
    if factor.covers(&factor.setting) {
        return key.get(&factor.setting).cloned();
    }
    let below = |path: &String| path.strip_prefix(&factor.setting)?.strip_prefix('.').map(str::to_owned);
    let values = factor.paths.iter().filter_map(|path| Some((below(path)?, key.get(path)?.clone())));
    Some(Value::Table(values.collect()))
}

fn label(levels: &Levels) -> String {
    if levels.is_empty() {
        return "the only point".to_owned();
    }
    levels.iter().map(|(_, value)| words(value.as_ref())).collect::<Vec<_>>().join(between(values(levels)))
}

fn values(levels: &Levels) -> impl Iterator<Item = &Value> {
    levels.iter().filter_map(|(_, value)| value.as_ref())
}

fn words(value: Option<&Value>) -> String {
    value.map_or_else(|| "not set".to_owned(), level_text)
}
