//! Puts the log of stopped data on a volume of its own, and back. A link in the data leads to it meanwhile. The data are mounted without a
//! tier when it works. May not know an engine.

use super::super::volume::make_file_system;
use super::mounts::{expect_released, mount_file, unmount};
use super::tier_place::TierPlace;
use crate::snapshots;
use proofload_model::error::Error;
use proofload_model::units::Bytes;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// Moves the log to a new volume of a size. Killed at any instant, the log is whole where the data or their link have it.
///
/// # Errors
/// A file or program fails.
pub(super) fn lay_apart(place: &TierPlace, data: &Path, folder: &str, size: Bytes) -> Result<(), Error> {
    let (log, volume) = (data.join(folder), place.log_origin());
    let failed = |error: std::io::Error| Error::new(format!("failed to put {} on a volume: {error}", log.display()));
    File::create(&volume).and_then(|file| file.set_len(size.0)).map_err(failed)?;
    make_file_system(&volume, size)?;
    let moved = place.log().join(folder);
    on_volume(place, || snapshots::copy_folder(&log, &moved))?;
    let aside = aside(place, folder);
    fs::rename(&log, &aside).map_err(failed)?;
    std::os::unix::fs::symlink(&moved, &log).map_err(failed)?;
    fs::remove_dir_all(&aside).map_err(failed)
}

/// Moves a log that was laid apart back into the data.
///
/// # Errors
/// A file or program fails.
pub(super) fn put_back(place: &TierPlace, data: &Path) -> Result<(), Error> {
    let mut links = fs::read_dir(data).into_iter().flatten().flatten().map(|entry| entry.path());
    let ours = |link: &PathBuf| fs::read_link(link).is_ok_and(|to| to.starts_with(place.log()));
    if let Some(link) = links.find(ours) {
        let failed = |error: std::io::Error| Error::new(format!("failed to put {} back: {error}", link.display()));
        let name = link.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let aside = aside(place, &name);
        let _left = fs::remove_dir_all(&aside);
        on_volume(place, || snapshots::copy_folder(&place.log().join(&name), &aside))?;
        fs::remove_file(&link).map_err(failed)?;
        fs::rename(&aside, &link).map_err(failed)?;
    }
    let _there_was_none = fs::remove_file(place.log_origin());
    Ok(())
}

/// Where a log is while it is moved: on the volume of the data, outside of them.
fn aside(place: &TierPlace, folder: &str) -> PathBuf {
    place.instance.join(format!("{folder}.draft"))
}

/// Does something while the volume of the log is mounted.
fn on_volume(place: &TierPlace, work: impl FnOnce() -> Result<(), Error>) -> Result<(), Error> {
    let log = place.log();
    fs::create_dir_all(&log).map_err(|error| Error::new(format!("failed to create {}: {error}", log.display())))?;
    mount_file(&place.log_origin(), &log)?;
    let done = work();
    unmount(&log).and_then(|()| expect_released(&place.log_origin())).and(done)
}
