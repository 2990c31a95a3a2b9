//! A folder of a chore that is removed with all that is in it. Servers under an unprivileged user get through it.

use crate::files::make_folder;
use std::fs::{Permissions, set_permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// A folder of this call.
#[derive(Debug)]
pub(crate) struct WorkFolder(PathBuf);

impl WorkFolder {
    /// Makes it in the folder for temporary files, named after the chore and this process.
    pub(crate) fn of(chore: &str) -> Result<Self, String> {
        Self::below(&std::env::temp_dir(), &format!("proofload-{chore}-"))
    }

    /// Makes it below another folder; the number of this process follows the beginning of its name.
    pub(crate) fn below(place: &Path, beginning: &str) -> Result<Self, String> {
        make_folder(place)?;
        let path = place.join(format!("{beginning}{}", std::process::id()));
        // A chore that was killed leaves its folder, and numbers of processes come again.
        let _usually_none = std::fs::remove_dir_all(&path);
        let made = std::fs::create_dir(&path).and_then(|()| set_permissions(&path, Permissions::from_mode(0o755)));
        made.map_err(|error| format!("made {}: {error}", path.display()))?;
        Ok(Self(path))
    }

    /// The folder.
    pub(crate) fn here(&self) -> &Path {
        &self.0
    }

    /// A path in it.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Makes a folder in it that everybody may write to, which an ordinary user needs for a home.
    pub(crate) fn inner(&self, name: &str) -> Result<PathBuf, String> {
        let path = self.path(name);
        make_folder(&path)?;
        let opened = set_permissions(&path, Permissions::from_mode(0o777));
        opened.map_err(|error| format!("opened {}: {error}", path.display()))?;
        Ok(path)
    }

    /// Writes a file for its owner alone, as keys want it.
    pub(crate) fn write(&self, name: &str, text: &str) -> Result<PathBuf, String> {
        let path = self.path(name);
        let written = std::fs::write(&path, text).and_then(|()| set_permissions(&path, Permissions::from_mode(0o600)));
        written.map_err(|error| format!("wrote {}: {error}", path.display()))?;
        Ok(path)
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        // What cannot be removed lies among temporary files, named after this process.
        let _left_for_the_reader = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_a_killed_chore_left_is_made_anew() {
        let place = WorkFolder::of("left-behind").expect("a folder");
        let killed = WorkFolder::below(place.here(), "chore-").expect("a folder");
        killed.write("rest", "of a killed chore").expect("writes");
        std::mem::forget(killed);
        let next = WorkFolder::below(place.here(), "chore-").expect("its number is free again");
        assert!(!next.path("rest").exists());
    }
}
