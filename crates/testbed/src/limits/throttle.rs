//! The common part of the four limits of block devices: a rate for each device in a file of the control group. In version 2 all four
//! stand in one file. Source: Documentation/admin-guide/cgroup-v1/blkio-controller.rst and cgroup-v2.rst, `io.max`.
//!
//! In version 1 the kernel writes back later in the name of no group what was written through the page cache, and a limit of a group
//! above does not count. In version 2 it writes back in the name of the group that first wrote to a file, whoever writes now, until it has
//! forgotten the file's inode: so inodes of restored data are dropped with their pages before a run.

use super::cgroup_dir::CgroupDir;
use super::counters::{self, Transfers};
use super::hierarchy::{Controller, Version};
use super::limit::{Limit, LimitState, LiveLimit, members_inside, verified};
use crate::storages::Devices;
use proofload_model::error::Error;
use proofload_model::facts::{FactName, FactValue, limit};
use proofload_model::intervention::as_limited;
use proofload_model::samples::Fact;
use proofload_model::wire::LimitsAsked;
use std::time::Duration;

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

/// What is counted of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RateUnit {
    Requests,
    Bytes,
}

/// How long a change of a rate takes to act: what was queued under the old one goes first.
const SETTLES: Duration = Duration::from_secs(1);

/// A rate of each device under the data.
pub(super) struct Throttle {
    /// Path of the setting.
    pub(super) setting: &'static str,
    /// Its fact.
    pub(super) fact: FactName,
    pub(super) direction: Direction,
    pub(super) unit: RateUnit,
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

    fn apply(&self, state: &mut LimitState) -> Result<(), Error> {
        let Some(rate) = (self.rate)(&state.asked) else { return Ok(()) };
        let set = || {
            let dir = state.group.dir(Controller::Io)?;
            self.write(dir, &state.devices, Some(rate))
        };
        set().map_err(|error| error.context(format!("failed to limit {} to {}", self.fact.name, (self.text)(rate))))
    }

    fn verify(&self, state: &LimitState) -> Vec<Fact> {
        let Some(asked) = (self.rate)(&state.asked) else { return Vec::new() };
        match state.group.dir(Controller::Io) {
            Ok(dir) => {
                let mut facts = vec![self.in_force(dir, &state.devices, asked)];
                facts.push(members_inside(&limit::IO_MEMBERS, dir, &state.members));
                facts.extend(self.reach(dir.version()));
                facts
            }
            Err(error) => {
                vec![verified(&self.fact, (self.text)(asked), Err::<(String, bool), _>(error), String::new())]
            }
        }
    }

    fn live(&self) -> Option<&dyn LiveLimit> {
        Some(self)
    }

    fn lift(&self, state: &LimitState) -> Result<(), Error> {
        let (Ok(dir), Some(_)) = (state.group.dir(Controller::Io), (self.rate)(&state.asked)) else {
            return Ok(());
        };
        self.write(dir, &state.devices, None)
    }
}

impl LiveLimit for Throttle {
    fn settles(&self, _state: &LimitState) -> Duration {
        SETTLES
    }

    fn asked_rate(&self, state: &LimitState) -> Option<f64> {
        self.asked(state).map(|rate| rate as f64)
    }

    fn set_rate(&self, state: &LimitState, rate: f64) -> Result<f64, Error> {
        let whole = as_limited(self.setting, rate);
        self.change(state, Some(whole as u64))?;
        Ok(whole)
    }

    fn rate_in_force(&self, state: &LimitState) -> Result<Option<f64>, Error> {
        let dir = state.group.dir(Controller::Io)?;
        let mut rates = self.rates(state)?;
        if dir.version() == Version::Two {
            let numbers = state.devices.numbers()?;
            let texts = dir.above().filter_map(|folder| std::fs::read_to_string(folder.join(MAX)).ok());
            for text in texts {
                rates.extend(numbers.iter().map(|number| self.rate_in(Version::Two, &text, number)));
            }
        }
        Ok(rates.into_iter().flatten().min().map(|rate| rate as f64))
    }

    fn used(&self, state: &LimitState) -> Vec<f64> {
        let (Ok(dir), Ok(numbers)) = (state.group.dir(Controller::Io), state.devices.numbers()) else {
            return Vec::new();
        };
        let each = numbers.iter().map(|number| counters::transfers(dir, number).map(|moved| self.part_of(&moved)));
        each.collect::<Option<Vec<f64>>>().unwrap_or_default()
    }
}

impl Throttle {
    /// The part of the traffic that it limits.
    fn part_of(&self, moved: &Transfers) -> f64 {
        let part = match (self.direction, self.unit) {
            (Direction::Read, RateUnit::Requests) => moved.reads,
            (Direction::Read, RateUnit::Bytes) => moved.read_bytes,
            (Direction::Write, RateUnit::Requests) => moved.writes,
            (Direction::Write, RateUnit::Bytes) => moved.written_bytes,
        };
        part as f64
    }

    /// Sets another rate than the one that was asked for, or that one again.
    pub(super) fn change(&self, state: &LimitState, rate: Option<u64>) -> Result<(), Error> {
        self.write(state.group.dir(Controller::Io)?, &state.devices, rate.or((self.rate)(&state.asked)))
    }

    /// The rates in force, one for each device; `None` where there is no limit.
    pub(super) fn rates(&self, state: &LimitState) -> Result<Vec<Option<u64>>, Error> {
        let dir = state.group.dir(Controller::Io)?;
        let text = dir.read(self.file_of(dir))?;
        Ok(state.devices.numbers()?.iter().map(|number| self.rate_in(dir.version(), &text, number)).collect())
    }

    /// The rate that was asked for.
    pub(super) fn asked(&self, state: &LimitState) -> Option<u64> {
        (self.rate)(&state.asked)
    }

    /// Sets the rate of every device, or lifts it.
    fn write(&self, dir: &CgroupDir, devices: &Devices, rate: Option<u64>) -> Result<(), Error> {
        let numbers = devices.numbers()?;
        numbers.iter().try_for_each(|number| dir.write(self.file_of(dir), &self.line(dir.version(), number, rate)))
    }

    fn file_of(&self, dir: &CgroupDir) -> &'static str {
        match dir.version() {
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

    /// The rate of a device in the text of the file; `None` when there is no limit.
    fn rate_in(&self, version: Version, text: &str, device: &str) -> Option<u64> {
        let rest = text.lines().find_map(|line| line.trim().strip_prefix(device)?.strip_prefix(' '))?;
        let rate = match version {
            Version::One => rest.trim(),
            Version::Two => rest.split(' ').find_map(|part| part.strip_prefix(self.key)?.strip_prefix('='))?,
        };
        rate.parse().ok()
    }

    fn in_force(&self, dir: &CgroupDir, devices: &Devices, asked: u64) -> Fact {
        let numbers = match devices.numbers() {
            Ok(numbers) => numbers,
            Err(error) => {
                return verified(&self.fact, (self.text)(asked), Err::<(String, bool), _>(error), String::new());
            }
        };
        let (version, file) = (dir.version(), self.file_of(dir));
        let mut source = format!("{} for {}", dir.source(file), devices.names());
        let lowest_above = |text: &str| numbers.iter().filter_map(|number| self.rate_in(version, text, number)).min();
        let above = match version {
            Version::One => None,
            Version::Two => {
                let texts = dir.above().filter_map(|folder| std::fs::read_to_string(folder.join(file)).ok());
                texts.filter_map(|text| lowest_above(&text)).min()
            }
        };
        if let Some(above) = above.filter(|above| *above < asked) {
            source.push_str(": a parent group allows less");
            return verified(
                &self.fact,
                (self.text)(asked),
                Ok((FactValue::written((self.text)(above), above as f64), false)),
                source,
            );
        }
        let compared = dir
            .read(file)
            .map(|text| self.compared(numbers.iter().map(|number| self.rate_in(version, &text, number)), asked));
        verified(&self.fact, (self.text)(asked), compared, source)
    }

    /// The rates in force, in words, and whether all are the one that was asked for.
    fn compared(&self, rates: impl Iterator<Item = Option<u64>>, asked: u64) -> (FactValue, bool) {
        let mut rates: Vec<Option<u64>> = rates.collect();
        rates.dedup();
        let words = rates.iter().map(|rate| rate.map_or_else(|| "none".to_owned(), self.text));
        let number = rates.first().copied().flatten().filter(|_| rates.len() == 1).map(|rate| rate as f64);
        (FactValue { text: words.collect::<Vec<_>>().join(", "), number }, rates == [Some(asked)])
    }

    /// What the limit does not reach.
    fn reach(&self, version: Version) -> Option<Fact> {
        (version == Version::One && self.direction == Direction::Write).then(|| {
            let text = "direct writes and those of the database's own syncs; not later write-back by the kernel";
            limit::REACH.of(&self.fact.name).observed(text, "control groups v1")
        })
    }
}

/// Lifts every limit of devices in a dir, whoever set it: a process that waits for a slow device can be killed only then.
pub(super) fn lift_stalls(dir: &CgroupDir) {
    let files: &[&str] = match dir.version() {
        Version::One => &FILES,
        Version::Two => &[MAX],
    };
    for file in files {
        for line in dir.read(file).unwrap_or_default().lines() {
            let Some(device) = line.split(' ').next().filter(|device| device.contains(':')) else { continue };
            let free = match dir.version() {
                Version::One => format!("{device} 0"),
                Version::Two => format!("{device} rbps=max wbps=max riops=max wiops=max"),
            };
            let _as_far_as_it_goes = dir.write(file, &free);
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
