//! The file of a cache: made, opened past the page cache, and emptied into its origins. May not know a database.

use super::plan::{lines, to_be_emptied};
use crate::contract::Error;
use proofload_model::tier::{TierPlan, TierVolume};
use proofload_model::units::Bytes;
use proofload_tier::device::{Clock, Device, FileDevice, PageCache};
use proofload_tier::layout::{Geometry, Identity};
use proofload_tier::tier::{FormatSettings, Tier, TierDevices};
use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Time in which an old cache must be clean before another takes its place.
const DRAINED_WITHIN: Duration = Duration::from_secs(600);

/// A cache that is open.
pub struct OpenCache {
    /// Its device.
    pub device: Arc<dyn Device>,
    /// Whether it is read and written without the page cache of the operating system.
    pub is_direct: bool,
}

/// Opens a cache file past the page cache where its file system allows that.
///
/// # Errors
/// It cannot be opened.
pub fn open_cache(path: &Path) -> Result<OpenCache, Error> {
    if let Ok(direct) = FileDevice::open(path, PageCache::Bypassed) {
        return Ok(OpenCache { device: Arc::new(direct), is_direct: true });
    }
    let device = FileDevice::open(path, PageCache::Used).map_err(tier_error)?;
    Ok(OpenCache { device: Arc::new(device), is_direct: false })
}

/// Makes an empty cache before data of a size, in the place of one that is of no use.
///
/// # Errors
/// A device fails, or an origin has the label of another cache.
pub fn make_cache(path: &Path, plan: &TierPlan, data: Bytes, origins: &[Arc<dyn Device>]) -> Result<(), Error> {
    let _none = fs::remove_file(path);
    let line = u32::try_from(plan.cache.line.0).unwrap_or(u32::MAX);
    let lines = lines(&plan.cache, data);
    let bytes = Geometry::new(line, lines).map_err(tier_error)?.bytes();
    let cache = FileDevice::create_whole(path, bytes, PageCache::Used).map_err(tier_error)?;
    let devices = TierDevices { cache: Arc::new(cache), origins: origins.to_vec() };
    let settings = FormatSettings {
        line_bytes: line,
        most_lines: Some(lines),
        journal_blocks: None,
        active_lines: None,
        cache: identity()?,
        origins: origins.iter().map(|_| identity()).collect::<Result<_, _>>()?,
    };
    Tier::format(&devices, &settings).map_err(tier_error)
}

/// Writes what a cache alone has to its origins, at the speed of their files, and frees them of it. Nothing is done where a pool has set them
/// free already: it does so only when they have everything.
///
/// # Errors
/// They do not belong together, a device fails, or it takes longer than 10 minutes.
pub fn empty_cache(
    path: &Path,
    volumes: &[TierVolume],
    origins: Vec<Arc<dyn Device>>,
    clock: Arc<dyn Clock>,
) -> Result<(), Error> {
    let devices = TierDevices { cache: open_cache(path)?.device, origins };
    let tier = match Tier::open(devices, to_be_emptied(volumes), clock) {
        Err(error) if error.is_detached() => return Ok(()),
        opened => opened.map_err(tier_error)?,
    };
    tier.detach(DRAINED_WITHIN).map_err(tier_error)
}

/// A number that no other device has.
fn identity() -> Result<Identity, Error> {
    let mut bytes = [0; 16];
    let read = File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes));
    read.map_err(|error| {
        Error::other(format!("failed to read an identifier for the cache from /dev/urandom: {error}"))
    })?;
    Ok(Identity(bytes))
}

/// An error of the tier.
pub(super) fn tier_error(error: proofload_tier::Error) -> Error {
    Error::other(format!("cache tier: {error}"))
}
