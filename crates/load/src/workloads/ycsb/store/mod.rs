//! Where records are kept: the operations of the workload over a session of either kind. Lists and re-exports.

mod any;
mod blocking_store;
mod dialect;
mod documents;
mod sql;
mod template;

pub(super) use any::{ChunkRows, MANIFEST, Store, TABLE};
pub(super) use blocking_store::{BlockingStore, StoreAccess};
pub(super) use dialect::StoreDialect;
