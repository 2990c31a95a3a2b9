//! What a failover manager needs of the rest of a study, and what only a manager can do.

use super::contradictions::RuleContext;
use crate::catalogue::EngineFacts;
use crate::drill::{FaultAsked, FaultTarget, drill};
use crate::manager::{MANAGER_SETTINGS, ManagerAsked, manager};
use crate::plan::expand;
use crate::replication::{link, replication};
use crate::settings::{Settings, setting};
use std::collections::BTreeSet;

/// A manager runs an engine that it knows, with one standby and no relay; faults of managers need one.
pub(super) fn manager_needs(look: &mut RuleContext<'_>) {
    let points = expand(look.study).points;
    let mut found: BTreeSet<(String, String)> = BTreeSet::new();
    let mut managed = false;
    for settings in points.iter().map(|point| look.study.settings.with(&point.levels)) {
        let asked = manager(&settings).ok().flatten();
        managed |= asked.is_some();
        let faults = match &asked {
            None => by_hand(&settings).into_iter().collect(),
            Some(asked) => {
                let engine =
                    settings.text(setting::ENGINE_KIND).ok().and_then(|name| look.given.catalogue().engine(name));
                let unknown = engine.and_then(|engine| unknown_to(engine, asked));
                unknown.into_iter().chain(missing(&settings, asked)).collect::<Vec<_>>()
            }
        };
        found.extend(faults.into_iter().map(|(path, reason)| (path.to_owned(), reason)));
    }
    let own: Vec<String> = look.given_paths().into_iter().filter(|path| path.starts_with(MANAGER_SETTINGS)).collect();
    if !managed {
        let reason = "only used with a failover manager; set replication.manager too, or remove it";
        found.extend(own.into_iter().map(|path| (path, reason.to_owned())));
    }
    for (path, reason) in found {
        look.fault(&path, reason);
    }
}

/// A drill that nobody but a manager can do.
fn by_hand(settings: &Settings) -> Option<(&'static str, String)> {
    // Existing servers may do it by their own command, or are refused for another reason.
    let by_servers = |fault: &FaultAsked| settings.get(setting::ENGINE_URL).is_some() && fault.is_a_failover();
    let alone = |fault: &FaultAsked| fault.needs_a_manager() && !by_servers(fault);
    let fault = drill(settings).ok().flatten()?.fault.filter(alone)?;
    Some((
        setting::DRILL_FAULT,
        format!(
            "{fault:?} needs a failover manager: set replication.manager; without one, use \"stop primary\"",
            fault = fault.to_string()
        ),
    ))
}

fn unknown_to(engine: &EngineFacts, asked: &ManagerAsked) -> Option<(&'static str, String)> {
    let known = engine.capabilities.replication.map_or(&[][..], |replication| replication.managers);
    (!known.contains(&asked.kind))
        .then(|| ("replication.manager", format!("{} does not support {}; use \"by-hand\"", asked.kind, engine.name)))
}

fn missing(settings: &Settings, asked: &ManagerAsked) -> Vec<(&'static str, String)> {
    let mut missing = Vec::new();
    let mut need = |holds: bool, path: &'static str, reason: &str| {
        if !holds {
            missing.push((path, format!("{} {reason}", asked.kind)));
        }
    };
    let Ok(Some(replicated)) = replication(settings) else {
        need(false, "replication.manager", "needs a standby: set replication.mode to something other than \"none\"");
        return missing;
    };
    need(
        settings.get(setting::ENGINE_URL).is_none(),
        "replication.manager",
        "works only with instances that Proofload starts; remove engine.url",
    );
    need(replicated.standbys.len() == 1, "replication.standbys", "must be 1 with a failover manager");
    need(
        link(settings).is_none(),
        setting::REPLICATION_RTT,
        "connects its instances itself, without a relay; remove replication.rtt and replication.bandwidth",
    );
    let ends_the_standby = |fault: FaultAsked| fault.target == FaultTarget::Standby && fault.kind.ends_the_server();
    let fault = drill(settings).ok().flatten().and_then(|asked| asked.fault);
    need(
        !fault.is_some_and(ends_the_standby),
        setting::DRILL_FAULT,
        "is not possible on a standby that a failover manager runs; use \"freeze standby-1\"",
    );
    need(
        settings.get(setting::DRILL_PROMOTE_AFTER).is_none(),
        setting::DRILL_PROMOTE_AFTER,
        "detects failures itself; remove it",
    );
    missing
}
