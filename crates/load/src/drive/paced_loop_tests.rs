//! Terminals that share sessions, and queued work, under a simulated clock. No thread sleeps here.

use super::alarm::Alarm;
use super::context::{Retry, UserContext};
use super::due_terminals::DueTerminals;
use super::finish::Finish;
use super::gate::Gate;
use super::open_load_tests::{Hands, ORIGIN, move_time};
use super::reconnect::Reconnect;
use super::rounds::Rounds;
use super::virtual_user::{QueueWorker, QueuedItem, SharedSession, VirtualUser};

use super::stop::StopFlag;
use super::tests::{KINDS, check_sums, merged};
use super::wait::Wait;
use crate::intervals::{Collector, ThreadRecorder};
use crate::operation::Completion;
use proofload_engine::Error as EngineError;
use proofload_model::samples::{IntervalSample, LatencyClock, OperationCounts, Reading};
use proofload_model::time::Clock;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::LocalSet;

const MS: Duration = Duration::from_millis(1);

/// Terminals that share servers; each third operation is answered at once and done later.
struct Case {
    terminals: u32,
    servers: u32,
    service: Duration,
    /// Time between an answer and the next operation, by terminal.
    wait: fn(u32) -> Duration,
    stopped_at: Duration,
}

/// A shared session, or a worker.
struct Hand {
    database: Rc<Alarm>,
    clock: Arc<Hands>,
    sleeper: u32,
    service: Duration,
    wait: fn(u32) -> Duration,
    terminal: u32,
    number: u64,
    later: Option<mpsc::Sender<QueuedItem<u32>>>,
}

impl SharedSession for Hand {
    fn take_terminal(&mut self, terminal: u32) -> usize {
        self.terminal = terminal;
        self.number += 1;
        0
    }

    fn answer_terminal(&mut self) -> Duration {
        (self.wait)(self.terminal)
    }
}

impl QueueWorker for Hand {
    type Item = u32;

    fn take(&mut self, queued: QueuedItem<u32>) {
        self.terminal = queued.item;
    }
}

impl VirtualUser for Hand {
    fn draw(&mut self) -> usize {
        0
    }

    async fn run(&mut self) -> Result<Completion, EngineError> {
        let now = self.clock.now();
        if let Some(later) = self.later.as_ref().filter(|_| self.number.is_multiple_of(3)) {
            later.try_send(QueuedItem { item: self.terminal, at: now }).expect("there is room");
            return Ok(Completion::Done);
        }
        self.database.until(self.sleeper, now + self.service).await;
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

impl Case {
    /// Runs to its end; the sums of every second are checked. Operations of kind 1 are the work that was queued.
    fn run(&self) -> (Vec<IntervalSample>, Vec<OperationCounts>) {
        let clock = Arc::new(Hands::default());
        let sleepers = self.servers + 1;
        let new_alarm = || Rc::new(Alarm::without_timer(Arc::clone(&clock) as Arc<dyn Clock>, sleepers));
        let (alarm, database) = (new_alarm(), new_alarm());
        let collector = Arc::new(Collector::new(KINDS, 1, None));
        let recorder = Rc::new(RefCell::new(ThreadRecorder::new(Arc::clone(&collector), 0, sleepers, true)));
        recorder.borrow_mut().start(ORIGIN);
        let stop = StopFlag::default();
        let (_start, started) = tokio::sync::watch::channel(None);
        let (connected, _connections) = mpsc::unbounded_channel();
        let context = |user: u32| UserContext {
            clock: Arc::clone(&clock) as Arc<dyn Clock>,
            queue: None,
            stop: Arc::new(stop.clone()),
            gate: Gate::default(),
            finish: Finish::new(stop.clone()),
            rounds: Rounds { user, length: None, events: Arc::new(|_| {}) },
            reconnect: Reconnect::never(),
            recorder: Rc::clone(&recorder),
            wait: Wait::Alarm { alarm: Rc::clone(&alarm), sleeper: user },
            user,
            thread: 0,
            threads: 1,
            thread_values: Default::default(),
            start: started.clone(),
            connected: connected.clone(),
        };
        let hand = |sleeper: u32, later: Option<mpsc::Sender<QueuedItem<u32>>>| {
            let (database, clock) = (Rc::clone(&database), Arc::clone(&clock));
            Hand { database, clock, sleeper, service: self.service, wait: self.wait, terminal: 0, number: 0, later }
        };
        let terminals = Rc::new(DueTerminals::with_capacity(self.terminals as usize));
        (0..self.terminals).for_each(|number| terminals.add(number, ORIGIN + (self.wait)(number)));
        let (sender, mut queue) = mpsc::channel(10_000);
        let local = LocalSet::new();
        for number in 0..self.servers {
            let (context, terminals) = (context(number), Rc::clone(&terminals));
            let mut server = hand(number, Some(sender.clone()));
            local.spawn_local(async move {
                context.serve(ORIGIN, &terminals, &mut server, Retry { at_most: 0 }).await.expect("serves");
            });
        }
        drop(sender);
        let (of_worker, mut worker) = (context(self.servers), hand(self.servers, None));
        local.spawn_local(async move {
            of_worker.work(ORIGIN, &mut queue, (&mut worker, 1), Retry { at_most: 0 }).await.expect("works");
        });
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let stopped_at = ORIGIN + self.stopped_at;
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

#[test]
fn thousands_of_terminals_share_a_few_sessions_and_keep_their_waits() {
    // 2,000 terminals that wait 10 to 20 s and are answered in 10 ms, a third of them at once.
    let wait = |terminal: u32| Duration::from_micros(10_000_000 + u64::from(terminal) * 5_000);
    let case = Case { terminals: 2_000, servers: 4, service: 10 * MS, wait, stopped_at: Duration::from_secs(100) };
    let (samples, totals) = case.run();
    // A terminal's operations follow each other after wait + response; that of a third is 0, of the others 10 ms and
    // some queueing.
    let expected: f64 = (0..2_000).map(|number| 100.0 / (wait(number).as_secs_f64() + 0.007)).sum();
    let done = totals[0].done as f64;
    assert!((done / expected - 0.97).abs() < 0.04, "{done} of about {expected}, the last cycle of each not finished");
    let response = merged(&samples, LatencyClock::Response);
    assert!(response.value_at_quantile(0.5) >= 9_990_000 && response.value_at_quantile(0.9) < 60_000_000);
    assert!(totals[1].done.abs_diff(totals[0].done / 3) <= 4, "what was queued is done: {totals:?}");
}

#[test]
fn waiting_for_a_session_counts_into_the_response_time() {
    // Twenty terminals send at the same moment; one session takes 10 ms for each that is not answered at once.
    let wait = |_| Duration::from_secs(1);
    let case = Case { terminals: 20, servers: 1, service: 10 * MS, wait, stopped_at: Duration::from_millis(1_500) };
    let (samples, totals) = case.run();
    assert_eq!((totals[0].done, totals[1].done), (20, 6));
    let response = merged(&samples, LatencyClock::Response);
    let (shortest, longest) = (response.min(), response.max());
    assert!((9_990_000..10_020_000).contains(&shortest), "{shortest} ns");
    assert!((139_000_000..141_000_000).contains(&longest), "fourteen of the twenty took their time: {longest} ns");
    let service = merged(&samples, LatencyClock::Service);
    assert!(service.max() < 61_000_000, "the queue of later work has one worker: {}", service.max());
}

#[test]
fn a_terminal_that_is_back_before_the_first_one_is_served_before_it() {
    // Terminal 0 waits a second, terminal 1 a hundred: the keeper must not sleep through the returns of the first.
    let wait = |terminal: u32| if terminal == 0 { Duration::from_secs(1) } else { Duration::from_secs(100) };
    let case = Case { terminals: 2, servers: 3, service: 10 * MS, wait, stopped_at: Duration::from_secs(50) };
    let (_, totals) = case.run();
    assert!((48..=50).contains(&totals[0].done), "{totals:?}");
}
