//! Resources to free when the conductor vanishes while a request hangs; shared with the thread that frees them.

use super::sweep::kill_managed;
use crate::instances;
use crate::limits::{Cgroup, lift_stalls};
use crate::preconditioning;
use crate::sys;
use proofload_model::deployment::InstanceName;
use proofload_model::time::Clock;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Resources of all instances of one host role.
#[derive(Debug, Default)]
pub(crate) struct Remains {
    abandoned: AtomicBool,
    instances: Mutex<BTreeMap<InstanceName, Arc<InstanceRemains>>>,
}

impl Remains {
    /// Resources of one instance.
    pub(crate) fn of(&self, instance: &InstanceName) -> Arc<InstanceRemains> {
        let mut instances = lock(&self.instances);
        let remains = Arc::clone(instances.entry(instance.clone()).or_default());
        if self.abandoned.load(Ordering::Acquire) {
            remains.abandoned.store(true, Ordering::Release);
        }
        remains
    }

    /// Frees all instances.
    pub(crate) fn abandon(&self, clock: &dyn Clock) {
        self.abandoned.store(true, Ordering::Release);
        let instances: Vec<_> = lock(&self.instances).values().cloned().collect();
        instances.iter().for_each(|instance| instance.abandoned.store(true, Ordering::Release));
        instances.iter().for_each(|instance| instance.abandon(clock));
    }
}

/// Running server, control group and preconditioning of one instance.
#[derive(Debug, Default)]
pub(crate) struct InstanceRemains {
    abandoned: AtomicBool,
    resources: Mutex<Resources>,
}

#[derive(Debug, Default)]
struct Resources {
    server: Option<u32>,
    /// Data folder of the server that a manager runs.
    served: Option<PathBuf>,
    /// Data folder of the server that was started last.
    data: Option<PathBuf>,
    group: Option<Cgroup>,
    foreign_pids: Vec<u32>,
    preconditioned: Option<PathBuf>,
}

impl InstanceRemains {
    /// Notes the server's process; `None` when it does not run any more.
    pub(crate) fn set_server(&self, process: Option<u32>) {
        lock(&self.resources).server = process;
    }

    /// Notes the data folder of a server that is no child of ours; `None` when it does not run any more.
    pub(crate) fn set_served(&self, data: Option<PathBuf>) {
        lock(&self.resources).served = data;
    }

    /// Notes the data folder of a server that is started.
    pub(crate) fn set_data(&self, data: PathBuf) {
        lock(&self.resources).data = Some(data);
    }

    /// Data folder of the server that was started last.
    pub(crate) fn data(&self) -> Option<PathBuf> {
        lock(&self.resources).data.clone()
    }

    /// Notes the empty group of the limits; `None` when it is gone.
    pub(crate) fn set_group(&self, group: Option<Cgroup>) {
        let mut resources = lock(&self.resources);
        resources.group = group;
        resources.foreign_pids.clear();
    }

    /// Notes a process that joined the limits and is no child of ours: it is not killed.
    pub(crate) fn add_foreign_pid(&self, process: u32) {
        lock(&self.resources).foreign_pids.push(process);
    }

    /// Notes the folder in which preconditioning is under way; `None` when it has ended.
    pub(crate) fn set_preconditioned(&self, folder: Option<&Path>) {
        lock(&self.resources).preconditioned = folder.map(Path::to_owned);
    }

    /// Tells long waits whether the conductor has gone.
    pub(crate) fn is_abandoned(&self) -> bool {
        self.abandoned.load(Ordering::Acquire)
    }

    /// Kills the server with all its processes and preconditioning with its files, frees others from the limits, removes
    /// the group and frees what the kernel holds of the server.
    fn abandon(&self, clock: &dyn Clock) {
        let resources = std::mem::take(&mut *lock(&self.resources));
        // Killed before what a drill has halted goes on, and again for those born meanwhile.
        for _ in 0..2 {
            for process in resources.server.into_iter().flat_map(sys::descendants) {
                sys::signal(process, 9);
            }
            resources.group.iter().for_each(lift_stalls);
        }
        if let Some(data) = resources.served {
            kill_managed(&data);
        }
        if let Some(folder) = resources.preconditioned {
            preconditioning::abandon(&folder);
        }
        if let Some(group) = resources.group {
            // Also children that were born between the look and the signal.
            group.kill_members(&resources.foreign_pids);
            group.dissolve();
        }
        if let Some(data) = resources.data {
            let _as_far_as_it_goes = instances::free_after_kill(&data, clock);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
