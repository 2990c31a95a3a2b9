//! What limits between users and database need of the rest of a study, and what experiments may change of a database.

use super::contradictions::RuleContext;
use crate::intervention::{CLIENTS_BANDWIDTH, CLIENTS_CPU, CLIENTS_RTT, ENGINE, LIVE_ENGINE, clients_elsewhere};
use std::collections::BTreeSet;

/// A load generator that is limited is a process of its own on this machine; a relay for users needs a server of ours whose protocol can be
/// relayed, and one way to it.
pub(super) fn clients_need(look: &mut RuleContext<'_>) {
    let given = look.given_paths();
    let engines = look.engines();
    let mut found: BTreeSet<(&str, String)> = BTreeSet::new();
    if given.contains(CLIENTS_CPU) {
        if let Some(why) = clients_elsewhere(&look.study.settings) {
            found.insert((CLIENTS_CPU, format!("limits a process of this machine, but {why}; remove one of both")));
        }
        for engine in engines.iter().filter(|engine| engine.capabilities.embedded) {
            let reason = format!("{} runs in the process of the load generator; use limits.cpu", engine.name);
            found.insert((CLIENTS_CPU, reason));
        }
    }
    for path in [CLIENTS_RTT, CLIENTS_BANDWIDTH].into_iter().filter(|path| given.contains(*path)) {
        for engine in
            engines.iter().filter(|engine| engine.capabilities.replication.is_none_or(|facts| facts.modes.is_empty()))
        {
            found.insert((path, format!("no relay of ours speaks for {}; remove it", engine.name)));
        }
        for other in ["engine.url", "drill.fault", "replication.manager", "replication.network", "agents.address"] {
            if given.contains(other) {
                found.insert((path, format!("does not go together with {other}; remove one of both")));
            }
        }
    }
    for (path, reason) in found {
        look.fault(path, reason);
    }
}

/// What experiments change of a database is one of what there is.
pub(super) fn confirm_engine_known(look: &mut RuleContext<'_>) {
    let is_known =
        |word: &&String| LIVE_ENGINE.iter().any(|(name, _)| name.strip_prefix(ENGINE) == Some(word.as_str()));
    let unknown: Vec<String> =
        look.study.settings.list("confirm.engine").iter().filter(|word| !is_known(word)).cloned().collect();
    let known: Vec<&str> = LIVE_ENGINE.iter().filter_map(|(name, _)| name.strip_prefix(ENGINE)).collect();
    for word in unknown {
        look.fault("confirm.engine", format!("{word:?} is none of {}", known.join(", ")));
    }
}
