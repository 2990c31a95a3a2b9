//! A whole block device as the kernel names it, and which one holds a path.

use crate::probes::{device_counters, read_file};
use proofload_model::error::Error;
use proofload_model::units::Bytes;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A whole block device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BlockDevice {
    /// Name, such as `nvme0n1`.
    pub(crate) name: String,
    /// Its folder below `/sys`.
    pub(crate) folder: PathBuf,
}

impl BlockDevice {
    /// `<major>:<minor>`, by which the kernel names it elsewhere.
    pub(crate) fn number(&self) -> Result<String, Error> {
        read_file(self.folder.join("dev")).map(|text| text.trim().to_owned())
    }

    /// Bytes that were read from it since the machine started.
    pub(crate) fn bytes_read(&self) -> Result<Bytes, Error> {
        Ok(Bytes(device_counters(self)?.bytes_read() as u64))
    }
}

/// The whole device that holds a path (or its nearest existing parent).
pub(crate) fn device_of(path: &Path) -> Result<BlockDevice, Error> {
    let existing = path
        .ancestors()
        .find(|candidate| candidate.exists() && !candidate.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let metadata = std::fs::metadata(existing)
        .map_err(|error| Error::new(format!("failed to inspect {}: {error}", existing.display())))?;
    let number = metadata.dev();
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    let direct = PathBuf::from(format!("/sys/dev/block/{major}:{minor}"));
    let folder = if direct.exists() { direct } else { of_mount(existing)? };
    let real = std::fs::canonicalize(&folder)
        .map_err(|error| Error::new(format!("failed to resolve {}: {error}", folder.display())))?;
    let whole = if real.join("partition").exists() {
        real.parent().map_or_else(|| real.clone(), Path::to_path_buf)
    } else {
        real
    };
    let name = whole.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(BlockDevice { name, folder: whole })
}

/// The device that the mount names, for file systems with device numbers of their own (btrfs, overlay).
fn of_mount(path: &Path) -> Result<PathBuf, Error> {
    let none =
        || Error::new(format!("{} is on no known block device; device figures are not observed", path.display()));
    let path = std::fs::canonicalize(path).map_err(|_| none())?;
    let mounts = read_file("/proc/self/mountinfo")?;
    let source = mounts
        .lines()
        .filter_map(mount_line)
        .filter(|(point, _)| path.starts_with(point))
        .max_by_key(|(point, _)| point.len());
    let device = source.map(|(_, source)| source).filter(|source| source.starts_with("/dev/")).ok_or_else(none)?;
    let number = std::fs::metadata(device).map_err(|_| none())?.rdev();
    Ok(PathBuf::from(format!("/sys/dev/block/{}:{}", rustix::fs::major(number), rustix::fs::minor(number))))
}

/// Mount point and source of a line of `mountinfo`.
fn mount_line(line: &str) -> Option<(&str, &str)> {
    let (left, right) = line.split_once(" - ")?;
    Some((left.split(' ').nth(4)?, right.split(' ').nth(1)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_name_their_source() {
        assert_eq!(mount_line("36 35 98:0 /r /mnt rw,noatime - ext3 /dev/root rw"), Some(("/mnt", "/dev/root")));
    }
}
