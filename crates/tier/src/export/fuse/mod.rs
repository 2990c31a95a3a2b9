//! Volumes as files of a FUSE file system, without the page cache of the system.

mod files;
mod server;

pub use server::{FuseServer, FuseVolume};
