//! Replication before the load: waits until standbys follow, then proves the mode by withholding what a commit should wait for. May not
//! know an engine.

use super::link_check;
use super::preparation::PreparedRun;
use super::run_context::RunContext;
use super::seeding;
use proofload_model::deployment::{Deployment, InstanceName};
use proofload_model::error::Error;
use proofload_model::events::{ReplicationProof, RunEvent};
use proofload_model::facts::replication;
use proofload_model::replication::{Confirmation, HeldPart, ReplicationAsked, ReplicationMode, link};
use proofload_model::wire::host;
use std::time::Duration;

/// How long standbys may take until the mode is in force.
const IN_FORCE_WITHIN: Duration = Duration::from_secs(60);

const GLANCE: Duration = Duration::from_millis(20);

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
    let holds = holds(asked);
    let mut seen = Vec::new();
    for hold in &holds {
        seen.extend(withhold(context, prepared, asked, hold)?);
    }
    wait_until_in_force(context, &prepared.deployment, asked)?;
    let waited = |part| holds.iter().any(|hold| hold.part == part && hold.waits);
    context.heard.journal.event(RunEvent::ReplicationProved(ReplicationProof {
        mode: asked.mode,
        in_force_after: seconds,
        waited_for_link: waited(HeldPart::Link),
        waited_for_apply: waited(HeldPart::Apply),
        seen_waiting: (!seen.is_empty()).then(|| seen.iter().all(|seen| *seen)),
        count_proved: asked.mode.waits() && asked.standbys.len() > 1,
    }))
}

/// Waits until the mode is in force at an existing server, of which nothing is withheld; nothing happens to a study that asks for none.
pub(super) fn establish_existing(context: &mut RunContext<'_>, prepared: &PreparedRun) -> Result<(), Error> {
    let Some(asked) = &prepared.replication else { return Ok(()) };
    context.testbed(prepared).watch_existing(asked.clone())?;
    seeding::wait(context, prepared)?;
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

/// Standbys of which a part is held, and whether a commit must wait meanwhile.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Hold {
    part: HeldPart,
    names: Vec<InstanceName>,
    waits: bool,
}

impl Hold {
    /// What is held, in words.
    fn what(&self) -> String {
        let names: Vec<&str> = self.names.iter().map(InstanceName::as_str).collect();
        let part = match self.part {
            HeldPart::Link => "received",
            HeldPart::Apply => "applied",
        };
        format!("{} {part} no log", names.join(", "))
    }
}

/// Holds that prove a mode and how many standbys must confirm. Of `any n`: with just n left a commit ends, with one less it waits. Of
/// `first n`: it ends without those behind the first n, and waits for the last of these alone. All are held where it must never wait.
fn holds(asked: &ReplicationAsked) -> Vec<Hold> {
    let (all, count) = (&asked.standbys, asked.confirmation.count() as usize);
    let left = all.len().saturating_sub(count);
    let sets = match asked.confirmation {
        Confirmation::Any(_) => [(&all[all.len() - left..], false), (&all[..(left + 1).min(all.len())], true)],
        Confirmation::First(_) => {
            let first = count.min(all.len());
            [(&all[first..], false), (&all[first.saturating_sub(1)..first], true)]
        }
    };
    let mut holds = Vec::new();
    for part in [HeldPart::Apply, HeldPart::Link] {
        if should_wait(asked.mode, part) {
            let held = sets.iter().filter(|(names, _)| !names.is_empty());
            holds.extend(held.map(|(names, waits)| Hold { part, names: names.to_vec(), waits: *waits }));
        } else {
            holds.push(Hold { part, names: all.clone(), waits: false });
        }
    }
    holds
}

/// Holds a part of what standbys do, commits, and lets them go on; the commit must wait or end as the hold says. Tells whether the server
/// listed one that waited as one that waits for a standby; nothing where none waited, and where the engine cannot tell.
fn withhold(
    context: &mut RunContext<'_>,
    prepared: &PreparedRun,
    asked: &ReplicationAsked,
    hold: &Hold,
) -> Result<Option<bool>, Error> {
    // A commit that need not wait may take long beside a busy disk.
    let within = if hold.waits { WAITS_AFTER } else { ENDS_WITHIN };
    let held = context.testbed(prepared).hold_standbys(&hold.names, hold.part, true);
    let ended = held.and_then(|()| commits(context, prepared, within));
    let found = match ended {
        Ok(false) if hold.waits => look_at_wait(context, prepared),
        ended => ended.map(|ended| (ended, None)),
    };
    // Also when something failed: nothing stays held.
    context.testbed(prepared).hold_standbys(&hold.names, hold.part, false)?;
    let (ended, seen) = found?;
    let what = hold.what();
    if !ended && !context.testbed(prepared).end_commit(ENDS_WITHIN)? {
        return Err(unproved(
            asked,
            &format!("a commit that waited while {what} had not finished {ENDS_WITHIN:?} later"),
        ));
    }
    match (ended, hold.waits) {
        (false, false) => Err(unproved(asked, &format!("a commit waited while {what}"))),
        (true, true) => Err(unproved(asked, &format!("a commit finished while {what}"))),
        _ if seen == Some(false) => Err(unproved(
            asked,
            &format!(
                "a commit did not finish within {ENDS_WITHIN:?} while {what}, but the server did not list it as waiting \
                 for a standby; is the disk busy?"
            ),
        )),
        _ => Ok(seen),
    }
}

/// Looks at a commit that has not ended until the server lists it as one that waits for a standby, it ends, or the time is up: a busy
/// disk makes a commit long, too. Tells whether it ended and whether it was listed; nothing of the latter where the engine cannot tell.
fn look_at_wait(context: &mut RunContext<'_>, prepared: &PreparedRun) -> Result<(bool, Option<bool>), Error> {
    let until = context.agents.now() + ENDS_WITHIN;
    loop {
        let mut testbed = context.testbed(prepared);
        let primary = testbed.primary();
        let seen = testbed.ask(primary, host::SeeCommitWait { instance: primary.name.clone() })?;
        if seen != Some(false) {
            return Ok((false, seen));
        }
        if testbed.end_commit(GLANCE)? {
            return Ok((true, None));
        }
        if context.agents.now() > until {
            return Ok((false, seen));
        }
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

    #[test]
    fn as_many_standbys_are_held_as_tell_how_many_must_confirm() {
        let names = |numbers: &[u32]| numbers.iter().copied().map(InstanceName::standby).collect::<Vec<_>>();
        let check =
            |mode: &str, count: u32, confirmation: Confirmation, part: HeldPart, expected: &[(&[u32], bool)]| {
                let standbys = (1..=count).map(InstanceName::standby).collect();
                let mode = ReplicationMode::of(mode).expect("a mode");
                let found = holds(&ReplicationAsked { mode, standbys, confirmation, presented_as: Vec::new() });
                let found: Vec<_> = found.into_iter().filter(|hold| hold.part == part).collect();
                let expected: Vec<_> =
                    expected.iter().map(|(held, waits)| Hold { part, names: names(held), waits: *waits }).collect();
                assert_eq!(found, expected, "{mode}, {confirmation} of {count}");
            };
        let link = HeldPart::Link;
        check("remote_flush", 1, Confirmation::Any(1), link, &[(&[1], true)]);
        check("remote_flush", 1, Confirmation::First(1), link, &[(&[1], true)]);
        check("remote_flush", 3, Confirmation::Any(1), link, &[(&[2, 3], false), (&[1, 2, 3], true)]);
        check("remote_flush", 3, Confirmation::Any(2), link, &[(&[3], false), (&[1, 2], true)]);
        check("remote_flush", 2, Confirmation::Any(2), link, &[(&[1], true)]);
        check("remote_flush", 3, Confirmation::First(1), link, &[(&[2, 3], false), (&[1], true)]);
        check("remote_flush", 3, Confirmation::First(2), link, &[(&[3], false), (&[2], true)]);
        check("remote_flush", 3, Confirmation::First(2), HeldPart::Apply, &[(&[1, 2, 3], false)]);
        check("remote_apply", 2, Confirmation::Any(1), HeldPart::Apply, &[(&[2], false), (&[1, 2], true)]);
        check("async", 2, Confirmation::Any(1), link, &[(&[1, 2], false)]);
    }
}
