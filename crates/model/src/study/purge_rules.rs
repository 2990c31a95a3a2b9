//! What purging devices before each run needs of the rest of a study.

use super::contradictions::RuleContext;
use super::factor::values_of;
use super::typed::purged_devices;
use crate::plan::expand;
use crate::replication::replication;
use std::collections::BTreeSet;

/// A purge needs a device for each node, and data that are put back before each run.
pub(super) fn purge_needs(look: &mut RuleContext<'_>) {
    let settings = look.study.settings.clone();
    let devices = purged_devices(&settings);
    if devices.is_empty() {
        return;
    }
    let plan = expand(look.study);
    let restores = values_of("procedure.restore", &settings, &look.study.factors);
    let always_restored = restores.iter().all(|value| value.to_string() == "every-run");
    let most = plan
        .points
        .iter()
        .map(|point| replication(&settings.with(&point.levels)).ok().flatten().map_or(0, |asked| asked.standbys.len()));
    let most = most.max().unwrap_or(0);
    let mut need = |holds: bool, path: &str, reason: String| {
        if !holds {
            look.fault(path, reason);
        }
    };
    let is_named = settings.get("storage.purge.device").is_some();
    need(is_named, "storage.purge.standby_devices", "only used beside storage.purge.device".to_owned());
    let given = devices.len() - usize::from(is_named);
    need(
        given == most,
        "storage.purge.standby_devices",
        format!(
            "names {given}, and the study has {most} standbys at most: a worn drive beside a fresh one says nothing"
        ),
    );
    let different: BTreeSet<&String> = devices.iter().collect();
    need(different.len() == devices.len(), "storage.purge.device", "a device is named for two nodes".to_owned());
    for device in &devices {
        let reason = format!("{device} has a comma, which parts the devices of --yes");
        need(!device.contains(','), "storage.purge.device", reason);
    }
    need(
        always_restored,
        "procedure.restore",
        "a purged device holds no data: they are put back before each run; say \"every-run\"".to_owned(),
    );
    need(
        settings.get("engine.url").is_none() && settings.get("storage.volume").is_none(),
        "storage.purge.device",
        "the data of an existing server (engine.url), or on a volume in a file (storage.volume), are on no device of ours".to_owned(),
    );
}
