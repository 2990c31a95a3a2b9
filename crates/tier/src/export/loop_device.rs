//! A block device of the kernel over a file of ours, past the page cache. It is root's alone.
//!
//! The kernel's own list of loop devices says what is held: after a kill the next start finds by it what to release.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::mounts::mounted;
use super::programs::run;
use super::waiting::until;
use crate::error::Error;

/// Time between two looks at a device that is being released.
const LOOK: Duration = Duration::from_millis(50);
/// Looks at it: 5 s.
const MOST_LOOKS: u32 = 100;

/// A loop device, until it is dropped.
#[derive(Debug)]
pub struct LoopDevice {
    node: PathBuf,
    released: bool,
}

impl LoopDevice {
    /// Puts a loop device of 4 KiB sectors over a file, with direct input and output, which is read back.
    ///
    /// # Errors
    ///
    /// When this process may not, no device is free, or the kernel would use the page cache all the same.
    pub fn attach(file: &Path) -> Result<Self, Error> {
        let name = file.display().to_string();
        let said = run("losetup", &["--find", "--show", "--direct-io=on", "--sector-size", "4096", &name])?;
        let device = Self { node: PathBuf::from(said.trim()), released: false };
        let direct = fs::read_to_string(about(&device.node).join("dio")).unwrap_or_default();
        match direct.trim() {
            "1" => Ok(device),
            found => {
                let came = format!("loop/dio is {found:?}, so pages would be cached twice");
                let advice = "does the file system under it support direct I/O?";
                Err(Error::program("verified", device.node.display().to_string(), came, advice))
            }
        }
    }

    /// Its device node.
    pub fn node(&self) -> &Path {
        &self.node
    }

    /// Releases the device.
    ///
    /// # Errors
    ///
    /// When it is still in use after 5 s; then it goes with its last use.
    pub fn release(mut self) -> Result<(), Error> {
        self.released = true;
        release(&self.node)
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        if !self.released {
            // There is nobody to tell; the next start finds it by the kernel's list.
            drop(release(&self.node));
        }
    }
}

/// Releases devices over files in a folder, which a server that was killed has left; returns their nodes.
///
/// # Errors
///
/// When one is in use: the error says where it is mounted.
pub(super) fn sweep(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let devices = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let ours = devices.filter_map(|entry| {
        let file = fs::read_to_string(entry.path().join("loop/backing_file")).ok()?;
        (Path::new(file.trim_end()).parent() == Some(folder)).then(|| Path::new("/dev").join(entry.file_name()))
    });
    let nodes: Vec<PathBuf> = ours.collect();
    nodes.iter().try_for_each(|node| release(node)).map(|()| nodes)
}

fn release(node: &Path) -> Result<(), Error> {
    let name = node.display().to_string();
    if let Some(mount) = mounted().iter().find(|mount| Path::new(&mount.source) == node) {
        let came = format!("it is mounted at {}", mount.folder.display());
        return Err(Error::program("released", name, came, "unmount that"));
    }
    run("losetup", &["--detach", &name])?;
    // A device in use goes with its last use, and the program does not say so.
    match until(MOST_LOOKS, LOOK, || !about(node).exists()) {
        true => Ok(()),
        false => Err(Error::program("released", name, "it is still in use after 5 s", "stop the programs that use it")),
    }
}

/// Where the kernel tells of a loop device; it is not there when the device is free.
fn about(node: &Path) -> PathBuf {
    Path::new("/sys/block").join(node.file_name().unwrap_or_default()).join("loop")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_direct_and_gone_again_also_when_it_was_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::File::create(&path).unwrap().set_len(1 << 20).unwrap();
        let device = match LoopDevice::attach(&path) {
            Ok(device) => device,
            Err(error) => return println!("SKIPPED: loop devices: {error}"),
        };
        assert_eq!(fs::read_to_string(about(device.node()).join("dio")).unwrap().trim(), "1");
        let node = device.node().to_owned();
        device.release().unwrap();
        assert!(!about(&node).exists());
        let left = LoopDevice::attach(&path).unwrap();
        let node = left.node().to_owned();
        std::mem::forget(left);
        assert_eq!(sweep(folder.path()).unwrap(), [node]);
        assert_eq!(sweep(folder.path()).unwrap(), Vec::<PathBuf>::new());
    }
}
