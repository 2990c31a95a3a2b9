//! The part of a drill in which a failover manager replaces a failed primary: we wait, look, and note. May not promote anything.

use super::drill::{DrillCourse, make, now};
use super::preparation::PreparedRun;
use super::promotion::Promotion;
use super::run_context::RunContext;
use proofload_model::deployment::InstanceName;
use proofload_model::drill::{DrillAsked, FaultAsked, FaultKind};
use proofload_model::error::Error;
use proofload_model::manager::ClusterReading;
use std::time::Duration;

/// Pause between two looks at the cluster.
const LOOK: Duration = Duration::from_millis(50);

/// Makes the fault and waits until another server leads and takes writes: another instance, or the same one started again in its place. When
/// the time is up, nothing is promoted.
pub(super) fn replace(
    context: &mut RunContext<'_>,
    prepared: &PreparedRun,
    asked: &DrillAsked,
    fault: FaultAsked,
    course: &mut DrillCourse,
) -> Result<(), Error> {
    let before = context.testbed(prepared).read_cluster()?;
    if before.leader != Some(InstanceName::primary()) {
        let leader = before.leader.map_or("nobody".to_owned(), |name| name.to_string());
        let text = format!(
            "failed to inject the fault: {leader} is the leader instead of the primary; the manager switched earlier"
        );
        return Err(Error::verification(text));
    }
    if fault.kind == FaultKind::Switchover {
        course.promote_asked_at = Some(now(context));
    }
    course.in_force = make(context, prepared, fault, asked.strength)?;
    let until = course.in_force.at + asked.within.as_secs_f64();
    while now(context) < until {
        // A manager that cannot be asked has not told anything.
        let seen = context.testbed(prepared).read_cluster().ok();
        let at = now(context);
        context.expect_no_trouble()?;
        if let Some(seen) = seen {
            if course.detected_at.is_none() && seen.leader != before.leader {
                course.detected_at = Some(at);
            }
            if let Some(leader) = new_leader(&before, seen) {
                course.detected_at = course.detected_at.or(Some(at));
                // The others follow it where all of them live.
                let has_standbys = matches!(fault.kind, FaultKind::Kill | FaultKind::Switchover);
                course.promoted = Some(Promotion { name: leader, at, reach: None, has_standbys });
                return Ok(());
            }
        }
        context.wait(LOOK)?;
    }
    Ok(())
}

/// The instance that leads now, if its server is another than before and takes writes.
fn new_leader(before: &ClusterReading, seen: ClusterReading) -> Option<InstanceName> {
    if seen.takes_writes && seen.server.is_some() && seen.is_after(before) { seen.leader } else { None }
}

/// Whether every other instance follows the primary as the mode wants it.
pub(super) fn is_protected(context: &mut RunContext<'_>, prepared: &PreparedRun) -> bool {
    let seen = context.testbed(prepared).read_cluster();
    seen.is_ok_and(|seen| seen.is_protected && seen.takes_writes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_instance_or_another_server_of_the_same_is_a_new_leader() {
        let reading = |leader: Option<InstanceName>, server, takes_writes| ClusterReading {
            leader,
            server,
            takes_writes,
            is_protected: false,
        };
        let (primary, standby) = (InstanceName::primary(), InstanceName::standby(1));
        let before = reading(Some(primary.clone()), Some(1), true);
        let check = |seen, expected: Option<&InstanceName>| assert_eq!(new_leader(&before, seen).as_ref(), expected);
        check(reading(Some(primary.clone()), Some(1), true), None);
        check(reading(None, None, false), None);
        check(reading(Some(standby.clone()), Some(2), false), None);
        check(reading(Some(standby.clone()), Some(2), true), Some(&standby));
        check(reading(Some(primary.clone()), Some(3), true), Some(&primary));
        check(reading(Some(primary.clone()), None, true), None);
    }
}
