//! Use of the host's processor by others: CPU time of processes that belong neither to the instance nor to Proofload, the largest of
//! them by name, and how long the load generator's threads wait for a core. Only where the instance is a process that we started. An embedded
//! engine's load generator is in the instance's group: how long it waits is not told, since the group's quota makes it wait as well.

use super::probe::{OpenedProbe, Probe, Subject, read_file};
use super::rates::Rates;
use super::scheduled::ScheduledTimes;
use super::visible::KernelView;
use crate::limits::{CgroupDir, Controller, cpu_time};
use proofload_model::error::Error;
use proofload_model::samples::Reading;
use proofload_model::series::foreign;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::time::Duration;

/// `/proc/stat` and `/proc/<pid>/stat` count in hundredths of a second (`USER_HZ`).
const TICKS_PER_SECOND: f64 = 100.0;

/// Foreign processes that are named each second, largest first.
const NAMED: usize = 3;

/// Share of a core below which nobody is named.
const LEAST: f64 = 0.01;

/// Most processes that are read each second: a reading costs some 10 µs each. With more, all are read less often.
const READ_AT_ONCE: usize = 500;

/// What kernel threads are called together.
const KERNEL: &str = "kernel threads";

/// Parent of all kernel threads.
const KTHREADD: u32 = 2;

struct Foreign {
    /// Root of the processes of the instance.
    instance: u32,
    /// Roots of the processes of other instances of ours on this host.
    beside: Vec<u32>,
    /// Processes of those other instances.
    theirs: BTreeSet<u32>,
    /// Where the kernel counts the instance's CPU time, and its members.
    group: Option<CgroupDir>,
    rates: Rates,
    /// CPU ticks of each process at the last reading of all, by number and start.
    ticks: HashMap<(u32, u64), u64>,
    /// Processes of ours outside the group.
    ours: BTreeSet<u32>,
    of_ours: ScheduledTimes,
    of_theirs: ScheduledTimes,
    /// Whether the load generator is a member of the group.
    is_embedded: bool,
    /// Whether the counters are the host's: those of a container show nothing of others, which is not the same as no others.
    is_told: bool,
    since_all: usize,
    processes: usize,
    waited: Duration,
}

pub(super) fn open(subject: &mut Subject) -> OpenedProbe {
    let Some(instance) = subject.pid else { return Ok(None) };
    Ok(Some(Box::new(watching(subject, instance, KernelView::read().tells_host()))))
}

fn watching(subject: &mut Subject, instance: u32, is_told: bool) -> Foreign {
    let group = subject.group.dir(Controller::CpuAccounting).ok().cloned();
    Foreign {
        instance,
        beside: std::mem::take(&mut subject.beside),
        theirs: BTreeSet::new(),
        group,
        rates: Rates::default(),
        ticks: HashMap::new(),
        ours: BTreeSet::new(),
        of_ours: ScheduledTimes::on(subject.cores.clone()),
        of_theirs: ScheduledTimes::default(),
        is_embedded: false,
        is_told,
        since_all: 0,
        processes: 0,
        waited: Duration::ZERO,
    }
}

impl Probe for Foreign {
    fn read(&mut self, span: Option<Duration>) -> Result<Vec<Reading>, Error> {
        let mut readings = Vec::new();
        self.waited += span.unwrap_or_default();
        self.since_all += 1;
        if span.is_none() || self.since_all > self.processes / READ_AT_ONCE {
            readings.extend(self.read_all());
        }
        let busy = busy_ticks(&read_file("/proc/stat")?) / TICKS_PER_SECOND;
        let group = self.group.as_ref().and_then(|dir| cpu_time(dir).ok()).map_or(0.0, |time| time.total.as_secs_f64());
        let (ours, theirs) = (self.of_ours.read(&self.ours), self.of_theirs.read(&self.theirs));
        self.rates.turn(span);
        let mut rate = |key: &str, total: f64| self.rates.per_second(key, total);
        let (busy, group) = (rate("busy", busy), rate("group", group));
        let (clients, wait) = (rate("clients", ours.cpu), rate("wait", ours.waited));
        let theirs = rate("theirs", theirs.cpu);
        let there = self.of_ours.there().and_then(|total| rate("there", total));
        if let (Some(busy), Some(group), Some(clients), Some(theirs)) = (busy, group, clients, theirs) {
            let others = self.is_told.then(|| (busy - group - clients - theirs).max(0.0));
            readings.extend(others.map(|others| foreign::CPU.reading("", others)));
            readings.push(foreign::CLIENT_CPU.reading("", clients));
            readings.extend(there.map(|there| foreign::CLIENT_CPU_THERE.reading("", there)));
        }
        let wait = wait.filter(|_| !self.is_embedded);
        readings.extend(wait.map(|wait| foreign::CLIENT_WAIT.reading("", wait)));
        Ok(readings)
    }
}

impl Foreign {
    /// Reads every process: finds those of ours, and names the largest of the others.
    fn read_all(&mut self) -> Vec<Reading> {
        let processes = processes();
        let members: BTreeSet<u32> = self.group.iter().flat_map(CgroupDir::members).collect();
        self.is_embedded = is_embedded(&members, self.instance);
        self.theirs = with_descendants(&processes, self.beside.iter().copied().collect());
        let own = own_processes(&processes, self.instance);
        self.ours = own.iter().filter(|pid| !members.contains(pid) && !self.theirs.contains(pid)).copied().collect();
        let (span, first) = (self.waited.as_secs_f64(), self.ticks.is_empty());
        let mut by_name: BTreeMap<&str, f64> = BTreeMap::new();
        for process in processes.iter().filter(|process| !own.contains(&process.pid) && !members.contains(&process.pid))
        {
            let before = self.ticks.get(&(process.pid, process.start)).copied().unwrap_or(0);
            let used = process.ticks.saturating_sub(before) as f64 / TICKS_PER_SECOND;
            *by_name.entry(process.name()).or_default() += used;
        }
        let mut named: Vec<(f64, &str)> = by_name.into_iter().map(|(name, used)| (used / span, name)).collect();
        named.retain(|(rate, _)| !first && *rate >= LEAST);
        named.sort_by(|a, b| b.0.total_cmp(&a.0));
        let readings = named.iter().take(NAMED).map(|(rate, name)| foreign::PROCESS.reading(*name, *rate)).collect();
        self.ticks = processes.iter().map(|process| ((process.pid, process.start), process.ticks)).collect();
        (self.processes, self.since_all, self.waited) = (processes.len(), 0, Duration::ZERO);
        readings
    }
}

/// A process as `/proc/<pid>/stat` shows it.
#[derive(Debug, PartialEq, Eq)]
struct Process {
    pid: u32,
    parent: u32,
    command: String,
    /// CPU time, ticks.
    ticks: u64,
    /// Start, ticks since boot.
    start: u64,
}

impl Process {
    fn name(&self) -> &str {
        if self.parent == KTHREADD || self.pid == KTHREADD { KERNEL } else { &self.command }
    }
}

fn processes() -> Vec<Process> {
    let folders = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = folders.filter_map(|folder| folder.file_name().to_str()?.parse::<u32>().ok());
    pids.filter_map(|pid| process(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)).collect()
}

/// Source: proc_pid_stat(5); fields 4, 14, 15 and 22 after the name in parentheses, which may hold anything.
fn process(stat: &str) -> Option<Process> {
    let (head, rest) = stat.rsplit_once(')')?;
    let (pid, command) = head.split_once('(')?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    let number = |place: usize| fields.get(place)?.parse::<u64>().ok();
    Some(Process {
        pid: pid.trim().parse().ok()?,
        parent: number(1)? as u32,
        command: command.to_owned(),
        ticks: number(11)? + number(12)?,
        start: number(19)?,
    })
}

/// The instance and what descends from it; this program's processes and what descends from the first of them above us.
fn own_processes(processes: &[Process], instance: u32) -> BTreeSet<u32> {
    let me = std::process::id();
    let parents: HashMap<u32, u32> = processes.iter().map(|process| (process.pid, process.parent)).collect();
    let ours = program(me);
    let is_ours = |pid: u32| ours.is_some() && program(pid) == ours;
    let mut top = me;
    while let Some(parent) = parents.get(&top).copied().filter(|parent| is_ours(*parent)) {
        top = parent;
    }
    let command = processes.iter().find(|process| process.pid == me).map(|process| process.command.as_str());
    let alike = processes.iter().filter(|process| Some(process.command.as_str()) == command && is_ours(process.pid));
    let own: BTreeSet<u32> = alike.map(|process| process.pid).chain([me, top, instance]).collect();
    with_descendants(processes, own)
}

/// Whether the process of the instance is one of this program's, in a group of its own.
fn is_embedded(members: &BTreeSet<u32>, instance: u32) -> bool {
    members.contains(&instance) && program(instance).is_some_and(|its| program(std::process::id()) == Some(its))
}

/// Processes with all that descend from them.
fn with_descendants(processes: &[Process], mut roots: BTreeSet<u32>) -> BTreeSet<u32> {
    loop {
        let is_new = |process: &&Process| roots.contains(&process.parent) && !roots.contains(&process.pid);
        let children: Vec<u32> = processes.iter().filter(is_new).map(|process| process.pid).collect();
        if children.is_empty() {
            return roots;
        }
        roots.extend(children);
    }
}

/// The file that a process runs.
fn program(pid: u32) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/{pid}/exe")).ok()
}

/// Ticks of all cores at work since boot, without what the hypervisor took.
fn busy_ticks(stat: &str) -> f64 {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu ")).unwrap_or_default();
    let ticks: Vec<f64> = line.split_ascii_whitespace().map_while(|field| field.parse().ok()).collect();
    [0, 1, 2, 5, 6].iter().filter_map(|place| ticks.get(*place)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};
    use std::time::Instant;

    #[test]
    fn lines_of_the_kernel_are_taken_apart() {
        let expected = Process { pid: 7, parent: 2, command: "a) (b".to_owned(), ticks: 30, start: 99 };
        let stat = "7 (a) (b) S 2 0 0 0 0 0 0 0 0 0 10 20 0 0 20 0 1 0 99 0 0";
        assert_eq!(process(stat), Some(expected));
        assert_eq!(process("7 (short) S 2"), None);
        assert_eq!(busy_ticks("cpu  1 2 3 4 5 6 7 8 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\n"), 19.0);
        assert_eq!(busy_ticks(""), 0.0);
    }

    #[test]
    fn a_load_generator_in_the_group_is_that_of_an_embedded_engine() {
        let me = std::process::id();
        assert!(is_embedded(&BTreeSet::from([me]), me));
        assert!(!is_embedded(&BTreeSet::new(), me), "no group");
        let mut server = Command::new("sleep").arg("60").spawn().unwrap();
        // The child runs our program until it has called that of the server.
        while program(server.id()) == program(me) {
            std::thread::yield_now();
        }
        let is_ours = is_embedded(&BTreeSet::from([me, server.id()]), server.id());
        server.kill().unwrap();
        server.wait().unwrap();
        assert!(!is_ours, "a server");
    }

    fn value(readings: &[Reading], name: &str, component: &str) -> Option<f64> {
        let found = readings.iter().find(|reading| reading.name == name && reading.component == component);
        found.map(|found| found.value)
    }

    /// Whether the stranger is named, and what it uses is counted.
    fn is_seen(readings: &[Reading]) -> bool {
        let used = [("process", "pl-stranger"), ("cpu", "")].map(|(name, component)| value(readings, name, component));
        used.into_iter().all(|rate| rate.is_some_and(|rate| rate > 0.05))
    }

    #[test]
    fn counters_of_a_container_do_not_say_that_there_are_no_others() {
        let me = std::process::id();
        let told = |is_told: bool| {
            let mut probe = watching(&mut Subject { pid: Some(me), ..Subject::default() }, me, is_told);
            probe.read(None).unwrap();
            let readings = probe.read(Some(Duration::from_secs(1))).unwrap();
            ["cpu", "client_cpu"].map(|name| value(&readings, name, "").is_some())
        };
        assert_eq!([told(true), told(false)], [[true, true], [false, true]]);
    }

    /// A shell whose child we are not: `setsid` forks, and its child is adopted by another process.
    #[test]
    fn a_busy_stranger_is_named_and_our_own_work_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let stranger = folder.path().join("pl-stranger");
        std::fs::copy("/bin/sh", &stranger).unwrap();
        let script = format!("setsid {} -c 'while :; do :; done' & echo started", stranger.display());
        let started = Command::new("/bin/sh").args(["-c", &script]).stdout(Stdio::null()).status().unwrap();
        assert!(started.success());
        let mut probe = open(&mut Subject { pid: Some(std::process::id()), ..Subject::default() }).unwrap().unwrap();
        probe.read(None).unwrap();
        let (mut before, mut readings) = (Instant::now(), Ok(Vec::new()));
        // Others may have the processor for a while.
        for _ in 0..10 {
            std::thread::sleep(Duration::from_millis(1_500));
            let span = before.elapsed();
            before = Instant::now();
            readings = probe.read(Some(span));
            if readings.as_ref().is_ok_and(|readings| is_seen(readings)) {
                break;
            }
        }
        let found = processes();
        for process in found.iter().filter(|process| process.command == "pl-stranger") {
            let _ended = Command::new("kill").args(["-9", &process.pid.to_string()]).status();
        }
        let readings = readings.unwrap();
        assert!(is_seen(&readings), "{readings:?}");
        assert!(value(&readings, "client_wait", "").is_some(), "{readings:?}");
    }
}
