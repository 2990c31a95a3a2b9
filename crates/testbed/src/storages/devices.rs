//! The block devices under a folder: that of the folder, and those of folders that it links to, as databases do with their log.

use super::block_device::{BlockDevice, device_of};
use proofload_model::error::Error;
use std::path::Path;

/// Block devices, the one of the data first; or why they cannot be told.
#[derive(Debug, Clone)]
pub(crate) struct Devices(Result<Vec<BlockDevice>, Error>);

impl Default for Devices {
    fn default() -> Self {
        Self(Err(Error::new("no storage is attached, so the device is unknown")))
    }
}

impl Devices {
    /// Finds the devices under a folder (or its nearest existing parent) and under the folders that it links to.
    pub(crate) fn under(folder: &Path) -> Self {
        let links = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let links =
            links.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink())).map(|entry| entry.path());
        let mut links: Vec<_> = links.filter(|link| link.is_dir()).collect();
        links.sort();
        Self::of_folders(std::iter::once(folder).chain(links.iter().map(std::path::PathBuf::as_path)))
    }

    /// Finds the device of each folder; equal ones once.
    pub(super) fn of_folders<'a>(folders: impl Iterator<Item = &'a Path>) -> Self {
        let found = folders.map(device_of).collect::<Result<Vec<_>, _>>();
        Self(found.map(|all| {
            let mut devices: Vec<BlockDevice> = Vec::new();
            for device in all {
                if !devices.contains(&device) {
                    devices.push(device);
                }
            }
            devices
        }))
    }

    /// All of them, at least one.
    ///
    /// # Errors
    /// Why they cannot be told.
    pub(crate) fn all(&self) -> Result<&[BlockDevice], Error> {
        self.0.as_ref().map(Vec::as_slice).map_err(Clone::clone)
    }

    /// Numbers of all, by which control groups name them.
    pub(crate) fn numbers(&self) -> Result<Vec<String>, Error> {
        self.all()?.iter().map(BlockDevice::number).collect()
    }

    /// Names of all, for people.
    pub(crate) fn names(&self) -> String {
        self.all().map_or_else(|_| String::new(), |devices| joined(devices.iter().map(|device| device.name.as_str())))
    }
}

/// Words of several devices as one text.
pub(crate) fn joined<'a>(words: impl Iterator<Item = &'a str>) -> String {
    words.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_to_a_folder_counts_and_a_file_does_not() {
        let (data, log) = (tempfile::tempdir().unwrap(), tempfile::tempdir_in("/dev/shm").unwrap());
        std::fs::write(data.path().join("rows"), "x").unwrap();
        let alone = Devices::under(data.path());
        std::os::unix::fs::symlink(data.path().join("rows"), data.path().join("link")).unwrap();
        assert_eq!(Devices::under(data.path()).names(), alone.names(), "a link to a file");
        std::os::unix::fs::symlink(data.path(), data.path().join("itself")).unwrap();
        assert_eq!(Devices::under(data.path()).names(), alone.names(), "equal devices once");
        std::os::unix::fs::symlink(log.path(), data.path().join("pg_wal")).unwrap();
        assert!(Devices::under(data.path()).all().is_err(), "memory is on no device, and that is not passed over");
    }
}
