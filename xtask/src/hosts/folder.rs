//! A folder for one way, removed with all that is in it. It lies where servers under an unprivileged user get through.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// A folder of ours.
pub(super) struct WorkFolder(PathBuf);

impl WorkFolder {
    /// Makes it.
    pub(super) fn new(name: &str) -> Result<Self, String> {
        let path = PathBuf::from(format!("/var/tmp/proofload-hosts-{}-{name}", std::process::id()));
        let made = std::fs::create_dir(&path)
            .and_then(|()| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)));
        made.map_err(|error| format!("making {}: {error}", path.display()))?;
        Ok(Self(path))
    }

    /// A path in it.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// The folder.
    pub(super) fn here(&self) -> &Path {
        &self.0
    }

    /// Writes a file for its owner alone, as keys want it.
    pub(super) fn write(&self, name: &str, text: &str) -> Result<PathBuf, String> {
        let path = self.path(name);
        let written = std::fs::write(&path, text)
            .and_then(|()| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)));
        written.map_err(|error| format!("writing {}: {error}", path.display()))?;
        Ok(path)
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        // It is below /var/tmp, and named after this process.
        let _left_for_the_reader = std::fs::remove_dir_all(&self.0);
    }
}
