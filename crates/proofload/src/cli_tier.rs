//! The command line of `tier`. Words only: `commands::tier` does the work.

use crate::cli_tier_kernel::TierKernelCommand;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Commands on pools, in the order of their use.
#[derive(Debug, Subcommand)]
pub(crate) enum TierCommand {
    /// Create an empty pool from a cache and its origins
    Format(FormatArguments),
    /// Serve the volumes of a pool until a signal or `tier stop`
    Serve(Box<ServeArguments>),
    /// Show the activity of an open pool: read and write hits, dirty lines, cleaner, slow disk
    Stats(StatsArguments),
    /// Forecast throughput and hits for an unmeasured cache size, from the record of a study
    Predict(PredictArguments),
    /// Clean a pool within a time limit: an open pool by its control socket, another one by its devices
    Drain(DrainArguments),
    /// Change the size of a cache that is not being served, up to the size it was formatted with
    Resize(ResizeArguments),
    /// Stop the server of a pool and wait until it has stopped
    Stop(StopArguments),
    /// Check a pool that is not being served: superblock, journal, checksums of all data, origins
    Check(CheckPoolArguments),
    /// List the lines and the dirty ranges of a pool that is not being served
    Dump(DumpArguments),
    /// Manage caches of the kernel: dm-cache, dm-writecache, bcache, Open CAS
    #[command(subcommand)]
    Kernel(TierKernelCommand),
}

/// The devices of a pool.
#[derive(Debug, Args)]
pub(crate) struct DeviceArguments {
    /// The cache: a file or block device on the SSD
    pub(crate) cache: PathBuf,
    /// An origin, the slow file or block device of a volume: data, log or temp; at most one of each
    #[arg(long = "origin", value_name = "VOLUME=FILE", required = true)]
    pub(crate) origins: Vec<String>,
    /// Read and write through the system's page cache, which then serves hits from memory
    #[arg(long)]
    pub(crate) page_cache: bool,
}

/// What `tier format` takes.
#[derive(Debug, Args)]
pub(crate) struct FormatArguments {
    #[command(flatten)]
    pub(crate) devices: DeviceArguments,
    /// Size of the cache, such as 1GiB; a missing file is created [default: the whole device]
    #[arg(long, value_name = "SIZE")]
    pub(crate) size: Option<String>,
    /// Size of a line: 4KiB to 64KiB, ideally the page size of the database
    #[arg(long, value_name = "SIZE", default_value = "8KiB")]
    pub(crate) line: String,
    /// Confirm the loss of content by repeating its devices, separated by commas
    #[arg(long, value_name = "DEVICES")]
    pub(crate) yes: Option<String>,
}

/// What `tier serve` takes.
#[derive(Debug, Args)]
pub(crate) struct ServeArguments {
    #[command(flatten)]
    pub(crate) devices: DeviceArguments,
    /// The socket for `tier stats`, `tier drain` and `tier stop`
    #[arg(long, value_name = "SOCKET")]
    pub(crate) control: PathBuf,
    /// Write mode: pass, write-around, write-through, write-back; of one volume as log=write-through
    #[arg(long = "mode", value_name = "[VOLUME=]MODE", default_value = "write-back")]
    pub(crate) modes: Vec<String>,
    /// Eviction policy: lru, 2q, s3-fifo-1, s3-fifo-2, arc, w-tinylfu
    #[arg(long, value_name = "POLICY", default_value = "w-tinylfu")]
    pub(crate) policy: String,
    /// Model slow drives in front of the origins, such as raid-5:8x7.2k:2GiB:0.03: layout, drives, cache of the
    /// controller, share of their stroke that the origins are spread over; then sptf, fcfs or elevator
    #[arg(long, value_name = "DISKS")]
    pub(crate) slow: Option<String>,
    /// Acknowledge every flush this much later than it is durable, such as 5ms; 5s at most
    #[arg(long, value_name = "TIME")]
    pub(crate) flush_delay: Option<String>,
    #[command(flatten)]
    pub(crate) cleaning: CleaningArguments,
    /// Part of the cache that a volume may hold at most, such as log=10%; the last one without a quota gets the rest
    #[arg(long = "quota", value_name = "VOLUME=SHARE")]
    pub(crate) quotas: Vec<String>,
    /// Keep a sample of the requests, from which other cache sizes are forecast; SIZE: the data behind the cache, such as 2GiB
    #[arg(long, value_name = "SIZE")]
    pub(crate) sample: Option<String>,
    /// Read the lines of a list into the cache first, while serving: what `tier dump --lines --json` wrote of another cache
    #[arg(long, value_name = "FILE")]
    pub(crate) warm: Option<PathBuf>,
    /// Bytes per second to read for --warm, at most
    #[arg(long, value_name = "SIZE", default_value = "64MiB", requires = "warm")]
    pub(crate) warm_rate: String,
    /// Serve a volume as a network block device on a Unix socket; the volume name is optional if there is only one
    #[arg(long = "nbd", value_name = "[VOLUME=]SOCKET")]
    pub(crate) nbd: Vec<String>,
    /// Mount the volumes as files in an empty folder (FUSE)
    #[arg(long, value_name = "FOLDER")]
    pub(crate) fuse: Option<PathBuf>,
    /// Attach a loop device with direct I/O to each of these files; needs root
    #[arg(long = "loop", requires = "fuse")]
    pub(crate) with_loop: bool,
    /// Serve each volume as a block device of the kernel, /dev/ublkbN; needs root, Linux 6.5 and a program built with ublk
    #[arg(long)]
    pub(crate) ublk: bool,
    /// Time limit for stopping
    #[arg(long, value_name = "TIME", default_value = "60s")]
    pub(crate) within: String,
}

/// How `tier serve` cleans dirty lines.
#[derive(Debug, Args)]
pub(crate) struct CleaningArguments {
    /// Time without requests after which all dirty lines are cleaned, such as 30s
    #[arg(long, value_name = "TIME", default_value = "1s")]
    pub(crate) clean_after: String,
    /// Time after which a dirty line is cleaned in any case
    #[arg(long, value_name = "TIME", default_value = "10m")]
    pub(crate) clean_age: String,
    /// Writes of the cleaner to an origin at once, 1 to 64; auto: as many as make it faster
    #[arg(long, value_name = "WRITES", default_value = "8")]
    pub(crate) clean_depth: String,
    /// Share of dirty lines to keep
    #[arg(long, value_name = "SHARE", default_value = "20%")]
    pub(crate) dirty_target: String,
    /// Share of dirty lines from which to clean without pause, down to --clean-to
    #[arg(long, value_name = "SHARE", default_value = "50%")]
    pub(crate) clean_from: String,
    /// Share of dirty lines down to which to clean without pause
    #[arg(long, value_name = "SHARE", default_value = "45%")]
    pub(crate) clean_to: String,
    /// Share of dirty lines from which new writes go to the origins
    #[arg(long, value_name = "SHARE", default_value = "90%")]
    pub(crate) bypass_from: String,
}

/// What `tier stats` takes.
#[derive(Debug, Args)]
pub(crate) struct StatsArguments {
    /// The control socket of the pool
    pub(crate) control: PathBuf,
    /// Show the activity during this time instead of since the pool was opened
    #[arg(long, value_name = "TIME")]
    pub(crate) over: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What `tier predict` takes.
#[derive(Debug, Args)]
pub(crate) struct PredictArguments {
    /// The record of a study on a cache tier
    pub(crate) record: PathBuf,
    /// Sizes of the cache, such as 5GiB,10GiB [default: forecast the measured sizes from each other, as a check]
    #[arg(long = "size", value_name = "SIZE", value_delimiter = ',')]
    pub(crate) sizes: Vec<String>,
    /// Sizes in per cent of the data, such as 10,20
    #[arg(long = "percent", value_name = "N", value_delimiter = ',')]
    pub(crate) percents: Vec<u32>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What `tier drain` takes.
#[derive(Debug, Args)]
pub(crate) struct DrainArguments {
    /// The control socket of an open pool
    #[arg(conflicts_with_all = ["cache", "origins"], required_unless_present = "cache")]
    pub(crate) control: Option<PathBuf>,
    /// The cache of a pool that is not being served
    #[arg(long, value_name = "FILE", requires = "origins")]
    pub(crate) cache: Option<PathBuf>,
    /// An origin of that pool
    #[arg(long = "origin", value_name = "VOLUME=FILE", requires = "cache")]
    pub(crate) origins: Vec<String>,
    /// Detach the origins afterwards: they are complete without the cache, which can be discarded
    #[arg(long, requires = "cache")]
    pub(crate) detach: bool,
    /// Read and write through the system's page cache
    #[arg(long, requires = "cache")]
    pub(crate) page_cache: bool,
    /// Time limit
    #[arg(long, value_name = "TIME", default_value = "60s")]
    pub(crate) within: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What `tier resize` takes.
#[derive(Debug, Args)]
pub(crate) struct ResizeArguments {
    #[command(flatten)]
    pub(crate) devices: DeviceArguments,
    /// New size of the cache with its tables, such as 10GiB; lines beyond it are cleaned first
    #[arg(long, value_name = "SIZE")]
    pub(crate) size: String,
    /// Time limit for cleaning; the size stays as it is when it is too short
    #[arg(long, value_name = "TIME", default_value = "60s")]
    pub(crate) within: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What `tier stop` takes.
#[derive(Debug, Args)]
pub(crate) struct StopArguments {
    /// The control socket of the pool
    pub(crate) control: PathBuf,
    /// Longest time to wait
    #[arg(long, value_name = "TIME", default_value = "60s")]
    pub(crate) within: String,
}

/// What `tier check` takes.
#[derive(Debug, Args)]
pub(crate) struct CheckPoolArguments {
    /// The cache
    pub(crate) cache: PathBuf,
    /// An origin that must belong to it
    #[arg(long = "origin", value_name = "VOLUME=FILE")]
    pub(crate) origins: Vec<String>,
    /// Skip the checksums of data, which take as long as reading the cache
    #[arg(long)]
    pub(crate) no_data: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What `tier dump` takes.
#[derive(Debug, Args)]
pub(crate) struct DumpArguments {
    /// The cache
    pub(crate) cache: PathBuf,
    /// List every line instead of only the dirty ranges
    #[arg(long)]
    pub(crate) lines: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
