//! What processes used, as the kernel tells it: CPU time of one and of its descendants, memory. It may start and stop
//! nothing.

/// Ticks of the kernel's CPU times per second, `USER_HZ`, the same on every Linux that Rust's standard library runs on.
const TICKS: f64 = 100.0;

/// CPU time of a process, ticks.
struct Process {
    parent: u32,
    own: u64,
    /// CPU time of the children that it has waited for, and of theirs.
    of_ended_children: u64,
}

/// Reads `/proc/<pid>/stat`; `None` when there is no such process. Source: proc(5).
fn process(pid: u32) -> Option<Process> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name stands in brackets and may hold anything.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let number = |place: usize| fields.get(place)?.parse::<u64>().ok();
    Some(Process {
        parent: u32::try_from(number(1)?).ok()?,
        own: number(11)? + number(12)?,
        of_ended_children: number(13)? + number(14)?,
    })
}

/// A process and all its living descendants.
pub(crate) fn family(first: u32) -> Vec<u32> {
    let pids = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let parents: Vec<(u32, u32)> = pids.filter_map(|pid| Some((pid, process(pid)?.parent))).collect();
    let mut family = vec![first];
    let mut next = 0;
    while let Some(&parent) = family.get(next) {
        family.extend(parents.iter().filter(|(_, of)| *of == parent).map(|(pid, _)| *pid));
        next += 1;
    }
    family
}

/// CPU time of these processes so far, that of their ended children included, s.
pub(crate) fn cpu(family: &[u32]) -> f64 {
    let ticks: u64 =
        family.iter().filter_map(|pid| process(*pid)).map(|found| found.own + found.of_ended_children).sum();
    ticks as f64 / TICKS
}

/// CPU time of all children of ours that have ended and of the children that they had waited for, s. Clients end one
/// after another, the server stays.
pub(crate) fn ended_children() -> f64 {
    process(std::process::id()).map_or(0.0, |own| own.of_ended_children as f64 / TICKS)
}

/// The most memory that each of these processes had resident so far, summed, MB.
pub(crate) fn most_memory(family: &[u32]) -> f64 {
    let most = |pid: &u32| {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        line.split_whitespace().next()?.parse::<f64>().ok()
    };
    family.iter().filter_map(most).sum::<f64>() * 1024.0 / 1e6
}
