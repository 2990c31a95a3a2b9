//! The storage under a folder: file system, mount options, block devices.

use super::describe::{chosen, fact};
use crate::storages::{BlockDevice, Devices, joined};
use proofload_model::facts::storage as names;
use proofload_model::samples::Fact;
use proofload_model::units::Bytes;
use std::path::{Path, PathBuf};

pub(super) fn facts(folder: &Path) -> Vec<Fact> {
    let existing = existing(folder);
    let mount = mount_of(&existing);
    let part = |place: usize| mount.as_ref().map(|mount| mount[place].clone());
    let mut facts = vec![
        fact(&names::FILE_SYSTEM, part(0), "/proc/self/mountinfo"),
        fact(&names::MOUNT_POINT, part(1), "/proc/self/mountinfo"),
        fact(&names::MOUNT_OPTIONS, part(2), "/proc/self/mountinfo"),
        names::FREE.found(free(&existing), "statvfs"),
    ];
    match Devices::under(&existing).all() {
        Ok(devices) => facts.extend(of_devices(devices)),
        Err(error) => facts.push(names::DEVICE.unknown(error.to_string())),
    }
    facts
}

/// Facts of the devices; those of several in one text, in the order of their names.
fn of_devices(devices: &[BlockDevice]) -> Vec<Fact> {
    let texts = |of_device: &dyn Fn(&BlockDevice) -> Option<String>| -> Option<String> {
        let texts: Vec<String> = devices.iter().map(of_device).collect::<Option<_>>()?;
        Some(joined(texts.iter().map(String::as_str)))
    };
    let file = |name: &str| {
        texts(&|device| std::fs::read_to_string(device.folder.join(name)).ok().map(|text| text.trim().to_owned()))
    };
    let size = texts(&|device| {
        let sectors = std::fs::read_to_string(device.folder.join("size")).ok()?.trim().parse::<u64>().ok()?;
        Some(Bytes(sectors * 512).to_string())
    });
    let scheduler = texts(&|device| {
        chosen(&std::fs::read_to_string(device.folder.join("queue/scheduler")).ok()?).map(str::to_owned)
    });
    let folders: Vec<String> = devices.iter().map(|device| device.folder.display().to_string()).collect();
    let source = joined(folders.iter().map(String::as_str));
    let values = [
        (names::DEVICE, texts(&|device| Some(device.name.clone()))),
        (names::DEVICE_MODEL, file("device/model")),
        (names::DEVICE_FIRMWARE, file("device/firmware_rev")),
        (names::DEVICE_SIZE, size),
        (names::ROTATIONAL, file("queue/rotational")),
        (names::SCHEDULER, scheduler),
        (names::WRITE_CACHE, file("queue/write_cache")),
        (names::READ_AHEAD, file("queue/read_ahead_kb")),
    ];
    values.into_iter().map(|(name, value)| fact(&name, value, &source)).collect()
}

/// The path, or its nearest parent that exists.
fn existing(folder: &Path) -> PathBuf {
    let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_path_buf());
    absolute.ancestors().find(|candidate| candidate.exists()).unwrap_or(Path::new("/")).to_path_buf()
}

/// Free bytes for unprivileged users at a folder (or its nearest existing parent).
pub(crate) fn free(folder: &Path) -> Option<Bytes> {
    crate::sys::space_at(&existing(folder)).ok().map(|space| space.available)
}

/// Type, mount point and options of the mount that holds a path.
fn mount_of(path: &Path) -> Option<[String; 3]> {
    let path = std::fs::canonicalize(path).ok()?;
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").ok()?;
    let parts = mounts.lines().filter_map(|line| {
        let (left, right) = line.split_once(" - ")?;
        let fields: Vec<&str> = left.split(' ').collect();
        let (point, own) = (fields.get(4)?, fields.get(5)?);
        let mut right = right.split(' ');
        let (kind, options) = (right.next()?, right.nth(1).unwrap_or_default());
        path.starts_with(point).then(|| [kind.to_owned(), (*point).to_owned(), format!("{own},{options}")])
    });
    parts.max_by_key(|mount| mount[1].len())
}
