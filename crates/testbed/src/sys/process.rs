//! Signals and what `/proc` says of processes. May not decide whom to signal.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal};
use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A process number as the kernel takes it; `None` for 0 and for numbers that no process has.
fn pid(number: u32) -> Option<Pid> {
    i32::try_from(number).ok().and_then(Pid::from_raw)
}

/// Sends a signal to one process; false when there is none such any more, it is not ours, or the number is no signal.
pub(crate) fn signal(process: u32, number: i32) -> bool {
    let Some(signal) = Signal::from_named_raw(number) else { return false };
    pid(process).is_some_and(|process| rustix::process::kill_process(process, signal).is_ok())
}

/// Kills a process group at once; false when there is none such any more, or it is not ours.
pub(crate) fn kill_group(leader: u32) -> bool {
    pid(leader).is_some_and(|group| rustix::process::kill_process_group(group, Signal::KILL).is_ok())
}

/// Whether there is a process of this number that has not ended. One that ended and was not waited for yet does not
/// run; one whose first thread alone has ended does, as where others wait for a slow device after a kill.
pub(crate) fn is_running(process: u32) -> bool {
    fields(process).is_some_and(|fields| match fields.first().map(String::as_str) {
        Some("Z") => threads(process).len() > 1,
        state => state != Some("X"),
    })
}

/// Whether a process stands still since it was told to stop.
pub(crate) fn is_stopped(process: u32) -> bool {
    fields(process).is_some_and(|fields| fields.first().map(String::as_str) == Some("T"))
}

/// Whether the process at the other end of a stream has closed it, also while bytes of it wait to be read.
pub(crate) fn peer_has_closed(stream: &impl AsFd) -> bool {
    let mut asked = [PollFd::new(stream, PollFlags::RDHUP)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    let answered = poll(&mut asked, Some(&now)).is_ok_and(|count| count > 0);
    answered && asked[0].revents().intersects(PollFlags::RDHUP | PollFlags::HUP | PollFlags::ERR)
}

/// Whether we are the super-user.
pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// When a process started, clock ticks since boot; tells a process from a later one of the same number.
pub(crate) fn start_time(process: u32) -> Option<u64> {
    fields(process)?.get(19)?.parse().ok()
}

/// CPU time of a process and of its children that have ended and were waited for. Source: proc_pid_stat(5), fields 14 to 17, which
/// count in clock ticks.
pub(crate) fn cpu_time(process: u32) -> Option<Duration> {
    let ticks: u64 = fields(process)?.get(11..15)?.iter().map(|field| field.parse().unwrap_or(0)).sum();
    Some(Duration::from_secs_f64(ticks as f64 / rustix::param::clock_ticks_per_second().max(1) as f64))
}

/// The folder that a process works in. Where its first thread alone has ended, that of another one: the kernel does not tell it for the process.
pub(crate) fn folder_of(process: u32) -> Option<PathBuf> {
    let folder = |of: &str| std::fs::read_link(format!("/proc/{of}/cwd")).ok();
    let of_thread = |thread: u32| folder(&format!("{process}/task/{thread}"));
    folder(&process.to_string()).or_else(|| threads(process).into_iter().find_map(of_thread))
}

/// Processes that work in a folder or below it and have not ended.
pub(crate) fn working_below(folder: &Path) -> Vec<u32> {
    let Ok(folder) = std::fs::canonicalize(folder) else { return Vec::new() };
    let works_there = |process: &u32| folder_of(*process).is_some_and(|works_in| works_in.starts_with(&folder));
    numbers("/proc").into_iter().filter(works_there).filter(|process| is_running(*process)).collect()
}

/// Numbers of a process's threads.
pub(crate) fn threads(process: u32) -> Vec<u32> {
    numbers(&format!("/proc/{process}/task"))
}

/// A process and all that descend from it and live.
pub(crate) fn descendants(root: u32) -> Vec<u32> {
    let parents: BTreeMap<u32, u32> = numbers("/proc")
        .into_iter()
        .filter_map(|process| Some((process, fields(process)?.get(1)?.parse().ok()?)))
        .collect();
    let mut found = BTreeSet::from([root]);
    loop {
        let more: Vec<u32> = parents
            .iter()
            .filter(|(child, parent)| found.contains(parent) && !found.contains(child))
            .map(|(child, _)| *child)
            .collect();
        if more.is_empty() {
            return found.into_iter().filter(|process| parents.contains_key(process)).collect();
        }
        found.extend(more);
    }
}

/// The fields of `/proc/<pid>/stat` from the state on, which is field 3 of proc(5): field n stands at n - 3.
fn fields(process: u32) -> Option<Vec<String>> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    Some(stat.rsplit_once(')')?.1.split_ascii_whitespace().map(str::to_owned).collect())
}

fn numbers(folder: &str) -> Vec<u32> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_runs_until_its_last_thread_has_ended() {
        // The first thread ends alone, by its system call: 60, and 93 where that is of the common table.
        let text = "import ctypes, os, threading, time\n\
                    threading.Thread(target=time.sleep, args=(600,)).start()\n\
                    ctypes.CDLL(None).syscall(60 if os.uname().machine == 'x86_64' else 93, 0)\n";
        let folder = tempfile::tempdir().unwrap();
        let mut python = std::process::Command::new("python3");
        let Ok(mut child) = python.args(["-c", text]).current_dir(folder.path()).spawn() else {
            println!("SKIPPED: there is no python3");
            return;
        };
        let begun = std::time::Instant::now();
        while fields(child.id()).is_none_or(|fields| fields.first().map(String::as_str) != Some("Z")) {
            assert!(begun.elapsed().as_secs() < 120, "the first thread lives on");
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(is_running(child.id()), "another thread is left");
        assert_eq!(folder_of(child.id()), std::fs::canonicalize(folder.path()).ok());
        assert_eq!(working_below(folder.path()), [child.id()]);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!is_running(child.id()));
    }

    #[test]
    fn a_process_is_seen_while_it_runs_and_dies_by_a_signal() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        assert!(is_running(child.id()));
        assert!(descendants(std::process::id()).contains(&child.id()));
        assert!(start_time(child.id()) >= start_time(std::process::id()));
        assert!(start_time(child.id()).is_some());
        assert!(!signal(child.id(), 0), "0 is no signal");
        assert!(signal(child.id(), 9));
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&child.wait().unwrap()), Some(9));
        assert!(!is_running(child.id()) && !signal(child.id(), 15) && !signal(0, 15));
    }
}
