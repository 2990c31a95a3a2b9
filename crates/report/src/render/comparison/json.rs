//! A comparison and a gate for programs: stable keys, described in `docs/guides/machine-readable.md`.

use crate::findings::comparison::{Comparison, Difference, Gate, LeftOut, NamedRecord, Row, Rules};
use proofload_analysis::quantity::{NO_UPPER_BOUND, is_unbounded_above};
use proofload_model::duet_check::{CheckRatio, DuetCheck, DuetCheckOutcome};
use serde_json::{Value as Json, json};

/// Version of this form; raised when a key changes its meaning or goes.
const FORM: u32 = 1;

/// Renders a comparison.
pub(crate) fn comparison_json(comparison: &Comparison<'_>) -> String {
    format!("{:#}\n", body(comparison))
}

/// Renders a gate over its comparison: the same keys and `gate`; `comparisons` then have `limit`, `tolerance` and `finding`.
pub(crate) fn gate_json(comparison: &Comparison<'_>, gate: &Gate, rules: &Rules) -> String {
    let mut body = body(comparison);
    for judged in &gate.rows {
        let row = &mut body["comparisons"][judged.row];
        row["limit"] = json!(judged.limit);
        row["tolerance"] = json!(judged.tolerance);
        row["p_regressed"] = json!(judged.p_corrected);
        row["finding"] = json!(judged.finding.word());
    }
    body["gate"] = json!({
        "outcome": gate.outcome.word(), "passes": gate.passes, "reasons": gate.reasons, "tolerance": rules.tolerance,
        "undecided": rules.undecided.word(), "void": rules.void.word(), "not_in_turns": rules.not_in_turns.word(),
        "not_alternated": gate.not_alternated,
    });
    format!("{body:#}\n")
}

fn body(comparison: &Comparison<'_>) -> Json {
    json!({
        "form": FORM, "baseline": record(&comparison.baseline), "candidate": record(&comparison.candidate),
        "factors": comparison.factors,
        "differences": comparison.differences.iter().map(difference).collect::<Vec<_>>(),
        "duet_checks": comparison.checks.iter().map(duet_check).collect::<Vec<_>>(),
        "warnings": comparison.warnings,
        "comparisons": comparison.rows.iter().map(|found| row(comparison, found)).collect::<Vec<_>>(),
        "not_compared": comparison.left_out.iter().map(|left| left_out(comparison, left)).collect::<Vec<_>>(),
        "void": comparison.void.iter().map(|void| json!({
            "point": levels(comparison, void.pair), "record": void.which.word(), "verdict": void.verdict, "reasons": void.reasons,
        })).collect::<Vec<_>>(),
        "queries": comparison.queries.iter().map(|query| json!({
            "point": levels(comparison, query.pair), "query": query.kind, "baseline_s": query.baseline_s,
            "candidate_s": query.candidate_s, "ratio": query.ratio(),
        })).collect::<Vec<_>>(),
        "only_in_one": comparison.alone.iter().map(|(pair, which)| json!({
            "point": levels(comparison, *pair), "record": which.word(),
        })).collect::<Vec<_>>(),
    })
}

/// A duet with a known ratio.
fn duet_check(check: &DuetCheck) -> Json {
    let outcome = match check.outcome() {
        DuetCheckOutcome::Met => "met",
        DuetCheckOutcome::Missed => "missed",
        DuetCheckOutcome::Undecided => "undecided",
    };
    json!({
        "expected": check.expected, "outcome": outcome, "records": check.records,
        "ratios": check.ratios.iter().map(check_ratio).collect::<Vec<_>>(), "missing": check.missing,
    })
}

/// What a duet with a known ratio read at a point. Its interval is wider than one of 95 %, so it does not stand under `ci95`.
fn check_ratio(ratio: &CheckRatio) -> Json {
    let CheckRatio { point, value, low, high } = ratio;
    if is_unbounded_above(*value, (*low, *high)) {
        let why = format!("{NO_UPPER_BOUND}: at least {low}");
        return json!({ "point": point, "value": value, "low": low, "high": null, "high_missing": why });
    }
    json!({ "point": point, "value": value, "low": low, "high": high })
}

fn record(named: &NamedRecord<'_>) -> Json {
    let record = named.record;
    json!({
        "file": named.file, "sha256": named.sha256, "study": record.study.name(), "title": record.study.title(),
        "created_us": record.created.0,
        "programs": record.sessions.iter().map(|session| &session.program).collect::<Vec<_>>(),
        "being_written": record.being_written,
    })
}

fn difference(difference: &Difference) -> Json {
    json!({
        "subject": difference.subject.word(), "name": difference.name, "baseline": difference.baseline,
        "candidate": difference.candidate,
        "points": difference.points.iter().map(|label| label.replace('\u{a0}', " ")).collect::<Vec<_>>(),
    })
}

fn levels(comparison: &Comparison<'_>, pair: usize) -> Json {
    let levels = comparison.pairs.get(pair).map(|pair| pair.levels.as_slice()).unwrap_or_default();
    Json::Object(levels.iter().map(|(setting, value)| (setting.clone(), json!(value))).collect())
}

fn row(comparison: &Comparison<'_>, row: &Row) -> Json {
    let [ours, theirs] = row.estimand_names();
    let finite = |value: f64| if value.is_finite() && value > 0.0 { json!(value) } else { Json::Null };
    json!({
        "point": levels(comparison, row.pair), "metric": row.metric.key.to_string(), "title": row.metric.title,
        "better": row.metric.better.word(), "baseline": row.baseline.to_json(), "candidate": row.candidate.to_json(),
        "ratio": row.ratio.to_json(), "spread": row.contrast.spread.word(),
        "estimand": { "baseline": ours, "candidate": theirs, "ratio": comparison.ratio_estimand(row) },
        "alternated": comparison.alternated(row), "runs": { "baseline": row.runs.0, "candidate": row.runs.1 },
        "p": row.p, "p_corrected": row.p_corrected, "verdict": row.verdict.words(),
        "shown_from": { "below": finite(row.shown_from.0), "above": finite(row.shown_from.1) },
    })
}

fn left_out(comparison: &Comparison<'_>, left: &LeftOut) -> Json {
    json!({
        "point": levels(comparison, left.pair), "metric": left.metric.key.to_string(), "title": left.metric.title, "why": left.why,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_upper_end_of_a_check_that_bounds_nothing_is_null_with_the_reason() {
        let of = |low, high| check_ratio(&CheckRatio { point: String::new(), value: 0.9, low, high });
        assert_eq!(of(0.89, 0.94), json!({ "point": "", "value": 0.9, "low": 0.89, "high": 0.94 }));
        let wide = of(8e-13, 9e11);
        assert_eq!((&wide["low"], &wide["high"]), (&json!(8e-13), &Json::Null));
        assert!(wide["high_missing"].as_str().is_some_and(|why| why.starts_with("no upper bound")), "{wide}");
    }
}
