//! What experiments with one point say of each of its resources.

use super::hosts::differences;
use super::raise::{RaiseResult, raise_result};
use super::sides::stands_for;
use super::stalls::seen_instead;
use super::visits::PointVisits;
use super::words::title_of;
use crate::findings::run_throughput_of;
use proofload_analysis::attribution::{
    Decision, Experiment as Estimates, KnobElasticity, LimitUse, Movement, ResponseDecision, Treatment, decide,
    decide_response,
};
use proofload_analysis::quantity::{Interval, Quantity, Unit};
use proofload_model::events::RunEvent;
use proofload_model::intervention::{Change, Experiment, ResourcePlan, is_quota};
use proofload_model::settings::{Settings, setting};
use proofload_record::{Record, RunAttempts};
use std::collections::BTreeSet;

/// How the interval of an elasticity comes about.
const METHOD: &str = "elasticities inside randomised blocks, Student's quantile; blocks were chosen sequentially";

/// Why no elasticity of the 99th percentile to a quota of CPU time is told.
const NOT_SEEN: &str = "says nothing: few transactions wait out a quota, and the 99th percentile does not see them";

/// One resource.
#[derive(Debug, Clone)]
pub struct ResourceAttribution {
    /// The resource.
    pub plan: ResourcePlan,
    /// Its name in sentences.
    pub title: String,
    /// The change that took place, as a share; `None` without a visit.
    pub true_step: Option<f64>,
    /// What the untouched point and visits of it alone had in force, on average; `None` without one of them.
    pub levels: Option<(f64, f64)>,
    /// Share of the limit that the untouched point used; `None` where it is not counted.
    pub reached: Option<f64>,
    /// What was used of a limit that only acts once it is reached; `None` of what acts in another way.
    pub limit_use: Option<LimitUse>,
    /// Blocks in which the untouched point reached it, where those are most and only they count; `None` where all do.
    pub full_blocks: Option<usize>,
    /// Blocks that are left out for it, since it was not in force as asked in one of their visits, and why the first is; `None` without one.
    pub left_out: Option<(usize, String)>,
    /// Elasticity of throughput, or why there is none.
    pub throughput: Result<KnobElasticity, String>,
    /// Elasticity of the 99th percentile of response times, or why there is none.
    pub response: Result<KnobElasticity, String>,
    /// The verdict.
    pub decision: Decision,
    /// The verdict on the 99th percentile of response times.
    pub on_response: ResponseDecision,
    /// Visits of this resource alone.
    pub visits: usize,
}

/// The joint visit of all resources but one.
#[derive(Debug, Clone, PartialEq)]
pub struct JointVisit {
    /// The resource that it left as it was.
    pub left: String,
    /// Elasticity of throughput to raising that resource: what lowering the others leaves of 1.
    pub relief: KnobElasticity,
}

/// What is said of one point.
#[derive(Debug, Clone)]
pub struct PointAttribution {
    /// The point.
    pub point: u32,
    /// The experiment.
    pub experiment: Experiment,
    /// Complete blocks that count.
    pub blocks: usize,
    /// Complete blocks, with those in which a visit has no result.
    pub made: usize,
    /// Why there are no more; `None` where it was broken off.
    pub ended: Option<String>,
    /// Attempts at experiments with the point that made a visit: after each somebody may have looked before more were made.
    pub attempts: usize,
    /// True where each user has data of its own, so that fewer users use less of it.
    pub has_homes: bool,
    /// What the host of the point's runs has otherwise than that of the experiment, in words.
    pub of_runs: Vec<String>,
    /// What the host of earlier attempts has otherwise, in words; those do not count.
    pub of_earlier: Vec<String>,
    /// Throughput of the untouched point, operations per second; `None` without a complete block.
    pub reference: Option<f64>,
    /// The same as the record has it from the point's runs.
    pub recorded: Option<f64>,
    /// Coefficient of variation of a visit of the untouched point.
    pub spread: Option<f64>,
    /// Movement of the untouched point, the largest within an attempt that counts.
    pub movement: Option<Movement>,
    /// Attempts that do not count, because the untouched point moved in them: how far, and how many complete blocks each has.
    pub moved: Vec<(Movement, usize)>,
    /// True where the untouched point moved in the last attempt.
    pub last_moved: bool,
    /// Every resource that was to be changed.
    pub resources: Vec<ResourceAttribution>,
    /// The joint visit.
    pub joint: Option<JointVisit>,
    /// What more of a limit that is confirmed gives; `None` where none is, or no block was left for it.
    pub raise: Option<RaiseResult>,
    /// What none of the resources with the unit of a time explains of throughput.
    pub unexplained: Option<KnobElasticity>,
}

impl PointAttribution {
    /// Tells whether the untouched point moved in every attempt, so that another one is wanted.
    pub fn has_moved(&self) -> bool {
        self.movement.is_some_and(|movement| movement.is_moved)
    }

    /// Tells whether another attempt is made without being asked for: the last one moved, and no earlier one did. A host that always drifts
    /// is not tried for ever.
    pub fn wants_another(&self) -> bool {
        self.last_moved && self.moved.len() + usize::from(self.has_moved()) < 2
    }

    /// Resources with a verdict of this word.
    pub fn with_verdict<'a>(&'a self, word: &'a str) -> impl Iterator<Item = &'a ResourceAttribution> {
        self.resources.iter().filter(move |resource| resource.decision.verdict.word() == word)
    }
}

/// An elasticity as a quantity.
pub(crate) fn quantity(found: &KnobElasticity) -> Quantity {
    let (low, high) = found.bounds(0.05);
    Quantity::new(found.value, Unit::ELASTICITY, found.blocks as u64, Interval::known(low, high, METHOD))
}

/// The attribution of each point with an experiment, in the order of the points.
pub fn attributions(record: &Record) -> Vec<PointAttribution> {
    let tested: BTreeSet<u32> = record.experiments.iter().map(|attempt| attempt.run.point).collect();
    let by_run = record.by_run();
    let tested = record.plan.points.iter().filter(|point| tested.contains(&point.id));
    tested.filter_map(|point| attribution(record, &by_run, point.id)).collect()
}

fn attribution(record: &Record, by_run: &RunAttempts<'_>, point: u32) -> Option<PointAttribution> {
    let shown = PointVisits::of(record, point)?;
    let settings = record.plan.settings(&record.study, point);
    let (throughput, response) = (shown.of_throughput(), shown.of_response());
    let moved = shown
        .voiding()
        .map(|movement| format!("the untouched point moved by {:.0} % while it was tested", 100.0 * movement.share));
    let one = |(place, plan): (usize, &ResourcePlan)| found(&shown, &throughput, (place, plan), moved.as_ref());
    let each: Vec<Result<KnobElasticity, String>> = shown.experiment.resources.iter().enumerate().map(one).collect();
    let full = shown.full_blocks();
    let plans = || shown.experiment.resources.iter().enumerate();
    let step = shown.experiment.asked.step;
    let stalls = |plan: &ResourcePlan| seen_instead(&plan.name, step, response.reference()).map_or(Ok(()), Err);
    let of_response = |plan: (usize, &ResourcePlan), is_sound| {
        stalls(plan.1).and_then(|()| found_of_response(&response, plan, is_sound))
    };
    let responses = plans().zip(&each).map(|(plan, found)| of_response(plan, found.is_ok()));
    let responses: Vec<Result<KnobElasticity, String>> = responses.collect();
    let decided = decide(&each).into_iter().zip(decide_response(&responses));
    let resources = plans().zip(each.into_iter().zip(responses).zip(decided));
    let resources: Vec<ResourceAttribution> = resources
        .map(|((_, plan), ((throughput, response), (decision, on_response)))| ResourceAttribution {
            true_step: shown.true_step(&plan.name),
            levels: shown.untouched(&plan.name).zip(shown.lowered(&plan.name)),
            reached: shown.reached(&plan.name),
            full_blocks: full.get(plan.name.as_str()).map(BTreeSet::len),
            left_out: shown.left_out(&plan.name).map(|(blocks, why)| (blocks, why.clone())),
            title: title_of(&plan.name, &settings),
            visits: shown.visits_of(&plan.name),
            decision: match shown.limit_use(plan) {
                Some(used) => decision.given(&used),
                None => decision,
            },
            limit_use: shown.limit_use(plan),
            plan: plan.clone(),
            throughput,
            response,
            on_response,
        })
        .collect();
    let ended =
        record.experiments.iter().rev().find(|attempt| attempt.run.point == point)?.last_event(|event| match event {
            RunEvent::ExperimentEnded { why, .. } => Some(why.clone()),
            _ => None,
        });
    let (joint, unexplained) = whole(&shown, &throughput, &resources);
    let decisions: Vec<Decision> = resources.iter().map(|one| one.decision.clone()).collect();
    let raise = raise_result(&shown, &throughput, &decisions, moved.as_ref());
    Some(PointAttribution {
        point,
        blocks: throughput.blocks(),
        made: shown.complete,
        ended,
        attempts: shown.attempts,
        has_homes: has_homes(&settings),
        of_runs: of_runs(record, by_run, &shown, point),
        of_earlier: shown.elsewhere.into_iter().collect(),
        reference: throughput.reference(),
        recorded: recorded(record, by_run, point),
        spread: throughput.spread(),
        movement: shown.movement,
        moved: shown.moved,
        last_moved: shown.last_moved,
        resources,
        joint,
        raise,
        unexplained,
        experiment: shown.experiment,
    })
}

/// Whether each user works on a warehouse of its own.
fn has_homes(settings: &Settings) -> bool {
    settings.get(setting::WORKLOAD_WAREHOUSES).is_some()
        && settings.boolean(setting::WORKLOAD_ALL_WAREHOUSES) != Ok(true)
}

/// The elasticity to a resource, or why there is none.
fn found(
    shown: &PointVisits,
    estimates: &Estimates,
    (place, plan): (usize, &ResourcePlan),
    moved: Option<&String>,
) -> Result<KnobElasticity, String> {
    if let Some(moved) = moved {
        return Err(moved.clone());
    }
    if let Some(fault) = shown.fault(plan) {
        return Err(fault);
    }
    estimates.elasticity(Treatment::Knob(place)).ok_or_else(|| "fewer than two complete blocks".to_owned())
}

/// The elasticity of the 99th percentile of response times to a resource, or why there is none.
fn found_of_response(
    estimates: &Estimates,
    (place, plan): (usize, &ResourcePlan),
    is_sound: bool,
) -> Result<KnobElasticity, String> {
    if is_quota(&plan.name) {
        return Err(NOT_SEEN.to_owned());
    }
    let found = estimates.elasticity(Treatment::Knob(place)).filter(|_| is_sound);
    found.ok_or_else(|| "too few response times in a visit".to_owned())
}

/// The joint visit, and what is unexplained: by the joint visit and the resource that it leaves, else by the sum of all.
fn whole(
    shown: &PointVisits,
    estimates: &Estimates,
    resources: &[ResourceAttribution],
) -> (Option<JointVisit>, Option<KnobElasticity>) {
    let is_sound = |place: &usize| resources[*place].throughput.is_ok();
    let sound = || resources.iter().filter(|one| one.throughput.is_ok());
    let is_counted = |place: &usize| {
        let plan = &resources[*place].plan;
        let others = sound().map(|one| (one.plan.name.as_str(), one.limit_use));
        plan.class.is_time_like() && stands_for(&plan.name, others).is_none()
    };
    let time_like: Vec<usize> = (0..resources.len()).filter(is_counted).collect();
    if time_like.is_empty() || !time_like.iter().all(is_sound) {
        return (None, None);
    }
    let left = shown.results.iter().find_map(|result| match &result.visit.change {
        Change::AllBut(name) => Some((name.clone(), shown.treatment(&result.visit.change)?)),
        _ => None,
    });
    let joint = left.as_ref().and_then(|(name, treatment)| {
        let relief = estimates.elasticity(*treatment)?.rest();
        Some(JointVisit { left: name.clone(), relief })
    });
    let by_joint = left.and_then(|(_, treatment)| match treatment {
        Treatment::AllBut(place) => estimates.sum(&[Treatment::Knob(place), treatment]),
        _ => None,
    });
    let all: Vec<Treatment> = time_like.into_iter().map(Treatment::Knob).collect();
    let unexplained = by_joint.or_else(|| estimates.sum(&all)).map(KnobElasticity::rest);
    (joint, unexplained)
}

/// What the hosts of the point's runs have otherwise than that of the experiment.
fn of_runs(record: &Record, by_run: &RunAttempts<'_>, shown: &PointVisits, point: u32) -> Vec<String> {
    let runs = record.plan.runs.iter().filter(|run| run.point == point && !run.sentinel);
    let attempts = runs.filter_map(|run| by_run.finished(run.index));
    let found: BTreeSet<String> = attempts.flat_map(|attempt| differences(&attempt.facts, &shown.facts)).collect();
    found.into_iter().collect()
}

/// Throughput of the point as its runs have it.
fn recorded(record: &Record, by_run: &RunAttempts<'_>, point: u32) -> Option<f64> {
    let runs = record.plan.runs.iter().filter(|run| run.point == point && !run.sentinel);
    let each: Vec<f64> =
        runs.filter_map(|run| run_throughput_of(by_run.finished(run.index)?)).filter(|value| *value > 0.0).collect();
    (!each.is_empty()).then(|| each.iter().sum::<f64>() / each.len() as f64)
}
