//! Points of two records paired by their levels. A setting that is a factor of one record only has its fixed value in the other.

use super::super::evaluate::Findings;
use super::super::factor::{level_text, setting_title};
use super::super::point::PointFindings;
use proofload_model::settings::Value;

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

/// Levels of the factors of both records; `None` where a setting has no value.
pub(super) type Levels = Vec<(String, Option<Value>)>;

/// A point that both records have, or one of them.
#[derive(Debug, Clone)]
pub(super) struct Pair<'f> {
    /// Its levels.
    pub(super) levels: Levels,
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
        self.levels.iter().map(text).collect::<Vec<_>>().join(", ")
    }
}

/// Factors of both records, the baseline's first.
pub(super) fn factors(baseline: &Findings<'_>, candidate: &Findings<'_>) -> Vec<String> {
    let mut factors: Vec<String> = Vec::new();
    for factor in baseline.factors.iter().chain(&candidate.factors) {
        if !factors.contains(&factor.setting) {
            factors.push(factor.setting.clone());
        }
    }
    factors
}

/// Pairs in the order of the baseline's points, then what only the candidate has.
pub(super) fn pairs<'f>(factors: &[String], baseline: &'f Findings<'_>, candidate: &'f Findings<'_>) -> Vec<Pair<'f>> {
    let mut pairs: Vec<Pair<'f>> = Vec::new();
    for point in &baseline.points {
        let levels = levels(factors, baseline, point);
        pairs.push(Pair { label: label(&levels), levels, baseline: Some(point), candidate: None });
    }
    for point in &candidate.points {
        let levels = levels(factors, candidate, point);
        match pairs.iter_mut().find(|pair| pair.levels == levels) {
            Some(pair) => pair.candidate = Some(point),
            None => pairs.push(Pair { label: label(&levels), levels, baseline: None, candidate: Some(point) }),
        }
    }
    pairs
}

fn levels(factors: &[String], findings: &Findings<'_>, point: &PointFindings) -> Levels {
    let settings = findings.record.plan.settings(&findings.record.study, point.id);
    factors.iter().map(|setting| (setting.clone(), settings.get(setting).cloned())).collect()
}

fn label(levels: &Levels) -> String {
    if levels.is_empty() {
        return "the only point".to_owned();
    }
    levels.iter().map(|(_, value)| words(value.as_ref())).collect::<Vec<_>>().join(", ")
}

fn words(value: Option<&Value>) -> String {
    value.map_or_else(|| "not set".to_owned(), level_text)
}
