//! JSON of the findings: keys are stable, every number has unit, interval and sample size, or says why it has none.

use crate::blocks::Opening;
use crate::findings::warehouse::{Rating, rating};
use crate::findings::{
    BlockFindings, Curve, CurveGroup, EarlierAttempt, Findings, HostUse, Knee, Measured, NOT_CONFIRMED, NoKnee,
    PointFindings, Ranking, RunFindings, WholeRun, WindowReach, not_fitted, reach, within_the_whole,
};
use crate::metrics::RELATIVE;
use proofload_analysis::quantity::Quantity;
use proofload_analysis::stall::Stall;
use proofload_model::settings::{Value, setting};
use serde_json::{Map, Value as Json, json};

/// Version of this form; raised when a key changes its meaning or goes.
const FORM: u32 = 1;

/// Renders findings.
pub(crate) fn json(findings: &Findings<'_>, opening: &Opening) -> String {
    let study = &findings.record.study;
    let factors: Vec<Json> = findings
        .factors
        .iter()
        .map(|factor| json!({ "setting": factor.setting, "levels": factor.levels.iter().map(level).collect::<Vec<_>>() }))
        .collect();
    let settings: Map<String, Json> =
        study.settings.0.iter().map(|(path, value)| (path.clone(), level(value))).collect();
    let mut body = json!({
        "form": FORM,
        "study": {
            "name": study.name(), "title": study.title(), "seed": study.seed(), "repetitions": study.repetitions(),
            "factors": factors, "settings": settings,
        },
        "answer": super::plain::opening_json(opening),
        "points": findings.points.iter().map(|point| point_json(findings, point)).collect::<Vec<_>>(),
        "knee": knee_json(findings), "elasticity": elasticity_json(findings),
        "searches": super::json_search::searches(findings),
        "bottleneck": bottleneck_json(findings), "sentinels": sentinels_json(findings),
        "reference": study.settings.text(setting::STUDY_REFERENCE).ok(), "workload_is": findings.workload.disclaimer,
        "profile": crate::workloads::profile(&study.settings),
    });
    if let Some(found) = &findings.blocks {
        body["blocks"] = blocks_json(found);
    }
    if !findings.attributions.is_empty() {
        body["attribution"] = Json::Array(super::json_attribution::points(findings));
    }
    let on_tiers = super::json_cache_tier::points(findings);
    if !on_tiers.is_empty() {
        body["cache_tier"] = Json::Array(on_tiers);
        body["cache_forecasts"] = Json::Array(super::json_cache_forecast::groups(findings));
    }
    if findings.record.judged_again {
        body["judged_again"] = json!(true);
    }
    if !findings.record.faults.is_empty() {
        body["record_faults"] = json!(findings.record.faults);
    }
    let mut text = format!("{body:#}");
    text.push('\n');
    text
}

/// Repetitions inside which ratios were formed.
fn blocks_json(found: &BlockFindings) -> Json {
    let effect = found.blocks.effect();
    json!({
        "count": found.blocks.count(), "left_out": found.left_out, "randomised": found.randomised,
        "effect_of_others": effect.map(|effect| json!({ "power": effect.power, "standard_error": effect.standard_error })),
    })
}

/// A level: a number or text, sizes and times as a study writes them.
fn level(value: &Value) -> Json {
    match value {
        Value::Integer(number) => json!(number),
        Value::Number(number) => json!(number),
        Value::Boolean(value) => json!(value),
        Value::List(items) => json!(items),
        Value::Table(values) => Json::Object(values.iter().map(|(key, value)| (key.clone(), level(value))).collect()),
        Value::Text(_) | Value::Bytes(_) | Value::Duration(_) => json!(value.to_string()),
    }
}

fn point_json(findings: &Findings<'_>, point: &PointFindings) -> Json {
    let levels: Map<String, Json> =
        point.levels.iter().map(|(setting, value)| (setting.clone(), level(value))).collect();
    let reasons: Vec<String> = point.verdict.reasons();
    let estimand = point.estimand.as_ref().map(|estimand| (estimand.name(), estimand.to_string()));
    let mut metrics = metrics_json(point);
    metrics.insert(RELATIVE.name.to_owned(), measured(&point.relative));
    let mut body = json!({
        "id": point.id, "levels": levels,
        "verdict": if point.verdict.is_valid() { point.verdict.word() } else { "void" }, "reasons": reasons,
        "overloaded": point.overload(), "planned_runs": point.planned,
        "runs": point.runs.iter().map(|run| run_json(findings, run)).collect::<Vec<_>>(), "metrics": metrics,
        "rating": point_rating(findings, point),
        "relative_percent": point.relative.as_ref().map(Quantity::value).ok(),
    });
    if let Some((name, text)) = estimand {
        body["estimand"] = json!({ "name": name, "text": text });
    }
    if !point.earlier.is_empty() {
        body["earlier_attempts"] = point.earlier.iter().map(earlier_json).collect();
    }
    body
}

/// An attempt that was made again.
fn earlier_json(earlier: &EarlierAttempt) -> Json {
    let reasons: Vec<String> = earlier.voids.iter().map(ToString::to_string).collect();
    json!({
        "attempt": earlier.attempt, "repetition": earlier.repetition, "throughput": earlier.throughput.to_json(),
        "disturbed": earlier.disturbed, "reasons": reasons,
    })
}

/// `name.kind` becomes an object below `name`.
fn metrics_json(point: &PointFindings) -> Map<String, Json> {
    let mut metrics: Map<String, Json> = Map::new();
    for (key, value) in &point.metrics {
        match key.family() {
            (name, None) => {
                metrics.insert(name, measured(value));
            }
            (family, Some(kind)) => metrics.entry(family).or_insert_with(|| json!({}))[kind] = measured(value),
        }
    }
    metrics
}

/// A quantity, or null values with the reason.
pub(super) fn measured(value: &Measured) -> Json {
    match value {
        Ok(quantity) => quantity.to_json(),
        Err(why) => json!({ "value": null, "unit": null, "ci95": null, "n": 0, "missing": why }),
    }
}

fn run_json(findings: &Findings<'_>, run: &RunFindings) -> Json {
    let mean = run.throughput();
    let mut body = json!({
        "index": run.run.index, "repetition": run.run.repetition, "seed": run.run.seed, "attempt": run.attempt,
        "attempts": findings.attempts_at(run.run.index), "verdict": if run.voids.is_empty() { "valid" } else { "void" },
        "reasons": run.voids.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "warm_up_seconds": run.warm_up.as_ref().map(|warm_up| warm_up.seconds),
        "settled": run.warm_up.as_ref().and_then(|warm_up| warm_up.end.settled()),
        "whole_run": run.whole.as_ref().map(whole_run_json),
        "window": run.window.map(|window| json!({ "from": window.from, "to": window.to })),
        "throughput": mean.to_json(), "failed": run.failures.failed, "due": run.failures.due,
        "failures": run.failure_classes.iter().map(|failure| json!({
            "type": failure.kind, "code": failure.code, "text": failure.text, "count": failure.count,
        })).collect::<Vec<_>>(),
        "lost_sessions": run.lost_sessions.map(|lost| json!({
            "losses": lost.losses, "returned": lost.returned, "first_lost_seconds": lost.first,
            "last_back_seconds": lost.last_back, "shortest_away_seconds": lost.away.map(|(shortest, _)| shortest),
            "longest_away_seconds": lost.away.map(|(_, longest)| longest),
        })),
        "stalls": run.stalls.found.iter().map(|stall| stall_json(run, stall)).collect::<Vec<_>>(),
        "offered": run.offered.as_ref().map(|offered| json!({
            "asked_per_second": offered.asked, "offered_per_second": offered.due, "dropped": offered.dropped,
            "backlog": offered.backlog, "send_lag_ns_p99": offered.lag_ns_p99, "achieved": offered.achieved().to_json(), "overloaded": offered.overload(),
        })),
        "checks": run.checks.iter().map(|check| json!({
            "group": check.group, "name": check.name, "outcome": format!("{:?}", check.outcome), "found": check.found,
            "sample": check.sample.as_ref().map(|sample| json!({
                "limits": sample.limits, "n": sample.n, "observed": sample.observed, "p": sample.p,
            })),
        })).collect::<Vec<_>>(),
        "audits": run.audits.iter().map(|audit| json!({
            "name": audit.name, "holds": audit.holds, "found": audit.found,
        })).collect::<Vec<_>>(),
    });
    if !run.readiness.is_empty() {
        body["readiness"] = json!(run.readiness);
    }
    if let Some(host) = &run.host {
        body["host"] = host_json(host);
        if let Some((quantity, quiet)) = host.in_quiet_seconds(findings.workload) {
            body["host"]["in_quiet_seconds"] = json!({
                "metric": findings.workload.headline.name, "value": quantity.to_json(), "quiet_s": quiet.quiet, "of_s": quiet.of,
                "guard_s": quiet.guard,
            });
        }
    }
    if let Some(reach) = reach(findings, run) {
        body["reach"] = reach_json(reach);
    }
    for (metric, factor) in findings.workload.rates {
        body[metric.name] = mean.scaled(*factor, metric.quantity_unit()).to_json();
    }
    body
}

/// What others did on the host, shares from 0 to 1, and what the run's figures may claim.
fn host_json(host: &HostUse) -> Json {
    let mut body = json!({
        "estimand": { "name": host.estimand.name(), "text": host.estimand.to_string() },
        "taken": host.disturbance.observed(), "stolen": host.disturbance.stolen, "foreign": host.disturbance.foreign,
        "processes": host.processes.iter().map(|(name, rate)| json!({ "name": name, "cpu": rate })).collect::<Vec<_>>(),
        "foreign_requests": host.foreign_requests, "client_wait": host.client_wait, "throttled": host.throttled,
    });
    if let Some(spin) = &host.spin {
        body["spin"] = json!({
            "share": spin.share, "worst": spin.worst, "seconds": spin.seconds, "whole": spin.is_whole,
        });
    }
    if let Some(reason) = host.device_reason.as_ref().or(host.spin_reason.as_ref()) {
        body["as_given_since"] = json!(reason);
    }
    body
}

/// The rated part of a run that is rated whole; seconds from time zero of the load.
fn whole_run_json(whole: &WholeRun) -> Json {
    json!({
        "warm_up_rounds": whole.warm_up_rounds, "cold": whole.cold,
        "all_busy": whole.stretch.map(|(from, to)| json!({ "from": from, "to": to })),
        "rounds": whole.rounds.iter().map(|round| json!({
            "user": round.user, "number": round.number, "from": round.from, "to": round.to,
            "well": round.well, "failed": round.failed,
        })).collect::<Vec<_>>(),
    })
}

/// Seconds from time zero of the load.
fn stall_json(run: &RunFindings, stall: &Stall) -> Json {
    let start = run.window.map_or(0, |window| window.from as usize);
    json!({
        "from": start + stall.from, "to": start + stall.to, "slow_seconds": stall.slow_seconds,
        "lowest_per_second": stall.lowest, "median_per_second": run.stalls.median,
        "largest_response_ns": stall.largest_response_ns, "p99_ns": run.stalls.p99_ns,
    })
}

/// The knee of the only group; with several factors, of each.
fn knee_json(findings: &Findings<'_>) -> Json {
    match &findings.curve {
        Err(why) => no_knee(&NoKnee::NoCurve(why.clone())),
        Ok(curve) => match curve.groups.as_slice() {
            [only] => group_knee(findings, curve, only),
            groups => json!({
                "setting": curve.setting,
                "groups": groups.iter().map(|group| group_knee(findings, curve, group)).collect::<Vec<_>>(),
            }),
        },
    }
}

fn group_knee(findings: &Findings<'_>, curve: &Curve, group: &CurveGroup) -> Json {
    let mut knee = match findings.knee(curve, group) {
        Knee::Fitted(fitted) => json!({ "found": true, "at": fitted.at.to_json() }),
        Knee::Between { above, at_most, .. } => json!({
            "found": true, "above": above, "at_most": at_most, "unit": "as the setting, sizes in bytes",
            "method": "95 % intervals of the ratios to the largest",
        }),
        Knee::None(why) => no_knee(&why),
    };
    if let Err(why) = group.fit {
        knee["not_fitted"] = json!(not_fitted(why));
    }
    knee["setting"] = json!(curve.setting);
    if !group.label.is_empty() {
        knee["other_levels"] = json!(group.label);
    }
    knee
}

/// The reason in a word for programs, and in words.
fn no_knee(why: &NoKnee) -> Json {
    json!({ "found": false, "reason": why.word(), "missing": why.text() })
}

fn elasticity_json(findings: &Findings<'_>) -> Json {
    let Ok(curve) = &findings.curve else { return json!([]) };
    let steps = curve.groups.iter().flat_map(|group| {
        group.steps.iter().map(|step| {
            json!({ "other_levels": group.label, "from": step.from, "to": step.to, "elasticity": step.elasticity.to_json() })
        })
    });
    Json::Array(steps.collect())
}

fn sentinels_json(findings: &Findings<'_>) -> Json {
    match &findings.sentinels {
        None => Json::Null,
        Some(Err(why)) => json!({ "missing": why }),
        Some(Ok(sentinels)) => json!({
            "point": sentinels.point, "drifted": sentinels.drifted,
            "runs": sentinels.relative.iter().map(|(run, quantity)| json!({ "index": run, "relative_percent": quantity.to_json() })).collect::<Vec<_>>(),
        }),
    }
}

/// How far the interval of a window reaches: what recurs in it, slowest first, and shares.
fn reach_json(reach: &WindowReach) -> Json {
    json!({
        "recurrences": reach.recurrences.iter().map(|recurrence| json!({
            "of": recurrence.of.name(), "count": recurrence.count, "period_s": recurrence.period,
        })).collect::<Vec<_>>(),
        "holds_enough": reach.holds_enough(), "variance_ratio": reach.variance_ratio,
        "may_be_narrow": reach.may_be_narrow(), "movement_not_excluded": reach.movement,
    })
}

/// The first candidate at the largest valid point, and the ranking of every point.
fn bottleneck_json(findings: &Findings<'_>) -> Json {
    let largest = findings.largest().and_then(|point| findings.ranking(point.id));
    let first = largest.and_then(|ranking| ranking.candidates.first());
    json!({
        "point": largest.map(|ranking| ranking.point), "first": first.map(|candidate| candidate.name.clone()),
        "cause": first.map(|candidate| format!("{:?}", candidate.cause)),
        "evidence": first.map(|candidate| candidate.evidence.clone()), "confirmation": first.map(|_| NOT_CONFIRMED),
        "missing": if first.is_none() { Json::from("nothing observed was near a limit, or no point is valid") } else { Json::Null },
        "points": findings.rankings.iter().map(ranking_json).collect::<Vec<_>>(),
    })
}

fn ranking_json(ranking: &Ranking) -> Json {
    let candidates = ranking.candidates.iter().enumerate().map(|(place, candidate)| {
        let measure = within_the_whole(candidate.measure.clone());
        json!({
            "rank": place + 1, "cause": format!("{:?}", candidate.cause), "name": candidate.name,
            "measure": measure.to_json(), "evidence": candidate.evidence, "confirmation": NOT_CONFIRMED,
        })
    });
    json!({ "point": ranking.point, "candidates": candidates.collect::<Vec<_>>(), "not_observed": ranking.not_observed })
}

/// The rating of a warehouse point: what bound it, how sure that is, and what it rests on. Null for points of other workloads
/// and without a finished run.
fn point_rating(findings: &Findings<'_>, point: &PointFindings) -> Json {
    if !findings.workload.rates_queries {
        return Json::Null;
    }
    rating(findings, point).map_or(Json::Null, |rating| rating_json(&rating))
}

fn rating_json(rating: &Rating) -> Json {
    let (bound, confidence, reasons) = match &rating.verdict {
        Ok(verdict) => (verdict.bound.word(), verdict.confidence.word(), verdict.reasons.clone()),
        Err(why) => ("unclear", "none", vec![why.clone()]),
    };
    let calibration = &rating.calibration;
    let source = |is_group: bool, else_by: &'static str| if is_group { "control group" } else { else_by };
    json!({
        "bound": bound, "confidence": confidence, "reasons": reasons,
        "calibration": {
            "device_read_mb_s": calibration.device.map(|rate| rate.0), "cpu_seconds_per_s": calibration.cores,
            "mcr_mb_per_cpu_s": calibration.in_cache.map(|rate| rate.0),
            "bcr_mb_per_cpu_s": calibration.cold.map(|rate| rate.0),
        },
        "cpu_by": source(rating.sources.group_cpu, "threads"),
        "reads_by": source(rating.sources.group_reads, "device"),
    })
}
