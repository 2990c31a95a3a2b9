//! Resources that the processes of an instance used up to now: CPU time and reads of the device, by their control group where it counts them, else
//! by the processes themselves and by the device, which others use too. Says which. May not interpret it.

use crate::limits::{Cgroup, group_use};
use crate::storages::Devices;
use crate::sys;
use proofload_model::units::Bytes;
use proofload_model::wire::ResourceUse;
use std::time::Duration;

/// Reads all that can be told. `process`: the root of the instance's processes.
pub(super) fn used(group: Option<&Cgroup>, process: Option<u32>, devices: &Devices) -> ResourceUse {
    let mut used = ResourceUse::default();
    let by_group = group.map(|group| group_use(group, devices)).unwrap_or_default();
    if let Some((time, source)) = by_group.cpu {
        (used.cpu, used.cpu_source) = (Some(time), source);
    } else if let Some(time) = process.and_then(cpu_of_tree) {
        (used.cpu, used.cpu_source) = (Some(time), "/proc/pid/stat of the processes".to_owned());
    }
    if let Some((bytes, source)) = by_group.device_read {
        (used.device_read, used.device_source) = (Some(bytes), source);
    } else if let Some((bytes, device)) = device_read(devices) {
        (used.device_read, used.device_source) = (Some(bytes), format!("{device}, reads of all processes"));
    }
    used
}

/// CPU time of a process, of those that descend from it, and of those that have ended and were waited for.
fn cpu_of_tree(root: u32) -> Option<Duration> {
    let times: Vec<Duration> = sys::descendants(root).into_iter().filter_map(sys::cpu_time).collect();
    (!times.is_empty()).then(|| times.into_iter().sum())
}

/// Bytes that devices have read since the machine started, and their names.
fn device_read(devices: &Devices) -> Option<(Bytes, String)> {
    let read: Vec<Bytes> = devices.all().ok()?.iter().map(|device| device.bytes_read().ok()).collect::<Option<_>>()?;
    Some((Bytes(read.iter().map(|bytes| bytes.0).sum()), devices.names()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn a_busy_process_is_charged_its_time() {
        let now = || used(None, Some(std::process::id()), &Devices::under(Path::new("/var/tmp")));
        let (before, begun) = (now(), std::time::Instant::now());
        let spent = || now().cpu.expect("/proc tells").saturating_sub(before.cpu.expect("likewise"));
        // As long as it takes to be given so much time beside others.
        while spent() < Duration::from_millis(50) {
            assert!(begun.elapsed() < Duration::from_secs(30), "{:?} of {:?}", spent(), begun.elapsed());
        }
        assert_eq!(before.cpu_source, "/proc/pid/stat of the processes");
        assert_eq!(before.device_read.is_some(), before.device_source.contains("reads of all processes"));
    }

    #[test]
    fn nothing_is_told_of_nobody() {
        assert_eq!(used(None, None, &Devices::under(Path::new("/proc"))), ResourceUse::default());
    }
}
