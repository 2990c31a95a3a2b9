//! The block device under the data, from the block layer's counters in `/sys`. Sectors there are always 512 bytes.

use super::probe::{OpenedProbe, Probe, Subject, read_file, reading};
use super::rates::Rates;
use proofload_model::error::Error;
use proofload_model::samples::Reading;
use proofload_model::units::Bytes;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Bytes of a sector in the kernel's counters. Source: Documentation/block/stat.rst.
const SECTOR: f64 = 512.0;

/// A whole block device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockDevice {
    /// Name, such as `nvme0n1`.
    pub name: String,
    /// Its folder below `/sys`.
    pub folder: PathBuf,
}

impl BlockDevice {
    /// `<major>:<minor>`, by which the kernel names it elsewhere.
    pub(crate) fn number(&self) -> Result<String, Error> {
        read_file(self.folder.join("dev")).map(|text| text.trim().to_owned())
    }

    /// Bytes that were read from it since the machine started.
    pub(crate) fn bytes_read(&self) -> Result<Bytes, Error> {
        let counters = counters(&read_file(self.folder.join("stat"))?)?;
        Ok(Bytes((counters.sectors_read * SECTOR) as u64))
    }
}

/// The whole device that holds a path (or its nearest existing parent).
pub fn device_of(path: &Path) -> Result<BlockDevice, Error> {
    let existing = path
        .ancestors()
        .find(|candidate| candidate.exists() && !candidate.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let metadata = std::fs::metadata(existing)
        .map_err(|error| Error::new(format!("looking at {}: {error}", existing.display())))?;
    let number = metadata.dev();
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    let direct = PathBuf::from(format!("/sys/dev/block/{major}:{minor}"));
    let folder = if direct.exists() { direct } else { of_mount(existing)? };
    let real = std::fs::canonicalize(&folder)
        .map_err(|error| Error::new(format!("resolving {}: {error}", folder.display())))?;
    let whole = if real.join("partition").exists() {
        real.parent().map_or_else(|| real.clone(), Path::to_path_buf)
    } else {
        real
    };
    let name = whole.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(BlockDevice { name, folder: whole })
}

/// For file systems with device numbers of their own (btrfs, overlay): the device that the mount names.
fn of_mount(path: &Path) -> Result<PathBuf, Error> {
    let none = || {
        Error::new(format!(
            "{} is on no block device that the kernel names; device figures are not observed",
            path.display()
        ))
    };
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

struct Device {
    device: BlockDevice,
    rates: Rates,
}

pub(super) fn open(subject: &mut Subject) -> OpenedProbe {
    let device = device_of(&subject.folder)?;
    Ok(Some(Box::new(Device { device, rates: Rates::default() })))
}

impl Probe for Device {
    fn read(&mut self, span: Option<Duration>) -> Result<Vec<Reading>, Error> {
        let counters = counters(&read_file(self.device.folder.join("stat"))?)?;
        let name = self.device.name.clone();
        let mut readings = Vec::new();
        let mut rate = |series: &str, unit: &str, total: f64| {
            if let Some(value) = self.rates.per_second(series, total, span) {
                readings.push(reading(series, name.as_str(), unit, value));
            }
        };
        rate("reads", "1/s", counters.reads);
        rate("writes", "1/s", counters.writes);
        rate("read_bytes", "B/s", counters.sectors_read * SECTOR);
        rate("write_bytes", "B/s", counters.sectors_written * SECTOR);
        rate("flushes", "1/s", counters.flushes);
        // Milliseconds per second, as a share of the time.
        rate("busy", "%", counters.busy_ms / 10.0);
        // Time-weighted requests in flight: milliseconds of waiting per millisecond.
        rate("queue", "requests", counters.weighted_ms / 1000.0);
        if span.is_some() {
            readings.push(reading("in_flight", self.device.name.as_str(), "requests", counters.in_flight));
        }
        Ok(readings)
    }
}

/// The fields of a device's `stat` that are used. Source: Documentation/block/stat.rst.
#[derive(Debug, PartialEq)]
struct Counters {
    reads: f64,
    sectors_read: f64,
    writes: f64,
    sectors_written: f64,
    in_flight: f64,
    busy_ms: f64,
    weighted_ms: f64,
    flushes: f64,
}

fn counters(text: &str) -> Result<Counters, Error> {
    let fields: Vec<f64> = text.split_ascii_whitespace().map_while(|field| field.parse().ok()).collect();
    if fields.len() < 11 {
        return Err(Error::new(format!("a device's counters have {} fields where 11 are needed", fields.len())));
    }
    Ok(Counters {
        reads: fields[0],
        sectors_read: fields[2],
        writes: fields[4],
        sectors_written: fields[6],
        in_flight: fields[8],
        busy_ms: fields[9],
        weighted_ms: fields[10],
        flushes: fields.get(15).copied().unwrap_or(0.0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_stand_where_the_kernel_says() {
        let found = counters("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17").unwrap();
        let expected = Counters {
            reads: 1.0,
            sectors_read: 3.0,
            writes: 5.0,
            sectors_written: 7.0,
            in_flight: 9.0,
            busy_ms: 10.0,
            weighted_ms: 11.0,
            flushes: 16.0,
        };
        assert_eq!(found, expected);
        assert!(counters("1 2 3").is_err());
    }

    #[test]
    fn mounts_name_their_source() {
        assert_eq!(mount_line("36 35 98:0 /r /mnt rw,noatime - ext3 /dev/root rw"), Some(("/mnt", "/dev/root")));
    }
}
