//! The cache as a machine: requests and what devices answered go in, what devices shall do comes out.
//!
//! No clock, no thread, no data and no input or output. What must hold is in `docs/adr/0050-the-cache-tier.md`.

mod abandoning;
mod access;
mod changing;
mod claims;
mod cleaning;
mod closing;
mod commits;
mod depth;
mod finishing;
mod machine_core;
mod placing;
mod salvaging;
mod settings;
mod work;

pub use cleaning::{CleanBatch, CleanPiece, CleanerTick};
pub use commits::{Commit, JournalPosition, SectorCrcs};
pub use machine_core::CacheMachine;
pub(crate) use machine_core::low_water;
pub use settings::{CacheMode, CleanerMarks, CleanerSettings, PoolSettings, VolumeClass, VolumeSettings};
pub use work::{AccessKind, Action, Begin, BlockRequest, BlockWork, End, Verification, WaitFor, WorkFailure};
