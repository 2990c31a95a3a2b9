//! The raise of a limit that is confirmed, which shows what more of it gives: which one, whether the host has room for it, and what came of
//! it.

use super::memory::raised_sizes;
use super::point::PointAttribution;
use super::visits::PointVisits;
use super::words::{NOTHING, OF_ACCOUNT, interval};
use crate::numbers::{self, capital, percent_end, short};
use proofload_analysis::attribution::{
    Decision, Experiment as Estimates, KnobElasticity, LimitUse, ResourceVerdict, Treatment, kept,
};
use proofload_model::facts::{host, limit};
use proofload_model::intervention::{CLIENTS_CPU, Change, RAISED_BLOCKS, ResourcePlan, is_quota, raised};
use proofload_model::samples::Fact;
use proofload_model::settings::setting;

/// Share of a raise by which use must rise at least to be called a rise: half of it. Source: ours.
const FOLLOWED: f64 = 0.5;
/// Share of chance at each look at a raise, after each of some six blocks: all together 5 %. Source: Bonferroni.
const LOOK: f64 = 0.01;
/// What a quota may exceed the time of all cores by, as a share: rounding.
const ROUNDING: f64 = 1e-6;

/// What more of a limit gave.
#[derive(Debug, Clone, PartialEq)]
pub struct RaiseResult {
    /// The resource that was raised.
    pub resource: String,
    /// Elasticity of throughput upward, or why there is none.
    pub throughput: Result<KnobElasticity, String>,
    /// What the untouched point and visits that raised it had in force, on average; `None` without one of them.
    pub levels: Option<(f64, f64)>,
    /// What the untouched point and visits that raised it used per second, in the same blocks; `None` where that is not counted.
    pub used: Option<(f64, f64)>,
    /// Visits that raised it.
    pub visits: usize,
}

/// A raise that further blocks make.
pub(super) struct Raise {
    resource: String,
    /// Blocks that it still takes, at least.
    pub(super) left: u32,
    /// True once a block had it.
    pub(super) has_begun: bool,
}

impl Raise {
    /// The change of its visits.
    pub(super) fn change(self) -> Change {
        Change::Raised(self.resource)
    }
}

/// The raise that is still wanted after what is decided so far; `None` where nothing is confirmed of which the host has more, where enough of
/// them tell what it gives, and where it was not in force. Like every other change it is visited until that is decided: three visits have
/// two degrees of freedom.
pub(super) fn wanted(shown: &PointVisits, estimates: &Estimates, decisions: &[Decision]) -> Option<Raise> {
    let plan = target(shown, estimates, decisions)?;
    if shown.raise_fault(plan).is_some() {
        return None;
    }
    let change = Change::Raised(plan.name.clone());
    let sound = shown.counted(&plan.name, &change).filter(|result| result.throughput > 0.0).count();
    let place = shown.experiment.resources.iter().position(|other| other.name == plan.name)?;
    let found = estimates.elasticity(Treatment::Raised(place));
    let is_open = found.is_none_or(|found| kept(&found) && found.bounds(LOOK).0 <= OF_ACCOUNT);
    let least = RAISED_BLOCKS.saturating_sub(u32::try_from(sound).unwrap_or(u32::MAX));
    let left = least.max(u32::from(is_open));
    let has_begun = shown.raises_of(&plan.name).next().is_some();
    (left > 0).then(|| Raise { resource: plan.name.clone(), left, has_begun })
}

/// What came of a raise, or why there was none of what is confirmed; `None` where no block was left for it.
pub(super) fn raise_result(
    shown: &PointVisits,
    estimates: &Estimates,
    decisions: &[Decision],
    moved: Option<&String>,
) -> Option<RaiseResult> {
    let Some(plan) = target(shown, estimates, decisions) else {
        let plan = candidates(shown, estimates, decisions).into_iter().next()?;
        let throughput = Err(no_room(shown, &plan.name)?);
        let resource = plan.name.clone();
        return Some(RaiseResult { resource, throughput, levels: None, used: None, visits: 0 });
    };
    let visits = shown.raises_of(&plan.name).count();
    let place = shown.experiment.resources.iter().position(|other| other.name == plan.name)?;
    let throughput = match moved.cloned().or_else(|| shown.raise_fault(plan)) {
        Some(why) => Err(why),
        None => estimates
            .elasticity(Treatment::Raised(place))
            .ok_or_else(|| "it takes two complete blocks that count".to_owned()),
    };
    (visits > 0).then(|| RaiseResult {
        resource: plan.name.clone(),
        throughput,
        levels: shown.untouched(&plan.name).zip(shown.raised_level(&plan.name)),
        used: shown.used_when_raised(&plan.name),
        visits,
    })
}

/// The limit that is raised: the one that was raised before, else one that is confirmed and of which the host has more.
fn target<'s>(shown: &'s PointVisits, estimates: &Estimates, decisions: &[Decision]) -> Option<&'s ResourcePlan> {
    let was_raised = |plan: &&ResourcePlan| shown.raises_of(&plan.name).next().is_some();
    let before = shown.experiment.resources.iter().find(was_raised);
    before.or_else(|| {
        let mut found = candidates(shown, estimates, decisions).into_iter();
        found.find(|plan| no_room(shown, &plan.name).is_none())
    })
}

/// Limits that are confirmed and can be raised: first the one that the joint visit leaves, whose relief it foretells, then those with the
/// largest elasticity.
fn candidates<'s>(shown: &'s PointVisits, estimates: &Estimates, decisions: &[Decision]) -> Vec<&'s ResourcePlan> {
    let left = shown.results.iter().find_map(|result| match &result.visit.change {
        Change::AllBut(name) => Some(name),
        _ => None,
    });
    let plans = shown.experiment.resources.iter().enumerate().zip(decisions);
    let mut found: Vec<(f64, &ResourcePlan)> = plans
        .filter(|((_, plan), decision)| plan.can_be_raised() && decision.verdict == ResourceVerdict::Confirmed)
        .filter_map(|((place, plan), _)| Some((estimates.elasticity(Treatment::Knob(place))?.value, plan)))
        .collect();
    found.sort_by(|one, other| other.0.total_cmp(&one.0));
    found.sort_by_key(|(_, plan)| Some(&plan.name) != left);
    found.into_iter().map(|(_, plan)| plan).collect()
}

/// Why the host has no more of a resource, as a lower-case fragment; `None` where it has, and where that is not known: use then shows it.
fn no_room(shown: &PointVisits, name: &str) -> Option<String> {
    beyond_host(name, raised(shown.untouched(name)?, shown.experiment.asked.step), &shown.facts)
}

fn beyond_host(name: &str, wanted: f64, facts: &[Fact]) -> Option<String> {
    if is_quota(name) {
        // Cores that the study gives hold for the database, not for its users.
        let given = limit::CORES.number(facts).filter(|_| name != CLIENTS_CPU);
        let cores = host::CORES.number(facts).into_iter().chain(given).reduce(f64::min)?;
        return (wanted > cores * (1.0 + ROUNDING)).then(|| {
            format!(
                "{} CPU seconds per second are more than the time of {}",
                short(wanted),
                numbers::cores(&short(cores))
            )
        });
    }
    let memory = host::MEMORY.number(facts).filter(|_| name == setting::LIMITS_MEMORY)?;
    (wanted > memory).then(|| "the host has less memory than that".to_owned())
}

/// What a raise gave: `30 % more read IOPS would give 21 % [15, 27] more throughput …`. `None` without an elasticity.
pub(super) fn sentence(found: &PointAttribution, raise: &RaiseResult) -> Option<String> {
    let elasticity = raise.throughput.as_ref().ok()?;
    let (from, to) = raise.levels.filter(|(from, to)| *from > 0.0 && *to > *from)?;
    let title = found.resources.iter().find(|one| one.plan.name == raise.resource)?.title.as_str();
    let more = raised_sizes(&raise.resource, (from, to)).map_or_else(
        || format!("{} % more {title}", short((100.0 * (to / from - 1.0)).round())),
        |sizes| format!("{title} {sizes}"),
    );
    let gain = |elasticity: f64| (100.0 * ((elasticity * (to / from).ln()).exp() - 1.0)).round();
    let (low, high) = elasticity.bounds(0.05);
    let gained = format!(
        "{} % [{}, {}] more throughput (elasticity to raising it {})",
        short(gain(elasticity.value)),
        percent_end(gain(low)),
        percent_end(gain(high)),
        interval(elasticity)
    );
    let next = next_limit(gain(elasticity.value));
    let told = if high <= NOTHING {
        format!("{} would give nothing: {gained}; {next}.", capital(&more))
    } else if low <= OF_ACCOUNT {
        format!("Whether {more} would help is not told apart: {gained}.")
    } else if high < 1.0 - OF_ACCOUNT {
        format!("{} would give {gained}, and no more than that: {next}.", capital(&more))
    } else {
        format!("{} would give {gained}.", capital(&more))
    };
    Some(match use_of(raise, (from, to)) {
        Some(used) => format!("{told} {used}"),
        None => told,
    })
}

/// How far the next limit is: throughput rises until it is reached.
fn next_limit(gain: f64) -> String {
    if gain < 1.0 {
        "the next limit is as near".to_owned()
    } else {
        format!("the next limit is about {} % away", short(gain))
    }
}

/// Says that what was used did not follow a raise; `None` where it did, or is not counted.
fn use_of(raise: &RaiseResult, (from, to): (f64, f64)) -> Option<String> {
    let (before, after) = raise.used.filter(|(before, _)| *before > 0.0)?;
    let rose = after / before - 1.0;
    let percent = (100.0 * rose).round();
    let share = short((100.0 * after / to).round());
    (rose < FOLLOWED * (to / from - 1.0) && !LimitUse::is_full(after / to)).then(|| {
        if percent < 1.0 {
            format!("What was used of it did not rise: {share} % of what it was raised to.")
        } else {
            format!("What was used of it rose by {} %: {share} % of what it was raised to.", short(percent))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_gives_the_time_of_its_cores_and_its_memory_and_what_is_not_known_is_tried() {
        let facts = [
            host::CORES.observed(2_u64, "a test"),
            Fact { number: Some(f64::from(1 << 30)), ..host::MEMORY.observed("1GiB", "a test") },
        ];
        let why = |name: &str, wanted: f64| beyond_host(name, wanted, &facts);
        assert_eq!(why("limits.cpu", 2.0), None);
        let told = why("limits.cpu", 2.4).unwrap();
        assert_eq!(told, "2.4 CPU seconds per second are more than the time of 2 cores");
        assert_eq!(why("limits.read_iops", 1e9), None, "nothing is known of the device");
        assert_eq!(why("limits.memory", f64::from(1 << 29)), None);
        assert!(why("limits.memory", f64::from(1 << 30) * 1.2).is_some());
        assert_eq!(beyond_host("limits.cpu", 64.0, &[]), None);
        let given = [host::CORES.observed(8_u64, "a test"), limit::CORES.observed(1_u64, "a test")];
        assert!(beyond_host("limits.cpu", 1.2, &given).is_some());
        assert_eq!(beyond_host(CLIENTS_CPU, 1.2, &given), None, "users have the other cores");
    }
}
