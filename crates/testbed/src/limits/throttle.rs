//! What the four limits of a block device have in common: a rate for one device in a file of the control group. In version 2 all four
//! stand in one file. Source: Documentation/admin-guide/cgroup-v1/blkio-controller.rst and cgroup-v2.rst, `io.max`.
//!
//! In version 1 the kernel writes back later in the name of no group what was written through the page cache, and a limit of a group
//! above does not count.

use super::branch::Branch;
use super::hierarchy::{Controller, Version};
use super::limit::{Fence, Limit, members_inside, verified};
use crate::probes::device_of;
use proofload_model::error::Error;
use proofload_model::samples::Fact;
use proofload_model::wire::LimitsAsked;
use std::path::Path;

/// The file of version 2.
const MAX: &str = "io.max";

/// Files of version 1.
const FILES: [&str; 4] = [
    "blkio.throttle.read_bps_device",
    "blkio.throttle.write_bps_device",
    "blkio.throttle.read_iops_device",
    "blkio.throttle.write_iops_device",
];

/// Which requests a limit holds for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Read,
    Write,
}

/// A rate of the device under the data.
pub(super) struct Throttle {
    /// Path of the setting.
    pub(super) setting: &'static str,
    /// Name of its fact.
    pub(super) name: &'static str,
    pub(super) direction: Direction,
    /// File of version 1.
    pub(super) file: &'static str,
    /// Key in the file of version 2.
    pub(super) key: &'static str,
    /// The rate that was asked for, per second.
    pub(super) rate: fn(&LimitsAsked) -> Option<u64>,
    /// A rate in words, with its unit.
    pub(super) text: fn(u64) -> String,
}

impl Limit for Throttle {
    fn setting(&self) -> &'static str {
        self.setting
    }

    fn needs(&self, asked: &LimitsAsked) -> Option<Controller> {
        (self.rate)(asked).map(|_| Controller::Io)
    }

    fn apply(&self, fence: &mut Fence) -> Result<(), Error> {
        let Some(rate) = (self.rate)(&fence.asked) else { return Ok(()) };
        let set = || {
            let branch = fence.group.branch(Controller::Io)?;
            let device = device_of(&fence.folder)?.number()?;
            branch.write(self.file_of(branch), &self.line(branch.version(), &device, Some(rate)))
        };
        set().map_err(|error| error.context(format!("limit {} to {}", self.name, (self.text)(rate))))
    }

    fn verify(&self, fence: &Fence) -> Vec<Fact> {
        let Some(asked) = (self.rate)(&fence.asked) else { return Vec::new() };
        match fence.group.branch(Controller::Io) {
            Ok(branch) => {
                let mut facts = vec![self.in_force(branch, &fence.folder, asked)];
                facts.push(members_inside("io.members", branch, &fence.members));
                facts.extend(self.reach(branch.version()));
                facts
            }
            Err(error) => vec![verified(self.name, (self.text)(asked), Err(error), String::new())],
        }
    }

    fn usage(&self, _fence: &Fence) -> Vec<Fact> {
        Vec::new()
    }

    fn lift(&self, fence: &Fence) -> Result<(), Error> {
        let (Ok(branch), Some(_)) = (fence.group.branch(Controller::Io), (self.rate)(&fence.asked)) else {
            return Ok(());
        };
        let device = device_of(&fence.folder)?.number()?;
        branch.write(self.file_of(branch), &self.line(branch.version(), &device, None))
    }
}

impl Throttle {
    fn file_of(&self, branch: &Branch) -> &'static str {
        match branch.version() {
            Version::One => self.file,
            Version::Two => MAX,
        }
    }

    /// What is written to set a rate, or to lift it.
    fn line(&self, version: Version, device: &str, rate: Option<u64>) -> String {
        match version {
            Version::One => format!("{device} {}", rate.unwrap_or(0)),
            Version::Two => {
                let rate = rate.map_or_else(|| "max".to_owned(), |rate| rate.to_string());
                format!("{device} {}={rate}", self.key)
            }
        }
    }

    /// The rate of a device in the text of the file; none when there is no limit.
    fn rate_in(&self, version: Version, text: &str, device: &str) -> Option<u64> {
        let rest = text.lines().find_map(|line| line.trim().strip_prefix(device)?.strip_prefix(' '))?;
        let rate = match version {
            Version::One => rest.trim(),
            Version::Two => rest.split(' ').find_map(|part| part.strip_prefix(self.key)?.strip_prefix('='))?,
        };
        rate.parse().ok()
    }

    fn in_force(&self, branch: &Branch, folder: &Path, asked: u64) -> Fact {
        let device = device_of(folder).and_then(|device| Ok((device.number()?, device.name)));
        let (number, name) = match device {
            Ok(device) => device,
            Err(error) => return verified(self.name, (self.text)(asked), Err(error), String::new()),
        };
        let (version, file) = (branch.version(), self.file_of(branch));
        let read = |text: &str| self.rate_in(version, text, &number);
        let own = branch.read(file).map(|text| read(&text));
        let above = match version {
            Version::One => None,
            Version::Two => {
                branch.above().filter_map(|folder| read(&std::fs::read_to_string(folder.join(file)).ok()?)).min()
            }
        };
        let mut source = format!("{} for {}", branch.source(file), name);
        if let Some(above) = above.filter(|above| *above < asked) {
            source.push_str(": a group above it allows less");
            return verified(self.name, (self.text)(asked), Ok(((self.text)(above), false)), source);
        }
        let compared = own.map(|own| (own.map_or_else(|| "none".to_owned(), self.text), own == Some(asked)));
        verified(self.name, (self.text)(asked), compared, source)
    }

    /// What the limit does not reach.
    fn reach(&self, version: Version) -> Option<Fact> {
        (version == Version::One && self.direction == Direction::Write).then(|| {
            let text =
                "direct writes and those of the database's own syncs; not what the kernel writes back later by itself";
            Fact::observed("limit", &format!("{}.reach", self.name), text, "control groups of version 1")
        })
    }
}

/// Lifts every limit of devices in a branch, whoever set it: a process that waits for a slow device can be killed only then.
pub(super) fn loosen(branch: &Branch) {
    let files: &[&str] = match branch.version() {
        Version::One => &FILES,
        Version::Two => &[MAX],
    };
    for file in files {
        for line in branch.read(file).unwrap_or_default().lines() {
            let Some(device) = line.split(' ').next().filter(|device| device.contains(':')) else { continue };
            let free = match branch.version() {
                Version::One => format!("{device} 0"),
                Version::Two => format!("{device} rbps=max wbps=max riops=max wiops=max"),
            };
            let _as_far_as_it_goes = branch.write(file, &free);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{read_bandwidth, read_iops, write_bandwidth, write_iops};
    use super::*;
    use proofload_model::units::BytesPerSecond;

    const TWO: &str = "8:16 rbps=2097152 wbps=max riops=max wiops=120\n254:0 rbps=max wbps=1024 riops=7 wiops=max\n";

    #[test]
    fn every_limit_has_its_place_in_both_versions() {
        let all = [
            (&read_bandwidth::LIMIT, Some(2_097_152), None),
            (&write_bandwidth::LIMIT, None, Some(1024)),
            (&read_iops::LIMIT, None, Some(7)),
            (&write_iops::LIMIT, Some(120), None),
        ];
        for ((limit, first, second), file) in all.into_iter().zip(FILES) {
            assert_eq!(limit.file, file);
            assert_eq!(limit.rate_in(Version::Two, TWO, "8:16"), first, "{file}");
            assert_eq!(limit.rate_in(Version::Two, TWO, "254:0"), second, "{file}");
            assert_eq!(limit.rate_in(Version::Two, TWO, "8:1"), None, "{file}");
            assert_eq!(limit.rate_in(Version::One, "8:16 5\n254:0 9\n", "254:0"), Some(9), "{file}");
        }
    }

    #[test]
    fn a_rate_is_set_and_lifted_in_the_words_of_both_versions() {
        let limit = &read_bandwidth::LIMIT;
        assert_eq!(limit.line(Version::One, "8:0", Some(5)), "8:0 5");
        assert_eq!(limit.line(Version::One, "8:0", None), "8:0 0");
        assert_eq!(limit.line(Version::Two, "8:0", Some(5)), "8:0 rbps=5");
        assert_eq!(limit.line(Version::Two, "8:0", None), "8:0 rbps=max");
        assert_eq!((limit.text)(200 << 20), BytesPerSecond(200 << 20).to_string());
        assert_eq!((read_iops::LIMIT.text)(500), "500 requests/s");
    }
}
