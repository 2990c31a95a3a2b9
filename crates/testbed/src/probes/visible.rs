//! What this kernel shows of the processor's other users. Containers and kernels of other makers may show only what is ours.

use super::cores::{core_line, tells_steal};
use crate::facts::is_guest;

/// Where the kernel tells what is mounted for us. Source: proc_pid_mountinfo(5).
const MOUNTS: &str = "/proc/self/mountinfo";

/// The counters of the processor that containers replace by their own.
const COUNTERS: &str = "/proc/stat";

/// What the kernel's files say.
#[derive(Debug, Clone, Default)]
pub(super) struct KernelView {
    /// `/proc/stat`; empty where it cannot be read.
    pub(super) counters: String,
    /// `/proc/self/mountinfo`; empty where it cannot be read.
    pub(super) mounts: String,
    /// Whether a hypervisor runs this host.
    pub(super) is_guest: bool,
}

impl KernelView {
    /// Reads the files.
    pub(super) fn read() -> Self {
        let text = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        Self { counters: text(COUNTERS), mounts: text(MOUNTS), is_guest: is_guest() }
    }

    /// Whether the counters are those of all that run on this kernel: not replaced by those of a container, as lxcfs does, and not all 0, as
    /// gVisor leaves them.
    pub(super) fn tells_host(&self) -> bool {
        let is_replaced = self.mounts.lines().any(|line| line.split(' ').nth(4) == Some(COUNTERS));
        let has_moved = self.counters.lines().filter_map(core_line).any(|(_, times)| times.busy() > 0);
        has_moved && !is_replaced
    }

    /// Whether they tell what the hypervisor gives to other guests.
    pub(super) fn tells_steal(&self) -> bool {
        let cores: Vec<_> = self.counters.lines().filter_map(core_line).collect();
        self.tells_host() && tells_steal(&cores, self.is_guest)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A machine that shows everything.
    pub(crate) fn open() -> KernelView {
        KernelView { counters: "cpu  9 0 9 9 0 0 0 4\ncpu0 9 0 9 9 0 0 0 4\n".to_owned(), ..KernelView::default() }
    }

    /// A guest whose steal has stood at 0 since boot.
    pub(crate) fn hidden_steal() -> KernelView {
        let counters = "cpu  9 0 9 9 0 0 0 0\ncpu0 9 0 9 9 0 0 0 0\n".to_owned();
        KernelView { counters, is_guest: true, ..KernelView::default() }
    }

    /// A container whose counters are its own.
    pub(crate) fn container() -> KernelView {
        let mounts = "31 30 0:27 / /proc rw - proc proc rw\n\
                      99 31 0:55 /proc/stat /proc/stat rw,nosuid - fuse.lxcfs lxcfs rw\n";
        KernelView { mounts: mounts.to_owned(), ..open() }
    }

    #[test]
    fn counters_that_are_not_the_hosts_are_told_apart() {
        let told = |view: &KernelView| (view.tells_host(), view.tells_steal());
        assert_eq!(told(&open()), (true, true));
        assert_eq!(told(&hidden_steal()), (true, false));
        assert_eq!(told(&container()), (false, false));
        let zeros = KernelView { counters: "cpu  0 0 0 0 0 0 0 0\ncpu0 0 0 0 0 0 0 0 0\n".to_owned(), ..open() };
        assert_eq!(told(&zeros), (false, false), "a kernel that counts nothing");
        assert_eq!(told(&KernelView::default()), (false, false), "nothing can be read");
    }
}
