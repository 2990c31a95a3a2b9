//! A temporary folder that an ordinary user may read and enter; it is removed when it is dropped.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The user and group that nothing belongs to, as a number for `setpriv`.
pub(super) const NOBODY: &str = "65534";

/// A folder of this call.
#[derive(Debug)]
pub(super) struct WorkFolder(PathBuf);

impl WorkFolder {
    /// Makes it.
    pub(super) fn make() -> Result<Self, String> {
        let folder = std::env::temp_dir().join(format!("proofload-installation-{}", std::process::id()));
        open(&folder)?;
        Ok(Self(folder))
    }

    /// Makes a folder in it that everybody may write to, which an ordinary user needs for a home.
    pub(super) fn inner(&self, name: &str) -> Result<PathBuf, String> {
        let folder = self.0.join(name);
        open(&folder)?;
        let all = std::fs::Permissions::from_mode(0o777);
        std::fs::set_permissions(&folder, all).map_err(|error| format!("opened {}: {error}", folder.display()))?;
        Ok(folder)
    }
}

fn open(folder: &Path) -> Result<(), String> {
    std::fs::create_dir_all(folder).map_err(|error| format!("made {}: {error}", folder.display()))
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        let _removed = std::fs::remove_dir_all(&self.0);
    }
}
