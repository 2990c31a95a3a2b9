//! The alarm clock of a client thread: wakes its users at their due times, to some ten microseconds, without burning a
//! core. Does not decide when an operation is due.
//!
//! The runtime's own timer is good to a millisecond. Each thread therefore has one kernel timer, set for the earliest
//! due time of its users; the due times are in a heap whose memory is allocated at the start. Nothing here is shared
//! between threads.

use proofload_model::time::{Clock, Moment};
use rustix::time::{Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec};
use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Times nearer than this are polled for: falling asleep and being woken takes longer, and meanwhile other operations
/// become due. Below some 100,000 operations a second on one thread this hardly happens.
const NEAR: Duration = Duration::from_micros(10);

/// The alarm clock of one thread.
pub(super) struct Alarm {
    clock: Arc<dyn Clock>,
    times: RefCell<DueTimes>,
    /// Time that the timer is set for.
    set: Cell<Moment>,
    /// Whether that time is so near that it is polled for.
    is_near: Cell<bool>,
    /// Waker of the task that watches the timer.
    poller: RefCell<Option<Waker>>,
    /// `None` where [`Alarm::wake_due`] is called by hand, as by tests that move the time themselves.
    timer: Option<AsyncFd<OwnedFd>>,
    /// Whether the load has ended, so that nobody waits any more.
    released: Cell<bool>,
}

/// Sleepers and their due times.
struct DueTimes {
    /// May hold times that their sleepers no longer wait for; those wake nobody.
    heap: BinaryHeap<Reverse<(Moment, u32)>>,
    sleepers: Vec<Sleeper>,
}

/// Due time of one sleeper; each waits for one time at most.
#[derive(Clone)]
struct Sleeper {
    due: Moment,
    /// `None` when it does not wait.
    waker: Option<Waker>,
}

impl Alarm {
    /// An alarm of `sleepers` users with a kernel timer. Belongs to the runtime that it is made on.
    pub(super) fn new(clock: Arc<dyn Clock>, sleepers: u32) -> io::Result<Self> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let timer = rustix::time::timerfd_create(TimerfdClockId::Monotonic, flags)?;
        #[expect(deprecated, reason = "an owned descriptor is a live one; what replaces this call is unsafe code")]
        let timer = AsyncFd::with_interest(timer, Interest::READABLE)?;
        Ok(Self { timer: Some(timer), ..Self::without_timer(clock, sleepers) })
    }

    /// An alarm without a timer: [`Alarm::wake_due`] must be called.
    pub(super) fn without_timer(clock: Arc<dyn Clock>, sleepers: u32) -> Self {
        let sleepers = sleepers as usize;
        let heap = BinaryHeap::with_capacity(2 * sleepers);
        let times = DueTimes { heap, sleepers: vec![Sleeper { due: Moment(0), waker: None }; sleepers] };
        let set = Cell::new(Moment(u64::MAX));
        let poller = RefCell::default();
        Self {
            clock,
            times: RefCell::new(times),
            set,
            is_near: Cell::new(false),
            poller,
            timer: None,
            released: Cell::new(false),
        }
    }

    /// Waits until `due`, or until the load ends.
    pub(super) fn until(&self, sleeper: u32, due: Moment) -> Until<'_> {
        Until { alarm: self, sleeper, due }
    }

    /// The earliest due time.
    #[cfg(test)]
    pub(super) fn earliest(&self) -> Option<Moment> {
        self.times.borrow().heap.peek().map(|Reverse((due, _))| *due)
    }

    /// Wakes all sleepers that are due, and sets the timer for the next due time.
    pub(super) fn wake_due(&self, now: Moment) {
        loop {
            let mut times = self.times.borrow_mut();
            let Some(Reverse((due, sleeper))) = times.heap.peek().copied() else {
                self.set.set(Moment(u64::MAX));
                self.is_near.set(false);
                return;
            };
            if due > now {
                self.set_timer(due, now);
                return;
            }
            times.heap.pop();
            let waiting = &mut times.sleepers[sleeper as usize];
            let waker = waiting.waker.take_if(|_| waiting.due == due);
            drop(times);
            waker.into_iter().for_each(Waker::wake);
        }
    }

    /// Wakes other sleepers from a user that is due and reads the clock anyhow: the runtime looks at the timer only
    /// after dozens of polls, which on a busy thread would become send lag.
    #[inline]
    fn wake_others(&self, sleeper: u32, now: Moment) {
        if now >= self.set.get() {
            self.times.borrow_mut().sleepers[sleeper as usize].waker = None;
            self.wake_due(now);
        }
    }

    /// Whether the load has ended.
    pub(super) fn is_released(&self) -> bool {
        self.released.get()
    }

    /// Wakes a sleeper before its time.
    pub(super) fn wake_early(&self, sleeper: u32) {
        let waker = self.times.borrow_mut().sleepers[sleeper as usize].waker.take();
        waker.into_iter().for_each(Waker::wake);
    }

    /// Ends the load: wakes everybody, and nobody waits from here on.
    pub(super) fn release(&self) {
        self.released.set(true);
        let mut times = self.times.borrow_mut();
        times.heap.clear();
        let wakers: Vec<Waker> = times.sleepers.iter_mut().filter_map(|sleeper| sleeper.waker.take()).collect();
        drop(times);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Wakes sleepers whenever the timer expires or a polled time has come; ends with the thread.
    pub(super) async fn keep_waking(self: Rc<Self>) {
        if let Some(timer) = &self.timer {
            std::future::poll_fn(|context| self.poll_timer(timer, context)).await;
        }
    }

    /// Watches the timer; ready only when the timer is broken.
    fn poll_timer(&self, timer: &AsyncFd<OwnedFd>, context: &mut Context<'_>) -> Poll<()> {
        // The timer is watched by edges, and each time it runs out is one, so it need not be read.
        while let Poll::Ready(ran_out) = timer.poll_read_ready(context) {
            let Ok(mut ran_out) = ran_out else { return Poll::Ready(()) };
            ran_out.clear_ready();
            self.wake_due(self.clock.now());
        }
        if self.is_near.get() {
            let now = self.clock.now();
            if now >= self.set.get() {
                self.wake_due(now);
            }
        }
        match &mut *self.poller.borrow_mut() {
            Some(known) => known.clone_from(context.waker()),
            none => *none = Some(context.waker().clone()),
        }
        if self.is_near.get() {
            context.waker().wake_by_ref();
        }
        Poll::Pending
    }

    /// Arms the alarm: wakes `waker` at `due`, replacing what this sleeper waited for before.
    pub(super) fn wait_for(&self, sleeper: u32, due: Moment, waker: &Waker, now: Moment) {
        let mut times = self.times.borrow_mut();
        let waiting = &mut times.sleepers[sleeper as usize];
        let is_set = waiting.due == due && waiting.waker.is_some();
        waiting.due = due;
        match &mut waiting.waker {
            Some(known) => known.clone_from(waker),
            none => *none = Some(waker.clone()),
        }
        if !is_set {
            times.heap.push(Reverse((due, sleeper)));
        }
        if due < self.set.get() {
            self.set_timer(due, now);
        }
    }

    fn set_timer(&self, due: Moment, now: Moment) {
        self.set.set(due);
        let Some(timer) = &self.timer else { return };
        let left = due.since(now);
        self.is_near.set(left < NEAR);
        if left < NEAR {
            // Before its first turn it has no waker, and looks after itself then.
            if let Some(poller) = &*self.poller.borrow() {
                poller.wake_by_ref();
            }
            return;
        }
        let zero = Timespec { tv_sec: 0, tv_nsec: 0 };
        let left =
            Timespec { tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX), tv_nsec: left.subsec_nanos().into() };
        let once = Itimerspec { it_interval: zero, it_value: left };
        rustix::time::timerfd_settime(timer, TimerfdTimerFlags::empty(), &once)
            .expect("the descriptor is a timer and the time is lawful");
    }
}

/// Future that is ready at one due time.
pub(super) struct Until<'a> {
    alarm: &'a Alarm,
    sleeper: u32,
    due: Moment,
}

impl Future for Until<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let now = self.alarm.clock.now();
        if now >= self.due || self.alarm.released.get() {
            self.alarm.wake_others(self.sleeper, now);
            return Poll::Ready(());
        }
        self.alarm.wait_for(self.sleeper, self.due, context.waker(), now);
        Poll::Pending
    }
}
