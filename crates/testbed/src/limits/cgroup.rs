//! A control group of ours: in version 2 one folder, in version 1 one in each tree that is needed. All are made, entered, left and removed
//! together. May not know what is limited.

use super::cgroup_dir::{CgroupDir, CgroupRequest, name_of_group, within};
use super::hierarchy::{Controller, Hierarchy};
use crate::sys;
use proofload_model::deployment::InstanceName;
use proofload_model::error::Error;
use std::collections::BTreeSet;
use std::fs::File;
use std::time::Duration;

/// How long a killed process may take to leave its group: it first ends the system call that it is in.
const LEAVING: Duration = Duration::from_secs(10);

/// Made also when nothing asks for them, so that use is counted, nothing of an instance gets away, and all of it can be halted.
const ALWAYS: &[Controller] = &[Controller::Memory, Controller::Io, Controller::CpuAccounting, Controller::Freezer];

/// A control group that this process made. Empty where the kernel or our rights allow none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Cgroup {
    dirs: Vec<CgroupDir>,
    /// Why there is no folder for a controller.
    missing: Vec<(Controller, String)>,
}

impl Cgroup {
    /// Makes an empty group for an instance of this process with as many controllers as can be had. `required`: those for which limits
    /// were asked; a tree is first tried for these alone.
    pub(crate) fn create(instance: &InstanceName, required: &[Controller]) -> Self {
        // A name is a study's word; a folder takes no slashes, and a leading `-` is the trial's.
        let purpose = instance.as_str().replace(|letter: char| !letter.is_alphanumeric(), "_");
        Self::create_named(&name_of_group(std::process::id(), &purpose), ALWAYS, required)
    }

    /// Makes another empty group of this process, to try what is allowed.
    pub(super) fn create_trial(required: &[Controller]) -> Self {
        Self::create_named(&name_of_group(std::process::id(), "-trial"), &[], required)
    }

    fn create_named(name: &str, always: &[Controller], required: &[Controller]) -> Self {
        let wanted: BTreeSet<Controller> = always.iter().chain(required).copied().collect();
        let mut group = Self::default();
        for hierarchy in Hierarchy::all() {
            let here: Vec<Controller> =
                hierarchy.controllers.iter().copied().filter(|controller| wanted.contains(controller)).collect();
            if here.is_empty() {
                continue;
            }
            let (asked, others): (Vec<_>, Vec<_>) = here.iter().partition(|controller| required.contains(controller));
            // Without a limit the first one decides: memory, where a tree has it.
            let asked = if asked.is_empty() { here[..1].to_vec() } else { asked };
            match CgroupDir::create(&hierarchy, CgroupRequest { name, required: &asked, welcome: &others }) {
                Ok(dir) => group.dirs.push(dir),
                Err(error) => group.missing.extend(here.iter().map(|controller| (*controller, error.to_string()))),
            }
        }
        group
    }

    /// The folder with a controller.
    ///
    /// # Errors
    /// Why there is none.
    pub(crate) fn dir(&self, controller: Controller) -> Result<&CgroupDir, Error> {
        let found = self.dirs.iter().find(|dir| dir.controls(controller));
        found.ok_or_else(|| {
            let known = self.missing.iter().find(|(missing, _)| *missing == controller);
            Error::new(known.map_or_else(
                || format!("no mounted control group has the {} controller, or the group is gone", controller.word()),
                |(_, why)| why.clone(),
            ))
        })
    }

    /// Folders of the group, one in each tree.
    pub(crate) fn dirs(&self) -> &[CgroupDir] {
        &self.dirs
    }

    /// The lists of processes, open for entering them.
    pub(crate) fn entrances(&self) -> Result<Vec<File>, Error> {
        self.dirs.iter().map(CgroupDir::entrance).collect()
    }

    /// Moves a process with all its threads into the group.
    pub(crate) fn admit(&self, process: u32) -> Result<(), Error> {
        self.dirs.iter().try_for_each(|dir| dir.admit(process))
    }

    /// Kills all members but `spared`, also those that are born meanwhile, and waits until they are gone.
    pub(crate) fn kill_members(&self, spared: &[u32]) -> bool {
        within(LEAVING, || {
            let members: BTreeSet<u32> = self.dirs.iter().flat_map(CgroupDir::members).collect();
            let doomed: Vec<u32> = members.into_iter().filter(|member| !spared.contains(member)).collect();
            for process in &doomed {
                sys::signal(*process, 9);
            }
            doomed.is_empty()
        })
    }

    /// Removes the group although processes run in it; see [`CgroupDir::dissolve`]. False if any of it will not go.
    pub(crate) fn dissolve(&self) -> bool {
        let gone: Vec<bool> = self.dirs.iter().map(CgroupDir::dissolve).collect();
        gone.into_iter().all(|gone| gone)
    }

    /// Removes what of the group has no members; true when nothing is left.
    pub(crate) fn remove(&mut self) -> bool {
        self.dirs.retain(|dir| !dir.remove());
        self.dirs.is_empty()
    }
}

impl From<CgroupDir> for Cgroup {
    fn from(dir: CgroupDir) -> Self {
        Self { dirs: vec![dir], missing: Vec::new() }
    }
}
