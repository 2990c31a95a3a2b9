//! Storage under the data of an instance: one file and one line in [`STORAGES`] each. Attached between restoring the data and starting
//! the instance. Lists and re-exports.

mod block_device;
mod devices;
mod directory;
mod storage;
mod tier;
#[cfg(test)]
mod two_folders;
mod volume;

pub(crate) use block_device::{BlockDevice, device_of};
pub(crate) use devices::Devices;
pub(crate) use devices::joined;
pub(crate) use storage::{AttachedStorage, StorageMeans, StorageOrder, attach};
pub(crate) use tier::needs as tier_needs;
pub(crate) use volume::{DeviceToMount, Volume, expect_own_volume};

/// Frees what dead agents have left of the storages of a study; tells what was found, in words.
///
/// # Errors
/// Something cannot be freed.
pub(crate) fn sweep(folder: &std::path::Path) -> Result<Vec<String>, proofload_model::error::Error> {
    let mut found = tier::sweep(folder)?;
    let mounted = volume::sweep(folder)?;
    found.extend(mounted.iter().map(|place| format!("unmounted the volume at {}", place.display())));
    Ok(found)
}

/// Every storage.
const STORAGES: &[&dyn storage::Storage] = &[
    &directory::Directory,
    &tier::TierVolumes,
    #[cfg(test)]
    &two_folders::TwoFolders,
];
