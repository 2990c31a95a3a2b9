//! What is durable and what is not yet: pending records, commits, and the lines that wait to be free.
//!
//! A record of warmth says that a clean line holds what a read has brought from the origin, and nothing else. Losing it costs that warmth alone, so
//! that no flush waits for it: it goes, a part at a time, with commits that sync data anyway, or with those that are made for it beside requests.
//! It is never written before its data are synced, as no record is: a recovery must not rely on checksums to tell that a line has what its record
//! says.

use std::collections::BTreeSet;
use std::time::Duration;

use super::machine_core::{CacheMachine, QuickMap, QuickSet};
use crate::block::{OriginBlock, SectorSet};
use crate::layout::{Geometry, JournalRecord, encode_commit};
use crate::lines::LineEntry;
use crate::lists::LineNumber;

/// Longest time for which warmth that could be made durable is left to be lost by a crash. Source: ext4's `commit=5`, the time for which it leaves
/// what nobody has synced.
const WARMTH_LEFT: Duration = Duration::from_secs(5);

/// Most records of warmth that one commit takes up. A flush waits for the commit that it makes and for one at work, and each line that is not beside
/// the one before it costs a write of its checksums. Source: an assumption, no measurement: 256 small writes take a few milliseconds on a solid-state
/// drive, and commits of so many records keep up with some 10000 reads a second that bring in a line.
const MOST_WARMTH: usize = 256;

/// Checksums of some sectors of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SectorCrcs {
    sectors: SectorSet,
    values: [u32; 16],
}

impl SectorCrcs {
    /// Sets the checksum of one sector, 0 to 15.
    pub fn set(&mut self, sector: u32, crc: u32) {
        self.sectors.0 |= 1 << sector;
        self.values[sector as usize] = crc;
    }

    /// The checksum of a sector, if it is here.
    pub fn get(&self, sector: u32) -> Option<u32> {
        (self.sectors.0 & (1 << sector) != 0).then(|| self.values[sector as usize])
    }

    /// The sectors whose checksums are here.
    pub fn sectors(&self) -> SectorSet {
        self.sectors
    }

    /// Joins these with those of another, which win.
    #[must_use]
    pub fn updated(mut self, newer: &Self) -> Self {
        newer.sectors.sectors().for_each(|sector| self.set(sector, newer.values[sector as usize]));
        self
    }

    /// Keeps those of some sectors only.
    #[must_use]
    pub fn only(self, sectors: SectorSet) -> Self {
        let mut kept = Self::default();
        self.sectors.and(sectors).sectors().for_each(|sector| kept.set(sector, self.values[sector as usize]));
        kept
    }
}

/// A change that no commit has taken up.
#[derive(Clone, Debug)]
struct PendingRecord {
    /// What is durable, or will be when the commit at work succeeds.
    durable: LineEntry,
    crcs: SectorCrcs,
    /// The sync of an origin without which it must not become durable.
    after: Option<(u8, u64)>,
}

/// A change that the commit at work has taken up.
#[derive(Clone, Debug)]
struct CommittingRecord {
    before: LineEntry,
    state: LineEntry,
    crcs: SectorCrcs,
}

/// Where the journal goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JournalPosition {
    /// First block that recovery needs.
    pub start: u64,
    /// Block that is written next.
    pub next: u64,
    /// Number of this opening of the cache.
    pub mount: u64,
}

/// What the driver does for one commit, in this order: sync the cache, append, sync it again, write checksums.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Commit {
    /// Whether data must be durable before the records are written.
    pub sync_first: bool,
    /// Bytes of the journal, with their position on the cache.
    pub appends: Vec<(u64, Vec<u8>)>,
    /// Whether the cache must be synced after that.
    pub sync_after: bool,
    /// Checksums for the array, with their position on the cache. They need no sync: the journal has them.
    pub checksums: Vec<(u64, Vec<u8>)>,
}

/// All that is not durable.
#[derive(Debug)]
pub(super) struct Records {
    geometry: Geometry,
    pending: QuickMap<LineNumber, PendingRecord>,
    /// Lines of the pending records that are not of warmth alone: no commit leaves one out that is ready.
    due: QuickSet<LineNumber>,
    /// Lines of the other pending records.
    warmth: BTreeSet<LineNumber>,
    committing: QuickMap<LineNumber, CommittingRecord>,
    /// Blocks that lines hold durably and no longer in memory, with the number of those lines.
    leaving: QuickMap<OriginBlock, u32>,
    /// Whether data was written to the cache since the last commit began.
    pub(super) cache_was_written: bool,
    at_work: bool,
    /// Whether the journal had no room for all that the last commit begun should have taken up but for warmth.
    truncated: bool,
    /// Whether the journal had no room for the warmth that the last commit begun should have taken up beside them.
    truncated_warmth: bool,
    /// First line whose warmth commits have not gone past since they began with the first line; 0 when they begin there again.
    warmth_next: LineNumber,
    /// The commit with which they began.
    warmth_begun: u64,
    /// Number that [`Records::commits_full`] reaches when the last commit begun succeeds, if that is the last one needed for it.
    completes: Option<u64>,
    /// First block of the journal that recovery needs.
    journal_start: u64,
    /// Block of the journal that is written next.
    journal_next: u64,
    /// First block of the commit at work.
    commit_start: u64,
    commits_begun: u64,
    commits_done: u64,
    /// The last commit that has succeeded and took up all that was pending when it began, but for warmth.
    commits_complete: u64,
    /// The last commit for which the same holds of warmth too, be it that later ones have taken up a part.
    commits_full: u64,
    /// Number that [`Records::commits_full`] is to reach.
    full_wanted: u64,
    /// Time since which there has been warmth that is not durable, as far as anybody has looked.
    warmth_since: Option<Duration>,
    mount: u64,
}

impl Records {
    pub(super) fn new(geometry: Geometry, journal: JournalPosition) -> Self {
        Self {
            geometry,
            pending: QuickMap::default(),
            due: QuickSet::default(),
            warmth: BTreeSet::new(),
            committing: QuickMap::default(),
            leaving: QuickMap::default(),
            cache_was_written: false,
            at_work: false,
            truncated: false,
            truncated_warmth: false,
            warmth_next: 0,
            warmth_begun: 0,
            completes: None,
            journal_start: journal.start,
            journal_next: journal.next,
            commit_start: journal.next,
            commits_begun: 0,
            commits_done: 0,
            commits_complete: 0,
            commits_full: 0,
            full_wanted: 0,
            warmth_since: None,
            mount: journal.mount,
        }
    }

    /// Notes that a line changes from `before`: that it gains warmth, unless it is said to be due, too.
    pub(super) fn note(&mut self, line: LineNumber, before: &LineEntry, crcs: &SectorCrcs, after: Option<(u8, u64)>) {
        let durable = self.committing.get(&line).map_or(*before, |committing| committing.state);
        let pending = self.pending.entry(line).or_insert(PendingRecord { durable, crcs: *crcs, after });
        pending.crcs = pending.crcs.updated(crcs);
        pending.after = after;
        if !self.due.contains(&line) {
            self.warmth.insert(line);
        }
    }

    /// Lets no commit leave out the record of a line until it is durable, whatever becomes of the line meanwhile.
    pub(super) fn note_due(&mut self, line: LineNumber) {
        self.due.insert(line);
        self.warmth.remove(&line);
    }

    /// Drops the record of an empty line that no commit has ever told of; says whether it could.
    pub(super) fn forget_if_never_known(&mut self, line: LineNumber) -> bool {
        let never = !self.committing.contains_key(&line)
            && self.pending.get(&line).is_none_or(|pending| !pending.durable.is_mapped());
        if never {
            self.pending.remove(&line);
            self.due.remove(&line);
            self.warmth.remove(&line);
        }
        never
    }

    pub(super) fn leave(&mut self, block: OriginBlock) {
        *self.leaving.entry(block).or_default() += 1;
    }

    pub(super) fn has_leaving(&self) -> bool {
        !self.leaving.is_empty()
    }

    /// Lines that the next commits set free.
    pub(super) fn leaving_lines(&self) -> u64 {
        self.leaving.values().map(|count| u64::from(*count)).sum()
    }

    /// Whether a line that holds nothing would hold something after a crash.
    pub(super) fn is_leaving(&self, line: LineNumber) -> bool {
        self.committing.contains_key(&line) || self.pending.contains_key(&line)
    }

    /// Whether a crash could bring back a line, dirty or not, as a closed one.
    pub(super) fn is_known_closed(&self, line: LineNumber) -> bool {
        let of_commit = |record: &CommittingRecord| record.before.is_closed() || record.state.is_closed();
        self.committing.get(&line).is_some_and(of_commit)
            || self.pending.get(&line).is_some_and(|record| record.durable.is_closed())
    }

    /// Whether a crash could bring back a line that held a block.
    pub(super) fn is_known(&self, block: OriginBlock) -> bool {
        self.leaving.contains_key(&block)
    }

    pub(super) fn crcs_of(&self, line: LineNumber) -> SectorCrcs {
        let committing = self.committing.get(&line).map_or(SectorCrcs::default(), |record| record.crcs);
        self.pending.get(&line).map_or(committing, |record| committing.updated(&record.crcs))
    }

    /// What recovery would find in a line now.
    fn durable(&self, line: LineNumber, now: &LineEntry) -> LineEntry {
        match (self.committing.get(&line), self.pending.get(&line)) {
            (Some(committing), _) => committing.before,
            (None, Some(pending)) => pending.durable,
            (None, None) => *now,
        }
    }

    /// Notes that the last commit begun has succeeded, of which there is one at a time.
    fn note_done(&mut self) {
        self.commits_done += 1;
        if !self.truncated {
            self.commits_complete = self.commits_done;
        }
        if let Some(number) = self.completes.take() {
            self.commits_full = number;
            // What has come since this commit is young; beside several, it may be as old as the first of them.
            self.warmth_since = self.warmth_since.filter(|_| number < self.commits_done);
        }
    }

    /// Forgets all of it: nothing can be found after a crash. Every commit begun is done.
    pub(super) fn forget_all(&mut self) {
        self.pending.clear();
        self.due.clear();
        self.warmth.clear();
        self.committing.clear();
        self.leaving.clear();
        (self.cache_was_written, self.truncated, self.truncated_warmth) = (false, false, false);
        (self.warmth_next, self.completes) = (0, None);
        (self.commits_done, self.commits_complete) = (self.commits_begun, self.commits_begun);
        self.commits_full = self.commits_begun;
    }

    /// Blocks of the journal that can be written before a checkpoint must be made.
    fn room(&self) -> u64 {
        u64::from(self.geometry.journal_blocks) - (self.journal_next - self.journal_start)
    }
}

impl CacheMachine {
    /// Begins a commit of what is pending; `None` when one is at work or there is nothing to commit.
    ///
    /// Warmth is left out where the commit would sync data for its sake alone and nobody has asked for all, and where it is more than one commit
    /// takes up: then the next commits go on with it.
    /// A commit without room in the journal takes up less, and [`CacheMachine::commits_complete`] does not reach its number.
    pub fn commit_begin(&mut self) -> Option<Commit> {
        if self.records.at_work {
            return None;
        }
        let lines = self.chosen_lines();
        if lines.is_empty() && !self.records.cache_was_written {
            self.records.commits_begun += 1;
            self.records.note_done();
            return None;
        }
        let mut commit = Commit { sync_after: true, ..Commit::default() };
        let mut journal = Vec::with_capacity(lines.len());
        for line in lines {
            let state = *self.table.entry(line);
            let pending = self.records.pending.remove(&line).expect("it was chosen from there");
            self.records.due.remove(&line);
            self.records.warmth.remove(&line);
            commit.sync_first |= needs_data(&pending.durable, &state);
            journal.push(JournalRecord { line, entry: state, crcs: pending.crcs });
            self.note_checksums(&mut commit.checksums, line, &pending.crcs);
            let record = CommittingRecord { before: pending.durable, state, crcs: pending.crcs };
            self.records.committing.insert(line, record);
        }
        self.append(&mut commit, &journal);
        self.records.cache_was_written = false;
        self.records.at_work = true;
        self.records.commits_begun += 1;
        Some(commit)
    }

    /// Lines whose records are committed next: first those that hold nothing more, as many as the journal takes.
    fn chosen_lines(&mut self) -> Vec<LineNumber> {
        let room = self.records.room() * u64::from(self.geometry.records_per_block());
        let room = usize::try_from(room).unwrap_or(usize::MAX);
        let mut lines = self.due_lines();
        self.records.truncated = lines.len() > room;
        self.records.truncated_warmth = false;
        self.records.completes = None;
        if self.records.truncated {
            self.sort_by_need(&mut lines);
            return self.fitting_lines(&lines, room);
        }
        let is_asked = self.records.full_wanted > self.records.commits_full;
        // Data are synced before the records anyway: then warmth costs some bytes of the journal, and never a second commit for lack of them.
        if self.records.warmth.is_empty() || is_asked || self.syncs_data(&lines) {
            let warmth = self.chosen_warmth(room - lines.len());
            lines.extend(warmth);
        }
        self.sort_by_need(&mut lines);
        lines
    }

    /// Lines whose warmth is committed next, where the journal takes so many records more.
    ///
    /// Commits go through all lines in their order, a part each. So they come to an end, however much reads bring in meanwhile, and writes of
    /// checksums are few.
    fn chosen_warmth(&mut self, room: usize) -> Vec<LineNumber> {
        if self.records.warmth_next == 0 || self.records.warmth.is_empty() {
            self.records.warmth_next = 0;
            self.records.warmth_begun = self.commit_wanted();
        }
        let most = room.min(MOST_WARMTH);
        // One more tells whether any are left out.
        let mut lines: Vec<_> = self.ready_warmth(self.records.warmth_next).take(most + 1).collect();
        if lines.len() <= most {
            self.records.completes = Some(self.records.warmth_begun);
            self.records.warmth_next = 0;
        } else {
            lines.truncate(most);
            self.records.truncated_warmth = most < MOST_WARMTH;
            self.records.warmth_next = lines.last().map_or(self.records.warmth_next, |last| last + 1);
        }
        lines
    }

    fn sort_by_need(&self, lines: &mut [LineNumber]) {
        lines.sort_unstable_by_key(|line| (self.table.entry(*line).is_mapped(), *line));
    }

    /// Lines whose records no commit leaves out.
    fn due_lines(&self) -> Vec<LineNumber> {
        let is_ready = |line: &LineNumber| self.records.pending.get(line).is_some_and(|record| self.is_ready(record));
        self.records.due.iter().copied().filter(is_ready).collect()
    }

    /// Lines from this one on whose records are ready and of warmth alone, in their order.
    fn ready_warmth(&self, from: LineNumber) -> impl Iterator<Item = LineNumber> {
        let lines = self.records.warmth.range(from..).copied();
        lines.filter(move |line| self.records.pending.get(line).is_some_and(|record| self.is_ready(record)))
    }

    /// Whether a commit of the records of these lines syncs data first.
    fn syncs_data(&self, lines: &[LineNumber]) -> bool {
        let relies = |line: &LineNumber| {
            let pending = self.records.pending.get(line);
            pending.is_some_and(|record| needs_data(&record.durable, self.table.entry(*line)))
        };
        lines.iter().any(relies)
    }

    /// Lines, in order, for which there is room. A line that was dirty and the one that holds its block now go together: without the
    /// other, the record of one would lose what was flushed, and that of the other would have two lines hold the block.
    ///
    /// These lines are due ones. A line that holds the block now and is none of these is clean, since the record of a dirty one is due and waits for
    /// no origin: the origin has what it holds, and the other goes without it.
    fn fitting_lines(&self, lines: &[LineNumber], room: usize) -> Vec<LineNumber> {
        let all: QuickSet<LineNumber> = lines.iter().copied().collect();
        let mut before: QuickMap<LineNumber, LineNumber> = QuickMap::default();
        for line in lines.iter().filter(|line| !self.table.entry(**line).is_mapped()) {
            let durable = self.records.pending.get(line).map(|record| record.durable).filter(LineEntry::is_dirty);
            let heir = durable.and_then(|durable| self.table.find(durable.block()?));
            before.extend(heir.filter(|heir| all.contains(heir)).map(|heir| (heir, *line)));
        }
        let bound: QuickSet<LineNumber> = before.values().copied().collect();
        let mut fitting = Vec::with_capacity(room);
        for line in lines.iter().filter(|line| !bound.contains(line)) {
            let given_up = before.get(line).copied();
            if fitting.len() + 1 + usize::from(given_up.is_some()) <= room {
                fitting.extend(given_up);
                fitting.push(*line);
            }
        }
        fitting
    }

    fn append(&mut self, commit: &mut Commit, journal: &[JournalRecord]) {
        self.records.commit_start = self.records.journal_next;
        if journal.is_empty() {
            return;
        }
        let blocks = encode_commit(journal, self.records.journal_next, self.records.mount);
        let count = blocks.len() as u64;
        debug_assert!(count <= self.records.room(), "the records were chosen by room");
        for (sequence, block) in (self.records.journal_next..).zip(blocks) {
            let at = self.geometry.byte_of_journal(sequence);
            match commit.appends.last_mut() {
                Some((from, bytes)) if *from + bytes.len() as u64 == at => bytes.extend_from_slice(&block),
                _ => commit.appends.push((at, block)),
            }
        }
        self.records.journal_next += count;
    }

    fn note_checksums(&self, checksums: &mut Vec<(u64, Vec<u8>)>, line: LineNumber, crcs: &SectorCrcs) {
        for run in crcs.sectors().runs() {
            let from = run.start / crate::block::SECTOR_BYTES;
            let to = run.end / crate::block::SECTOR_BYTES;
            let at = self.geometry.byte_of_crc(line, from);
            let bytes = (from..to).flat_map(|sector| crcs.values[sector as usize].to_le_bytes());
            match checksums.last_mut() {
                Some((start, before)) if *start + before.len() as u64 == at => before.extend(bytes),
                _ => checksums.push((at, bytes.collect())),
            }
        }
    }

    /// Ends the commit at work. One that failed lets all volumes fail, or asks the caller to abandon the cache: see
    /// [`CacheMachine::cache_failed`].
    pub fn commit_end(&mut self, succeeded: bool) -> bool {
        self.records.at_work = false;
        if self.has_abandoned() {
            return false;
        }
        if !succeeded {
            return self.cache_failed();
        }
        self.records.note_done();
        let mut done: Vec<_> = std::mem::take(&mut self.records.committing).into_iter().collect();
        // Free lines are had in this order: it must not depend on a map's.
        done.sort_unstable_by_key(|(line, _)| *line);
        for (line, record) in done {
            if record.state.is_mapped() {
                continue;
            }
            if let Some(block) = record.before.block()
                && let Some(count) = self.records.leaving.get_mut(&block)
            {
                *count -= 1;
                if *count == 0 {
                    self.records.leaving.remove(&block);
                }
            }
            self.free(line);
        }
        false
    }

    /// Number that [`CacheMachine::commits_complete`] must reach so that all that is pending now is durable, but for warmth.
    pub fn commit_wanted(&self) -> u64 {
        self.records.commits_begun + 1
    }

    /// Number that [`CacheMachine::commits_complete`] must reach so that what was acknowledged of a volume is durable. It was reached already where
    /// nothing of the volume has changed on the cache since, whatever is pending of others.
    pub fn commit_wanted_of(&self, volume: u8) -> u64 {
        self.volumes[usize::from(volume)].commit_wanted
    }

    /// Asks for commits that leave nothing out that is ready now; returns the number that [`CacheMachine::commits_full`] must reach.
    pub fn want_full_commit(&mut self) -> u64 {
        self.records.full_wanted = self.commit_wanted();
        self.records.full_wanted
    }

    /// Number of the last commit for which all is durable that was pending and ready when it began, warmth too.
    pub fn commits_full(&self) -> u64 {
        self.records.commits_full
    }

    /// Whether there has been warmth for so long that a commit should be made for it, so that little of it is lost by a crash.
    pub fn wants_warmth_kept(&mut self, now: Duration) -> bool {
        if self.records.warmth.is_empty() {
            self.records.warmth_since = None;
            return false;
        }
        let since = *self.records.warmth_since.get_or_insert(now);
        if now.saturating_sub(since) < WARMTH_LEFT {
            return false;
        }
        // What waits for a sync of an origin is looked at again after the same time. A commit at work is no reason to wait: with flushes there is
        // nearly always one.
        self.records.warmth_since = Some(now);
        self.ready_warmth(0).next().is_some()
    }

    /// Number of commits that have succeeded.
    pub fn commits_done(&self) -> u64 {
        self.records.commits_done
    }

    /// Whether a commit is at work.
    pub fn is_committing(&self) -> bool {
        self.records.at_work
    }

    /// Number of the last commit that has succeeded and took up all that was pending when it began, but for warmth.
    pub fn commits_complete(&self) -> u64 {
        self.records.commits_complete
    }

    /// Whether the journal had no room for all that the last commit should have taken up but for warmth, and a checkpoint makes some.
    pub fn lacks_room(&self) -> bool {
        self.records.truncated && self.records.journal_start < self.records.journal_next
    }

    /// Whether the journal had no room for all that the last commit should have taken up, or for warmth beside it, and a checkpoint makes some.
    pub fn lacks_room_for_all(&self) -> bool {
        let is_truncated = self.records.truncated || self.records.truncated_warmth;
        is_truncated && self.records.journal_start < self.records.journal_next
    }

    /// Whether a commit should be made although nobody asked, so that no request waits for one.
    pub fn wants_commit(&self) -> bool {
        let free = self.lists.length(crate::lists::ListId::FREE);
        let most =
            (u64::from(self.geometry.journal_blocks) * u64::from(self.geometry.records_per_block()) / 4).min(50_000);
        !self.records.at_work
            && ((self.records.has_leaving() && free <= self.low_water() / 2)
                || (self.records.pending.len() as u64 > most && self.ready_records() > most))
    }

    /// Pending records that a commit takes up now. Those of a volume that has failed may wait for ever.
    fn ready_records(&self) -> u64 {
        self.records.pending.values().filter(|record| self.is_ready(record)).count() as u64
    }

    /// Whether a record may become durable: it waits for no sync of an origin.
    fn is_ready(&self, record: &PendingRecord) -> bool {
        record.after.is_none_or(|(volume, sync)| self.volumes[usize::from(volume)].sync_done >= sync)
    }

    // ---- checkpoints

    /// Whether half of the journal is needed by recovery, so that a checkpoint should be made.
    pub fn wants_checkpoint(&self) -> bool {
        !self.has_abandoned() && self.records.room() < u64::from(self.geometry.journal_blocks) / 2
    }

    /// First block of the journal that recovery needs with a checkpoint that is begun now.
    pub fn checkpoint_begin(&self) -> u64 {
        if self.records.at_work { self.records.commit_start } else { self.records.journal_next }
    }

    /// What recovery would find in some lines now: the content of a checkpoint.
    pub fn durable_entries(&self, lines: std::ops::Range<LineNumber>) -> Vec<LineEntry> {
        lines.map(|line| self.records.durable(line, self.table.entry(line))).collect()
    }

    /// Notes that a checkpoint is durable, so that the journal before `start` can be overwritten.
    pub fn checkpoint_end(&mut self, start: u64) {
        self.records.journal_start = start;
    }

    /// Block of the journal that is written next.
    pub fn journal_next(&self) -> u64 {
        self.records.journal_next
    }
}

/// Whether a state relies on data that the durable one does not: on new sectors, or, clean or closed, on what was overwritten.
fn needs_data(durable: &LineEntry, state: &LineEntry) -> bool {
    let maps_more = durable.block() != state.block() || !durable.valid.has(state.valid);
    state.is_mapped() && (maps_more || (durable.is_open() && !state.is_open()))
}
