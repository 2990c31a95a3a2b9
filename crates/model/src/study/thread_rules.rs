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
        if let Some(near) = nearest(&role, engine.thread_roles.iter().copied()) {
            look.fault_near(THREAD, format!("{} is not known to have a role {role:?}", engine.name), Some(near));
        }
    }
}
