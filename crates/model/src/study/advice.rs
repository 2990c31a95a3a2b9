//! What a study may do but had better not: remarks, never faults.

use super::validate::Study;
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

/// Remarks on a study, each once.
pub fn advice(study: &Study) -> Vec<String> {
    let points = expand(study).points;
    let found: BTreeSet<(u32, u32)> =
        points.iter().filter_map(|point| too_few_warehouses(&study.settings.with(&point.levels))).collect();
    let text = |(warehouses, users): (u32, u32)| {
        format!(
            "workload.warehouses = {warehouses} with workload.virtual_users = {users} under a mode that waits for a \
             standby: row locks are held during the wait, so users wait for each other; use \
             {FEWEST_WAREHOUSES_FOR_A_USER} warehouses for each user, that is {} or more",
            u64::from(FEWEST_WAREHOUSES_FOR_A_USER) * u64::from(users)
        )
    };
    found.into_iter().map(text).collect()
}
