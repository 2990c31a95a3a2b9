//! The end of a drill: the primary that failed is put back behind the one that took its place, by hand or by its failover manager, follows it,
//! and is waited for by commits again. May not know why it failed.

use super::drill::{DrillCourse, now, of_name};
use super::managed_drill::is_protected;
use super::preparation::PreparedRun;
use super::run_context::RunContext;
use proofload_model::deployment::{InstanceName, InstancePlan};
use proofload_model::drill::DrillAsked;
use proofload_model::error::Error;
use proofload_model::log_level::LogLevel;
use proofload_model::replication::{ReplicationAsked, ReplicationMode, ReplicationPart, StandbyReading, link};
use proofload_model::time::Moment;
use proofload_model::units::Bytes;
use std::time::Duration;

/// How often is looked whether it follows.
const LOOK: Duration = Duration::from_millis(200);

/// Log that may be missing when commits begin to wait: a fraction of a second's.
pub(super) const BEHIND_AT_MOST: Bytes = Bytes(1 << 20);

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

/// Starts the failover manager's program of the failed instance again, as a host that comes back does, and waits until the manager tells that it
/// follows; nothing happens where the program was never ended, and where no other instance leads. A program that does not start again leaves the
/// new primary unprotected, which is a result.
pub(super) fn come_back(
    context: &mut RunContext<'_>,
    prepared: &PreparedRun,
    asked: &DrillAsked,
    (failed, course): (&InstanceName, &mut DrillCourse),
) -> Result<(), Error> {
    let alone = course.promoted.as_ref().filter(|promotion| !promotion.has_standbys && promotion.name != *failed);
    let Some(leader) = alone.map(|promotion| promotion.name.to_string()) else { return Ok(()) };
    let failed = of_name(prepared, failed)?;
    course.rejoin_asked_at = Some(now(context));
    let until = context.agents.now() + asked.within;
    let part = ReplicationPart::Standby { upstream: leader };
    let started = context.testbed(prepared).start_again(failed, failed.place.clone(), part);
    match started {
        Ok(()) => {}
        Err(error) if error.is_lost() => return Err(error),
        Err(error) => {
            let text = format!("{} did not come back: {error}", failed.name);
            return context.heard.journal.log(LogLevel::Warning, "conductor", &text);
        }
    }
    course.protected_again_at = until_several(context, until, |context| is_protected(context, prepared))?;
    course.rejoined_at = course.protected_again_at;
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
    let mut written = Bytes(0);
    until_several(context, until, |context| read(context, prepared, (leader, back), &mut written))
}

/// The time of the first of several readings in a row that hold; nothing when the time is up.
fn until_several<'a>(
    context: &mut RunContext<'a>,
    until: Moment,
    mut holds: impl FnMut(&mut RunContext<'a>) -> bool,
) -> Result<Option<f64>, Error> {
    let (mut first, mut readings) = (None, 0);
    while context.agents.now() < until {
        let follows = holds(context);
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
