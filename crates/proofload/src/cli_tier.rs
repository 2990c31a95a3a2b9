//! The command line of `tier`. Words only: `commands::tier` does the work.

use crate::cli_tier_kernel::TierKernelCommand;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Commands on pools, in the order of their use.
#[derive(Debug, Subcommand)]
pub(crate) enum TierCommand {
    /// Make an empty pool of a cache and its origins
    Format(FormatArguments),
    /// Serve the volumes of a pool until a signal or `tier stop`
    Serve(ServeArguments),
    /// Show what an open pool does: hits both ways, dirty lines, cleaner, slow disk
    Stats(StatsArguments),
    /// Forecast throughput and hits with a cache of a size that was not measured, from the record of a study
    Predict(PredictArguments),
    /// Clean a pool within a time: an open one by its control socket, or one that nobody serves by its devices
    Drain(DrainArguments),
    /// Tell the server of a pool to stop, and wait until it has
    Stop(StopArguments),
    /// Check a pool that nobody serves: superblock, journal, checksums of all data, origins
    Check(CheckPoolArguments),
    /// List the lines and the dirty ranges of a pool that nobody serves
    Dump(DumpArguments),
    /// Drive caches of the kernel: dm-cache, dm-writecache, bcache, Open CAS
    #[command(subcommand)]
    Kernel(TierKernelCommand),
}

/// The devices of a pool.
#[derive(Debug, Args)]
pub(crate) struct DeviceArguments {
    /// The cache: a file or block device on the SSD
    pub(crate) cache: PathBuf,
    /// An origin, the slow file or block device of a volume: data, log or temp; one of each at most
    #[arg(long = "origin", value_name = "VOLUME=FILE", required = true)]
    pub(crate) origins: Vec<String>,
    /// Read and write through the page cache of the system, which then serves hits from memory
    #[arg(long)]
    pub(crate) page_cache: bool,
}

/// What `tier format` takes.
#[derive(Debug, Args)]
pub(crate) struct FormatArguments {
    #[command(flatten)]
    pub(crate) devices: DeviceArguments,
    /// Size of the cache, such as 1GiB: a file that is missing is made [default: all of the device]
    #[arg(long, value_name = "SIZE")]
    pub(crate) size: Option<String>,
    /// Size of a line: 4KiB to 64KiB, best that of the database's page
    #[arg(long, value_name = "SIZE", default_value = "8KiB")]
    pub(crate) line: String,
    /// Confirm that content is lost by naming the devices that hold it again, with commas between
    #[arg(long, value_name = "DEVICE")]
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
    /// Way of writes: pass, write-around, write-through, write-back; of one volume as log=write-through
    #[arg(long = "mode", value_name = "[VOLUME=]MODE", default_value = "write-back")]
    pub(crate) modes: Vec<String>,
    /// Order in which lines are given up: lru, 2q, s3-fifo-1, s3-fifo-2, arc, w-tinylfu
    #[arg(long, value_name = "POLICY", default_value = "s3-fifo-2")]
    pub(crate) policy: String,
    /// Model slow drives before the origins, such as raid-5:8x7.2k:2GiB: layout, drives, cache of the controller
    #[arg(long, value_name = "DISKS")]
    pub(crate) slow: Option<String>,
    /// Serve a volume as a network block device on a Unix socket; without a name the only volume
    #[arg(long = "nbd", value_name = "[VOLUME=]SOCKET")]
    pub(crate) nbd: Vec<String>,
    /// Mount the volumes as files in an empty folder (FUSE)
    #[arg(long, value_name = "FOLDER")]
    pub(crate) fuse: Option<PathBuf>,
    /// Put a loop device with direct input and output over each of these files; only root may
    #[arg(long = "loop", requires = "fuse")]
    pub(crate) with_loop: bool,
    /// Longest time that a stop may take
    #[arg(long, value_name = "TIME", default_value = "60s")]
    pub(crate) within: String,
}

/// What `tier stats` takes.
#[derive(Debug, Args)]
pub(crate) struct StatsArguments {
    /// The control socket of the pool
    pub(crate) control: PathBuf,
    /// Show what happens in this time instead of since the pool was opened
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
    /// Sizes of the cache, such as 5GiB,10GiB; without any, how well the measured ones are forecast from each other
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
    /// The cache of a pool that nobody serves
    #[arg(long, value_name = "FILE", requires = "origins")]
    pub(crate) cache: Option<PathBuf>,
    /// An origin of that pool
    #[arg(long = "origin", value_name = "VOLUME=FILE", requires = "cache")]
    pub(crate) origins: Vec<String>,
    /// Set the origins free afterwards: they are whole without the cache, which is of no more use
    #[arg(long, requires = "cache")]
    pub(crate) detach: bool,
    /// Read and write through the page cache of the system
    #[arg(long, requires = "cache")]
    pub(crate) page_cache: bool,
    /// Longest time
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
    /// Leave out the checksums of data, which take as long as reading the cache
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
    /// List every line instead of the dirty ranges only
    #[arg(long)]
    pub(crate) lines: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
