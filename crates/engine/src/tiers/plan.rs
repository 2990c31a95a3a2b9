//! What a plan of a tier is in the words of the tier: devices, sizes, modes. May not know a database.

use proofload_model::tier::{
    CachePlan, DriveModel, DriveScheduling, EvictionPolicy, RaidLevel, SlowMedium, TierPlan, TierVolume, WriteMode,
};
use proofload_model::tier_cleaning::{CleanDepth, CleaningPlan, DirtyMark, USUAL_CLEAN_DEPTH};
use proofload_model::units::Bytes;
use proofload_tier::device::{Clock, Device};
use proofload_tier::disk::{ArrayLayout, DiskArray, DriveProfile, ModelledDisk, Scheduling};
use proofload_tier::machine::{CacheMode, CleanerSettings, PoolSettings, VolumeClass, VolumeSettings};
use proofload_tier::policy::PolicyChoice;
use std::sync::Arc;

/// The fewest lines of a pool, which one without a cache has too.
const LEAST_LINES: u64 = 8;

/// Volumes of a database in the order of their numbers in a pool; one whose log has no folder of its own has data only.
pub fn volumes(has_log: bool) -> &'static [TierVolume] {
    if has_log { &[TierVolume::Data, TierVolume::Log] } else { &[TierVolume::Data] }
}

/// The drives of a slow medium under so many bytes of data; `None` of one that is not modelled.
pub fn array(slow: &SlowMedium, data: Bytes) -> Option<DiskArray> {
    let profile = match slow.drive {
        DriveModel::NotModelled => return None,
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
    let scheduling = match slow.scheduling {
        DriveScheduling::Sptf => Scheduling::Sptf,
        DriveScheduling::Fcfs => Scheduling::Fcfs,
        DriveScheduling::Elevator => Scheduling::Elevator,
    };
    let array = DiskArray::new(layout, slow.count() as usize, profile, scheduling, slow.write_cache.0);
    Some(array.spread(slow.stroke.share(), data.0))
}

/// The data, of a size, and the log of a database on one modelled slow medium, in the order of their volumes; `None` where it is not modelled.
pub fn disks(
    slow: &SlowMedium,
    size: Bytes,
    data: Arc<dyn Device>,
    log: Arc<dyn Device>,
    clock: Arc<dyn Clock>,
) -> Option<[Arc<ModelledDisk>; 2]> {
    let data = ModelledDisk::new(data, array(slow, size)?, clock);
    let log = data.beside(log);
    Some([Arc::new(data), Arc::new(log)])
}

/// Lines of a cache before data of a size.
pub fn lines(cache: &CachePlan, data: Bytes) -> u32 {
    let lines = cache.size.before(data).0 / cache.line.0.max(1);
    u32::try_from(lines.max(LEAST_LINES)).unwrap_or(u32::MAX)
}

/// What a pool of these volumes does, which has so many lines in use.
pub fn settings(plan: &TierPlan, volumes: &[TierVolume], lines: u32) -> PoolSettings {
    let mode = |volume| if plan.cache.accelerates(volume) { mode(plan.cache.mode) } else { CacheMode::Pass };
    let mut settings = pool(policy(plan.cache.policy), cleaner(&plan.cache.cleaning), volumes, mode);
    for (volume, settings) in volumes.iter().zip(&mut settings.volumes) {
        settings.quota_lines = plan.cache.quota(*volume).map(|part| part.of_lines(lines));
    }
    settings
}

/// What a cleaner does.
pub fn cleaner(plan: &CleaningPlan) -> CleanerSettings {
    let mark = |mark| plan.mark(mark).share();
    CleanerSettings {
        target: mark(DirtyMark::Target),
        urgent_from: mark(DirtyMark::CleanFrom),
        urgent_to: mark(DirtyMark::CleanTo),
        bypass_from: mark(DirtyMark::BypassFrom),
        idle_after: plan.clean_after,
        age_limit: plan.age_limit,
        depth: match plan.depth {
            CleanDepth::Fixed(depth) => depth,
            CleanDepth::Auto => USUAL_CLEAN_DEPTH,
        },
        tunes_depth: plan.depth == CleanDepth::Auto,
        ..CleanerSettings::usual()
    }
}

/// What a pool of these volumes does that is opened to be emptied.
pub(super) fn to_be_emptied(volumes: &[TierVolume]) -> PoolSettings {
    pool(PolicyChoice::S3Fifo1, CleanerSettings::usual(), volumes, |_| CacheMode::WriteBack)
}

fn pool(
    policy: PolicyChoice,
    cleaner: CleanerSettings,
    volumes: &[TierVolume],
    mode: impl Fn(TierVolume) -> CacheMode,
) -> PoolSettings {
    let class = |volume: TierVolume| match volume {
        TierVolume::Data => VolumeClass::Data,
        TierVolume::Log => VolumeClass::Log,
    };
    let one = |volume: &TierVolume| VolumeSettings { class: class(*volume), mode: mode(*volume), quota_lines: None };
    PoolSettings { policy, volumes: volumes.iter().map(one).collect(), cleaner, verify_every_read: false }
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
pub fn mode_word(mode: CacheMode) -> &'static str {
    match mode {
        CacheMode::Pass => "pass",
        CacheMode::WriteAround => WriteMode::WriteAround.word(),
        CacheMode::WriteThrough => WriteMode::WriteThrough.word(),
        CacheMode::WriteBack => WriteMode::WriteBack.word(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_model::settings::{Settings, Value};
    use proofload_model::tier::{TIER, tier_plan};
    use proofload_model::tier_cleaning::MOST_CLEAN_DEPTH;
    use proofload_tier::disk::{DiskRequest, Progress};

    #[test]
    fn a_pool_cleans_as_deep_as_its_study_says() {
        let depth = |asked: Option<i64>| {
            let mut given = vec![("storage.kind".to_owned(), Value::Text(TIER.to_owned()))];
            given.extend(asked.map(|depth| ("storage.cache.clean_depth".to_owned(), Value::Integer(depth))));
            let plan = tier_plan(&Settings(given.into_iter().collect())).expect("words").expect("a tier");
            settings(&plan, volumes(true), 64).cleaner.depth
        };
        assert_eq!((depth(None), depth(Some(1)), depth(Some(32))), (USUAL_CLEAN_DEPTH, 1, 32));
        // What a study may say is what a pool does.
        let known = (CleanerSettings::usual().depth, CleanerSettings::MOST_DEPTH);
        assert_eq!(known, (USUAL_CLEAN_DEPTH, MOST_CLEAN_DEPTH));
    }

    #[test]
    fn drives_serve_what_waits_in_the_order_that_a_study_says() {
        let medium = |scheduling: &str| {
            let given =
                [("storage.kind", TIER), ("storage.slow.raid", "single"), ("storage.slow.scheduling", scheduling)];
            let given = given.map(|(path, word)| (path.to_owned(), Value::Text(word.to_owned())));
            tier_plan(&Settings(given.into_iter().collect())).expect("words").expect("a tier").slow
        };
        // Thirty-two scattered reads that wait at once: when the last of them is done, ms.
        let last = |scheduling: &str| {
            let mut array = array(&medium(scheduling), Bytes(1 << 30)).expect("it is modelled");
            let places = (0..32_u64).map(|number| number * 13 % 32 * (60 << 30));
            let read = |at| DiskRequest { at, bytes: 8192, is_write: false };
            let names: Vec<u64> = places.map(|at| array.submit(0.0, read(at))).collect();
            let done = names.into_iter().map(|name| {
                let mut now = 0.0;
                loop {
                    match array.progress(name, now) {
                        Progress::Done(done) => return done,
                        Progress::Open(next) => now = next,
                    }
                }
            });
            done.fold(0.0, f64::max)
        };
        let [by_position, in_a_sweep, in_order] = ["sptf", "elevator", "fcfs"].map(last);
        assert!(in_a_sweep < 0.8 * in_order && by_position < 0.8 * in_order, "{by_position} {in_a_sweep} {in_order}");
        assert!((by_position - in_a_sweep).abs() > 1e-6, "they are two orders: {by_position}");
    }

    #[test]
    fn what_no_study_says_is_what_a_pool_does_by_itself() {
        assert_eq!(cleaner(&CleaningPlan::usual()), CleanerSettings::usual());
        let mut plan = CleaningPlan::usual();
        plan.depth = CleanDepth::Auto;
        let auto = cleaner(&plan);
        assert_eq!((auto.depth, auto.tunes_depth), (USUAL_CLEAN_DEPTH, true));
    }

    #[test]
    fn volumes_have_the_parts_of_the_lines_that_a_study_gives_them() {
        let both = Value::List(vec!["data".to_owned(), "log".to_owned()]);
        let given = [
            ("storage.kind", Value::Text(TIER.to_owned())),
            ("storage.cache.percent", Value::Integer(30)),
            ("storage.cache.accelerate", both),
            ("storage.cache.log_quota", Value::Number(0.25)),
        ];
        let settings_of = Settings(given.into_iter().map(|(path, value)| (path.to_owned(), value)).collect());
        let plan = tier_plan(&settings_of).expect("words").expect("a tier");
        let found = settings(&plan, volumes(true), 400).volumes;
        assert_eq!(found.iter().map(|volume| volume.quota_lines).collect::<Vec<_>>(), [Some(300), Some(100)]);
    }
}
