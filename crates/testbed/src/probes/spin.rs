//! A thread that computes 5 ms in every 100 ms and tells how much longer that took than the thread was on a core. Runs only where this kernel
//! shows neither what a hypervisor takes nor what other processes use: elsewhere both are counted, at no cost. Judges nothing.

use super::probe::{OpenedProbe, Probe, Subject};
use super::visible::KernelView;
use crate::sys;
use proofload_model::error::Error;
use proofload_model::samples::Reading;
use proofload_model::series::spin;
use proofload_model::time::Clock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Time on a core of one piece of computing; ours. Longer than a slice of Linux's scheduler (3 ms), so that a process that is as busy gets its
/// turn within it. Source of the slice: `sysctl_sched_base_slice` in kernel/sched/fair.c, scaled for eight cores or more.
pub(crate) const SPIN: Duration = Duration::from_millis(5);

/// One piece begins in each; ours. A twentieth of a core is asked for.
const PERIOD: Duration = Duration::from_millis(100);

/// A thread that looks at the clock again and again was off its core when a look is this much after the one before; ours. The CPU clock of the
/// kernel would not do: on a guest that is shown no steal it goes on while the hypervisor runs another guest. Source of the method:
/// Documentation/trace/hwlat_detector.rst.
const GAP: Duration = Duration::from_micros(100);

/// Pieces in turn without any time on a core from which the clock is to blame, and not who had the core; ours.
const BLIND: u32 = 3;

/// A piece that has not ended by then is given up; ours.
const LONGEST: Duration = Duration::from_secs(1);

/// One piece of computing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct SpinPiece {
    /// Time from its begin to its end.
    pub(crate) wall: Duration,
    /// Time of it in which the thread was on a core.
    pub(crate) ran: Duration,
}

impl SpinPiece {
    /// Whether it is a measurement: not cut short by the end of the probe, and timed by a clock that shows gaps.
    pub(crate) fn is_whole(&self) -> bool {
        self.ran >= SPIN || (self.wall >= LONGEST && !self.ran.is_zero())
    }

    fn ratio(&self) -> f64 {
        self.wall.as_secs_f64() / self.ran.as_secs_f64()
    }
}

/// Computes for [`SPIN`] of time on a core. It begins when the thread is on one: how late it came there is not part of it.
pub(crate) fn piece(clock: &dyn Clock, stop: &AtomicBool) -> SpinPiece {
    let begun = clock.now();
    let (mut last, mut ran) = (begun, Duration::ZERO);
    while ran < SPIN && last.since(begun) < LONGEST && !stop.load(Ordering::Relaxed) {
        let now = clock.now();
        let step = now.since(last);
        if step <= GAP {
            ran += step;
        }
        last = now;
    }
    SpinPiece { wall: last.since(begun), ran }
}

/// Wall time of pieces over their time on a core; `None` of none.
pub(crate) fn ratio_of(pieces: &[SpinPiece]) -> Option<f64> {
    let wall: Duration = pieces.iter().map(|piece| piece.wall).sum();
    let ran: Duration = pieces.iter().map(|piece| piece.ran).sum();
    (!ran.is_zero()).then(|| SpinPiece { wall, ran }.ratio())
}

/// What the thread has done since it was last asked.
#[derive(Debug, Default)]
struct SpinTally {
    pieces: Vec<SpinPiece>,
    failure: Option<Error>,
}

struct Spin {
    tally: Arc<Mutex<SpinTally>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Opens it where the kernel shows nothing of others.
pub(super) fn open(subject: &mut Subject) -> OpenedProbe {
    let Some(clock) = subject.clock.clone() else { return Ok(None) };
    if !is_wanted(&KernelView::read(), subject.pid.is_some()) {
        return Ok(None);
    }
    Ok(Some(Box::new(Spin::start(clock, subject.cores.clone()))))
}

/// Whether nothing else tells of others: neither the counters of steal, nor the probe of other processes, which looks only where there is a
/// process of ours to tell them from.
fn is_wanted(view: &KernelView, has_process: bool) -> bool {
    !(view.tells_steal() || has_process && view.tells_host())
}

impl Spin {
    fn start(clock: Arc<dyn Clock>, cores: Option<Vec<usize>>) -> Self {
        let (tally, stop) = (Arc::default(), Arc::default());
        let spinner = Spinner { clock, tally: Arc::clone(&tally), stop: Arc::clone(&stop) };
        let thread = std::thread::spawn(move || spinner.run(cores));
        Self { tally, stop, thread: Some(thread) }
    }
}

impl Drop for Spin {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ended = thread.join();
        }
    }
}

impl Probe for Spin {
    fn read(&mut self, span: Option<Duration>) -> Result<Vec<Reading>, Error> {
        let seen = std::mem::take(&mut *self.tally.lock().unwrap_or_else(PoisonError::into_inner));
        if let Some(failure) = seen.failure {
            return Err(failure);
        }
        Ok(if span.is_some() { readings(&seen.pieces) } else { Vec::new() })
    }
}

/// What is told of the pieces of a second; of a second without any, that there were none.
fn readings(pieces: &[SpinPiece]) -> Vec<Reading> {
    let mut ratios: Vec<f64> = pieces.iter().map(SpinPiece::ratio).filter(|ratio| ratio.is_finite()).collect();
    ratios.sort_by(f64::total_cmp);
    let middle = |of: usize| ratios.get(of / 2).copied();
    let lower = ratios.len().checked_sub(1).and_then(middle);
    let median = lower.zip(middle(ratios.len())).map(|(lower, upper)| f64::midpoint(lower, upper));
    let values = [
        (spin::RATIO, ratio_of(pieces)),
        (spin::RATIO_MEDIAN, median),
        (spin::RATIO_MAX, ratios.last().copied()),
        (spin::PIECES, Some(pieces.len() as f64)),
    ];
    values.into_iter().filter_map(|(series, value)| Some(series.reading("", value?))).collect()
}

/// The thread.
struct Spinner {
    clock: Arc<dyn Clock>,
    tally: Arc<Mutex<SpinTally>>,
    stop: Arc<AtomicBool>,
}

impl Spinner {
    /// Computes on one core after the other. A thread that may run on several is put on an idle one, and sees no others until all are busy.
    fn run(self, cores: Option<Vec<usize>>) {
        let cores = cores.map_or_else(|| sys::allowed_cores(None), Ok);
        let cores = match cores {
            Ok(cores) if !cores.is_empty() => cores,
            Ok(_) => return self.fail(Error::new("there is no core to compute on")),
            Err(error) => return self.fail(error),
        };
        let (mut due, mut blind) = (self.clock.now(), 0);
        for core in cores.iter().cycle() {
            if self.stop.load(Ordering::Relaxed) {
                return;
            }
            if let Err(error) = sys::restrict(sys::this_thread(), std::slice::from_ref(core)) {
                return self.fail(error);
            }
            let found = piece(&*self.clock, &self.stop);
            blind = if found.ran.is_zero() && found.wall >= LONGEST { blind + 1 } else { 0 };
            if found.is_whole() {
                self.tally.lock().unwrap_or_else(PoisonError::into_inner).pieces.push(found);
            }
            if blind == BLIND {
                let steps = GAP.as_micros();
                return self.fail(Error::new(format!(
                    "the clock moves in steps of more than {steps} µs, too coarse to see gaps"
                )));
            }
            let now = self.clock.now();
            // Pieces that were missed are not made up for.
            due = (due + PERIOD).max(now);
            self.clock.sleep(due.since(now));
        }
    }

    fn fail(&self, failure: Error) {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner).failure = Some(failure);
    }
}

#[cfg(test)]
mod tests {
    use super::super::visible::tests::{container, hidden_steal, open as shows_all};
    use super::*;
    use proofload_model::time::{Moment, WallTime};
    use std::sync::atomic::AtomicU64;
    use std::time::Instant;

    /// A clock of which each look takes 50 µs, and every so many looks others have the core for some time.
    struct Shared {
        nanos: AtomicU64,
        looks: AtomicU64,
        every: u64,
        taken: u64,
    }

    impl Shared {
        fn new(every: u64, taken: Duration) -> Self {
            let taken = u64::try_from(taken.as_nanos()).expect("short");
            Self { nanos: AtomicU64::new(0), looks: AtomicU64::new(0), every, taken }
        }
    }

    impl Clock for Shared {
        fn now(&self) -> Moment {
            let looks = self.looks.fetch_add(1, Ordering::Relaxed) + 1;
            let step = if looks.is_multiple_of(self.every) { self.taken } else { 50_000 };
            Moment(self.nanos.fetch_add(step, Ordering::Relaxed) + step)
        }

        fn wall(&self) -> WallTime {
            WallTime(0)
        }

        fn sleep(&self, time: Duration) {
            self.nanos.fetch_add(u64::try_from(time.as_nanos()).expect("short"), Ordering::Relaxed);
            std::thread::yield_now();
        }
    }

    fn value(readings: &[Reading], name: &str) -> Option<f64> {
        readings.iter().find(|reading| reading.name == name).map(|reading| reading.value)
    }

    #[test]
    fn it_runs_only_where_nothing_else_tells_of_others() {
        let wanted = |view: &KernelView| [is_wanted(view, true), is_wanted(view, false)];
        assert_eq!(wanted(&shows_all()), [false, false]);
        assert_eq!(wanted(&hidden_steal()), [false, true], "other processes are seen where ours are known");
        assert_eq!(wanted(&container()), [true, true]);
        assert!(open(&mut Subject::default()).unwrap().is_none(), "without a clock there is nothing to look at");
    }

    #[test]
    fn a_piece_is_as_long_as_the_thread_was_on_a_core() {
        let stop = AtomicBool::new(false);
        let alone = piece(&Shared::new(u64::MAX, Duration::ZERO), &stop);
        assert_eq!(alone, SpinPiece { wall: SPIN, ran: SPIN });
        // 100 steps of 50 µs, and 5 ms of another guest in between, whatever the CPU clock of the kernel says.
        let shared = piece(&Shared::new(60, Duration::from_millis(5)), &stop);
        assert_eq!(shared, SpinPiece { wall: 2 * SPIN, ran: SPIN });
        let coarse = piece(&Shared::new(1, Duration::from_millis(4)), &stop);
        assert_eq!((coarse.wall, coarse.ran), (LONGEST, Duration::ZERO));
    }

    #[test]
    fn a_second_is_told_by_its_mean_its_median_and_its_worst_piece() {
        let ms = Duration::from_millis;
        let of = |wall: u64| SpinPiece { wall: ms(wall), ran: ms(5) };
        let told = readings(&[of(5), of(20), of(5), of(10)]);
        let names = ["ratio", "ratio_median", "ratio_max", "pieces"];
        assert_eq!(names.map(|name| value(&told, name)), [Some(2.0), Some(1.5), Some(4.0), Some(4.0)]);
        assert!(told.iter().all(|reading| reading.name == "pieces" || reading.unit == "s/s"), "{told:?}");
        let none = readings(&[]);
        assert_eq!((none.len(), value(&none, "pieces")), (1, Some(0.0)), "a second without a piece says so");
    }

    #[test]
    fn the_thread_computes_a_piece_in_each_tenth_of_a_second_until_it_is_dropped() {
        let clock: Arc<dyn Clock> = Arc::new(Shared::new(60, Duration::from_millis(5)));
        let mut probe = Spin::start(Arc::clone(&clock), None);
        assert!(probe.read(None).unwrap().is_empty());
        let begun = Instant::now();
        let readings = loop {
            let told = probe.read(Some(Duration::from_secs(1))).unwrap();
            if value(&told, "pieces").is_some_and(|pieces| pieces > 0.0) {
                break told;
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "no piece is told");
            std::thread::yield_now();
        };
        let (mean, worst) = (value(&readings, "ratio").unwrap(), value(&readings, "ratio_max").unwrap());
        assert!(mean > 1.5 && worst >= mean && worst < 4.0, "{readings:?}");
        drop(probe);
        let stopped = clock.now();
        assert!(clock.now().since(stopped) <= Duration::from_millis(5), "nobody moves the clock any more");
    }

    #[test]
    fn a_clock_that_is_too_coarse_fails_and_costs_nothing_more() {
        let mut probe = Spin::start(Arc::new(Shared::new(1, Duration::from_millis(4))), None);
        let begun = Instant::now();
        let failure = loop {
            match probe.read(Some(Duration::from_secs(1))) {
                Err(failure) => break failure.to_string(),
                Ok(told) => assert_eq!(value(&told, "pieces"), Some(0.0)),
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "no failure is told");
            std::thread::yield_now();
        };
        assert!(failure.contains("too coarse"), "{failure}");
    }
}
