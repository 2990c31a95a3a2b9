//! Refuses to write over a device that anybody may need: destructive steps pass here or not at all. May not write.
//!
//! Untested on the real thing: no spare device here. Tried on fake trees of the kernel's files, on images with signatures, and
//! on loop devices. Whatever cannot be told is a refusal. Lists and re-exports.

mod claim;
mod kernel;
mod known;
mod mounts;
mod signatures;

pub(crate) use claim::{DeviceUse, claim, expect_unused};
pub(crate) use mounts::discards;
