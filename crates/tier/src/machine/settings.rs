//! What a pool and its volumes are asked to do. Nothing here has a default: a study states it.

use std::time::Duration;

use crate::policy::PolicyChoice;

/// The way of a write, and what is taken into the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheMode {
    /// Nothing is cached.
    Pass,
    /// Reads are cached; writes go to the origin.
    WriteAround,
    /// Reads and writes are cached; writes complete on the origin.
    WriteThrough,
    /// Reads and writes are cached; writes complete on the cache.
    WriteBack,
}

impl CacheMode {
    /// Every mode.
    pub const ALL: [CacheMode; 4] = [Self::Pass, Self::WriteAround, Self::WriteThrough, Self::WriteBack];

    /// Its word in studies and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::WriteAround => "write-around",
            Self::WriteThrough => "write-through",
            Self::WriteBack => "write-back",
        }
    }
}

/// A volume's content, for statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VolumeClass {
    /// Tables and indexes.
    Data,
    /// The log of transactions.
    Log,
    /// Temporary files.
    Temp,
}

impl VolumeClass {
    /// Every class.
    pub const ALL: [VolumeClass; 3] = [Self::Data, Self::Log, Self::Temp];

    /// Its word in studies and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::Log => "log",
            Self::Temp => "temp",
        }
    }
}

/// One volume of a pool.
#[derive(Clone, Debug, PartialEq)]
pub struct VolumeSettings {
    /// Its content.
    pub class: VolumeClass,
    /// The way of its writes.
    pub mode: CacheMode,
    /// Lines that it may hold at most; `None` when it may hold all. With a quota every volume has a policy of its own.
    pub quota_lines: Option<u32>,
}

/// When and how fast dirty lines are cleaned.
#[derive(Clone, Debug, PartialEq)]
pub struct CleanerSettings {
    /// Wanted share of dirty lines, 0 to 1.
    pub target: f64,
    /// Share of dirty lines from which the cleaner works without pause.
    pub urgent_from: f64,
    /// Share of dirty lines down to which it then works.
    pub urgent_to: f64,
    /// Share of dirty lines from which new writes go to the origin.
    pub bypass_from: f64,
    /// Time without requests after which the cleaner works without pause.
    pub idle_after: Duration,
    /// Time that a line may be dirty.
    pub age_limit: Duration,
    /// Time without a write after which a dirty line is closed; it takes up to twice as long. Zero closes at each step.
    pub close_after: Duration,
    /// Lines of one batch, at least 1.
    pub batch_lines: u32,
    /// Batches at work at once, at least 1.
    pub batches: u32,
    /// Writes to the origin under way at once in each batch, 1 to [`CleanerSettings::MOST_DEPTH`]; others count as the nearest of these.
    pub depth: u32,
    /// Whether the depth is only where the cleaner begins: it then follows what the origins gain by more or fewer writes at once.
    pub tunes_depth: bool,
    /// Lines per second in the regulated state, at most.
    pub most_lines_per_second: f64,
}

impl CleanerSettings {
    /// The largest depth: twice the commands that a SATA drive holds, which are 32.
    pub const MOST_DEPTH: u32 = 64;

    /// Writes to the origin under way at once in each batch: the depth, as far as there may be so many.
    pub(crate) fn writes_at_once(&self) -> u32 {
        self.depth.clamp(1, Self::MOST_DEPTH)
    }

    /// The shares of dirty lines.
    pub fn marks(&self) -> CleanerMarks {
        let parts = |share: f64| (share.clamp(0.0, 1.0) * f64::from(CleanerMarks::WHOLE)).round() as u32;
        CleanerMarks {
            target: parts(self.target),
            urgent_from: parts(self.urgent_from),
            urgent_to: parts(self.urgent_to),
            bypass_from: parts(self.bypass_from),
        }
    }

    /// The settings that the goals are stated for: 20 % dirty, urgent from 50 % to 45 %, bypass from 90 %, 1 s idle, 5 s to
    /// close, 8 writes at once.
    ///
    /// Source of the watermarks: the kernel's documentation of dm-writecache (50 and 45 %). The depth is one write for each drive of
    /// the published array of eight, and a quarter of the 32 commands that a single drive holds.
    pub fn usual() -> Self {
        Self {
            target: 0.20,
            urgent_from: 0.50,
            urgent_to: 0.45,
            bypass_from: 0.90,
            idle_after: Duration::from_secs(1),
            age_limit: Duration::from_secs(600),
            close_after: Duration::from_secs(5),
            batch_lines: 256,
            batches: 1,
            depth: 8,
            tunes_depth: false,
            most_lines_per_second: 20_000.0,
        }
    }
}

/// Shares of dirty lines at which cleaning changes, each in ten-thousandths of the lines in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CleanerMarks {
    /// Wanted share.
    pub target: u32,
    /// Share from which the cleaner works without pause.
    pub urgent_from: u32,
    /// Share down to which it then works.
    pub urgent_to: u32,
    /// Share from which new writes go to the origin.
    pub bypass_from: u32,
}

impl CleanerMarks {
    /// All lines in use.
    pub const WHOLE: u32 = 10_000;
}

/// One pool.
#[derive(Clone, Debug, PartialEq)]
pub struct PoolSettings {
    /// Order in which clean lines are given up.
    pub policy: PolicyChoice,
    /// The volumes, at least one and at most four, in the order of their numbers.
    pub volumes: Vec<VolumeSettings>,
    /// The cleaner.
    pub cleaner: CleanerSettings,
    /// Whether every read of the cache is compared with its checksum, and not only the first after a start.
    pub verify_every_read: bool,
}
