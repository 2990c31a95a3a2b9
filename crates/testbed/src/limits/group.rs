//! A control group of ours: in version 2 one folder, in version 1 one in each tree that is needed. All are made, entered, left and removed
//! together. May not know what is limited.

use super::branch::{Branch, Wanted, name_of_owner, within};
use super::hierarchy::{Controller, Hierarchy};
use crate::sys;
use proofload_model::error::Error;
use std::collections::BTreeSet;
use std::fs::File;
use std::time::Duration;

/// How long a killed process may take to leave its group: it first ends the system call that it is in.
const LEAVING: Duration = Duration::from_secs(10);

/// Made also when nothing asks for them, so that use is counted and nothing of an instance gets away.
const ALWAYS: &[Controller] = &[Controller::Memory, Controller::Io, Controller::CpuAccounting];

/// A control group that this process made. Empty where the kernel or our rights allow none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Group {
    branches: Vec<Branch>,
    /// Why there is no folder for a controller.
    missing: Vec<(Controller, String)>,
}

impl Group {
    /// Makes an empty group of this process with as many controllers as can be had. `required`: those for which limits were asked; a
    /// tree is first tried for these alone.
    pub(crate) fn create(required: &[Controller]) -> Self {
        Self::create_named(&name_of_owner(std::process::id()), ALWAYS, required)
    }

    /// Makes another empty group of this process, to try what is allowed.
    pub(super) fn create_trial(required: &[Controller]) -> Self {
        Self::create_named(&format!("{}-trial", name_of_owner(std::process::id())), &[], required)
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
            match Branch::create(&hierarchy, Wanted { name, required: &asked, welcome: &others }) {
                Ok(branch) => group.branches.push(branch),
                Err(error) => group.missing.extend(here.iter().map(|controller| (*controller, error.to_string()))),
            }
        }
        group
    }

    /// The folder with a controller.
    ///
    /// # Errors
    /// Why there is none.
    pub(crate) fn branch(&self, controller: Controller) -> Result<&Branch, Error> {
        let found = self.branches.iter().find(|branch| branch.controls(controller));
        found.ok_or_else(|| {
            let known = self.missing.iter().find(|(missing, _)| *missing == controller);
            Error::new(known.map_or_else(
                || format!("no mounted control group has the {} controller, or the group is gone", controller.word()),
                |(_, why)| why.clone(),
            ))
        })
    }

    /// Folders of the group, one in each tree.
    pub(crate) fn branches(&self) -> &[Branch] {
        &self.branches
    }

    /// The lists of processes, open for entering them.
    pub(crate) fn entrances(&self) -> Result<Vec<File>, Error> {
        self.branches.iter().map(Branch::entrance).collect()
    }

    /// Moves a process with all its threads into the group.
    pub(crate) fn admit(&self, process: u32) -> Result<(), Error> {
        self.branches.iter().try_for_each(|branch| branch.admit(process))
    }

    /// Kills all members but `spared`, also those that are born meanwhile, and waits until they are gone.
    pub(crate) fn kill_members(&self, spared: &[u32]) -> bool {
        within(LEAVING, || {
            let members: BTreeSet<u32> = self.branches.iter().flat_map(Branch::members).collect();
            let doomed: Vec<u32> = members.into_iter().filter(|member| !spared.contains(member)).collect();
            for process in &doomed {
                sys::signal(*process, 9);
            }
            doomed.is_empty()
        })
    }

    /// Removes the group although processes run in it; see [`Branch::dissolve`]. False if any of it will not go.
    pub(crate) fn dissolve(&self) -> bool {
        let gone: Vec<bool> = self.branches.iter().map(Branch::dissolve).collect();
        gone.into_iter().all(|gone| gone)
    }

    /// Removes what of the group has no members; true when nothing is left.
    pub(crate) fn remove(&mut self) -> bool {
        self.branches.retain(|branch| !branch.remove());
        self.branches.is_empty()
    }
}

impl From<Branch> for Group {
    fn from(branch: Branch) -> Self {
        Self { branches: vec![branch], missing: Vec::new() }
    }
}
