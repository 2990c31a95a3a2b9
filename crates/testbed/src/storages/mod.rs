//! Storage under the data of an instance: one file and one line in [`STORAGES`] each. Attached between restoring the data and starting
//! the instance. Lists and re-exports.

mod block_device;
mod devices;
mod directory;
mod storage;
mod sweep;
mod tier;
#[cfg(test)]
mod two_folders;
mod volume;

pub(crate) use block_device::{BlockDevice, device_of};
pub(crate) use devices::Devices;
pub(crate) use devices::joined;
pub(crate) use storage::{AttachedStorage, StorageMeans, StorageOrder, attach};
pub(crate) use sweep::sweep;
pub(crate) use tier::{needs_and_file as tier_needs_and_file, needs_and_list as tier_needs};
pub(crate) use volume::{DeviceToMount, Volume, expect_own_volume, release_volumes};

/// Every storage.
const STORAGES: &[&dyn storage::Storage] = &[
    &directory::Directory,
    &tier::TierVolumes,
    #[cfg(test)]
    &two_folders::TwoFolders,
];
