//! Terminals of a paced load on one client thread: many more of them than sessions. A terminal that keys or thinks is a
//! time in a heap; a free session takes the terminal whose time comes first. Does not know how long anybody thinks.
//!
//! Of the free sessions one waits for the next terminal; the others queue behind it at a turnstile, which it leaves
//! when it has a terminal to serve. A terminal therefore wakes one session, not all of them.

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
pub struct DueTerminals {
    /// Send times of the terminals.
    sending: RefCell<BinaryHeap<Reverse<(Moment, u32)>>>,
    turnstile: Turnstile,
    /// Sleeper number of the session that waits for the next terminal, and the time that it waits for.
    waiting_session: Cell<Option<(u32, Moment)>>,
}

/// A terminal that sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DueTerminal {
    pub(super) terminal: u32,
    /// Instant at which it had keyed.
    pub(super) intended: Moment,
    /// Instant at which its session began.
    pub(super) started: Moment,
    /// Start minus intended start, where the session was free and waited.
    pub(super) lag: Option<Duration>,
}

impl DueTerminals {
    /// An empty set with room for this many terminals.
    pub fn with_capacity(terminals: usize) -> Self {
        let sending = RefCell::new(BinaryHeap::with_capacity(terminals));
        Self { sending, turnstile: Turnstile::default(), waiting_session: Cell::new(None) }
    }

    /// Adds a terminal with its send time, before the first session serves.
    pub fn add(&self, terminal: u32, sends: Moment) {
        self.sending.borrow_mut().push(Reverse((sends, terminal)));
    }

    /// Puts a terminal back with its next send time, and wakes the waiting session when that is earlier than what it
    /// waits for.
    pub(super) fn add_again(&self, context: &UserContext, terminal: u32, sends: Moment) {
        self.add(terminal, sends);
        if let (Wait::Alarm { alarm, .. }, Some((sleeper, waits_for))) = (&context.wait, self.waiting_session.get())
            && sends < waits_for
        {
            alarm.wake_early(sleeper);
        }
    }

    /// Waits for the next terminal that sends; `None` when the load is stopped.
    pub(super) async fn next(&self, context: &UserContext) -> Option<DueTerminal> {
        let free = context.clock.now();
        self.turnstile.enter().await;
        let first = match &context.wait {
            Wait::Alarm { .. } => NextTerminal { terminals: self, context }.await,
            Wait::Clock => self.first_by_clock(context).await,
        };
        self.waiting_session.set(None);
        self.turnstile.leave();
        let (intended, terminal) = first?;
        let started = context.clock.now();
        Some(DueTerminal { terminal, intended, started, lag: (free < intended).then(|| started.since(intended)) })
    }

    /// Waits for the first terminal on a thread that has no other user.
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

    /// Takes the first terminal, if its time has come.
    fn take(&self, now: Moment) -> Option<(Moment, u32)> {
        let mut sending = self.sending.borrow_mut();
        if sending.peek().is_none_or(|Reverse((sends, _))| *sends > now) {
            return None;
        }
        sending.pop().map(|Reverse(first)| first)
    }
}

/// Future of the first terminal, woken by the thread's alarm clock. Looks again whenever it is woken, since an earlier
/// terminal may have been added.
struct NextTerminal<'a> {
    terminals: &'a DueTerminals,
    context: &'a UserContext,
}

impl Future for NextTerminal<'_> {
    type Output = Option<(Moment, u32)>;

    fn poll(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        let Wait::Alarm { alarm, sleeper } = &self.context.wait else { return Poll::Ready(None) };
        if alarm.is_released() || self.context.stop.reached(0) {
            return Poll::Ready(None);
        }
        let now = self.context.clock.now();
        if let Some(first) = self.terminals.take(now) {
            return Poll::Ready(Some(first));
        }
        let sends = self.terminals.earliest().unwrap_or(Moment(u64::MAX));
        self.terminals.waiting_session.set(Some((*sleeper, sends)));
        alarm.wait_for(*sleeper, sends, task.waker(), now);
        Poll::Pending
    }
}

/// Lets one session pass at a time; the others wait in the order in which they came.
#[derive(Default)]
struct Turnstile {
    occupied: Cell<bool>,
    waiting: RefCell<VecDeque<Waker>>,
}

impl Turnstile {
    fn enter(&self) -> Enter<'_> {
        Enter(self)
    }

    fn leave(&self) {
        self.occupied.set(false);
        let next = self.waiting.borrow_mut().pop_front();
        next.into_iter().for_each(Waker::wake);
    }
}

/// Future of passing the turnstile.
struct Enter<'a>(&'a Turnstile);

impl Future for Enter<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<()> {
        if self.0.occupied.replace(true) {
            self.0.waiting.borrow_mut().push_back(task.waker().clone());
            return Poll::Pending;
        }
        Poll::Ready(())
    }
}
