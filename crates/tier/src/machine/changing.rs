//! Changes of what a line holds: the counts, the lists, the record, and what flushes of its volume wait for from then on.

use super::commits::SectorCrcs;
use super::machine_core::CacheMachine;
use crate::lines::LineEntry;
use crate::lists::LineNumber;

impl CacheMachine {
    /// Changes what a line holds, its place in lists and the counts, and notes a record that no commit leaves out.
    pub(super) fn change(&mut self, line: LineNumber, entry: LineEntry, crcs: &SectorCrcs, after: Option<(u8, u64)>) {
        let before = *self.table.entry(line);
        self.note_change(line, &before, &entry);
        self.gain_warmth(line, entry, crcs, after);
    }

    /// Does the same for a line that is clean and gains what the origin has: its record may wait. Why: at the top of `commits.rs`.
    pub(super) fn gain_warmth(
        &mut self,
        line: LineNumber,
        entry: LineEntry,
        crcs: &SectorCrcs,
        after: Option<(u8, u64)>,
    ) {
        let before = *self.table.entry(line);
        self.records.note(line, &before, crcs, after);
        self.table.set(line, entry);
        let owner = entry.block().or(before.block()).expect("a change is of a block");
        let volume = self.volume(owner);
        volume.lines = volume.lines + u32::from(entry.is_mapped()) - u32::from(before.is_mapped());
        volume.dirty = volume.dirty + u32::from(entry.is_dirty()) - u32::from(before.is_dirty());
        self.cleaner.note(entry.is_dirty(), before.is_dirty());
        self.closing.note(&entry, &before);
        self.place_in_lists(line, &before, &entry);
    }

    /// Notes that the record of a line must not be left out, and what flushes of its volume wait for from now on.
    ///
    /// A flush waits for every change of a line of its volume, but for two. **Warmth**, of which `commits.rs` tells. **A clean line that is
    /// given up**, though its record is due: after a crash that has lost the record, the line is found again with what the origin had when that
    /// was read, and whatever a flush promises of the block does not rest on it. A write of the block on the origin is begun only after the
    /// record is durable ([`Action::Barrier`](super::Action::Barrier)), as is its cleaning; and where a dirty line takes the place of the clean
    /// one, the change of that line is waited for, whose commit takes up this record too. A line that was cleaned before it was given up is
    /// waited for by its cleaning. Lines of other volumes do not matter: no line holds blocks of two.
    fn note_change(&mut self, line: LineNumber, before: &LineEntry, now: &LineEntry) {
        self.records.note_due(line);
        let gives_up_clean = !before.is_dirty() && !now.is_mapped();
        let wanted = self.commit_wanted();
        if let Some(block) = now.block().or(before.block()).filter(|_| !gives_up_clean) {
            self.volume(block).commit_wanted = wanted;
        }
    }
}
