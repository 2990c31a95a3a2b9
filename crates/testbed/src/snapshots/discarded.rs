//! The mark of data whose server was ended at once: they are no copy of anything. It stands beside them, is written before the server ends,
//! and goes after what replaces them is there. May not touch the data.

use super::folder::{data_folder, expect_ours};
use proofload_model::error::Error;
use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

/// File beside the data that says so.
const MARK: &str = "data.discarded";

fn mark(folder: &Path) -> PathBuf {
    folder.join(MARK)
}

/// Marks the data of a folder as discarded, for this agent and those that come later. It is not forced to the disk: a crash of the host
/// that loses it leaves what such a crash leaves of any server that runs.
pub(crate) fn discard(folder: &Path) -> Result<(), Error> {
    expect_ours(folder)?;
    let path = mark(folder);
    let created = File::create(&path);
    let mut file = created.map_err(|error| Error::new(format!("failed to create {}: {error}", path.display())))?;
    let text = "A server on these data was ended at once: they are no snapshot, and are to be restored or made anew.\n";
    // The file is the mark, and its text for people: a full disk has no room for it.
    let _for_people = file.write_all(text.as_bytes());
    Ok(())
}

/// Whether the data of a folder are discarded.
pub(crate) fn are_discarded(folder: &Path) -> bool {
    mark(folder).exists()
}

/// Refuses what must not happen with discarded data.
pub(crate) fn expect_kept(folder: &Path, what: &str) -> Result<(), Error> {
    if !are_discarded(folder) {
        return Ok(());
    }
    Err(Error::refused(format!(
        "failed to {what}: the server on {} was ended at once, and its data were discarded; restore their snapshot \
         first",
        data_folder(folder).display()
    )))
}

/// Removes the mark, once the data are others.
pub(super) fn renewed(folder: &Path) -> Result<(), Error> {
    let path = mark(folder);
    match fs::remove_file(&path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(Error::new(format!("failed to remove {}: {error}", path.display())))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::folder::claim;
    use super::*;

    #[test]
    fn data_on_a_full_disk_are_marked() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("data-of-it");
        claim(&folder).unwrap();
        // A file that can be opened and takes no byte.
        std::os::unix::fs::symlink("/dev/full", mark(&folder)).unwrap();
        discard(&folder).unwrap();
        assert!(are_discarded(&folder));
        renewed(&folder).unwrap();
        assert!(!are_discarded(&folder));
    }
}
