//! The contract of a cache of the kernel: its plan, its counts, how it is drained, taken down and put in place again. May not carry out a step.

use super::CACHES;
use super::counts::{CacheCount, CacheStatistics};
use super::device::CacheDevice;
use super::step::CacheStep;
use proofload_model::error::Error;
use proofload_model::time::Clock;
use proofload_model::units::Bytes;
use proofload_tier::machine::CacheMode;
use std::path::PathBuf;

/// A cache that is asked for, or that is in place.
pub struct CacheOrder {
    /// Its system.
    pub system: &'static dyn KernelCache,
    /// Node of the cache, as its user names it.
    pub cache: PathBuf,
    /// Node of the origin.
    pub origin: PathBuf,
    /// Way of writes.
    pub mode: CacheMode,
    /// Size of a block; `None` for the usual one of the system.
    pub block: Option<Bytes>,
}

/// The same with its devices found.
pub struct CachePair {
    /// The cache.
    pub(super) cache: CacheDevice,
    /// The origin.
    pub(super) origin: CacheDevice,
    /// Way of writes.
    pub(super) mode: CacheMode,
    /// Size of a block.
    pub(super) block: Bytes,
}

impl CachePair {
    /// Name of the volume: that of the origin with ours before it.
    pub(super) fn name(&self) -> String {
        let origin = self.origin.node.file_name().map(|name| name.to_string_lossy().into_owned());
        format!("proofload-{}", origin.unwrap_or_default())
    }
}

/// A cache of the kernel.
pub trait KernelCache: Sync {
    /// Its name, such as `dm-cache`.
    fn name(&self) -> &'static str;

    /// The mode in its own words; `None` when it has none like it.
    fn mode(&self, mode: CacheMode) -> Option<&'static str>;

    /// The size of a block that it has unless told otherwise.
    fn usual_block(&self) -> Bytes;

    /// Whether it can have blocks of a size; the text says which it can.
    ///
    /// # Errors
    /// It cannot.
    fn expect_block(&self, block: Bytes) -> Result<(), Error>;

    /// What it counts, and what exactly that means. Sources are in the module of the cache.
    fn meanings(&self) -> &'static [(CacheCount, &'static str)];

    /// The steps that make it of two devices without content, each with the step that undoes it.
    ///
    /// # Errors
    /// The devices do not fit.
    fn set_up(&self, pair: &CachePair) -> Result<Vec<(CacheStep, Option<CacheStep>)>, Error>;

    /// Whether the first bytes of the cache, or of the origin, are its own; the size of its blocks where they tell it.
    ///
    /// # Errors
    /// They are not.
    fn recognise(&self, pair: &CachePair) -> Result<Option<Bytes>, Error>;

    /// The steps that put it in place again after the machine or a set-up ended in the middle, without touching what it holds.
    ///
    /// # Errors
    /// The devices do not fit.
    fn recover(&self, pair: &CachePair) -> Result<Vec<(CacheStep, Option<CacheStep>)>, Error>;

    /// Whether it is in place.
    fn is_in_place(&self, pair: &CachePair) -> bool;

    /// The steps that set again what the kernel forgot of a cache that others put in place; empty when it is as a set-up leaves it.
    fn settings_to_restore(&self, _pair: &CachePair) -> Vec<CacheStep> {
        Vec::new()
    }

    /// State and counts since it was put in place.
    ///
    /// # Errors
    /// It is not in place, or what it says is not understood.
    fn statistics(&self, pair: &CachePair, clock: &dyn Clock) -> Result<CacheStatistics, Error>;

    /// The steps after which it writes all that is dirty to the origin.
    ///
    /// # Errors
    /// What stands in the way.
    fn drain(&self, pair: &CachePair) -> Result<Vec<CacheStep>, Error>;

    /// The steps that remove it when nothing is dirty. What is already gone is passed over.
    ///
    /// # Errors
    /// What stands in the way.
    fn remove(&self, pair: &CachePair) -> Result<Vec<CacheStep>, Error>;

    /// The steps that remove what a set-up left that ended in the middle, where the cache itself is not in place.
    fn remains(&self, pair: &CachePair) -> Vec<CacheStep>;

    /// What becomes of the origin when it is taken down.
    fn origin_afterwards(&self) -> &'static str;
}

/// The cache with a name.
///
/// # Errors
/// There is none.
pub fn cache_named(name: &str) -> Result<&'static dyn KernelCache, Error> {
    let found = CACHES.iter().find(|cache| cache.name() == name);
    found.copied().ok_or_else(|| {
        let names: Vec<&str> = CACHES.iter().map(|cache| cache.name()).collect();
        Error::refused(format!("unknown cache {name:?}; use one of {}", names.join(", ")))
    })
}
