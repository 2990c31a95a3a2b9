//! The table of groups and their cases.

use super::case::{Case, CaseGroup};
use super::image::MachineKernel;
use super::{caches, limits, log_writes, network, policies, snapshots, ublk};
use std::time::Duration;

/// The cases of a cache; each function names its system by a constant parameter.
macro_rules! cache_cases {
    ($system:expr $(, $more:expr)*) => {
        &[
            Case { name: "content is refused", boot: 1, run: caches::content_is_refused::<{ $system }> },
            Case { name: "unnamed is refused", boot: 1, run: caches::unnamed_is_refused::<{ $system }> },
            Case { name: "dry run changes nothing", boot: 1, run: caches::dry_run_changes_nothing::<{ $system }> },
            Case { name: "set up", boot: 1, run: caches::set_up::<{ $system }> },
            Case { name: "in use is refused", boot: 1, run: caches::in_use_is_refused::<{ $system }> },
            Case { name: "content verifies", boot: 1, run: caches::content_verifies::<{ $system }> },
            Case { name: "counters", boot: 1, run: caches::counters::<{ $system }> },
            $($more,)*
            Case { name: "taken down", boot: 1, run: caches::taken_down::<{ $system }> },
            Case { name: "remains of a set-up", boot: 1, run: caches::remains::<{ $system }> },
            Case { name: "load before the kill", boot: 1, run: caches::load_before_the_kill::<{ $system }> },
            Case { name: "recovered", boot: 2, run: caches::recovered::<{ $system }> },
            Case { name: "acknowledged is there", boot: 2, run: caches::acknowledged_is_there::<{ $system }> },
            Case { name: "taken down after the kill", boot: 2, run: caches::taken_down::<{ $system }> },
        ]
    };
}

/// The case of a bounded drain, where the system itself does not clean what was just written.
macro_rules! bounded {
    ($system:expr) => {
        Case { name: "drain is bounded", boot: 1, run: caches::drain_is_bounded::<{ $system }> }
    };
}

/// Every group, in the order in which they run.
pub(super) const GROUPS: &[CaseGroup] = &[
    CaseGroup { name: "dm-cache", cases: cache_cases!(caches::DM_CACHE) },
    CaseGroup { name: "dm-writecache", cases: cache_cases!(caches::DM_WRITECACHE, bounded!(caches::DM_WRITECACHE)) },
    CaseGroup { name: "bcache", cases: cache_cases!(caches::BCACHE, bounded!(caches::BCACHE)) },
    CaseGroup { name: limits::GROUP, cases: limits::CASES },
    CaseGroup { name: "snapshots", cases: snapshots::CASES },
    CaseGroup { name: "netem", cases: network::CASES },
    CaseGroup { name: log_writes::GROUP, cases: log_writes::CASES },
    CaseGroup { name: ublk::GROUP, cases: ublk::CASES },
    CaseGroup { name: policies::GROUP, cases: policies::CASES },
];

/// The kernel of a group: Debian 12 builds no ublk.
pub(super) fn kernel(group: &CaseGroup) -> MachineKernel {
    if group.name == ublk::GROUP { MachineKernel::Newer } else { MachineKernel::Own }
}

/// Longest time of one boot of a group. References of a load are replayed one by one, and an experiment takes minutes.
pub(super) fn longest_boot(group: &CaseGroup) -> Duration {
    let is_long = [policies::GROUP, limits::GROUP].contains(&group.name);
    Duration::from_secs(if is_long { 1800 } else { 420 })
}

/// The group with a name.
pub(super) fn named(name: &str) -> Result<&'static CaseGroup, String> {
    let found = GROUPS.iter().find(|group| group.name == name);
    found.ok_or_else(|| {
        let names: Vec<&str> = GROUPS.iter().map(|group| group.name).collect();
        format!("there is no group {name:?}; there are: {}", names.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_boots_follow_each_other() {
        for group in GROUPS {
            let names: BTreeSet<_> = group.cases.iter().map(|case| case.name).collect();
            assert_eq!(names.len(), group.cases.len(), "{}", group.name);
            assert!((1..=group.boots()).all(|boot| group.of_boot(boot).count() > 0), "{}", group.name);
        }
        assert!(named("bcache").is_ok() && named("flashcache").is_err());
    }
}
