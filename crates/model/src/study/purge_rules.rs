//! What purging devices before each run needs of the rest of a study.

use super::contradictions::RuleContext;
use super::factor::values_of;
use super::typed::purged_devices;
use crate::plan::expand;
use crate::replication::replication;
use crate::setting_words::RestorePolicy;
use crate::settings::setting;
use crate::units::counted;
use std::collections::BTreeSet;

/// A purge needs a device for each node, and data that are put back before each run.
pub(super) fn purge_needs(look: &mut RuleContext<'_>) {
    let settings = look.study.settings.clone();
    let devices = purged_devices(&settings);
    if devices.is_empty() {
        return;
    }
    let plan = expand(look.study);
    let restores = values_of(RestorePolicy::PATH, &settings, &look.study.factors);
    let always_restored = restores.iter().all(|value| RestorePolicy::of_value(value) == Some(RestorePolicy::EveryRun));
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
    need(is_named, setting::STORAGE_PURGE_STANDBY_DEVICES, "only used with storage.purge.device".to_owned());
    let given = devices.len() - usize::from(is_named);
    need(
        given == most,
        setting::STORAGE_PURGE_STANDBY_DEVICES,
        format!(
            "lists {}, but the study has up to {}: comparing a worn drive with a fresh one means nothing",
            counted(given, "device"),
            counted(most, "standby")
        ),
    );
    let different: BTreeSet<&String> = devices.iter().collect();
    need(
        different.len() == devices.len(),
        "storage.purge.device",
        "a device is listed for two nodes; name drives of different hosts by their links in /dev/disk/by-id".to_owned(),
    );
    for device in &devices {
        let reason = format!("{device} contains a comma, which separates the devices of --yes");
        need(!device.contains(','), "storage.purge.device", reason);
    }
    need(
        always_restored,
        RestorePolicy::PATH,
        "a purged device is empty, so the data must be restored before each run; use \"every-run\"".to_owned(),
    );
    need(
        settings.get(setting::ENGINE_URL).is_none() && settings.get(setting::STORAGE_VOLUME).is_none(),
        "storage.purge.device",
        "cannot be combined with an existing server (engine.url) or a volume in a file (storage.volume), whose data \
         are not on this device"
            .to_owned(),
    );
}
