//! What a drill needs of the rest of a study.

use super::contradictions::RuleContext;
use crate::catalogue::EngineFacts;
use crate::drill::{DrillAsked, FaultAsked, FaultKind, FaultRecovery, FaultTarget, Rejoin, drill};
use crate::fault_strength::FaultStrength;
use crate::manager::manager;
use crate::network::is_in_namespaces;
use crate::plan::expand;
use crate::replication::{link, replication};
use crate::settings::{Settings, setting};
use std::collections::BTreeSet;

/// Settings that only a drill uses.
const OF_DRILLS: &[&str] = &[
    "drill.lasts",
    "drill.phase",
    setting::DRILL_PROMOTE_AFTER,
    "drill.recovery",
    "drill.rejoin",
    "drill.within",
    "prober.rate",
    "prober.calm_rate",
    "prober.deadline",
];

/// A drill needs instances of ours, users that give up, and data restored before each run.
pub(super) fn drill_needs(look: &mut RuleContext<'_>) {
    let points = expand(look.study).points;
    let mut found: BTreeSet<(&str, String)> = BTreeSet::new();
    let (mut drilled, mut replaced) = (false, false);
    let mut strengths = BTreeSet::new();
    for settings in points.iter().map(|point| look.study.settings.with(&point.levels)) {
        found.extend(strength(&settings, &mut strengths));
        let Ok(Some(asked)) = drill(&settings) else { continue };
        drilled = true;
        replaced |= asked.replaces_the_primary();
        found.extend(missing(&settings, &asked).into_iter().map(|(path, reason)| (path, reason.to_owned())));
        let engine = settings.text(setting::ENGINE_KIND).ok().and_then(|name| look.given.catalogue().engine(name));
        found.extend(at_url(&settings, &asked, engine).map(|(path, reason)| (path, reason.to_owned())));
        let is_ours = settings.get(setting::ENGINE_URL).is_none();
        if let Some(engine) = engine.filter(|engine| is_ours && !can_fail(engine)) {
            let reason =
                format!("{} has no server that Proofload starts and can let fail; use another engine", engine.name);
            found.insert((setting::DRILL_FAULT, reason));
        }
    }
    if drilled && !replaced && look.given.is_given("drill.rejoin") {
        let reason = "needs a fault after which the old primary can rejoin, and the study has none; remove it";
        found.insert(("drill.rejoin", reason.to_owned()));
    }
    let unused = OF_DRILLS.iter().filter(|path| !drilled && look.given.is_given(path));
    found.extend(unused.map(|path| (*path, "only used in drills; set drill.fault too, or remove it".to_owned())));
    for (path, kind) in FaultStrength::SETTINGS {
        if look.given.is_given(path) && !strengths.contains(path) {
            found.insert((path, format!("no fault of the study uses this strength ({}); remove it", kind_word(kind))));
        }
    }
    for (path, reason) in found {
        look.fault(path, reason);
    }
}

/// What is wrong with the strength of a point's fault; notes the settings that are used.
fn strength(settings: &Settings, used: &mut BTreeSet<&'static str>) -> Option<(&'static str, String)> {
    let fault = FaultAsked::of(settings.text(setting::DRILL_FAULT).ok()?)??;
    let paths: Vec<&'static str> = FaultStrength::settings(fault.kind).collect();
    used.extend(paths.iter().copied());
    let given: Vec<&'static str> = paths.iter().copied().filter(|path| settings.get(path).is_some()).collect();
    let path = given.first().or(paths.first()).copied()?;
    let reason = match FaultStrength::of(fault.kind, settings) {
        Err(_) if given.len() > 1 => format!("{fault} has one strength; remove {path} or {}", given[1]),
        Err(_) => format!("{fault} needs {}, its strength", paths.join(" or ")),
        Ok(strength) if !is_stronger(strength, settings) => {
            format!("{strength} is not a fault: the point already has this without it; use a stronger one")
        }
        Ok(_) => return None,
    };
    Some((path, reason))
}

/// Whether a fault is stronger than what holds all the time.
fn is_stronger(strength: FaultStrength, settings: &Settings) -> bool {
    let before = link(settings);
    match strength {
        FaultStrength::Whole => true,
        FaultStrength::Rtt(rtt) => before.is_none_or(|link| rtt > link.rtt),
        FaultStrength::Bandwidth(rate) => before.and_then(|link| link.bandwidth).is_none_or(|had| rate.0 < had.0),
        FaultStrength::WriteIops(rate) => {
            settings.count(setting::LIMITS_WRITE_IOPS).is_ok_and(|had| rate < had)
                || settings.get(setting::LIMITS_WRITE_IOPS).is_none()
        }
        FaultStrength::WriteBandwidth(rate) => {
            settings.bytes(setting::LIMITS_WRITE_BANDWIDTH).is_ok_and(|had| rate.0 < had.0)
                || settings.get(setting::LIMITS_WRITE_BANDWIDTH).is_none()
        }
    }
}

/// The words of a kind.
fn kind_word(kind: FaultKind) -> &'static str {
    match kind {
        FaultKind::Latency => "latency link-1",
        FaultKind::Bandwidth => "bandwidth link-1",
        _ => "slow disk",
    }
}

/// Whether a fault of a link takes a device of ours down.
fn is_cut(settings: &Settings, fault: FaultAsked) -> bool {
    fault.kind == FaultKind::Partition && is_in_namespaces(settings)
}

fn missing(settings: &Settings, asked: &DrillAsked) -> Vec<(&'static str, &'static str)> {
    let mut missing = Vec::new();
    let mut need = |holds: bool, path: &'static str, reason: &'static str| {
        if !holds {
            missing.push((path, reason));
        }
    };
    need(
        settings.get(setting::WORKLOAD_DEADLINE).is_some(),
        setting::DRILL_FAULT,
        "a drill needs workload.deadline, such as \"1s\": without it users wait forever for a host that does not \
         answer",
    );
    need(
        settings.get(setting::SEARCH_SETTING).is_none(),
        setting::DRILL_FAULT,
        "a search compares loads, not faults; remove the search or the drill",
    );
    need(
        settings.get("agents.load_hosts").is_none(),
        setting::DRILL_FAULT,
        "the prober works with one load agent only; remove agents.load_hosts",
    );
    need(
        settings.duration(setting::PROCEDURE_QUIET_SECONDS).is_err()
            && settings.count(setting::PROCEDURE_QUIET_SECONDS).unwrap_or(0) == 0,
        setting::PROCEDURE_QUIET_SECONDS,
        "a drill's measured window has a fixed length; remove it",
    );
    need(
        asked.fault.is_none_or(|fault| fault.target != FaultTarget::Link || is_cut(settings, fault))
            || link(settings).is_some(),
        setting::DRILL_FAULT,
        "faults of a link need a relay: set replication.rtt (\"0s\" adds no delay) or replication.bandwidth",
    );
    need(
        asked.fault.is_none_or(|fault| fault.kind != FaultKind::FullDisk)
            || settings.get(setting::STORAGE_VOLUME).is_some(),
        setting::DRILL_FAULT,
        "a full disk needs a volume made for the study: set storage.volume, such as \"4GiB\"; the system's file system \
         is never filled",
    );
    need(
        asked.fault.is_none_or(|fault| fault.target != FaultTarget::Clients)
            || (manager(settings).ok().flatten().is_none()
                && [setting::AGENTS_LOAD, "agents.standby_hosts"].iter().all(|path| settings.get(path).is_none())),
        setting::DRILL_FAULT,
        "this fault needs users and primary on this host and promotion by hand; remove agents.load, \
         agents.standby_hosts and replication.manager",
    );
    need(
        asked.promote_after.is_zero() || asked.replaces_the_primary(),
        setting::DRILL_PROMOTE_AFTER,
        "this fault does not lead to a promotion; remove it",
    );
    need(
        settings.number("prober.calm_rate").unwrap_or_default() <= f64::from(asked.prober.rate),
        "prober.calm_rate",
        "is higher than prober.rate, which is in force around faults; lower it",
    );
    missing.extend(recovery(settings, asked));
    missing
}

/// What is wrong with a drill at existing servers, which are only told to fail over by themselves, and that only with leave; and with such
/// an order to others.
fn at_url(
    settings: &Settings,
    asked: &DrillAsked,
    engine: Option<&EngineFacts>,
) -> Option<(&'static str, &'static str)> {
    let fault = |reason| Some((setting::DRILL_FAULT, reason));
    if settings.get(setting::ENGINE_URL).is_none() {
        let is_forced = asked.fault.is_some_and(|fault| fault.kind == FaultKind::ForcedFailover);
        let reason = "only existing servers can be told so: set engine.url, or use \"crash primary\"";
        return if is_forced { fault(reason) } else { None };
    }
    let facts = engine.and_then(|engine| engine.capabilities.replication);
    if !facts.is_some_and(|facts| facts.failover_by_url) {
        return fault(
            "faults are only injected into instances that Proofload starts, never into an existing server; remove \
             engine.url or the drill",
        );
    }
    let asked_fault = asked.fault?;
    if !asked_fault.is_a_failover() {
        return fault(
            "an existing server (engine.url) is only told \"switchover\" or \"forced failover\"; use one of them",
        );
    }
    if settings.text(setting::ENGINE_CHANGES) != Ok("allowed") {
        return fault("a failover moves all databases of the group (engine.url); set engine.changes = \"allowed\"");
    }
    if asked.rejoin == Rejoin::Rewind {
        return Some(("drill.rejoin", "existing servers bring their old primary back by themselves; remove it"));
    }
    let waits = !asked.promote_after.is_zero();
    waits.then_some((setting::DRILL_PROMOTE_AFTER, "nothing fails before a failover by order; remove it"))
}

/// What brings the database back needs.
fn recovery(settings: &Settings, asked: &DrillAsked) -> Option<(&'static str, &'static str)> {
    if replication(settings).ok().flatten().is_none() && needs_a_standby(asked) {
        let reason = "this drill needs a standby: set replication.mode to something other than \"none\", or use a fault of the \
                      primary with drill.recovery = \"restart\"";
        return Some((setting::DRILL_FAULT, reason));
    }
    let is_asked = asked.recovery == FaultRecovery::Restart && settings.get("drill.recovery").is_some();
    let reason = "\"restart\" is for crash, kill, stop and freeze primary without a failover manager; remove it";
    (is_asked && !is_restarted(settings, asked)).then_some(("drill.recovery", reason))
}

/// Whether servers of an engine can be let fail, and a prober can write to them.
fn can_fail(engine: &EngineFacts) -> bool {
    engine.capabilities.replication.is_some_and(|facts| !facts.modes.is_empty())
}

/// Whether a drill fails a standby or its link, or makes one the primary.
fn needs_a_standby(asked: &DrillAsked) -> bool {
    let Some(fault) = asked.fault else { return false };
    fault.target != FaultTarget::Primary || fault.needs_a_manager() || asked.replaces_the_primary()
}

/// Whether the primary can be started again after the fault, and nothing else does it.
fn is_restarted(settings: &Settings, asked: &DrillAsked) -> bool {
    let by_hand = manager(settings).ok().flatten().is_none();
    let restarts = |fault: FaultAsked| fault.target == FaultTarget::Primary && fault.takes_the_primary();
    by_hand && asked.fault.is_some_and(|fault| restarts(fault) && !fault.is_a_failover())
}
