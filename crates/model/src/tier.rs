//! The cache tier that a point asks for: a modelled slow medium under the data, and a cache on a fast one before it. Pure. May not know how a
//! tier is made.

use crate::error::Error;
use crate::intervention::FLUSH_DELAY;
use crate::settings::Settings;
use crate::tier_cleaning::{CachePart, CleaningPlan};
use crate::tier_warming::WarmPlan;
use crate::units::Bytes;
use crate::words::words;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// Longest time that a study, or who serves a tier by hand, may ask every flush to take longer: more would be taken for a device that hangs.
/// Experiments make it at most twice as long for a visit.
pub const MOST_FLUSH_DELAY_ASKED: Duration = Duration::from_secs(5);

/// The word of `storage.kind` for a tier.
pub const TIER: &str = "tier";

/// The control socket of a tier, below the folder of its instance.
pub const CONTROL_SOCKET: &str = "tier/control";

words! {
    /// What a slow medium is made of.
    DriveModel {
        /// No model: the storage of the data as it is.
        NotModelled = "none",
        /// 7,200 rpm.
        Rpm7200 = "7.2k",
        /// 10,000 rpm.
        Rpm10k = "10k",
        /// 15,000 rpm.
        Rpm15k = "15k",
        /// HP 97560, the published reference.
        Hp97560 = "hp-97560",
    }
}

words! {
    /// How modelled drives are one medium.
    RaidLevel {
        /// One drive.
        Single = "single",
        /// Stripes.
        Raid0 = "raid-0",
        /// Mirrors.
        Raid1 = "raid-1",
        /// Stripes with a parity block that rotates.
        Raid5 = "raid-5",
        /// Stripes over pairs of mirrors.
        Raid10 = "raid-10",
    }
}

/// Modelled drives at most.
pub const MOST_DRIVES: u32 = 64;

impl RaidLevel {
    /// Why it cannot have so many drives, and how many it needs; `None` where it can.
    pub fn refusal(self, drives: u32) -> Option<String> {
        let (fits, wanted) = match self {
            Self::Single => (drives == 1, "1 drive".to_owned()),
            Self::Raid0 => (drives >= 1, format!("1 to {MOST_DRIVES}")),
            Self::Raid1 => (drives >= 2, format!("2 to {MOST_DRIVES}")),
            Self::Raid5 => (drives >= 3, format!("3 to {MOST_DRIVES}")),
            Self::Raid10 => (drives >= 2 && drives.is_multiple_of(2), format!("an even number up to {MOST_DRIVES}")),
        };
        let fits = fits && drives <= MOST_DRIVES;
        (!fits).then(|| format!("{} cannot have {drives} drives; it needs {wanted}", self.word()))
    }
}

words! {
    /// Which of the waiting requests a modelled drive serves next.
    #[derive(Default)]
    DriveScheduling {
        /// The one whose first sector is soonest under the head, among the 32 oldest.
        #[default]
        Sptf = "sptf",
        /// The one that came first.
        Fcfs = "fcfs",
        /// The next one in the direction of the arm, among the 32 oldest.
        Elevator = "elevator",
    }
}

words! {
    /// The way of a write through a cache.
    WriteMode {
        /// Writes complete on the cache.
        WriteBack = "write-back",
        /// Writes complete on the slow medium and are cached.
        WriteThrough = "write-through",
        /// Writes go to the slow medium alone.
        WriteAround = "write-around",
    }
}

words! {
    /// Order in which clean lines are given up.
    EvictionPolicy {
        /// S3-FIFO with one bit of use.
        S3Fifo1 = "s3-fifo-1",
        /// S3-FIFO as published.
        S3Fifo2 = "s3-fifo-2",
        /// Least recently used.
        Lru = "lru",
        /// 2Q.
        TwoQueue = "2q",
        /// ARC.
        Arc = "arc",
        /// W-TinyLFU.
        TinyLfu = "w-tinylfu",
    }
}

words! {
    /// A volume of a database.
    TierVolume {
        /// Tables and indexes.
        Data = "data",
        /// The log of transactions.
        Log = "log",
    }
}

/// Share of the full stroke of modelled drives over which data are spread, in ten-thousandths; 0: they lie contiguously from the outer edge.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Stroke(u32);

impl Stroke {
    /// The nearest to a share from 0 to 1.
    pub fn of(share: f64) -> Self {
        Self((share.clamp(0.0, 1.0) * 1e4).round() as u32)
    }

    /// The share, from 0 to 1.
    pub fn share(self) -> f64 {
        f64::from(self.0) / 1e4
    }

    /// Whether data lie contiguously from the outer edge.
    pub fn is_contiguous(self) -> bool {
        self.0 == 0
    }
}

impl fmt::Display for Stroke {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_contiguous() {
            return f.write_str("contiguous from the outer edge");
        }
        write!(f, "spread over {} % of the stroke", f64::from(self.0) / 100.0)
    }
}

/// The slow medium: one set of modelled drives under all volumes, or the storage of the data as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlowMedium {
    /// Drives of it.
    pub drive: DriveModel,
    /// How they are one medium.
    pub raid: RaidLevel,
    /// Their number.
    pub drives: u32,
    /// Battery-backed cache of the controller for writes; 0 for none.
    pub write_cache: Bytes,
    /// Share of their stroke under the data.
    #[serde(default)]
    pub stroke: Stroke,
    /// Which of the waiting requests a drive serves next.
    #[serde(default)]
    pub scheduling: DriveScheduling,
}

impl SlowMedium {
    /// Whether it is a model.
    pub fn is_modelled(&self) -> bool {
        self.drive != DriveModel::NotModelled
    }

    /// Number of its drives: a single one, whatever is said of others.
    pub fn count(&self) -> u32 {
        if self.raid == RaidLevel::Single { 1 } else { self.drives }
    }
}

impl fmt::Display for SlowMedium {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.is_modelled() {
            return f.write_str("not modelled: the storage of the data itself");
        }
        write!(f, "modelled: {} of {} × {} drives, ", self.raid.word(), self.count(), self.drive.word())?;
        if self.write_cache.0 == 0 {
            f.write_str("no controller cache")?;
        } else {
            write!(f, "controller cache {}", self.write_cache)?;
        }
        if !self.stroke.is_contiguous() {
            write!(f, ", data {}", self.stroke)?;
        }
        match self.scheduling {
            DriveScheduling::Sptf => Ok(()),
            other => write!(f, ", scheduling {}", other.word()),
        }
    }
}

/// Room for lines in a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum CacheSize {
    /// Bytes; 0 for no cache.
    Bytes(Bytes),
    /// A part of the data as they are when the cache is made, in per cent; 0 for no cache.
    PercentOfData(u32),
}

impl CacheSize {
    /// Bytes of lines before data of a size.
    pub fn before(self, data: Bytes) -> Bytes {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::PercentOfData(percent) => Bytes(data.0.saturating_mul(u64::from(percent)) / 100),
        }
    }

    /// Whether there is no cache.
    pub fn is_nothing(self) -> bool {
        matches!(self, Self::Bytes(Bytes(0)) | Self::PercentOfData(0))
    }
}

/// The cache before a slow medium.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CachePlan {
    /// Room for lines.
    pub size: CacheSize,
    /// The way of a write.
    pub mode: WriteMode,
    /// Order in which clean lines are given up.
    pub policy: EvictionPolicy,
    /// When and how fast dirty lines are cleaned.
    pub cleaning: CleaningPlan,
    /// Bytes of a line.
    pub line: Bytes,
    /// Volumes that are cached; the others are on the slow medium alone.
    pub accelerate: Vec<TierVolume>,
    /// Parts of the cache that volumes may hold at most, as far as a study names them.
    pub quotas: Vec<(TierVolume, CachePart)>,
    /// Whether the data are read once in order when the cache is made.
    pub prewarm: bool,
    /// The list of lines that it is filled from when it is made; `None` for none.
    pub warm: Option<WarmPlan>,
    /// Folder of its file; `None`: beside the data.
    pub folder: Option<String>,
}

impl CachePlan {
    /// Whether a volume is cached.
    pub fn accelerates(&self, volume: TierVolume) -> bool {
        !self.size.is_nothing() && self.accelerate.contains(&volume)
    }

    /// The list of lines that it is filled from when it is made; `None` where there is none, or no cache.
    pub fn warming(&self) -> Option<&WarmPlan> {
        self.warm.as_ref().filter(|_| !self.size.is_nothing())
    }

    /// The part of the cache that a volume may hold at most; `None` where it may hold all. One that is not named has what the named one leaves,
    /// so that each has lines.
    pub fn quota(&self, volume: TierVolume) -> Option<CachePart> {
        if !self.accelerates(volume) {
            return None;
        }
        let named = |(of, part): &(TierVolume, CachePart)| (*of == volume).then_some(*part);
        let rest = || self.quotas.first().map(|(_, part)| part.rest());
        self.quotas.iter().find_map(named).or_else(rest)
    }
}

/// The tier under an instance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TierPlan {
    /// The slow medium.
    pub slow: SlowMedium,
    /// The cache before it.
    pub cache: CachePlan,
    /// Time that every flush takes longer; `None` for no such delay.
    pub flush_delay: Option<Duration>,
}

/// The tier of a point; `None` where its data lie in a directory.
///
/// # Errors
/// A word that no study can hold.
pub fn tier_plan(settings: &Settings) -> Result<Option<TierPlan>, Error> {
    if settings.text("storage.kind") != Ok(TIER) {
        return Ok(None);
    }
    let slow = SlowMedium {
        drive: word(settings, "storage.slow.drive", DriveModel::of)?.unwrap_or(DriveModel::Rpm7200),
        raid: word(settings, "storage.slow.raid", RaidLevel::of)?.unwrap_or(RaidLevel::Raid5),
        drives: settings.count("storage.slow.drives").unwrap_or(8),
        write_cache: settings.bytes("storage.slow.write_cache").unwrap_or(Bytes(0)),
        stroke: settings.number("storage.slow.stroke").map(Stroke::of).unwrap_or_default(),
        scheduling: word(settings, "storage.slow.scheduling", DriveScheduling::of)?.unwrap_or_default(),
    };
    let percent = settings.count("storage.cache.percent").map(CacheSize::PercentOfData);
    let size = settings.bytes("storage.cache.size").map(CacheSize::Bytes).or(percent);
    let volumes = settings.list("storage.cache.accelerate").iter().map(|volume| {
        TierVolume::of(volume).ok_or_else(|| Error::new(format!("storage.cache.accelerate: unknown volume {volume}")))
    });
    let mut accelerate = volumes.collect::<Result<Vec<_>, _>>()?;
    if accelerate.is_empty() {
        accelerate.push(TierVolume::Data);
    }
    let cache = CachePlan {
        size: size.unwrap_or(CacheSize::Bytes(Bytes(0))),
        mode: word(settings, "storage.cache.mode", WriteMode::of)?.unwrap_or(WriteMode::WriteBack),
        policy: word(settings, "storage.cache.policy", EvictionPolicy::of)?.unwrap_or(EvictionPolicy::TinyLfu),
        cleaning: CleaningPlan::of(settings),
        line: settings.bytes("storage.cache.line").unwrap_or(Bytes(8192)),
        accelerate,
        quotas: quotas(settings),
        prewarm: settings.boolean("procedure.prewarm").unwrap_or(false),
        warm: WarmPlan::of(settings),
        folder: settings.text("storage.cache.path").ok().map(str::to_owned),
    };
    Ok(Some(TierPlan { slow, cache, flush_delay: settings.duration(FLUSH_DELAY).ok() }))
}

/// Settings of the parts of a cache that volumes may hold at most.
pub const QUOTAS: [(TierVolume, &str); 2] =
    [(TierVolume::Data, "storage.cache.data_quota"), (TierVolume::Log, "storage.cache.log_quota")];

fn quotas(settings: &Settings) -> Vec<(TierVolume, CachePart)> {
    let part = |(volume, path): (TierVolume, &str)| Some((volume, CachePart::of(settings.number(path).ok()?)));
    QUOTAS.into_iter().filter_map(part).collect()
}

/// A volume before a cache of a size that was not there: the component of series from a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SizedVolume {
    /// The volume.
    pub volume: TierVolume,
    /// Room for lines of the cache.
    pub size: Bytes,
}

impl fmt::Display for SizedVolume {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.volume.word(), self.size.0)
    }
}

impl SizedVolume {
    /// What the component of a series is; `None` for another text.
    pub fn parse(component: &str) -> Option<Self> {
        let (volume, bytes) = component.split_once(' ')?;
        Some(Self { volume: TierVolume::of(volume)?, size: Bytes(bytes.parse().ok()?) })
    }
}

words! {
    /// What a request to a cache tier waited for.
    RequestClass {
        /// The cache alone.
        Hit = "hit",
        /// The slow medium.
        Miss = "miss",
        /// Everything acknowledged before, to be durable.
        Flush = "flush",
    }
}

/// Requests to a volume of one class whose times lie in one bucket: the component of series of latencies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimedRequests {
    /// The volume.
    pub volume: TierVolume,
    /// Their class.
    pub class: RequestClass,
    /// Highest time of the bucket, ns.
    pub up_to_ns: u64,
}

impl fmt::Display for TimedRequests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.volume.word(), self.class.word(), self.up_to_ns)
    }
}

impl TimedRequests {
    /// What the component of a series is; `None` for another text.
    pub fn parse(component: &str) -> Option<Self> {
        let (volume, rest) = component.split_once(' ')?;
        let (class, up_to_ns) = rest.split_once(' ')?;
        Some(Self {
            volume: TierVolume::of(volume)?,
            class: RequestClass::of(class)?,
            up_to_ns: up_to_ns.parse().ok()?,
        })
    }
}

/// What a word of a setting stands for; `None` where it is not given.
fn word<T>(settings: &Settings, path: &str, of: fn(&str) -> Option<T>) -> Result<Option<T>, Error> {
    let Ok(text) = settings.text(path) else { return Ok(None) };
    of(text).map(Some).ok_or_else(|| Error::new(format!("{path}: unknown value {text}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Value;
    use crate::tier_cleaning::CleanDepth;
    use crate::tier_warming::{USUAL_WARM_TIME, WARM};

    fn settings(given: &[(&str, Value)]) -> Settings {
        Settings(given.iter().map(|(path, value)| ((*path).to_owned(), value.clone())).collect())
    }

    #[test]
    fn what_is_left_out_is_eight_slow_drives_in_raid_5_and_no_cache() {
        assert_eq!(tier_plan(&settings(&[("storage.kind", Value::Text("directory".to_owned()))])), Ok(None));
        let plan = tier_plan(&settings(&[("storage.kind", Value::Text(TIER.to_owned()))])).unwrap().unwrap();
        assert_eq!((plan.slow.drive.word(), plan.slow.raid.word(), plan.slow.drives), ("7.2k", "raid-5", 8));
        assert!(plan.cache.size.is_nothing() && !plan.cache.accelerates(TierVolume::Data));
        assert_eq!((plan.cache.policy.word(), plan.flush_delay), ("w-tinylfu", None));
        assert_eq!(plan.cache.cleaning, CleaningPlan::usual());
    }

    #[test]
    fn a_share_of_the_stroke_is_told_where_the_data_do_not_lie_contiguously() {
        let medium = |stroke: Option<f64>| {
            let mut given = vec![("storage.kind", Value::Text(TIER.to_owned()))];
            given.extend(stroke.map(|share| ("storage.slow.stroke", Value::Number(share))));
            tier_plan(&settings(&given)).unwrap().unwrap().slow
        };
        let (whole, contiguous) = (medium(Some(0.025)), medium(None));
        assert_eq!((whole.stroke.share(), contiguous.stroke.share()), (0.025, 0.0));
        assert!(whole.to_string().ends_with("no controller cache, data spread over 2.5 % of the stroke"), "{whole}");
        assert!(contiguous.to_string().ends_with("no controller cache"), "{contiguous}");
    }

    #[test]
    fn a_scheduling_is_told_where_it_is_not_the_usual_one_and_a_single_drive_is_one() {
        let text = |word: &str| Value::Text(word.to_owned());
        let medium = |more: &[(&str, Value)]| {
            let given = [&[("storage.kind", text(TIER))][..], more].concat();
            tier_plan(&settings(&given)).unwrap().unwrap().slow
        };
        let (usual, in_order) = (medium(&[]), medium(&[("storage.slow.scheduling", text("fcfs"))]));
        assert_eq!((usual.scheduling, in_order.scheduling), (DriveScheduling::Sptf, DriveScheduling::Fcfs));
        assert_eq!(in_order.to_string(), format!("{usual}, scheduling fcfs"));
        let single = medium(&[("storage.slow.raid", text("single"))]);
        assert_eq!(single.to_string(), "modelled: single of 1 × 7.2k drives, no controller cache");
    }

    #[test]
    fn a_volume_before_a_size_is_what_it_was() {
        let one = SizedVolume { volume: TierVolume::Log, size: Bytes(1 << 40) };
        assert_eq!(SizedVolume::parse(&one.to_string()), Some(one));
        assert_eq!(["data", "data x", "disk 5"].map(SizedVolume::parse), [None; 3]);
    }

    #[test]
    fn requests_of_a_class_are_what_they_were() {
        let one = TimedRequests { volume: TierVolume::Log, class: RequestClass::Flush, up_to_ns: u64::MAX };
        assert_eq!(TimedRequests::parse(&one.to_string()), Some(one));
        assert_eq!(["data", "data hit", "data hit x", "data write 5"].map(TimedRequests::parse), [None; 4]);
    }

    #[test]
    fn a_volume_without_a_quota_has_what_the_other_leaves() {
        let text = |word: &str| Value::Text(word.to_owned());
        let cached = |volumes: &[&str], quotas: &[(&str, f64)]| {
            let volumes = volumes.iter().map(|volume| (*volume).to_owned()).collect();
            let mut given = vec![
                ("storage.kind", text(TIER)),
                ("storage.cache.percent", Value::Integer(30)),
                ("storage.cache.accelerate", Value::List(volumes)),
            ];
            given.extend(quotas.iter().map(|(path, share)| (*path, Value::Number(*share))));
            let cache = tier_plan(&settings(&given)).unwrap().unwrap().cache;
            [TierVolume::Data, TierVolume::Log].map(|volume| cache.quota(volume).map(CachePart::share))
        };
        let log = [("storage.cache.log_quota", 0.1)];
        assert_eq!(cached(&["data", "log"], &log), [Some(0.9), Some(0.1)]);
        assert_eq!(cached(&["data", "log"], &[]), [None, None]);
        assert_eq!(cached(&["log"], &log), [None, Some(0.1)]);
    }

    #[test]
    fn a_cache_is_filled_from_a_list_where_there_is_one() {
        let given = |size: i64| {
            let list = Value::Text("lines".to_owned());
            let storage = Value::Text(TIER.to_owned());
            settings(&[("storage.kind", storage), ("storage.cache.percent", Value::Integer(size)), (WARM, list)])
        };
        let cache = |size: i64| tier_plan(&given(size)).unwrap().unwrap().cache;
        let wanted = WarmPlan { list: "lines".to_owned(), within: USUAL_WARM_TIME };
        assert_eq!(cache(30).warming(), Some(&wanted));
        assert_eq!(cache(0).warming(), None, "there is no cache");
    }

    #[test]
    fn a_part_of_the_data_becomes_bytes() {
        let text = |word: &str| Value::Text(word.to_owned());
        let given = [
            ("storage.kind", text(TIER)),
            ("storage.cache.percent", Value::Integer(30)),
            ("storage.cache.policy", text("2q")),
            ("storage.cache.clean_depth", Value::Integer(32)),
            ("storage.cache.accelerate", Value::List(vec!["data".to_owned(), "log".to_owned()])),
        ];
        let cache = tier_plan(&settings(&given)).unwrap().unwrap().cache;
        assert_eq!(cache.size.before(Bytes(1000)), Bytes(300));
        assert_eq!((cache.policy, cache.accelerates(TierVolume::Log)), (EvictionPolicy::TwoQueue, true));
        assert_eq!(cache.cleaning.depth, CleanDepth::Fixed(32));
        let unknown = settings(&[("storage.kind", text(TIER)), ("storage.slow.drive", text("5.4k"))]);
        assert!(tier_plan(&unknown).is_err());
    }
}
