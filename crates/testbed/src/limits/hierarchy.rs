//! Where the kernel's memory controller is: version 1 or 2 of control groups, its mount point and our own group. Only looks.

use std::path::{Path, PathBuf};

/// Version of control groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    /// One tree per controller.
    One,
    /// One tree for all.
    Two,
}

/// The tree with the memory controller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hierarchy {
    pub(crate) version: Version,
    /// Mount point.
    pub(crate) root: PathBuf,
    /// Folder of the group that this process is in.
    pub(crate) own: PathBuf,
}

impl Hierarchy {
    /// Finds it on this machine; none without a memory controller.
    pub(crate) fn find() -> Option<Self> {
        let mounts = std::fs::read_to_string("/proc/self/mountinfo").ok()?;
        let groups = std::fs::read_to_string("/proc/self/cgroup").ok()?;
        let controls_memory = |root: &Path| {
            let controllers = std::fs::read_to_string(root.join("cgroup.controllers")).unwrap_or_default();
            controllers.split_ascii_whitespace().any(|controller| controller == "memory")
        };
        let found = of(&mounts, &groups, controls_memory)?;
        let own = if found.own.is_dir() { found.own } else { found.root.clone() };
        Some(Self { own, ..found })
    }

    /// Folders from `group` up to the mount point, both included.
    pub(crate) fn upwards<'a>(&'a self, group: &'a Path) -> impl Iterator<Item = &'a Path> {
        group.ancestors().take_while(|folder| folder.starts_with(&self.root))
    }
}

/// A mounted tree of control groups.
struct Mount<'a> {
    /// The group that is mounted there; not `/` inside containers.
    part: &'a str,
    point: &'a Path,
    version: Version,
}

/// Finds the tree in the texts of `/proc/self/mountinfo` and `/proc/self/cgroup`; see proc(5) and cgroups(7).
fn of(mounts: &str, groups: &str, controls_memory: impl Fn(&Path) -> bool) -> Option<Hierarchy> {
    let mount = mounts.lines().filter_map(mount).find(|mount| match mount.version {
        Version::One => true,
        Version::Two => controls_memory(mount.point),
    })?;
    let own = groups.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':');
        let (number, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        let ours = match mount.version {
            Version::One => controllers.split(',').any(|controller| controller == "memory"),
            Version::Two => number == "0" && controllers.is_empty(),
        };
        ours.then_some(path)
    })?;
    let below = Path::new(own).strip_prefix(mount.part).or_else(|_| Path::new(own).strip_prefix("/")).ok()?;
    let own = if below.as_os_str().is_empty() { mount.point.to_owned() } else { mount.point.join(below) };
    Some(Hierarchy { version: mount.version, root: mount.point.to_owned(), own })
}

/// A line of `mountinfo`, when it mounts control groups of version 2, or the memory controller of version 1.
fn mount(line: &str) -> Option<Mount<'_>> {
    let (left, right) = line.split_once(" - ")?;
    let mut left = left.split(' ').skip(3);
    let (part, point) = (left.next()?, left.next()?);
    let mut right = right.split(' ');
    let (kind, options) = (right.next()?, right.nth(1)?);
    let version = match kind {
        "cgroup" if options.split(',').any(|option| option == "memory") => Version::One,
        "cgroup2" => Version::Two,
        _ => return None,
    };
    Some(Mount { part, point: Path::new(point), version })
}

#[cfg(test)]
mod tests {
    use super::*;

    const V1: &str = "31 25 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu
32 25 0:28 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
33 25 0:29 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
";
    const V2: &str = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
    const CONTAINER: &str = "30 23 0:26 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw\n";

    #[track_caller]
    fn check(mounts: &str, groups: &str, memory_in_two: bool, expected: Option<(Version, &str, &str)>) {
        let found = of(mounts, groups, |_| memory_in_two);
        let expected = expected.map(|(version, root, own)| Hierarchy { version, root: root.into(), own: own.into() });
        assert_eq!(found, expected);
    }

    #[test]
    fn the_memory_controller_is_found_in_either_version() {
        let (one, two) = ("9:cpu:/a\n4:memory:/me/x\n0::/u\n", "0::/system.slice/ssh.service\n");
        check(V1, one, false, Some((Version::One, "/sys/fs/cgroup/memory", "/sys/fs/cgroup/memory/me/x")));
        check(V2, two, true, Some((Version::Two, "/sys/fs/cgroup", "/sys/fs/cgroup/system.slice/ssh.service")));
        check(V2, "0::/\n", true, Some((Version::Two, "/sys/fs/cgroup", "/sys/fs/cgroup")));
        check(V2, two, false, None);
        check("", "", true, None);
    }

    #[test]
    fn inside_a_container_the_own_group_lies_below_the_mounted_one() {
        let expected = |own| Some((Version::Two, "/sys/fs/cgroup", own));
        check(CONTAINER, "0::/docker/abc/deep\n", true, expected("/sys/fs/cgroup/deep"));
        check(CONTAINER, "0::/docker/abc\n", true, expected("/sys/fs/cgroup"));
    }
}
