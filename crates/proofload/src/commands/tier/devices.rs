//! Opens the devices of a pool, each claimed for this process. Every device that cannot be had is told.

use super::words::OriginPlace;
use crate::clock::SystemClock;
use proofload_engine::tiers;
use proofload_model::tier::SlowMedium;
use proofload_model::units::Bytes;
use proofload_tier::device::{Device, DeviceClaim, FileDevice, PageCache};
use proofload_tier::disk::ModelledDisk;
use proofload_tier::tier::TierDevices;
use std::error::Error as _;
use std::path::Path;
use std::sync::Arc;

/// Devices of a pool, for this process alone until they are dropped.
pub(super) struct OpenDevices {
    pub(super) devices: TierDevices,
    /// Modelled drives before the origins.
    pub(super) disks: Vec<Arc<ModelledDisk>>,
    _claims: Vec<DeviceClaim>,
}

/// The page cache as an argument says.
pub(super) const fn page_cache(used: bool) -> PageCache {
    if used { PageCache::Used } else { PageCache::Bypassed }
}

/// Opens cache and origins; all faults at once.
pub(super) fn open(
    cache: &Path,
    origins: &[OriginPlace],
    page_cache: PageCache,
    slow: Option<&SlowMedium>,
) -> Result<OpenDevices, String> {
    let mut faults = Vec::new();
    let mut claims = Vec::new();
    let mut take = |path: &Path| match open_one(path, page_cache) {
        Ok((claim, device)) => {
            claims.push(claim);
            Some(device)
        }
        Err(fault) => {
            faults.push(fault);
            None
        }
    };
    let cache = take(cache);
    let opened: Vec<_> = origins.iter().map(|place| take(&place.path)).collect();
    let (Some(cache), Some(opened)) = (cache, opened.into_iter().collect::<Option<Vec<_>>>()) else {
        return Err(faults.join("\nproofload: "));
    };
    let SlowOrigins { origins, disks } = match slow {
        None => SlowOrigins {
            origins: opened.into_iter().map(|device| Arc::new(device) as Arc<dyn Device>).collect(),
            disks: Vec::new(),
        },
        Some(slow) => behind(slow, opened)?,
    };
    Ok(OpenDevices { devices: TierDevices { cache: Arc::new(cache), origins }, disks, _claims: claims })
}

/// Claims and opens one device.
pub(super) fn open_one(path: &Path, page_cache: PageCache) -> Result<(DeviceClaim, FileDevice), String> {
    let claim = DeviceClaim::take(path).map_err(|error| error.to_string())?;
    let device = FileDevice::open(path, page_cache).map_err(|error| {
        let cause = error.source().and_then(|source| source.downcast_ref::<std::io::Error>());
        let refused = cause.is_some_and(|cause| cause.kind() == std::io::ErrorKind::InvalidInput);
        match page_cache {
            PageCache::Bypassed if refused => {
                format!("{error}; if the file system has no direct I/O, use --page-cache")
            }
            _ => error.to_string(),
        }
    })?;
    Ok((claim, device))
}

/// Origins, and the modelled drives before them.
struct SlowOrigins {
    origins: Vec<Arc<dyn Device>>,
    disks: Vec<Arc<ModelledDisk>>,
}

/// Puts one array of modelled drives before all origins, which contend for it.
fn behind(slow: &SlowMedium, origins: Vec<FileDevice>) -> Result<SlowOrigins, String> {
    let wanted: u64 = origins.iter().map(Device::bytes).sum();
    let array = tiers::array(slow, Bytes(wanted)).ok_or_else(|| "no drives are modelled".to_owned())?;
    if wanted > array.bytes() {
        return Err(format!("the origins need {wanted} bytes, but the modelled drives have only {}", array.bytes()));
    }
    let mut array = Some(array);
    let mut disks: Vec<Arc<ModelledDisk>> = Vec::new();
    for origin in origins {
        let disk = match (array.take(), disks.last()) {
            (Some(array), _) => ModelledDisk::new(Arc::new(origin), array, Arc::new(SystemClock)),
            (None, Some(last)) => last.beside(Arc::new(origin)),
            (None, None) => return Err("no drives are left for an origin".to_owned()),
        };
        disks.push(Arc::new(disk));
    }
    let origins = disks.iter().map(|disk| disk.clone() as Arc<dyn Device>).collect();
    // All share one array, so that one of them tells what it did.
    disks.truncate(1);
    Ok(SlowOrigins { origins, disks })
}
