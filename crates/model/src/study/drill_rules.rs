//! What a drill needs of the rest of a study.

use super::contradictions::RuleContext;
use crate::drill::{DrillAsked, FaultTarget, drill};
use crate::plan::expand;
use crate::replication::{link, replication};
use crate::settings::Settings;
use std::collections::BTreeSet;

/// Settings that only a drill uses.
const OF_DRILLS: &[&str] = &["drill.lasts", "drill.promote_after", "drill.within", "prober.rate", "prober.deadline"];

/// A drill needs standbys of ours, users that give up, and data restored before each run.
pub(super) fn drill_needs(look: &mut RuleContext<'_>) {
    let points = expand(look.study).points;
    let mut found: BTreeSet<(&str, String)> = BTreeSet::new();
    let mut drilled = false;
    for settings in points.iter().map(|point| look.study.settings.with(&point.levels)) {
        let Ok(Some(asked)) = drill(&settings) else { continue };
        drilled = true;
        found.extend(missing(&settings, &asked).into_iter().map(|(path, reason)| (path, reason.to_owned())));
    }
    let unused = OF_DRILLS.iter().filter(|path| !drilled && look.given.is_given(path));
    found.extend(unused.map(|path| (*path, "only used in drills; set drill.fault too, or leave it out".to_owned())));
    for (path, reason) in found {
        look.fault(path, reason);
    }
}

fn missing(settings: &Settings, asked: &DrillAsked) -> Vec<(&'static str, &'static str)> {
    let mut missing = Vec::new();
    let mut need = |holds: bool, path: &'static str, reason: &'static str| {
        if !holds {
            missing.push((path, reason));
        }
    };
    need(
        replication(settings).ok().flatten().is_some(),
        "drill.fault",
        "a drill needs a standby: set replication.mode to another than \"none\"",
    );
    need(
        settings.get("engine.url").is_none(),
        "drill.fault",
        "faults are made of instances that Proofload starts, never of an existing server; leave engine.url or the drill out",
    );
    need(
        settings.get("workload.deadline").is_some(),
        "drill.fault",
        "users of a database that fails need workload.deadline, such as \"1s\": without it they wait for a silent host for ever",
    );
    need(
        settings.get("search.setting").is_none(),
        "drill.fault",
        "a search compares loads, not faults; leave search or the drill out",
    );
    need(
        settings.get("agents.load_hosts").is_none(),
        "drill.fault",
        "the prober runs in one load agent; leave agents.load_hosts out",
    );
    need(
        settings.duration("procedure.quiet_seconds").is_err()
            && settings.count("procedure.quiet_seconds").unwrap_or(0) == 0,
        "procedure.quiet_seconds",
        "a drill's measured window has a fixed length; leave it out",
    );
    need(
        asked.fault.is_none_or(|fault| fault.target != FaultTarget::Link) || link(settings).is_some(),
        "drill.fault",
        "a link is parted by our relay, which there is none of without replication.rtt or replication.bandwidth; rtt = \"0s\" adds nothing",
    );
    need(
        asked.promote_after.is_zero() || asked.fault.is_some_and(|fault| fault.takes_the_primary()),
        "drill.promote_after",
        "nobody is promoted by this fault; leave it out",
    );
    missing
}
