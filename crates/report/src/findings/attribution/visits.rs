//! Visits of complete blocks with their results, from the seconds of the record.

use super::hosts::differences;
use super::limit_use::{share_used, shares_of_seconds};
use crate::findings::all_kinds;
use crate::findings::host::disturbance::stolen_in;
use crate::findings::metrics::latencies::decoded;
use proofload_analysis::attribution::{
    Experiment as Estimates, KnobVisit, LimitUse, Movement, PILOT_BLOCKS, Treatment,
};
use proofload_analysis::latency::Sparse;
use proofload_model::events::RunEvent;
use proofload_model::intervention::{
    Change, ENGINE, Experiment, InterventionVisit, ResourceClass, ResourcePlan, USERS, as_limited, changed, raised,
};
use proofload_model::samples::{Fact, IntervalSample, LatencyClock, OperationCounts};
use proofload_record::{Attempt, Record};
use std::collections::{BTreeMap, BTreeSet};

/// Powers between which throughput follows what others leave of the processor, and the 99th percentile of response times.
const THROUGHPUT_POWERS: std::ops::RangeInclusive<f64> = 0.0..=2.0;
const RESPONSE_POWERS: std::ops::RangeInclusive<f64> = -4.0..=0.0;
/// Values that must lie beyond a percentile of a visit.
const BEYOND: f64 = 10.0;
/// A limit may be read back this far from what was asked, as a share: allowances are rounded.
const ROUNDING: f64 = 0.02;
/// Blocks in which a limit must have been reached so that only those count for it.
const LEAST_FULL: usize = 2;
/// Blocks in which a resource was not in force as asked from which on it is visited no more, where that is most of them.
const GIVEN_UP_AFTER: usize = 2;
/// What is said where nothing was read back.
const UNREADABLE: &str = "its value could not be read back, or changed within a visit";
/// More than this of a limit cannot be used if it is in force, as a factor, and seconds by which what is used may run ahead: allowances are
/// given by period, and a visit does not begin with one.
const MOST_USED: f64 = 1.05;
const AHEAD: f64 = 0.3;

/// A visit with its results.
#[derive(Debug, Clone)]
pub(crate) struct VisitResult {
    /// What was changed and read back.
    pub(crate) visit: InterventionVisit,
    /// Operations per second; not a number where seconds are missing.
    pub(crate) throughput: f64,
    /// 99th percentile of response times, ns; not a number where too few were measured.
    pub(crate) response_p99: f64,
    /// Share of the demand that a hypervisor took; `None` where it does not say.
    pub(crate) stolen: Option<f64>,
    /// Share of its seconds in which each limit was reached that is observed by the second; empty where something was changed.
    pub(crate) at_limit: BTreeMap<String, f64>,
}

/// Everything that experiments with a point have shown.
#[derive(Debug, Clone)]
pub(super) struct PointVisits {
    /// The last experiment.
    pub(super) experiment: Experiment,
    /// Visits of complete blocks of attempts in which the untouched point did not move; of the last one alone where it moved in all.
    pub(super) results: Vec<VisitResult>,
    /// The largest movement of the untouched point within one of those attempts; `None` where each has fewer than three blocks. Attempts may
    /// be days apart: that one has another level than the other is no movement.
    pub(super) movement: Option<Movement>,
    /// Attempts that do not count, because the untouched point moved in them: how far, and how many complete blocks each has.
    pub(super) moved: Vec<(Movement, usize)>,
    /// True where the untouched point moved in the last attempt that has a complete block.
    pub(super) last_moved: bool,
    /// Blocks that do not count for a resource, by its name, each with the reason.
    unsound: BTreeMap<String, BTreeMap<u32, String>>,
    /// Number of the next block.
    pub(super) next: u32,
    /// Complete blocks.
    pub(super) complete: usize,
    /// Attempts at experiments with the point that made a visit, those of other experiments included.
    pub(super) attempts: usize,
    /// What the hosts of attempts have otherwise that do not count; empty where all were made on the host of the last.
    pub(super) elsewhere: BTreeSet<String>,
    /// Facts of the last attempt.
    pub(super) facts: Vec<Fact>,
}

impl PointVisits {
    /// What the experiments with a point have shown; `None` without any.
    pub(super) fn of(record: &Record, point: u32) -> Option<Self> {
        Self::shown(record, point, false)
    }

    /// The same while the last attempt goes on: its blocks are planned by, even where the untouched point seems to have moved up to now.
    pub(super) fn so_far(record: &Record, point: u32) -> Option<Self> {
        Self::shown(record, point, true)
    }

    fn shown(record: &Record, point: u32, goes_on: bool) -> Option<Self> {
        let attempts: Vec<&Attempt> = record.experiments.iter().filter(|attempt| attempt.run.point == point).collect();
        let last = attempts.iter().rev().find(|attempt| attempt.is_experiment())?;
        let experiment = last.experiment()?.clone();
        // Visits by another step, or of other resources, belong to another experiment.
        let is_same = |attempt: &&&Attempt| {
            attempt.experiment().is_some_and(|other| {
                other.asked.step == experiment.asked.step && other.resources == experiment.resources
            })
        };
        let has_visit =
            |attempt: &&&Attempt| attempt.events.iter().any(|event| matches!(event.event, RunEvent::Visited(_)));
        let mut shown = Self {
            experiment: experiment.clone(),
            results: Vec::new(),
            movement: None,
            moved: Vec::new(),
            last_moved: false,
            unsound: BTreeMap::new(),
            next: 0,
            complete: 0,
            attempts: attempts.iter().filter(has_visit).count(),
            elsewhere: BTreeSet::new(),
            facts: last.facts.clone(),
        };
        let mut each = Vec::new();
        for attempt in attempts.iter().filter(is_same) {
            shown.count_blocks(attempt);
            match differences(&attempt.facts, &last.facts) {
                same if same.is_empty() => each.push(complete_visits(attempt)),
                // A ratio of one host says nothing of another.
                others => shown.elsewhere.extend(others),
            }
        }
        shown.take(each, goes_on);
        shown.unsound = shown.unsound_blocks();
        Some(shown)
    }

    /// Counts the blocks that an attempt began, so that no number is used again.
    fn count_blocks(&mut self, attempt: &Attempt) {
        let begun = attempt.events.iter().filter_map(|event| match &event.event {
            RunEvent::BlockBegun { number, .. } => Some(number + 1),
            _ => None,
        });
        self.next = begun.fold(self.next, u32::max);
    }

    /// Takes the visits of complete blocks of each attempt, without those in which the untouched point moved.
    fn take(&mut self, attempts: Vec<Vec<VisitResult>>, goes_on: bool) {
        let movement =
            |results: &Vec<VisitResult>| Self { results: results.clone(), ..self.clone() }.of_throughput().movement();
        let judged: Vec<(Option<Movement>, Vec<VisitResult>)> =
            attempts.into_iter().map(|results| (movement(&results), results)).collect();
        let is_moved = |found: &Option<Movement>| found.is_some_and(|movement| movement.is_moved);
        // One that has too few blocks to be judged is not yet calm.
        let has_calm = judged.iter().any(|(found, _)| found.is_some() && !is_moved(found));
        self.last_moved =
            judged.iter().rev().find(|(_, all)| !all.is_empty()).is_some_and(|(found, _)| is_moved(found));
        // Where there is no calm attempt the last one with a block shows what it shows, and confirms nothing.
        let last = if goes_on {
            judged.len().checked_sub(1)
        } else {
            judged.iter().rposition(|(_, results)| !results.is_empty()).filter(|_| !has_calm)
        };
        for (place, (found, results)) in judged.into_iter().enumerate() {
            let blocks: BTreeSet<u32> = results.iter().map(|result| result.visit.block).collect();
            if let Some(movement) = found.filter(|movement| movement.is_moved && Some(place) != last) {
                self.moved.push((movement, blocks.len()));
            } else {
                self.complete += blocks.len();
                self.results.extend(results);
                let larger = |one: &Movement, other: &Movement| {
                    one.is_moved.cmp(&other.is_moved).then(one.size().total_cmp(&other.size()))
                };
                self.movement = self.movement.into_iter().chain(found).max_by(larger);
            }
        }
    }

    /// The movement that voids what is shown; `None` where there is none.
    pub(super) fn voiding(&self) -> Option<Movement> {
        self.movement.filter(|movement| movement.is_moved)
    }

    /// Place of a resource among those of the experiment.
    fn place(&self, name: &str) -> Option<usize> {
        self.experiment.resources.iter().position(|plan| plan.name == name)
    }

    pub(super) fn treatment(&self, change: &Change) -> Option<Treatment> {
        match change {
            Change::Nothing => Some(Treatment::Reference),
            Change::One(name) => self.place(name).map(Treatment::Knob),
            Change::AllBut(name) => self.place(name).map(Treatment::AllBut),
            Change::Raised(name) => self.place(name).map(Treatment::Raised),
        }
    }

    /// Elasticities of throughput.
    pub(super) fn of_throughput(&self) -> Estimates {
        self.estimates(|result| result.throughput, &THROUGHPUT_POWERS)
    }

    /// Elasticities of the 99th percentile of response times.
    pub(super) fn of_response(&self) -> Estimates {
        self.estimates(|result| result.response_p99, &RESPONSE_POWERS)
    }

    fn estimates(&self, value: impl Fn(&VisitResult) -> f64, powers: &std::ops::RangeInclusive<f64>) -> Estimates {
        let full = self.full_blocks();
        let visit = |result: &VisitResult| {
            let is_moot = |plan: &ResourcePlan| {
                let change = &result.visit.change;
                let is_changed = change.lowers(&plan.name, plan.class) || change.raises(&plan.name);
                let block = &result.visit.block;
                is_changed
                    && (full.get(plan.name.as_str()).is_some_and(|blocks| !blocks.contains(block))
                        || self.is_unsound(&plan.name, *block))
            };
            if self.experiment.resources.iter().any(is_moot) {
                return None;
            }
            Some(KnobVisit {
                block: result.visit.block,
                treatment: self.treatment(&result.visit.change)?,
                value: value(result),
                taken: result.stolen,
                step: self.step(&result.visit),
            })
        };
        Estimates::of(&self.results.iter().filter_map(visit).collect::<Vec<_>>(), powers)
    }

    /// ln of what a visit had in force over what the untouched point had; of the joint visit what was asked.
    fn step(&self, visit: &InterventionVisit) -> f64 {
        match &visit.change {
            Change::Nothing => 0.0,
            Change::AllBut(_) => (1.0 - self.experiment.asked.step).ln(),
            // Work that is off has no share of what it was: what that gives is counted like a raise by the step.
            Change::One(name) if self.is_bound(name) => {
                if in_force(visit, name) == Some(0.0) {
                    -(1.0 - self.experiment.asked.step).ln()
                } else {
                    0.0
                }
            }
            Change::One(name) | Change::Raised(name) => {
                self.untouched(name).zip(in_force(visit, name)).map_or(0.0, |(all, found)| (found / all).ln())
            }
        }
    }

    fn is_bound(&self, name: &str) -> bool {
        self.place(name).is_some_and(|place| self.experiment.resources[place].class == ResourceClass::Bound)
    }

    /// What the untouched point has in force of a resource.
    pub(super) fn untouched(&self, name: &str) -> Option<f64> {
        let sound = self.references().filter(|result| !self.is_unsound(name, result.visit.block));
        mean_of(sound.filter_map(|result| in_force(&result.visit, name)))
    }

    /// What is in force of a resource in the middle one of the visits of the untouched point: a few that were read back otherwise do not
    /// move it.
    fn usual(&self, name: &str) -> Option<f64> {
        let mut found: Vec<f64> = self.references().filter_map(|result| in_force(&result.visit, name)).collect();
        found.sort_by(f64::total_cmp);
        found.get(found.len() / 2).copied()
    }

    /// Tells whether a block does not count for a resource.
    fn is_unsound(&self, name: &str, block: u32) -> bool {
        self.unsound.get(name).is_some_and(|blocks| blocks.contains_key(&block))
    }

    /// The most users that began an operation in a visit of the untouched point.
    fn most_users(&self) -> f64 {
        self.references().filter_map(|result| in_force(&result.visit, USERS)).fold(0.0, f64::max)
    }

    /// Limits that the untouched point reached in most blocks, with those: a host that gives less than a limit allows leaves it without effect
    /// in the others, which then say nothing of it. What was used in untouched visits decides, never the result of a lowered one. Where fewer
    /// than most were full all blocks count: a few in which more was used by chance are those with more throughput, too.
    pub(super) fn full_blocks(&self) -> BTreeMap<&str, BTreeSet<u32>> {
        let mut found = BTreeMap::new();
        // What slows every operation need not be full to be felt.
        for plan in self.experiment.resources.iter().filter(|plan| plan.class == ResourceClass::Capacity) {
            let mut least: BTreeMap<u32, f64> = BTreeMap::new();
            for result in self.references() {
                let Some(share) = share_used(&result.visit, &plan.name) else { continue };
                let of_block = least.entry(result.visit.block).or_insert(f64::INFINITY);
                *of_block = of_block.min(share);
            }
            let full: BTreeSet<u32> =
                least.iter().filter(|(_, share)| LimitUse::is_full(**share)).map(|(block, _)| *block).collect();
            if full.len() >= LEAST_FULL && 2 * full.len() > least.len() && full.len() < least.len() {
                found.insert(plan.name.as_str(), full);
            }
        }
        found
    }

    fn references(&self) -> impl Iterator<Item = &VisitResult> {
        self.results.iter().filter(|result| result.visit.change == Change::Nothing)
    }

    /// Share of a limit that the untouched point used in the blocks that count for it; `None` where that is not counted.
    pub(super) fn reached(&self, name: &str) -> Option<f64> {
        mean_of(self.counted(name, &Change::Nothing).filter_map(|result| share_used(&result.visit, name)))
    }

    /// What was used of a limit that only acts once it is reached; `None` of what acts in another way, or is not counted.
    pub(super) fn limit_use(&self, plan: &ResourcePlan) -> Option<LimitUse> {
        let mean = self.reached(&plan.name).filter(|_| plan.class == ResourceClass::Capacity)?;
        let (nothing, alone) = (Change::Nothing, Change::One(plan.name.clone()));
        let references = self.counted(&plan.name, &nothing);
        let at_limit = mean_of(references.filter_map(|result| result.at_limit.get(&plan.name).copied()));
        let lowered = self.counted(&plan.name, &alone).filter_map(|result| share_used(&result.visit, &plan.name));
        Some(LimitUse { mean, at_limit, lowered: mean_of(lowered) })
    }

    /// Visits with a change in the blocks that count for a resource.
    pub(super) fn counted<'a>(&'a self, name: &str, change: &'a Change) -> impl Iterator<Item = &'a VisitResult> {
        let full = self.full_blocks().remove(name);
        let unsound = self.unsound.get(name);
        let counts = move |block: u32| {
            full.as_ref().is_none_or(|full| full.contains(&block))
                && unsound.is_none_or(|unsound| !unsound.contains_key(&block))
        };
        self.results.iter().filter(move |result| result.visit.change == *change && counts(result.visit.block))
    }

    /// What is in force of a resource in visits in which it alone is changed; `None` without one.
    pub(super) fn lowered(&self, name: &str) -> Option<f64> {
        let visits = self.results.iter().filter(|result| result.visit.change == Change::One(name.to_owned()));
        let sound = visits.filter(|result| !self.is_unsound(name, result.visit.block));
        mean_of(sound.filter_map(|result| in_force(&result.visit, name)))
    }

    /// The change that a resource was seen to take, as a share; `None` without a visit.
    pub(super) fn true_step(&self, name: &str) -> Option<f64> {
        if self.is_bound(name) {
            return None;
        }
        let visits = self.results.iter().filter(|result| result.visit.change == Change::One(name.to_owned()));
        let sound = visits.filter(|result| !self.is_unsound(name, result.visit.block));
        let steps: Vec<f64> = sound.map(|result| self.step(&result.visit)).collect();
        (!steps.is_empty()).then(|| (steps.iter().sum::<f64>() / steps.len() as f64).exp_m1())
    }

    /// Why visits of a resource do not count: it was not put in force as asked, was not restored, or more was used than it allows. A block
    /// in which that happened is left out; too few that are left tell nothing.
    pub(super) fn fault(&self, plan: &ResourcePlan) -> Option<String> {
        let (own, sound) = self.own_blocks(&plan.name);
        self.fault_where(plan, sound < PILOT_BLOCKS || 2 * sound < own)
    }

    /// Why a resource is visited no more: the same, where it failed again and again.
    pub(super) fn given_up(&self, plan: &ResourcePlan) -> Option<String> {
        let (own, sound) = self.own_blocks(&plan.name);
        self.fault_where(plan, own >= sound + GIVEN_UP_AFTER && 2 * sound < own)
    }

    fn fault_where(&self, plan: &ResourcePlan, is_too_little: bool) -> Option<String> {
        let name = &plan.name;
        if self.usual(name).is_none() {
            let why = match name.as_str() {
                USERS => "users of this load share sessions",
                of_engine if of_engine.starts_with(ENGINE) => {
                    "the database has nothing of the kind that can be changed while it runs, or has it from its start as a \
                     change would make it"
                }
                _ => "its value could not be read back",
            };
            return (!self.results.is_empty()).then(|| why.to_owned());
        }
        let usual = self.usual(name).filter(|_| plan.class == ResourceClass::Capacity);
        let is_too_small = |usual: &f64| (changed(name, *usual, self.experiment.asked.step) / usual - 1.0).abs() < 1e-9;
        if let Some(usual) = usual.filter(is_too_small) {
            return Some(format!(
                "{usual} per second is too small a limit to be lowered by the step: it takes whole numbers"
            ));
        }
        if let Some((_, why)) = self.left_out(name).filter(|_| is_too_little) {
            return Some(why.clone());
        }
        // In a few visits a queue may still be ahead of what follows it.
        let enough = self.complete >= PILOT_BLOCKS;
        [false, true].into_iter().filter(|_| enough).find_map(|is_lowered| {
            self.excess(plan, |change| !change.raises(name) && change.lowers(name, plan.class) == is_lowered)
        })
    }

    /// Blocks with a visit of a resource alone, and those of them that count for it.
    fn own_blocks(&self, name: &str) -> (usize, usize) {
        let alone = Change::One(name.to_owned());
        let own: BTreeSet<u32> =
            self.results.iter().filter(|one| one.visit.change == alone).map(|one| one.visit.block).collect();
        (own.len(), own.iter().filter(|block| !self.is_unsound(name, **block)).count())
    }

    /// How many blocks with a visit of a resource alone are left out for it, and why the first is; `None` without one.
    pub(super) fn left_out(&self, name: &str) -> Option<(usize, &String)> {
        let unsound = self.unsound.get(name)?;
        let alone = Change::One(name.to_owned());
        let own = |block: &u32| self.results.iter().any(|one| one.visit.change == alone && one.visit.block == *block);
        let mut left_out = unsound.iter().filter(|(block, _)| own(block)).map(|(_, why)| why);
        let first = left_out.next()?;
        Some((1 + left_out.count(), first))
    }

    /// Blocks in which each resource was not in force as asked in some visit, or could not be read back, with the reason.
    fn unsound_blocks(&self) -> BTreeMap<String, BTreeMap<u32, String>> {
        let mut found: BTreeMap<String, BTreeMap<u32, String>> = BTreeMap::new();
        for plan in &self.experiment.resources {
            self.find_unsound(plan, |name, block, why| {
                found.entry(name.to_owned()).or_default().entry(block).or_insert(why);
            });
        }
        found
    }

    /// Finds the visits in which a resource was not as asked, and tells for which resources their blocks do not count: for itself; where it
    /// is known to have had another value, for all that the visit lowers as well, and for all where the visit is one of the untouched point.
    fn find_unsound(&self, plan: &ResourcePlan, mut tell: impl FnMut(&str, u32, String)) {
        let name = &plan.name;
        let Some(usual) = self.usual(name) else { return };
        let whole = if name == USERS { self.most_users() } else { usual };
        // Visits that raise it are judged apart: what lowering it costs stands without them.
        for result in self.results.iter().filter(|result| !result.visit.change.raises(name)) {
            let (change, block) = (&result.visit.change, result.visit.block);
            let Some(value) = in_force(&result.visit, name) else {
                tell(name, block, UNREADABLE.to_owned());
                continue;
            };
            let is_changed = change.lowers(name, plan.class);
            let Some(why) = self.not_as_asked(plan, value, (whole, is_changed)) else { continue };
            let others = self.experiment.resources.iter().filter(|other| other.name != *name);
            for other in others.filter(|other| *change == Change::Nothing || change.lowers(&other.name, other.class)) {
                tell(&other.name, block, format!("of {name}, {why}"));
            }
            tell(name, block, why);
        }
    }

    /// Words for what was in force in a visit where it is not what was asked, of a resource of which so much is there untouched.
    fn not_as_asked(&self, plan: &ResourcePlan, found: f64, (whole, is_changed): (f64, bool)) -> Option<String> {
        let lowered = changed(&plan.name, whole, self.experiment.asked.step);
        let expected = if is_changed { lowered } else { whole };
        let is_as_asked = match plan.class {
            _ if plan.name == USERS => are_as_asked(found, is_changed, (whole, lowered)),
            ResourceClass::Bound => (found - expected).abs() <= ROUNDING,
            _ => (found / expected - 1.0).abs() <= ROUNDING,
        };
        (!is_as_asked).then(|| format!("{found} was in force in a visit that asked for {expected}"))
    }

    /// Why visits in which a resource was raised do not count: it was not put in force as asked, or more was used than it allows.
    pub(super) fn raise_fault(&self, plan: &ResourcePlan) -> Option<String> {
        let name = &plan.name;
        let expected = as_limited(name, raised(self.untouched(name)?, self.experiment.asked.step));
        for result in self.raises_of(name) {
            let Some(found) = in_force(&result.visit, name) else { return Some(UNREADABLE.to_owned()) };
            if (found / expected - 1.0).abs() > ROUNDING {
                return Some(format!("{found} was in force in a visit that asked for {expected}"));
            }
        }
        let enough = self.raises_of(name).count() >= PILOT_BLOCKS;
        self.excess(plan, |change| change.raises(name)).filter(|_| enough)
    }

    /// Visits in which a resource was raised.
    pub(super) fn raises_of<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a VisitResult> {
        self.results.iter().filter(move |result| result.visit.change.raises(name))
    }

    /// What is in force of a resource in visits in which it is raised; `None` without one.
    pub(super) fn raised_level(&self, name: &str) -> Option<f64> {
        mean_of(self.raises_of(name).filter_map(|result| in_force(&result.visit, name)))
    }

    /// What was used of a resource per second by the untouched point and by visits in which it was raised, in the blocks that have one;
    /// `None` where that is not counted.
    pub(super) fn used_when_raised(&self, name: &str) -> Option<(f64, f64)> {
        let blocks: BTreeSet<u32> = self.raises_of(name).map(|result| result.visit.block).collect();
        let used = |result: &VisitResult| result.visit.reading(name)?.used;
        let beside = self.references().filter(|result| blocks.contains(&result.visit.block));
        mean_of(beside.filter_map(used)).zip(mean_of(self.raises_of(name).filter_map(used)))
    }

    /// Words for more use of a resource than it allows, over all visits with such a change: the kernel counts a request when it is made, so
    /// that what a checkpoint queues under a limit counts for the visit in which it began.
    fn excess(&self, plan: &ResourcePlan, is_of_level: impl Fn(&Change) -> bool) -> Option<String> {
        let at_level = self.results.iter().map(|result| &result.visit).filter(|visit| is_of_level(&visit.change));
        let (mut used, mut allowed) = (0.0, 0.0);
        let (mut seconds, mut limit) = (0.0, 0.0);
        for visit in at_level {
            let Some(reading) = visit.reading(&plan.name) else { continue };
            let (Some(found), Some(mean)) = (reading.in_force, reading.used) else { continue };
            let lasted = visit.to.saturating_sub(visit.from).max(1) as f64;
            used += mean * lasted;
            allowed += found * MOST_USED * (lasted + AHEAD);
            seconds += lasted;
            limit = found;
        }
        (used > allowed).then(|| format!("{:.1} per second was used under a limit of {limit}", used / seconds))
    }

    /// Visits of one resource alone.
    pub(super) fn visits_of(&self, name: &str) -> usize {
        self.results.iter().filter(|result| result.visit.change == Change::One(name.to_owned())).count()
    }
}

/// Visits of the complete blocks of an attempt.
fn complete_visits(attempt: &Attempt) -> Vec<VisitResult> {
    visit_results(attempt).into_iter().filter(|(_, is_complete)| *is_complete).map(|(result, _)| result).collect()
}

/// Every visit of an attempt with its results, and whether its block is complete.
pub(crate) fn visit_results(attempt: &Attempt) -> Vec<(VisitResult, bool)> {
    let (mut found, mut block) = (Vec::new(), None);
    for event in &attempt.events {
        match &event.event {
            RunEvent::BlockBegun { number, order } => block = Some((*number, order.len(), found.len())),
            RunEvent::Visited(visit) => {
                found.push((result(attempt, visit), false));
                let is_last = |(number, planned, first): &(u32, usize, usize)| {
                    *number == visit.block && found.len() - first == *planned
                };
                if let Some((_, _, first)) = block.filter(is_last) {
                    found[first..].iter_mut().for_each(|(_, is_complete)| *is_complete = true);
                    block = None;
                }
            }
            _ => {}
        }
    }
    found
}

fn mean_of(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    (count > 0.0).then(|| sum / count)
}

/// Whether as many users began operations in a visit as were asked for, of so many in the untouched point and in a lowered visit. A few of
/// them may wait in one operation for the whole visit.
fn are_as_asked(found: f64, is_lowered: bool, (whole, lowered): (f64, f64)) -> bool {
    if is_lowered { (2.0 * lowered - whole..=f64::midpoint(whole, lowered)).contains(&found) } else { found > lowered }
}

fn in_force(visit: &InterventionVisit, name: &str) -> Option<f64> {
    visit.reading(name)?.in_force
}

fn result(attempt: &Attempt, visit: &InterventionVisit) -> VisitResult {
    let inside: Vec<&IntervalSample> =
        attempt.intervals.iter().filter(|second| (visit.from..visit.to).contains(&second.index)).collect();
    let seconds = visit.to.saturating_sub(visit.from);
    let is_whole = inside.len() as u64 == seconds && inside.iter().all(|second| !second.client.has_paused());
    let done: u64 = inside.iter().flat_map(|second| &second.counts).map(OperationCounts::completed).sum();
    VisitResult {
        visit: visit.clone(),
        throughput: if is_whole { done as f64 / seconds as f64 } else { f64::NAN },
        response_p99: if is_whole { response_p99(&inside) } else { f64::NAN },
        stolen: stolen_in(attempt, (visit.from as f64, visit.to as f64)),
        at_limit: if visit.change == Change::Nothing { shares_of_seconds(attempt, visit) } else { BTreeMap::new() },
    }
}

fn response_p99(inside: &[&IntervalSample]) -> f64 {
    let kinds: BTreeMap<&str, ()> =
        inside.iter().flat_map(|second| &second.histograms).map(|part| (part.kind.as_str(), ())).collect();
    let kinds: Vec<String> = kinds.into_keys().map(str::to_owned).collect();
    let (by_kind, unreadable) = decoded(&kinds, inside, LatencyClock::Response);
    let all = Sparse::merged(&all_kinds(&by_kind));
    let is_enough = unreadable.is_empty() && all.count() as f64 * 0.01 >= BEYOND;
    all.percentile(0.99).filter(|_| is_enough).map_or(f64::NAN, |value| value as f64)
}
