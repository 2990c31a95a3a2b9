//! A control group for the threads of one role below that of their instance: threads enter it when they are found, also when they are born
//! anew. May not know what a role does.

use super::cgroup_dir::CgroupDir;
use crate::sys::{self, ThreadRoles};
use proofload_model::error::Error;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Name of the group below that of the instance.
const NAME: &str = "thread";

/// Time between two looks for threads of the role.
const BETWEEN: Duration = Duration::from_millis(500);

/// Threads of an instance, by whether they have the role.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct RoleThreads {
    /// Number of those with the role that are in the group.
    pub(super) inside: usize,
    /// Number of those with the role that could not be moved.
    pub(super) outside: usize,
    /// Roles that other threads have, without the names that a whole program has.
    pub(super) others: BTreeSet<String>,
}

/// CPU time of a thread when it entered and when it was looked at last, ns.
#[derive(Debug, Clone, Copy)]
struct ThreadTime {
    entered: u64,
    last: u64,
}

#[derive(Debug)]
struct RoleFollower {
    role: String,
    instance: CgroupDir,
    group: CgroupDir,
    told: ThreadRoles,
    times: Mutex<BTreeMap<u32, ThreadTime>>,
}

/// The group of a role, and who follows its threads. Dropping it ends the following; the group goes with that of the instance.
#[derive(Debug)]
pub(crate) struct RoleGroup {
    follower: Arc<RoleFollower>,
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl RoleGroup {
    /// Makes the group below that of an instance, and has threads of a role enter it from now on.
    ///
    /// # Errors
    /// The kernel gives no such group, or no thread to follow.
    pub(super) fn make(instance: &CgroupDir, role: &str, told: ThreadRoles) -> Result<Self, Error> {
        let group = instance.make_for_threads(NAME)?;
        let (role, instance) = (role.to_owned(), instance.clone());
        let follower = Arc::new(RoleFollower { role, instance, group, told, times: Mutex::default() });
        let (end, ended) = channel();
        let follow = {
            let follower = Arc::clone(&follower);
            move || {
                while ended.recv_timeout(BETWEEN) == Err(RecvTimeoutError::Timeout) {
                    follower.look();
                }
            }
        };
        let thread = std::thread::Builder::new().name("follows-a-role".to_owned()).spawn(follow);
        let thread = thread.map_err(|error| Error::new(format!("failed to start a thread: {error}")))?;
        Ok(Self { follower, end: Some(end), thread: Some(thread) })
    }

    /// Folder of the group.
    pub(super) fn dir(&self) -> &CgroupDir {
        &self.follower.group
    }

    /// Looks for threads of the role now.
    pub(super) fn look(&self) -> RoleThreads {
        self.follower.look()
    }

    /// CPU time that threads used in the group, s.
    pub(super) fn used(&self) -> f64 {
        self.follower.used()
    }
}

impl Drop for RoleGroup {
    fn drop(&mut self) {
        self.end = None;
        if let Some(thread) = self.thread.take() {
            let _ended = thread.join();
        }
    }
}

impl RoleFollower {
    fn look(&self) -> RoleThreads {
        let told = self.told.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut found = RoleThreads::default();
        let inside: BTreeSet<u32> = self.group.threads().into_iter().collect();
        for process in self.instance.members() {
            let program = sys::name_of_program(process);
            for thread in sys::threads(process) {
                let role = sys::role_of_thread(process, thread, &told);
                if role != self.role {
                    if role != program {
                        found.others.insert(role);
                    }
                    continue;
                }
                let is_inside = inside.contains(&thread) || self.admit(thread);
                found.inside += usize::from(is_inside);
                // A thread may end between being listed and being moved.
                found.outside += usize::from(!is_inside && sys::start_time(thread).is_some());
            }
        }
        self.used();
        found
    }

    /// Moves a thread into the group, and counts its CPU time from then on.
    fn admit(&self, thread: u32) -> bool {
        let entered = self.group.admit_thread(thread).is_ok();
        if let Some(time) = sys::thread_time(thread).filter(|_| entered) {
            self.times().insert(thread, ThreadTime { entered: time, last: time });
        }
        entered
    }

    fn used(&self) -> f64 {
        let mut times = self.times();
        for (thread, time) in times.iter_mut() {
            // The number of a thread that has ended may be given again: its time would go back.
            time.last = sys::thread_time(*thread).unwrap_or(time.last).max(time.last);
        }
        times.values().map(|time| (time.last - time.entered) as f64 / 1e9).sum()
    }

    fn times(&self) -> std::sync::MutexGuard<'_, BTreeMap<u32, ThreadTime>> {
        self.times.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
