//! CPU time of every thread of the database, from `schedstat`, so that one busy thread is not hidden by a mean. Percent of one core.

use super::probe::{OpenedProbe, Probe, Subject};
use super::scheduled::{TimesOfThreads, threads_of};
use crate::sys::{ThreadRoles, name_of_thread, without_number};
use proofload_model::error::Error;
use proofload_model::samples::Reading;
use proofload_model::series::threads;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::PoisonError;
use std::time::Duration;

/// Threads kept each second, busiest first; the rest is summed.
const KEPT: usize = 16;

/// Roles kept each second, busiest first: more than a server has whose threads tell their roles.
const KEPT_ROLES: usize = 24;

/// CPU time of all threads of a role and time in which they waited for it, % of one core.
#[derive(Debug, Default)]
struct RoleTimes {
    percent: f64,
    waited: f64,
    threads: u32,
}

struct Threads {
    root: u32,
    known: TimesOfThreads,
    /// Roles that the server has told of its threads.
    told: ThreadRoles,
}

pub(super) fn open(subject: &mut Subject) -> OpenedProbe {
    let told = ThreadRoles::clone(&subject.thread_roles);
    Ok(subject.pid.map(|root| Box::new(Threads { root, known: TimesOfThreads::new(), told }) as Box<dyn Probe>))
}

impl Probe for Threads {
    fn read(&mut self, span: Option<Duration>) -> Result<Vec<Reading>, Error> {
        let mut busy: Vec<(f64, String)> = Vec::new();
        let mut roles: BTreeMap<String, RoleTimes> = BTreeMap::new();
        let told = self.told.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let now = threads_of(&tree(self.root), &self.known);
        let known = std::mem::replace(&mut self.known, now);
        let seconds = span.unwrap_or_default().as_secs_f64();
        for ((process, thread), times) in self.known.iter().filter(|_| seconds > 0.0) {
            let before = known.get(&(*process, *thread)).filter(|before| before.cpu <= times.cpu);
            let Some(before) = before else { continue };
            let percent = (times.cpu - before.cpu) / seconds * 100.0;
            let name = told.get(thread).cloned().unwrap_or_else(|| name_of_thread(*process, *thread));
            let of_role = roles.entry(without_number(&name).to_owned()).or_default();
            of_role.percent += percent;
            of_role.waited += (times.waited - before.waited).max(0.0) / seconds * 100.0;
            of_role.threads += 1;
            busy.push((percent, format!("{thread}:{name}")));
        }
        busy.sort_by(|a, b| b.0.total_cmp(&a.0));
        let total: f64 = busy.iter().map(|(percent, _)| percent).sum();
        let mut readings: Vec<Reading> = busy
            .iter()
            .take(KEPT)
            .filter(|(percent, _)| *percent >= 0.1)
            .map(|(percent, name)| threads::CPU.reading(name.as_str(), *percent))
            .collect();
        let mut roles: Vec<_> = roles.into_iter().collect();
        roles.sort_by(|(_, a), (_, b)| b.percent.total_cmp(&a.percent));
        for (role, times) in roles.into_iter().take(KEPT_ROLES) {
            readings.push(threads::ROLE.reading(role.as_str(), times.percent));
            readings.push(threads::ROLE_WAIT.reading(role.as_str(), times.waited));
            readings.push(threads::ROLE_THREADS.reading(role, f64::from(times.threads)));
        }
        if !busy.is_empty() {
            readings.push(threads::CPU_SUM.reading("", total));
        }
        Ok(readings)
    }
}

/// A process and all that descend from it.
fn tree(root: u32) -> BTreeSet<u32> {
    let mut parents: BTreeMap<u32, u32> = BTreeMap::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        if let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok())
            && let Some(parent) = parent_of(pid)
        {
            parents.insert(pid, parent);
        }
    }
    let mut found = BTreeSet::from([root]);
    loop {
        let more: Vec<u32> = parents
            .iter()
            .filter(|(pid, parent)| found.contains(parent) && !found.contains(pid))
            .map(|(pid, _)| *pid)
            .collect();
        if more.is_empty() {
            return found;
        }
        found.extend(more);
    }
}

fn parent_of(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::super::scheduled::Times;
    use super::*;

    #[test]
    fn the_busy_thread_of_this_process_is_found() {
        let me = std::fs::read_link("/proc/thread-self").unwrap();
        let me: u32 = me.file_name().unwrap().to_str().unwrap().parse().unwrap();
        let known = TimesOfThreads::from([((std::process::id(), me), Times::default())]);
        let used = || {
            let text = std::fs::read_to_string(format!("/proc/self/task/{me}/schedstat")).unwrap();
            text.split(' ').next().unwrap().parse::<u64>().unwrap()
        };
        let told = ThreadRoles::default();
        told.lock().unwrap().insert(me, "told".to_owned());
        let mut probe = Threads { root: std::process::id(), known, told };
        let (begun, before) = (std::time::Instant::now(), used());
        probe.read(None).unwrap();
        // However long others keep it from its core.
        while used() - before < 100_000_000 {
            std::hint::black_box(before);
        }
        let span = begun.elapsed();
        let readings = probe.read(Some(span)).unwrap();
        let own =
            readings.iter().find(|reading| reading.name == "cpu" && reading.component.starts_with(&format!("{me}:")));
        let seconds = own.unwrap_or_else(|| panic!("{readings:?}")).value / 100.0 * span.as_secs_f64();
        assert!((0.05..1.0).contains(&seconds), "{seconds} s of CPU: {readings:?}");
        assert!(own.is_some_and(|own| own.component.ends_with(":told")), "a server's own word goes first");
        assert!(readings.iter().any(|reading| reading.name == "role" && reading.component == "told"));
        assert!(readings.iter().any(|reading| reading.name == "cpu_sum"));
    }
}
