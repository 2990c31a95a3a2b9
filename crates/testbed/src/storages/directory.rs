//! A directory of a file system that is there: nothing is made, nothing is left.

use super::Devices;
use super::storage::{AttachedStorage, Storage, StorageOrder};
use proofload_model::error::Error;
use std::path::{Path, PathBuf};

/// The storage `directory`.
pub(super) struct Directory;

#[derive(Debug)]
struct PlainFolder(PathBuf);

impl Storage for Directory {
    fn name(&self) -> &'static str {
        "directory"
    }

    fn attach(&self, order: &StorageOrder<'_>) -> Result<Box<dyn AttachedStorage>, Error> {
        Ok(Box::new(PlainFolder(order.data.to_owned())))
    }
}

impl AttachedStorage for PlainFolder {
    fn folder(&self) -> &Path {
        &self.0
    }

    fn devices(&self) -> Devices {
        Devices::under(&self.0)
    }
}
