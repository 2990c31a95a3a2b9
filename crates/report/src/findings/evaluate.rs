//! Turns a record into findings, in one pass.

use super::attribution::{PointAttribution, attributions};
use super::blocks::{BlockFindings, blocks};
use super::bottleneck::{Ranking, rankings};
use super::curve::{Curve, curve, fill_relative};
use super::point::{PointFindings, points};
use super::run::RunFindings;
use super::search::{SearchFindings, searches_among};
use super::sentinel::{Sentinels, sentinels};
use crate::workloads::{Workload, workload};
use proofload_import::{Reference, find_reference};
use proofload_model::study::Factor;
use proofload_record::Record;

/// Everything that a report says.
#[derive(Debug, Clone)]
pub struct Findings<'r> {
    /// The record.
    pub record: &'r Record,
    /// What differs by workload.
    pub workload: &'static Workload,
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
}

impl Findings<'_> {
    /// The valid point with the largest throughput.
    pub fn largest(&self) -> Option<&PointFindings> {
        let value = |point: &&PointFindings| point.throughput.as_ref().map_or(f64::NAN, |estimate| estimate.value);
        self.points.iter().filter(|point| point.verdict.is_valid()).max_by(|a, b| value(a).total_cmp(&value(b)))
    }

    /// The point of a number.
    pub(crate) fn point(&self, id: u32) -> Option<&PointFindings> {
        self.points.iter().find(|point| point.id == id)
    }

    /// Label of the point of a number; empty where there is none.
    pub(crate) fn label(&self, id: u32) -> String {
        self.point(id).map(PointFindings::label).unwrap_or_default()
    }

    /// The ranking of a point.
    pub(crate) fn ranking(&self, point: u32) -> Option<&Ranking> {
        self.rankings.iter().find(|ranking| ranking.point == point)
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

/// Evaluates a record.
pub fn evaluate(record: &Record) -> Findings<'_> {
    evaluate_beside(record, &[])
}

/// Evaluates a record beside results from files.
pub fn evaluate_beside<'r>(record: &'r Record, beside: &[Reference]) -> Findings<'r> {
    let mut points = points(record);
    let blocks = blocks(record, &points);
    fill_relative(&mut points, blocks.as_ref());
    let factors = record.plan.factors(&record.study);
    let curve = curve(&record.study, &factors, &points, blocks.as_ref());
    Findings {
        record,
        workload: workload(&record.study.settings),
        rankings: rankings(record, &points, curve.as_ref().ok()),
        attributions: attributions(record),
        curve,
        blocks,
        sentinels: sentinels(record),
        searches: searches_among(record, &points),
        factors,
        reference: record.study.settings.text("study.reference").ok().map(find_reference),
        beside: beside.to_vec(),
        points,
    }
}
