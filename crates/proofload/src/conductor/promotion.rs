//! A promotion by hand: fence the failed primary, choose the standby with the most log, put the mode in force there before it takes writes, promote
//! it, and let the other standbys follow it. May not know why the primary failed.

use super::drill::in_seconds;
use super::preparation::PreparedRun;
use super::run_context::RunContext;
use proofload_model::deployment::{InstanceName, InstancePlan};
use proofload_model::drill::StandbyReach;
use proofload_model::error::Error;
use proofload_model::replication::link;
use std::time::Duration;

/// How long processes of a killed primary may take to end, and how often is looked.
const FENCED_WITHIN: Duration = Duration::from_secs(5);
const GLANCE: Duration = Duration::from_millis(10);
/// How long standbys of which none answers are asked: a loaded host may let none answer within the few seconds of one question.
const ANSWER_WITHIN: Duration = Duration::from_secs(30);

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
pub(super) fn promote(
    context: &mut RunContext<'_>,
    prepared: &PreparedRun,
    failed: &InstanceName,
) -> Result<Promotion, Error> {
    fence(context, prepared, failed)?;
    let begun = context.agents.now();
    let answering = loop {
        match answering(context, prepared) {
            Err(_) if context.agents.now().since(begun) < ANSWER_WITHIN => context.wait(GLANCE)?,
            other => break other?,
        }
    };
    let names: Vec<InstanceName> = answering.iter().map(|standby| standby.name.clone()).collect();
    let asked = prepared.replication.as_ref();
    let reach = StandbyReach {
        reached: u32::try_from(names.len()).unwrap_or(u32::MAX),
        of: u32::try_from(prepared.deployment.standbys().count()).unwrap_or(u32::MAX),
        holds_all: asked.is_some_and(|asked| asked.holds_all(&names)),
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
fn fence(context: &mut RunContext<'_>, prepared: &PreparedRun, failed: &InstanceName) -> Result<(), Error> {
    let instance = prepared.deployment.instances.iter().find(|instance| instance.name == *failed);
    let instance = instance.ok_or_else(|| Error::refused(format!("failed to fence {failed}: no such instance")))?;
    let begun = context.agents.now();
    while !context.testbed(prepared).is_fenced(instance)? {
        if context.agents.now().since(begun) > FENCED_WITHIN {
            return Err(Error::refused(format!(
                "failed to promote a standby: {failed} still runs {FENCED_WITHIN:?} after its fault and may take writes"
            )));
        }
        context.wait(GLANCE)?;
    }
    Ok(())
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
