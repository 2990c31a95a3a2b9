//! What a study may do but had better not: remarks, never faults.

use super::validate::Study;
use crate::drill::{DrillAsked, FaultKind, drill};
use crate::manager::{ManagerKind, manager};
use crate::plan::expand;
use crate::replication::replication;
use crate::settings::{Settings, setting};
use std::collections::BTreeSet;

/// Warehouses for each virtual user below which a study of replication shows users that wait for each other's rows. Row locks are held
/// through the wait for a standby. Ours; the published study had 26.
pub const FEWEST_WAREHOUSES_FOR_A_USER: u32 = 4;

/// Warehouses and virtual users of a point whose users wait for each other's rows; `None` for a load at a rate, whose throughput does not
/// follow from it, and where no commit waits for a standby.
pub fn too_few_warehouses(settings: &Settings) -> Option<(u32, u32)> {
    replication(settings).ok().flatten().filter(|asked| asked.mode.waits())?;
    let warehouses = settings.count(setting::WORKLOAD_WAREHOUSES).ok()?;
    let users = settings.count(setting::WORKLOAD_VIRTUAL_USERS).ok()?;
    let saturated = settings.get(setting::WORKLOAD_RATE).is_none();
    (saturated && warehouses < FEWEST_WAREHOUSES_FOR_A_USER.saturating_mul(users)).then_some((warehouses, users))
}

/// Failover manager and fault of a point whose drills do not draw when in the manager's period they fail a node: a crash or a freeze, which
/// the manager only finds out by looking.
fn without_phase(settings: &Settings) -> Option<(ManagerKind, String)> {
    let kind = manager(settings).ok().flatten()?.kind;
    let DrillAsked { fault, phase, .. } = drill(settings).ok().flatten()?;
    let fault = fault.filter(|fault| matches!(fault.kind, FaultKind::Crash | FaultKind::Freeze))?;
    phase.is_zero().then(|| (kind, fault.to_string()))
}

/// Setting of a manager that says how often it looks at its nodes, and its default. Source: the documents of Patroni ("Dynamic
/// configuration settings") and of pg_auto_failover ("Configuration settings").
fn period(manager: ManagerKind) -> (&'static str, &'static str) {
    match manager {
        ManagerKind::Patroni => ("loop_wait", "10 s"),
        ManagerKind::PgAutoFailover => ("health_check_period", "5 s"),
    }
}

/// Remarks on a study, each once.
pub fn advice(study: &Study) -> Vec<String> {
    let points: Vec<Settings> = expand(study).points.iter().map(|point| study.settings.with(&point.levels)).collect();
    let few: BTreeSet<(u32, u32)> = points.iter().filter_map(too_few_warehouses).collect();
    let few = few.into_iter().map(|(warehouses, users)| {
        format!(
            "workload.warehouses = {warehouses} with workload.virtual_users = {users} under a mode that waits for a \
             standby: row locks are held during the wait, so users wait for each other; use \
             {FEWEST_WAREHOUSES_FOR_A_USER} warehouses for each user, that is {} or more",
            u64::from(FEWEST_WAREHOUSES_FOR_A_USER) * u64::from(users)
        )
    });
    let unphased: BTreeSet<(ManagerKind, String)> = points.iter().filter_map(without_phase).collect();
    let unphased = unphased.into_iter().map(|(manager, fault)| {
        let (setting, default) = period(manager);
        format!(
            "drill.fault = \"{fault}\" with {manager} and no drill.phase: the outage depends on when {manager} last \
             looked at the node, and that is not varied; set drill.phase to its {setting} (by default {default}) or more"
        )
    });
    few.chain(unphased).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Value;
    use std::time::Duration;

    fn found(given: &[(&str, &str)], phase: Option<u64>) -> Option<(ManagerKind, String)> {
        let words = given.iter().map(|(path, word)| ((*path).to_owned(), Value::Text((*word).to_owned())));
        let phase = phase.map(|seconds| ("drill.phase".to_owned(), Value::Duration(Duration::from_secs(seconds))));
        without_phase(&Settings(words.chain(phase).collect()))
    }

    #[test]
    fn a_crash_under_a_manager_wants_a_phase() {
        let with = |fault| [("drill.fault", fault), ("replication.manager", "patroni")];
        let crash = Some((ManagerKind::Patroni, "crash primary".to_owned()));
        assert_eq!([None, Some(0)].map(|phase| found(&with("crash primary"), phase)), [crash.clone(), crash]);
        assert_eq!(found(&with("crash primary"), Some(2)), None);
        assert!(found(&with("freeze primary"), None).is_some());
        assert_eq!(found(&with("switchover"), None), None, "an order, which nobody has to find out");
        assert_eq!(found(&[("drill.fault", "crash primary")], None), None, "nobody looks");
    }
}
