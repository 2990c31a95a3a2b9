//! CPU time of threads and how long they waited for a core; of processes, added up as it grows: a thread that ends takes nothing back.

use std::collections::{BTreeSet, HashMap};

/// Times of threads, by process and thread.
pub(super) type TimesOfThreads = HashMap<(u32, u32), Times>;

/// CPU time and time of waiting for a core, s.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Times {
    pub(super) cpu: f64,
    pub(super) waited: f64,
}

/// Times of a changing set of processes.
#[derive(Debug, Default)]
pub(super) struct ScheduledTimes {
    known: TimesOfThreads,
    processes: BTreeSet<u32>,
    total: Times,
    /// Cores whose part of the CPU time is wanted; `None`: nobody asks.
    cores: Option<Vec<usize>>,
    /// CPU time of threads that ran on one of these cores last, s.
    there: f64,
}

impl ScheduledTimes {
    /// Times that also tell how much was used on some of the cores.
    pub(super) fn on(cores: Option<Vec<usize>>) -> Self {
        Self { cores, ..Self::default() }
    }

    /// CPU time since the first reading on the cores that were asked for; `None` where nobody asked. A thread's time of one reading counts where
    /// the thread ran last.
    pub(super) fn there(&self) -> Option<f64> {
        self.cores.as_ref().map(|_| self.there)
    }

    /// Reads the threads of these processes; gives what they have used and waited since the first reading. What a process did before it
    /// was one of them does not count, what a new thread of one did does.
    pub(super) fn read(&mut self, processes: &BTreeSet<u32>) -> Times {
        let now = threads_of(processes, &self.known);
        for ((process, thread), times) in &now {
            let before = self.known.get(&(*process, *thread)).copied();
            let before = before.unwrap_or(match self.processes.contains(process) {
                true => Times::default(),
                false => *times,
            });
            let used = (times.cpu - before.cpu).max(0.0);
            self.total.cpu += used;
            if used > 0.0 && self.cores.as_ref().is_some_and(|cores| ran_on(*process, *thread, cores)) {
                self.there += used;
            }
            self.total.waited += (times.waited - before.waited).max(0.0);
        }
        (self.known, self.processes) = (now, processes.clone());
        self.total
    }
}

/// Reads all threads of processes. The kernel's list of a process's threads ends early when one of them ends while it is read (`next_tid` in
/// fs/proc/base.c), so those known from the reading before are looked up by themselves where the list leaves them out.
pub(super) fn threads_of(processes: &BTreeSet<u32>, known: &TimesOfThreads) -> TimesOfThreads {
    let mut found = TimesOfThreads::new();
    for process in processes {
        let tasks = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
        let threads = tasks.filter_map(|task| task.file_name().to_str()?.parse().ok());
        found.extend(threads.filter_map(|thread| Some(((*process, thread), times_of(*process, thread)?))));
    }
    for (process, thread) in known.keys().filter(|(process, _)| processes.contains(process)) {
        if !found.contains_key(&(*process, *thread)) {
            found.extend(times_of(*process, *thread).map(|times| ((*process, *thread), times)));
        }
    }
    found
}

/// Times of a thread; `None` where it has ended. Source: Documentation/scheduler/sched-stats.rst; a thread of a group that has used up its
/// allowance waits as well.
fn times_of(process: u32, thread: u32) -> Option<Times> {
    let text = std::fs::read_to_string(format!("/proc/{process}/task/{thread}/schedstat")).ok()?;
    let mut numbers = text.split_ascii_whitespace().map_while(|field| field.parse::<f64>().ok());
    Some(Times { cpu: numbers.next()? / 1e9, waited: numbers.next()? / 1e9 })
}

fn ran_on(process: u32, thread: u32, cores: &[usize]) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/task/{thread}/stat"));
    stat.ok().and_then(|stat| last_core(&stat)).is_some_and(|core| cores.contains(&core))
}

/// The core that a thread ran on last. Source: proc_pid_stat(5), field 39, counted from the state behind the name in parentheses as field 3.
fn last_core(stat: &str) -> Option<usize> {
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(36)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

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

    #[test]
    fn cpu_time_counts_on_the_core_that_a_thread_ran_on_last() {
        let fields: Vec<String> = (3..=52).map(|field| field.to_string()).collect();
        assert_eq!(last_core(&format!("7 (a) (b) {}", fields.join(" "))), Some(39));
        assert_eq!(last_core("7 (short) S 2"), None);
        let me = std::process::id();
        let all = crate::sys::allowed_cores(None).unwrap();
        let mut times = [Some(all), Some(Vec::new()), None].map(ScheduledTimes::on);
        let ours = BTreeSet::from([me]);
        for times in &mut times {
            times.read(&ours);
        }
        let mut used = 0.0;
        while used < 0.02 {
            used = times.each_mut().map(|times| times.read(&ours).cpu)[0];
        }
        let [here, nowhere, not_asked] = times.each_ref().map(ScheduledTimes::there);
        assert!(here.is_some_and(|there| there > 0.0), "{here:?}");
        assert_eq!((nowhere, not_asked), (Some(0.0), None));
    }

    #[test]
    fn threads_that_ended_and_those_of_other_processes_are_forgotten() {
        let me = std::process::id();
        let ours = BTreeSet::from([me]);
        // No thread has the number 0.
        let known = TimesOfThreads::from([((me, 0), Times::default())]);
        let found = threads_of(&ours, &known);
        assert!(found.contains_key(&(me, me)) && !found.contains_key(&(me, 0)), "{found:?}");
        assert!(threads_of(&BTreeSet::new(), &found).is_empty());
    }

    /// The list is in the order in which threads were born: every other one ends while it is read.
    #[test]
    fn threads_are_found_while_those_before_them_end() {
        let process = std::process::id();
        for _ in 0..30 {
            let end = Arc::new(AtomicBool::new(false));
            let (told, numbers) = std::sync::mpsc::channel();
            let (mut living, mut ending) = (Vec::new(), Vec::new());
            for _ in 0..50 {
                let end = Arc::clone(&end);
                ending.push(std::thread::spawn(move || {
                    while !end.load(Ordering::Relaxed) {
                        std::thread::sleep(Duration::from_micros(300));
                    }
                }));
                let told = told.clone();
                living.push(std::thread::spawn(move || {
                    let me = std::fs::read_link("/proc/thread-self").unwrap();
                    told.send(me.file_name().unwrap().to_str().unwrap().parse::<u32>().unwrap()).unwrap();
                    std::thread::park();
                }));
            }
            let numbers = numbers.iter().take(living.len());
            let known: TimesOfThreads = numbers.map(|thread| ((process, thread), Times::default())).collect();
            end.store(true, Ordering::Relaxed);
            while ending.iter().any(|thread| !thread.is_finished()) {
                let found = threads_of(&BTreeSet::from([process]), &known);
                let missed: Vec<_> = known.keys().filter(|thread| !found.contains_key(thread)).collect();
                assert!(missed.is_empty(), "they live and were missed: {missed:?}");
            }
            for thread in living {
                thread.thread().unpark();
                thread.join().unwrap();
            }
        }
    }
}
