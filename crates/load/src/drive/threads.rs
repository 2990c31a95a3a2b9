//! Client threads: each owns one single-threaded runtime and a fixed set of virtual users; nothing moves between
//! threads.

use super::alarm::Alarm;
use super::context::{ThreadValues, UserContext};
use super::finish::Finish;
use super::gate::Gate;
use super::queue::{DueQueue, ThreadQueue};
use super::reconnect::{Patience, Reconnect};
use super::rounds::Rounds;
use super::schedule::Schedule;
use super::stop::{AfterCount, Stop, StopFlag};
use super::wait::Wait;
use crate::events::LoadEvents;
use crate::intervals::{Collector, Pauses, ThreadRecorder};
use crate::workload::{SessionSpan, WorkloadRun};
use proofload_model::error::Error;
use proofload_model::intervention::{LimitMeter, ResourceClass, SETTLES, USERS};
use proofload_model::load_share::LoadShare;
use proofload_model::samples::{IntervalSample, OperationCounts, add_counts};
use proofload_model::time::{Clock, Moment};
use proofload_model::wire::Event;
use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{mpsc, watch};
use tokio::task::LocalSet;

/// Specification of an agent's client threads.
#[derive(Clone)]
pub struct ThreadsSpec {
    /// Number of threads; user u belongs to thread u mod `threads` for the whole run.
    pub threads: u32,
    /// Whether a call to the engine blocks its thread.
    pub blocking: bool,
    /// Due times of operations.
    pub schedule: Arc<dyn Schedule>,
    /// Longest delay after which a scheduled operation may still begin; beyond it the operation is dropped.
    pub queue_at_most: Duration,
    /// Patience of its sessions.
    pub patience: Patience,
    /// Operations of all users of all agents together after which the load ends; `None` when it only ends by a stop.
    pub operations: Option<u64>,
    /// This agent's share of the load.
    pub part: LoadShare,
    /// Numbers of its sessions in the whole load.
    pub sessions: SessionSpan,
    /// Seconds of load that the conductor has acknowledged, once it does; `None` when nobody acknowledges.
    pub acknowledged: Option<Arc<AtomicU64>>,
    /// Source of time.
    pub clock: Arc<dyn Clock>,
    /// Sink of what the load reports.
    pub events: LoadEvents,
}

/// Seconds without acknowledgement after which the load stops: the conductor or the network is gone although the stream
/// is still open.
const UNACKNOWLEDGED_AT_MOST: u64 = 60;

/// Client threads with connected virtual users, before time zero or running.
pub struct ClientThreads {
    start: watch::Sender<Option<Option<Moment>>>,
    stop: StopFlag,
    gate: Gate,
    threads: Vec<JoinHandle<Vec<OperationCounts>>>,
    collecting: JoinHandle<u64>,
}

impl ClientThreads {
    /// Starts the threads and waits until every session is connected. On an error all threads have ended.
    pub fn connect(workload_run: &Arc<dyn WorkloadRun>, spec: &ThreadsSpec) -> Result<Self, Error> {
        let threads = spec.threads.clamp(1, workload_run.sessions().max(1));
        let queue = DueQueue::of(&spec.schedule, &spec.part, spec.operations, spec.queue_at_most);
        let offered = queue.as_ref().and_then(DueQueue::offered);
        let collector = Arc::new(Collector::new(workload_run.kinds(), threads as usize, offered));
        let (start, started) = watch::channel(None);
        let (connected, mut connections) = mpsc::unbounded_channel();
        let (stop, gate) = (StopFlag::default(), Gate::of(workload_run.sessions()));
        let finish = Finish::new(stop.clone());
        let handles = (0..threads)
            .map(|thread| {
                let thread = ClientThread {
                    workload_run: Arc::clone(workload_run),
                    spec: spec.clone(),
                    queue: queue.clone(),
                    collector: Arc::clone(&collector),
                    stop: stop.clone(),
                    gate: gate.clone(),
                    finish: finish.clone(),
                    start: started.clone(),
                    connected: connected.clone(),
                    thread,
                    threads,
                };
                std::thread::Builder::new().name(format!("client-{}", thread.thread)).spawn(move || thread.run())
            })
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| Error::new(format!("failed to start client threads: {error}")))?;
        drop(connected);
        let conductor = ConductorWatch {
            events: Arc::clone(&spec.events),
            acknowledged: spec.acknowledged.clone(),
            stop: stop.clone(),
        };
        let divided = (!spec.part.is_whole()).then(|| Arc::clone(workload_run));
        let seconds = Seconds { collector, start: started, pauses: Pauses::watch(Arc::clone(&spec.clock)) };
        let collecting = std::thread::spawn(move || collect(&seconds, &conductor, &finish, divided.as_deref()));
        let threads = Self { start, stop, gate, threads: handles, collecting };
        for _ in 0..workload_run.sessions() {
            match connections.blocking_recv() {
                Some(Ok(_)) => {}
                Some(Err(error)) => {
                    threads.call_off();
                    return Err(error);
                }
                None => {
                    threads.call_off();
                    return Err(Error::new("a client thread ended before its users were connected"));
                }
            }
        }
        Ok(threads)
    }

    /// Announces time zero.
    pub fn start(&self, origin: Moment) {
        let _nobody_left = self.start.send(Some(Some(origin)));
    }

    /// Lets only the first so many users of the whole load begin operations; `None`: all. Answers whether there are users to hold.
    pub fn hold(&self, active: Option<u32>) -> bool {
        self.gate.set(active);
        self.gate.is_installed()
    }

    /// Counts the users of this agent that began an operation since the last count; `None` where users share sessions.
    pub fn active_users(&self) -> LimitMeter {
        LimitMeter {
            setting: USERS.to_owned(),
            class: ResourceClass::Structure,
            settles: SETTLES,
            asked: self.gate.users() as f64,
            in_force: self.gate.count_active().map(|active| active as f64),
            used: Vec::new(),
        }
    }

    /// Stops the load and waits until operations in flight have ended. Returns the number of seconds and exact totals
    /// by kind.
    pub fn stop(self) -> (u64, Vec<OperationCounts>) {
        self.stop.set();
        let _nobody_waits = self.start.send_if_modified(|start| {
            start.is_none() && {
                *start = Some(None);
                true
            }
        });
        let mut totals: Vec<OperationCounts> = Vec::new();
        for thread in self.threads {
            // A thread that broke off has no totals: the sums will not agree, and the run is void.
            add_counts(&mut totals, &thread.join().unwrap_or_default());
        }
        (self.collecting.join().unwrap_or(0), totals)
    }

    /// Ends users that wait for time zero, and their threads.
    fn call_off(self) {
        let _ended = self.stop();
    }
}

/// Watch over the conductor: whether it still acknowledges the load.
struct ConductorWatch {
    events: LoadEvents,
    acknowledged: Option<Arc<AtomicU64>>,
    stop: StopFlag,
}

impl ConductorWatch {
    /// Whether the conductor is gone at this second. True once: the caller then stops the load.
    fn is_gone_at(&self, second: u64) -> bool {
        let heard = self.acknowledged.as_ref().map_or(0, |heard| heard.load(Ordering::Relaxed));
        heard > 0 && second > heard + UNACKNOWLEDGED_AT_MOST && !self.stop.reached(0)
    }
}

/// Seconds of load as the collector completes them, with what they hold of pauses.
struct Seconds {
    collector: Arc<Collector>,
    start: watch::Receiver<Option<Option<Moment>>>,
    pauses: Pauses,
}

impl Seconds {
    fn next(&self) -> Option<IntervalSample> {
        let mut sample = self.collector.next()?;
        if let Some(Some(origin)) = *self.start.borrow() {
            let from = origin + Duration::from_secs(sample.index);
            let paused = self.pauses.within(from, from + Duration::from_secs(1));
            sample.client.paused_ns = u64::try_from(paused.as_nanos()).unwrap_or(u64::MAX);
        }
        Some(sample)
    }
}

/// Sends each second as soon as it is complete, then the end of the load; returns the number of seconds. `divided`: the run, where this is
/// one of several agents.
fn collect(load: &Seconds, conductor: &ConductorWatch, finish: &Finish, divided: Option<&dyn WorkloadRun>) -> u64 {
    let mut seconds = 0;
    while let Some(sample) = load.next() {
        seconds = sample.index + 1;
        if conductor.is_gone_at(sample.index) {
            conductor.stop.set();
            let text = format!("the conductor acknowledged nothing for {UNACKNOWLEDGED_AT_MOST} s; it is gone");
            (conductor.events)(Event::LoadFailed { error: Error::new(text) });
        }
        if let Some(below) = divided.and_then(WorkloadRun::ended_below) {
            (conductor.events)(Event::OperationsEnded { below });
        }
        (conductor.events)(Event::Interval(Box::new(sample)));
    }
    let (first_without_work, ran) = (finish.first_without_work(), finish.last());
    (conductor.events)(Event::LoadEnded { intervals: seconds, first_without_work, ran });
    seconds
}

/// A client thread before it starts.
struct ClientThread {
    workload_run: Arc<dyn WorkloadRun>,
    spec: ThreadsSpec,
    queue: Option<DueQueue>,
    collector: Arc<Collector>,
    stop: StopFlag,
    gate: Gate,
    finish: Finish,
    start: watch::Receiver<Option<Option<Moment>>>,
    connected: mpsc::UnboundedSender<Result<u32, Error>>,
    thread: u32,
    threads: u32,
}

impl ClientThread {
    fn run(self) -> Vec<OperationCounts> {
        let place = self.thread as usize;
        let _retires = RetireOnDrop { collector: &self.collector, place };
        self.collector.register(place);
        let users: Vec<u32> = (self.thread..self.workload_run.sessions()).step_by(self.threads as usize).collect();
        let (count, scheduled) = (u32::try_from(users.len()).unwrap_or(u32::MAX), self.queue.is_some());
        let recorder = ThreadRecorder::new(Arc::clone(&self.collector), place, count, scheduled);
        let recorder = Rc::new(RefCell::new(recorder));
        // Without it the kernel lets sleepers oversleep by 50 µs; where it is refused the send lag shows it.
        let _refused = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
        let started = Builder::new_current_thread().enable_all().build();
        if let Err(error) = started.and_then(|runtime| self.run_sessions(&runtime, &users, &recorder)) {
            let _gone = self
                .connected
                .send(Err(Error::new(format!("failed to start the runtime of a client thread: {error}"))));
        }
        let mut recorder = recorder.borrow_mut();
        recorder.finish(self.spec.clock.now());
        recorder.totals()
    }

    /// Runs the sessions of the thread, and a tick, so that a waiting thread hands over its seconds too.
    fn run_sessions(&self, runtime: &Runtime, users: &[u32], recorder: &Rc<RefCell<ThreadRecorder>>) -> io::Result<()> {
        let local = LocalSet::new();
        let (clock, sessions) = (Arc::clone(&self.spec.clock), u32::try_from(users.len()).unwrap_or(u32::MAX));
        let entered = runtime.enter();
        let alarm = Rc::new(Alarm::new(Arc::clone(&clock), sessions)?);
        drop(entered);
        let shared = ThreadShared {
            recorder: Rc::clone(recorder),
            queue: self.queue.as_ref().and_then(DueQueue::on_thread).map(Rc::new),
            alarm,
            thread_values: ThreadValues::default(),
        };
        let numbered = (0..).zip(users);
        let tasks: Vec<_> = numbered
            .map(|(sleeper, user)| {
                local.spawn_local(self.session_task(*user, shared.wait(&self.spec, sleeper), &shared))
            })
            .collect();
        let waking = local.spawn_local(Rc::clone(&shared.alarm).keep_waking());
        let handing_over =
            local.spawn_local(hand_over_past_seconds(shared.clone(), clock, self.stop.clone(), self.start.clone()));
        local.block_on(runtime, async {
            for session_task in tasks {
                if session_task.await.is_err() {
                    (self.spec.events)(Event::LoadFailed {
                        error: Error::new("a virtual user panicked; this is a bug in Proofload"),
                    });
                }
            }
        });
        handing_over.abort();
        waking.abort();
        Ok(())
    }

    /// Number of a session in the whole load.
    fn number(&self, session: u32) -> u32 {
        self.spec.sessions.first + session
    }

    /// The stop of a user; the queue of a schedule ends by itself.
    fn stop_of(&self, user: u32) -> Arc<dyn Stop> {
        let flag = self.stop.clone();
        match self.spec.operations.filter(|_| self.queue.is_none()) {
            Some(operations) => {
                let SessionSpan { first, all } = self.spec.sessions;
                Arc::new(AfterCount::share(operations, first + user, all.max(self.workload_run.sessions()), flag))
            }
            None => Arc::new(flag),
        }
    }

    /// Runs one session to its end; reports a failure once.
    fn session_task(&self, user: u32, wait: Wait, shared: &ThreadShared) -> impl Future<Output = ()> + use<> {
        let context = UserContext {
            clock: Arc::clone(&self.spec.clock),
            queue: shared.queue.clone(),
            stop: self.stop_of(user),
            gate: self.gate.clone(),
            finish: self.finish.clone(),
            rounds: Rounds {
                user: self.number(user),
                length: self.workload_run.round(),
                events: Arc::clone(&self.spec.events),
            },
            reconnect: Reconnect {
                patience: self.spec.patience,
                session: self.number(user),
                events: Arc::clone(&self.spec.events),
            },
            recorder: Rc::clone(&shared.recorder),
            wait,
            user,
            thread: self.thread,
            threads: self.threads,
            thread_values: Rc::clone(&shared.thread_values),
            start: self.start.clone(),
            connected: self.connected.clone(),
        };
        let (session_task, number) = (Arc::clone(&self.workload_run).run_session(user, context), self.number(user));
        let (connected, start, events) = (self.connected.clone(), self.start.clone(), Arc::clone(&self.spec.events));
        async move {
            if let Err(error) = session_task.await {
                if start.borrow().is_none() {
                    let _gone = connected.send(Err(error.context(format!("failed to connect virtual user {number}"))));
                } else {
                    events(Event::LoadFailed { error: error.context(format!("virtual user {number}")) });
                }
            }
        }
    }
}

/// Retires its thread from the collector on drop, however the thread ends, so that nobody waits for it.
struct RetireOnDrop<'a> {
    collector: &'a Collector,
    place: usize,
}

impl Drop for RetireOnDrop<'_> {
    fn drop(&mut self) {
        self.collector.retire(self.place);
    }
}

/// Values that the users of a thread share.
#[derive(Clone)]
struct ThreadShared {
    recorder: Rc<RefCell<ThreadRecorder>>,
    queue: Option<Rc<ThreadQueue>>,
    alarm: Rc<Alarm>,
    thread_values: ThreadValues,
}

impl ThreadShared {
    /// The way in which this user waits.
    fn wait(&self, spec: &ThreadsSpec, sleeper: u32) -> Wait {
        if spec.blocking { Wait::Clock } else { Wait::Alarm { alarm: Rc::clone(&self.alarm), sleeper } }
    }
}

/// Hands over past seconds while all users of the thread wait for the database; when the load is stopped, wakes users
/// that wait for a due time.
async fn hand_over_past_seconds(
    shared: ThreadShared,
    clock: Arc<dyn Clock>,
    stop: StopFlag,
    mut start: watch::Receiver<Option<Option<Moment>>>,
) {
    let Ok(Some(Some(origin))) = start.wait_for(Option::is_some).await.map(|origin| *origin) else { return };
    shared.recorder.borrow_mut().start(origin);
    loop {
        tokio::time::sleep(Duration::from_millis(100)).await;
        shared.recorder.borrow_mut().turn(clock.now());
        if stop.reached(0) {
            shared.alarm.release();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_that_nobody_hears_of_any_more_ends() {
        let check = |acknowledged: Option<u64>, second: u64, deaf: bool| {
            let acknowledged = acknowledged.map(|seconds| Arc::new(AtomicU64::new(seconds)));
            let conductor = ConductorWatch { events: Arc::new(|_| ()), acknowledged, stop: StopFlag::default() };
            assert_eq!(conductor.is_gone_at(second), deaf, "second {second}");
            conductor.stop.set();
            assert!(!conductor.is_gone_at(second), "it is told once");
        };
        check(Some(5), 65, false);
        check(Some(5), 66, true);
        check(Some(0), 10_000, false);
        check(None, 10_000, false);
    }
}
