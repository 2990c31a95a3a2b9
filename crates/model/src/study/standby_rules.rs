//! What the standbys of an engine can do of what a study asks for, beside its modes.

use super::contradictions::RuleContext;
use crate::catalogue::{EngineFacts, ReplicationFacts};
use crate::drill::{Rejoin, drill};
use crate::network::{NETWORK, is_in_namespaces};
use crate::plan::expand;
use crate::replication::replication;
use crate::settings::{Settings, setting};
use crate::standby_hosts::STANDBY_HOSTS;
use std::collections::BTreeSet;

/// Standbys that Proofload starts confirm, follow, move and come back as their engine can.
pub(super) fn standbys_can(look: &mut RuleContext<'_>) {
    let settings = &look.study.settings;
    if settings.get(setting::ENGINE_URL).is_some() {
        return;
    }
    let mut found: BTreeSet<(&str, String)> = BTreeSet::new();
    for settings in expand(look.study).points.iter().map(|point| settings.with(&point.levels)) {
        let engine = settings.text(setting::ENGINE_KIND).ok().and_then(|name| look.given.catalogue().engine(name));
        let known = engine.and_then(|engine| Some((engine, engine.capabilities.replication?)));
        if let Some((engine, facts)) = known.filter(|(_, facts)| !facts.modes.is_empty()) {
            found.extend(missing(&settings, engine, &facts));
        }
    }
    for (path, reason) in found {
        look.fault(path, reason);
    }
}

/// What a point asks of the standbys of an engine that they do not do.
fn missing(settings: &Settings, engine: &EngineFacts, facts: &ReplicationFacts) -> Vec<(&'static str, String)> {
    let Ok(Some(asked)) = replication(settings) else { return Vec::new() };
    let (name, extent) = (engine.name, facts.extent);
    let mut missing = Vec::new();
    if asked.mode.waits() && !facts.confirmations.contains(&asked.confirmation) {
        let has: Vec<String> = facts.confirmations.iter().map(ToString::to_string).collect();
        missing.push(("replication.confirm", format!("{name} has {} only; use that", has.join(", "))));
    }
    if !extent.hosts && (is_in_namespaces(settings) || !settings.list(STANDBY_HOSTS).is_empty()) {
        let path = if is_in_namespaces(settings) { NETWORK } else { STANDBY_HOSTS };
        missing.push((path, format!("standbys of {name} run beside their primary; remove it")));
    }
    let Ok(Some(drill)) = drill(settings) else { return missing };
    if !extent.rejoins && drill.rejoin == Rejoin::Rewind {
        missing.push(("drill.rejoin", format!("{name} cannot put a failed primary back; use \"restore\"")));
    }
    missing
}
