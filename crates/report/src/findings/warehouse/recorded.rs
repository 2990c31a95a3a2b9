//! A stored record of a warehouse study as a reference that another is compared with. May not read files.

use super::super::evaluate::{Findings, evaluate};
use super::super::point::PointFindings;
use super::data::{KIND, LAYOUT, layout, warehouse_data, work};
use crate::metrics::{
    CPU, IO_THROUGHPUT, MetricName, QUERIES_PER_HOUR, QUERIES_PER_HOUR_PER_TB, SCAN_LOGICAL, SCAN_PHYSICAL,
};
use proofload_import::{Origin, PublishedFigure, Reference, ReferencePoint};
use proofload_model::settings::{Settings, setting};
use proofload_record::Record;
use std::collections::BTreeMap;

/// Metrics that another study's are set against, where the record has them.
const METRICS: &[MetricName] =
    &[QUERIES_PER_HOUR, QUERIES_PER_HOUR_PER_TB, SCAN_PHYSICAL, SCAN_LOGICAL, IO_THROUGHPUT, CPU];

/// The valid points of a record. `name` is what it is called, `sha256` the hash of its file. Errors: another workload, a record that
/// is still being written, so that its hash is not its last, or no valid point.
pub fn recorded_reference(record: &Record, name: &str, sha256: &str) -> Result<Reference, String> {
    let study = &record.study;
    if study.settings.text(setting::WORKLOAD_KIND) != Ok(KIND) {
        return Err(format!("{name}: only records of warehouse studies can be compared here"));
    }
    if record.being_written {
        return Err(format!(
            "{name}: it is still being written; wait until it is finished, or finish it with \
            `proofload resume`"
        ));
    }
    let findings = evaluate(record);
    let point = |point: &PointFindings| recorded_point(&findings, point, &record.plan.settings(study, point.id));
    let points: Vec<ReferencePoint> = findings.valid().filter_map(point).collect();
    if points.is_empty() {
        return Err(format!("{name}: it has no valid point to compare with"));
    }
    Ok(Reference {
        id: name.to_owned(),
        title: format!("{} ({name})", study.title()),
        publisher: "a Proofload record".to_owned(),
        year: None,
        workload: Some(KIND.to_owned()),
        compare: QUERIES_PER_HOUR_PER_TB.name.to_owned(),
        relative_to: String::new(),
        origin: Origin::Recorded,
        record_sha256: Some(sha256.to_owned()),
        hardware: Vec::new(),
        software: record.sessions.iter().take(1).map(|session| session.program.clone()).collect(),
        procedure: Vec::new(),
        notes: Vec::new(),
        points,
    })
}

fn recorded_point(findings: &Findings<'_>, point: &PointFindings, settings: &Settings) -> Option<ReferencePoint> {
    let data = warehouse_data(findings.finished(point.runs.first()?.run.index)?);
    let stored = data.layout.clone().or_else(|| layout(settings))?;
    let work = work(settings);
    let known = [
        ("layout", Some(stored)),
        (setting::WORKLOAD_SCALE_FACTOR, data.scale_factor),
        ("data.generator", data.generator),
        (setting::WORKLOAD_MIX, Some(work.mix)),
        (setting::WORKLOAD_QUERIES, Some(work.queries)),
        (setting::WORKLOAD_STREAMS, settings.get(setting::WORKLOAD_STREAMS).map(ToString::to_string)),
    ];
    let known = known.into_iter().filter_map(|(name, level)| Some((name.to_owned(), level?)));
    let mut levels: Vec<(String, String)> = known.collect();
    for (setting, level) in point.assigned().0 {
        if setting != LAYOUT && !levels.iter().any(|(known, _)| *known == setting) {
            levels.push((setting, level.to_string()));
        }
    }
    let metric = |shown: &MetricName| {
        let found = point.result(shown.key()).ok()?;
        let figure = PublishedFigure { value: found.value(), unit: found.unit().to_string(), from: None };
        Some((shown.name.to_owned(), figure))
    };
    let metrics: BTreeMap<String, PublishedFigure> = METRICS.iter().filter_map(metric).collect();
    Some(ReferencePoint { name: point.label(), levels, metrics, ..ReferencePoint::default() })
}
