//! Turns a record into findings, in one pass.

use super::attribution::{PointAttribution, attributions};
use super::blocks::{BlockFindings, blocks};
use super::bottleneck::{Ranking, rankings};
use super::curve::{Curve, curve, fill_relative, largest_of};
use super::drills::{DrilledPoint, drilled};
use super::level::Measured;
use super::point::{PointFindings, points};
use super::run::RunFindings;
use super::search::{SearchFindings, searches_among};
use super::sentinel::{Sentinels, sentinels};
use super::window::reach::WindowReach;
use crate::workloads::{Workload, workload};
use proofload_analysis::bootstrap::ratio_of_means;
use proofload_import::{Reference, find_reference};
use proofload_model::settings::setting;
use proofload_model::study::Factor;
use proofload_record::{Attempt, Record, RunAttempts, State};
use std::collections::HashMap;
use std::sync::OnceLock;

/// Everything that a report says.
#[derive(Debug, Clone)]
pub struct Findings<'r> {
    /// The record.
    pub record: &'r Record,
    /// What differs by workload.
    pub workload: &'static Workload,
    /// Attempts of the record, by their runs.
    pub(super) attempts: RunAttempts<'r>,
    /// Points in the order of the study.
    pub points: Vec<PointFindings>,
    /// What varies, with its levels: the factors, and the loads that a search has chosen.
    pub factors: Vec<Factor>,
    /// The searches: one for each combination of the factors' levels; empty when the study does not search.
    pub searches: Vec<SearchFindings>,
    /// Ratios of the points inside repetitions; `None` where there are none.
    pub blocks: Option<BlockFindings>,
    /// The curve over a numeric factor, or why there is none.
    pub curve: Result<Curve, String>,
    /// Points with drills, in the order of the study; empty for other studies.
    pub drilled: Vec<DrilledPoint<'r>>,
    /// How far the interval of each run's window reaches, by the run's index; computed when first asked for.
    pub(super) reaches: OnceLock<HashMap<u32, WindowReach>>,
    /// What was observed near a limit, by point.
    pub rankings: Vec<Ranking>,
    /// What experiments with points say, in the order of the points; empty where none was made.
    pub attributions: Vec<PointAttribution>,
    /// Sentinels, when the plan has any.
    pub sentinels: Option<Result<Sentinels, String>>,
    /// The published study to compare with, when the study names one.
    pub reference: Option<Result<Reference, String>>,
    /// Results from files to draw beside the study's own.
    pub beside: Vec<Reference>,
    /// The record's file as a command line names it; empty where it is not known.
    pub file: String,
}

impl<'r> Findings<'r> {
    /// The last attempt that finished a run, as [`Record::finished`] finds it, without a look at the others.
    pub(crate) fn finished(&self, run_index: u32) -> Option<&'r Attempt> {
        self.attempts.finished(run_index)
    }

    /// Tells whether the rows of the record are not those that were written: a row, a link of its chain or the seal of an attempt.
    pub(crate) fn was_changed(&self) -> bool {
        !self.record.faults.is_empty() || self.record.attempts.iter().any(is_changed)
    }

    /// Tells whether a point rests on an attempt that was changed after it had finished.
    pub(crate) fn is_point_changed(&self, point: &PointFindings) -> bool {
        point.runs.iter().filter_map(|run| self.finished(run.run.index)).any(is_changed)
    }

    /// Number of attempts at a run.
    pub(crate) fn attempts_at(&self, run_index: u32) -> u32 {
        self.attempts.count(run_index)
    }
}

impl Findings<'_> {
    /// The record's file in a command that is told.
    pub(crate) fn file_named(&self) -> &str {
        if self.file.is_empty() { "X.proof" } else { &self.file }
    }

    /// The valid point with the largest throughput.
    pub fn largest(&self) -> Option<&PointFindings> {
        largest_of(self.points.iter(), self.blocks.as_ref())
    }

    /// The point of a number.
    pub(crate) fn point(&self, id: u32) -> Option<&PointFindings> {
        // Points are numbered in the order of the study.
        self.points.get(id as usize).filter(|point| point.id == id)
    }

    /// Label of the point of a number; empty where there is none.
    pub(crate) fn label(&self, id: u32) -> String {
        self.point(id).map(PointFindings::label).unwrap_or_default()
    }

    /// Throughput of a point over that of another; inside blocks, where there are any, also of points that moved within their runs.
    pub(super) fn throughput_over(&self, point: &PointFindings, base: &PointFindings) -> Measured {
        if let Some(ratio) = self.blocks.as_ref().and_then(|blocks| blocks.ratio(point.id, base.id)) {
            return Ok(ratio);
        }
        if let Some(one) = [point, base].into_iter().find(|one| !one.verdict.is_valid()) {
            return Err(format!("{} is {}", one.label(), one.verdict.word()));
        }
        let above = point.throughput.as_ref().map_err(Clone::clone)?;
        Ok(ratio_of_means(above, base.throughput.as_ref().map_err(Clone::clone)?))
    }

    /// The ranking of a point.
    pub(crate) fn ranking(&self, point: u32) -> Option<&Ranking> {
        // They are in the order of the points.
        let place = self.rankings.binary_search_by_key(&point, |ranking| ranking.point).ok()?;
        self.rankings.get(place)
    }

    /// Valid points.
    pub fn valid(&self) -> impl Iterator<Item = &PointFindings> {
        self.points.iter().filter(|point| point.verdict.is_valid())
    }

    /// Finished runs, each with its point.
    pub fn runs(&self) -> impl Iterator<Item = (&PointFindings, &RunFindings)> {
        self.points.iter().flat_map(|point| point.runs.iter().map(move |run| (point, run)))
    }

    /// Kinds of operations of the workload, in the order of its tables.
    pub(crate) fn kinds(&self) -> Vec<String> {
        let mut kinds: Vec<String> =
            self.points.iter().flat_map(|point| point.runs.iter().flat_map(|run| run.kinds.clone())).collect();
        self.workload.sort_kinds(&mut kinds);
        kinds.dedup();
        kinds
    }
}

/// Tells whether a finished attempt has no seal that holds.
fn is_changed(attempt: &Attempt) -> bool {
    attempt.state == State::Finished && attempt.seal_holds != Some(true)
}

/// Evaluates a record.
pub fn evaluate(record: &Record) -> Findings<'_> {
    evaluate_beside(record, &[])
}

/// Evaluates a record beside results from files.
pub fn evaluate_beside<'r>(record: &'r Record, beside: &[Reference]) -> Findings<'r> {
    let attempts = record.by_run();
    let mut points = points(record);
    let blocks = blocks(record, &points);
    fill_relative(&mut points, blocks.as_ref());
    let factors = record.plan.factors(&record.study);
    let curve = curve(&record.study, &factors, &points, blocks.as_ref());
    Findings {
        record,
        workload: workload(&record.study.settings),
        drilled: drilled(record, &attempts, &points),
        reaches: OnceLock::new(),
        rankings: rankings(&attempts, &points, curve.as_ref().ok()),
        attributions: attributions(record),
        curve,
        blocks,
        sentinels: sentinels(record, &attempts),
        searches: searches_among(record, &points),
        factors,
        reference: record.study.settings.text(setting::STUDY_REFERENCE).ok().map(find_reference),
        beside: beside.to_vec(),
        file: String::new(),
        attempts,
        points,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_found_by_an_index_is_what_a_look_through_all_finds() {
        for stored in ["format-4-memory", "format-3-search"] {
            let stored = format!("{}/tests/records/{stored}.proof", env!("CARGO_MANIFEST_DIR"));
            let record = proofload_record::read(std::path::Path::new(&stored)).expect("the record is read");
            let findings = evaluate(&record);
            for run in &record.plan.runs {
                let id = |attempt: Option<&Attempt>| attempt.map(|attempt| attempt.id);
                assert_eq!(id(findings.finished(run.index)), id(record.finished(run.index)));
                let at_run = record.attempts.iter().filter(|attempt| attempt.run.index == run.index).count();
                assert_eq!(findings.attempts_at(run.index) as usize, at_run);
            }
            let ranked = |id: u32| findings.rankings.iter().find(|ranking| ranking.point == id).map(|one| one.point);
            for point in &findings.points {
                assert_eq!(findings.point(point.id).map(|found| found.id), Some(point.id));
                assert_eq!(findings.ranking(point.id).map(|found| found.point), ranked(point.id));
            }
            let behind = u32::try_from(findings.points.len()).expect("a few");
            assert!(findings.point(behind).is_none() && findings.ranking(behind).is_none());
        }
    }

    #[test]
    fn the_reach_of_a_window_is_computed_once() {
        let stored = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/records/format-4-memory.proof");
        let record = proofload_record::read(std::path::Path::new(stored)).expect("the record is read");
        let findings = evaluate(&record);
        let (_, run) = findings.runs().next().expect("a run was finished");
        let once = crate::findings::reach(&findings, run).expect("it has a window");
        let again = crate::findings::reach(&findings, run).expect("it has a window");
        assert!(std::ptr::eq(once, again));
    }
}
