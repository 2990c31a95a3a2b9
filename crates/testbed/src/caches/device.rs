//! A block device that is to be part of a cache: its node, its name in `/sys`, its size. Reads only.

use proofload_model::error::Error;
use proofload_model::units::Bytes;
use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

/// Bytes of a sector in `/sys` and in tables of the device mapper, whatever the device's own are. Source: the kernel's
/// Documentation/ABI/stable/sysfs-block.
pub(super) const SECTOR: u64 = 512;

/// A block device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheDevice {
    /// Its node as it was named.
    pub(super) node: PathBuf,
    /// Its folder below `/sys`.
    pub(super) folder: PathBuf,
    /// Its size.
    pub(super) size: Bytes,
}

impl CacheDevice {
    /// Looks at a device.
    ///
    /// # Errors
    /// It is not there, no block device, or the kernel does not tell its size.
    pub(super) fn find(node: &Path) -> Result<Self, Error> {
        let failed = |why: String| Error::new(format!("failed to inspect {}: {why}", node.display()));
        let found = fs::metadata(node).map_err(|error| failed(error.to_string()))?;
        if !found.file_type().is_block_device() {
            return Err(failed(
                "it is not a block device; a cache of the kernel needs devices, `tier format` also takes files"
                    .to_owned(),
            ));
        }
        let number = format!("{}:{}", rustix::fs::major(found.rdev()), rustix::fs::minor(found.rdev()));
        let folder =
            fs::canonicalize(Path::new("/sys/dev/block").join(&number)).map_err(|error| failed(error.to_string()))?;
        let size = fs::read_to_string(folder.join("size")).map_err(|error| failed(error.to_string()))?;
        let sectors: u64 =
            size.trim().parse().map_err(|_| failed(format!("the kernel reports its size as {size:?}")))?;
        Ok(Self { node: node.to_owned(), folder, size: Bytes(sectors.saturating_mul(SECTOR)) })
    }

    /// Its size in sectors.
    pub(super) const fn sectors(&self) -> u64 {
        self.size.0 / SECTOR
    }

    /// Its first bytes.
    pub(super) fn head(&self) -> Result<Vec<u8>, Error> {
        let mut bytes = vec![0; 8192];
        let read = File::open(&self.node).and_then(|mut file| file.read_exact(&mut bytes));
        read.map_err(|error| Error::new(format!("failed to read {}: {error}", self.node.display())))?;
        Ok(bytes)
    }
}

#[cfg(test)]
impl CacheDevice {
    /// One that is not there, for plans.
    pub(super) fn imagined(name: &str, mebibytes: u64) -> Self {
        Self {
            node: Path::new("/dev").join(name),
            folder: Path::new("/sys/devices/block").join(name),
            size: Bytes::mebi(mebibytes),
        }
    }
}

/// A number in little-endian order at a place in bytes; `None` behind their end.
pub(super) fn little_endian(bytes: &[u8], at: usize, length: usize) -> Option<u64> {
    let bytes = bytes.get(at..at + length)?;
    Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_in_little_endian_order() {
        assert_eq!(little_endian(&[9, 0x03, 0xC4, 0x18, 0], 1, 4), Some(0o6_142_003));
        assert_eq!(little_endian(&[1, 2], 1, 4), None);
    }

    #[test]
    fn a_file_is_no_device_and_is_told_what_to_do() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = CacheDevice::find(file.path()).unwrap_err().to_string();
        assert!(error.contains("not a block device") && error.contains("tier format"), "{error}");
    }
}
