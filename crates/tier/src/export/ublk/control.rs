//! The driver's control device: what is asked of it about block devices, each within a time, and why it cannot be asked.

use std::fs::OpenOptions;
use std::io;
use std::path::Path;
use std::time::Duration;

use super::abi::{
    ANY_NUMBER, CONTROL, ControlCommand, DEVICE_BYTES, DeviceDescription, DeviceParameters, FEATURE_BYTES, USER_COPY,
};
use super::kernel::{ControlRequest, ControlRing};
use crate::error::Error;

/// Longest time of a command that waits for nobody.
const USUAL: Duration = Duration::from_secs(10);
/// Longest time of an end: what is under way is served, and a mounted file system written back, first.
const STOP: Duration = Duration::from_secs(30);
/// Longest time for the last use of a device that is removed.
const LAST_USE: Duration = Duration::from_secs(5);

const MISSING: &str = "ublk needs Linux 6.5 or later with CONFIG_BLK_DEV_UBLK, and its module: modprobe ublk_drv";

/// The opened control device.
pub(super) struct ControlDevice {
    ring: ControlRing,
    name: String,
}

impl ControlDevice {
    /// Opens it and asks whether the driver can do what is needed.
    ///
    /// # Errors
    ///
    /// When there is no driver, this process may not, io_uring is not allowed, or the driver is too old.
    pub(super) fn open() -> Result<Self, Error> {
        Self::open_at(Path::new(CONTROL))
    }

    fn open_at(path: &Path) -> Result<Self, Error> {
        let name = path.display().to_string();
        let control = OpenOptions::new().read(true).write(true).open(path).map_err(|error| {
            let advice = match error.kind() {
                io::ErrorKind::PermissionDenied => "only root may make block devices",
                _ => MISSING,
            };
            Error::program("opened", &*name, error, advice)
        })?;
        let ring = ControlRing::new(control).map_err(|error| no_ring(&name, error))?;
        let mut control = Self { ring, name };
        let features = control.features()?;
        match features & USER_COPY {
            0 => Err(Error::program("asked", control.name, "the driver cannot copy for its server", MISSING)),
            _ => Ok(control),
        }
    }

    fn features(&mut self) -> Result<u64, Error> {
        let answer = self.ask(ControlCommand::Features, 0, &[0; FEATURE_BYTES], 0, USUAL);
        let (_, buffer) = answer.map_err(|error| Error::program("asked", &*self.name, error, MISSING))?;
        Ok(u64::from_ne_bytes(*buffer.first_chunk().expect("a buffer of more bytes")))
    }

    /// Makes a device of any number; returns it as it was made.
    pub(super) fn add(&mut self, wanted: &DeviceDescription) -> Result<DeviceDescription, Error> {
        self.ask(ControlCommand::Add, ANY_NUMBER, &wanted.bytes(), 0, USUAL).map(|(_, buffer)| read(&buffer)).map_err(
            |error| {
                let advice = "only root may make block devices; the kernel's log may say more (dmesg)";
                Error::program("made a block device at", &*self.name, error, advice)
            },
        )
    }

    pub(super) fn set_parameters(&mut self, number: u32, parameters: &DeviceParameters) -> io::Result<()> {
        self.ask(ControlCommand::SetParameters, number, &parameters.bytes(), 0, USUAL).map(drop)
    }

    /// Makes the block device, served by this process.
    pub(super) fn start(&mut self, number: u32) -> io::Result<()> {
        self.ask(ControlCommand::Start, number, &[], std::process::id().into(), USUAL).map(drop)
    }

    /// Ends the block device. What is under way is served first, if anybody serves it.
    pub(super) fn stop(&mut self, number: u32) -> io::Result<()> {
        self.ask(ControlCommand::Stop, number, &[], 0, STOP).map(drop)
    }

    /// Removes a device. One that is in use goes with its last use; that is an error of the kind [`io::ErrorKind::TimedOut`].
    pub(super) fn delete(&mut self, number: u32) -> io::Result<()> {
        self.ask(ControlCommand::Delete, number, &[], 0, LAST_USE).map(drop)
    }

    /// Describes a device.
    pub(super) fn describe(&mut self, number: u32) -> io::Result<DeviceDescription> {
        self.ask(ControlCommand::Describe, number, &[0; DEVICE_BYTES], 0, USUAL).map(|(_, buffer)| read(&buffer))
    }

    fn ask(
        &mut self,
        command: ControlCommand,
        device: u32,
        input: &[u8],
        value: u64,
        within: Duration,
    ) -> io::Result<(i32, [u8; super::abi::COMMAND_BUFFER])> {
        self.ring.carry_out(&ControlRequest { command, device, input, value, within })
    }
}

fn read(buffer: &[u8; super::abi::COMMAND_BUFFER]) -> DeviceDescription {
    DeviceDescription::read(buffer.first_chunk().expect("a buffer of more bytes"))
}

fn no_ring(name: &str, error: io::Error) -> Error {
    let advice =
        "ublk is spoken to by io_uring: allow it (sysctl kernel.io_uring_disabled=0, or the filter of a container)";
    Error::program("made an io_uring for", name, error, advice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_without_the_driver_is_told_what_it_lacks() {
        let folder = tempfile::tempdir().unwrap();
        let missing = ControlDevice::open_at(&folder.path().join("ublk-control")).err().unwrap().to_string();
        for part in ["ublk-control: No such file", "Linux 6.5", "CONFIG_BLK_DEV_UBLK", "modprobe ublk_drv"] {
            assert!(missing.contains(part), "{missing}");
        }
        // A file is no driver, as a kernel with an older one is none of ours.
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        let other = ControlDevice::open_at(&file).err().unwrap().to_string();
        assert!(other.contains("modprobe ublk_drv") || other.contains("io_uring"), "{other}");
    }
}
