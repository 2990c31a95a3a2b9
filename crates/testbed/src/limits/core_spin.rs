//! Cores made slower by a share: on each a thread of ours of real-time priority is busy for that share of every period, so that nobody else
//! has the core meanwhile. The only way to slow work that fills no limit. The threads end with this process, which leaves the cores as they were.
//! Source: sched(7), `SCHED_FIFO`.

use crate::sys;
use proofload_model::error::Error;
use proofload_model::intervention::CORE_PERIOD;
use proofload_model::time::{Clock, Moment};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// The largest share: the kernel stops real-time threads at 0.95, and others must go on.
const MOST: f64 = 0.6;

/// Time after which what was taken is measured well enough to be compared.
const MEASURABLE: Duration = Duration::from_secs(1);

/// What was taken may differ from the share by this part of it, and by this of the time.
const TOLERATED: (f64, f64) = (0.1, 0.005);

/// Threads that take a share of cores; no thread as long as nothing is taken.
#[derive(Default)]
pub(crate) struct CoreSpin {
    /// `None`: nothing can be taken.
    clock: Option<Arc<dyn Clock>>,
    spinners: Mutex<Option<Spinners>>,
}

impl std::fmt::Debug for CoreSpin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CoreSpin").field("share", &self.share()).finish_non_exhaustive()
    }
}

struct Spinners {
    share: f64,
    since: Moment,
    ended: Arc<AtomicBool>,
    /// Taken by each thread, ns.
    taken: Vec<Arc<AtomicU64>>,
    threads: Vec<JoinHandle<()>>,
}

impl CoreSpin {
    /// The same, whose periods are those of a clock.
    pub(super) fn timed_by(clock: Arc<dyn Clock>) -> Self {
        Self { clock: Some(clock), ..Self::default() }
    }

    /// Takes a share of some cores from now on, in the place of what was taken before; 0: nothing.
    ///
    /// # Errors
    /// The share is too large, or a thread may not have real-time priority.
    pub(super) fn take(&self, cores: &[usize], share: f64) -> Result<(), Error> {
        let mut state = self.state();
        *state = None;
        if share <= 0.0 {
            return Ok(());
        }
        if share > MOST {
            return Err(Error::refused(format!("failed to take {share} of a core: at most {MOST} can be taken")));
        }
        let clock = self.clock.as_ref().ok_or_else(|| Error::new("failed to slow cores: there is no clock"))?;
        let ended = Arc::new(AtomicBool::new(false));
        let (sender, ready) = channel();
        let mut spinners = Spinners { share, since: clock.now(), ended, taken: Vec::new(), threads: Vec::new() };
        for core in cores.iter().copied() {
            let (taken, ended, sender) = (Arc::new(AtomicU64::new(0)), Arc::clone(&spinners.ended), sender.clone());
            spinners.taken.push(Arc::clone(&taken));
            let clock = Arc::clone(clock);
            let spin = move || {
                let begun = begin(core);
                let goes_on = begun.is_ok();
                let _heard = sender.send(begun);
                if goes_on {
                    spin(&*clock, share, &ended, &taken);
                }
            };
            let thread = std::thread::Builder::new().name(format!("slows-core-{core}")).spawn(spin);
            spinners.threads.push(thread.map_err(|error| Error::new(format!("failed to start a thread: {error}")))?);
        }
        for _ in cores {
            ready.recv().map_err(|_| Error::new("a thread that slows a core ended at once"))??;
        }
        spinners.since = clock.now();
        *state = Some(spinners);
        Ok(())
    }

    /// The share that is taken: as asked where what was taken agrees, or cannot be told yet, else what was taken.
    pub(super) fn share(&self) -> f64 {
        let state = self.state();
        let (Some(spinners), Some(clock)) = (&*state, &self.clock) else { return 0.0 };
        let lasted = clock.now().since(spinners.since);
        if lasted < MEASURABLE || spinners.taken.is_empty() {
            return spinners.share;
        }
        let of_one = |taken: &Arc<AtomicU64>| taken.load(Ordering::Relaxed) as f64 / lasted.as_nanos() as f64;
        let mean = spinners.taken.iter().map(of_one).sum::<f64>() / spinners.taken.len() as f64;
        let (part, of_time) = TOLERATED;
        if (mean - spinners.share).abs() <= part * spinners.share + of_time { spinners.share } else { mean }
    }

    fn state(&self) -> MutexGuard<'_, Option<Spinners>> {
        self.spinners.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Spinners {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Release);
        self.threads.drain(..).for_each(|thread| drop(thread.join()));
    }
}

/// Puts the calling thread on a core, before all that is not real-time.
fn begin(core: usize) -> Result<(), Error> {
    let me = sys::this_thread();
    sys::restrict(me, &[core])?;
    sys::set_real_time(me).map_err(|error| {
        error.context(format!("failed to slow core {core}: a thread of real-time priority needs root or CAP_SYS_NICE"))
    })
}

/// Is busy for a share of each period until it is told to end. What a hypervisor takes meanwhile counts for nobody.
fn spin(clock: &dyn Clock, share: f64, ended: &AtomicBool, taken: &AtomicU64) {
    let busy = CORE_PERIOD.mul_f64(share);
    let mut due = clock.now();
    while !ended.load(Ordering::Acquire) {
        let begun = clock.now();
        while clock.now().since(begun) < busy {
            std::hint::spin_loop();
        }
        let now = clock.now();
        taken.fetch_add(u64::try_from(now.since(begun).as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
        // Periods that a pause of the host has swallowed are not made up for.
        due = (due + CORE_PERIOD).max(now);
        clock.sleep(due.since(now));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_clock::TestClock;
    use std::time::Instant;

    #[test]
    fn a_core_gives_others_what_is_left_of_it() {
        let core = sys::allowed_cores(None).unwrap()[0];
        let spin = CoreSpin::timed_by(Arc::new(TestClock::new()));
        if let Err(error) = spin.take(&[core], 0.4) {
            println!("SKIPPED: {error}");
            return;
        }
        let mut child = std::process::Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        sys::restrict(child.id(), &[core]).unwrap();
        // A pause between the two readings makes it no more.
        let used = |time: Duration| {
            let (begun, before) = (Instant::now(), sys::cpu_time(child.id()).unwrap());
            std::thread::sleep(time);
            (sys::cpu_time(child.id()).unwrap() - before).as_secs_f64() / begun.elapsed().as_secs_f64()
        };
        let (mut lowered, mut share) = (0.0, 0.0);
        // Where the host pauses, what was taken is not what was asked, and is said so.
        for _ in 0..20 {
            spin.take(&[core], 0.4).unwrap();
            std::thread::sleep(MEASURABLE);
            lowered = used(Duration::from_secs(1));
            share = spin.share();
            if (share - 0.4_f64).abs() < 1e-9 {
                // Others may have some of the core, too; more than what is left, and what may be missing of two seconds, nobody gets.
                assert!(lowered <= 0.7, "{lowered}");
                break;
            }
        }
        assert!((share - 0.4).abs() < 1e-9, "{share}");
        spin.take(&[core], 0.0).unwrap();
        let whole = (0..20).map(|_| used(Duration::from_secs(1))).find(|whole| *whole > lowered);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(whole.is_some(), "no more than {lowered} once nothing is taken");
        assert!(spin.share() == 0.0 && spin.take(&[core], 0.9).is_err());
    }
}
