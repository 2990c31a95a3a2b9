//! `limits.memory`: memory of a control group, page cache included, without swap.
//!
//! A page belongs to the group that touched it first. So the data's cached pages are dropped before a run, and what a process touched
//! before it joined is not counted. Source: Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst.

use super::cgroup_dir::CgroupDir;
use super::hierarchy::{Controller, Version};
use super::limit::{Limit, LimitState, LiveLimit, members_inside, or_none, verified};
use super::usage;
use proofload_model::error::Error;
use proofload_model::facts::limit;
use proofload_model::intervention::ResourceClass;
use proofload_model::samples::Fact;
use proofload_model::settings::setting;
use proofload_model::units::Bytes;
use proofload_model::wire::LimitsAsked;
use std::time::Duration;

/// The limit of memory.
pub(super) struct Memory;

/// The kernel counts in pages of this size and rounds a limit down to them, bytes. Larger on some machines, where the
/// comparison then fails on a limit that is no multiple.
const PAGE: u64 = 4096;

/// Bytes of a read request of a database, and bytes per second where reads have no limit.
const READ: f64 = 8192.0;
const UNLIMITED: f64 = 200e6;

/// What cannot be reclaimed, with a tenth to spare.
const SPARE: f64 = 1.1;

/// Files of a version.
struct Files {
    limit: &'static str,
    unlimited: &'static str,
}

const fn files(version: Version) -> Files {
    match version {
        Version::One => Files { limit: "memory.limit_in_bytes", unlimited: "-1" },
        Version::Two => Files { limit: "memory.max", unlimited: "max" },
    }
}

/// Version 1: memory and swap together.
const BOTH: &str = "memory.memsw.limit_in_bytes";

impl Limit for Memory {
    fn setting(&self) -> &'static str {
        setting::LIMITS_MEMORY
    }

    fn needs(&self, asked: &LimitsAsked) -> Option<Controller> {
        asked.memory.map(|_| Controller::Memory)
    }

    fn apply(&self, state: &mut LimitState) -> Result<(), Error> {
        let Some(Bytes(bytes)) = state.asked.memory else { return Ok(()) };
        let group = group_of(state, bytes)?;
        group.write(files(group.version()).limit, &bytes.to_string())?;
        match group.version() {
            Version::Two if group.has("memory.swap.max") => group.write("memory.swap.max", "0"),
            Version::One if group.has(BOTH) => {
                group.write(BOTH, &bytes.to_string())?;
                group.write("memory.swappiness", "0")
            }
            Version::One | Version::Two => Ok(()),
        }
    }

    fn verify(&self, state: &LimitState) -> Vec<Fact> {
        let Some(asked) = state.asked.memory else { return Vec::new() };
        match state.group.dir(Controller::Memory) {
            Ok(group) => {
                let members = members_inside(&limit::MEMORY_MEMBERS, group, &state.members);
                vec![limit_in_force(group, asked), swap_in_force(group), members]
            }
            Err(error) => {
                vec![verified(&limit::MEMORY, asked.to_string(), Err::<(Bytes, bool), _>(error), String::new())]
            }
        }
    }

    fn usage(&self, state: &LimitState) -> Vec<Fact> {
        state.group.dir(Controller::Memory).map(usage::of_group).unwrap_or_default()
    }

    fn live(&self) -> Option<&dyn LiveLimit> {
        Some(self)
    }

    fn lift(&self, state: &LimitState) -> Result<(), Error> {
        let (Ok(group), Some(_)) = (state.group.dir(Controller::Memory), state.asked.memory) else { return Ok(()) };
        let files = files(group.version());
        if group.version() == Version::One && group.has(BOTH) {
            group.write(BOTH, files.unlimited)?;
        }
        group.write(files.limit, files.unlimited)
    }
}

impl LiveLimit for Memory {
    fn class(&self) -> ResourceClass {
        ResourceClass::Structure
    }

    /// Pages leave at once, and come back as fast as they are read: the time is that of all of them.
    fn settles(&self, state: &LimitState) -> Duration {
        let all = state.asked.memory.map_or(0.0, |memory| memory.0 as f64);
        let by_requests = state.asked.read_iops.map(|rate| f64::from(rate) * READ);
        let by_bytes = state.asked.read_bandwidth.map(|rate| rate.0 as f64);
        let rate = by_requests.into_iter().chain(by_bytes).fold(UNLIMITED, f64::min);
        Duration::from_secs_f64(all / rate)
    }

    fn asked_rate(&self, state: &LimitState) -> Option<f64> {
        state.asked.memory.map(|memory| memory.0 as f64)
    }

    /// What cannot be reclaimed must fit, with a tenth to spare: else the kernel kills. What is raised must be free on the host.
    fn set_rate(&self, state: &LimitState, rate: f64) -> Result<f64, Error> {
        let bytes = rate as u64 / PAGE * PAGE;
        let group = group_of(state, bytes)?;
        let least = unreclaimable(group)? * SPARE;
        if (bytes as f64) < least {
            return Err(Error::refused(format!(
                "memory cannot be lowered to {}: {} of it cannot be reclaimed, and a tenth more must be left",
                Bytes(bytes),
                Bytes((least / SPARE) as u64)
            )));
        }
        let asked = state.asked.memory.map_or(bytes, |asked| asked.0);
        host_has(bytes.saturating_sub(asked), crate::facts::available_memory())?;
        set(group, bytes)?;
        Ok(bytes as f64)
    }

    fn rate_in_force(&self, state: &LimitState) -> Result<Option<f64>, Error> {
        let group = state.group.dir(Controller::Memory)?;
        let file = files(group.version()).limit;
        let above = group.above().filter_map(|folder| amount(&std::fs::read_to_string(folder.join(file)).ok()?));
        Ok(amount(&group.read(file)?).into_iter().chain(above).min().map(|bytes| bytes as f64))
    }
}

/// Finds so much more memory than was asked for on the host; where the kernel does not say what is free, it is tried.
fn host_has(more: u64, free: Option<Bytes>) -> Result<(), Error> {
    match free.filter(|free| more > free.0) {
        Some(free) => Err(Error::refused(format!(
            "memory cannot be raised by {}: {free} of the host can be had; give it less of the host in limits.memory, or more memory",
            Bytes(more)
        ))),
        None => Ok(()),
    }
}

fn group_of(state: &LimitState, bytes: u64) -> Result<&CgroupDir, Error> {
    let group = state.group.dir(Controller::Memory);
    group.map_err(|error| error.context(format!("failed to limit memory to {}", Bytes(bytes))))
}

/// Sets the limit of a group that has one. Version 1 takes no limit of memory above that of memory and swap.
fn set(group: &CgroupDir, bytes: u64) -> Result<(), Error> {
    let (limit, text) = (files(group.version()).limit, bytes.to_string());
    if group.version() == Version::Two || !group.has(BOTH) {
        return group.write(limit, &text);
    }
    let is_raised = amount(&group.read(BOTH)?).is_some_and(|both| both < bytes);
    let order = if is_raised { [BOTH, limit] } else { [limit, BOTH] };
    order.into_iter().try_for_each(|file| group.write(file, &text))
}

/// Memory of a group that no reclaim can take from it without swap: of processes, shared, locked.
fn unreclaimable(group: &CgroupDir) -> Result<f64, Error> {
    let names: [&str; 3] = match group.version() {
        Version::One => ["total_rss", "total_shmem", "total_unevictable"],
        Version::Two => ["anon", "shmem", "unevictable"],
    };
    let text = group.read("memory.stat")?;
    let of = |line: &str| {
        let (name, value) = line.split_once(' ')?;
        names.contains(&name).then(|| value.trim().parse::<f64>().ok()).flatten()
    };
    Ok(text.lines().filter_map(of).sum())
}

/// The limit of the group itself, or a smaller one above it.
fn limit_in_force(group: &CgroupDir, asked: Bytes) -> Fact {
    let file = files(group.version()).limit;
    let own = group.read(file).map(|text| amount(&text));
    let smallest = group.above().filter_map(|folder| amount(&std::fs::read_to_string(folder.join(file)).ok()?)).min();
    let source = group.source(file);
    match (own, smallest) {
        (Ok(Some(own)), Some(above)) if above < own => {
            let source = format!("{source}: a parent group allows less than its {}", Bytes(own));
            verified(&limit::MEMORY, asked.to_string(), Ok((Bytes(above), false)), source)
        }
        (own, _) => {
            let compared = own.map(|own| {
                let holds = own == Some(asked.0 / PAGE * PAGE);
                (or_none(own.map(Bytes)), holds)
            });
            verified(&limit::MEMORY, asked.to_string(), compared, source)
        }
    }
}

/// How much swap the group may take beside its memory; must be none.
fn swap_in_force(group: &CgroupDir) -> Fact {
    let (effective, source) = match group.version() {
        Version::Two if group.has("memory.swap.max") => {
            (group.read("memory.swap.max").map(|text| amount(&text)), group.source("memory.swap.max"))
        }
        Version::One if group.has(BOTH) => {
            let beside = group.read(BOTH).and_then(|both| {
                let memory = group.read(files(Version::One).limit)?;
                Ok(amount(&both).map(|both| both.saturating_sub(amount(&memory).unwrap_or(0))))
            });
            (beside, group.source(BOTH))
        }
        Version::One | Version::Two => (swap_of_machine(), "/proc/swaps".to_owned()),
    };
    let compared = effective.map(|swap| (or_none(swap.map(Bytes)), swap == Some(0)));
    verified(&limit::SWAP, Bytes(0).to_string(), compared, source)
}

/// All swap of the machine, where the group's cannot be limited.
fn swap_of_machine() -> Result<Option<u64>, Error> {
    let text = std::fs::read_to_string("/proc/swaps")
        .map_err(|error| Error::new(format!("failed to read /proc/swaps: {error}")))?;
    let sizes = text.lines().skip(1).filter_map(|line| line.split_ascii_whitespace().nth(2)?.parse::<u64>().ok());
    Ok(Some(sizes.sum::<u64>() * 1024))
}

/// A limit in bytes; `None` when there is no limit, which version 1 writes as the largest multiple of a page.
fn amount(text: &str) -> Option<u64> {
    let bytes: u64 = text.trim().parse().ok()?;
    (bytes < (i64::MAX as u64) / 65536 * 65536).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_raised_by_what_the_host_has_free() {
        assert!(host_has(0, Some(Bytes(0))).is_ok(), "less was asked for, or the same");
        assert!(host_has(64 << 20, Some(Bytes(64 << 20))).is_ok() && host_has(64 << 20, None).is_ok());
        let refused = host_has(128 << 20, Some(Bytes(64 << 20))).unwrap_err().to_string();
        assert!(refused.contains("cannot be raised by 128MiB: 64MiB of the host can be had"), "{refused}");
    }

    #[test]
    fn memory_is_full_again_when_all_of_it_was_read() {
        let asked = LimitsAsked { memory: Some(Bytes(1 << 30)), read_iops: Some(1024), ..LimitsAsked::default() };
        let state = LimitState { asked, ..LimitState::default() };
        assert_eq!(Memory.settles(&state), Duration::from_secs(128));
    }

    #[test]
    fn no_limit_is_told_in_the_words_of_both_versions() {
        assert_eq!(amount("max\n"), None);
        assert_eq!(amount("9223372036854771712"), None);
        assert_eq!(amount("67108864\n"), Some(64 << 20));
        assert_eq!(amount("0"), Some(0));
    }
}
