//! Queries that two records have in common, each a pair of times. May not judge them.

use super::super::evaluate::Findings;
use super::super::point::PointFindings;
use super::super::warehouse::{Class, query_times, query_totals};
use super::compare::Side;
use super::pairing::Pair;

/// One query on both sides.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryPair {
    /// Place of the pair of points.
    pub pair: usize,
    /// Kind of the query, such as `q01`.
    pub kind: String,
    /// Mean time of the baseline's valid executions, s.
    pub baseline_s: f64,
    /// The same of the candidate, s.
    pub candidate_s: f64,
}

impl QueryPair {
    /// Candidate over baseline.
    pub fn ratio(&self) -> f64 {
        self.candidate_s / self.baseline_s
    }
}

/// Queries that both sides of a pair of valid points did.
pub(super) fn query_pairs(pairs: &[Pair<'_>], baseline: &Findings<'_>, candidate: &Findings<'_>) -> Vec<QueryPair> {
    let mut found = Vec::new();
    for (index, pair) in pairs.iter().enumerate() {
        let (Some(ours), Some(theirs)) = (pair.baseline, pair.candidate) else { continue };
        if !baseline.workload.rates_queries || ![ours, theirs].into_iter().all(|point| point.verdict.is_valid()) {
            continue;
        }
        let times = |findings, point| query_times(&point_totals(findings, point)).unwrap_or_default();
        let theirs = times(candidate, theirs);
        for (kind, baseline_s) in times(baseline, ours) {
            let other = theirs.iter().find(|(known, _)| *known == kind);
            found.extend(other.map(|(_, candidate_s)| QueryPair {
                pair: index,
                kind,
                baseline_s,
                candidate_s: *candidate_s,
            }));
        }
    }
    found
}

/// Times of the queries that both sides did, in one order, s.
///
/// # Errors
/// A query of either has no valid time, or the two ran others.
pub(super) fn paired_times(baseline: Side<'_, '_>, candidate: Side<'_, '_>) -> Result<(Vec<f64>, Vec<f64>), String> {
    let of = |(findings, point): Side<'_, '_>, letter: &str| {
        query_times(&point_totals(findings, point)).map_err(|why| format!("{letter}: {why}"))
    };
    let (ours, theirs) = (of(baseline, "A")?, of(candidate, "B")?);
    if !ours.iter().map(|(kind, _)| kind).eq(theirs.iter().map(|(kind, _)| kind)) {
        return Err("the two did not run the same queries".to_owned());
    }
    let seconds = |times: Vec<(String, f64)>| times.into_iter().map(|(_, seconds)| seconds).collect();
    Ok((seconds(ours), seconds(theirs)))
}

/// Queries of all finished runs of a point, by class.
fn point_totals(findings: &Findings<'_>, point: &PointFindings) -> Vec<Class> {
    let attempts: Vec<_> = point.runs.iter().filter_map(|run| findings.finished(run.run.index)).collect();
    query_totals(&attempts)
}
