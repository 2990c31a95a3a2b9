//! The session loop and the collector under a simulated clock: due times, stalls, sums. No thread sleeps here.

use super::context::{Retry, UserContext};
use super::finish::Finish;
use super::gate::Gate;
use super::queue::DueQueue;
use super::reconnect::Reconnect;
use super::rounds::Rounds;
use super::schedule::{ConstantRate, SaturatedSchedule, Schedule};
use super::stop::{AfterCount, StopFlag};
use super::virtual_user::VirtualUser;
use super::wait::Wait;
use crate::events::LoadEvents;
use crate::intervals::{Collector, Latencies, ThreadRecorder};
use crate::operation::Completion;
use proofload_engine::{Error as EngineError, ErrorClass};
use proofload_model::load_share::LoadShare;
use proofload_model::samples::{IntervalSample, LatencyClock, OperationCounts, Reading, UserRound};
use proofload_model::time::{Clock, Moment, Offset, WallTime};
use proofload_model::wire::Event;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

pub(super) const KINDS: &[&str] = &["read", "write"];

/// A clock that moves only when someone waits.
#[derive(Default)]
pub(super) struct Simulated(AtomicU64);

impl Clock for Simulated {
    fn now(&self) -> Moment {
        Moment(1_000_000_000_000 + self.0.load(Ordering::Relaxed))
    }

    fn wall(&self) -> WallTime {
        WallTime(0)
    }

    fn sleep(&self, time: Duration) {
        self.0.fetch_add(u64::try_from(time.as_nanos()).expect("short"), Ordering::Relaxed);
    }
}

/// Each operation takes as long as `script` says, and ends as it says.
struct Scripted<F> {
    clock: Arc<Simulated>,
    /// Time until which nobody can connect again.
    down_until: Moment,
    number: u64,
    tries: u32,
    script: F,
}

/// What one try does.
pub(super) struct Step {
    pub(super) takes: Duration,
    pub(super) ends: Result<Completion, EngineError>,
}

impl<F: Fn(u64, u32) -> Step> VirtualUser for Scripted<F> {
    fn draw(&mut self) -> usize {
        self.number += 1;
        self.tries = 0;
        usize::from(self.number.is_multiple_of(3))
    }

    async fn run(&mut self) -> Result<Completion, EngineError> {
        let step = (self.script)(self.number - 1, self.tries);
        self.tries += 1;
        self.clock.sleep(step.takes);
        step.ends
    }

    async fn recover(&mut self) -> Result<(), EngineError> {
        Ok(())
    }

    async fn reconnect(&mut self) -> Result<(), EngineError> {
        self.clock.sleep(Duration::from_millis(1));
        if self.clock.now() >= self.down_until { Ok(()) } else { Err(EngineError::other("nobody listens")) }
    }

    fn expects(&self, error: &EngineError) -> bool {
        error.code() == "cap"
    }

    fn counters(&mut self, into: &mut Vec<Reading>) {
        into.push(Reading { name: "turns".to_owned(), component: String::new(), unit: "1/s".to_owned(), value: 1.0 });
    }
}

/// Runs one user to its end; returns its seconds, its totals, and how it ended.
fn run<F: Fn(u64, u32) -> Step>(
    schedule: Arc<dyn Schedule>,
    operations: u64,
    script: F,
) -> (Vec<IntervalSample>, Vec<OperationCounts>, bool) {
    run_in_rounds(Rounds { user: 0, length: None, events: Arc::new(|_| {}) }, schedule, operations, script)
}

/// The same with rounds.
fn run_in_rounds<F: Fn(u64, u32) -> Step>(
    rounds: Rounds,
    schedule: Arc<dyn Schedule>,
    operations: u64,
    script: F,
) -> (Vec<IntervalSample>, Vec<OperationCounts>, bool) {
    run_through(rounds, (Reconnect::never(), Duration::ZERO), schedule, operations, script)
}

/// The same of a user who can come back, but not before so long after time zero.
pub(super) fn run_through<F: Fn(u64, u32) -> Step>(
    rounds: Rounds,
    (reconnect, down): (Reconnect, Duration),
    schedule: Arc<dyn Schedule>,
    operations: u64,
    script: F,
) -> (Vec<IntervalSample>, Vec<OperationCounts>, bool) {
    let clock = Arc::new(Simulated::default());
    let (context, collector) = context(&clock, (rounds, reconnect), &schedule, operations);
    let (recorder, origin) = (Rc::clone(&context.recorder), clock.now());
    let mut user = Scripted { clock: Arc::clone(&clock), down_until: origin + down, number: 0, tries: 0, script };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let ended = runtime.block_on(context.drive(origin, &mut user, Retry { at_most: 2 }));
    let mut recorder = recorder.borrow_mut();
    recorder.finish(clock.now());
    collector.retire(0);
    let samples = std::iter::from_fn(|| collector.next()).collect();
    (samples, recorder.totals(), ended.is_ok())
}

/// What a user is given, from time zero on, and who takes its seconds.
pub(super) fn context(
    clock: &Arc<Simulated>,
    (rounds, reconnect): (Rounds, Reconnect),
    schedule: &Arc<dyn Schedule>,
    operations: u64,
) -> (UserContext, Arc<Collector>) {
    let queue = DueQueue::of(schedule, &LoadShare::default(), Some(operations), Duration::from_secs(10));
    let collector = Arc::new(Collector::new(KINDS, 1, queue.as_ref().and_then(DueQueue::offered)));
    let recorder = Rc::new(RefCell::new(ThreadRecorder::new(Arc::clone(&collector), 0, 1, queue.is_some())));
    recorder.borrow_mut().start(clock.now());
    let (_start, started) = tokio::sync::watch::channel(None);
    let (connected, _connections) = tokio::sync::mpsc::unbounded_channel();
    let context = UserContext {
        clock: Arc::clone(clock) as Arc<dyn Clock>,
        queue: queue.as_ref().and_then(DueQueue::on_thread).map(Rc::new),
        stop: Arc::new(AfterCount { operations, flag: StopFlag::default() }),
        gate: Gate::default(),
        finish: Finish::new(StopFlag::default()),
        rounds,
        reconnect,
        recorder,
        wait: Wait::Clock,
        user: 0,
        thread: 0,
        threads: 1,
        thread_values: Default::default(),
        start: started,
        connected,
    };
    (context, collector)
}

#[test]
fn whoever_begins_operations_is_counted_at_the_gate() {
    let (clock, schedule) = (Arc::new(Simulated::default()), Arc::new(SaturatedSchedule) as Arc<dyn Schedule>);
    let rounds = Rounds { user: 0, length: None, events: Arc::new(|_| {}) };
    let (mut context, _collector) = context(&clock, (rounds, Reconnect::never()), &schedule, 5);
    context.gate = Gate::of(3);
    context.user = 1;
    let origin = clock.now();
    let script = |_: u64, _: u32| well(Duration::from_millis(1));
    let mut user = Scripted { clock: Arc::clone(&clock), down_until: origin, number: 0, tries: 0, script };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    assert!(runtime.block_on(context.drive(origin, &mut user, Retry { at_most: 2 })).is_ok());
    assert_eq!([context.gate.count_active(), context.gate.count_active()], [Some(1), Some(0)]);
}

pub(super) fn well(takes: Duration) -> Step {
    Step { takes, ends: Ok(Completion::Done) }
}

pub(super) fn fails(class: ErrorClass) -> Step {
    Step { takes: Duration::from_millis(1), ends: Err(EngineError::new(class, "XX", "said no")) }
}

/// The sums that every run must keep.
#[track_caller]
pub(super) fn check_sums(samples: &[IntervalSample], totals: &[OperationCounts]) {
    for (number, sample) in samples.iter().enumerate() {
        assert_eq!(sample.index, number as u64, "no second is left out");
    }
    for (kind, total) in totals.iter().enumerate() {
        let mut before = 0;
        let mut sum = OperationCounts { kind: total.kind.clone(), in_flight: total.in_flight, ..Default::default() };
        for sample in samples {
            let counts = &sample.counts[kind];
            let ended = counts.done + counts.rolled_back + counts.failed + counts.dropped;
            assert_eq!(counts.due + before, ended + counts.in_flight, "second {} of {}", sample.index, counts.kind);
            before = counts.in_flight;
            sum.due += counts.due;
            sum.done += counts.done;
            sum.rolled_back += counts.rolled_back;
            sum.failed += counts.failed;
            sum.dropped += counts.dropped;
            sum.retries += counts.retries;
            let recorded: u64 = sample
                .histograms
                .iter()
                .filter(|delta| delta.kind == counts.kind && delta.clock == LatencyClock::Response)
                .map(|delta| delta.count)
                .sum();
            assert_eq!(recorded, counts.done + counts.rolled_back, "only what ended well has a latency");
        }
        assert_eq!(&sum, total, "the intervals add up to the clients' own counts");
    }
    let mut waiting = 0;
    for sample in samples {
        let Some(offered) = sample.client.offered else { break };
        let begun: u64 = sample.counts.iter().map(|counts| counts.due).sum();
        assert_eq!(waiting + offered.due, begun + offered.waiting, "what was offered in second {}", sample.index);
        waiting = offered.waiting;
    }
}

#[test]
fn seconds_add_up_whatever_happens() {
    for seed in 0..40u64 {
        let script = move |number: u64, tries: u32| {
            let dice = (number.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ seed.wrapping_mul(0xBF58_476D_1CE4_E5B9)) >> 40;
            match dice % 50 {
                0 => well(Duration::from_millis(2_600)),
                1 if tries < 2 => fails(ErrorClass::Retryable),
                2 => fails(ErrorClass::Retryable),
                3 => fails(ErrorClass::Other),
                4..8 => Step { takes: Duration::from_micros(700), ends: Ok(Completion::RolledBack) },
                _ => well(Duration::from_micros(dice % 30_000)),
            }
        };
        let schedule: Arc<dyn Schedule> =
            if seed % 2 == 0 { Arc::new(SaturatedSchedule) } else { Arc::new(ConstantRate::per_second(90.0)) };
        let (samples, totals, went_well) = run(schedule, 700, script);
        assert!(went_well && samples.len() > 2);
        assert!(
            totals.iter().all(|total| total.due > 0 && total.in_flight == 0)
                && totals[0].failed > 0
                && totals[0].retries > 0
        );
        check_sums(&samples, &totals);
    }
}

/// A user whose calls block for ten seconds each and find the one writer busy, twice; it notes how many seconds are handed over by then.
struct BlockedWriter {
    clock: Arc<Simulated>,
    collector: Arc<Collector>,
    tries: u64,
    handed_over: Vec<usize>,
}

impl VirtualUser for BlockedWriter {
    fn draw(&mut self) -> usize {
        0
    }

    async fn run(&mut self) -> Result<Completion, EngineError> {
        self.tries += 1;
        self.clock.sleep(Duration::from_secs(10));
        let busy = EngineError::new(ErrorClass::Retryable, "5", "database is locked");
        if self.tries < 3 { Err(busy) } else { Ok(Completion::Done) }
    }

    async fn recover(&mut self) -> Result<(), EngineError> {
        self.handed_over.push(self.collector.waiting());
        Ok(())
    }

    async fn reconnect(&mut self) -> Result<(), EngineError> {
        Ok(())
    }

    fn counters(&mut self, _into: &mut Vec<Reading>) {}
}

#[test]
fn a_user_whose_calls_block_hands_over_seconds_between_its_tries() {
    let clock = Arc::new(Simulated::default());
    let rounds = Rounds { user: 0, length: None, events: Arc::new(|_| {}) };
    let schedule: Arc<dyn Schedule> = Arc::new(SaturatedSchedule);
    let (context, collector) = context(&clock, (rounds, Reconnect::never()), &schedule, 1);
    let origin = clock.now();
    let mut user = BlockedWriter {
        clock: Arc::clone(&clock),
        collector: Arc::clone(&collector),
        tries: 0,
        handed_over: Vec::new(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    runtime.block_on(context.drive(origin, &mut user, Retry { at_most: 10 })).expect("it gets its turn");
    assert_eq!(user.handed_over, [10, 20], "whoever waits for the seconds of the load hears of them after each try");
    let mut recorder = context.recorder.borrow_mut();
    recorder.finish(clock.now());
    collector.retire(0);
    let samples: Vec<IntervalSample> = std::iter::from_fn(|| collector.next()).collect();
    check_sums(&samples, &recorder.totals());
    assert_eq!(recorder.totals()[0].retries, 2);
}

/// All latencies of a run by one clock.
pub(super) fn merged(samples: &[IntervalSample], clock: LatencyClock) -> hdrhistogram::Histogram<u64> {
    let mut sum = hdrhistogram::Histogram::<u64>::new(3).expect("three digits");
    for delta in samples.iter().flat_map(|sample| &sample.histograms).filter(|delta| delta.clock == clock) {
        let part: hdrhistogram::Histogram<u64> = hdrhistogram::serialization::Deserializer::new()
            .deserialize(&mut delta.payload.as_slice())
            .expect("our own payload");
        sum.add(part).expect("it grows");
    }
    sum
}

#[test]
fn a_stall_shows_in_the_response_time_and_not_in_the_service_time() {
    // 1,000/s for 20 s; every operation takes 0.1 ms but one that takes 2 s. The 2,000 operations that fall due
    // meanwhile wait, and the backlog melts at 10,000/s - 1,000/s. Response times above t: about (2 - t) * 1000 / (1 -
    // 0.1) operations.
    let script =
        |number: u64, _| well(if number == 5_000 { Duration::from_secs(2) } else { Duration::from_micros(100) });
    let (samples, totals, _) = run(Arc::new(ConstantRate::per_second(1000.0)), 20_000, script);
    check_sums(&samples, &totals);
    let response = merged(&samples, LatencyClock::Response);
    let expected = 2.0 - 0.01 * 20_000.0 * 0.9 / 1000.0;
    let found = response.value_at_quantile(0.99) as f64 / 1e9;
    assert!((found / expected - 1.0).abs() < 0.02, "response p99 {found} s, analytic {expected} s");
    let service = merged(&samples, LatencyClock::Service).value_at_quantile(0.999);
    assert!((99_000..102_000).contains(&service), "service p99.9 {service} ns is the service time of all but one");
    let stalled: Vec<u64> = samples
        .iter()
        .filter(|sample| sample.counts.iter().all(|counts| counts.done == 0))
        .map(|sample| sample.index)
        .collect();
    assert_eq!(stalled, [5, 6]);
}

#[test]
fn errors_that_trying_will_not_mend_end_the_user() {
    for (class, operations) in
        [(ErrorClass::ConnectionLost, 1), (ErrorClass::OutOfSpace, 1), (ErrorClass::Data, 1), (ErrorClass::Other, 50)]
    {
        let (samples, totals, went_well) = run(Arc::new(SaturatedSchedule), 1000, move |_, _| fails(class));
        assert!(!went_well, "{class:?}");
        assert_eq!(totals.iter().map(|total| total.failed).sum::<u64>(), operations, "{class:?}");
        assert_eq!(samples[0].errors[0].text, "said no (XX)");
        check_sums(&samples, &totals);
    }
}

#[test]
fn rounds_follow_each_other_and_hold_every_operation() {
    let (sender, told) = std::sync::mpsc::channel();
    let events: LoadEvents = Arc::new(move |event| sender.send(event).expect("the test listens"));
    let script = |number: u64, _| {
        let millis = Duration::from_millis(100 * (1 + number % 4));
        let ends = if number % 5 == 4 { fails(ErrorClass::Other).ends } else { Ok(Completion::Done) };
        Step { takes: millis, ends }
    };
    let rounds = Rounds { user: 3, length: Some(4), events };
    let (samples, totals, _) = run_in_rounds(rounds, Arc::new(SaturatedSchedule), 10, script);
    check_sums(&samples, &totals);
    let rounds: Vec<UserRound> = told
        .try_iter()
        .map(
            |event| {
                if let Event::RoundEnded(round) = event { round } else { panic!("only rounds are told: {event:?}") }
            },
        )
        .collect();
    let second = 1_000_000_000;
    let round = |number, began: i64, ended: i64, failed| {
        let (began, ended) = (Offset(began * second), Offset(ended * second));
        UserRound { user: 3, number, began, ended, well: 4 - failed, failed }
    };
    assert_eq!(rounds, [round(0, 0, 1, 0), round(1, 1, 2, 1)], "the third has not ended");
}

#[test]
fn errors_that_a_user_bears_end_nothing() {
    let cap =
        |_, _| Step { takes: Duration::from_millis(1), ends: Err(EngineError::new(ErrorClass::Other, "cap", "x")) };
    let (samples, totals, went_well) = run(Arc::new(SaturatedSchedule), 500, cap);
    assert!(went_well);
    assert_eq!(totals.iter().map(|total| total.failed).sum::<u64>(), 500);
    check_sums(&samples, &totals);
}

#[test]
fn draining_histograms_equals_recording_in_one() {
    let (mut parts, mut sum, mut direct) = (Latencies::default(), Latencies::default(), Latencies::default());
    for number in 0..100_000u64 {
        let value = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (20 + number % 30);
        direct.record(value);
        parts.record(value);
        if number % 777 == 0 {
            parts.drain_into(&mut sum);
        }
    }
    parts.drain_into(&mut sum);
    let buckets = |latencies: &Latencies| -> Vec<(u64, u64)> {
        let delta = latencies.to_delta("x", LatencyClock::Response).expect("values were recorded");
        assert_eq!(delta.count, 100_000);
        let histogram: hdrhistogram::Histogram<u64> = hdrhistogram::serialization::Deserializer::new()
            .deserialize(&mut delta.payload.as_slice())
            .expect("our own payload");
        histogram.iter_recorded().map(|step| (step.value_iterated_to(), step.count_at_value())).collect()
    };
    assert!(buckets(&sum) == buckets(&direct), "bucket for bucket");
}
