//! The rows of each table, in the order of the record.

use super::selection::Extract;
use crate::findings::{Estimand, Findings, evaluate};
use crate::metrics::{LatencyStatistic, PERCENTILES};
use proofload_analysis::latency::Sparse;
use proofload_model::deployment::InstanceName;
use proofload_model::plan::Point;
use proofload_model::samples::{
    AgentSecond, Check, ErrorCount, Fact, HistogramDelta, IntervalSample, Mark, OperationCounts, Reading,
};
use proofload_model::settings::Value;
use proofload_model::time::Offset;
use proofload_record::{Attempt, AttemptEvent, LogLine, Record, SeriesPoint, SessionLine, State};
use std::collections::HashSet;

/// An attempt with what the record as a whole says of it.
pub(super) struct RunRow<'r> {
    pub(super) attempt: &'r Attempt,
    pub(super) state: &'static str,
    pub(super) reason: Option<&'r str>,
    pub(super) profile: Option<String>,
    pub(super) estimand: Option<&'static str>,
}

pub(super) fn runs(of: Extract<'_>) -> impl Iterator<Item = RunRow<'_>> {
    let findings = evaluate(of.record);
    of.attempts().map(move |attempt| {
        let (state, reason) = match &attempt.state {
            State::Finished => ("finished", None),
            State::Failed { reason } => ("failed", Some(reason.as_str())),
            State::Open => ("open", None),
        };
        let (profile, estimand) = (profile(of.record, attempt), estimand(&findings, attempt));
        RunRow { attempt, state, reason, profile, estimand }
    })
}

/// The profile of an attempt, with the departures of its point.
fn profile(record: &Record, attempt: &Attempt) -> Option<String> {
    let point = record.plan.points.get(attempt.run.point as usize);
    let settings = &record.study.settings;
    crate::workloads::profile(&point.map_or_else(|| settings.clone(), |point| settings.with(&point.levels)))
}

/// What the figures of an attempt may claim; `None` where it is no result of its run, and in records from before that was told.
fn estimand(findings: &Findings<'_>, attempt: &Attempt) -> Option<&'static str> {
    let mut runs = findings.points.iter().flat_map(|point| &point.runs);
    let host = runs.find(|run| run.attempt == attempt.id).and_then(|run| run.host.as_ref());
    host.map(|host| Estimand::name(&host.estimand))
}

pub(super) fn levels(of: Extract<'_>) -> impl Iterator<Item = (&Point, &String, &Value)> {
    of.record
        .plan
        .points
        .iter()
        .flat_map(|point| point.levels.iter().map(move |(setting, level)| (point, setting, level)))
}

/// Row of something in a second of an attempt.
type InSecond<'r, T> = (&'r Attempt, &'r IntervalSample, &'r T);

/// Every second of every attempt.
pub(super) fn client(of: Extract<'_>) -> impl Iterator<Item = (&Attempt, &IntervalSample)> {
    of.attempts().flat_map(|attempt| attempt.intervals.iter().map(move |second| (attempt, second)))
}

/// Everything of one kind in every second of every attempt.
fn in_seconds<'r, T: 'r>(
    of: Extract<'r>,
    part: fn(&'r IntervalSample) -> &'r [T],
) -> impl Iterator<Item = InSecond<'r, T>> {
    client(of).flat_map(move |(attempt, second)| part(second).iter().map(move |one| (attempt, second, one)))
}

pub(super) fn operations(of: Extract<'_>) -> impl Iterator<Item = InSecond<'_, OperationCounts>> {
    in_seconds(of, |second| &second.counts)
}

/// Percentiles of one second alone; those of a window come from merged histograms, never from these.
#[derive(Default)]
pub(super) struct SecondPercentiles {
    pub(super) p50: Option<u64>,
    pub(super) p95: Option<u64>,
    pub(super) p99: Option<u64>,
    pub(super) p999: Option<u64>,
}

impl SecondPercentiles {
    fn of(part: &HistogramDelta) -> Self {
        let Ok(decoded) = Sparse::from_v2_deflate(&part.payload) else { return Self::default() };
        let percentile = |wanted: LatencyStatistic| {
            let (_, share) = PERCENTILES.iter().find(|(known, _)| *known == wanted)?;
            decoded.percentile(*share)
        };
        Self {
            p50: percentile(LatencyStatistic::P50),
            p95: percentile(LatencyStatistic::P95),
            p99: percentile(LatencyStatistic::P99),
            p999: percentile(LatencyStatistic::P999),
        }
    }
}

pub(super) fn latencies(
    of: Extract<'_>,
) -> impl Iterator<Item = (&Attempt, &IntervalSample, &HistogramDelta, SecondPercentiles)> {
    in_seconds(of, |second| &second.histograms)
        .map(|(attempt, second, part)| (attempt, second, part, SecondPercentiles::of(part)))
}

pub(super) fn errors(of: Extract<'_>) -> impl Iterator<Item = InSecond<'_, ErrorCount>> {
    in_seconds(of, |second| &second.errors)
}

pub(super) fn client_threads(of: Extract<'_>) -> impl Iterator<Item = (&Attempt, &IntervalSample, u64, u64)> {
    client(of).flat_map(|(attempt, second)| {
        let threads = (0_u64..).zip(&second.client.thread_cpu_ns);
        threads.map(move |(thread, cpu)| (attempt, second, thread, *cpu))
    })
}

pub(super) fn load_agents(of: Extract<'_>) -> impl Iterator<Item = (&Attempt, &AgentSecond)> {
    of_attempts(of, |attempt| &attempt.agents.seconds)
}

pub(super) fn engine(of: Extract<'_>) -> impl Iterator<Item = InSecond<'_, Reading>> {
    in_seconds(of, |second| &second.engine)
}

/// Everything of one kind in every attempt.
fn of_attempts<'r, T: 'r>(
    of: Extract<'r>,
    part: fn(&'r Attempt) -> &'r [T],
) -> impl Iterator<Item = (&'r Attempt, &'r T)> {
    of.attempts().flat_map(move |attempt| part(attempt).iter().map(move |one| (attempt, one)))
}

pub(super) fn telemetry(of: Extract<'_>) -> impl Iterator<Item = (&Attempt, &SeriesPoint, &(Offset, u64, f64))> {
    of_attempts(of, |attempt| &attempt.series)
        .flat_map(|(attempt, series)| series.samples.iter().map(move |sample| (attempt, series, sample)))
}

/// The standby that a row is of; `None` for the primary and its host.
pub(super) fn standby(instance: &InstanceName) -> Option<&str> {
    instance.is_standby().then(|| instance.as_str())
}

pub(super) fn marks(of: Extract<'_>) -> impl Iterator<Item = (&Attempt, &String, &Mark, &(String, i64))> {
    of_attempts(of, |attempt| &attempt.marks)
        .flat_map(|(attempt, (label, mark))| mark.counters.iter().map(move |counter| (attempt, label, mark, counter)))
}

/// What the study as a whole has of one kind, and then what every attempt has.
fn of_study_and_attempts<'r, T: 'r>(
    of_study: &'r [T],
    of_attempts: impl Iterator<Item = (&'r Attempt, &'r T)>,
) -> impl Iterator<Item = (Option<&'r Attempt>, &'r T)> {
    let own = of_study.iter().map(|one| (None, one));
    own.chain(of_attempts.map(|(attempt, one)| (Some(attempt), one)))
}

pub(super) fn facts(of: Extract<'_>) -> impl Iterator<Item = (Option<&Attempt>, &Fact)> {
    of_study_and_attempts(&of.record.facts, of_attempts(of, |attempt| &attempt.facts))
}

pub(super) fn checks(of: Extract<'_>) -> impl Iterator<Item = (&Attempt, &Check)> {
    of_attempts(of, |attempt| &attempt.checks)
}

pub(super) fn events(of: Extract<'_>) -> impl Iterator<Item = (Option<&Attempt>, &AttemptEvent)> {
    of_study_and_attempts(&of.record.events, of_attempts(of, |attempt| &attempt.events))
}

pub(super) fn logs(of: Extract<'_>) -> impl Iterator<Item = &LogLine> {
    let attempts: HashSet<i64> = of.attempts().map(|attempt| attempt.id).collect();
    of.record.logs.iter().filter(move |line| line.attempt.is_none_or(|attempt| attempts.contains(&attempt)))
}

pub(super) fn sessions(of: Extract<'_>) -> impl Iterator<Item = &SessionLine> {
    of.record.sessions.iter()
}

pub(super) fn documents(of: Extract<'_>) -> impl Iterator<Item = (&String, &String)> {
    of.record.documents.iter()
}
