//! Recording on one client thread: counts and histograms of the running second, handed over when the second is past.
//! Nothing here locks, allocates or formats per operation; errors and the turn of a second may.

use super::collector::{Collector, Coverage, Handover};
use crate::operation::{Completion, OperationTimes};
use proofload_engine::Error as EngineError;
use proofload_model::samples::{ErrorCount, OperationCounts, Reading};
use proofload_model::time::Moment;
use std::sync::Arc;
use std::time::Duration;

/// Records for all virtual users of one client thread.
pub struct ThreadRecorder {
    collector: Arc<Collector>,
    thread: usize,
    users: u32,
    scheduled: bool,
    second: u64,
    next_second: Moment,
    counters_wanted: u32,
    now: Handover,
}

impl ThreadRecorder {
    /// A recorder of one thread of `users` virtual users. `scheduled`: operations have due times, so that service and
    /// response time differ.
    pub fn new(collector: Arc<Collector>, thread: usize, users: u32, scheduled: bool) -> Self {
        let now = Handover::new(collector.kinds());
        Self { collector, thread, users, scheduled, second: 0, next_second: Moment(u64::MAX), counters_wanted: 0, now }
    }

    /// Sets time zero, from which seconds count. Every user of the thread calls it; the first call counts.
    pub fn start(&mut self, origin: Moment) {
        if self.next_second == Moment(u64::MAX) {
            self.next_second = origin + Duration::from_secs(1);
        }
    }

    /// Records that an operation begins. `lag`: start minus due time, where its user was free and waited for it.
    pub fn begin(&mut self, kind: usize, started: Moment, lag: Option<Duration>) {
        self.turn(started);
        let counts = &mut self.now.kinds[kind].counts;
        counts.due += 1;
        counts.in_flight += 1;
        if let Some(lag) = lag {
            self.now.lag.record(nanos(lag));
        }
    }

    /// Records that a due operation has waited too long for a user and will never begin.
    pub fn drop_one(&mut self, kind: usize, given_up: Moment) {
        self.turn(given_up);
        let counts = &mut self.now.kinds[kind].counts;
        counts.due += 1;
        counts.dropped += 1;
    }

    /// Records an operation that succeeded.
    pub fn end_well(&mut self, kind: usize, completed: Completion, times: OperationTimes, retries: u32) {
        let OperationTimes { intended, started, finished } = times;
        self.turn(finished);
        let record = &mut self.now.kinds[kind];
        match completed {
            Completion::Done => record.counts.done += 1,
            Completion::RolledBack => record.counts.rolled_back += 1,
        }
        record.counts.in_flight -= 1;
        record.counts.retries += u64::from(retries);
        record.response.record(nanos(finished.since(intended)));
        if self.scheduled {
            record.service.record(nanos(finished.since(started)));
        }
    }

    /// Records an operation that failed for good: counted, without a latency.
    pub fn end_failed(&mut self, kind: usize, error: &EngineError, finished: Moment, retries: u32) {
        self.turn(finished);
        let name = self.collector.kinds()[kind];
        let counts = &mut self.now.kinds[kind].counts;
        counts.failed += 1;
        counts.in_flight -= 1;
        counts.retries += u64::from(retries);
        match self.now.errors.iter_mut().find(|known| known.kind == name && known.code == error.code()) {
            Some(known) => known.count += 1,
            None => self.now.errors.push(ErrorCount {
                kind: name.to_owned(),
                code: error.code().to_owned(),
                text: error.to_string(),
                count: 1,
            }),
        }
    }

    /// Whether the next user should hand in its engine's counters: once a second for each user.
    pub fn wants_counters(&self) -> bool {
        self.counters_wanted > 0
    }

    /// Takes one user's counters.
    pub fn take_counters(&mut self, read: impl FnOnce(&mut Vec<Reading>)) {
        self.counters_wanted = self.counters_wanted.saturating_sub(1);
        read(&mut self.now.engine);
    }

    /// Hands over every second that is past at `moment`.
    pub fn turn(&mut self, moment: Moment) {
        while moment >= self.next_second {
            self.collector.hand_over(self.thread, self.second, Coverage::Whole, &mut self.now);
            self.second += 1;
            self.next_second = self.next_second + Duration::from_secs(1);
            self.counters_wanted = self.users;
        }
    }

    /// Ends recording when the thread's users have all ended: hands over the running second, if time zero ever came.
    pub fn finish(&mut self, moment: Moment) {
        self.turn(moment);
        if self.next_second != Moment(u64::MAX) {
            self.collector.hand_over(self.thread, self.second, Coverage::Partial, &mut self.now);
        }
    }

    /// Exact totals of this thread by kind, handed over or not.
    pub fn totals(&self) -> Vec<OperationCounts> {
        let kinds = self.now.kinds.iter().zip(self.collector.kinds());
        kinds.map(|(record, name)| OperationCounts { kind: (*name).to_owned(), ..record.totals() }).collect()
    }
}

/// Nanoseconds of a duration; 584 years fit.
fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
