//! Snapshots of standbys on hosts of their own: each is a copy of the primary that streamed until both were stopped, so that all end at one
//! place of the log. From then on each instance is restored on its own host. May not know how an engine copies.

use super::preparation::PreparedRun;
use super::replication::wait_until_in_force;
use super::run_context::RunContext;
use crate::live::Phase;
use proofload_model::deployment::{Deployment, InstanceName, InstancePlan};
use proofload_model::error::Error;
use proofload_model::replication::{Confirmation, ReplicationAsked, ReplicationMode, ReplicationPart};
use proofload_model::wire::LimitsAsked;
use proofload_model::wire::host::DataEnd;
use std::time::Duration;

/// How long standbys may take to apply the last of the log.
const APPLIED_WITHIN: Duration = Duration::from_secs(60);
const GLANCE: Duration = Duration::from_millis(50);

/// Makes sure that every host has its snapshot, and that all end at one place.
pub(super) fn ensure(context: &mut RunContext<'_>, prepared: &PreparedRun) -> Result<(), Error> {
    let Some(apart) = &prepared.apart else { return Ok(()) };
    if context.testbed_of(apart).has_snapshots(&prepared.label)? {
        let ends = context.testbed_of(apart).data_ends(true)?;
        if differing(&ends).is_none() {
            return Ok(());
        }
    }
    make(context, prepared, apart)
        .map_err(|error| error.context("failed to create the snapshots of standbys on other hosts"))
}

/// Starts the primary from its snapshot, copies it to each host, lets the copies follow, stops all, the primary first, and keeps all.
fn make(context: &mut RunContext<'_>, prepared: &PreparedRun, apart: &Deployment) -> Result<(), Error> {
    context.heard.view.phase(Phase::Restoring);
    let names = apart.standbys().map(|standby| standby.name.clone()).collect();
    let (mode, confirmation) = (ReplicationMode::Async, Confirmation::Any(1));
    let asked = ReplicationAsked { mode, standbys: names, confirmation, presented_as: Vec::new() };
    let facet = prepared.engine.replication().ok_or_else(|| Error::refused("the engine has no standbys"))?;
    let mut place = prepared.building_place();
    place.settings.extend(facet.primary_settings(&asked));
    let place_of = |instance: &InstancePlan| {
        let mut own = place.clone();
        own.folder.clone_from(&instance.place.folder);
        own
    };
    context.primary_alone(prepared).restore(|primary| primary.place.folder.clone(), true)?;
    context.primary_alone(prepared).prepare_to_build()?;
    let primary = context
        .primary_alone(prepared)
        .start(None, |instance, _| (place_of(instance), ReplicationPart::Primary(asked.clone())))?;
    let from = primary.addresses.first().ok_or_else(|| Error::new("the primary reported no address"))?;
    context.heard.view.progress("copying the data to the hosts of standbys", None);
    let mut testbed = context.testbed_of(apart);
    testbed.copy_to_standbys(from)?;
    testbed.prepare_standbys(LimitsAsked::default())?;
    testbed.start_standbys(from, place_of)?;
    wait_until_in_force(context, apart, &asked)?;
    // A primary that ends waits until its standbys have the last of its log, which says that it was stopped.
    context.testbed_of(apart).stop_primary()?;
    let begun = context.agents.now();
    while !context.testbed_of(apart).have_applied_all()? {
        context.expect_no_trouble()?;
        if context.agents.now().since(begun) > APPLIED_WITHIN {
            return Err(Error::new(format!(
                "a standby had not applied all of the log {APPLIED_WITHIN:?} after the primary's end"
            )));
        }
        context.agents.hear(GLANCE, &mut context.heard)?;
    }
    context.testbed_of(apart).stop_standbys()?;
    let ends = context.testbed_of(apart).data_ends(false)?;
    if let Some(why) = differing(&ends) {
        return Err(Error::verification(why));
    }
    context.heard.view.progress("saving the snapshots", None);
    context.testbed_of(apart).save(&prepared.label)
}

/// Why the data are no copies of one state; `None` where they are.
fn differing(ends: &[(InstanceName, DataEnd)]) -> Option<String> {
    let ((_, first), others) = ends.split_first()?;
    let (name, other) = others.iter().find(|(_, end)| end != first)?;
    Some(format!(
        "{name} ends at {} of database {}, and the primary at {} of database {}: a standby could not follow from there",
        other.checkpoint, other.system, first.checkpoint, first.system
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_that_end_elsewhere_are_told() {
        let end =
            |system: &str, checkpoint: &str| DataEnd { system: system.to_owned(), checkpoint: checkpoint.to_owned() };
        let all = |other: DataEnd| [(InstanceName::primary(), end("1", "0/28")), (InstanceName::standby(1), other)];
        assert_eq!(differing(&all(end("1", "0/28"))), None);
        assert!(differing(&all(end("1", "0/29"))).is_some_and(|why| why.contains("standby-1 ends at 0/29")));
        assert!(differing(&all(end("2", "0/28"))).is_some_and(|why| why.contains("database 2")));
        assert_eq!(differing(&[]), None);
    }
}
