//! The part of a drill in which existing servers fail over by their own command: we order it, look, and note. May not start anything.

use super::drill::{DrillCourse, FaultTimes, in_seconds, now};
use super::preparation::PreparedRun;
use super::promotion::Promotion;
use super::run_context::RunContext;
use proofload_model::deployment::InstanceName;
use proofload_model::drill::{FaultAsked, StandbyReach};
use proofload_model::error::Error;
use proofload_model::group_failover::{FailoverChoice, FailoverKind, FailoverReport};
use proofload_model::log_level::LogLevel;
use std::time::Duration;

/// Pause between two tries to let suspended servers follow.
const LOOK: Duration = Duration::from_secs(1);

/// How long these are tried: the old primary changes its role first.
const RESUMED_WITHIN: Duration = Duration::from_secs(60);

/// Has the servers fail over, and suspended ones follow again afterwards.
pub(super) fn replace(
    context: &mut RunContext<'_>,
    prepared: &PreparedRun,
    (fault, course): (FaultAsked, &mut DrillCourse),
) -> Result<(), Error> {
    let kind = FailoverKind::of(fault.kind);
    let kind = kind.ok_or_else(|| Error::refused(format!("failed to fail over: {fault} is no order to do so")))?;
    let primary = context.testbed(prepared).primary().clone();
    let FailoverReport { choice, in_force } = context.testbed(prepared).fail_over(kind)?;
    course.promote_asked_at = Some(in_seconds(context, &primary, in_force.begun));
    course.in_force = FaultTimes::of(context, &primary, in_force);
    let reach = Some(reach(kind, &choice));
    // All hosts of the URL are one instance to us, which other servers follow.
    course.promoted =
        Some(Promotion { name: InstanceName::primary(), at: course.in_force.at, reach, has_standbys: true });
    let text = format!("the servers failed over {choice}");
    context.heard.journal.log(LogLevel::Info, "conductor", &text)?;
    match kind {
        FailoverKind::Planned => Ok(()),
        FailoverKind::Forced => resume(context, prepared),
    }
}

/// Standbys that answered. What a forced failover takes over may lack what the primary has acknowledged until it heard of it.
fn reach(kind: FailoverKind, choice: &FailoverChoice) -> StandbyReach {
    let holds_all = kind == FailoverKind::Planned && choice.holds_all;
    StandbyReach { reached: choice.reached, of: choice.of, holds_all }
}

/// Lets servers follow again that the failover has suspended. One that does not leaves the new primary unprotected, which is a result.
fn resume(context: &mut RunContext<'_>, prepared: &PreparedRun) -> Result<(), Error> {
    let until = now(context) + RESUMED_WITHIN.as_secs_f64();
    let mut why = "a server does not follow yet".to_owned();
    while now(context) < until {
        match context.testbed(prepared).resume_group() {
            Ok(true) => return Ok(()),
            Ok(false) => {}
            // A server that changes its role may be out of reach.
            Err(error) => why = error.to_string(),
        }
        context.wait(LOOK)?;
    }
    let text = format!("data movement was not resumed at all servers within {RESUMED_WITHIN:?}: {why}");
    context.heard.journal.log(LogLevel::Warning, "conductor", &text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_planned_failover_to_a_server_in_sync_promises_that_nothing_is_lost() {
        let choice = |holds_all| FailoverChoice { from: None, to: "B".to_owned(), reached: 1, of: 2, holds_all };
        let promises = |kind, holds_all| reach(kind, &choice(holds_all)).holds_all;
        assert_eq!([promises(FailoverKind::Planned, true), promises(FailoverKind::Planned, false)], [true, false]);
        assert!(!promises(FailoverKind::Forced, true), "the primary may have gone on alone");
        let found = reach(FailoverKind::Forced, &choice(true));
        assert_eq!((found.reached, found.of), (1, 2));
    }
}
