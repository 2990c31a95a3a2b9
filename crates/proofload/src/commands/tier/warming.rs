//! Warms a pool that is served from a list of lines, as `tier dump --lines --json` writes one: a thread that ends with the server.

use super::units::{bytes, count};
use crate::output;
use proofload_engine::tiers::{NamedLines, WarmList};
use proofload_model::units::Bytes;
use proofload_tier::tier::{Tier, WarmedBlocks};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// A thread that warms a pool. Dropping it ends it.
#[derive(Debug)]
pub(super) struct WarmingThread {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl WarmingThread {
    /// Begins to warm, and says on stderr what was done when the list ends.
    pub(super) fn start(mut list: WarmList, bytes_per_second: u64, tier: &Arc<Tier>) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (tier, stopped) = (Arc::clone(tier), Arc::clone(&stop));
        let thread = std::thread::spawn(move || {
            let goes_on = || !stopped.load(Ordering::Acquire);
            let (mut named, mut repeated) = (NamedLines::of(Bytes(tier.status().line_bytes.into())), 0);
            let is_new = |&(volume, at): &(u8, u64)| {
                let is_new = named.add(volume, at);
                repeated += u64::from(!is_new);
                is_new
            };
            let warmed = tier.warm(list.by_ref().filter(is_new), bytes_per_second, goes_on);
            let told = |warmed: &WarmedBlocks| told(warmed, repeated);
            let path = list.path().display();
            match (warmed, list.fault()) {
                (Ok(warmed), None) => output::note(&told(&warmed)),
                (Ok(warmed), Some(fault)) => {
                    output::error(&format!("stopped reading the list of lines {path}: {fault}; {}", told(&warmed)));
                }
                (Err(error), _) => output::error(&format!("stopped warming from {path}: {error}")),
            }
        });
        Self { stop, thread: Some(thread) }
    }
}

impl Drop for WarmingThread {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        // A panic of the thread was told by the panic hook already.
        drop(self.thread.take().map(JoinHandle::join));
    }
}

fn told(warmed: &WarmedBlocks, repeated: u64) -> String {
    let some_of = [
        (warmed.no_volume, "are of no volume of the pool"),
        (warmed.beyond_volume, "are beyond the end of their volume"),
        (warmed.beyond_quota, "are beyond the quota of their volume"),
        (repeated, "were named before"),
    ];
    let others: Vec<String> = some_of
        .into_iter()
        .filter(|(lines, _)| *lines > 0)
        .map(|(lines, why)| format!(", {} {why}", count(lines)))
        .collect();
    format!(
        "warmed: {} lines read, {} were in the cache, {} are of no cached volume{}",
        count(warmed.loaded),
        count(warmed.present),
        count(warmed.not_cached),
        others.concat()
    )
}

/// What is said of it when the server is ready.
pub(super) fn line(path: &Path, bytes_per_second: u64) -> (&'static str, String) {
    ("warming", format!("from {}, at most {} per second", path.display(), bytes(bytes_per_second)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_no_volume_have_a_reason_of_their_own() {
        let warmed = WarmedBlocks { loaded: 9, no_volume: 2, not_cached: 1, ..WarmedBlocks::default() };
        let wanted =
            "warmed: 9 lines read, 0 were in the cache, 1 are of no cached volume, 2 are of no volume of the pool";
        assert_eq!(told(&warmed, 0), wanted);
    }
}
