//! The decision: a device named twice, with no reason against it, held so that nobody else takes it meanwhile.

use super::kernel::{self, Device, Machine};
use super::signatures;
use proofload_model::error::Error;
use proofload_model::units::Bytes;
use rustix::fs::OFlags;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// A device that may be written over. While it lives nobody can mount the device or build upon it.
#[derive(Debug)]
pub(crate) struct Claim {
    node: PathBuf,
    size: Bytes,
    _held: File,
}

impl Claim {
    /// The device's own node, without links.
    pub(crate) fn node(&self) -> &Path {
        &self.node
    }

    /// Its size.
    pub(crate) fn size(&self) -> Bytes {
        self.size
    }
}

/// What a device is wanted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DeviceUse {
    /// Being written over in full: only a drive itself will do.
    Preconditioning,
    /// Being discarded whole: only a drive itself will do.
    Purge,
    /// Being the cache or the origin of a cache of the kernel: a partition or a logical volume will do as well.
    Cache,
}

impl DeviceUse {
    /// The deed, as a refusal says it.
    const fn deed(self) -> &'static str {
        match self {
            Self::Preconditioning => "precondition",
            Self::Purge => "purge",
            Self::Cache => "make part of a cache",
        }
    }

    /// Whether only a whole drive will do.
    pub(super) const fn whole_drive(self) -> bool {
        matches!(self, Self::Preconditioning | Self::Purge)
    }
}

/// Claims a device whose data may all be lost. Refuses with every reason at once: not named twice alike, no block device below
/// `/dev`, in use in any way that the kernel knows, signed in its content, under `/` or under the study's folder.
pub(crate) fn claim(device: &str, confirmed: Option<&str>, folder: &Path, wanted: DeviceUse) -> Result<Claim, Error> {
    claim_on(&Machine::here(), device, confirmed, folder, wanted)
}

fn claim_on(
    machine: &Machine,
    device: &str,
    confirmed: Option<&str>,
    folder: &Path,
    wanted: DeviceUse,
) -> Result<Claim, Error> {
    let mut reasons: Vec<String> = unconfirmed(device, confirmed).into_iter().collect();
    let claimed = match node_of(device) {
        Ok(node) => examine(machine, node, (folder, wanted), &mut reasons),
        Err(reason) => {
            reasons.push(reason);
            None
        }
    };
    match claimed {
        Some(claim) if reasons.is_empty() => Ok(claim),
        _ => Err(Error::new(format!(
            "refuse to {} {device}, which would lose all its data: {}; use a spare {}, or free this one (umount, \
             swapoff) and clear it (wipefs --all) if nothing on it is needed",
            wanted.deed(),
            reasons.join("; "),
            if wanted.whole_drive() { "whole device" } else { "device" }
        ))),
    }
}

fn unconfirmed(device: &str, confirmed: Option<&str>) -> Option<String> {
    match confirmed {
        None => Some(format!("it was not confirmed (add --yes {device})")),
        Some(other) if other != device => Some(format!("--yes names {other:?} instead")),
        Some(_) => None,
    }
}

/// The block device behind a path, without links.
fn node_of(device: &str) -> Result<PathBuf, String> {
    if !device.starts_with("/dev/") {
        return Err("it must be given as an absolute path below /dev".to_owned());
    }
    let node = std::fs::canonicalize(device).map_err(|error| format!("it cannot be found: {error}"))?;
    let found = std::fs::metadata(&node).map_err(|error| format!("it cannot be inspected: {error}"))?;
    if !node.starts_with("/dev") {
        return Err(format!("it links outside /dev, to {}", node.display()));
    }
    if found.file_type().is_block_device() { Ok(node) } else { Err("it is not a block device".to_owned()) }
}

/// Adds every reason of kernel and content; `None` when the device cannot be held at all.
fn examine(
    machine: &Machine,
    node: PathBuf,
    (folder, wanted): (&Path, DeviceUse),
    reasons: &mut Vec<String>,
) -> Option<Claim> {
    let number = match std::fs::metadata(&node) {
        Ok(found) => format!("{}:{}", rustix::fs::major(found.rdev()), rustix::fs::minor(found.rdev())),
        Err(error) => return refused(reasons, format!("it cannot be inspected: {error}")),
    };
    let size = match Device::find(machine, &number) {
        Ok(device) => {
            reasons.extend(kernel::refusals(
                machine,
                &device,
                &[("/", Path::new("/")), ("the study's folder", folder)],
                wanted,
            ));
            device.size().unwrap_or_default()
        }
        Err(error) => return refused(reasons, format!("whether it is in use is unknown: {error}")),
    };
    // Held before its content is read, so that nothing comes upon it in between.
    let held = exclusive(&node).map_err(|error| {
        reasons.push(format!("it cannot be opened exclusively, so something uses it: {error}"));
    });
    match File::open(&node).and_then(|mut content| signatures::found(&mut content)) {
        Ok(found) => reasons.extend(found.into_iter().map(|name| format!("it contains {name}"))),
        Err(error) => reasons.push(format!("its content cannot be read: {error}")),
    }
    held.ok().map(|held| Claim { node, size, _held: held })
}

fn refused(reasons: &mut Vec<String>, reason: String) -> Option<Claim> {
    reasons.push(reason);
    None
}

/// Fails when a device is mounted, swapped on, or part of another.
///
/// # Errors
/// It is in use, or cannot be opened.
pub(crate) fn expect_unused(node: &Path) -> Result<(), Error> {
    let opened = exclusive(node).map(drop);
    opened.map_err(|error| {
        Error::refused(format!("{} is in use; free it (umount, swapoff) first: {error}", node.display()))
    })
}

/// Opens a device as its only user. Source: open(2), `O_EXCL` without `O_CREAT` on a block device fails when it is mounted,
/// swapped on, or part of an array.
fn exclusive(node: &Path) -> std::io::Result<File> {
    let flag = i32::try_from(OFlags::EXCL.bits()).unwrap_or(0);
    OpenOptions::new().read(true).custom_flags(flag).open(node)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(device: &str, confirmed: Option<&str>, expected: &[&str]) {
        let error = claim(device, confirmed, Path::new("/tmp"), DeviceUse::Preconditioning).unwrap_err().to_string();
        for part in expected {
            assert!(error.contains(part), "{part:?} in {error}");
        }
    }

    #[test]
    fn a_device_is_named_twice_alike_and_by_its_path() {
        check("/dev/null", None, &["add --yes /dev/null", "not a block device", "lose all its data"]);
        check("/dev/null", Some("/dev/zero"), &["--yes names \"/dev/zero\" instead", "not a block device"]);
        check("nvme0n1", Some("nvme0n1"), &["absolute path below /dev"]);
        check("/tmp/image", Some("/tmp/image"), &["absolute path below /dev"]);
        check("/dev/nothing/here", Some("/dev/nothing/here"), &["cannot be found"]);
        check("/dev/../etc/passwd", Some("/dev/../etc/passwd"), &["links outside /dev, to /etc/passwd"]);
    }

    /// The device under this very test is refused, on any machine that has one.
    #[test]
    fn the_device_under_the_system_is_refused() {
        let Ok(device) = crate::storages::device_of(Path::new("/")) else {
            println!("SKIPPED: the_device_under_the_system_is_refused: / is on no block device");
            return;
        };
        let path = format!("/dev/{}", device.name);
        if !Path::new(&path).exists() {
            println!("SKIPPED: the_device_under_the_system_is_refused: there is no {path} here");
            return;
        }
        check(&path, Some(&path), &["/ (/) is on it"]);
    }
}
