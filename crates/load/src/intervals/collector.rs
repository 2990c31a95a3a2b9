//! Merges the seconds of client threads: a second is complete when every thread has handed it over. No second is filled
//! in or left out.

use super::histograms::Latencies;
use super::self_measure;
use super::sums::{add_errors, add_readings};
use crate::drive::OfferedWalk;
use proofload_model::samples::{
    ClientSelf, ErrorCount, IntervalSample, LatencyClock, OfferedLoad, OperationCounts, Reading,
};
use proofload_model::time::Offset;
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Counts of one kind; differences since the last handover, but `in_flight`, which is a level.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct KindCounts {
    pub(super) due: u64,
    pub(super) done: u64,
    pub(super) rolled_back: u64,
    pub(super) failed: u64,
    pub(super) dropped: u64,
    pub(super) in_flight: u64,
    pub(super) retries: u64,
}

/// Counts and latencies of one kind of operation on one thread.
#[derive(Debug, Clone, Default)]
pub(super) struct KindRecord {
    pub(super) counts: KindCounts,
    handed_over: KindCounts,
    pub(super) response: Latencies,
    pub(super) service: Latencies,
}

impl KindRecord {
    /// Totals since the start, handed over or not.
    pub(super) fn totals(&self) -> OperationCounts {
        let sum = |a: u64, b: u64| a + b;
        OperationCounts {
            kind: String::new(),
            due: sum(self.counts.due, self.handed_over.due),
            done: sum(self.counts.done, self.handed_over.done),
            rolled_back: sum(self.counts.rolled_back, self.handed_over.rolled_back),
            failed: sum(self.counts.failed, self.handed_over.failed),
            dropped: sum(self.counts.dropped, self.handed_over.dropped),
            in_flight: self.counts.in_flight,
            retries: sum(self.counts.retries, self.handed_over.retries),
        }
    }

    fn move_into(&mut self, target: &mut Self) {
        let counts = self.counts;
        for side in [&mut target.counts, &mut self.handed_over] {
            side.due += counts.due;
            side.done += counts.done;
            side.rolled_back += counts.rolled_back;
            side.failed += counts.failed;
            side.dropped += counts.dropped;
            side.retries += counts.retries;
        }
        target.counts.in_flight += counts.in_flight;
        self.counts = KindCounts { in_flight: counts.in_flight, ..KindCounts::default() };
        self.response.drain_into(&mut target.response);
        self.service.drain_into(&mut target.service);
    }
}

/// Everything that a thread has recorded since its last handover.
#[derive(Debug, Clone, Default)]
pub struct Handover {
    pub(super) kinds: Vec<KindRecord>,
    pub(super) lag: Latencies,
    pub(super) errors: Vec<ErrorCount>,
    pub(super) engine: Vec<Reading>,
}

impl Handover {
    /// An empty handover for these kinds.
    pub(super) fn new(kinds: &[&str]) -> Self {
        Self { kinds: vec![KindRecord::default(); kinds.len()], ..Self::default() }
    }

    fn move_into(&mut self, target: &mut Self) {
        for (mine, theirs) in self.kinds.iter_mut().zip(&mut target.kinds) {
            mine.move_into(theirs);
        }
        self.lag.drain_into(&mut target.lag);
        add_errors(&mut target.errors, self.errors.drain(..));
        add_readings(&mut target.engine, self.engine.drain(..));
    }
}

/// Share of a second that a thread hands over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Coverage {
    /// The whole second.
    Whole,
    /// The second up to the end of the thread's load.
    Partial,
}

/// One second that some threads have handed over.
struct Slot {
    merged: Handover,
    threads: usize,
    /// Threads whose load lasted to the second's end.
    whole: usize,
}

/// Operations that are due by the schedule, and how many of them wait.
struct OfferedCounter {
    walk: OfferedWalk,
    waiting: u64,
}

impl OfferedCounter {
    /// Load offered in a second, of whose operations `begun` began or were given up.
    fn second(&mut self, index: u64, begun: u64) -> OfferedLoad {
        let end = i64::try_from((index + 1).saturating_mul(1_000_000_000)).unwrap_or(i64::MAX);
        let due = self.walk.until(Offset(end));
        self.waiting = (self.waiting + due).saturating_sub(begun);
        OfferedLoad { due, waiting: self.waiting }
    }
}

struct CollectorState {
    /// Number of the first slot.
    first: u64,
    slots: VecDeque<Slot>,
    /// The second that each thread will hand over next.
    next: Vec<u64>,
    /// Whether each thread has ended.
    retired: Vec<bool>,
}

/// Merges the seconds of all client threads of an agent.
pub struct Collector {
    kinds: &'static [&'static str],
    threads: usize,
    state: Mutex<CollectorState>,
    changed: Condvar,
    /// Number of each thread in `/proc`, and its CPU time at the last sample. Never held together with `state`.
    cpu: Mutex<Vec<(Option<u32>, u64)>>,
    /// `None` when operations are due as soon as their user is free. Never held together with `state`.
    offered: Mutex<Option<OfferedCounter>>,
}

impl Collector {
    /// A collector of this many client threads. `offered` is given when operations are due by a schedule.
    pub fn new(kinds: &'static [&'static str], threads: usize, offered: Option<OfferedWalk>) -> Self {
        let state =
            CollectorState { first: 0, slots: VecDeque::new(), next: vec![0; threads], retired: vec![false; threads] };
        let cpu = Mutex::new(vec![(None, 0); threads]);
        let offered = Mutex::new(offered.map(|walk| OfferedCounter { walk, waiting: 0 }));
        Self { kinds, threads, state: Mutex::new(state), changed: Condvar::new(), cpu, offered }
    }

    /// Kinds of operations.
    pub fn kinds(&self) -> &'static [&'static str] {
        self.kinds
    }

    /// Registers the calling client thread, so that its CPU time can be read.
    pub fn register(&self, thread: usize) {
        let number = self_measure::this_thread();
        let used = number.and_then(self_measure::thread_cpu_ns).unwrap_or(0);
        lock(&self.cpu)[thread] = (number, used);
    }

    /// Takes over a second that a thread has passed. Its counts are moved out.
    pub(super) fn hand_over(&self, thread: usize, second: u64, coverage: Coverage, from: &mut Handover) {
        let mut state = self.lock();
        let place = usize::try_from(second.saturating_sub(state.first)).unwrap_or(usize::MAX);
        while state.slots.len() <= place {
            state.slots.push_back(Slot { merged: Handover::new(self.kinds), threads: 0, whole: 0 });
        }
        let slot = &mut state.slots[place];
        from.move_into(&mut slot.merged);
        slot.threads += 1;
        slot.whole += usize::from(coverage == Coverage::Whole);
        state.next[thread] = second + 1;
        drop(state);
        self.changed.notify_one();
    }

    /// Notes that a thread has ended and will hand over nothing more.
    pub fn retire(&self, thread: usize) {
        self.lock().retired[thread] = true;
        self.changed.notify_one();
    }

    /// Waits for the next complete second; `None` when all threads have ended and every second was returned.
    pub fn next(&self) -> Option<IntervalSample> {
        let mut state = self.lock();
        loop {
            if self.is_complete(&state) {
                let slot = state.slots.pop_front()?;
                let index = state.first;
                state.first += 1;
                drop(state);
                let cpu = cpu_since_last(&mut lock(&self.cpu));
                let offered = self.offered(index, &slot);
                return Some(self.sample(index, slot.merged, cpu, offered));
            }
            if state.slots.is_empty() && state.retired.iter().all(|ended| *ended) {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Seconds that were handed over and not taken yet.
    #[cfg(test)]
    pub(crate) fn waiting(&self) -> usize {
        self.lock().slots.len()
    }

    /// Whether every thread has handed over the first second, or ended before it.
    fn is_complete(&self, state: &CollectorState) -> bool {
        let ended = state.retired.iter().zip(&state.next);
        let gone = ended.filter(|(ended, next)| **ended && **next <= state.first).count();
        state.slots.front().is_some_and(|slot| slot.threads + gone >= self.threads)
    }

    /// Load offered in a second; `None` when nothing is due by a schedule, or when the load of a thread ended before
    /// the second did.
    fn offered(&self, index: u64, slot: &Slot) -> Option<OfferedLoad> {
        let begun = slot.merged.kinds.iter().map(|record| record.counts.due).sum();
        let second = lock(&self.offered).as_mut().map(|offered| offered.second(index, begun));
        second.filter(|_| slot.whole == self.threads)
    }

    fn sample(
        &self,
        index: u64,
        mut merged: Handover,
        thread_cpu_ns: Vec<u64>,
        offered: Option<OfferedLoad>,
    ) -> IntervalSample {
        let kinds = || merged.kinds.iter().zip(self.kinds);
        let counts =
            kinds().map(|(record, name)| OperationCounts { kind: (*name).to_owned(), ..record.totals() }).collect();
        let histograms = kinds()
            .flat_map(|(record, name)| {
                [
                    record.response.to_delta(name, LatencyClock::Response),
                    record.service.to_delta(name, LatencyClock::Service),
                ]
            })
            .chain([merged.lag.to_delta("", LatencyClock::SendLag)])
            .flatten()
            .collect();
        let client = ClientSelf {
            thread_cpu_ns,
            resident_bytes: self_measure::resident_bytes(),
            send_lag_ns_p99: merged.lag.quantile(0.99),
            offered,
            paused_ns: 0,
        };
        let (errors, engine) = (std::mem::take(&mut merged.errors), std::mem::take(&mut merged.engine));
        IntervalSample { index, counts, histograms, errors, client, engine }
    }

    fn lock(&self) -> MutexGuard<'_, CollectorState> {
        lock(&self.state)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// CPU time of each thread since the last sample.
fn cpu_since_last(cpu: &mut [(Option<u32>, u64)]) -> Vec<u64> {
    cpu.iter_mut()
        .map(|(number, before)| {
            let now = number.and_then(self_measure::thread_cpu_ns).unwrap_or(*before);
            let used = now.saturating_sub(*before);
            *before = now;
            used
        })
        .collect()
}
