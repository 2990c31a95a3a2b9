//! Devices: what the cache and its origins lie on. They know nothing of lines.

mod claim;
mod clock;
mod contract;
mod file;
mod labelled;

pub use claim::DeviceClaim;
pub use clock::MachineClock;
pub(crate) use contract::write_zeros;
pub use contract::{Clock, Device};
pub use file::{FileDevice, PageCache};
pub use labelled::LabelledFile;
