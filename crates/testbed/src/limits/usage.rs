//! What a control group and the machine used and waited for up to now. Only reads; the label "64 GiB" without these is not repeatable.

use super::cgroup::Cgroup;
use super::cgroup_dir::CgroupDir;
use super::counters::{self, value_of};
use super::hierarchy::{Controller, Version};
use crate::storages::Devices;
use proofload_model::samples::Fact;
use proofload_model::units::Bytes;
use std::path::Path;
use std::time::Duration;

/// Names in `memory.stat`: ours, then that of version 1 (with all groups below), then that of version 2; and is it in bytes?
const STAT: &[(&str, &str, &str, bool)] = &[
    ("memory.anon", "total_rss", "anon", true),
    ("memory.file", "total_cache", "file", true),
    ("memory.dirty", "total_dirty", "file_dirty", true),
    ("memory.sock", "total_sock", "sock", true),
    ("memory.refaults.file", "total_workingset_refault_file", "workingset_refault_file", false),
    ("memory.refaults.anon", "total_workingset_refault_anon", "workingset_refault_anon", false),
    ("memory.major_faults", "total_pgmajfault", "pgmajfault", false),
];

/// Facts of a group: peak, composition, how often it hit the limit, kills.
pub(super) fn of_group(group: &CgroupDir) -> Vec<Fact> {
    let stat = group.read("memory.stat").unwrap_or_default();
    let mut facts = Vec::new();
    let (now, peak) = match group.version() {
        Version::One => ("memory.usage_in_bytes", "memory.max_usage_in_bytes"),
        Version::Two => ("memory.current", "memory.peak"),
    };
    for (name, file) in [("memory.usage", now), ("memory.peak", peak)] {
        let value = group.read(file).ok().and_then(|text| text.parse().ok());
        facts.extend(value.map(|value| fact(name, Bytes(value).to_string(), &group.source(file))));
    }
    for (name, one, two, in_bytes) in STAT {
        let key = if group.version() == Version::One { one } else { two };
        let text = |value: u64| if *in_bytes { Bytes(value).to_string() } else { value.to_string() };
        facts.extend(value_of(&stat, key).map(|value| fact(name, text(value), &group.source("memory.stat"))));
    }
    if let (Version::One, Ok(Ok(value))) =
        (group.version(), group.read("memory.kmem.tcp.usage_in_bytes").map(|text| text.parse()))
    {
        facts.push(fact("memory.sock", Bytes(value).to_string(), &group.source("memory.kmem.tcp.usage_in_bytes")));
    }
    facts.extend(limit_hits(group).map(|hits| fact("memory.limit_hits", hits.to_string(), &events_source(group))));
    facts.extend(kills_in(group).map(|kills| fact("memory.oom_kills", kills.to_string(), &events_source(group))));
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
        facts.push(fact("cpu.time", seconds(time.total), &source));
        let parts = time.parts.map(|(user, system)| [("cpu.user", user), ("cpu.system", system)]);
        facts.extend(parts.into_iter().flatten().map(|(name, time)| fact(name, seconds(time), &source)));
    }
    if let Ok(dir) = group.dir(Controller::Io)
        && let Some(moved) = counters::transfers_of(dir, devices)
    {
        let source = dir.source(io_source(dir.version()));
        facts.push(fact("io.read", Bytes(moved.read_bytes).to_string(), &source));
        facts.push(fact("io.written", Bytes(moved.written_bytes).to_string(), &source));
        facts.push(fact("io.reads", moved.reads.to_string(), &source));
        facts.push(fact("io.writes", moved.writes.to_string(), &source));
    }
    facts
}

/// Facts of a group that was kept from CPU time by its limit.
pub(super) fn of_throttling(group: &CgroupDir) -> Vec<Fact> {
    let source = group.source("cpu.stat");
    counters::throttling(group).map_or_else(Vec::new, |told| {
        vec![
            fact("cpu.periods", told.periods.to_string(), &source),
            fact("cpu.throttled_periods", told.throttled.to_string(), &source),
            fact("cpu.throttled_time", seconds(told.waited), &source),
        ]
    })
}

/// A time as a fact says it.
fn seconds(time: Duration) -> String {
    format!("{:.3}s", time.as_secs_f64())
}

/// Processes of the group that the kernel killed for want of memory; none when it does not tell.
pub(crate) fn kills(group: &Cgroup) -> Option<u64> {
    kills_in(group.dir(Controller::Memory).ok()?)
}

fn kills_in(group: &CgroupDir) -> Option<u64> {
    match group.version() {
        Version::One => value_of(&group.read("memory.oom_control").ok()?, "oom_kill"),
        Version::Two => value_of(&group.read("memory.events").ok()?, "oom_kill"),
    }
}

/// How often the group was at its limit and had to give pages back. In version 1 the kernel charges memory and swap together
/// first, so where both have the same limit the hits are counted there, and since some release of Linux 6 not at all: none of both
/// is no number then. Source: mm/memcontrol.c, `try_charge_memcg`; tried on 6.18.
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

fn fact(name: &str, value: impl Into<String>, source: &str) -> Fact {
    Fact::observed("usage", name, value, source)
}

/// Totals of `some` and `full` in the kernel's pressure files. Source: Documentation/accounting/psi.rst.
fn pressure(whose: &str, folder: &Path, files: &[&str], source: impl Fn(&str) -> String) -> Vec<Fact> {
    let mut facts = Vec::new();
    for file in files {
        let resource = file.trim_end_matches(".pressure");
        for line in std::fs::read_to_string(folder.join(file)).unwrap_or_default().lines() {
            let kind = line.split(' ').next().unwrap_or_default();
            let total = line.rsplit_once("total=").and_then(|(_, total)| total.trim().parse::<u64>().ok());
            let name = format!("pressure.{whose}.{resource}.{kind}");
            facts.extend(total.map(|total| fact(&name, format!("{total}us"), &source(file))));
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
