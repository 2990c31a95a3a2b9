//! Files with a password: readable by their owner alone, and gone with what they were for.

use super::user::User;
use proofload_engine::FileToWrite;
use proofload_model::error::Error;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// Writes a file that nobody but its owner may read, in the place of an earlier one.
pub(crate) fn write_secret(path: &Path, content: &str, user: Option<&User>) -> Result<(), Error> {
    // One that is there keeps its owner and its mode.
    let _left = std::fs::remove_file(path);
    let opened = OpenOptions::new().create_new(true).write(true).mode(0o600).open(path);
    let written = opened.and_then(|mut file| file.write_all(content.as_bytes()));
    written.map_err(|error| Error::new(format!("failed to write {}: {error}", path.display())))?;
    user.map_or(Ok(()), |user| user.own(path))
}

/// Files with a password. Dropping it removes them.
#[derive(Debug, Default)]
pub(crate) struct SecretFiles(Vec<PathBuf>);

impl SecretFiles {
    /// Files of a folder, which may not be written yet.
    pub(crate) fn of(folder: &Path, files: &[FileToWrite]) -> Self {
        Self(files.iter().map(|file| folder.join(&file.path)).collect())
    }

    /// One file.
    pub(crate) fn one(path: PathBuf) -> Self {
        Self(vec![path])
    }
}

impl Drop for SecretFiles {
    fn drop(&mut self) {
        for path in &self.0 {
            let _gone = std::fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn a_secret_is_its_owners_and_goes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("passwords");
        std::fs::write(&path, "open to all").unwrap();
        let files = SecretFiles::one(path.clone());
        write_secret(&path, "secret", None).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "secret");
        drop(files);
        assert!(!path.exists());
    }
}
