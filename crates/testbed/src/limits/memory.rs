//! `limits.memory`: memory of a control group, page cache included, without swap.
//!
//! A page belongs to the group that touched it first. So the data's cached pages are dropped before a run, and what a process touched
//! before it joined is not counted. Source: Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst.

use super::cgroup_dir::CgroupDir;
use super::hierarchy::{Controller, Version};
use super::limit::{Limit, LimitState, members_inside, or_none, verified};
use super::usage;
use proofload_model::error::Error;
use proofload_model::facts::limit;
use proofload_model::samples::Fact;
use proofload_model::units::Bytes;
use proofload_model::wire::LimitsAsked;

/// The limit of memory.
pub(super) struct Memory;

/// The kernel counts in pages of this size and rounds a limit down to them, bytes. Larger on some machines, where the
/// comparison then fails on a limit that is no multiple.
const PAGE: u64 = 4096;

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
        "limits.memory"
    }

    fn needs(&self, asked: &LimitsAsked) -> Option<Controller> {
        asked.memory.map(|_| Controller::Memory)
    }

    fn apply(&self, state: &mut LimitState) -> Result<(), Error> {
        let Some(Bytes(bytes)) = state.asked.memory else { return Ok(()) };
        let group = state.group.dir(Controller::Memory);
        let group = group.map_err(|error| error.context(format!("failed to limit memory to {}", Bytes(bytes))))?;
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

    fn lift(&self, state: &LimitState) -> Result<(), Error> {
        let (Ok(group), Some(_)) = (state.group.dir(Controller::Memory), state.asked.memory) else { return Ok(()) };
        let files = files(group.version());
        if group.version() == Version::One && group.has(BOTH) {
            group.write(BOTH, files.unlimited)?;
        }
        group.write(files.limit, files.unlimited)
    }
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
    fn no_limit_is_told_in_the_words_of_both_versions() {
        assert_eq!(amount("max\n"), None);
        assert_eq!(amount("9223372036854771712"), None);
        assert_eq!(amount("67108864\n"), Some(64 << 20));
        assert_eq!(amount("0"), Some(0));
    }
}
