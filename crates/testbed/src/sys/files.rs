//! What the standard library cannot do to files: share blocks, drop cached pages, change owners, ask for space.

use proofload_model::error::Error;
use proofload_model::units::Bytes;
use rustix::fs::{Advice, FallocateFlags, Gid, Uid};
use std::fs::File;
use std::path::Path;

/// Makes `to` share the blocks of `from` (FICLONE); false where the file system cannot, and then nothing was done.
pub(crate) fn clone_file(from: &File, to: &File) -> bool {
    rustix::fs::ioctl_ficlone(to, from).is_ok()
}

/// Drops the cached pages of a file that are written back. Advice: the kernel keeps pages that are in use.
pub(crate) fn drop_cached(file: &File) -> Result<(), Error> {
    rustix::fs::fadvise(file, 0, None, Advice::DontNeed)
        .map_err(|error| Error::new(format!("failed to drop the cached pages of a file: {error}")))
}

/// Times that the kernel is asked to forget: one that was used lately is passed over first, as a name and as an inode. Source: the kernel's
/// fs/dcache.c, `DCACHE_REFERENCED`, and fs/inode.c, `I_REFERENCED`.
const PASSES: u32 = 5;

/// Lets the kernel forget inodes that nobody uses, of the whole machine, as far as we are root: in control groups of version 2 the group that
/// first wrote a file answers for all that is written back of it, until the file's inode is forgotten. Source: the kernel's
/// Documentation/admin-guide/cgroup-v2.rst, "Writeback", and sysctl/vm.rst, `drop_caches`.
///
/// Without such groups it does nothing: others on the machine would pay for it.
pub(crate) fn forget_inodes() {
    if !Path::new("/sys/fs/cgroup/cgroup.controllers").exists() {
        return;
    }
    for _ in 0..PASSES {
        let _as_far_as_it_goes = std::fs::write("/proc/sys/vm/drop_caches", "2\n");
    }
}

/// Writes back everything of the file system that holds `path`.
pub(crate) fn sync_file_system(path: &Path) -> Result<(), Error> {
    let failed = |error: String| Error::new(format!("failed to sync the file system of {}: {error}", path.display()));
    let file = File::open(path).map_err(|error| failed(error.to_string()))?;
    rustix::fs::syncfs(&file).map_err(|error| failed(error.to_string()))
}

/// Gives a file, folder or symbolic link (not what it points to) to a user and group.
pub(crate) fn set_owner(path: &Path, user: u32, group: u32) -> Result<(), Error> {
    std::os::unix::fs::lchown(path, Some(Uid::from_raw(user).as_raw()), Some(Gid::from_raw(group).as_raw()))
        .map_err(|error| Error::new(format!("failed to change the owner of {} to {user}: {error}", path.display())))
}

/// Gives a file room from a place on, and the length that goes with it.
pub(crate) fn allocate(file: &File, from: u64, length: u64) -> Result<(), Error> {
    rustix::fs::fallocate(file, FallocateFlags::empty(), from, length)
        .map_err(|error| Error::new(format!("failed to allocate {} on the file system: {error}", Bytes(length))))
}

/// Room of a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Space {
    /// All of it.
    pub(crate) total: Bytes,
    /// What an ordinary user may still take.
    pub(crate) available: Bytes,
}

/// Room of the file system that holds `path`.
pub(crate) fn space_at(path: &Path) -> Result<Space, Error> {
    let found = rustix::fs::statvfs(path)
        .map_err(|error| Error::new(format!("failed to get the free space at {}: {error}", path.display())))?;
    Ok(Space { total: Bytes(found.f_blocks * found.f_frsize), available: Bytes(found.f_bavail * found.f_frsize) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn space_is_told_and_pages_can_be_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let space = space_at(folder.path()).unwrap();
        assert!(space.available.0 > 0 && space.available <= space.total, "{space:?}");
        let path = folder.path().join("file");
        std::fs::write(&path, vec![7; 1 << 20]).unwrap();
        sync_file_system(&path).unwrap();
        drop_cached(&File::open(&path).unwrap()).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), vec![7; 1 << 20]);
        assert!(space_at(Path::new("/nowhere/at/all")).is_err());
        allocate(&File::options().write(true).open(&path).unwrap(), 1 << 20, 1 << 16).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().len(), (1 << 20) + (1 << 16));
    }
}
