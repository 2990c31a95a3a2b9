//! What limits between users and database need of the rest of a study, and what experiments may change of a database.

use super::contradictions::RuleContext;
use super::fault::nearest;
use crate::catalogue::EngineFacts;
use crate::intervention::{CLIENTS_BANDWIDTH, CLIENTS_CPU, CLIENTS_RTT, ENGINE, LIVE_ENGINE, clients_elsewhere};
use crate::settings::setting;
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
        for other in
            [setting::ENGINE_URL, setting::DRILL_FAULT, "replication.manager", "replication.network", "agents.address"]
        {
            if given.contains(other) {
                found.insert((path, format!("does not go together with {other}; remove one of both")));
            }
        }
    }
    for (path, reason) in found {
        look.fault(path, reason);
    }
}

/// What experiments change of a database is something that an engine of the study lets them change.
pub(super) fn confirm_engine_has(look: &mut RuleContext<'_>) {
    let (asked, engines) = (look.study.settings.list("confirm.engine").to_vec(), look.engines());
    let known = words_of(|_| true);
    for word in asked {
        if !known.contains(&word.as_str()) {
            let reason = format!("{word:?} is none of {}", known.join(", "));
            look.fault_near("confirm.engine", reason, nearest(&word, known.iter().copied()));
        } else if !engines.is_empty() && !engines.iter().any(|engine| live_words(engine).contains(&word.as_str())) {
            let has: Vec<String> = engines.iter().map(live_text).collect();
            look.fault("confirm.engine", format!("{word:?} cannot be changed while it runs: {}", has.join("; ")));
        }
    }
}

/// Words of the resources whose place in the list of all has something.
fn words_of(has: impl Fn(usize) -> bool) -> Vec<&'static str> {
    let chosen = LIVE_ENGINE.iter().enumerate().filter(|(place, _)| has(*place));
    chosen.filter_map(|(_, (name, _))| name.strip_prefix(ENGINE)).collect()
}

fn live_words(engine: &EngineFacts) -> Vec<&'static str> {
    words_of(|place| engine.live[place])
}

/// What experiments can change of an engine, as a fragment.
fn live_text(engine: &EngineFacts) -> String {
    match live_words(engine)[..] {
        [] => format!("{} has nothing that can, so remove it", engine.name),
        ref words => format!("of {} only {} can", engine.name, words.join(", ")),
    }
}
