//! How other programs reach a volume. An export knows block devices and nothing of lines.

mod byte_room;
#[cfg(feature = "fuse")]
mod fuse;
#[cfg(feature = "fuse")]
mod loop_device;
#[cfg(any(feature = "fuse", feature = "ublk"))]
mod mounts;
mod nbd;
mod nbd_options;
mod nbd_reply;
#[cfg(any(feature = "fuse", feature = "ublk"))]
mod processes;
#[cfg(feature = "fuse")]
mod programs;
mod service;
#[cfg(feature = "ublk")]
mod ublk;
#[cfg(any(feature = "fuse", feature = "ublk"))]
mod waiting;
mod workers;

#[cfg(feature = "fuse")]
pub use fuse::{FuseServer, FuseVolume};
#[cfg(feature = "fuse")]
pub use loop_device::LoopDevice;
pub use nbd::{NbdServer, serve_connection};
pub use service::{BlockService, TierVolume};
#[cfg(feature = "ublk")]
pub use ublk::UblkDevice;
