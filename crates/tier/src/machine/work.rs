//! The words in which the machine and its driver speak: a request for one block, the work that it is, how it ended.

use std::ops::Range;

use super::commits::SectorCrcs;
use crate::block::{OriginBlock, SectorSet};
use crate::lists::{LineNumber, PolicyPlace};

/// What a request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKind {
    /// Reads bytes.
    Read,
    /// Writes bytes.
    Write,
    /// Makes bytes read as zeros.
    Discard,
}

/// A request for bytes of one block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockRequest {
    /// What it does.
    pub kind: AccessKind,
    /// The block, which says its volume too.
    pub block: OriginBlock,
    /// Bytes of the block, not empty.
    pub range: Range<u32>,
}

/// One step of a work. Ranges are bytes of the block; the driver keeps those of the work's window in a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Read the cache from this byte on into the buffer.
    CacheRead(u64, Range<u32>),
    /// Read the block's bytes from the origin into the buffer.
    OriginRead(Range<u32>),
    /// Put the caller's bytes, or zeros for a discard, into the buffer.
    Merge,
    /// Write bytes of the buffer to the cache from this byte on.
    CacheWrite(u64, Range<u32>),
    /// Write bytes of the buffer to the origin.
    OriginWrite(Range<u32>),
    /// Make the block's bytes read as zeros on the origin.
    OriginDiscard(Range<u32>),
    /// Go on when it is durable that no line holds the block.
    Barrier,
}

/// Checksums to compare with what is read from one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verification {
    /// The line.
    pub line: LineNumber,
    /// Its sectors that the work reads.
    pub sectors: SectorSet,
    /// Checksums that are not in the array on the device, which has the others.
    pub known: SectorCrcs,
}

/// What a request is for the devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockWork {
    /// The request.
    pub request: BlockRequest,
    /// Bytes of the block that the buffer holds.
    pub window: Range<u32>,
    /// The steps, in order.
    pub actions: Vec<Action>,
    /// Checksums to compare right after the last read of the cache.
    pub verification: Option<Verification>,
    /// What it changes when it succeeds.
    pub(super) change: Change,
}

impl BlockWork {
    /// Sectors that are written to the cache, whose checksums the machine asks for at the end.
    pub fn cache_written(&self) -> SectorSet {
        let ranges = self.actions.iter().filter_map(|action| match action {
            Action::CacheWrite(_, range) => Some(SectorSet::touched(range)),
            _ => None,
        });
        ranges.fold(SectorSet(0), SectorSet::or)
    }
}

/// A change of the machine's state that waits for the devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// Nothing but the use of a line.
    Hit { line: LineNumber },
    /// A line gains sectors that the origin has; a fresh one begins to hold the block.
    Fetch { line: Option<LineNumber>, fresh: bool, gained: SectorSet, partial: bool },
    /// Sectors of a dirty line are written where they are.
    Overwrite { line: LineNumber, written: SectorSet },
    /// A fresh line holds the block, with some sectors of the old one, which may be dirty if it is closed.
    Place { line: LineNumber, old: Option<LineNumber>, kept: SectorSet, written: SectorSet },
    /// The origin is written; a line may hold the block, clean: a fresh one, or that which held it. `from` is how the line stood that held it,
    /// `pinned` that line while it is read or is to hold the block again; `sync_failures` counts those of the origin at the begin.
    Through {
        line: Option<LineNumber>,
        valid: SectorSet,
        from: Option<PolicyPlace>,
        bypass: bool,
        pinned: Option<LineNumber>,
        sync_failures: u64,
    },
}

/// What a request must wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitFor {
    /// Another request for the block, or its cleaning.
    Block,
    /// A commit, which sets lines free.
    Commit,
}

/// Answer to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Begin {
    /// Do this, then call [`CacheMachine::end`](super::CacheMachine::end).
    Work(BlockWork),
    /// Ask again later.
    Wait(WaitFor),
    /// The volume has failed and does nothing more.
    Refused,
    /// Sectors of the block that are lost, of which the request does not write all whole.
    Damaged(SectorSet),
}

/// Reason for which a work did not succeed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkFailure {
    /// The cache could not be read.
    CacheRead,
    /// The cache could not be written.
    CacheWrite,
    /// The origin failed.
    Origin,
    /// The commit that a barrier waits for failed.
    Barrier,
    /// Sectors that were read from the cache have these checksums and not those that were wanted.
    Mismatch(Box<SectorCrcs>),
}

/// Outcome for the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The request is done.
    Done,
    /// The request must be asked again: the machine has taken another way.
    Retry,
    /// The request failed.
    Failed,
}
