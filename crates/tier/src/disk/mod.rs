//! A modelled disk: how long a rotating disk, an array of them and a controller's cache take. Never what they store.
//!
//! [`ModelledDisk`] puts the model before a device that really stores; the rest is arithmetic in virtual time.

mod array;
mod drive;
mod paced;
mod profile;
mod raid;
mod track_buffer;
mod write_cache;

pub use array::{DiskArray, Progress};
pub use drive::{DiskRequest, Drive, Scheduling};
pub use paced::{ModelledDisk, Overshoot};
pub use profile::{DriveProfile, SeekCurve};
pub use raid::ArrayLayout;
