//! `limits.cpu`: CPU time of the control group in each period, on whatever cores. Who has used it up waits for the next period.
//! Source: Documentation/scheduler/sched-bwc.rst.

use super::cgroup_dir::CgroupDir;
use super::hierarchy::{Controller, Version};
use super::limit::{Limit, LimitState, LiveLimit, members_inside, or_none, verified};
use super::{counters, usage};
use proofload_model::error::Error;
use proofload_model::facts::{FactName, limit};
use proofload_model::samples::Fact;
use proofload_model::settings::setting;
use proofload_model::units::CpuRate;
use proofload_model::wire::LimitsAsked;
use std::path::Path;
use std::time::Duration;

/// The limit of CPU time.
pub(super) struct Cpu;

/// Length of a period, microseconds: the kernel's default, and the shortest with which 0.01 CPU s/s is one millisecond, the least
/// that the kernel takes.
const PERIOD: u64 = 100_000;

/// How long a change takes to act.
pub(super) const SETTLES: Duration = Duration::from_micros(2 * PERIOD);

/// The least allowance that the kernel takes, microseconds.
const LEAST: u64 = 1_000;

/// Version 1: allowance and period.
const QUOTA: &str = "cpu.cfs_quota_us";
const LENGTH: &str = "cpu.cfs_period_us";

/// Version 2: both.
const MAX: &str = "cpu.max";

impl Limit for Cpu {
    fn setting(&self) -> &'static str {
        setting::LIMITS_CPU
    }

    fn needs(&self, asked: &LimitsAsked) -> Option<Controller> {
        asked.cpu.map(|_| Controller::Cpu)
    }

    fn apply(&self, state: &mut LimitState) -> Result<(), Error> {
        let Some(rate) = state.asked.cpu else { return Ok(()) };
        let set = || set(state.group.dir(Controller::Cpu)?, allowance(rate));
        set().map_err(|error| error.context(format!("failed to limit CPU time to {rate}")))
    }

    fn verify(&self, state: &LimitState) -> Vec<Fact> {
        let Some(asked) = state.asked.cpu else { return Vec::new() };
        match state.group.dir(Controller::Cpu) {
            Ok(dir) => {
                vec![in_force(&limit::CPU, dir, asked), members_inside(&limit::CPU_MEMBERS, dir, &state.members)]
            }
            Err(error) => {
                vec![verified(&limit::CPU, asked.to_string(), Err::<(CpuRate, bool), _>(error), String::new())]
            }
        }
    }

    fn usage(&self, state: &LimitState) -> Vec<Fact> {
        let throttled = state.asked.cpu.and_then(|_| state.group.dir(Controller::Cpu).ok());
        throttled.map(usage::of_throttling).unwrap_or_default()
    }

    fn live(&self) -> Option<&dyn LiveLimit> {
        Some(self)
    }

    fn lift(&self, state: &LimitState) -> Result<(), Error> {
        let (Ok(dir), Some(_)) = (state.group.dir(Controller::Cpu), state.asked.cpu) else { return Ok(()) };
        unlimit(dir)
    }
}

impl LiveLimit for Cpu {
    fn settles(&self, _state: &LimitState) -> Duration {
        SETTLES
    }

    fn asked_rate(&self, state: &LimitState) -> Option<f64> {
        state.asked.cpu.map(in_seconds)
    }

    fn set_rate(&self, state: &LimitState, rate: f64) -> Result<f64, Error> {
        set_rate(state.group.dir(Controller::Cpu)?, rate)
    }

    fn rate_in_force(&self, state: &LimitState) -> Result<Option<f64>, Error> {
        state.group.dir(Controller::Cpu).map(rate_in_force)
    }

    fn used(&self, state: &LimitState) -> Vec<f64> {
        let dir = state.group.dir(Controller::CpuAccounting).ok();
        dir.and_then(|dir| counters::cpu_time(dir).ok()).map(|time| time.total.as_secs_f64()).into_iter().collect()
    }
}

/// Sets CPU seconds per second of a group; answers with what they were rounded to.
pub(super) fn set_rate(dir: &CgroupDir, rate: f64) -> Result<f64, Error> {
    let allowed = allowance(CpuRate::from_seconds(rate)).max(LEAST);
    set(dir, allowed)?;
    Ok(allowed as f64 / PERIOD as f64)
}

/// CPU seconds per second of a group: its own limit or a smaller one above it.
pub(super) fn rate_in_force(dir: &CgroupDir) -> Option<f64> {
    let own = rate_in(dir.version(), |file| dir.read(file).ok());
    own.into_iter().chain(rate_above(dir)).min().map(in_seconds)
}

pub(super) const fn in_seconds(rate: CpuRate) -> f64 {
    rate.0 as f64 / 1e6
}

/// Sets what the group may have in each period.
fn set(dir: &CgroupDir, allowed: u64) -> Result<(), Error> {
    match dir.version() {
        Version::One => {
            dir.write(LENGTH, &PERIOD.to_string())?;
            dir.write(QUOTA, &allowed.to_string())
        }
        Version::Two => dir.write(MAX, &format!("{allowed} {PERIOD}")),
    }
}

/// The smallest rate of the groups above.
fn rate_above(dir: &CgroupDir) -> Option<CpuRate> {
    let read = |folder: &Path| rate_in(dir.version(), |file| std::fs::read_to_string(folder.join(file)).ok());
    dir.above().filter_map(read).min()
}

/// Lets the group have all CPU time.
pub(super) fn unlimit(dir: &CgroupDir) -> Result<(), Error> {
    match dir.version() {
        Version::One => dir.write(QUOTA, "-1"),
        Version::Two => dir.write(MAX, "max"),
    }
}

/// Lifts a limit of CPU time in a dir, whoever set it: a process needs CPU time to die.
pub(super) fn lift_stalls(dir: &CgroupDir) {
    for dir in dir.below().iter().chain([dir]).filter(|dir| dir.controls(Controller::Cpu)) {
        let _as_far_as_it_goes = unlimit(dir);
    }
}

/// Microseconds in each period.
const fn allowance(rate: CpuRate) -> u64 {
    (rate.0 * PERIOD + 500_000) / 1_000_000
}

/// The limit of the group itself, or a smaller one above it.
pub(super) fn in_force(name: &FactName, dir: &CgroupDir, asked: CpuRate) -> Fact {
    let version = dir.version();
    let file = match version {
        Version::One => QUOTA,
        Version::Two => MAX,
    };
    let source = dir.source(file);
    if let Some(above) = rate_above(dir).filter(|above| *above < asked) {
        let source = format!("{source}: a parent group allows less");
        return verified(name, asked.to_string(), Ok((above, false)), source);
    }
    let compared = dir.read(file).map(|_| {
        let own = rate_in(version, |file| dir.read(file).ok());
        let expected = CpuRate(allowance(asked) * 1_000_000 / PERIOD);
        (or_none(own), own == Some(expected))
    });
    verified(name, asked.to_string(), compared, source)
}

/// The rate in the files of a group; `None` when there is no limit.
fn rate_in(version: Version, read: impl Fn(&str) -> Option<String>) -> Option<CpuRate> {
    let (quota, period) = match version {
        Version::One => (read(QUOTA)?, read(LENGTH)?),
        Version::Two => {
            let text = read(MAX)?;
            let (quota, period) = text.trim().split_once(' ')?;
            (quota.to_owned(), period.to_owned())
        }
    };
    let (quota, period): (u64, u64) = (quota.trim().parse().ok()?, period.trim().parse().ok()?);
    (period > 0).then(|| CpuRate(quota.saturating_mul(1_000_000) / period))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(version: Version, files: &[(&str, &str)], expected: Option<f64>) {
        let read = |file: &str| files.iter().find(|(name, _)| *name == file).map(|(_, text)| (*text).to_owned());
        assert_eq!(rate_in(version, read), expected.map(CpuRate::from_seconds));
    }

    #[test]
    fn rates_are_read_in_both_versions() {
        check(Version::One, &[(QUOTA, "50000\n"), (LENGTH, "100000\n")], Some(0.5));
        check(Version::One, &[(QUOTA, "-1\n"), (LENGTH, "100000\n")], None);
        check(Version::Two, &[(MAX, "150000 50000\n")], Some(3.0));
        check(Version::Two, &[(MAX, "max 100000\n")], None);
        check(Version::Two, &[], None);
    }

    #[test]
    fn the_smallest_rate_is_the_least_that_the_kernel_takes() {
        assert_eq!(allowance(CpuRate::from_seconds(0.01)), 1000);
        assert_eq!(allowance(CpuRate::from_seconds(0.5)), 50_000);
        assert_eq!(allowance(CpuRate::from_seconds(4096.0)), 409_600_000);
    }
}
