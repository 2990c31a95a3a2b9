//! Devices: what the cache and its origins lie on. They know nothing of lines.

mod claim;
mod clock;
mod contract;
mod file;
mod labelled;
mod several;

pub use claim::DeviceClaim;
pub use clock::MachineClock;
pub(crate) use contract::write_zeros;
pub use contract::{Clock, Device, DeviceWrite, WriteFailure};
pub use file::{FileDevice, PageCache};
pub use labelled::LabelledFile;
