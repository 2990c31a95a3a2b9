//! Mounts volumes that are served as loop devices, and files of volumes directly; tells what a folder is mounted from. May not start a server.

use super::super::volume::{is_mounted, run};
use proofload_model::error::Error;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Tries to unmount what is in use: 10 s.
const TRIES: u32 = 100;
/// Time between two of them.
const PAUSE: Duration = Duration::from_millis(100);

/// Mounts the loop device over a file of a served volume.
///
/// # Errors
/// There is no such device, or what the program says.
pub(super) fn mount_served(file: &Path, at: &Path) -> Result<(), Error> {
    let none = || Error::new(format!("failed to mount {}: the cache tier has no loop device over it", file.display()));
    run("mount", &[], &[&loop_over(file).ok_or_else(none)?, at])
}

/// Mounts a file with a file system.
///
/// # Errors
/// What the program says.
pub(super) fn mount_file(file: &Path, at: &Path) -> Result<(), Error> {
    run("mount", &["-o", "loop"], &[file, at])
}

/// Unmounts a folder where something is mounted. What is in use for a moment is tried again; what stays in use stays mounted, since its file system
/// would go on to write below the next one.
///
/// # Errors
/// What the program says after 10 s.
pub(super) fn unmount(folder: &Path) -> Result<(), Error> {
    let mut outcome = Ok(());
    for _ in 0..TRIES {
        if !is_mounted(folder) {
            return Ok(());
        }
        outcome = run("umount", &[], &[folder]);
        if outcome.is_ok() {
            break;
        }
        std::thread::sleep(PAUSE);
    }
    outcome
}

/// Unmounts a folder whose server is dead, and can write nothing any more: also while it is in use.
///
/// # Errors
/// What the program says.
pub(super) fn unmount_dead(folder: &Path) -> Result<(), Error> {
    if !is_mounted(folder) {
        return Ok(());
    }
    run("umount", &[], &[folder]).or_else(|_| run("umount", &["-l"], &[folder]))
}

/// Refuses to go on while a loop device is over a file that was unmounted: its file system lives on in another mount namespace, and would write
/// below the next one.
///
/// # Errors
/// There is one after 10 s.
pub(super) fn expect_released(file: &Path) -> Result<(), Error> {
    for _ in 0..TRIES {
        if loop_over(file).is_none() {
            return Ok(());
        }
        std::thread::sleep(PAUSE);
    }
    let device = loop_over(file).unwrap_or_default();
    Err(Error::new(format!(
        "failed to unmount {} for the cache tier: {} is still in use by another mount namespace (a container, or a \
         service with private mounts); stop it, or start it before the study",
        file.display(),
        device.display()
    )))
}

/// The file that is mounted at a folder by a loop device, and whether that device is direct.
pub(super) fn mounted_file(folder: &Path) -> Option<(PathBuf, bool)> {
    let device = fs::metadata(folder).ok()?.dev();
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    let about = PathBuf::from(format!("/sys/dev/block/{major}:{minor}/loop"));
    let file = fs::read_to_string(about.join("backing_file")).ok()?;
    let direct = fs::read_to_string(about.join("dio")).is_ok_and(|text| text.trim() == "1");
    Some((PathBuf::from(file.trim_end()), direct))
}

/// Node of the loop device over a file.
fn loop_over(file: &Path) -> Option<PathBuf> {
    let devices = fs::read_dir("/sys/block").ok()?.flatten();
    let mut over = devices.filter(|device| {
        let found = fs::read_to_string(device.path().join("loop/backing_file"));
        found.is_ok_and(|found| Path::new(found.trim_end()) == file)
    });
    over.next().map(|device| Path::new("/dev").join(device.file_name()))
}
