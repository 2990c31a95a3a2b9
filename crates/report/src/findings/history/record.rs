//! What a history keeps of a record: small enough for a cache of thousands.

use super::super::comparison::metrics_of;
use super::super::{Findings, PointFindings, evaluate, level_of, setting_title};
use crate::metrics::{Better, LatencyKey, LatencyStatistic, MetricKey, QUERY_TIME};
use proofload_model::facts::engine;
use proofload_model::settings::{Value, setting};
use proofload_model::time::WallTime;
use proofload_record::Record;
use serde::{Deserialize, Serialize};

/// A record in a history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HistoryRecord {
    /// Its file as it was named.
    pub file: String,
    /// When it was begun, µs since 1970, UTC.
    pub created: i64,
    /// Name of the study.
    pub study: String,
    /// Title of the study.
    pub title: String,
    /// Kind of the engine and its version, as far as recorded.
    pub engine: String,
    /// Program that made it, with its version.
    pub program: String,
    /// Points in the order of the study.
    pub points: Vec<HistoryPoint>,
}

impl HistoryRecord {
    /// When it was begun.
    pub fn begun(&self) -> WallTime {
        WallTime(self.created)
    }

    /// Whether any point is a result.
    pub fn has_result(&self) -> bool {
        self.points.iter().any(|point| point.is_valid)
    }
}

/// A point of such a record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HistoryPoint {
    /// Its levels in words.
    pub label: String,
    /// Whether it is a result.
    pub is_valid: bool,
    /// Word of its verdict.
    pub verdict: String,
    /// Name of what its figures may claim; `None` where that is not told.
    pub estimand: Option<String>,
    /// Its main figures.
    pub values: Vec<HistoryValue>,
}

/// A figure of such a point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HistoryValue {
    /// Name of the metric.
    pub metric: String,
    /// Title of the metric.
    pub title: String,
    /// Unit; ms for times.
    pub unit: String,
    /// Whether more of it is better.
    pub more_is_better: bool,
    /// The value.
    pub value: f64,
    /// Its 95 % interval, where it has one.
    pub interval: Option<(f64, f64)>,
    /// Number of samples.
    pub n: u64,
}

/// Keeps the main figures of a record: throughput, and the 99th percentile of response times or the time of queries.
pub fn history_record(file: &str, record: &Record) -> HistoryRecord {
    let findings = evaluate(record);
    let last = record.attempts.iter().rev().find_map(|attempt| {
        let version = engine::VERSION.text(&attempt.facts).or_else(|| engine::SERVER_VERSION.text(&attempt.facts))?;
        Some(version.to_owned())
    });
    let kind = record.study.settings.text(setting::ENGINE_KIND).unwrap_or_default().to_owned();
    HistoryRecord {
        file: file.to_owned(),
        created: record.created.0,
        study: record.study.name().to_owned(),
        title: record.study.title().to_owned(),
        engine: last.map_or_else(|| kind.clone(), |version| format!("{kind} {version}")),
        program: record.sessions.first().map_or_else(String::new, |session| session.program.clone()),
        points: findings.points.iter().map(|point| kept(&findings, point)).collect(),
    }
}

/// Levels in words, numbers behind the name of their setting.
fn named_levels(point: &PointFindings) -> String {
    if point.levels.is_empty() {
        return point.label();
    }
    let named = |(setting, value): &(String, Value)| {
        let level = level_of(setting, value);
        let is_number = level.chars().all(|letter| letter.is_ascii_digit() || letter == '.' || letter == ',');
        if is_number { format!("{} {level}", setting_title(setting)) } else { level }
    };
    point.levels.iter().map(named).collect::<Vec<_>>().join(", ")
}

fn kept(findings: &Findings<'_>, point: &PointFindings) -> HistoryPoint {
    let workload = findings.workload;
    let kinds = findings.kinds();
    let p99 = |latency: &LatencyKey| latency.statistic == LatencyStatistic::P99;
    let wanted = |key: &MetricKey| *key == workload.headline || *key == QUERY_TIME || key.latency().is_some_and(p99);
    let metrics = workload.compared.iter().flat_map(|name| metrics_of(name, workload, &kinds));
    let value = |metric: super::super::comparison::Metric| {
        let quantity = point.metric(&metric.key).ok()?;
        let is_time = metric.key.latency().is_some();
        let factor = if is_time { 1e-6 } else { 1.0 };
        Some(HistoryValue {
            title: metric.title,
            unit: if is_time { "ms".to_owned() } else { quantity.unit().to_string() },
            more_is_better: metric.better == Better::Higher,
            value: factor * quantity.value(),
            interval: quantity.interval().bounds().map(|(low, high)| (factor * low, factor * high)),
            n: quantity.n(),
            metric: metric.key.to_string(),
        })
    };
    HistoryPoint {
        label: named_levels(point),
        is_valid: point.verdict.is_valid(),
        verdict: point.verdict.word().to_owned(),
        estimand: point.estimand_name().map(str::to_owned),
        values: metrics.filter(|metric| wanted(&metric.key)).filter_map(value).collect(),
    }
}
