//! Cases of snapshots on file systems that share blocks: the tests of the testbed's own code, with their files there.

use super::case::{Case, Figures};
use super::disk::SPARE;
use super::limits::tests_in;
use super::programs::line;

/// The cases.
pub(super) const CASES: &[Case] = &[
    Case { name: "reflink on xfs", boot: 1, run: || on("mkfs.xfs -q -f", "xfs") },
    Case { name: "reflink on btrfs", boot: 1, run: || on("mkfs.btrfs -q -f", "btrfs") },
];

fn on(make: &str, file_system: &str) -> Result<Figures, String> {
    let folder = format!("/mnt/{file_system}");
    line(&format!("wipefs --all --quiet {SPARE}"))?;
    line(&format!("{make} {SPARE}"))?;
    line(&format!("mkdir -p {folder}"))?;
    line(&format!("mount -t {file_system} {SPARE} {folder}"))?;
    let done = tests_in(&folder, "snapshots::snapshot::")
        .and_then(|figures| tests_in(&folder, "snapshots::copy::tests::shared_blocks").map(|_| figures));
    line(&format!("umount {folder}"))?;
    if file_system == "xfs" {
        line(&format!("xfs_repair -n {SPARE}"))?;
    }
    done
}
