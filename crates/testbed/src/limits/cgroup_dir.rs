//! The folder of a control group of ours in one tree of the kernel: made, read, left, removed. Knows the files of both versions; may not
//! decide what to limit.

use super::hierarchy::{Controller, Hierarchy, Version};
use crate::sys;
use proofload_model::error::Error;
use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long members that are ending may keep a group from being removed.
const DISSOLVING: Duration = Duration::from_secs(2);

/// A folder that this process made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CgroupDir {
    hierarchy: Hierarchy,
    folder: PathBuf,
}

/// What a dir is to have.
#[derive(Debug, Clone, Copy)]
pub(super) struct CgroupRequest<'a> {
    /// Name of the folder.
    pub(super) name: &'a str,
    /// Controllers without which it is of no use.
    pub(super) required: &'a [Controller],
    /// These if they can be had.
    pub(super) welcome: &'a [Controller],
}

/// `proofload-<process>-<its start>-<purpose>`: a later process of the same number is not taken for the owner.
pub(super) fn name_of_group(process: u32, purpose: &str) -> String {
    format!("proofload-{process}-{}-{purpose}", sys::start_time(process).unwrap_or(0))
}

/// Whether this is the name of a group whose owner is dead.
pub(super) fn is_orphan(name: &str) -> bool {
    let owner = name.strip_prefix("proofload-").and_then(|rest| {
        let mut parts = rest.split('-');
        Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
    });
    owner.is_some_and(|(process, start)| sys::start_time(process) != Some(start) || !sys::is_running(process))
}

impl CgroupDir {
    /// Makes an empty group of this process: below its own group, or below the nearest parent that lets it.
    pub(super) fn create(hierarchy: &Hierarchy, wanted: CgroupRequest<'_>) -> Result<Self, Error> {
        let mut reasons = Vec::new();
        for parent in hierarchy.upwards(&hierarchy.own) {
            match make_below(parent, wanted, hierarchy.version) {
                Ok(folder) => return Ok(Self { hierarchy: hierarchy.clone(), folder }),
                Err(error) => reasons.push(error.to_string()),
            }
        }
        let purpose: Vec<&str> = wanted.required.iter().map(|controller| controller.word()).collect();
        let above = match reasons.len() {
            0 | 1 => String::new(),
            many => format!(" and in {} above it", many - 1),
        };
        let nearest = reasons.into_iter().next().unwrap_or_else(|| "there is no folder to try".to_owned());
        Err(Error::new(format!("no control group for the {} limit: {nearest}{above}", purpose.join(" and "))))
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

    /// Whether it has the files of a controller.
    pub(super) fn controls(&self, controller: Controller) -> bool {
        self.hierarchy.controllers.contains(&controller) && self.has(controller.file(self.version()))
    }

    pub(crate) fn has(&self, file: &str) -> bool {
        self.folder.join(file).exists()
    }

    pub(crate) fn read(&self, file: &str) -> Result<String, Error> {
        let path = self.folder.join(file);
        let text = std::fs::read_to_string(&path);
        text.map(|text| text.trim().to_owned())
            .map_err(|error| Error::new(format!("failed to read {}: {error}", path.display())))
    }

    /// Where a fact was read, without the path: that bears numbers of processes and differs in every run.
    pub(crate) fn source(&self, file: &str) -> String {
        format!("{file} of the control group ({})", self.version().word())
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
            .map_err(|error| Error::new(format!("failed to open {}: {error}", path.display())))
    }

    /// Moves a process with all its threads into the group.
    pub(crate) fn admit(&self, process: u32) -> Result<(), Error> {
        self.write("cgroup.procs", &process.to_string())
            .map_err(|error| error.context(format!("failed to limit process {process}")))
    }

    /// Processes in the group and in those below.
    pub(crate) fn members(&self) -> Vec<u32> {
        // Version 2 lists processes of groups of threads above them.
        let of = |dir: &Self| dir.numbers("cgroup.procs");
        let all: BTreeSet<u32> = self.below().iter().chain([self]).flat_map(of).collect();
        all.into_iter().collect()
    }

    fn numbers(&self, file: &str) -> Vec<u32> {
        self.read(file).unwrap_or_default().lines().filter_map(|line| line.parse().ok()).collect()
    }

    /// Groups right below this one: those of single threads.
    pub(super) fn below(&self) -> Vec<Self> {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        folders.map(|entry| Self::existing(self.hierarchy.clone(), entry.path())).collect()
    }

    /// Makes a group below for single threads of members, with the CPU controller alone: for all others they stay where they are.
    pub(super) fn make_for_threads(&self, name: &str) -> Result<Self, Error> {
        let made = Self::existing(self.hierarchy.clone(), self.folder.join(name));
        match std::fs::create_dir(&made.folder) {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                return Err(Error::new(format!("failed to create {}: {error}", made.folder.display())));
            }
            _ => {}
        }
        if self.version() == Version::Two {
            // Source: cgroup-v2.rst, "Threads": a domain with members may hand down the CPU controller to groups of threads.
            made.write("cgroup.type", "threaded")?;
            self.write("cgroup.subtree_control", "+cpu")?;
        }
        Ok(made)
    }

    const fn threads_file(&self) -> &'static str {
        match self.version() {
            Version::One => "tasks",
            Version::Two => "cgroup.threads",
        }
    }

    /// Moves a thread into a group of threads.
    pub(super) fn admit_thread(&self, thread: u32) -> Result<(), Error> {
        self.write(self.threads_file(), &thread.to_string())
    }

    /// Threads in the group.
    pub(super) fn threads(&self) -> Vec<u32> {
        self.numbers(self.threads_file())
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

    /// Removes the group and those below; false while one has members.
    pub(crate) fn remove(&self) -> bool {
        if !self.below().iter().all(Self::remove) {
            return false;
        }
        match std::fs::remove_dir(&self.folder) {
            Ok(()) => true,
            Err(error) => error.kind() == std::io::ErrorKind::NotFound,
        }
    }
}

/// Tries until it works, or the patience is over.
pub(super) fn within(patience: Duration, mut works: impl FnMut() -> bool) -> bool {
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
    std::fs::write(path, value)
        .map_err(|error| Error::new(format!("failed to write {value} to {}: {error}", path.display())))
}

/// Makes a group below `parent` that has the controllers that are required.
fn make_below(parent: &Path, wanted: CgroupRequest<'_>, version: Version) -> Result<PathBuf, Error> {
    if version == Version::Two {
        hand_down(parent, wanted)?;
    }
    let folder = parent.join(wanted.name);
    match std::fs::create_dir(&folder) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
            return Err(Error::new(format!("{error} in {}", parent.display())));
        }
        _ => {}
    }
    let files = wanted.required.iter().map(|controller| controller.file(version));
    let Some(missing) = files.into_iter().find(|file| !folder.join(file).exists()) else { return Ok(folder) };
    let _empty = std::fs::remove_dir(&folder);
    Err(Error::new(format!("{} has no {missing}", folder.display())))
}

/// Version 2: lets the groups below `parent` have the controllers.
fn hand_down(parent: &Path, wanted: CgroupRequest<'_>) -> Result<(), Error> {
    let control = parent.join("cgroup.subtree_control");
    let text = std::fs::read_to_string(&control).unwrap_or_default();
    let is_there = |name: &str| text.split_ascii_whitespace().any(|controller| controller == name);
    let names = |controllers: &[Controller]| -> Vec<&'static str> {
        let names = controllers.iter().filter_map(|controller| controller.name(Version::Two));
        names.filter(|name| !is_there(name)).collect()
    };
    for name in names(wanted.required) {
        write(&control, &format!("+{name}"))?;
    }
    for name in names(wanted.welcome) {
        let _as_far_as_it_goes = write(&control, &format!("+{name}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::Controller::{CpuAccounting, Io, Memory};
    use super::*;

    #[test]
    fn only_names_of_dead_owners_are_orphans() {
        let me = std::process::id();
        assert!(!is_orphan(&name_of_group(me, "primary")));
        assert!(is_orphan(&format!("proofload-{me}-1")), "a later process of the same number");
        assert!(is_orphan("proofload-4194304000-7") && is_orphan("proofload-4194304000-7-standby_1"));
        assert!(is_orphan("proofload-4194304000-7-clients"), "that of a load generator, too");
        for foreign in ["proofload", "proofload-", "proofload-x-1", "proofload-1", "user.slice"] {
            assert!(!is_orphan(foreign), "{foreign}");
        }
    }

    /// A folder that looks like a group of version 2 whose groups below may have what its control file says.
    fn parent(folder: &Path, files: &[&str]) -> PathBuf {
        std::fs::write(folder.join("cgroup.subtree_control"), "").unwrap();
        let group = folder.join("proofload-1-2");
        std::fs::create_dir(&group).unwrap();
        for file in files {
            std::fs::write(group.join(file), "").unwrap();
        }
        group
    }

    #[test]
    fn version_two_hands_down_what_is_required_and_then_what_is_welcome() {
        let folder = tempfile::tempdir().unwrap();
        let group = parent(folder.path(), &["memory.max", "cpu.stat"]);
        let wanted = CgroupRequest { name: "proofload-1-2", required: &[Memory], welcome: &[CpuAccounting] };
        assert_eq!(make_below(folder.path(), wanted, Version::Two).unwrap(), group);
        let control = || std::fs::read_to_string(folder.path().join("cgroup.subtree_control")).unwrap();
        assert_eq!(control(), "+memory", "CPU time is counted in every group");
        let wanted = CgroupRequest { required: &[Io], ..wanted };
        let error = make_below(folder.path(), wanted, Version::Two).unwrap_err().to_string();
        assert!(error.ends_with("has no io.max"), "{error}");
        assert_eq!(control(), "+io");
    }
}
