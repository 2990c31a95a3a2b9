//! The folder in which all test programs make theirs.
//!
//! Tests make and delete data folders of a thousand files each. On ext4 without a journal, as some virtual machines have it, a new file is sought past every
//! inode that was deleted within the last minute or more among those of its parent folder: this took three quarters of the CPU time of some programs.
//! Folders below one that is marked as top of a tree are spread over the file system instead (`T` in chattr(1)).

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A folder that everybody may use, as `/tmp`; it is removed when this ends.
pub(super) struct TestPlace(PathBuf);

impl TestPlace {
    pub(super) fn new() -> Result<Self, String> {
        // A short name: sockets lie below it, and their paths are short.
        let path = std::env::temp_dir().join(format!("pt-{}", std::process::id()));
        let failed = |error: std::io::Error| format!("making {}: {error}", path.display());
        std::fs::create_dir(&path).map_err(failed)?;
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o1777)).map_err(failed)?;
        // Where there is no such mark, tests take as long as they take there.
        let _marked = Command::new("chattr").arg("+T").arg(&path).stdout(Stdio::null()).stderr(Stdio::null()).status();
        Ok(Self(path))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TestPlace {
    fn drop(&mut self) {
        // A folder on which a failed test has left a mount cannot be removed, and stays.
        let _removed = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_is_open_to_all_and_goes() {
        let place = TestPlace::new().unwrap();
        let path = place.path().to_owned();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o1777);
        std::fs::write(path.join("file"), "").unwrap();
        drop(place);
        assert!(!path.exists());
    }
}
