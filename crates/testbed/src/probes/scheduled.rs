//! CPU time of processes and how long their threads waited for a core, added up as it grows: a thread that ends takes nothing back.

use std::collections::{BTreeSet, HashMap};

/// Times of a changing set of processes.
#[derive(Debug, Default)]
pub(super) struct ScheduledTimes {
    known: HashMap<(u32, u32), Times>,
    processes: BTreeSet<u32>,
    total: Times,
}

/// CPU time and time of waiting for a core, s.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Times {
    pub(super) cpu: f64,
    pub(super) waited: f64,
}

impl ScheduledTimes {
    /// Reads the threads of these processes; gives what they have used and waited since the first reading. What a process did before it
    /// was one of them does not count, what a new thread of one did does.
    pub(super) fn read(&mut self, processes: &BTreeSet<u32>) -> Times {
        let mut now = HashMap::new();
        for pid in processes {
            let is_new = !self.processes.contains(pid);
            for (thread, times) in threads_of(*pid) {
                let before = self.known.get(&(*pid, thread)).copied();
                let before = before.unwrap_or(if is_new { times } else { Times::default() });
                self.total.cpu += (times.cpu - before.cpu).max(0.0);
                self.total.waited += (times.waited - before.waited).max(0.0);
                now.insert((*pid, thread), times);
            }
        }
        (self.known, self.processes) = (now, processes.clone());
        self.total
    }
}

/// Times of all threads of a process. Source: Documentation/scheduler/sched-stats.rst.
fn threads_of(pid: u32) -> Vec<(u32, Times)> {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let times = tasks.filter_map(|task| {
        let thread = task.file_name().to_str()?.parse().ok()?;
        let text = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
        let mut numbers = text.split_ascii_whitespace().map_while(|field| field.parse::<f64>().ok());
        Some((thread, Times { cpu: numbers.next()? / 1e9, waited: numbers.next()? / 1e9 }))
    });
    times.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_ends_takes_nothing_back() {
        let ours = BTreeSet::from([std::process::id()]);
        let mut times = ScheduledTimes::default();
        assert_eq!(times.read(&ours), Times::default(), "what was before does not count");
        let busy = std::thread::spawn(|| {
            let mut sum = 0_u64;
            for number in 0..50_000_000_u64 {
                sum = std::hint::black_box(sum.wrapping_add(number));
            }
            sum
        });
        while times.read(&ours).cpu < 0.02 {
            std::thread::yield_now();
        }
        busy.join().unwrap();
        let before = times.read(&ours);
        let after = times.read(&ours);
        assert!(after.cpu >= before.cpu && after.waited >= before.waited, "{before:?}, then {after:?}");
        assert_eq!(times.read(&BTreeSet::new()), after, "nor does a process");
    }
}
