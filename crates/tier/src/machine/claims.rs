//! Claims of writes that wait for a commit: each has one of the lines that are free or that a commit sets free, in the order in which they came.
//!
//! No more claims are given out than there are such lines, and nobody else takes them. So a write waits for one commit at most until it has a line;
//! where the line does not come free, since it is read or no longer in use, the write goes another way.

use std::collections::VecDeque;

use super::machine_core::CacheMachine;
use crate::block::OriginBlock;
use crate::lists::ListId;

/// What a write that waits has.
#[derive(Clone, Copy, Debug)]
struct LineClaim {
    block: OriginBlock,
    /// Number of the commit with which the line is free.
    commit: u64,
}

/// Claims on lines, the oldest first; one for each block.
#[derive(Debug, Default)]
pub(super) struct LineClaims {
    claims: VecDeque<LineClaim>,
}

impl LineClaims {
    /// Whether nobody waits.
    pub(super) fn is_empty(&self) -> bool {
        self.claims.is_empty()
    }

    /// Number of all claims.
    pub(super) fn count(&self) -> u32 {
        u32::try_from(self.claims.len()).expect("fewer than lines")
    }

    /// Number of claims that come before a write of a block.
    pub(super) fn ahead_of(&self, block: OriginBlock) -> u32 {
        let own = self.claims.iter().position(|claim| claim.block == block);
        own.map_or(self.count(), |own| u32::try_from(own).expect("fewer than lines"))
    }

    /// Forgets the claim of a block, if it has one.
    pub(super) fn drop_of(&mut self, block: OriginBlock) {
        self.claims.retain(|claim| claim.block != block);
    }
}

impl CacheMachine {
    /// Whether a write for which no line is free may wait for a commit: it has a claim, or gets one. A claim whose commit is done is lost.
    pub(super) fn claim_line(&mut self, block: OriginBlock) -> bool {
        let own = self.claims.claims.iter().find(|claim| claim.block == block).copied();
        if let Some(own) = own {
            let is_due = self.commits_complete() >= own.commit;
            if is_due {
                self.claims.drop_of(block);
            }
            return !is_due;
        }
        let is_backed = self.has_line_ahead(self.claims.count());
        if is_backed {
            self.claims.claims.push_back(LineClaim { block, commit: self.commit_wanted() });
        }
        is_backed
    }

    /// Whether more lines than a number of claims are free, or are with the next commit.
    pub(super) fn has_line_ahead(&self, claims: u32) -> bool {
        u64::from(self.lists.length(ListId::FREE)) + self.records.leaving_lines() > u64::from(claims)
    }
}
