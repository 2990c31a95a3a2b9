//! The command line of `tier kernel`. Words only: `commands::tier::kernel` does the work.

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Commands on caches of the kernel, in the order of their use.
#[derive(Debug, Subcommand)]
pub(crate) enum TierKernelCommand {
    /// Create a cache from two devices; all their data is lost
    SetUp(KernelSetUpArguments),
    /// Show the counters of a cache, and what it does not count
    Stats(KernelStatsArguments),
    /// Restore a cache after a reboot or crash of the machine
    Recover(KernelRecoverArguments),
    /// Clean a cache within a time limit and remove it
    TakeDown(KernelTakeDownArguments),
}

/// The devices of a cache.
#[derive(Debug, Args)]
pub(crate) struct KernelDeviceArguments {
    /// The cache: a block device on the SSD
    pub(crate) cache: PathBuf,
    /// The origin: the slow block device
    #[arg(long, value_name = "DEVICE")]
    pub(crate) origin: PathBuf,
    /// The system: dm-cache, dm-writecache, bcache, open-cas
    #[arg(long, value_name = "SYSTEM")]
    pub(crate) with: String,
}

/// What `tier kernel set-up` takes.
#[derive(Debug, Args)]
pub(crate) struct KernelSetUpArguments {
    #[command(flatten)]
    pub(crate) devices: KernelDeviceArguments,
    /// Write mode: pass, write-around, write-through, write-back
    #[arg(long, value_name = "MODE", default_value = "write-back")]
    pub(crate) mode: String,
    /// Size of a block of the cache [default: 64KiB for dm-cache, 4KiB for the others]
    #[arg(long, value_name = "SIZE")]
    pub(crate) block: Option<String>,
    /// Confirm the loss of all data by repeating both devices, separated by a comma
    #[arg(long, value_name = "DEVICES")]
    pub(crate) yes: Option<String>,
    /// Print every command and any objection to the devices; change nothing
    #[arg(long, visible_alias = "plan")]
    pub(crate) dry_run: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What `tier kernel stats` takes.
#[derive(Debug, Args)]
pub(crate) struct KernelStatsArguments {
    #[command(flatten)]
    pub(crate) devices: KernelDeviceArguments,
    /// Show the activity during this time instead of since the cache was set up
    #[arg(long, value_name = "TIME")]
    pub(crate) over: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What `tier kernel recover` takes.
#[derive(Debug, Args)]
pub(crate) struct KernelRecoverArguments {
    #[command(flatten)]
    pub(crate) devices: KernelDeviceArguments,
    /// Write mode from now on
    #[arg(long, value_name = "MODE", default_value = "write-back")]
    pub(crate) mode: String,
    /// Print every command; change nothing
    #[arg(long, visible_alias = "plan")]
    pub(crate) dry_run: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What `tier kernel take-down` takes.
#[derive(Debug, Args)]
pub(crate) struct KernelTakeDownArguments {
    #[command(flatten)]
    pub(crate) devices: KernelDeviceArguments,
    /// Time limit for cleaning; after that the cache stays in place and keeps cleaning
    #[arg(long, value_name = "TIME", default_value = "60s")]
    pub(crate) within: String,
    /// Print every command; change nothing
    #[arg(long, visible_alias = "plan")]
    pub(crate) dry_run: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
