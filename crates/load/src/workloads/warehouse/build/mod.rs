//! Loading the data, in chunks that are each loaded and noted, or not; then indexes, sizes and the proof. Lists and
//! re-exports.

mod chunk;
mod load;
mod manifest;
mod prove;

pub(super) use load::{Load, data_facts};
pub(super) use manifest::Manifest;
#[cfg(test)]
pub(super) use manifest::{add as add_entry, chunk_entry};
#[cfg(test)]
pub(super) use prove::read_table;
