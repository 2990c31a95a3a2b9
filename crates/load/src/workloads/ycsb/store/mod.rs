//! Where records are kept: the operations of the workload over a session of either kind. Lists and re-exports.

mod any;
mod desk;
mod dialect;
mod documents;
mod sql;
mod template;

pub(super) use any::{ChunkRows, MANIFEST, Store, TABLE};
pub(super) use desk::{Desk, Way, runtime};
pub(super) use dialect::Dialect;
