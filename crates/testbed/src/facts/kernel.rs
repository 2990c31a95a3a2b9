//! Kernel and its settings that move results.

use super::describe::{chosen, fact, of_file};
use proofload_model::facts::host;
use proofload_model::samples::Fact;

pub(super) fn facts() -> Vec<Fact> {
    let huge = "/sys/kernel/mm/transparent_hugepage/enabled";
    vec![
        of_file(&host::KERNEL, "/proc/sys/kernel/osrelease"),
        fact(&host::SYSTEM, system(), "/etc/os-release"),
        of_file(&host::CLOCK_SOURCE, "/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        fact(
            &host::TRANSPARENT_HUGE_PAGES,
            std::fs::read_to_string(huge).ok().and_then(|text| chosen(&text).map(str::to_owned)),
            huge,
        ),
        of_file(&host::SWAPPINESS, "/proc/sys/vm/swappiness"),
        of_file(&host::DIRTY_RATIO, "/proc/sys/vm/dirty_ratio"),
        of_file(&host::DIRTY_BACKGROUND_RATIO, "/proc/sys/vm/dirty_background_ratio"),
        of_file(&host::OVERCOMMIT_MEMORY, "/proc/sys/vm/overcommit_memory"),
        fact(&host::CONTROL_GROUPS, Some(control_groups().to_owned()), "/sys/fs/cgroup"),
    ]
}

fn system() -> Option<String> {
    let text = std::fs::read_to_string("/etc/os-release").ok()?;
    text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME=")).map(|name| name.trim_matches('"').to_owned())
}

/// Which control groups hold memory here.
pub(crate) fn control_groups() -> &'static str {
    let v2 = std::fs::read_to_string("/sys/fs/cgroup/cgroup.controllers")
        .is_ok_and(|text| text.split(' ').any(|word| word.trim() == "memory"));
    let v1 = std::path::Path::new("/sys/fs/cgroup/memory/memory.limit_in_bytes").exists();
    if v2 {
        "v2, with memory"
    } else if v1 {
        "v1, with memory"
    } else {
        "none with memory"
    }
}
