//! The bottleneck ranking as JSON.

use crate::findings::{Findings, NOT_CONFIRMED, Ranking};
use serde_json::{Value as Json, json};

/// The first candidate at the largest valid point, and the ranking of every point.
pub(super) fn bottleneck(findings: &Findings<'_>) -> Json {
    let largest = findings.largest().and_then(|point| findings.ranking(point.id));
    let first = largest.and_then(|ranking| ranking.candidates.first());
    json!({
        "point": largest.map(|ranking| ranking.point),
        "first": first.map(|candidate| candidate.name.clone()),
        "cause": first.map(|candidate| format!("{:?}", candidate.cause)),
        "evidence": first.map(|candidate| candidate.evidence.clone()),
        "confirmation": first.map(|_| NOT_CONFIRMED),
        "missing": if first.is_none() { Json::from("nothing observed was near a limit, or no point is valid") } else { Json::Null },
        "points": findings.rankings.iter().map(ranking_json).collect::<Vec<_>>(),
    })
}

fn ranking_json(ranking: &Ranking) -> Json {
    let candidates = ranking.candidates.iter().enumerate().map(|(place, candidate)| {
        json!({
            "rank": place + 1,
            "cause": format!("{:?}", candidate.cause),
            "name": candidate.name,
            "measure": candidate.measure.to_json(),
            "evidence": candidate.evidence,
            "confirmation": NOT_CONFIRMED,
        })
    });
    json!({ "point": ranking.point, "candidates": candidates.collect::<Vec<_>>(), "not_observed": ranking.not_observed })
}
