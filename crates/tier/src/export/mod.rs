//! How other programs reach a volume. An export knows block devices and nothing of lines.

mod nbd;
mod nbd_options;
mod service;

pub use nbd::{NbdServer, serve_connection};
pub use service::{BlockService, TierVolume};
