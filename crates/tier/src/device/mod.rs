//! Devices: what the cache and its origins lie on. They know nothing of lines.

mod contract;
mod file;

pub use contract::{Clock, Device};
pub use file::{FileDevice, PageCache};
