//! Brings blocks into the cache ahead of requests: those that a list names, in its order, at a bounded rate.

use std::time::Duration;

use super::front::Tier;
use crate::block::OriginBlock;
use crate::error::Error;
use crate::machine::CacheMode;

/// Blocks that a list has named, by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WarmedBlocks {
    /// Blocks read from an origin into the cache.
    pub loaded: u64,
    /// Blocks that were in the cache already.
    pub present: u64,
    /// Blocks of a volume that is not there.
    pub no_volume: u64,
    /// Blocks of a volume that is not cached.
    pub not_cached: u64,
    /// Blocks beyond the end of their volume.
    pub beyond_volume: u64,
    /// Blocks of a volume of which as many were named before as its quota has lines.
    pub beyond_quota: u64,
}

/// Longest time between two questions whether it goes on.
const SLICE: Duration = Duration::from_millis(100);

impl Tier {
    /// Reads blocks, each named by its volume and one of its bytes, at most so many bytes per second, until the list ends, as many of
    /// them are in the cache as it has lines in use, or `goes_on` says no. A volume with a quota has only as many read. They are counted as
    /// reads; what a slow one lost of the rate is not made up for.
    ///
    /// # Errors
    ///
    /// When a device fails, or the volume of a block has failed.
    pub fn warm(
        &self,
        blocks: impl Iterator<Item = (u8, u64)>,
        bytes_per_second: u64,
        goes_on: impl Fn() -> bool,
    ) -> Result<WarmedBlocks, Error> {
        let (mut due, lines) = (self.clock.now(), u64::from(self.status().active_lines));
        let mut warmed = WarmedBlocks::default();
        let mut bytes = vec![0; self.geometry.line_bytes as usize];
        let quota = |volume: u8| self.lock().machine.quota_of(volume).map_or(lines, u64::from);
        let mut left: Vec<u64> = (0..self.volumes()).map(quota).collect();
        for (volume, at) in blocks {
            if warmed.loaded + warmed.present >= lines || !goes_on() {
                break;
            }
            if let Some(left_out) = self.left_out(volume, at, &mut warmed) {
                *left_out += 1;
                continue;
            }
            let (block, length) = self.block_to_warm(volume, at);
            let Some(left) = left.get_mut(usize::from(volume)).filter(|left| **left > 0) else {
                warmed.beyond_quota += 1;
                continue;
            };
            *left -= 1;
            if self.lock().machine.is_resident(block, &(0..length)) {
                warmed.present += 1;
                continue;
            }
            let from = block.index() * u64::from(self.geometry.line_bytes);
            let begun = self.clock.now();
            self.read(volume, from, &mut bytes[..length as usize])?;
            warmed.loaded += 1;
            due = due.max(begun) + Duration::from_secs_f64(f64::from(length) / bytes_per_second.max(1) as f64);
            self.sleep_while(due, &goes_on);
        }
        Ok(warmed)
    }

    /// Waits until a time, or less if `goes_on` says no.
    fn sleep_while(&self, time: Duration, goes_on: &impl Fn() -> bool) {
        loop {
            let now = self.clock.now();
            if now >= time || !goes_on() {
                return;
            }
            self.clock.sleep_until(time.min(now + SLICE));
        }
    }

    /// The count of blocks that are left out for the reason for which that of a byte is; `None` where it can be cached.
    fn left_out<'w>(&self, volume: u8, at: u64, warmed: &'w mut WarmedBlocks) -> Option<&'w mut u64> {
        if volume >= self.volumes() {
            return Some(&mut warmed.no_volume);
        }
        if self.lock().machine.kind_of(volume).1 == CacheMode::Pass {
            return Some(&mut warmed.not_cached);
        }
        (at >= self.volume_bytes(volume)).then_some(&mut warmed.beyond_volume)
    }

    /// The block of a byte that its volume has, and its bytes inside the volume.
    fn block_to_warm(&self, volume: u8, at: u64) -> (OriginBlock, u32) {
        let line = u64::from(self.geometry.line_bytes);
        let length = line.min(self.volume_bytes(volume) - at / line * line);
        (OriginBlock::new(volume, at / line), u32::try_from(length).unwrap_or(self.geometry.line_bytes))
    }
}
