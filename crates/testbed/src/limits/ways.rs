//! What gives a user the right to set limits, by what this machine is. Changes nothing.

use rustix::fs::StatVfsMountFlags;
use std::path::Path;

/// A way to limits: what to type, and when it helps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Way {
    /// The command, in front of `proofload` where it ends with a space.
    pub command: &'static str,
    /// When it helps.
    pub when: &'static str,
}

impl Way {
    /// The command as it is typed to run a study.
    pub fn typed(&self) -> String {
        let program = if self.command.ends_with(' ') { "proofload run …" } else { "" };
        format!("{}{program}", self.command)
    }
}

/// What the machine and the user are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Rights {
    is_root: bool,
    /// The control groups are mounted read-only, as containers have them.
    read_only: bool,
    /// There is one tree of control groups, version 2.
    unified: bool,
    systemd: bool,
}

const WRITABLE_MOUNT: Way = Way {
    command: "docker run --privileged --cgroupns=host -v /sys/fs/cgroup:/sys/fs/cgroup:rw …",
    when: "the control groups are mounted read-only: a container needs them writable",
};

const ROOT: Way = Way { command: "sudo ", when: "where you may" };

const SCOPE: Way =
    Way { command: "systemd-run --user --scope -p Delegate=yes ", when: "systemd gives each user control groups" };

const DELEGATED_TREE: Way = Way {
    command: "sudo sh -c 'g=/sys/fs/cgroup/$1; mkdir -p $g/shell; echo +memory +cpu +cpuset +io > /sys/fs/cgroup/cgroup.subtree_control; \
              chown -R $1 $g; echo $2 > $g/shell/cgroup.procs' sh $USER $$",
    when: "once, for the shell in which it is typed: its own control group",
};

const DELEGATED_FOLDERS: Way = Way {
    command: "sudo sh -c 'for c in memory cpu cpuacct blkio freezer; do g=/sys/fs/cgroup/$c/$1; mkdir -p $g; chown -R $1 $g; echo $2 > $g/cgroup.procs; done' sh $USER $$",
    when: "once, for the shell in which it is typed: its own folder in each controller, for control groups v1",
};

/// Ways that may help on this machine, best first.
pub fn ways() -> Vec<Way> {
    let mount = rustix::fs::statvfs("/sys/fs/cgroup");
    of(Rights {
        is_root: crate::sys::is_root(),
        read_only: mount.is_ok_and(|mount| mount.f_flag.contains(StatVfsMountFlags::RDONLY)),
        unified: Path::new("/sys/fs/cgroup/cgroup.controllers").exists(),
        systemd: Path::new("/run/systemd/system").exists(),
    })
}

fn of(rights: Rights) -> Vec<Way> {
    let Rights { is_root, read_only, unified, systemd } = rights;
    let mut ways = Vec::new();
    if read_only {
        ways.push(WRITABLE_MOUNT);
    }
    if !is_root && !read_only {
        ways.push(ROOT);
        ways.extend((unified && systemd).then_some(SCOPE));
        ways.push(if unified { DELEGATED_TREE } else { DELEGATED_FOLDERS });
    }
    ways
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_is_typed_as_it_is_shown() {
        assert_eq!(ROOT.typed(), "sudo proofload run …");
        for way in [SCOPE, DELEGATED_TREE, DELEGATED_FOLDERS] {
            let typed = way.typed();
            assert!(!typed.contains("PID") && !typed.contains("you"), "nothing is left to be replaced: {typed}");
        }
        assert!(DELEGATED_TREE.typed().ends_with("sh $USER $$"), "the user's own shell fills both in");
    }

    #[test]
    fn each_machine_is_told_what_helps_on_it() {
        let user = Rights { is_root: false, read_only: false, unified: true, systemd: true };
        assert_eq!(of(user), [ROOT, SCOPE, DELEGATED_TREE]);
        assert_eq!(of(Rights { systemd: false, ..user }), [ROOT, DELEGATED_TREE]);
        assert_eq!(
            of(Rights { unified: false, ..user }),
            [ROOT, DELEGATED_FOLDERS],
            "a scope delegates nothing in version 1"
        );
        assert_eq!(of(Rights { read_only: true, is_root: true, ..user }), [WRITABLE_MOUNT]);
        assert_eq!(of(Rights { is_root: true, ..user }), [], "what stands in the way is something else");
    }
}
