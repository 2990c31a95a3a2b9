//! The end of a drill by hand: the primary that failed is put back behind the one that took its place, follows it, and is waited for by
//! commits again. May not know why it failed.

use super::drill::{DrillCourse, now, of_name};
use super::preparation::PreparedRun;
use super::run_context::RunContext;
use proofload_model::deployment::{InstanceName, InstancePlan};
use proofload_model::drill::DrillAsked;
use proofload_model::error::Error;
use proofload_model::replication::{ReplicationAsked, ReplicationMode, StandbyReading, link};
use proofload_model::time::Moment;
use proofload_model::units::Bytes;
use std::time::Duration;

/// How often is looked whether it follows.
const LOOK: Duration = Duration::from_millis(200);

/// Log that may be missing when commits begin to wait: a fraction of a second's.
const BEHIND_AT_MOST: Bytes = Bytes(1 << 20);

/// Readings in a row, and their distance, in which it must follow: an instance that was not put back also appears to for moments.
const READINGS: u32 = 10;
const APART: Duration = Duration::from_secs(1);

/// Lets the failed instance follow the one that was promoted; nothing happens where none was.
pub(super) fn rejoin(
    context: &mut RunContext<'_>,
    prepared: &PreparedRun,
    asked: &DrillAsked,
    (failed, course): (&InstanceName, &mut DrillCourse),
) -> Result<(), Error> {
    let Some(promotion) = &course.promoted else { return Ok(()) };
    let upstream = context.addresses.get(&promotion.name).cloned();
    let upstream = upstream
        .ok_or_else(|| Error::refused(format!("failed to follow {}: its address is unknown", promotion.name)))?;
    let (leader, has_standbys) = (promotion.name.clone(), promotion.has_standbys);
    course.rejoin_asked_at = Some(now(context));
    let (leader, failed) = (of_name(prepared, &leader)?, of_name(prepared, failed)?);
    let mut testbed = context.testbed(prepared);
    testbed.end_faulty(&failed.name)?;
    testbed.before_rewind(leader)?;
    testbed.rewind(failed, upstream, link(&prepared.settings))?;
    let mode = prepared.replication.as_ref().map(|mode| with_all_others(mode, prepared, leader));
    let mode = mode.ok_or_else(|| Error::refused("failed to rejoin: no replication mode is set"))?;
    if !has_standbys {
        // Commits that waited for an instance that catches up would be a second outage.
        testbed.protect(leader, ReplicationAsked { mode: ReplicationMode::Async, ..mode.clone() })?;
    }
    let until = context.agents.now() + asked.within;
    if !caught_up(context, prepared, (leader, failed), until)? {
        return Ok(());
    }
    course.rejoined_at = Some(now(context));
    context.testbed(prepared).protect(leader, mode)?;
    course.protected_again_at = until_protected(context, prepared, (leader, failed), until)?;
    Ok(())
}

/// Waits until the instance has all but a little of what the leader writes; false when the time is up.
fn caught_up(
    context: &mut RunContext<'_>,
    prepared: &PreparedRun,
    (leader, back): (&InstancePlan, &InstancePlan),
    until: Moment,
) -> Result<bool, Error> {
    while context.agents.now() < until {
        let read = context.testbed(prepared).read_replication_of(leader);
        let is_near = |seen: &StandbyReading| seen.name == back.name && seen.unflushed < BEHIND_AT_MOST;
        if read.is_ok_and(|seen| seen.standbys.iter().any(is_near)) {
            return Ok(true);
        }
        context.wait(LOOK)?;
    }
    Ok(false)
}

/// The mode of a leader that all other instances follow.
fn with_all_others(mode: &ReplicationAsked, prepared: &PreparedRun, leader: &InstancePlan) -> ReplicationAsked {
    let names = prepared.deployment.instances.iter().map(|instance| instance.name.clone());
    ReplicationAsked { standbys: names.filter(|name| *name != leader.name).collect(), ..mode.clone() }
}

/// Waits until commits wait for the instance again, for several readings in a row in each of which it has what the leader had written at the
/// reading before; the time of the first of them, or nothing when the time is up.
fn until_protected(
    context: &mut RunContext<'_>,
    prepared: &PreparedRun,
    (leader, back): (&InstancePlan, &InstancePlan),
    until: Moment,
) -> Result<Option<f64>, Error> {
    let (mut first, mut readings, mut written) = (None, 0, Bytes(0));
    while context.agents.now() < until {
        let follows = read(context, prepared, (leader, back), &mut written);
        (first, readings) = if follows { (first.or(Some(now(context))), readings + 1) } else { (None, 0) };
        if readings == READINGS {
            return Ok(first);
        }
        context.wait(if follows { APART } else { LOOK })?;
    }
    Ok(None)
}

/// Whether the mode is in force, and the instance has what the leader had written before; notes what it has written now.
fn read(
    context: &mut RunContext<'_>,
    prepared: &PreparedRun,
    (leader, back): (&InstancePlan, &InstancePlan),
    written: &mut Bytes,
) -> bool {
    let mut testbed = context.testbed(prepared);
    let Ok(seen) = testbed.read_replication_of(leader) else { return false };
    let has_all = testbed.received(back).is_ok_and(|received| received >= *written);
    *written = seen.log_end.unwrap_or_default();
    seen.out_of_force.is_none() && has_all
}
