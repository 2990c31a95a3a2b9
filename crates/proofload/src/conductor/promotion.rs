//! A promotion by hand: fence the failed primary, choose the standby with the most log, put the mode in force there before it takes writes, promote
//! it, and let the other standbys follow it. May not know why the primary failed.

use super::drill::{in_seconds, now};
use super::preparation::PreparedRun;
use super::run_context::RunContext;
use proofload_model::deployment::{InstanceName, InstancePlan};
use proofload_model::drill::StandbyReach;
use proofload_model::error::Error;
use proofload_model::replication::link;
use std::time::Duration;

/// How often is looked whether a failed instance has ended, and silent standbys are asked again.
const GLANCE: Duration = Duration::from_millis(10);
/// How long silent standbys are asked again while others answer that may hold less.
const SILENT_WITHIN: Duration = Duration::from_secs(30);

/// A standby that was promoted.
pub(super) struct Promotion {
    /// Its name.
    pub(super) name: InstanceName,
    /// When it was a primary, in seconds from time zero.
    pub(super) at: f64,
    /// Standbys that answered before; `None` where a manager chose.
    pub(super) reach: Option<StandbyReach>,
    /// Whether a standby follows it.
    pub(super) has_standbys: bool,
}

/// Promotes a standby in the place of the failed instance.
///
/// # Errors
/// The failed instance still runs, or no standby answers, at a time in seconds from time zero; the promotion fails.
pub(super) fn promote(
    context: &mut RunContext<'_>,
    prepared: &PreparedRun,
    failed: &InstanceName,
    until: f64,
) -> Result<Promotion, Error> {
    fence(context, prepared, failed, until)?;
    let answering = answering_until(context, prepared, until)?;
    let names: Vec<InstanceName> = answering.iter().map(|standby| standby.name.clone()).collect();
    let asked = prepared.replication.as_ref();
    let reach = StandbyReach {
        reached: u32::try_from(names.len()).unwrap_or(u32::MAX),
        of: u32::try_from(prepared.deployment.standbys().count()).unwrap_or(u32::MAX),
        holds_all: holds_all(prepared, &answering),
    };
    let (chosen, others) = answering.split_first().ok_or_else(|| Error::lost("no standby to promote"))?;
    let asked = asked.map(|asked| asked.with_standbys_left(&names[1..])).filter(|_| !others.is_empty());
    if let Some(asked) = &asked {
        // Users come as soon as it takes writes: what they commit must wait from the first one on.
        context.testbed(prepared).protect(chosen, asked.clone())?;
    }
    let promoted = context.testbed(prepared).promote(chosen)?;
    follow(context, prepared, chosen, others)?;
    let at = in_seconds(context, chosen, promoted);
    Ok(Promotion { name: chosen.name.clone(), at, reach: Some(reach), has_standbys: asked.is_some() })
}

/// Waits until the failed instance can take no write any more: two primaries would both acknowledge.
fn fence(context: &mut RunContext<'_>, prepared: &PreparedRun, failed: &InstanceName, until: f64) -> Result<(), Error> {
    let instance = prepared.deployment.instances.iter().find(|instance| instance.name == *failed);
    let instance = instance.ok_or_else(|| Error::refused(format!("failed to fence {failed}: no such instance")))?;
    while !context.testbed(prepared).is_fenced(instance)? {
        if now(context) > until {
            return Err(Error::refused(format!(
                "failed to promote a standby: {failed} still runs after drill.within and may take writes"
            )));
        }
        context.wait(GLANCE)?;
    }
    Ok(())
}

/// Asks the standbys until those that answer hold every acknowledged write: a loaded host may let one be silent for longer than a question waits,
/// and the silent one may hold more.
fn answering_until<'p>(
    context: &mut RunContext<'_>,
    prepared: &'p PreparedRun,
    until: f64,
) -> Result<Vec<&'p InstancePlan>, Error> {
    let all = prepared.deployment.standbys().count();
    let times = QuestionTimes { silent: now(context) + SILENT_WITHIN.as_secs_f64(), none: until };
    loop {
        let asked = answering(context, prepared);
        let found = asked.as_deref().unwrap_or_default();
        if times.is_over(found.len(), found.len() == all || holds_all(prepared, found), now(context)) {
            return asked;
        }
        context.wait(GLANCE)?;
    }
}

/// Ends of asking standbys, in seconds from time zero.
struct QuestionTimes {
    /// While others answer that may hold less.
    silent: f64,
    /// While none answers.
    none: f64,
}

impl QuestionTimes {
    fn is_over(&self, answering: usize, suffices: bool, now: f64) -> bool {
        match answering {
            0 => now >= self.none,
            _ => suffices || now >= self.silent.min(self.none),
        }
    }
}

/// Whether every acknowledged write is on one of the standbys.
fn holds_all(prepared: &PreparedRun, standbys: &[&InstancePlan]) -> bool {
    let names: Vec<InstanceName> = standbys.iter().map(|standby| standby.name.clone()).collect();
    prepared.replication.as_ref().is_some_and(|asked| asked.holds_all(&names))
}

/// Standbys that answer, the one with the most log first.
fn answering<'p>(context: &mut RunContext<'_>, prepared: &'p PreparedRun) -> Result<Vec<&'p InstancePlan>, Error> {
    let mut found: Vec<(u64, &InstancePlan)> = Vec::new();
    let mut trouble = Error::lost("no standby to promote");
    for standby in prepared.deployment.standbys() {
        match context.testbed(prepared).received(standby) {
            Ok(bytes) => found.push((bytes.0, standby)),
            Err(error) => trouble = error,
        }
    }
    if found.is_empty() {
        return Err(trouble.context("failed to choose a standby to promote"));
    }
    // Of equal ones the first by name: the sort is stable.
    found.sort_by_key(|(bytes, _)| std::cmp::Reverse(*bytes));
    Ok(found.into_iter().map(|(_, standby)| standby).collect())
}

/// Lets the other standbys follow the new primary.
fn follow(
    context: &mut RunContext<'_>,
    prepared: &PreparedRun,
    leader: &InstancePlan,
    others: &[&InstancePlan],
) -> Result<(), Error> {
    for standby in others {
        let address = context.addresses.get(&leader.name).cloned();
        let address = address
            .ok_or_else(|| Error::refused(format!("failed to follow {}: its address is unknown", leader.name)))?;
        let told = context.testbed(prepared).follow(standby, address, link(&prepared.settings))?;
        context.upstreams.insert(standby.name.clone(), told);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standbys_are_asked_until_those_that_answer_suffice_or_the_time_is_up() {
        let times = QuestionTimes { silent: 30.0, none: 120.0 };
        assert!(times.is_over(2, true, 0.0));
        assert_eq!([29.9, 30.0].map(|now| times.is_over(1, false, now)), [false, true]);
        assert_eq!([30.0, 119.9, 120.0].map(|now| times.is_over(0, false, now)), [false, false, true]);
        assert!(QuestionTimes { silent: 30.0, none: 5.0 }.is_over(1, false, 5.0), "drill.within bounds both");
    }
}
