//! The rating of a warehouse point as JSON: what bound it, how sure that is, and what it rests on.

use crate::findings::warehouse::{KIND, Rating, rating};
use crate::findings::{Findings, PointFindings};
use serde_json::{Value as Json, json};

/// Null for points of other workloads and without a finished run.
pub(super) fn point_rating(findings: &Findings<'_>, point: &PointFindings) -> Json {
    if findings.record.study.settings.text("workload.kind") != Ok(KIND) {
        return Json::Null;
    }
    rating(findings, point).map_or(Json::Null, |rating| body(&rating))
}

fn body(rating: &Rating) -> Json {
    let (bound, confidence, reasons) = match &rating.verdict {
        Ok(verdict) => (verdict.bound.word(), verdict.confidence.word(), verdict.reasons.clone()),
        Err(why) => ("unclear", "none", vec![why.clone()]),
    };
    let calibration = &rating.calibration;
    let source = |is_group: bool, else_by: &'static str| if is_group { "control group" } else { else_by };
    json!({
        "bound": bound,
        "confidence": confidence,
        "reasons": reasons,
        "calibration": {
            "device_read_mb_s": calibration.device.map(|rate| rate.0),
            "cpu_seconds_per_s": calibration.cores,
            "mcr_mb_per_cpu_s": calibration.in_cache.map(|rate| rate.0),
            "bcr_mb_per_cpu_s": calibration.cold.map(|rate| rate.0),
        },
        "cpu_by": source(rating.sources.group_cpu, "threads"),
        "reads_by": source(rating.sources.group_reads, "device"),
    })
}
