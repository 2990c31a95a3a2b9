//! Writes that need a fresh line or the origin. A clean line is never overwritten.

use std::ops::Range;

use super::machine_core::CacheMachine;
use super::settings::CacheMode;
use super::work::{AccessKind, Action, Begin, BlockRequest, BlockWork, Change, WaitFor};
use crate::block::{OriginBlock, SectorSet};
use crate::lists::{LineNumber, ListId};

/// Where the content of a fresh line comes from.
struct Placement {
    /// Sectors that the request touches.
    written: SectorSet,
    /// Further sectors of the old line.
    kept: SectorSet,
    /// Sectors of the old line that are read.
    copied: SectorSet,
    actions: Vec<Action>,
}

impl CacheMachine {
    /// Writes to a fresh line, which takes the place of a clean or closed one.
    pub(super) fn begin_place(&mut self, request: &BlockRequest, old: Option<LineNumber>) -> Begin {
        if self.hold(request.block, true).is_none() {
            return Begin::Wait(WaitFor::Block);
        }
        let claims = self.claims.ahead_of(request.block);
        let Some(line) = self.allocate(request.block, old.is_some(), claims) else {
            self.let_go(request.block);
            // A commit frees lines, but none for a volume that holds as many as it may; a line in place of another is in the quota already.
            let is_bounded = old.is_none() && self.is_full(request.block.volume());
            if !is_bounded && self.claim_line(request.block) {
                return Begin::Wait(WaitFor::Commit);
            }
            if let Some(old) = old.filter(|old| self.table.entry(*old).is_dirty()) {
                // An open line would let the next crash pass for the cause of what is known to be damaged.
                if !self.damaged(old).is_empty() {
                    return Begin::Damaged(self.damaged(old));
                }
                self.open_again(old);
                return Begin::Wait(WaitFor::Commit);
            }
            return self.begin_through(request, old, false);
        };
        self.placing += 1;
        let placement = self.placement(request, old, true);
        let (written, kept) = (placement.written, placement.kept);
        let mut actions = placement.actions;
        actions.push(Action::Merge);
        actions.extend(self.writes_to(line, written.or(kept)));
        let verification = old.and_then(|old| self.verification_of_copy(old, placement.copied));
        let change = Change::Place { line, old, kept, written };
        let window = written.or(kept).span();
        Begin::Work(BlockWork { request: request.clone(), window, actions, verification, change })
    }

    /// Whether a write of these pieces of blocks of a volume would go into lines as things are, without waiting for a commit, another request or the
    /// origin: a hint that changes nothing. It says no where a line can be had only by an attempt.
    pub fn would_absorb(&self, volume: u8, pieces: impl Iterator<Item = (OriginBlock, Range<u32>)>) -> bool {
        let state = &self.volumes[usize::from(volume)];
        if state.failed || state.mode() != CacheMode::WriteBack || self.is_too_dirty() {
            return false;
        }
        // Lines that are taken from the free ones, those of them that replace none, and those that replace a clean one.
        let (mut taken, mut added, mut replaced_clean) = (0, 0, 0);
        for (block, range) in pieces {
            let line = self.table.find(block);
            let valid = line.map_or(SectorSet(0), |line| self.table.entry(line).valid);
            // What a write leaves of its sectors is read from the origin if no line has it.
            let rest = SectorSet::touched(&range).without(SectorSet::covered(&range));
            if self.is_held(block) || !valid.has(rest) {
                return false;
            }
            taken += u32::from(!line.is_some_and(|line| self.is_overwritten_in_place(line)));
            added += u32::from(line.is_none());
            replaced_clean += u32::from(line.is_some_and(|line| !self.table.entry(line).is_dirty()));
        }
        // Beyond its quota a volume gives up a clean line for each that it takes, and not one that this write makes dirty or has given up.
        let over = state.settings.quota_lines.map_or(0, |quota| (state.lines + added).saturating_sub(quota));
        let is_in_quota = added == 0 || over + replaced_clean <= state.lines - state.dirty;
        is_in_quota && (taken == 0 || self.lists.length(ListId::FREE) >= self.claims.count() + taken)
    }

    /// Writes or discards on the origin, after it is durable that no line holds the block.
    pub(super) fn begin_through(&mut self, request: &BlockRequest, old: Option<LineNumber>, cached: bool) -> Begin {
        if self.cleaner.is_at_work_on(request.block) || self.hold(request.block, true).is_none() {
            return Begin::Wait(WaitFor::Block);
        }
        // A line that holds the block already takes it again, once no crash can find what it holds now: no other is given up for it.
        let own = old.filter(|_| cached);
        let line = match own {
            None if cached => self.allocate(request.block, false, self.claims.count()),
            own => own,
        };
        let placement = self.placement(request, old, line.is_some());
        let (written, kept) = (placement.written, placement.kept);
        let mut actions = placement.actions;
        let verification = old.and_then(|old| self.verification_of_copy(old, placement.copied));
        let from = old.map(|old| self.lists.policy_place(old));
        // What is read from the old line is read later, and written there later still: until then nobody else may have it.
        let pinned = own.or(old.filter(|_| !placement.copied.is_empty()));
        if let Some(line) = pinned {
            self.pin(line);
        }
        if let Some(old) = old {
            self.unmap(old);
        }
        if self.records.is_known(request.block) {
            actions.push(Action::Barrier);
        }
        actions.push(Action::Merge);
        let window = written.or(kept).span();
        match request.kind {
            AccessKind::Discard => actions.push(Action::OriginDiscard(request.range.clone())),
            _ => actions.push(Action::OriginWrite(written.span())),
        }
        if let Some(line) = line {
            actions.extend(self.writes_to(line, written.or(kept)));
        }
        let bypass = self.is_write_back(request);
        let sync_failures = self.volume(request.block).sync_failures;
        let change = Change::Through { line, valid: written.or(kept), from, bypass, pinned, sync_failures };
        Begin::Work(BlockWork { request: request.clone(), window, actions, verification, change })
    }

    fn is_write_back(&mut self, request: &BlockRequest) -> bool {
        let mode = self.volume(request.block).mode();
        request.kind == AccessKind::Write && mode == CacheMode::WriteBack
    }

    /// Finds out what is read from the old line and the origin; `keep` asks for the old line's other sectors too.
    fn placement(&mut self, request: &BlockRequest, old: Option<LineNumber>, keep: bool) -> Placement {
        let written = SectorSet::touched(&request.range);
        let covered = SectorSet::covered(&request.range);
        let nothing = (SectorSet(0), SectorSet(0));
        let (valid, dirty) = old.map(|old| self.table.entry(old)).map_or(nothing, |old| (old.valid, old.dirty));
        // Sectors whose record waits for a sync of the origin must not be made durable as clean by another line.
        let keep = keep && !self.volume(request.block).unsynced.contains_key(&request.block);
        let kept = if keep { valid.without(written) } else { dirty.without(written) };
        // A discard of what is clean needs no bytes around it: the origin's own are left.
        let is_around = request.kind == AccessKind::Discard && dirty.is_empty();
        let rest = if is_around { SectorSet(0) } else { written.without(covered) };
        let mut actions = Vec::with_capacity(5);
        self.read_rest(&mut actions, old, rest.or(kept));
        Placement { written, kept, copied: rest.or(kept).and(valid), actions }
    }

    fn writes_to(&self, line: LineNumber, sectors: SectorSet) -> Vec<Action> {
        sectors.runs().map(|run| Action::CacheWrite(self.byte_of(line, &run), run)).collect()
    }

    /// Whether a line that may be found after a crash still holds a block: see [`Action::Barrier`].
    pub fn is_barrier_up(&self, block: OriginBlock) -> bool {
        self.records.is_known(block)
    }
}
