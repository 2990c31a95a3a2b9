//! How other programs reach a volume. An export knows block devices and nothing of lines.

#[cfg(feature = "fuse")]
mod fuse;
#[cfg(feature = "fuse")]
mod loop_device;
#[cfg(feature = "fuse")]
mod mounts;
mod nbd;
mod nbd_options;
#[cfg(feature = "fuse")]
mod programs;
mod service;

#[cfg(feature = "fuse")]
pub use fuse::{FuseServer, FuseVolume};
#[cfg(feature = "fuse")]
pub use loop_device::LoopDevice;
pub use nbd::{NbdServer, serve_connection};
pub use service::{BlockService, TierVolume};
