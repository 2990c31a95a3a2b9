//! The way of a request: hit, fetch, overwrite in place, fresh line, or origin.

use std::ops::Range;

use super::commits::SectorCrcs;
use super::machine_core::CacheMachine;
use super::settings::CacheMode;
use super::work::{AccessKind, Action, Begin, BlockRequest, BlockWork, Change, Verification, WaitFor};
use crate::block::SectorSet;
use crate::lists::LineNumber;

impl CacheMachine {
    /// Begins a request.
    ///
    /// Its range must lie in the block. A work must be ended; until then it holds its block.
    pub fn begin(&mut self, request: &BlockRequest) -> Begin {
        if self.volume(request.block).failed {
            self.claims.drop_of(request.block);
            return Begin::Refused;
        }
        self.requests += 1;
        if request.kind == AccessKind::Read {
            return self.begin_read(request);
        }
        let begin = self.begin_write(request);
        if !self.claims.is_empty() && !matches!(begin, Begin::Wait(_)) {
            self.claims.drop_of(request.block);
        }
        begin
    }

    fn begin_read(&mut self, request: &BlockRequest) -> Begin {
        let line = self.table.find(request.block);
        let needed = SectorSet::touched(&request.range);
        match line {
            Some(line) if self.table.entry(line).valid.has(needed) => self.begin_hit(request, line, needed),
            _ => self.begin_fetch(request, line, needed),
        }
    }

    fn begin_hit(&mut self, request: &BlockRequest, line: LineNumber, needed: SectorSet) -> Begin {
        if self.hold(request.block, false).is_none() {
            return Begin::Wait(WaitFor::Block);
        }
        self.seen(request.block);
        self.touch(line, request.block);
        let window = needed.span();
        let actions = vec![Action::CacheRead(self.byte_of(line, &window), window.clone())];
        let verification = self.verification(line, needed);
        Begin::Work(BlockWork { request: request.clone(), window, actions, verification, change: Change::Hit { line } })
    }

    fn begin_fetch(&mut self, request: &BlockRequest, line: Option<LineNumber>, needed: SectorSet) -> Begin {
        if self.hold(request.block, true).is_none() {
            return Begin::Wait(WaitFor::Block);
        }
        let window = needed.span();
        let here = line.map_or(SectorSet(0), |line| self.table.entry(line).valid.and(needed));
        if self.volume(request.block).mode() != CacheMode::Pass {
            self.seen(request.block);
        }
        let mut actions = vec![Action::OriginRead(window.clone())];
        let verification = line.filter(|_| !here.is_empty()).and_then(|line| self.verification(line, here));
        if let Some(line) = line {
            self.touch(line, request.block);
            actions.extend(here.runs().map(|run| Action::CacheRead(self.byte_of(line, &run), run)));
        }
        let room = self.room_for_fetch(request, line);
        let gained = needed.without(here);
        if let Some(line) = room {
            actions.extend(gained.runs().map(|run| Action::CacheWrite(self.byte_of(line, &run), run)));
        }
        let change = Change::Fetch { line: room, fresh: line.is_none(), gained, partial: !here.is_empty() };
        Begin::Work(BlockWork { request: request.clone(), window, actions, verification, change })
    }

    /// The line into which a miss is brought, if it is to be cached.
    fn room_for_fetch(&mut self, request: &BlockRequest, line: Option<LineNumber>) -> Option<LineNumber> {
        let volume = self.volume(request.block);
        if volume.mode() == CacheMode::Pass {
            return None;
        }
        let unsynced = volume.unsynced.contains_key(&request.block);
        match line {
            // The record of a dirty line must not wait for a sync of the origin.
            Some(line) if unsynced && self.table.entry(line).is_dirty() => None,
            Some(line) => Some(line),
            None => self.allocate(request.block, false, self.claims.count()),
        }
    }

    fn begin_write(&mut self, request: &BlockRequest) -> Begin {
        let line = self.table.find(request.block);
        if let Some(line) = line.filter(|line| self.table.entry(*line).is_dirty()) {
            return self.begin_dirty(request, line);
        }
        let mode = self.volume(request.block).mode();
        if request.kind == AccessKind::Write && mode == CacheMode::WriteBack && !self.is_too_dirty() {
            return self.begin_place(request, line);
        }
        self.begin_through(request, line, mode == CacheMode::WriteThrough && request.kind == AccessKind::Write)
    }

    fn begin_dirty(&mut self, request: &BlockRequest, line: LineNumber) -> Begin {
        // Sectors that are damaged would be copied, or hidden from the next crash.
        if !SectorSet::covered(&request.range).has(self.damaged(line)) {
            return Begin::Damaged(self.damaged(line));
        }
        if self.is_fixed(line) { self.begin_place(request, Some(line)) } else { self.begin_overwrite(request, line) }
    }

    /// Writes sectors of a dirty line where they are: until the next flush either content is right, as on a disk.
    fn begin_overwrite(&mut self, request: &BlockRequest, line: LineNumber) -> Begin {
        if self.hold(request.block, true).is_none() {
            return Begin::Wait(WaitFor::Block);
        }
        let before = *self.table.entry(line);
        let entry = before.written_after(&before);
        self.table.set(line, entry);
        self.touch(line, request.block);
        let written = SectorSet::touched(&request.range);
        let rest = written.without(SectorSet::covered(&request.range));
        let mut actions = Vec::with_capacity(4);
        self.read_rest(&mut actions, Some(line), rest);
        let window = written.span();
        actions.push(Action::Merge);
        actions.push(Action::CacheWrite(self.byte_of(line, &window), window.clone()));
        let verification = self.verification_of_copy(line, rest.and(entry.valid));
        let change = Change::Overwrite { line, written };
        Begin::Work(BlockWork { request: request.clone(), window, actions, verification, change })
    }

    /// Reads what a request leaves of sectors that it touches, from the line as far as it has them.
    pub(super) fn read_rest(&self, actions: &mut Vec<Action>, line: Option<LineNumber>, rest: SectorSet) {
        let valid = line.map_or(SectorSet(0), |line| self.table.entry(line).valid);
        actions.extend(rest.without(valid).runs().map(Action::OriginRead));
        if let Some(line) = line {
            actions.extend(rest.and(valid).runs().map(|run| Action::CacheRead(self.byte_of(line, &run), run)));
        }
    }

    /// Position on the cache of a range of bytes of the block that a line holds.
    pub(super) fn byte_of(&self, line: LineNumber, range: &Range<u32>) -> u64 {
        self.geometry.byte_of_line(line) + u64::from(range.start)
    }

    /// What must be compared when sectors of a line are read.
    pub(super) fn verification(&self, line: LineNumber, sectors: SectorSet) -> Option<Verification> {
        if sectors.is_empty() || (self.lists.is_trusted(line) && !self.settings.verify_every_read) {
            return None;
        }
        Some(Verification { line, sectors, known: self.known_crcs(line, sectors) })
    }

    /// What must be compared when sectors of a line are copied: they get new checksums, which would hide that they differ from the old ones.
    pub(super) fn verification_of_copy(&self, line: LineNumber, sectors: SectorSet) -> Option<Verification> {
        (!sectors.is_empty()).then(|| Verification { line, sectors, known: self.known_crcs(line, sectors) })
    }

    fn known_crcs(&self, line: LineNumber, sectors: SectorSet) -> SectorCrcs {
        self.records.crcs_of(line).only(sectors)
    }
}
