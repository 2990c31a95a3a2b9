//! The contract of a policy. Dirty lines are kept apart: they are in no queue of a policy until they are clean.

use crate::lists::{LineNumber, Lists, PolicyPlace};

/// The key for which room is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Incoming(pub u64);

/// Order in which lines are given up.
///
/// A policy owns three lists of [`Lists`] and the bits of use of the lines in them. Keys are numbers of blocks.
pub trait Policy: Send {
    /// Counts a read of a key, whether or not a line holds it: before [`Policy::touch`] or [`Policy::admit`]. Policies without a memory of
    /// keys make nothing of it.
    fn seen(&mut self, _key: u64) {}

    /// Takes in a line that begins to hold a key.
    fn admit(&mut self, lists: &mut Lists, line: LineNumber, key: u64);

    /// Tells a line, admitted just now, how the clean line stood that held its key until it was written. It may be dirty already. Policies
    /// that keep to their publication make nothing of it.
    fn inherit(&mut self, _lists: &mut Lists, _line: LineNumber, _from: PolicyPlace) {}

    /// Counts a use of a line. One that is in no list of the policy, since it is dirty, keeps its place.
    fn touch(&mut self, lists: &mut Lists, line: LineNumber, key: u64);

    /// Takes back a line that was dirty.
    fn restore(&mut self, lists: &mut Lists, line: LineNumber);

    /// Takes the line to give up out of its lists; `None` when it has no line. `key_of` tells the keys of lines.
    fn victim(
        &mut self,
        lists: &mut Lists,
        incoming: Incoming,
        key_of: &dyn Fn(LineNumber) -> u64,
    ) -> Option<LineNumber>;

    /// Bytes of memory beside the lists.
    fn memory_bytes(&self) -> usize;
}
