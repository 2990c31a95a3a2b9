//! What the kernel says about a device: mounted, swapped on, partitioned, part of another device, under the system.
//! Reads `/proc` and `/sys`, or trees like them in tests. Whatever cannot be read is a reason to refuse.

use super::claim::DeviceUse;
use super::mounts::{self, Mount, Number, unescaped};
use proofload_model::error::Error;
use proofload_model::units::Bytes;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Bytes of a sector in `/sys`, whatever the device's own are. Source: Documentation/ABI/stable/sysfs-block.
const SECTOR: u64 = 512;

/// Where the kernel's trees are.
#[derive(Debug, Clone)]
pub(super) struct Machine {
    /// `/proc`.
    pub(super) proc: PathBuf,
    /// `/sys`.
    pub(super) sys: PathBuf,
}

impl Machine {
    /// This one.
    pub(super) fn here() -> Self {
        Self { proc: PathBuf::from("/proc"), sys: PathBuf::from("/sys") }
    }

    /// Folder of a block device below `/sys`, without links.
    fn folder_of(&self, number: &str) -> Result<PathBuf, Error> {
        resolved(&self.sys.join("dev/block").join(number))
    }
}

/// A device as the kernel shows it, with its partitions.
#[derive(Debug)]
pub(super) struct Device {
    folder: PathBuf,
    parts: Vec<Part>,
}

/// The whole device or a partition.
#[derive(Debug)]
struct Part {
    name: String,
    number: Number,
    folder: PathBuf,
}

impl Device {
    /// The device of a number such as `259:0`.
    pub(super) fn find(machine: &Machine, number: &str) -> Result<Self, Error> {
        let folder = machine.folder_of(number)?;
        let mut parts = vec![Part { name: name_of(&folder), number: number.to_owned(), folder: folder.clone() }];
        for name in names_in(&folder)? {
            let inner = folder.join(&name);
            if inner.join("partition").exists() {
                parts.push(Part { name: name_of(&inner), number: text_of(&inner.join("dev"))?, folder: inner });
            }
        }
        Ok(Self { folder, parts })
    }

    /// Its size.
    pub(super) fn size(&self) -> Result<Bytes, Error> {
        let text = text_of(&self.folder.join("size"))?;
        let sectors: u64 = text.parse().map_err(|_| Error::new(format!("size of the device is {text:?}")))?;
        Ok(Bytes(sectors.saturating_mul(SECTOR)))
    }

    /// How a sentence names a part: the device itself, or one of its partitions.
    fn subject(&self, part: &Part) -> String {
        if part.folder == self.folder { "it".to_owned() } else { format!("its partition {}", part.name) }
    }

    /// The device or partition whose path is `/dev/<name>`.
    fn part_at(&self, path: &str) -> Option<&Part> {
        let name = |path: &Path| path.strip_prefix("/dev").ok().map(|name| name.display().to_string());
        let links = std::fs::canonicalize(path).ok();
        let names = [name(Path::new(path)), links.as_deref().and_then(name)];
        self.parts.iter().find(|part| names.iter().flatten().any(|name| *name == part.name))
    }
}

/// Every reason to leave a device alone; `keep` are paths, with their names, that must not lie on it.
pub(super) fn refusals(machine: &Machine, device: &Device, keep: &[(&str, &Path)], wanted: DeviceUse) -> Vec<String> {
    let mut reasons = Vec::new();
    let mut take = |found: Result<Vec<String>, Error>| match found {
        Ok(found) => reasons.extend(found),
        Err(error) => reasons.push(format!("whether it is in use is unknown: {error}")),
    };
    take(nature(device, wanted));
    take(composition(device, wanted));
    take(swapped(machine, device));
    match mounts::all(&machine.proc) {
        Ok(mounts) => {
            take(Ok(mounted(device, &mounts)));
            take(
                keep.iter().map(|kept| below(machine, device, &mounts, kept)).collect::<Result<Vec<_>, _>>().map(flat),
            );
        }
        Err(error) => take(Err(error)),
    }
    reasons
}

fn flat(found: Vec<Option<String>>) -> Vec<String> {
    found.into_iter().flatten().collect()
}

/// Reasons for which it is not a whole device that can be written.
fn nature(device: &Device, wanted: DeviceUse) -> Result<Vec<String>, Error> {
    let mut reasons = Vec::new();
    if wanted.whole_drive() && device.folder.join("partition").exists() {
        let whole = device.folder.parent().map(name_of).unwrap_or_default();
        reasons.push(format!("it is a partition of {whole}; only whole devices are preconditioned"));
    }
    if text_of(&device.folder.join("ro"))? != "0" {
        reasons.push("it is read-only".to_owned());
    }
    if device.size()? == Bytes(0) {
        reasons.push("it has no size; is a medium inserted?".to_owned());
    }
    let partitions: Vec<&str> = device.parts[1..].iter().map(|part| part.name.as_str()).collect();
    if !partitions.is_empty() {
        reasons.push(format!("it is partitioned: {}", partitions.join(", ")));
    }
    Ok(reasons)
}

/// Reasons for which it is made of other devices, or others are made of it.
fn composition(device: &Device, wanted: DeviceUse) -> Result<Vec<String>, Error> {
    let mut reasons = Vec::new();
    for part in &device.parts {
        let holders = names_in(&part.folder.join("holders"))?;
        if !holders.is_empty() {
            reasons.push(format!("{} is held by {}", device.subject(part), holders.join(", ")));
        }
    }
    let slaves = device.folder.join("slaves");
    // Partitions have no such folder.
    if !device.folder.join("partition").exists() || slaves.exists() {
        let slaves = names_in(&slaves)?;
        if wanted.whole_drive() && !slaves.is_empty() {
            reasons.push(format!("it consists of {}; use a drive itself", slaves.join(", ")));
        }
    }
    Ok(reasons)
}

/// Source: proc(5), `/proc/swaps`.
fn swapped(machine: &Machine, device: &Device) -> Result<Vec<String>, Error> {
    let text = text_of(&machine.proc.join("swaps"))?;
    let paths = text.lines().skip(1).filter_map(|line| line.split_whitespace().next()).map(unescaped);
    let parts = paths.filter_map(|path| device.part_at(&path).map(|part| device.subject(part)));
    Ok(parts.map(|subject| format!("{subject} is swap space in use")).collect())
}

fn mounted(device: &Device, mounts: &[Mount]) -> Vec<String> {
    let mut reasons = Vec::new();
    for mount in mounts {
        let by_number = device.parts.iter().find(|part| part.number == mount.number);
        // File systems over several devices have numbers of their own and name one device as their source.
        if let Some(part) = by_number.or_else(|| device.part_at(&mount.source)) {
            reasons.push(format!("{} is mounted at {}", device.subject(part), mount.point.display()));
        }
    }
    reasons
}

/// Whether the file system that holds a path lies on the device, through however many layers.
fn below(
    machine: &Machine,
    device: &Device,
    mounts: &[Mount],
    (name, path): &(&str, &Path),
) -> Result<Option<String>, Error> {
    let mount =
        mounts::holding(mounts, path).ok_or_else(|| Error::new(format!("{} is on no known mount", path.display())))?;
    let start = match machine.folder_of(&mount.number) {
        Ok(folder) => Some(folder),
        Err(_) => by_name(machine, &mount.source),
    };
    let mut layers = BTreeSet::new();
    if let Some(start) = start {
        dig(&start, &mut layers)?;
    }
    Ok(layers.contains(&device.folder).then(|| format!("{name} ({}) is on it", path.display())))
}

/// The folder below `/sys` of what a mount calls its source, if that is a device here.
fn by_name(machine: &Machine, source: &str) -> Option<PathBuf> {
    let real = std::fs::canonicalize(source).unwrap_or_else(|_| PathBuf::from(source));
    let name = real.strip_prefix("/dev").ok()?.display().to_string().replace('/', "!");
    resolved(&machine.sys.join("class/block").join(name)).ok()
}

/// A device, the whole one that it is a partition of, what these are made of, and so on.
fn dig(folder: &Path, layers: &mut BTreeSet<PathBuf>) -> Result<(), Error> {
    if !layers.insert(folder.to_path_buf()) {
        return Ok(());
    }
    if folder.join("partition").exists()
        && let Some(whole) = folder.parent()
    {
        dig(whole, layers)?;
    }
    let slaves = folder.join("slaves");
    let below = if slaves.exists() { names_in(&slaves)? } else { Vec::new() };
    below.iter().try_for_each(|name| dig(&resolved(&slaves.join(name))?, layers))
}

/// The kernel writes `!` in `/sys` where a name has `/`.
fn name_of(folder: impl AsRef<Path>) -> String {
    let name = folder.as_ref().file_name().map(|name| name.to_string_lossy().into_owned());
    name.unwrap_or_default().replace('!', "/")
}

fn resolved(path: &Path) -> Result<PathBuf, Error> {
    std::fs::canonicalize(path).map_err(|error| Error::new(format!("failed to inspect {}: {error}", path.display())))
}

fn text_of(path: &Path) -> Result<String, Error> {
    let text = std::fs::read_to_string(path);
    text.map(|text| text.trim().to_owned())
        .map_err(|error| Error::new(format!("failed to read {}: {error}", path.display())))
}

fn names_in(folder: &Path) -> Result<Vec<String>, Error> {
    let failed = |error: std::io::Error| Error::new(format!("failed to list {}: {error}", folder.display()));
    let entries = std::fs::read_dir(folder).map_err(failed)?;
    let names = entries.map(|entry| entry.map(|entry| entry.file_name().to_string_lossy().into_owned()));
    let mut names: Vec<String> = names.collect::<Result<_, _>>().map_err(failed)?;
    names.sort_unstable();
    Ok(names)
}

#[cfg(test)]
mod tests;
