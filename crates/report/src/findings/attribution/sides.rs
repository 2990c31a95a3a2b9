//! Two limits that are the same resource seen from two sides: a quota of CPU time that is full all the time stands for the speed of the cores,
//! so that one of them is counted. Source: a full quota is a pure number, and times add up to 1 without it.

use super::point::{PointAttribution, ResourceAttribution};
use super::words::numbers;
use crate::numbers::capital;
use proofload_analysis::attribution::{LimitReach, LimitUse, ResourceVerdict};
use proofload_model::intervention::{are_one, is_quota};

/// The resource that is counted in place of one, by names and what was used of each limit: the quota that is full all the time, of which the
/// other is the other side. `None` where it is counted itself.
pub(super) fn stands_for<'a>(
    name: &str,
    all: impl IntoIterator<Item = (&'a str, Option<LimitUse>)>,
) -> Option<&'a str> {
    let is_full = |used: &Option<LimitUse>| used.is_some_and(|used| used.reach() == LimitReach::Always);
    let mut quotas = all.into_iter().filter(|(other, used)| is_quota(other) && is_full(used));
    quotas.find(|(other, _)| are_one(other, name)).map(|(other, _)| other)
}

impl PointAttribution {
    /// The resource that is counted in place of one of these; `None` where it is counted itself.
    pub(super) fn counted_as(&self, one: &ResourceAttribution) -> Option<&ResourceAttribution> {
        let all = self.resources.iter().filter(|other| other.throughput.is_ok());
        let name = stands_for(&one.plan.name, all.map(|other| (other.plan.name.as_str(), other.limit_use)))?;
        self.resources.iter().find(|other| other.plan.name == name)
    }
}

/// A sentence for a resource that throughput follows and that is counted as another one.
pub(super) fn notes(found: &PointAttribution) -> Vec<String> {
    let follows = |one: &&ResourceAttribution| {
        matches!(one.decision.verdict, ResourceVerdict::Confirmed | ResourceVerdict::Contributes)
    };
    let note = |one: &ResourceAttribution| {
        let other = found.counted_as(one)?;
        Some(format!(
            "{} ({}) are the same resource as {} seen from another side, whose limit is full: one of both is counted.",
            capital(&one.title),
            numbers(one),
            other.title
        ))
    };
    found.resources.iter().filter(follows).filter_map(note).collect()
}
