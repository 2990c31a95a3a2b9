//! The files of a tier: all in a folder beside that of its instance, which its slow volume is mounted at. May not know what is in them.

use super::super::volume::{file_of, named};
use proofload_model::error::Error;
use std::path::{Path, PathBuf};

/// How the name of the folder ends.
pub(super) const ENDING: &str = ".tier";

/// Files of the tier of one instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TierPlace {
    /// Folder of the instance.
    pub(super) instance: PathBuf,
    folder: PathBuf,
}

impl TierPlace {
    /// The files of the tier of an instance with a folder.
    pub(super) fn of(instance: &Path) -> Self {
        Self { instance: instance.to_owned(), folder: named(instance, ENDING) }
    }

    /// Folder of all of them.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The slow volume of the data: the study's own volume.
    pub(super) fn data_origin(&self) -> PathBuf {
        file_of(&self.instance)
    }

    /// The slow volume of the log.
    pub(super) fn log_origin(&self) -> PathBuf {
        self.folder.join("log.volume")
    }

    /// Where the volume of the log is mounted.
    pub(super) fn log(&self) -> PathBuf {
        self.folder.join("log")
    }

    /// The cache.
    pub(super) fn cache(&self) -> PathBuf {
        self.folder.join("cache")
    }

    /// The file to make the cache in: in a folder of its own a link leads to it.
    ///
    /// # Errors
    /// A file of that name is there already, or the link cannot be made.
    pub(super) fn lay_out_cache(&self, folder: Option<&str>) -> Result<PathBuf, Error> {
        let Some(folder) = folder else { return Ok(self.cache()) };
        let failed = |error: std::io::Error| Error::new(format!("failed to create the cache in {folder}: {error}"));
        let name = self.instance.file_name().unwrap_or_default().to_string_lossy();
        let study = self.instance.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
        let file = std::path::absolute(folder).map_err(failed)?.join(format!("{study}.{name}.proofload-cache"));
        if file.exists() {
            let text = format!(
                "failed to create the cache {}: it already exists from a run of another study; delete it",
                file.display()
            );
            return Err(Error::refused(text));
        }
        std::os::unix::fs::symlink(&file, self.cache()).map_err(failed)?;
        Ok(file)
    }

    /// Removes the cache, and the link to it, as far as they are there.
    ///
    /// # Errors
    /// They cannot be removed.
    pub(super) fn remove_cache(&self) -> Result<(), Error> {
        let target = std::fs::read_link(self.cache()).ok();
        target.into_iter().chain([self.cache()]).try_for_each(|file| match std::fs::remove_file(&file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(Error::new(format!("failed to remove {}: {error}", file.display())))
            }
            _ => Ok(()),
        })
    }

    /// Where the volumes are files.
    pub(super) fn files(&self) -> PathBuf {
        self.folder.join("volumes")
    }

    /// The socket of the server.
    pub(super) fn control(&self) -> PathBuf {
        self.folder.join("control")
    }

    /// What the server writes.
    pub(super) fn server_log(&self) -> PathBuf {
        self.folder.join("server.log")
    }
}
