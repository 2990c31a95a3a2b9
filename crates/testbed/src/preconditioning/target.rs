//! What is written over: a file in the study's folder, or a device that the guard has let pass. May not write.

use super::job::FILL_BLOCK;
use super::scratch::{FILE, READ_FILE};
use crate::sys;
use proofload_model::error::Error;
use proofload_model::units::Bytes;
use std::path::{Path, PathBuf};

/// Room for fio's own output beside the file.
const OUTPUT_ROOM: Bytes = Bytes::mebi(16);

/// Where fio writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    folder: PathBuf,
    path: PathBuf,
    size: Bytes,
}

impl Target {
    /// The file of a study's folder.
    pub(super) fn file(folder: &Path, size: Bytes) -> Self {
        Self { folder: folder.to_path_buf(), path: folder.join(FILE), size: whole_blocks(size) }
    }

    /// The file that a calibration reads.
    pub(super) fn to_read(folder: &Path, size: Bytes) -> Self {
        Self { path: folder.join(READ_FILE), ..Self::file(folder, size) }
    }

    /// A whole device; fio's output goes to the study's folder.
    pub(super) fn device(folder: &Path, node: &Path, size: Bytes) -> Self {
        Self { folder: folder.to_path_buf(), path: node.to_path_buf(), size: whole_blocks(size) }
    }

    /// The folder in which fio works.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// What is written over.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it is the file of the study's folder.
    pub(super) fn is_file(&self) -> bool {
        self.path.starts_with(&self.folder)
    }

    /// How much of it: what was asked, rounded down to whole blocks of a fill.
    pub(super) fn size(&self) -> Bytes {
        self.size
    }

    /// The name that fio gets. A file is named without its folder, in which fio works: fio takes a colon for the end of a name.
    pub(super) fn name_for_fio(&self) -> String {
        let name = self.path.strip_prefix(&self.folder).unwrap_or(&self.path);
        name.display().to_string().replace(':', "\\:")
    }

    /// Fails when the file and fio's output do not fit; `what` is to be done with it, `remedy` what else there is to try.
    pub(super) fn check_room(&self, what: &str, remedy: &str) -> Result<(), Error> {
        let needed = Bytes(self.size.0.saturating_add(OUTPUT_ROOM.0));
        let space = sys::space_at(&self.folder)?;
        let available = space.available;
        // A file system that has no size, such as one in memory without a limit, has no free space to tell either.
        if needed <= available || space.total == Bytes(0) {
            return Ok(());
        }
        Err(Error::new(format!(
            "{what} a file of {} in {}: {needed} needed (with {OUTPUT_ROOM} for fio's output), {available} available; \
             free some space, or {remedy}",
            self.size,
            self.folder.display()
        )))
    }
}

fn whole_blocks(size: Bytes) -> Bytes {
    Bytes(size.0 - size.0 % FILL_BLOCK.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_without_its_folder_and_a_device_in_full() {
        let folder = Path::new("/data/a:b");
        let file = Target::file(folder, Bytes(FILL_BLOCK.0 * 3 + 1));
        assert_eq!((file.name_for_fio().as_str(), file.size()), ("precondition.fio", Bytes(FILL_BLOCK.0 * 3)));
        assert_eq!(file.path(), Path::new("/data/a:b/precondition.fio"));
        let device = Target::device(folder, Path::new("/dev/by:id"), Bytes::mebi(1));
        assert_eq!(device.name_for_fio(), "/dev/by\\:id");
        assert!(file.is_file() && !device.is_file());
    }

    #[test]
    fn too_little_room_names_both_sizes() {
        let folder = tempfile::tempdir().unwrap();
        Target::file(folder.path(), Bytes::mebi(1)).check_room("fill", "none").unwrap();
        let error = Target::file(folder.path(), Bytes(1 << 62)).check_room("fill", "none").unwrap_err().to_string();
        assert!(error.contains("4398046511120MiB needed (with 16MiB"), "{error}");
        assert!(error.contains("available; free some"), "{error}");
        assert!(Target::file(folder.path(), Bytes(u64::MAX)).check_room("fill", "none").is_err());
    }
}
