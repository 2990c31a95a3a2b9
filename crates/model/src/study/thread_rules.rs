//! What a limit of one role of a database needs of the rest of a study.

use super::contradictions::RuleContext;
use super::factor::values_of;
use super::fault::nearest;
use super::typed::{THREAD, THREAD_ON, limits_standby_thread};
use crate::intervention::THREAD_CPU;
use crate::replication::ReplicationMode;
use crate::settings::setting;

/// A role and its CPU time are given together, of an engine whose server has roles; a role of standbys needs standbys.
pub(super) fn thread_limit_needs(look: &mut RuleContext<'_>) {
    let given = look.given_paths();
    let is_given = |path: &str| given.contains(path);
    let mut found: Vec<(&str, String)> = Vec::new();
    match (is_given(THREAD), is_given(THREAD_CPU)) {
        (true, false) => {
            found.push((THREAD, format!("needs the CPU time that the role may use; set {THREAD_CPU} too")))
        }
        (false, true) => {
            let reason = format!("needs the role that it limits, such as \"walsender\"; set {THREAD} too");
            found.push((THREAD_CPU, reason));
        }
        (false, false) if is_given(THREAD_ON) => {
            found.push((THREAD_ON, format!("only used with {THREAD}; set it too, or remove this")));
        }
        _ => {}
    }
    if is_given(THREAD) {
        for engine in look.engines().iter().filter(|engine| engine.capabilities.embedded) {
            let reason = format!("{} has no processes of its own; use limits.cpu", engine.name);
            found.push((THREAD, reason));
        }
        role_known(look);
    }
    let modes = values_of(setting::REPLICATION_MODE, &look.study.settings, &look.study.factors);
    let alone = modes.iter().all(|mode| mode.to_string() == ReplicationMode::None.word());
    if alone && limits_standby_thread(&look.study.settings) {
        found.push((THREAD_ON, "there are no standbys; set replication.mode too, or remove it".to_owned()));
    }
    for (path, reason) in found {
        look.fault(path, reason);
    }
}

/// A role is none that is probably a slip for one that the engine is known to have. Others are taken: extensions have roles of their own.
fn role_known(look: &mut RuleContext<'_>) {
    let Ok(role) = look.study.settings.text(THREAD).map(str::to_owned) else { return };
    for engine in look.engines().iter().filter(|engine| !engine.thread_roles.contains(&role.as_str())) {
        let alike = engine.thread_roles.iter().copied().filter(|known| is_spelled_alike(&role, known));
        if let Some(near) = nearest(&role, alike) {
            look.fault_near(THREAD, format!("{} is not known to have a role {role:?}", engine.name), Some(near));
        }
    }
}

/// Tells whether a role has as many words as a known one, each of them the same but for a quarter of its letters: a worker of another kind
/// has another word in its name.
fn is_spelled_alike(role: &str, known: &str) -> bool {
    let is_alike = |(word, known): (&str, &str)| {
        let slips = known.chars().count() / 4;
        // A distance takes time and memory by the product of the lengths, and is never less than their difference.
        word.chars().count().abs_diff(known.chars().count()) <= slips
            && strsim::damerau_levenshtein(&word.to_lowercase(), &known.to_lowercase()) <= slips
    };
    let (words, known) = (role.split_whitespace(), known.split_whitespace());
    words.clone().count() == known.clone().count() && words.zip(known).all(is_alike)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_of_another_kind_is_no_slip() {
        for (role, known) in [
            ("walsendr", "walsender"),
            ("binlogdump", "binlog_dump"),
            ("Walwriter", "walwriter"),
            ("autovacum worker", "autovacuum worker"),
            ("autovacuum laucnher", "autovacuum launcher"),
        ] {
            assert!(is_spelled_alike(role, known), "{role}");
        }
        for role in ["bg worker", "job worker", "cron worker", "wal writer", "role of an extension"] {
            for known in ["io worker", "walwriter", "background writer", "parallel worker", "slotsync worker"] {
                assert!(!is_spelled_alike(role, known), "{role}: {known}");
            }
        }
    }
}
