//! Replication before the load: waits until standbys follow, then proves the mode by withholding what a commit should wait for. May not
//! know an engine.

use super::link_check;
use super::preparation::PreparedRun;
use super::run_context::RunContext;
use proofload_model::deployment::Deployment;
use proofload_model::error::Error;
use proofload_model::events::{ReplicationProof, RunEvent};
use proofload_model::facts::replication;
use proofload_model::replication::{HeldPart, ReplicationAsked, ReplicationMode, link};
use std::time::Duration;

/// How long standbys may take until the mode is in force.
const IN_FORCE_WITHIN: Duration = Duration::from_secs(60);

const GLANCE: Duration = Duration::from_millis(50);

/// A commit that should wait and has not ended after this time does so.
const WAITS_AFTER: Duration = Duration::from_millis(500);

/// How long a commit may take that nothing withholds.
const ENDS_WITHIN: Duration = Duration::from_secs(20);

/// Waits until the mode is in force and proves it; nothing happens to an instance alone.
pub(super) fn establish(context: &mut RunContext<'_>, prepared: &PreparedRun) -> Result<(), Error> {
    let Some(asked) = &prepared.replication else { return Ok(()) };
    let begun = context.agents.now();
    wait_until_in_force(context, &prepared.deployment, asked)?;
    let seconds = context.agents.now().since(begun).as_secs_f64();
    measure_links(context, prepared)?;
    let unheld = commits(context, prepared, ENDS_WITHIN)?;
    if !unheld {
        return Err(unproved(
            asked,
            &format!("a commit had not finished after {ENDS_WITHIN:?} although nothing was held"),
        ));
    }
    let waited_for_apply = withhold(context, prepared, asked, HeldPart::Apply)?;
    let waited_for_link = withhold(context, prepared, asked, HeldPart::Link)?;
    wait_until_in_force(context, &prepared.deployment, asked)?;
    let mode = asked.mode;
    context.heard.journal.event(RunEvent::ReplicationProved(ReplicationProof {
        mode,
        in_force_after: seconds,
        waited_for_link,
        waited_for_apply,
    }))
}

/// Waits until the mode is in force at an existing server, of which nothing is withheld; nothing happens to a study that asks for none.
pub(super) fn establish_existing(context: &mut RunContext<'_>, prepared: &PreparedRun) -> Result<(), Error> {
    let Some(asked) = &prepared.replication else { return Ok(()) };
    context.testbed(prepared).watch_existing(asked.clone())?;
    wait_until_in_force(context, &prepared.deployment, asked)?;
    let mode = asked.mode.to_string();
    let source = "the server's own views and a separate connection; nothing was withheld";
    context.heard.journal.facts(&[replication::MODE.compared(mode.clone(), Some(mode), true, source)])
}

/// Measures the network that was asked for, and notes what was found.
fn measure_links(context: &mut RunContext<'_>, prepared: &PreparedRun) -> Result<(), Error> {
    let Some(link) = link(&prepared.settings) else { return Ok(()) };
    let facts = link_check::checked(link, "the relay", |count| context.testbed(prepared).measure_links(count))?;
    context.heard.journal.facts(&facts)
}

/// Waits until a mode is in force at the primary of a deployment.
pub(super) fn wait_until_in_force(
    context: &mut RunContext<'_>,
    deployment: &Deployment,
    asked: &ReplicationAsked,
) -> Result<(), Error> {
    let begun = context.agents.now();
    loop {
        // A server that has just started beside a busy disk may not answer in time; it is asked again.
        let why = match context.testbed_of(deployment).read_replication() {
            Ok(seen) if seen.out_of_force.is_none() => return Ok(()),
            Ok(seen) => seen.out_of_force.unwrap_or_default(),
            Err(error) => error.to_string(),
        };
        context.expect_no_trouble()?;
        if context.agents.now().since(begun) > IN_FORCE_WITHIN {
            return Err(unproved(asked, &format!("{why}, {IN_FORCE_WITHIN:?} after all instances were started")));
        }
        context.agents.hear(GLANCE, &mut context.heard)?;
    }
}

/// Holds a part of what all standbys do, commits, and lets them go on; tells whether the commit waited, which must fit the mode.
fn withhold(
    context: &mut RunContext<'_>,
    prepared: &PreparedRun,
    asked: &ReplicationAsked,
    part: HeldPart,
) -> Result<bool, Error> {
    // A commit that need not wait may take long beside a busy disk.
    let within = if should_wait(asked.mode, part) { WAITS_AFTER } else { ENDS_WITHIN };
    let held = context.testbed(prepared).hold_standbys(part, true);
    let ended = held.and_then(|()| commits(context, prepared, within));
    // Also when something failed: nothing stays held.
    context.testbed(prepared).hold_standbys(part, false)?;
    let waited = !ended?;
    let what = match part {
        HeldPart::Link => "standbys received no log",
        HeldPart::Apply => "standbys applied no log",
    };
    if waited && !context.testbed(prepared).end_commit(ENDS_WITHIN)? {
        return Err(unproved(
            asked,
            &format!("a commit that waited while {what} had not finished {ENDS_WITHIN:?} later"),
        ));
    }
    match (waited, should_wait(asked.mode, part)) {
        (true, false) => Err(unproved(asked, &format!("a commit waited while {what}"))),
        (false, true) => Err(unproved(asked, &format!("a commit finished while {what}"))),
        _ => Ok(waited),
    }
}

/// Whether a commit waits while a part is held.
fn should_wait(mode: ReplicationMode, held: HeldPart) -> bool {
    match held {
        HeldPart::Link => mode.waits(),
        HeldPart::Apply => mode == ReplicationMode::RemoteApply,
    }
}

fn commits(context: &mut RunContext<'_>, prepared: &PreparedRun, within: Duration) -> Result<bool, Error> {
    context.testbed(prepared).begin_commit(within)
}

fn unproved(asked: &ReplicationAsked, why: &str) -> Error {
    Error::verification(format!("replication.mode {} is not in force: {why}", asked.mode))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_waits_for_what_its_mode_says() {
        let waits: Vec<[bool; 2]> = ["async", "remote_write", "remote_flush", "remote_apply"]
            .map(|word| ReplicationMode::of(word).expect("a mode"))
            .iter()
            .map(|mode| [HeldPart::Link, HeldPart::Apply].map(|part| should_wait(*mode, part)))
            .collect();
        assert_eq!(waits, [[false, false], [true, false], [true, false], [true, true]]);
    }
}
