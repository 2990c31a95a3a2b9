//! Dropping what the kernel has cached of data and snapshot, so that a run starts cold, and its pages and what is written back of them are
//! charged to its own group.

use super::folder::expect_ours;
use crate::sys;
use proofload_model::error::Error;
use std::fs::{self, File};
use std::path::Path;

/// Writes back and drops the cached pages of every file below the folder, and their inodes where we are root.
pub(crate) fn drop_page_cache(folder: &Path) -> Result<(), Error> {
    expect_ours(folder)?;
    sys::sync_file_system(folder)?;
    drop_below(folder)?;
    sys::forget_inodes();
    Ok(())
}

fn drop_below(folder: &Path) -> Result<(), Error> {
    let entries =
        fs::read_dir(folder).map_err(|error| Error::new(format!("failed to inspect {}: {error}", folder.display())))?;
    for entry in entries.flatten() {
        let kind = entry
            .file_type()
            .map_err(|error| Error::new(format!("failed to inspect {}: {error}", entry.path().display())))?;
        if kind.is_dir() {
            drop_below(&entry.path())?;
        } else if kind.is_file()
            && let Ok(file) = File::open(entry.path())
        {
            sys::drop_cached(&file)?;
        }
    }
    Ok(())
}
