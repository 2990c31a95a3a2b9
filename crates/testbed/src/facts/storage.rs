//! The storage under a folder: file system, mount options, block device.

use super::describe::{chosen, fact};
use crate::probes::device_of;
use proofload_model::samples::Fact;
use proofload_model::units::Bytes;
use std::path::{Path, PathBuf};

pub(super) fn facts(folder: &Path) -> Vec<Fact> {
    let existing = existing(folder);
    let mount = mount_of(&existing);
    let part = |place: usize| mount.as_ref().map(|mount| mount[place].clone());
    let mut facts = vec![
        fact("storage", "file_system", part(0), "/proc/self/mountinfo"),
        fact("storage", "mount_point", part(1), "/proc/self/mountinfo"),
        fact("storage", "mount_options", part(2), "/proc/self/mountinfo"),
        fact("storage", "free", free(&existing).map(|bytes| bytes.to_string()), "statvfs"),
    ];
    match device_of(&existing) {
        Ok(device) => {
            let file =
                |name: &str| std::fs::read_to_string(device.folder.join(name)).ok().map(|text| text.trim().to_owned());
            let source = device.folder.display().to_string();
            let size =
                file("size").and_then(|text| text.parse::<u64>().ok()).map(|sectors| Bytes(sectors * 512).to_string());
            let scheduler = file("queue/scheduler").and_then(|text| chosen(&text).map(str::to_owned));
            facts.push(fact("storage", "device", Some(device.name.clone()), &source));
            facts.push(fact("storage", "device_model", file("device/model"), &source));
            facts.push(fact("storage", "device_firmware", file("device/firmware_rev"), &source));
            facts.push(fact("storage", "device_size", size, &source));
            facts.push(fact("storage", "rotational", file("queue/rotational"), &source));
            facts.push(fact("storage", "scheduler", scheduler, &source));
            facts.push(fact("storage", "write_cache", file("queue/write_cache"), &source));
            facts.push(fact("storage", "read_ahead_kb", file("queue/read_ahead_kb"), &source));
        }
        Err(error) => facts.push(fact("storage", "device", None, &error.to_string())),
    }
    facts
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
