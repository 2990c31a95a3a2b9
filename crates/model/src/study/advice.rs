//! What a study may do but had better not: remarks, never faults.

use super::validate::Study;
use crate::plan::expand;
use crate::replication::replication;
use std::collections::BTreeSet;

/// Warehouses for each virtual user below which a study of replication shows users that wait for each other's rows. Row locks are held
/// through the wait for a standby. Ours; the published study had 26.
pub const FEWEST_WAREHOUSES_FOR_A_USER: u64 = 4;

/// Remarks on a study, each once.
pub fn advice(study: &Study) -> Vec<String> {
    let points = expand(study).points;
    let few = |settings: crate::settings::Settings| {
        replication(&settings).ok().flatten().filter(|asked| asked.mode.waits())?;
        let warehouses = u64::from(settings.count("workload.warehouses").ok()?);
        let users = u64::from(settings.count("workload.virtual_users").ok()?);
        (warehouses < FEWEST_WAREHOUSES_FOR_A_USER * users).then_some((warehouses, users))
    };
    let found: BTreeSet<(u64, u64)> =
        points.iter().filter_map(|point| few(study.settings.with(&point.levels))).collect();
    let text = |(warehouses, users): (u64, u64)| {
        format!(
            "{warehouses} warehouses for {users} virtual users under a mode that waits for a standby: row locks are held through the wait, so \
             that users wait for each other; give each at least {FEWEST_WAREHOUSES_FOR_A_USER}, workload.warehouses = {} or more",
            FEWEST_WAREHOUSES_FOR_A_USER * users
        )
    };
    found.into_iter().map(text).collect()
}
