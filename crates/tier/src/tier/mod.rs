//! The cache at work: the machine driven over real devices by any number of threads.
//!
//! It decides nothing that the machine could decide, starts no thread unless it is asked to, and prints nothing.

mod abandoning;
mod committing;
mod discarding;
mod driver;
mod flush_delay;
mod front;
mod inspection;
mod latency;
mod maintenance;
mod opening;
mod reading;
mod recovery;
mod run;
mod salvaging;
mod sampling;
mod sizing;
mod snapshot;
mod unwinding;
mod warming;

pub use flush_delay::{FlushTimes, MOST_FLUSH_DELAY};
pub use front::{PoolStatus, Tier};
pub use inspection::{CacheInspection, DataCheck, DataFault, DeviceContent, FaultKind};
pub use latency::{LatencyClass, LatencyHistogram};
pub use maintenance::Maintenance;
pub use opening::{FormatSettings, TierDevices};
pub use salvaging::{SalvageStatus, SkippedRange};
pub use sizing::DrainStatus;
pub use snapshot::{PoolSnapshot, VolumeSnapshot};
pub use warming::WarmedBlocks;
