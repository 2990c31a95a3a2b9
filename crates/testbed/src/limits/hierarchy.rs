//! Where the kernel's controllers are: version 1 or 2 of control groups, mount points and our own groups. Only looks.

use std::path::{Path, PathBuf};

/// Version of control groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    /// One tree per controller, or for a few together.
    One,
    /// One tree for all.
    Two,
}

impl Version {
    /// The version in words.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::One => "version 1",
            Self::Two => "version 2",
        }
    }
}

/// What the kernel counts and limits by groups, as far as we use it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Controller {
    /// Memory with page cache.
    Memory,
    /// Bytes and requests of block devices.
    Io,
    /// CPU time allowed.
    Cpu,
    /// CPU time used.
    CpuAccounting,
    /// Whether members run.
    Freezer,
}

impl Controller {
    /// All, in the order in which their trees are used.
    pub(crate) const ALL: [Self; 5] = [Self::Memory, Self::Io, Self::Cpu, Self::CpuAccounting, Self::Freezer];

    /// What it is called in words.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Io => "block device",
            Self::Cpu => "CPU",
            Self::CpuAccounting => "CPU accounting",
            Self::Freezer => "freezer",
        }
    }

    /// The kernel's name; `None` for what version 2 does in every group without a controller. Source: cgroups(7).
    pub(crate) const fn name(self, version: Version) -> Option<&'static str> {
        match (self, version) {
            (Self::Memory, _) => Some("memory"),
            (Self::Io, Version::One) => Some("blkio"),
            (Self::Io, Version::Two) => Some("io"),
            (Self::Cpu, _) => Some("cpu"),
            (Self::CpuAccounting, Version::One) => Some("cpuacct"),
            (Self::Freezer, Version::One) => Some("freezer"),
            (Self::CpuAccounting | Self::Freezer, Version::Two) => None,
        }
    }

    /// A file that a group with this controller has.
    pub(crate) const fn file(self, version: Version) -> &'static str {
        match (self, version) {
            (Self::Memory, Version::One) => "memory.limit_in_bytes",
            (Self::Memory, Version::Two) => "memory.max",
            (Self::Io, Version::One) => "blkio.throttle.read_bps_device",
            (Self::Io, Version::Two) => "io.max",
            (Self::Cpu, Version::One) => "cpu.cfs_quota_us",
            (Self::Cpu, Version::Two) => "cpu.max",
            (Self::CpuAccounting, Version::One) => "cpuacct.usage",
            (Self::CpuAccounting, Version::Two) => "cpu.stat",
            (Self::Freezer, Version::One) => "freezer.state",
            (Self::Freezer, Version::Two) => "cgroup.freeze",
        }
    }
}

/// One mounted tree of control groups that has controllers of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hierarchy {
    pub(crate) version: Version,
    /// Mount point.
    pub(crate) root: PathBuf,
    /// Folder of the group that this process is in.
    pub(crate) own: PathBuf,
    /// What it controls, in the order of [`Controller::ALL`].
    pub(crate) controllers: Vec<Controller>,
}

impl Hierarchy {
    /// Every tree of this machine that has a controller of ours, each controller in one of them.
    pub(crate) fn all() -> Vec<Self> {
        let (Ok(mounts), Ok(groups)) =
            (std::fs::read_to_string("/proc/self/mountinfo"), std::fs::read_to_string("/proc/self/cgroup"))
        else {
            return Vec::new();
        };
        let offered = |root: &Path| {
            let text = std::fs::read_to_string(root.join("cgroup.controllers")).unwrap_or_default();
            text.split_ascii_whitespace().map(str::to_owned).collect()
        };
        let mut found = of(&mounts, &groups, offered);
        for hierarchy in &mut found {
            if !hierarchy.own.is_dir() {
                hierarchy.own.clone_from(&hierarchy.root);
            }
        }
        found
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
    /// Version 1: its mount options, the names of controllers among them.
    options: &'a str,
}

/// Finds the trees in the texts of `/proc/self/mountinfo` and `/proc/self/cgroup`; see proc(5) and cgroups(7). `offered`: names of the
/// controllers of a tree of version 2. A controller that is mounted in version 1 cannot be in version 2.
fn of(mounts: &str, groups: &str, offered: impl Fn(&Path) -> Vec<String>) -> Vec<Hierarchy> {
    let mut mounted: Vec<Mount<'_>> = mounts.lines().filter_map(mount).collect();
    mounted.sort_by_key(|mount| mount.version == Version::Two);
    let mut found: Vec<Hierarchy> = Vec::new();
    for mount in mounted {
        let there: Vec<String> = match mount.version {
            Version::One => mount.options.split(',').map(str::to_owned).collect(),
            Version::Two => offered(mount.point),
        };
        let is_new = |controller: &Controller| !found.iter().any(|known| known.controllers.contains(controller));
        let is_there = |controller: &Controller| match controller.name(mount.version) {
            Some(name) => there.iter().any(|each| each == name),
            None => !there.is_empty(),
        };
        let controllers: Vec<Controller> =
            Controller::ALL.into_iter().filter(|controller| is_new(controller) && is_there(controller)).collect();
        if let (false, Some(own)) = (controllers.is_empty(), own_group(&mount, groups)) {
            found.push(Hierarchy { version: mount.version, root: mount.point.to_owned(), own, controllers });
        }
    }
    found.sort_by_key(|hierarchy| hierarchy.controllers.first().copied());
    found
}

/// The folder of the group that this process is in.
fn own_group(mount: &Mount<'_>, groups: &str) -> Option<PathBuf> {
    let own = groups.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':');
        let (number, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        let ours = match mount.version {
            Version::One => {
                !controllers.is_empty()
                    && controllers.split(',').all(|name| mount.options.split(',').any(|o| o == name))
            }
            Version::Two => number == "0" && controllers.is_empty(),
        };
        ours.then_some(path)
    })?;
    let below = Path::new(own).strip_prefix(mount.part).or_else(|_| Path::new(own).strip_prefix("/")).ok()?;
    Some(if below.as_os_str().is_empty() { mount.point.to_owned() } else { mount.point.join(below) })
}

/// A line of `mountinfo`, when it mounts control groups.
fn mount(line: &str) -> Option<Mount<'_>> {
    let (left, right) = line.split_once(" - ")?;
    let mut left = left.split(' ').skip(3);
    let (part, point) = (left.next()?, left.next()?);
    let mut right = right.split(' ');
    let (kind, options) = (right.next()?, right.nth(1)?);
    let version = match kind {
        "cgroup" => Version::One,
        "cgroup2" => Version::Two,
        _ => return None,
    };
    Some(Mount { part, point: Path::new(point), version, options })
}

#[cfg(test)]
mod tests {
    use super::Controller::{Cpu, CpuAccounting, Freezer, Io, Memory};
    use super::*;

    const V1: &str = "31 25 0:27 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct
32 25 0:28 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
33 25 0:29 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
34 25 0:30 / /sys/fs/cgroup/blkio rw,relatime - cgroup cgroup rw,blkio
35 25 0:31 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd
";
    const V2: &str = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
    const CONTAINER: &str = "30 23 0:26 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw\n";
    const ONE: &str = "35:name=systemd:/s\n9:cpu,cpuacct:/a\n4:memory:/me/x\n5:blkio:/\n0::/u\n";

    #[track_caller]
    fn check(mounts: &str, groups: &str, in_two: &[&str], expected: &[(Version, &str, &str, &[Controller])]) {
        let found = of(mounts, groups, |_| in_two.iter().map(|name| (*name).to_owned()).collect());
        let hierarchy = |(version, root, own, controllers): &(Version, &str, &str, &[Controller])| Hierarchy {
            version: *version,
            root: root.into(),
            own: own.into(),
            controllers: controllers.to_vec(),
        };
        assert_eq!(found, expected.iter().map(hierarchy).collect::<Vec<_>>());
    }

    #[test]
    fn version_one_has_a_tree_for_a_controller_or_a_few() {
        let memory = (Version::One, "/sys/fs/cgroup/memory", "/sys/fs/cgroup/memory/me/x", &[Memory][..]);
        let io = (Version::One, "/sys/fs/cgroup/blkio", "/sys/fs/cgroup/blkio", &[Io][..]);
        let cpu =
            (Version::One, "/sys/fs/cgroup/cpu,cpuacct", "/sys/fs/cgroup/cpu,cpuacct/a", &[Cpu, CpuAccounting][..]);
        check(V1, ONE, &[], &[memory, io, cpu]);
        let without: String = V1.lines().filter(|line| !line.ends_with("blkio")).map(|l| format!("{l}\n")).collect();
        let two = (Version::Two, "/sys/fs/cgroup/unified", "/sys/fs/cgroup/unified/u", &[Io, Freezer][..]);
        check(&without, ONE, &["io", "pids"], &[memory, two, cpu]);
    }

    #[test]
    fn version_two_has_one_tree_for_what_it_offers() {
        let own = "/sys/fs/cgroup/system.slice/ssh.service";
        let tree = |own, controllers: &'static [Controller]| (Version::Two, "/sys/fs/cgroup", own, controllers);
        let groups = "0::/system.slice/ssh.service\n";
        check(V2, groups, &["cpu", "io", "memory"], &[tree(own, &[Memory, Io, Cpu, CpuAccounting, Freezer])]);
        check(V2, groups, &["memory"], &[tree(own, &[Memory, CpuAccounting, Freezer])]);
        check(V2, "0::/\n", &["memory"], &[tree("/sys/fs/cgroup", &[Memory, CpuAccounting, Freezer])]);
        check(V2, groups, &[], &[]);
        check("", "", &["memory"], &[]);
    }

    #[test]
    fn inside_a_container_the_own_group_lies_below_the_mounted_one() {
        for (groups, own) in [("0::/docker/abc/deep\n", "/sys/fs/cgroup/deep"), ("0::/docker/abc\n", "/sys/fs/cgroup")]
        {
            check(
                CONTAINER,
                groups,
                &["memory"],
                &[(Version::Two, "/sys/fs/cgroup", own, &[Memory, CpuAccounting, Freezer])],
            );
        }
    }
}
