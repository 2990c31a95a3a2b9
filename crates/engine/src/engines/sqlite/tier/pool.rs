//! What a plan of a tier is in the words of the tier: devices, sizes, modes. May not know a database.

use proofload_model::tier::{CachePlan, DriveModel, EvictionPolicy, RaidLevel, SlowMedium, TierPlan, TierVolume, WriteMode};
use proofload_model::units::Bytes;
use proofload_tier::device::{Clock, Device};
use proofload_tier::disk::{ArrayLayout, DiskArray, DriveProfile, ModelledDisk, Scheduling};
use proofload_tier::machine::{CacheMode, CleanerSettings, PoolSettings, VolumeClass, VolumeSettings};
use proofload_tier::policy::PolicyChoice;
use std::sync::Arc;

/// Number of the data volume in a pool.
pub(super) const DATA: u8 = 0;
/// Number of the log volume in a pool.
pub(super) const LOG: u8 = 1;

/// The fewest lines of a pool, which one without a cache has too.
const LEAST_LINES: u64 = 8;

/// The drives of a slow medium.
pub(super) fn array(slow: &SlowMedium) -> DiskArray {
    let profile = match slow.drive {
        DriveModel::Rpm7200 => DriveProfile::RPM_7200,
        DriveModel::Rpm10k => DriveProfile::RPM_10K,
        DriveModel::Rpm15k => DriveProfile::RPM_15K,
        DriveModel::Hp97560 => DriveProfile::HP_97560,
    };
    let layout = match slow.raid {
        RaidLevel::Single => ArrayLayout::Single,
        RaidLevel::Raid0 => ArrayLayout::Raid0,
        RaidLevel::Raid1 => ArrayLayout::Raid1,
        RaidLevel::Raid5 => ArrayLayout::Raid5,
        RaidLevel::Raid10 => ArrayLayout::Raid10,
    };
    DiskArray::new(layout, slow.drives as usize, profile, Scheduling::Sptf, slow.write_cache.0)
}

/// The data and the log of a database on one modelled slow medium, in the order of their volumes.
pub(super) fn disks(
    slow: &SlowMedium,
    data: Arc<dyn Device>,
    log: Arc<dyn Device>,
    clock: Arc<dyn Clock>,
) -> [Arc<ModelledDisk>; 2] {
    let data = ModelledDisk::new(data, array(slow), clock);
    let log = data.beside(log);
    [Arc::new(data), Arc::new(log)]
}

/// Lines of a cache before data of a size.
pub(super) fn lines(cache: &CachePlan, data: Bytes) -> u32 {
    let lines = cache.size.before(data).0 / cache.line.0.max(1);
    u32::try_from(lines.max(LEAST_LINES)).unwrap_or(u32::MAX)
}

/// What a pool does.
pub(super) fn settings(plan: &TierPlan) -> PoolSettings {
    let volume = |volume, class| {
        let mode = if plan.cache.accelerates(volume) { mode(plan.cache.mode) } else { CacheMode::Pass };
        VolumeSettings { class, mode, quota_lines: None }
    };
    PoolSettings {
        policy: policy(plan.cache.policy),
        volumes: vec![volume(TierVolume::Data, VolumeClass::Data), volume(TierVolume::Log, VolumeClass::Log)],
        cleaner: CleanerSettings::usual(),
        verify_every_read: false,
    }
}

fn policy(asked: EvictionPolicy) -> PolicyChoice {
    match asked {
        EvictionPolicy::S3Fifo1 => PolicyChoice::S3Fifo1,
        EvictionPolicy::S3Fifo2 => PolicyChoice::S3Fifo2,
        EvictionPolicy::Lru => PolicyChoice::Lru,
        EvictionPolicy::TwoQueue => PolicyChoice::TwoQueue,
        EvictionPolicy::Arc => PolicyChoice::Arc,
        EvictionPolicy::TinyLfu => PolicyChoice::TinyLfu,
    }
}

fn mode(asked: WriteMode) -> CacheMode {
    match asked {
        WriteMode::WriteBack => CacheMode::WriteBack,
        WriteMode::WriteThrough => CacheMode::WriteThrough,
        WriteMode::WriteAround => CacheMode::WriteAround,
    }
}

/// The word of a mode in force; `pass` is no word of a study.
pub(super) fn mode_word(mode: CacheMode) -> &'static str {
    match mode {
        CacheMode::Pass => "pass",
        CacheMode::WriteAround => WriteMode::WriteAround.word(),
        CacheMode::WriteThrough => WriteMode::WriteThrough.word(),
        CacheMode::WriteBack => WriteMode::WriteBack.word(),
    }
}
