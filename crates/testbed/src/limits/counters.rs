//! What the kernel counts for a control group since it was made: CPU time, bytes and requests. In both versions; only reads.

use super::cgroup_dir::CgroupDir;
use super::hierarchy::Version;
use crate::storages::Devices;
use proofload_model::error::Error;
use std::time::Duration;

/// CPU time of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CpuTime {
    pub(crate) total: Duration,
    /// Outside and inside the kernel, where it tells them apart. Version 1 samples these at clock ticks: on a shared virtual machine their sum
    /// was 6 % above the total, which is exact.
    pub(crate) parts: Option<(Duration, Duration)>,
}

/// What a group read from a device and wrote to it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Transfers {
    pub(crate) read_bytes: u64,
    pub(crate) written_bytes: u64,
    pub(crate) reads: u64,
    pub(crate) writes: u64,
}

/// How often and how long a group waited for CPU time that its limit did not allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Throttling {
    /// Periods in which it had work.
    pub(crate) periods: u64,
    /// Periods in which it had used up its allowance.
    pub(crate) throttled: u64,
    /// Waited so long, summed over cores.
    pub(crate) waited: Duration,
}

/// CPU time. Source: Documentation/admin-guide/cgroup-v1/cpuacct.rst and cgroup-v2.rst, `cpu.stat`.
pub(crate) fn cpu_time(dir: &CgroupDir) -> Result<CpuTime, Error> {
    let number = |file: &str| dir.read(file).ok()?.parse().ok().map(Duration::from_nanos);
    match dir.version() {
        Version::One => {
            let text = dir.read("cpuacct.usage")?;
            let total = text.parse().map(Duration::from_nanos);
            let total = total.map_err(|error| Error::new(format!("cpuacct.usage says {text:?}: {error}")))?;
            let parts = number("cpuacct.usage_user").zip(number("cpuacct.usage_sys"));
            Ok(CpuTime { total, parts })
        }
        Version::Two => of_stat(&dir.read("cpu.stat")?),
    }
}

fn of_stat(text: &str) -> Result<CpuTime, Error> {
    let time = |name: &str| value_of(text, name).map(Duration::from_micros);
    let total = time("usage_usec").ok_or_else(|| Error::new("cpu.stat has no usage_usec"))?;
    Ok(CpuTime { total, parts: time("user_usec").zip(time("system_usec")) })
}

/// Throttling of CPU time; `None` where the kernel does not report it. Version 1 counts nanoseconds, version 2
/// microseconds.
pub(crate) fn throttling(dir: &CgroupDir) -> Option<Throttling> {
    let text = dir.read("cpu.stat").ok()?;
    let waited = match dir.version() {
        Version::One => Duration::from_nanos(value_of(&text, "throttled_time")?),
        Version::Two => Duration::from_micros(value_of(&text, "throttled_usec")?),
    };
    Some(Throttling { periods: value_of(&text, "nr_periods")?, throttled: value_of(&text, "nr_throttled")?, waited })
}

/// Version 1: bytes and requests by device and direction, with all groups below.
const BYTES: &str = "blkio.throttle.io_service_bytes_recursive";
const REQUESTS: &str = "blkio.throttle.io_serviced_recursive";

/// Traffic to and from a device (`<major>:<minor>`); `None` when the kernel does not count it. Version 1 counts for a
/// device only once some group has had a limit there since the machine was booted, and then in the topmost group too; a
/// group that has done nothing has no line. Source: block/blk-throttle.h, `blk_should_throtl`; tried on 6.18.
pub(crate) fn transfers(dir: &CgroupDir, device: &str) -> Option<Transfers> {
    match dir.version() {
        Version::One => {
            let text = dir.read(BYTES).ok()?;
            let is_counted = || {
                let root = dir.above().last()?;
                Some(std::fs::read_to_string(root.join(BYTES)).ok()?.contains(&format!("{device} ")))
            };
            if !text.contains(&format!("{device} ")) {
                return is_counted()?.then(Transfers::default);
            }
            of_two_files(&text, &dir.read(REQUESTS).ok()?, device)
        }
        Version::Two => Some(of_io_stat(&dir.read("io.stat").ok()?, device)),
    }
}

/// Sum over devices; `None` when the kernel does not count one of them.
pub(super) fn transfers_of(dir: &CgroupDir, devices: &Devices) -> Option<Transfers> {
    let each = devices.numbers().ok()?.into_iter().map(|device| transfers(dir, &device));
    each.sum::<Option<Transfers>>()
}

impl std::iter::Sum for Transfers {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, one| Self {
            read_bytes: sum.read_bytes + one.read_bytes,
            written_bytes: sum.written_bytes + one.written_bytes,
            reads: sum.reads + one.reads,
            writes: sum.writes + one.writes,
        })
    }
}

fn of_two_files(bytes: &str, requests: &str, device: &str) -> Option<Transfers> {
    Some(Transfers {
        read_bytes: value_of(bytes, &format!("{device} Read"))?,
        written_bytes: value_of(bytes, &format!("{device} Write"))?,
        reads: value_of(requests, &format!("{device} Read"))?,
        writes: value_of(requests, &format!("{device} Write"))?,
    })
}

/// A device that the group did not touch has no line.
fn of_io_stat(text: &str, device: &str) -> Transfers {
    let line = text.lines().find_map(|line| line.strip_prefix(device)?.strip_prefix(' ')).unwrap_or_default();
    let value = |name: &str| {
        let found = line.split(' ').find_map(|part| part.strip_prefix(name)?.strip_prefix('=')?.parse().ok());
        found.unwrap_or(0)
    };
    Transfers {
        read_bytes: value("rbytes"),
        written_bytes: value("wbytes"),
        reads: value("rios"),
        writes: value("wios"),
    }
}

/// The number behind a name that begins a line.
pub(super) fn value_of(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_of_version_two_has_its_parts() {
        let text = "usage_usec 30\nuser_usec 20\nsystem_usec 10\nnr_periods 4\n";
        let micros = Duration::from_micros;
        assert_eq!(of_stat(text).unwrap(), CpuTime { total: micros(30), parts: Some((micros(20), micros(10))) });
        assert_eq!(of_stat("usage_usec 30\n").unwrap().parts, None);
        assert!(of_stat("").is_err());
    }

    #[test]
    fn transfers_are_those_of_one_device() {
        let expected = Transfers { read_bytes: 7, written_bytes: 8, reads: 1, writes: 2 };
        let bytes = "8:0 Read 70\n8:0 Write 80\n254:0 Read 7\n254:0 Write 8\n254:0 Sync 9\nTotal 165\n";
        assert_eq!(of_two_files(bytes, "254:0 Read 1\n254:0 Write 2\nTotal 3\n", "254:0"), Some(expected));
        assert_eq!(of_two_files(bytes, "", "254:0"), None);
        let text = "8:0 rbytes=70 wbytes=80 rios=1 wios=1 dbytes=0 dios=0\n254:0 rbytes=7 wbytes=8 rios=1 wios=2 dbytes=0 dios=0\n";
        assert_eq!(of_io_stat(text, "254:0"), expected);
        assert_eq!(of_io_stat(text, "4:0"), Transfers::default());
    }

    #[test]
    fn a_name_is_not_taken_for_a_longer_one() {
        assert_eq!(value_of("oom_kill_disable 0\nunder_oom 0\noom_kill 3\n", "oom_kill"), Some(3));
        assert_eq!(value_of("anon_thp 1\n", "anon"), None);
    }
}
