//! What a control group and the machine used and waited for up to now. Only reads; the label "64 GiB" without these is not repeatable.

use super::cgroup::Cgroup;
use super::cgroup_dir::CgroupDir;
use super::counters::{self, value_of};
use super::hierarchy::{Controller, Version};
use crate::storages::Devices;
use proofload_model::facts::{FactName, FactValue, usage};
use proofload_model::samples::Fact;
use proofload_model::units::Bytes;
use std::path::Path;
use std::time::Duration;

/// Rows of `memory.stat`: the fact, then that of version 1 (with all groups below), then that of version 2; and whether
/// it is in bytes.
static STAT: &[(FactName, &str, &str, bool)] = &[
    (usage::MEMORY_ANON, "total_rss", "anon", true),
    (usage::MEMORY_FILE, "total_cache", "file", true),
    (usage::MEMORY_DIRTY, "total_dirty", "file_dirty", true),
    (usage::MEMORY_SOCK, "total_sock", "sock", true),
    (usage::REFAULTS_FILE, "total_workingset_refault_file", "workingset_refault_file", false),
    (usage::REFAULTS_ANON, "total_workingset_refault_anon", "workingset_refault_anon", false),
    (usage::MAJOR_FAULTS, "total_pgmajfault", "pgmajfault", false),
];

/// Facts of a group: peak, composition, how often it hit the limit, kills.
pub(super) fn of_group(group: &CgroupDir) -> Vec<Fact> {
    let stat = group.read("memory.stat").unwrap_or_default();
    let mut facts = Vec::new();
    let (now, peak) = match group.version() {
        Version::One => ("memory.usage_in_bytes", "memory.max_usage_in_bytes"),
        Version::Two => ("memory.current", "memory.peak"),
    };
    for (fact, file) in [(usage::MEMORY_USAGE, now), (usage::MEMORY_PEAK, peak)] {
        let value = group.read(file).ok().and_then(|text| text.parse().ok());
        facts.extend(value.map(|value| fact.observed(Bytes(value), group.source(file))));
    }
    for (fact, one, two, in_bytes) in STAT {
        let key = if group.version() == Version::One { one } else { two };
        let amount = |value: u64| if *in_bytes { FactValue::from(Bytes(value)) } else { value.into() };
        facts.extend(value_of(&stat, key).map(|value| fact.observed(amount(value), group.source("memory.stat"))));
    }
    if let (Version::One, Ok(Ok(value))) =
        (group.version(), group.read("memory.kmem.tcp.usage_in_bytes").map(|text| text.parse()))
    {
        facts.push(usage::MEMORY_SOCK.observed(Bytes(value), group.source("memory.kmem.tcp.usage_in_bytes")));
    }
    facts.extend(limit_hits(group).map(|hits| usage::LIMIT_HITS.observed(hits, events_source(group))));
    facts.extend(kills_in(group).map(|kills| usage::OOM_KILLS.observed(kills, events_source(group))));
    facts.extend(pressure("group", group.folder(), &["memory.pressure", "io.pressure", "cpu.pressure"], |file| {
        group.source(file)
    }));
    facts
}

/// Facts of the machine: time for which something waited for cores, memory, devices.
pub(crate) fn of_machine() -> Vec<Fact> {
    pressure("machine", Path::new("/proc/pressure"), &["memory", "io", "cpu"], |file| format!("/proc/pressure/{file}"))
}

/// CPU time and reads of the devices under the data, each with where it was read; `None` where the kernel does not count it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct GroupUse {
    pub(crate) cpu: Option<(Duration, String)>,
    pub(crate) device_read: Option<(Bytes, String)>,
}

/// What a group used since it was made.
pub(crate) fn group_use(group: &Cgroup, devices: &Devices) -> GroupUse {
    let cpu = || {
        let dir = group.dir(Controller::CpuAccounting).ok()?;
        let time = counters::cpu_time(dir).ok()?;
        Some((time.total, dir.source(Controller::CpuAccounting.file(dir.version()))))
    };
    let device_read = || {
        let dir = group.dir(Controller::Io).ok()?;
        let moved = counters::transfers_of(dir, devices)?;
        Some((Bytes(moved.read_bytes), dir.source(io_source(dir.version()))))
    };
    GroupUse { cpu: cpu(), device_read: device_read() }
}

/// Files that count transfers.
const fn io_source(version: Version) -> &'static str {
    match version {
        Version::One => "blkio.throttle.io_service_bytes_recursive, io_serviced_recursive",
        Version::Two => "io.stat",
    }
}

/// Facts of CPU time that a group used, and of what it moved to and from the devices under the data.
pub(super) fn of_work(group: &Cgroup, devices: &Devices) -> Vec<Fact> {
    let mut facts = Vec::new();
    if let Ok(dir) = group.dir(Controller::CpuAccounting)
        && let Ok(time) = counters::cpu_time(dir)
    {
        let source = dir.source(Controller::CpuAccounting.file(dir.version()));
        facts.push(usage::CPU_TIME.observed(time.total, source.as_str()));
        let parts = time.parts.map(|(user, system)| [(usage::CPU_USER, user), (usage::CPU_SYSTEM, system)]);
        facts.extend(parts.into_iter().flatten().map(|(fact, time)| fact.observed(time, source.as_str())));
    }
    if let Ok(dir) = group.dir(Controller::Io)
        && let Some(moved) = counters::transfers_of(dir, devices)
    {
        let source = dir.source(io_source(dir.version()));
        facts.push(usage::IO_READ.observed(Bytes(moved.read_bytes), source.as_str()));
        facts.push(usage::IO_WRITTEN.observed(Bytes(moved.written_bytes), source.as_str()));
        facts.push(usage::IO_READS.observed(moved.reads, source.as_str()));
        facts.push(usage::IO_WRITES.observed(moved.writes, source.as_str()));
    }
    facts
}

/// Facts of a group that was kept from CPU time by its limit.
pub(super) fn of_throttling(group: &CgroupDir) -> Vec<Fact> {
    let source = group.source("cpu.stat");
    counters::throttling(group).map_or_else(Vec::new, |told| {
        vec![
            usage::CPU_PERIODS.observed(told.periods, source.as_str()),
            usage::THROTTLED_PERIODS.observed(told.throttled, source.as_str()),
            usage::THROTTLED_TIME.observed(told.waited, source.as_str()),
        ]
    })
}

/// Processes of the group that the kernel killed for want of memory; `None` when it does not report them.
pub(crate) fn kills(group: &Cgroup) -> Option<u64> {
    kills_in(group.dir(Controller::Memory).ok()?)
}

fn kills_in(group: &CgroupDir) -> Option<u64> {
    match group.version() {
        Version::One => value_of(&group.read("memory.oom_control").ok()?, "oom_kill"),
        Version::Two => value_of(&group.read("memory.events").ok()?, "oom_kill"),
    }
}

/// Number of times that the group was at its limit and had to give pages back; `None` where it is not counted. In
/// version 1 the kernel charges memory and swap together first, so where both have the same limit the hits are counted
/// there, and since some release of Linux 6 not at all: 0 in both files is then no number. Source: mm/memcontrol.c,
/// `try_charge_memcg`; tried on 6.18.
fn limit_hits(group: &CgroupDir) -> Option<u64> {
    match group.version() {
        Version::One => {
            let number = |file: &str| group.read(file).ok()?.parse::<u64>().ok();
            let hits = number("memory.failcnt")? + number("memory.memsw.failcnt").unwrap_or(0);
            let is_shared = number("memory.memsw.limit_in_bytes") == number("memory.limit_in_bytes");
            (hits > 0 || !is_shared).then_some(hits)
        }
        Version::Two => value_of(&group.read("memory.events").ok()?, "max"),
    }
}

fn events_source(group: &CgroupDir) -> String {
    group.source(if group.version() == Version::One {
        "memory.failcnt, memory.memsw.failcnt, memory.oom_control"
    } else {
        "memory.events"
    })
}

/// Totals of `some` and `full` in the kernel's pressure files. Source: Documentation/accounting/psi.rst.
fn pressure(whose: &str, folder: &Path, files: &[&str], source: impl Fn(&str) -> String) -> Vec<Fact> {
    let mut facts = Vec::new();
    for file in files {
        let resource = file.trim_end_matches(".pressure");
        for line in std::fs::read_to_string(folder.join(file)).unwrap_or_default().lines() {
            let kind = line.split(' ').next().unwrap_or_default();
            let total = line.rsplit_once("total=").and_then(|(_, total)| total.trim().parse::<u64>().ok());
            let name = usage::PRESSURE.of(&format!("{whose}.{resource}.{kind}"));
            facts.extend(total.map(|total| {
                let time = FactValue::written(format!("{total}us"), total as f64 / 1e6);
                name.observed(time, source(file))
            }));
        }
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_of_pressure_are_drawn_from_the_kernels_text() {
        let folder = tempfile::tempdir().unwrap();
        let text = "some avg10=0.00 avg60=0.00 avg300=0.00 total=12\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n";
        std::fs::write(folder.path().join("memory.pressure"), text).unwrap();
        let facts = pressure("group", folder.path(), &["memory.pressure", "io.pressure"], str::to_owned);
        let found: Vec<_> = facts.iter().map(|fact| (fact.name.as_str(), fact.effective.as_deref())).collect();
        let expected = [("pressure.group.memory.some", Some("12us")), ("pressure.group.memory.full", Some("7us"))];
        assert_eq!(found, expected);
    }
}
