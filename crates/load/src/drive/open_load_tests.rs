//! Many users of one thread under a simulated clock and a load by a schedule: who waits for whom, what a stall looks
//! like, what is dropped. No thread sleeps here.

use super::alarm::Alarm;
use super::context::{Retry, UserContext};
use super::finish::Finish;
use super::gate::Gate;
use super::queue::DueQueue;
use super::reconnect::Reconnect;
use super::rounds::Rounds;
use super::schedule::{ConstantRate, PoissonRate, Schedule};
use super::stop::{Stop as _, StopFlag};
use super::tests::{KINDS, check_sums, merged};
use super::virtual_user::VirtualUser;
use super::wait::Wait;
use crate::intervals::{Collector, ThreadRecorder};
use crate::operation::Completion;
use proofload_engine::Error as EngineError;
use proofload_gen::Seed;
use proofload_model::load_share::LoadShare;
use proofload_model::samples::{IntervalSample, LatencyClock, OperationCounts, Reading};
use proofload_model::time::{Clock, Moment, WallTime};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::task::LocalSet;

/// Time zero.
pub(super) const ORIGIN: Moment = Moment(1_000_000_000_000);

/// A clock that the test moves.
#[derive(Default)]
pub(super) struct Hands(AtomicU64);

impl Clock for Hands {
    fn now(&self) -> Moment {
        Moment(ORIGIN.0 + self.0.load(Ordering::Relaxed))
    }

    fn wall(&self) -> WallTime {
        WallTime(0)
    }

    fn sleep(&self, _time: Duration) {
        panic!("users of a shared thread wait by its alarm clock");
    }
}

/// A load by a schedule on a modelled database.
struct Case<F> {
    schedule: Arc<dyn Schedule>,
    users: u32,
    operations: Option<u64>,
    queue_at_most: Duration,
    /// Time at which the load is stopped; `None` when it ends with its operations.
    stopped_at: Option<Duration>,
    /// End of an operation, after time zero, by its user and its begin.
    ends: F,
}

/// One user of the modelled database.
struct User<F> {
    database: Rc<Alarm>,
    clock: Arc<Hands>,
    user: u32,
    number: u64,
    ends: Rc<F>,
}

impl<F: Fn(u32, Duration) -> Duration> VirtualUser for User<F> {
    fn draw(&mut self) -> usize {
        self.number += 1;
        usize::from(self.number.is_multiple_of(3))
    }

    async fn run(&mut self) -> Result<Completion, EngineError> {
        let ends = (self.ends)(self.user, self.clock.now().since(ORIGIN));
        self.database.until(self.user, ORIGIN + ends).await;
        Ok(Completion::Done)
    }

    async fn recover(&mut self) -> Result<(), EngineError> {
        Ok(())
    }

    async fn reconnect(&mut self) -> Result<(), EngineError> {
        Err(EngineError::other("nothing is lost here"))
    }

    fn counters(&mut self, _into: &mut Vec<Reading>) {}
}

impl<F: Fn(u32, Duration) -> Duration + 'static> Case<F> {
    /// Runs to its end; the sums of every second are checked.
    fn run(self) -> (Vec<IntervalSample>, Vec<OperationCounts>) {
        let clock = Arc::new(Hands::default());
        let new_alarm = || Rc::new(Alarm::without_timer(Arc::clone(&clock) as Arc<dyn Clock>, self.users));
        let (alarm, database) = (new_alarm(), new_alarm());
        let queue = DueQueue::of(&self.schedule, &LoadShare::default(), self.operations, self.queue_at_most)
            .expect("it has due times");
        let collector = Arc::new(Collector::new(KINDS, 1, queue.offered()));
        let recorder = ThreadRecorder::new(Arc::clone(&collector), 0, self.users, true);
        let recorder = Rc::new(RefCell::new(recorder));
        recorder.borrow_mut().start(ORIGIN);
        let thread_queue = Rc::new(queue.on_thread().expect("it has due times"));
        let (ends, stop) = (Rc::new(self.ends), StopFlag::default());
        let (_start, started) = tokio::sync::watch::channel(None);
        let (connected, _connections) = tokio::sync::mpsc::unbounded_channel();
        let local = LocalSet::new();
        for number in 0..self.users {
            let context = UserContext {
                clock: Arc::clone(&clock) as Arc<dyn Clock>,
                queue: Some(Rc::clone(&thread_queue)),
                stop: Arc::new(stop.clone()),
                gate: Gate::default(),
                finish: Finish::new(stop.clone()),
                rounds: Rounds { user: number, length: None, events: Arc::new(|_| {}) },
                reconnect: Reconnect::never(),
                recorder: Rc::clone(&recorder),
                wait: Wait::Alarm { alarm: Rc::clone(&alarm), sleeper: number },
                user: number,
                thread: 0,
                threads: 1,
                thread_values: Default::default(),
                start: started.clone(),
                connected: connected.clone(),
            };
            let (database, clock, ends) = (Rc::clone(&database), Arc::clone(&clock), Rc::clone(&ends));
            let mut user = User { database, clock, user: number, number: 0, ends };
            local.spawn_local(async move { context.drive(ORIGIN, &mut user, Retry { at_most: 0 }).await });
        }
        let stopped_at = self.stopped_at.map_or(Moment(u64::MAX), |after| ORIGIN + after);
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        local.block_on(&runtime, move_time(&clock, [&alarm, &database], &stop, stopped_at));
        runtime.block_on(local);
        recorder.borrow_mut().finish(clock.now());
        collector.retire(0);
        let samples: Vec<IntervalSample> = std::iter::from_fn(|| collector.next()).collect();
        let totals = recorder.borrow().totals();
        check_sums(&samples, &totals);
        (samples, totals)
    }
}

/// Moves the clock to the next due time whenever all users wait.
pub(super) async fn move_time(clock: &Hands, [waits, database]: [&Alarm; 2], stop: &StopFlag, stopped_at: Moment) {
    loop {
        // A user that is woken goes on to its next wait in a few turns.
        for _ in 0..16 {
            tokio::task::yield_now().await;
        }
        let next = match [waits, database].into_iter().filter_map(Alarm::earliest).min() {
            Some(next) if next >= stopped_at && !stop.reached(0) => {
                stop.set();
                // Users that wait for their time are let go; those in the database finish.
                waits.release();
                stopped_at
            }
            Some(next) => next,
            None => return,
        };
        clock.0.store(next.since(ORIGIN).as_nanos() as u64, Ordering::Relaxed);
        waits.wake_due(next);
        database.wake_due(next);
    }
}

const MS: Duration = Duration::from_millis(1);

/// Every operation takes a millisecond, but none ends while the database stands still for a second, five seconds in.
fn stalled(_user: u32, begun: Duration) -> Duration {
    let (from, to) = (Duration::from_secs(5), Duration::from_secs(6));
    if begun + MS > from && begun < to { to + (begun + MS - from).min(MS) } else { begun + MS }
}

/// 20,000 operations at 1,000/s with eight users, one stall of a second. Response times above t: the (1 - t) * 1000
/// operations that fell due early in the stall, and those behind them while the backlog melts at 8,000/s - 1,000/s.
fn check_stall(schedule: Arc<dyn Schedule>) {
    let case = Case {
        schedule,
        users: 8,
        operations: Some(20_000),
        queue_at_most: Duration::from_secs(10),
        stopped_at: None,
        ends: stalled,
    };
    let (samples, totals) = case.run();
    assert_eq!(totals.iter().map(|total| total.done).sum::<u64>(), 20_000);
    let response = merged(&samples, LatencyClock::Response);
    for share in [0.99, 0.999] {
        let above = (1.0 - share) * 20_000.0;
        let (expected, found) =
            (1.0 - above * (1.0 - 1.0 / 8.0) / 1000.0, response.value_at_quantile(share) as f64 / 1e9);
        assert!((found / expected - 1.0).abs() < 0.05, "response p{share}: {found} s, analytic {expected} s");
    }
    let service = merged(&samples, LatencyClock::Service);
    let of_calm = 1_000_000..1_005_000;
    assert!(of_calm.contains(&service.value_at_quantile(0.999)), "service p99.9 is that of a calm run");
    assert!((980_000_000..1_003_000_000).contains(&service.max()), "eight operations were in flight");
}

#[test]
fn a_stall_shows_in_the_response_time_and_not_in_the_service_time() {
    check_stall(Arc::new(ConstantRate::per_second(1000.0)));
    check_stall(Arc::new(PoissonRate { per_second: 1000.0, seed: Seed(5) }));
}

#[test]
fn a_slow_user_delays_nobody_elses_operations() {
    // User 3 is busy with one operation for two seconds; the others take what is due meanwhile.
    let slow = |user: u32, begun: Duration| {
        let stuck = user == 3 && (Duration::from_secs(2)..Duration::from_secs(3)).contains(&begun);
        begun + if stuck { Duration::from_secs(2) } else { MS }
    };
    let case = Case {
        schedule: Arc::new(ConstantRate::per_second(1000.0)),
        users: 4,
        operations: Some(10_000),
        queue_at_most: Duration::from_secs(10),
        stopped_at: None,
        ends: slow,
    };
    let response = merged(&case.run().0, LatencyClock::Response);
    assert_eq!(response.count_between(10_000_000, u64::MAX), 1, "only its own");
    assert!(response.value_at_quantile(0.999) < 1_100_000, "with fixed places it would be about two seconds");
}

/// Two users that do 100 operations a second each, offered 300/s for 20 s.
fn overloaded(queue_at_most: Duration) -> (Vec<IntervalSample>, Vec<OperationCounts>) {
    Case {
        schedule: Arc::new(ConstantRate::per_second(300.0)),
        users: 2,
        operations: None,
        queue_at_most,
        stopped_at: Some(Duration::from_secs(20)),
        ends: |_, begun| begun + 10 * MS,
    }
    .run()
}

#[test]
fn what_waits_too_long_is_dropped_and_counted() {
    let (samples, totals) = overloaded(Duration::from_secs(2));
    let sum = |pick: fn(&OperationCounts) -> u64| totals.iter().map(pick).sum::<u64>();
    assert!(sum(|total| total.done).abs_diff(4_000) <= 4, "the users were never idle: {totals:?}");
    // 100/s cannot be done; 600 of them may wait at any moment.
    assert!(sum(|total| total.dropped).abs_diff(2_000 - 600) <= 5, "{totals:?}");
    let response = merged(&samples, LatencyClock::Response);
    assert!(response.max() <= 2_012_000_000, "none began later than two seconds after it was due: {}", response.max());
    for sample in &samples[..20] {
        let offered = sample.client.offered.expect("the load lasted through it");
        assert_eq!(offered.due, 300, "the offered load does not depend on the database");
        assert!(offered.waiting <= 606, "what has waited too long is found when a user is free, 10 ms later at most");
    }
    assert_eq!(samples[10].client.offered.map(|offered| offered.waiting > 590), Some(true));
    assert!(totals.iter().all(|total| total.dropped > 0), "under the kinds that would have run");
}

#[test]
fn without_room_to_wait_only_what_finds_a_free_user_runs() {
    let (samples, totals) = overloaded(Duration::ZERO);
    let done: u64 = totals.iter().map(|total| total.done).sum();
    let dropped: u64 = totals.iter().map(|total| total.dropped).sum();
    assert!(done + dropped > 5_990 && dropped > 1_900, "{done} done, {dropped} dropped");
    assert!(merged(&samples, LatencyClock::Response).max() <= 10_100_000, "nobody waited");
}

#[test]
fn users_that_wait_are_let_go_when_the_load_is_stopped() {
    let case = Case {
        schedule: Arc::new(ConstantRate::per_second(0.01)),
        users: 3,
        operations: None,
        queue_at_most: Duration::from_secs(10),
        stopped_at: Some(Duration::from_secs(7)),
        ends: |_, begun| begun + MS,
    };
    let (samples, totals) = case.run();
    assert_eq!(totals.iter().map(|total| total.due).sum::<u64>(), 1, "the next was due at 100 s");
    assert!(samples.len() <= 8);
}
