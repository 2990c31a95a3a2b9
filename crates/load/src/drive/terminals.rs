//! Terminals of a paced load on one client thread: many more of them than sessions. A terminal that keys or thinks is a time in a heap;
//! whoever serves takes the one whose time came first. May not know how long anybody thinks.
//!
//! Of those who are free one keeps the door: it waits for the first terminal, and leaves the door to the next when it has one to serve.
//! So a terminal wakes one server, not all of them.

use super::context::UserContext;
use super::wait::Wait;
use proofload_model::time::Moment;
use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// The terminals of one thread.
pub struct Terminals {
    /// When which terminal sends.
    sending: RefCell<BinaryHeap<Reverse<(Moment, u32)>>>,
    door: Door,
    /// Seat of the keeper, and the time that it waits for.
    keeper: Cell<Option<(u32, Moment)>>,
}

/// A terminal that sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sender {
    pub(super) terminal: u32,
    /// When it had keyed.
    pub(super) intended: Moment,
    /// When its server began.
    pub(super) started: Moment,
    /// Start minus intended start, where the server was free and waited.
    pub(super) lag: Option<Duration>,
}

impl Terminals {
    /// None yet, with room for so many.
    pub fn with_capacity(terminals: usize) -> Self {
        let sending = RefCell::new(BinaryHeap::with_capacity(terminals));
        Self { sending, door: Door::default(), keeper: Cell::new(None) }
    }

    /// A terminal will send then; before anybody serves.
    pub fn seat(&self, terminal: u32, sends: Moment) {
        self.sending.borrow_mut().push(Reverse((sends, terminal)));
    }

    /// The same while terminals are served.
    pub(super) fn put(&self, context: &UserContext, terminal: u32, sends: Moment) {
        self.seat(terminal, sends);
        if let (Wait::Alarm { alarm, .. }, Some((seat, waits_for))) = (&context.wait, self.keeper.get())
            && sends < waits_for
        {
            alarm.shake(seat);
        }
    }

    /// Waits for the next terminal that sends; none when the load is stopped.
    pub(super) async fn next(&self, context: &UserContext) -> Option<Sender> {
        let free = context.clock.now();
        self.door.enter().await;
        let first = match &context.wait {
            Wait::Alarm { .. } => First { terminals: self, context }.await,
            Wait::Clock => self.first_by_clock(context).await,
        };
        self.keeper.set(None);
        self.door.leave();
        let (intended, terminal) = first?;
        let started = context.clock.now();
        Some(Sender { terminal, intended, started, lag: (free < intended).then(|| started.since(intended)) })
    }

    /// The thread has no other user.
    async fn first_by_clock(&self, context: &UserContext) -> Option<(Moment, u32)> {
        loop {
            if context.stop.reached(0) {
                return None;
            }
            if let Some(first) = self.take(context.clock.now()) {
                return Some(first);
            }
            let sends = self.earliest()?;
            context.wait.until(context.clock.as_ref(), context.stop.as_ref(), sends).await;
        }
    }

    fn earliest(&self) -> Option<Moment> {
        self.sending.borrow().peek().map(|Reverse((sends, _))| *sends)
    }

    /// The first terminal, if its time has come.
    fn take(&self, now: Moment) -> Option<(Moment, u32)> {
        let mut sending = self.sending.borrow_mut();
        if sending.peek().is_none_or(|Reverse((sends, _))| *sends > now) {
            return None;
        }
        sending.pop().map(|Reverse(first)| first)
    }
}

/// Waiting for the first terminal at the thread's alarm clock. Looks anew whenever it is woken, since an earlier terminal may have come.
struct First<'a> {
    terminals: &'a Terminals,
    context: &'a UserContext,
}

impl Future for First<'_> {
    type Output = Option<(Moment, u32)>;

    fn poll(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        let Wait::Alarm { alarm, seat } = &self.context.wait else { return Poll::Ready(None) };
        if alarm.is_released() || self.context.stop.reached(0) {
            return Poll::Ready(None);
        }
        let now = self.context.clock.now();
        if let Some(first) = self.terminals.take(now) {
            return Poll::Ready(Some(first));
        }
        let sends = self.terminals.earliest().unwrap_or(Moment(u64::MAX));
        self.terminals.keeper.set(Some((*seat, sends)));
        alarm.wait_for(*seat, sends, task.waker(), now);
        Poll::Pending
    }
}

/// A door that one may stand in; the others wait in the order in which they came.
#[derive(Default)]
struct Door {
    kept: Cell<bool>,
    waiting: RefCell<VecDeque<Waker>>,
}

impl Door {
    fn enter(&self) -> Enter<'_> {
        Enter(self)
    }

    fn leave(&self) {
        self.kept.set(false);
        let next = self.waiting.borrow_mut().pop_front();
        next.into_iter().for_each(Waker::wake);
    }
}

/// Waiting for the door.
struct Enter<'a>(&'a Door);

impl Future for Enter<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<()> {
        if self.0.kept.replace(true) {
            self.0.waiting.borrow_mut().push_back(task.waker().clone());
            return Poll::Pending;
        }
        Poll::Ready(())
    }
}
