//! What became of each query over whole runs, warm-up included: of 22 queries a window may hold few. Times are exact sums of the
//! clients' clocks, not percentiles.

use super::super::estimate::over_runs;
use super::super::level::Measured;
use super::calibrated::{Cost, cost};
use proofload_analysis::distribution::median;
use proofload_analysis::quantity::{Quantity, Unit};
use proofload_model::facts::{Description, client, query};
use proofload_model::samples::{ErrorCount, IntervalSample, LatencyClock};
use proofload_record::Attempt;

/// Classes in the order of tables; others follow by name.
pub(super) const CLASSES: &[&str] = &["simple", "average", "complex"];

/// One query at one point, all runs together.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryTotals {
    /// Kind of the operation, such as `q01`.
    pub kind: String,
    /// Declared class; empty where none is recorded.
    pub class: String,
    /// What it asks, as the suite says.
    pub title: String,
    /// Answered and not found wrong.
    pub valid: u64,
    /// Failed, wrong or capped.
    pub failed: u64,
    /// Codes of the failures, the most frequent first.
    pub codes: Vec<String>,
    /// Response times of the valid ones added up, s.
    pub sum_s: f64,
    /// Mean of each run that had a valid one, s.
    pub means_s: Vec<f64>,
    /// What it cost once, in the calibration before the runs.
    pub cost: Option<Cost>,
}

/// A class of queries at one point.
#[derive(Debug, Clone, PartialEq)]
pub struct Class {
    /// Its name.
    pub name: String,
    /// Its queries.
    pub queries: Vec<QueryTotals>,
}

impl QueryTotals {
    /// The mean with its interval over repetitions, where there are any; the reason when none is valid.
    pub(crate) fn mean(&self) -> Measured {
        let mean = self.mean_s().ok_or_else(|| format!("not valid: {}", self.codes.join(", ")))?;
        let of_runs = over_runs(&self.means_s, Unit::named("s"), "a single run has no spread between runs");
        Ok(Quantity::new(mean, Unit::named("s"), self.valid, of_runs.interval().clone()))
    }

    /// Mean response time of the valid ones, s.
    pub(crate) fn mean_s(&self) -> Option<f64> {
        (self.valid > 0).then(|| self.sum_s / self.valid as f64)
    }
}

impl Class {
    /// Response times of all its valid queries added up, s.
    pub(crate) fn sum_s(&self) -> f64 {
        self.queries.iter().map(|query| query.sum_s).sum()
    }

    /// The middle of its queries' means, s.
    pub(crate) fn median_s(&self) -> Option<f64> {
        middle(self.queries.iter().filter_map(QueryTotals::mean_s))
    }

    /// What its queries cost, each once: the sum of what is known.
    pub fn cost(&self, of: fn(&Cost) -> Option<f64>) -> Option<f64> {
        let known: Vec<f64> = self.queries.iter().filter_map(|query| of(&query.cost?)).collect();
        (!known.is_empty()).then(|| known.iter().sum())
    }

    /// The middle of what its queries cost.
    pub(crate) fn median_cost(&self, of: fn(&Cost) -> Option<f64>) -> Option<f64> {
        middle(self.queries.iter().filter_map(|query| of(&query.cost?)))
    }
}

fn middle(values: impl Iterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.collect();
    (!values.is_empty()).then(|| median(&values))
}

/// Queries by class, both in the order of tables.
pub fn query_totals(attempts: &[&Attempt]) -> Vec<Class> {
    let mut kinds: Vec<&str> = all(attempts).flat_map(|interval| &interval.counts).map(|c| c.kind.as_str()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let mut classes: Vec<Class> = Vec::new();
    for query in kinds.into_iter().map(|kind| of_kind(attempts, kind)).filter(|query| query.valid + query.failed > 0) {
        match classes.iter_mut().find(|class| class.name == query.class) {
            Some(class) => class.queries.push(query),
            None => classes.push(Class { name: query.class.clone(), queries: vec![query] }),
        }
    }
    let place = |class: &Class| CLASSES.iter().position(|known| *known == class.name).unwrap_or(CLASSES.len());
    classes.sort_by_key(|class| (place(class), class.name.clone()));
    classes
}

fn all<'a>(attempts: &[&'a Attempt]) -> impl Iterator<Item = &'a IntervalSample> {
    attempts.iter().flat_map(|attempt| &attempt.intervals).collect::<Vec<_>>().into_iter()
}

fn of_kind(attempts: &[&Attempt], kind: &str) -> QueryTotals {
    let counts = || all(attempts).flat_map(|interval| &interval.counts).filter(|counts| counts.kind == kind);
    let (class, title) = described(attempts, kind);
    let per_run: Vec<(u64, f64)> = attempts.iter().map(|attempt| times(attempt, kind)).collect();
    QueryTotals {
        kind: kind.to_owned(),
        class,
        title,
        valid: counts().map(|counts| counts.done).sum(),
        failed: counts().map(|counts| counts.failed).sum(),
        codes: codes(attempts, kind),
        sum_s: per_run.iter().map(|(_, sum)| sum).sum(),
        cost: attempts.iter().rev().find_map(|attempt| cost(attempt, kind)),
        means_s: per_run.iter().filter(|(n, _)| *n > 0).map(|(n, sum)| sum / *n as f64).collect(),
    }
}

/// Number and sum of the response times of one run, s.
fn times(attempt: &Attempt, kind: &str) -> (u64, f64) {
    let parts = attempt.intervals.iter().flat_map(|interval| &interval.histograms);
    let parts = parts.filter(|part| part.kind == kind && part.clock == LatencyClock::Response);
    parts.fold((0, 0.0), |(n, sum), part| (n + part.count, sum + part.sum_ns as f64 * 1e-9))
}

/// Class and title, as the facts of the query say.
fn described(attempts: &[&Attempt], kind: &str) -> (String, String) {
    let recorded = |attempt: &&Attempt| {
        let named = [client::QUERY, query::DESCRIBED].map(|family| family.of(kind));
        named.iter().find_map(|name| name.description(&attempt.facts))
    };
    let Description { name, words } = attempts.iter().find_map(recorded).unwrap_or_default();
    (name, words)
}

fn codes(attempts: &[&Attempt], kind: &str) -> Vec<String> {
    let mut codes: Vec<(&str, u64)> = Vec::new();
    let of_kind = |error: &&ErrorCount| error.kind == kind;
    for error in all(attempts).flat_map(|interval| &interval.errors).filter(of_kind) {
        match codes.iter_mut().find(|(code, _)| *code == error.code) {
            Some((_, count)) => *count += error.count,
            None => codes.push((&error.code, error.count)),
        }
    }
    codes.sort_by_key(|(code, count)| (std::cmp::Reverse(*count), *code));
    codes.into_iter().map(|(code, _)| code.to_owned()).collect()
}
