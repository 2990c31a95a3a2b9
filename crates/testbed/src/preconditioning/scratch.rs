//! The files of fio in a study's folder: the file that is written over or read, and what one fio run says. All of them go
//! when it ends, also by an error; what a killed agent left is swept.

use proofload_model::error::Error;
use std::path::{Path, PathBuf};

/// The file that stands for the drive when no device is named.
pub(super) const FILE: &str = "precondition.fio";

/// The file that sequential reads of the calibration read.
pub(super) const READ_FILE: &str = "calibration.fio";

/// fio's result.
pub(super) const OUTPUT: &str = "precondition.json";

/// What fio prints beside it.
pub(super) const LOG: &str = "precondition.log";

/// A study's folder while it is used. Dropping it removes our files.
#[derive(Debug)]
pub(super) struct Scratch {
    folder: PathBuf,
}

impl Scratch {
    /// Makes the folder when it is not there, and removes what an earlier, killed preconditioning left in it.
    pub(super) fn open(folder: &Path) -> Result<Self, Error> {
        let failed =
            |error: std::io::Error| Error::new(format!("failed to create the folder {}: {error}", folder.display()));
        std::fs::create_dir_all(folder).map_err(failed)?;
        // Absolute and without links: the guard compares it with mount points, fio works in it.
        let folder = std::fs::canonicalize(folder).map_err(failed)?;
        sweep(&folder)?;
        Ok(Self { folder })
    }

    /// The folder, absolute.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Removes our files and says when that fails.
    pub(super) fn close(self) -> Result<(), Error> {
        sweep(&self.folder)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Whoever drops without closing has an error to report already.
        let _lost = sweep(&self.folder);
    }
}

/// Removes what preconditioning leaves in a study's folder when its agent is killed. Fails when a file cannot be removed, or when
/// something else than a file stands under our names.
pub fn sweep(folder: &Path) -> Result<(), Error> {
    [FILE, READ_FILE, OUTPUT, LOG].iter().try_for_each(|name| remove(&folder.join(name)))
}

fn remove(path: &Path) -> Result<(), Error> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::new(format!("failed to remove {}, left by fio: {error}", path.display())))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leave_behind(folder: &Path) {
        for name in [FILE, READ_FILE, OUTPUT, LOG, "data.db"] {
            std::fs::write(folder.join(name), name).unwrap();
        }
    }

    #[track_caller]
    fn check_only_data(folder: &Path) {
        let names: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["data.db"]);
    }

    #[test]
    fn our_files_go_and_no_others() {
        let folder = tempfile::tempdir().unwrap();
        leave_behind(folder.path());
        let scratch = Scratch::open(folder.path()).unwrap();
        check_only_data(folder.path());
        leave_behind(scratch.folder());
        drop(scratch);
        check_only_data(folder.path());
        leave_behind(folder.path());
        sweep(folder.path()).unwrap();
        check_only_data(folder.path());
        sweep(&folder.path().join("missing")).unwrap();
    }

    #[test]
    fn a_link_is_not_followed_and_a_folder_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("precious"), "kept").unwrap();
        std::os::unix::fs::symlink("precious", folder.path().join(FILE)).unwrap();
        sweep(folder.path()).unwrap();
        assert_eq!(std::fs::read_to_string(folder.path().join("precious")).unwrap(), "kept");
        std::fs::create_dir(folder.path().join(LOG)).unwrap();
        let error = Scratch::open(folder.path()).unwrap_err().to_string();
        assert!(error.contains("precondition.log"), "{error}");
    }
}
