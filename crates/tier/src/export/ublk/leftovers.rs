//! Devices whose server is no more, by the kernel's own list: what a killed server of ours has left is removed, or told while it is in use.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::abi::{DeviceDescription, LIST};
use super::control::ControlDevice;
use super::mark::ServerMark;
use crate::export::mounts::mounted;
use crate::export::waiting::until;

/// Time between two looks at a server that is dying.
const LOOK: Duration = Duration::from_millis(100);
/// Looks at it: 5 s.
const MOST_LOOKS: u32 = 50;

/// Owner of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DeviceOwner {
    /// Somebody else's.
    Other,
    /// A server of ours that lives.
    Serving,
    /// A server of ours that is dead, and the kernel has not ended its device yet.
    Dying,
    /// A server of ours that is dead.
    Gone,
}

fn owner(device: &DeviceDescription) -> DeviceOwner {
    match ServerMark::of(device.mark) {
        None => DeviceOwner::Other,
        Some(mark) if mark.lives() => DeviceOwner::Serving,
        Some(_) if device.is_live => DeviceOwner::Dying,
        Some(_) => DeviceOwner::Gone,
    }
}

/// Removes devices that killed servers of ours have left; returns, for each that is still in use, what it is and what to do.
pub(super) fn sweep(control: &mut ControlDevice) -> Vec<String> {
    numbers(Path::new(LIST)).into_iter().filter_map(|number| release(control, number)).collect()
}

fn release(control: &mut ControlDevice, number: u32) -> Option<String> {
    let mut found = DeviceOwner::Dying;
    // A device of a server in another container looks as if it were dying for ever: it is left alone.
    until(MOST_LOOKS, LOOK, || {
        found = control.describe(number).map_or(DeviceOwner::Other, |device| owner(&device));
        found != DeviceOwner::Dying
    });
    if found != DeviceOwner::Gone {
        return None;
    }
    let told = |came: String| Some(format!("{} of a killed server is left: {came}", node(number).display()));
    if let Some(folder) = mounted_at(number) {
        return told(format!("it is mounted at {}, where all input and output fails; unmount that", folder.display()));
    }
    // One that was never started has nothing to stop.
    let stopped = control.stop(number);
    match control.delete(number).and(stopped) {
        Ok(()) => None,
        // Another server of ours has removed it.
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::NODEV.raw_os_error()) => None,
        Err(error) if error.kind() == io::ErrorKind::TimedOut => {
            told("it is still in use, and goes with its last use".to_owned())
        }
        Err(error) => told(error.to_string()),
    }
}

/// The node of a block device.
pub(super) fn node(number: u32) -> PathBuf {
    PathBuf::from(format!("/dev/ublkb{number}"))
}

/// Where a block device, or a part of it, is mounted.
pub(super) fn mounted_at(number: u32) -> Option<PathBuf> {
    let name = node(number).display().to_string();
    let of_it = |source: &str| source.strip_prefix(&*name).is_some_and(|part| part.is_empty() || part.starts_with('p'));
    mounted().into_iter().find(|mount| of_it(&mount.source)).map(|mount| mount.folder)
}

/// Numbers of the devices in the kernel's list, in their order.
fn numbers(list: &Path) -> Vec<u32> {
    let names = fs::read_dir(list).into_iter().flatten().flatten();
    let number = |name: &str| name.strip_prefix("ublkc")?.parse().ok();
    let mut numbers: Vec<u32> = names.filter_map(|entry| number(entry.file_name().to_str()?)).collect();
    numbers.sort_unstable();
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(mark: u64, is_live: bool) -> DeviceDescription {
        DeviceDescription { number: 0, queues: 1, depth: 1, most_bytes: 4096, flags: 0, mark, is_live }
    }

    #[test]
    fn only_a_dead_servers_device_is_taken_for_left() {
        let own = ServerMark::own().unwrap().kept();
        assert_eq!(owner(&device(own, true)), DeviceOwner::Serving);
        assert_eq!(owner(&device(own, false)), DeviceOwner::Serving, "it is being started");
        // The lowest bit of its start: another process that had its number.
        assert_eq!(owner(&device(own ^ 1, false)), DeviceOwner::Gone);
        assert_eq!(owner(&device(own ^ 1, true)), DeviceOwner::Dying);
        assert_eq!((owner(&device(0, false)), owner(&device(7, true))), (DeviceOwner::Other, DeviceOwner::Other));
    }

    #[test]
    fn the_kernels_list_gives_numbers() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["ublkc10", "ublkc2", "ublkcx", "ublkb3", "other"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        assert_eq!(numbers(folder.path()), [2, 10]);
        assert_eq!(numbers(&folder.path().join("missing")), [0; 0]);
    }
}
