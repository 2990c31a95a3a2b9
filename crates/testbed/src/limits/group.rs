//! One control group of ours: made, read, left, removed. Knows the files of both versions; may not decide what to limit.

use super::hierarchy::{Hierarchy, Version};
use crate::sys;
use proofload_model::error::Error;
use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a killed process may take to leave its group: it first ends the system call that it is in.
const LEAVING: Duration = Duration::from_secs(10);

/// How long members that are ending may keep a group from being removed.
const DISSOLVING: Duration = Duration::from_secs(2);

/// A control group that this process made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Group {
    hierarchy: Hierarchy,
    folder: PathBuf,
}

/// `proofload-<process>-<its start>`: a later process of the same number is not taken for the owner.
pub(super) fn name_of_owner(process: u32) -> String {
    format!("proofload-{process}-{}", sys::start_time(process).unwrap_or(0))
}

/// Is this the name of a group whose owner is dead?
pub(super) fn is_orphan(name: &str) -> bool {
    let owner = name.strip_prefix("proofload-").and_then(|rest| {
        let (process, start) = rest.trim_end_matches("-trial").split_once('-')?;
        Some((process.parse().ok()?, start.parse().ok()?))
    });
    owner.is_some_and(|(process, start)| sys::start_time(process) != Some(start) || !sys::is_running(process))
}

impl Group {
    /// Makes an empty group of this process: below its own group, or below the nearest parent that lets it.
    pub(crate) fn create(hierarchy: Hierarchy) -> Result<Self, Error> {
        Self::create_named(hierarchy, &name_of_owner(std::process::id()))
    }

    /// Makes another empty group of this process, to try what is allowed.
    pub(super) fn create_trial(hierarchy: Hierarchy) -> Result<Self, Error> {
        Self::create_named(hierarchy, &format!("{}-trial", name_of_owner(std::process::id())))
    }

    fn create_named(hierarchy: Hierarchy, name: &str) -> Result<Self, Error> {
        let mut reasons = Vec::new();
        let parents: Vec<PathBuf> = hierarchy.upwards(&hierarchy.own).map(Path::to_owned).collect();
        for parent in parents {
            match make_below(&parent, name, hierarchy.version) {
                Ok(folder) => return Ok(Self { hierarchy, folder }),
                Err(error) => reasons.push(error.to_string()),
            }
        }
        Err(Error::new(format!(
            "make a control group for the memory limit: {}; run as root, or in a scope with delegated controllers: \
             systemd-run --user --scope -p Delegate=yes",
            reasons.join("; ")
        )))
    }

    /// One that exists.
    pub(super) const fn existing(hierarchy: Hierarchy, folder: PathBuf) -> Self {
        Self { hierarchy, folder }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) const fn version(&self) -> Version {
        self.hierarchy.version
    }

    /// Folders of the groups above, nearest first.
    pub(crate) fn above(&self) -> impl Iterator<Item = &Path> {
        self.hierarchy.upwards(&self.folder).skip(1)
    }

    pub(crate) fn has(&self, file: &str) -> bool {
        self.folder.join(file).exists()
    }

    pub(crate) fn read(&self, file: &str) -> Result<String, Error> {
        let path = self.folder.join(file);
        let text = std::fs::read_to_string(&path);
        text.map(|text| text.trim().to_owned()).map_err(|error| Error::new(format!("read {}: {error}", path.display())))
    }

    /// Where a fact was read, without the path: that bears numbers of processes and differs in every run.
    pub(crate) fn source(&self, file: &str) -> String {
        let version = match self.version() {
            Version::One => "version 1",
            Version::Two => "version 2",
        };
        format!("{file} of the control group ({version})")
    }

    pub(crate) fn write(&self, file: &str, value: &str) -> Result<(), Error> {
        write(&self.folder.join(file), value)
    }

    /// The list of processes, open for entering it.
    pub(crate) fn entrance(&self) -> Result<File, Error> {
        let path = self.folder.join("cgroup.procs");
        OpenOptions::new()
            .write(true)
            .open(&path)
            .map_err(|error| Error::new(format!("open {}: {error}", path.display())))
    }

    /// Moves a process with all its threads into the group.
    pub(crate) fn admit(&self, process: u32) -> Result<(), Error> {
        self.write("cgroup.procs", &process.to_string())
            .map_err(|error| error.context(format!("limit process {process}")))
    }

    /// Processes in the group.
    pub(crate) fn members(&self) -> Vec<u32> {
        self.read("cgroup.procs").unwrap_or_default().lines().filter_map(|line| line.parse().ok()).collect()
    }

    /// Removes the group although processes run in it: they move to the group that made this one. False if it will not go.
    pub(crate) fn dissolve(&self) -> bool {
        let home = self.hierarchy.own.join("cgroup.procs");
        within(DISSOLVING, || {
            for process in self.members() {
                // A member that is ending cannot be moved; the next look finds it gone.
                let _ending = write(&home, &process.to_string());
            }
            self.remove()
        })
    }

    /// Kills all members but `spared`, also those that are born meanwhile, and waits until they are gone.
    pub(crate) fn kill_members(&self, spared: &[u32]) -> bool {
        within(LEAVING, || {
            let members: Vec<u32> = self.members().into_iter().filter(|member| !spared.contains(member)).collect();
            for process in &members {
                sys::signal(*process, 9);
            }
            members.is_empty()
        })
    }

    /// Removes the group; false while it has members.
    pub(crate) fn remove(&self) -> bool {
        match std::fs::remove_dir(&self.folder) {
            Ok(()) => true,
            Err(error) => error.kind() == std::io::ErrorKind::NotFound,
        }
    }
}

/// Tries until it works, or the patience is over.
fn within(patience: Duration, mut works: impl FnMut() -> bool) -> bool {
    const GLANCE: Duration = Duration::from_millis(10);
    let mut waited = Duration::ZERO;
    while !works() {
        if waited > patience {
            return false;
        }
        std::thread::sleep(GLANCE);
        waited += GLANCE;
    }
    true
}

fn write(path: &Path, value: &str) -> Result<(), Error> {
    std::fs::write(path, value).map_err(|error| Error::new(format!("write {value} to {}: {error}", path.display())))
}

/// Makes a group below `parent` that has the memory controller.
fn make_below(parent: &Path, name: &str, version: Version) -> Result<PathBuf, Error> {
    if version == Version::Two {
        let control = parent.join("cgroup.subtree_control");
        let text = std::fs::read_to_string(&control).unwrap_or_default();
        if !text.split_ascii_whitespace().any(|controller| controller == "memory") {
            write(&control, "+memory")?;
        }
    }
    let folder = parent.join(name);
    match std::fs::create_dir(&folder) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
            return Err(Error::new(format!("make {}: {error}", folder.display())));
        }
        _ => {}
    }
    let limit = match version {
        Version::One => "memory.limit_in_bytes",
        Version::Two => "memory.max",
    };
    if folder.join(limit).exists() {
        return Ok(folder);
    }
    let _empty = std::fs::remove_dir(&folder);
    Err(Error::new(format!("{} has no {limit}", folder.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_dead_owners_are_orphans() {
        let me = std::process::id();
        assert!(!is_orphan(&name_of_owner(me)));
        assert!(is_orphan(&format!("proofload-{me}-1")), "a later process of the same number");
        assert!(is_orphan("proofload-4194304000-7"));
        for foreign in ["proofload", "proofload-", "proofload-x-1", "proofload-1", "user.slice"] {
            assert!(!is_orphan(foreign), "{foreign}");
        }
    }
}
