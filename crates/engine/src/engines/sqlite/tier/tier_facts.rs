//! What a tier was asked to be and what it is, as facts that the run is judged by.

use super::mount::TierMount;
use super::pool;
use proofload_model::facts::tier;
use proofload_model::samples::Fact;
use proofload_model::tier::TierVolume;
use proofload_model::units::Bytes;

/// The source of these facts.
const SOURCE: &str = "the open cache tier";

/// Facts of an open tier.
pub(in crate::engines::sqlite) fn facts(mount: &TierMount) -> Vec<Fact> {
    let plan = mount.plan();
    let (first, now) = mount.snapshots();
    let line = u64::from(now.status.line_bytes);
    let size = Bytes(u64::from(now.status.active_lines) * line);
    let lines_at_start: u64 = first.volumes.iter().map(|volume| u64::from(volume.lines)).sum();
    let data = Bytes(mount.data_length());
    let (asked, in_force) = (plan.cache.policy.word(), mount.policy());
    let direct = if mount.is_direct() { "direct" } else { "through the page cache: its file system refuses direct ones" };
    let mut facts = vec![
        tier::MEDIUM.carried_out(plan.slow.to_string(), SOURCE),
        tier::DATA.observed(data.to_string(), SOURCE),
        tier::EXPORT.observed("in the load agent's process, as a VFS of SQLite", SOURCE),
    ];
    if plan.cache.size.is_nothing() {
        facts.push(tier::CACHE.observed(Bytes(0).to_string(), SOURCE));
    } else {
        let wanted = mount.asked_size();
        facts.extend([
            tier::CACHE.compared(wanted.to_string(), Some(size.to_string()), wanted.0.abs_diff(size.0) < line.max(1) * 8, SOURCE),
            tier::LINE.compared(plan.cache.line.to_string(), Some(Bytes(line).to_string()), plan.cache.line.0 == line, SOURCE),
            tier::POLICY.compared(asked, Some(in_force), asked == in_force, SOURCE),
            tier::CACHE_IO.observed(direct, SOURCE),
            tier::LINES_AT_START.observed(Bytes(lines_at_start * line).to_string(), SOURCE),
            tier::DIRTY_AT_START.observed(Bytes(u64::from(first.status.dirty_lines) * line).to_string(), SOURCE),
            tier::MEMORY.observed(Bytes(now.status.memory_bytes).to_string(), SOURCE),
        ]);
    }
    for (volume, found) in [TierVolume::Data, TierVolume::Log].into_iter().zip(&now.volumes) {
        let wanted = if plan.cache.accelerates(volume) { plan.cache.mode.word() } else { "pass" };
        let found = pool::mode_word(found.mode);
        facts.push(tier::MODE.of(volume.word()).compared(wanted, Some(found), wanted == found, SOURCE));
    }
    facts
}
