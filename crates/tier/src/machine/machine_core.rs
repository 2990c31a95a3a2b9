//! The machine's state and the changes that all requests share: holding blocks, finding room, giving lines up.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use super::abandoning::CacheHold;
use super::claims::LineClaims;
use super::cleaning::CleanerState;
use super::closing::ClosingState;
use super::commits::{JournalPosition, Records, SectorCrcs};
use super::settings::{CacheMode, CleanerSettings, PoolSettings, VolumeClass, VolumeSettings};
use crate::block::{OriginBlock, SectorSet, mix};
use crate::layout::Geometry;
use crate::lines::{LineEntry, LineTable};
use crate::lists::{LineNumber, ListId, Lists, PolicyPlace};
use crate::policy::{Incoming, Policy};
use crate::stats::VolumeCounters;

/// Hashes the one number that a key is.
#[derive(Debug, Default)]
pub(super) struct MixHasher(u64);

impl Hasher for MixHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = mix(self.0 ^ u64::from(*byte));
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.0 = mix(u64::from(number) + 1);
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = mix(number.wrapping_add(1));
    }
}

pub(super) type QuickMap<K, V> = HashMap<K, V, BuildHasherDefault<MixHasher>>;
pub(super) type QuickSet<K> = HashSet<K, BuildHasherDefault<MixHasher>>;

/// Free lines of so many in use below which others are given up.
pub(crate) fn low_water(active_lines: u32) -> u32 {
    (active_lines / 32).clamp(2, 4096)
}

/// Requests that are at work on one block.
#[derive(Clone, Copy, Debug, Default)]
struct Hold {
    sharing: u32,
    exclusive: bool,
    /// Whether nobody else may share it: its line is given up when nobody reads it any more.
    closing: bool,
}

/// Requests that read a line that holds nothing more.
#[derive(Clone, Copy, Debug, Default)]
struct LinePins {
    count: u32,
    /// Whether the line is free otherwise.
    is_free: bool,
}

/// One volume's state.
#[derive(Debug)]
pub(super) struct VolumeState {
    pub(super) settings: VolumeSettings,
    pub(super) counters: VolumeCounters,
    /// Lines that hold blocks of the volume.
    pub(super) lines: u32,
    /// Lines among them that are dirty.
    pub(super) dirty: u32,
    /// Number of the next sync of the origin; what is written meanwhile is covered by it.
    pub(super) sync_next: u64,
    /// Number of the last sync that has succeeded.
    pub(super) sync_done: u64,
    /// Number of the sync that covers the last acknowledged write to the origin.
    pub(super) sync_wanted: u64,
    /// Blocks that requests wrote on the origin, with the sync that covers them.
    pub(super) unsynced: QuickMap<OriginBlock, u64>,
    /// Number of the commit that covers the last change for which a flush waits.
    pub(super) commit_wanted: u64,
    /// Syncs of the origin that failed: what was written there before any of them may be lost, whatever a later one says.
    pub(super) sync_failures: u64,
    pub(super) failed: bool,
    /// Whether the cache failed while nothing was dirty: nothing more is taken in.
    pub(super) degraded: bool,
}

impl VolumeState {
    fn new(settings: VolumeSettings) -> Self {
        Self {
            settings,
            counters: VolumeCounters::default(),
            lines: 0,
            dirty: 0,
            sync_next: 1,
            sync_done: 0,
            sync_wanted: 0,
            unsynced: QuickMap::default(),
            commit_wanted: 0,
            sync_failures: 0,
            failed: false,
            degraded: false,
        }
    }

    /// The mode in force.
    pub(super) fn mode(&self) -> CacheMode {
        if self.degraded { CacheMode::Pass } else { self.settings.mode }
    }
}

/// The cache without its devices.
pub struct CacheMachine {
    pub(super) geometry: Geometry,
    pub(super) table: LineTable,
    pub(super) lists: Lists,
    policies: Vec<Box<dyn Policy>>,
    pub(super) volumes: Vec<VolumeState>,
    pub(super) settings: PoolSettings,
    holds: QuickMap<OriginBlock, Hold>,
    /// Lines that are read although they may hold nothing more: nobody may have them.
    pinned: QuickMap<LineNumber, LinePins>,
    pub(super) records: Records,
    pub(super) cleaner: CleanerState,
    pub(super) closing: ClosingState,
    pub(super) claims: LineClaims,
    /// Empty lines that requests write: nobody else may have them.
    pub(super) reserved: QuickSet<LineNumber>,
    /// Empty lines that failed: nobody may ever have them.
    pub(super) retired: QuickSet<LineNumber>,
    /// Lines in use: those from this number on hold nothing more.
    active_lines: u32,
    /// Whether the last stop was no clean one.
    pub(super) after_crash: bool,
    pub(super) pool_failed: bool,
    /// Works that write a fresh line, which is dirty when they end.
    pub(super) placing: u32,
    pub(super) cache_hold: CacheHold,
    /// Requests since the start.
    pub(super) requests: u64,
}

impl CacheMachine {
    /// A machine whose lines hold what was recovered, in the order of line numbers.
    ///
    /// Lines after `active_lines` must be empty, and volumes of `settings` those of the entries.
    pub fn new(
        geometry: Geometry,
        settings: PoolSettings,
        recovered: &[LineEntry],
        state: (u32, bool),
        journal: JournalPosition,
    ) -> Self {
        let lines = geometry.most_lines;
        let (active_lines, after_crash) = state;
        let own_policies = settings.volumes.iter().any(|volume| volume.quota_lines.is_some());
        let policies = if own_policies { settings.volumes.len() } else { 1 };
        let shares = |place: usize| settings.volumes[place].quota_lines.filter(|_| own_policies);
        let mut machine = Self {
            table: LineTable::new(lines),
            lists: Lists::new(lines),
            policies: (0..policies)
                .map(|place| settings.policy.make(place, shares(place).unwrap_or(active_lines).min(active_lines)))
                .collect(),
            volumes: settings.volumes.iter().cloned().map(VolumeState::new).collect(),
            holds: QuickMap::default(),
            pinned: QuickMap::default(),
            records: Records::new(geometry, journal),
            cleaner: CleanerState::new(&settings.cleaner),
            closing: ClosingState::default(),
            claims: LineClaims::default(),
            geometry,
            settings,
            reserved: QuickSet::default(),
            retired: QuickSet::default(),
            active_lines,
            after_crash,
            pool_failed: false,
            placing: 0,
            cache_hold: CacheHold::Held,
            requests: 0,
        };
        machine.take_over(recovered);
        machine
    }

    fn take_over(&mut self, recovered: &[LineEntry]) {
        for line in 0..self.active_lines {
            match recovered.get(line as usize).copied().filter(LineEntry::is_mapped) {
                None => self.lists.move_to(line, ListId::FREE),
                Some(entry) => self.seat(line, entry),
            }
        }
    }

    /// Gives a line that is in no list its content and its place.
    fn seat(&mut self, line: LineNumber, entry: LineEntry) {
        let Some(block) = entry.block() else { return };
        // Which sectors of an open line were overwritten in place is not known after a crash.
        let dirty = if self.after_crash && entry.is_open() { entry.valid } else { entry.dirty };
        let entry = LineEntry { dirty, ..entry };
        self.table.set(line, entry);
        // What was worth a line counts as read once, so that not every newcomer displaces it.
        self.seen(block);
        let volume = &mut self.volumes[usize::from(block.volume())];
        volume.lines += 1;
        if entry.is_dirty() {
            volume.dirty += 1;
            self.cleaner.note(true, false);
            self.closing.note(&entry, &LineEntry::EMPTY);
            self.lists.move_to(line, ListId::DIRTY);
        } else {
            let policy = self.policy_of(block);
            self.policies[policy].admit(&mut self.lists, line, block.bits());
        }
    }

    fn policy_of(&self, block: OriginBlock) -> usize {
        if self.policies.len() == 1 { 0 } else { usize::from(block.volume()) }
    }

    /// Counts a read of a block.
    pub(super) fn seen(&mut self, block: OriginBlock) {
        let policy = self.policy_of(block);
        self.policies[policy].seen(block.bits());
    }

    pub(super) fn touch(&mut self, line: LineNumber, block: OriginBlock) {
        let policy = self.policy_of(block);
        self.policies[policy].touch(&mut self.lists, line, block.bits());
    }

    /// Tells the policy how the line stood whose place a fresh one has taken, if there was one.
    pub(super) fn inherit(&mut self, line: LineNumber, block: OriginBlock, from: Option<PolicyPlace>) {
        let policy = self.policy_of(block);
        if let Some(from) = from {
            self.policies[policy].inherit(&mut self.lists, line, from);
        }
    }

    pub(super) fn volume(&mut self, block: OriginBlock) -> &mut VolumeState {
        &mut self.volumes[usize::from(block.volume())]
    }

    // ---- holds

    /// Holds a block; `None` when somebody holds it in another way.
    pub(super) fn hold(&mut self, block: OriginBlock, exclusive: bool) -> Option<()> {
        let hold = self.holds.entry(block).or_default();
        if hold.exclusive || hold.closing || (exclusive && hold.sharing > 0) {
            return None;
        }
        if exclusive {
            hold.exclusive = true;
        } else {
            hold.sharing += 1;
        }
        Some(())
    }

    pub(super) fn let_go(&mut self, block: OriginBlock) {
        let hold = self.holds.get_mut(&block).expect("what is let go was held");
        hold.exclusive = false;
        hold.sharing = hold.sharing.saturating_sub(1);
        if hold.sharing == 0 {
            self.holds.remove(&block);
        }
    }

    /// Whether somebody holds a block alone, and may write its line.
    pub(super) fn is_held_alone(&self, block: OriginBlock) -> bool {
        self.holds.get(&block).is_some_and(|hold| hold.exclusive)
    }

    /// Whether somebody holds a block in any way.
    pub(super) fn is_held(&self, block: OriginBlock) -> bool {
        self.holds.contains_key(&block)
    }

    /// Lets nobody new hold a block that others hold; `false` when nobody holds it.
    pub(super) fn close_hold(&mut self, block: OriginBlock) -> bool {
        let hold = self.holds.get_mut(&block);
        hold.map(|hold| hold.closing = true).is_some()
    }

    /// Keeps a line from being had by anybody until it is unpinned as often.
    pub(super) fn pin(&mut self, line: LineNumber) {
        self.pinned.entry(line).or_default().count += 1;
    }

    pub(super) fn unpin(&mut self, line: LineNumber) {
        let pins = self.pinned.get_mut(&line).expect("what is unpinned was pinned");
        pins.count -= 1;
        if pins.count == 0 {
            let is_free = pins.is_free;
            self.pinned.remove(&line);
            if is_free {
                self.free(line);
            }
        }
    }

    // ---- lines

    /// Puts a line whose content has changed into the list for what it holds now.
    pub(super) fn place_in_lists(&mut self, line: LineNumber, before: &LineEntry, entry: &LineEntry) {
        let Some(block) = entry.block() else {
            self.lists.move_to(line, ListId::ASIDE);
            return;
        };
        let policy = self.policy_of(block);
        if !before.is_mapped() {
            self.policies[policy].admit(&mut self.lists, line, block.bits());
        }
        if entry.is_dirty() && self.lists.list_of(line) != ListId::DIRTY {
            self.lists.move_to(line, ListId::DIRTY);
        } else if !entry.is_dirty() && before.is_dirty() {
            self.policies[policy].restore(&mut self.lists, line);
        }
    }

    /// Lets a line hold nothing. It is free at once if nobody could find it after a crash.
    pub(super) fn unmap(&mut self, line: LineNumber) {
        let Some(block) = self.table.entry(line).block() else { return };
        self.change(line, LineEntry::EMPTY, &SectorCrcs::default(), None);
        self.lists.set_trusted(line, false);
        self.forget_sectors(line);
        if self.records.forget_if_never_known(line) {
            self.free(line);
        } else {
            self.records.leave(block);
        }
    }

    /// Puts a line that holds nothing, durably, back to where it can be had.
    pub(super) fn free(&mut self, line: LineNumber) {
        self.reserved.remove(&line);
        if let Some(pins) = self.pinned.get_mut(&line) {
            pins.is_free = true;
            self.lists.move_to(line, ListId::ASIDE);
            return;
        }
        let list = if line < self.active_lines { ListId::FREE } else { ListId::ASIDE };
        self.lists.move_to(line, list);
    }

    /// Takes a free line for a block, giving up others; `None` when none can be had now, or so many `claims` of others come before. One that
    /// replaces another is in the quota already, and others are given up for it only where none is free.
    pub(super) fn allocate(&mut self, block: OriginBlock, replaces: bool, claims: u32) -> Option<LineNumber> {
        let volume = &self.volumes[usize::from(block.volume())];
        let is_over = !replaces && volume.settings.quota_lines.is_some_and(|quota| volume.lines > quota);
        let full = !replaces && self.is_full(block.volume());
        if full && !self.evict(block) {
            return None;
        }
        if is_over && self.lists.length(ListId::FREE) > 0 {
            // It came to them while it had a larger quota, or none: it shrinks by a line with each that it takes.
            self.evict(block);
        }
        let least = claims + if replaces { 1 } else { self.low_water() };
        let is_short = !full && self.lists.length(ListId::FREE) < least;
        // Lines that the next commit frees will do for one that waits for it.
        if is_short && !(replaces && self.has_line_ahead(claims)) {
            let fullest = self.fullest(block);
            if !self.evict(fullest) && fullest != block {
                self.evict(block);
            }
        }
        if self.lists.length(ListId::FREE) <= claims {
            return None;
        }
        let line = self.lists.tail(ListId::FREE)?;
        self.lists.move_to(line, ListId::ASIDE);
        self.reserved.insert(line);
        Some(line)
    }

    /// Whether a volume holds as many lines as it may.
    pub(super) fn is_full(&self, volume: u8) -> bool {
        let volume = &self.volumes[usize::from(volume)];
        volume.settings.quota_lines.is_some_and(|quota| volume.lines >= quota)
    }

    /// A block of the volume that gives a line up for another block: the one that has most clean lines for those that it may hold. Volumes
    /// without policies of their own are one.
    fn fullest(&self, incoming: OriginBlock) -> OriginBlock {
        if self.policies.len() == 1 {
            return incoming;
        }
        let clean_share = |volume: &VolumeState| {
            let most = volume.settings.quota_lines.unwrap_or(self.active_lines).max(1);
            u64::from(volume.lines - volume.dirty) * 10_000 / u64::from(most)
        };
        let fullest = (0_u8..).zip(&self.volumes).max_by_key(|(_, volume)| clean_share(volume));
        let number = fullest.map_or(incoming.volume(), |(number, _)| number);
        if number == incoming.volume() { incoming } else { OriginBlock::new(number, 0) }
    }

    /// Free lines below which others are given up, so that no request waits for a commit.
    pub(super) fn low_water(&self) -> u32 {
        low_water(self.active_lines)
    }

    /// Gives up the line that the policy names; `false` when there is none.
    pub(super) fn evict(&mut self, incoming: OriginBlock) -> bool {
        let policy = self.policy_of(incoming);
        // A line at work is skipped; more than a few of them at the end of a queue are improbable.
        for _ in 0..16 {
            let table = &self.table;
            let key_of = |line: LineNumber| table.entry(line).block().map_or(0, OriginBlock::bits);
            let victim = self.policies[policy].victim(&mut self.lists, Incoming(incoming.bits()), &key_of);
            let Some(line) = victim else { return false };
            let block = self.table.entry(line).block().expect("a policy has mapped lines only");
            if !self.holds.contains_key(&block) {
                self.volume(block).counters.evictions += 1;
                self.unmap(line);
                return true;
            }
            self.policies[policy].restore(&mut self.lists, line);
        }
        false
    }

    // ---- size

    /// Lines in use.
    pub fn active_lines(&self) -> u32 {
        self.active_lines
    }

    /// Changes the number of lines in use; clean lines beyond it are given up now, dirty ones once they are clean.
    ///
    /// Returns whether all lines beyond it are empty and durably so.
    pub fn set_active_lines(&mut self, lines: u32) -> bool {
        let lines = lines.clamp(1, self.geometry.most_lines);
        for line in self.active_lines..lines {
            let used = self.table.entry(line).is_mapped() || self.records.is_leaving(line);
            let taken = self.reserved.contains(&line) || self.pinned.contains_key(&line);
            if !used && !taken && !self.retired.contains(&line) {
                self.lists.move_to(line, ListId::FREE);
            }
        }
        self.active_lines = lines;
        (lines..self.geometry.most_lines).filter(|line| !self.clear_beyond(*line)).count() == 0
    }

    fn clear_beyond(&mut self, line: LineNumber) -> bool {
        let entry = *self.table.entry(line);
        if let Some(block) = entry.block() {
            if !entry.is_dirty() && !self.holds.contains_key(&block) {
                self.unmap(line);
            }
            return false;
        }
        self.lists.move_to(line, ListId::ASIDE);
        !self.records.is_leaving(line) && !self.reserved.contains(&line) && !self.pinned.contains_key(&line)
    }

    // ---- what is told

    /// Counts of a volume.
    pub fn counters(&self, volume: u8) -> VolumeCounters {
        self.volumes[usize::from(volume)].counters
    }

    pub(crate) fn counters_mut(&mut self, volume: u8) -> &mut VolumeCounters {
        &mut self.volumes[usize::from(volume)].counters
    }

    /// Content of a volume, and the mode in force.
    pub(crate) fn kind_of(&self, volume: u8) -> (VolumeClass, CacheMode) {
        let volume = &self.volumes[usize::from(volume)];
        (volume.settings.class, volume.mode())
    }

    /// Lines that a volume may hold at most; `None` when it may hold all.
    pub(crate) fn quota_of(&self, volume: u8) -> Option<u32> {
        self.volumes[usize::from(volume)].settings.quota_lines
    }

    /// The cleaner's settings.
    pub(crate) fn cleaner_settings(&self) -> &CleanerSettings {
        &self.settings.cleaner
    }

    /// Whether the cache failed while nothing of a volume was dirty, so that its mode is [`CacheMode::Pass`] whatever was asked for.
    pub fn is_degraded(&self, volume: u8) -> bool {
        self.volumes[usize::from(volume)].degraded
    }

    /// Lines of a volume, and those of them that are dirty.
    pub fn lines_of(&self, volume: u8) -> (u32, u32) {
        let volume = &self.volumes[usize::from(volume)];
        (volume.lines, volume.dirty)
    }

    /// Dirty lines of all volumes.
    pub fn dirty_lines(&self) -> u32 {
        self.volumes.iter().map(|volume| volume.dirty).sum()
    }

    /// Whether the origins have all that was acknowledged and will be of the works that were begun.
    pub fn holds_nothing_alone(&self) -> bool {
        self.dirty_lines() == 0 && self.placing == 0
    }

    /// Whether a volume has failed.
    pub fn has_failed(&self, volume: u8) -> bool {
        self.volumes[usize::from(volume)].failed
    }

    /// Sectors whose content is on the cache alone, as blocks with their sectors, in order.
    pub fn dirty_blocks(&self) -> Vec<(OriginBlock, SectorSet)> {
        let entries = (0..self.table.count()).map(|line| self.table.entry(line)).filter(|entry| entry.is_dirty());
        let mut blocks: Vec<_> = entries.filter_map(|entry| Some((entry.block()?, entry.dirty))).collect();
        blocks.sort_unstable_by_key(|(block, _)| *block);
        blocks
    }

    /// Whether a line holds all sectors of a block that a range of its bytes touches.
    pub fn is_resident(&self, block: OriginBlock, range: &std::ops::Range<u32>) -> bool {
        let line = self.table.find(block);
        line.is_some_and(|line| self.table.entry(line).valid.has(SectorSet::touched(range)))
    }

    /// The content of a line.
    pub fn entry(&self, line: LineNumber) -> &LineEntry {
        self.table.entry(line)
    }

    /// Whether the last stop was no clean one.
    pub fn is_after_crash(&self) -> bool {
        self.after_crash
    }

    /// Whether a line that was open at a crash has sectors that were neither verified nor overwritten since, and is still dirty: what it holds may
    /// differ from its checksums, and a stop must not be told as a clean one.
    pub fn has_doubtful_lines(&self) -> bool {
        let is_doubtful = |line: LineNumber| self.table.entry(line).is_open() && !self.is_certain(line);
        self.after_crash && (0..self.table.count()).any(is_doubtful)
    }

    /// Whether all volumes have failed, since the cache can no longer say what it holds.
    pub fn has_pool_failed(&self) -> bool {
        self.pool_failed
    }

    /// Blocks of a volume that requests wrote on the origin and no sync has covered.
    pub fn unsynced_blocks(&self, volume: u8) -> usize {
        self.volumes[usize::from(volume)].unsynced.len()
    }

    /// Changes the mode of a volume and returns the one before. Lines that are dirty stay so until they are cleaned.
    pub fn replace_mode(&mut self, volume: u8, mode: CacheMode) -> CacheMode {
        std::mem::replace(&mut self.volumes[usize::from(volume)].settings.mode, mode)
    }

    /// Gives lines up until as many are free, or on the way to it, as the low-water mark says; each of the volume that has most of them.
    pub fn reclaim(&mut self) {
        if self.cache_hold != CacheHold::Held {
            return;
        }
        let short = self.low_water().saturating_sub(self.lists.length(ListId::FREE));
        let wanted = u64::from(short).saturating_sub(self.records.leaving_lines());
        for _ in 0..wanted {
            let fullest = self.fullest(OriginBlock::new(0, 0));
            if !self.evict(fullest) {
                return;
            }
        }
    }

    /// Bytes of memory that grow with the number of lines.
    pub fn memory_bytes(&self) -> usize {
        let policies: usize = self.policies.iter().map(|policy| policy.memory_bytes()).sum();
        self.table.memory_bytes() + self.lists.memory_bytes() + policies
    }
}
