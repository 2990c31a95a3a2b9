//! Caches of the kernel in production: one file and one line in [`CACHES`] each. Set up, read, taken down and put in place again by the
//! programs that their makers keep. Lists and re-exports.

mod actions;
mod bcache;
mod cache;
mod counts;
mod device;
mod dm;
mod dm_cache;
mod dm_writecache;
mod open_cas;
mod step;

pub use actions::{
    TakenDownCache, plan, recover, recovery_plan, refusal, set_up, statistics, take_down, take_down_plan,
};
pub use cache::{CacheOrder, CachePair, KernelCache, cache_named};
pub use counts::{CacheCount, CacheStatistics};
pub use device::CacheDevice;
pub use step::CacheStep;

/// Every cache.
pub const CACHES: &[&dyn KernelCache] =
    &[&dm_cache::DmCache, &dm_writecache::DmWritecache, &bcache::Bcache, &open_cas::OpenCas];
