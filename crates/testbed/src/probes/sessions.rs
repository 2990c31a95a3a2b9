//! What the sessions of the load do or wait for: looked at many times a second on a thread of its own, told as the mean number in each state.
//! May not say what it means.

use super::probe::{OpenedProbe, Probe, Subject};
use super::rates::Rates;
use super::scheduled::ScheduledTimes;
use crate::sys;
use proofload_engine::SessionSampler;
use proofload_model::error::Error;
use proofload_model::samples::Reading;
use proofload_model::series::sessions;
use proofload_model::session_state::{SessionSample, SessionState};
use proofload_model::time::Clock;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

struct Sessions {
    tally: Arc<Mutex<SessionTally>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    /// Root of the server's processes.
    server: Option<u32>,
    cost: ScheduledTimes,
    rates: Rates,
    told_failure: bool,
}

/// What was seen since the last reading.
#[derive(Debug, Default)]
struct SessionTally {
    /// Seconds of sessions by state. A look stands for the time since the one before it: one that came late, since the server was kept
    /// from its cores, sees the state in which that left the sessions.
    sessions: BTreeMap<SessionState, f64>,
    seconds: f64,
    looks: u32,
    reader: Option<u32>,
    failure: Option<Error>,
}

impl SessionTally {
    fn add(&mut self, seen: &SessionSample, after: Duration) {
        let seconds = after.as_secs_f64();
        for (state, count) in &seen.sessions {
            *self.sessions.entry(*state).or_default() += f64::from(*count) * seconds;
        }
        self.seconds += seconds;
        self.looks += 1;
        self.reader = seen.reader;
    }
}

/// Opens it where the sessions of a server are to be looked at.
pub(super) fn open(subject: &mut Subject) -> OpenedProbe {
    let (Some((sampler, looks)), Some(clock)) = (subject.sessions.take(), subject.clock.clone()) else {
        return Ok(None);
    };
    let (tally, stop) = (Arc::default(), Arc::default());
    let looker = Looker { sampler, clock, tally: Arc::clone(&tally), stop: Arc::clone(&stop), looks };
    let thread = std::thread::spawn(move || looker.run());
    let server = subject.pid;
    let (cost, rates) = (ScheduledTimes::default(), Rates::default());
    Ok(Some(Box::new(Sessions { tally, stop, thread: Some(thread), server, cost, rates, told_failure: false })))
}

/// Looks at random distances, so that nothing that repeats itself, as the periods of an allowance of CPU time do, is met at the same place
/// each time.
struct Looker {
    sampler: Box<dyn SessionSampler>,
    clock: Arc<dyn Clock>,
    tally: Arc<Mutex<SessionTally>>,
    stop: Arc<AtomicBool>,
    looks: u32,
}

impl Looker {
    fn run(mut self) {
        let mut before = self.clock.now();
        let mut chance = before.0 | 1;
        while !self.stop.load(Ordering::Relaxed) {
            self.clock.sleep(self.pause(&mut chance));
            let seen = self.sampler.sample();
            let now = self.clock.now();
            let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
            match seen {
                Ok(seen) => tally.add(&seen, now.since(before)),
                Err(error) => tally.failure = Some(error.into()),
            }
            before = now;
        }
    }

    /// Draws a pause between half and one and a half of the mean distance. Source of the numbers: Marsaglia, "Xorshift RNGs", 2003, the triple 13, 7, 17.
    fn pause(&self, chance: &mut u64) -> Duration {
        *chance ^= *chance << 13;
        *chance ^= *chance >> 7;
        *chance ^= *chance << 17;
        let share = 0.5 + (*chance >> 11) as f64 / (1u64 << 53) as f64;
        Duration::from_secs_f64(share / f64::from(self.looks.max(1)))
    }
}

impl Drop for Sessions {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ended = thread.join();
        }
    }
}

impl Probe for Sessions {
    fn read(&mut self, span: Option<Duration>) -> Result<Vec<Reading>, Error> {
        let seen = std::mem::take(&mut *self.tally.lock().unwrap_or_else(PoisonError::into_inner));
        if let Some(failure) = seen.failure.filter(|_| !std::mem::replace(&mut self.told_failure, true)) {
            return Err(failure);
        }
        self.rates.turn(span);
        let cost = self.cost_of(seen.reader);
        let Some(span) = span else { return Ok(Vec::new()) };
        // A second in which nobody answered has no states, and says so.
        let mut readings = vec![sessions::LOOKS.reading("", f64::from(seen.looks) / span.as_secs_f64())];
        if seen.seconds > 0.0 {
            let mean = |state: SessionState| seen.sessions.get(&state).copied().unwrap_or(0.0) / seen.seconds;
            readings.extend(SessionState::ALL.map(|state| sessions::STATE.reading(state.word(), mean(state))));
        }
        readings.extend(cost.map(|cost| sessions::COST.reading("", cost)));
        Ok(readings)
    }
}

impl Sessions {
    /// CPU time of the process that answers, where it is one of the server on this host.
    fn cost_of(&mut self, reader: Option<u32>) -> Option<f64> {
        let reader =
            reader.filter(|reader| self.server.is_some_and(|server| sys::descendants(server).contains(reader)))?;
        let used = self.cost.read(&BTreeSet::from([reader])).cpu;
        self.rates.per_second("cost", used)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_clock::SimulatedClock;
    use proofload_engine::Error as EngineError;
    use proofload_model::time::Moment;
    use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

    /// Three sessions at work and one that waits for a standby; every fourth look fails. Says when it has answered a hundred times.
    struct Scripted(u32, SyncSender<()>, Receiver<()>);

    impl SessionSampler for Scripted {
        fn sample(&mut self) -> Result<SessionSample, EngineError> {
            self.0 += 1;
            if self.0 == 101 {
                self.1.send(()).expect("the test listens");
                self.2.recv().expect("the test answers");
            }
            if self.0.is_multiple_of(4) && self.0 > 101 {
                return Err(EngineError::other("connection refused"));
            }
            let sessions = vec![(SessionState::Running, 3), (SessionState::Standby, 1)];
            Ok(SessionSample { sessions, reader: None })
        }
    }

    #[test]
    fn looks_become_a_mean_of_each_state_and_a_failure_is_told_once() {
        let ((done, is_done), (answer, answers)) = (sync_channel(0), sync_channel(0));
        let clock: Arc<dyn Clock> = Arc::new(SimulatedClock::default());
        let sampler: Box<dyn SessionSampler> = Box::new(Scripted(0, done, answers));
        let mut subject =
            Subject { sessions: Some((sampler, 20)), clock: Some(Arc::clone(&clock)), ..Subject::default() };
        let mut probe = open(&mut subject).unwrap().unwrap();
        is_done.recv().unwrap();
        let took = clock.now().since(Moment(0));
        assert!((Duration::from_secs(4)..Duration::from_secs(6)).contains(&took), "a hundred looks took {took:?}");
        let told = probe.read(Some(took)).unwrap();
        let value = |name: &str, component: &str| {
            told.iter().find(|one| one.name == name && one.component == component).map(|one| one.value)
        };
        assert!(value("looks", "").is_some_and(|looks| (17.0..24.0).contains(&looks)), "{told:?}");
        assert!(value("state", "running").is_some_and(|mean| (mean - 3.0).abs() < 1e-9), "{told:?}");
        assert!(value("state", "standby").is_some_and(|mean| (mean - 1.0).abs() < 1e-9), "{told:?}");
        assert_eq!(value("state", "lock"), Some(0.0), "a state without sessions is told as such");
        answer.send(()).unwrap();
        let begun = std::time::Instant::now();
        let failed = loop {
            if let Err(failed) = probe.read(Some(took)) {
                break failed.to_string();
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "no failure is told");
            std::thread::yield_now();
        };
        assert!(failed.contains("connection refused"), "{failed}");
        assert!(probe.read(Some(took)).is_ok(), "it is told once");
    }

    #[test]
    fn a_late_look_stands_for_the_time_that_it_came_late() {
        let mut tally = SessionTally::default();
        let seen = |state| SessionSample { sessions: vec![(state, 2)], reader: None };
        tally.add(&seen(SessionState::Client), Duration::from_millis(100));
        tally.add(&seen(SessionState::Running), Duration::from_millis(300));
        assert!((tally.sessions[&SessionState::Running] / tally.seconds - 1.5).abs() < 1e-9);
    }
}
