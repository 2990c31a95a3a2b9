//! The agents of a study, and what they tell. Waits for answers without going deaf: events are handled while a call is open,
//! and an interrupt ends the wait.

use super::journal::Journal;
use crate::interrupt::Interrupt;
use crate::live::View;
use proofload_model::error::Error;
use proofload_model::samples::{IntervalSample, OperationCounts, UserRound};
use proofload_model::time::{Clock, Moment, Offset};
use proofload_model::wire::{Event, HostRequest, LoadRequest, Reply, Request};
use proofload_testbed::agents::{AgentEvent, AgentProcess};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// How often a wait looks at the interrupt.
const GLANCE: Duration = Duration::from_millis(50);

/// How often a wait looks for events.
const EAR: Duration = Duration::from_millis(5);

/// Exchanges for the offset between two clocks; the one with the shortest round trip counts.
const CLOCK_EXCHANGES: u32 = 16;

/// Which agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Host,
    Load,
}

impl Role {
    const fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Load => "load",
        }
    }
}

/// What the load has shown since its start.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// Time zero on the conductor's clock; none before the start.
    pub(crate) origin: Option<Moment>,
    /// Completed operations of each second; a missing second is not a number.
    pub(crate) throughput: Vec<f64>,
    /// Rounds that virtual users have ended, where the workload deals operations in rounds.
    pub(crate) rounds: Vec<UserRound>,
    /// How long no second of load may arrive before the run is taken for hanging; none: operations have no bound.
    pub(crate) patience: Option<Duration>,
    /// Failed operations so far.
    pub(crate) failed: u64,
    /// How the load came to the end of its operations; none while it runs, and for loads that have no end.
    pub(crate) ended: Option<Ended>,
    /// Why the run cannot go on.
    pub(crate) trouble: Option<Error>,
}

/// A load that has done all its operations.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ended {
    /// Seconds reported.
    pub(crate) intervals: u64,
    /// From time zero to the first user without work.
    pub(crate) first_without_work: Offset,
    /// From time zero to the end of the last operation.
    pub(crate) ran: Offset,
}

impl Watch {
    /// Before a load of this patience.
    pub(crate) fn with_patience(patience: Option<Duration>) -> Self {
        Self { patience, ..Self::default() }
    }

    fn add(&mut self, sample: &IntervalSample) {
        let index = usize::try_from(sample.index).unwrap_or(usize::MAX);
        while self.throughput.len() < index {
            self.throughput.push(f64::NAN);
        }
        self.throughput.push(sample.counts.iter().map(OperationCounts::completed).sum::<u64>() as f64);
        self.failed += sample.counts.iter().map(|counts| counts.failed).sum::<u64>();
    }
}

/// An agent's process, what it tells, and how far its clock is ahead of ours. What a dead agent still had to tell goes with it.
struct Member {
    process: Arc<AgentProcess>,
    events: Receiver<(String, AgentEvent)>,
    clock_ahead_ns: i64,
    /// As the agent itself says: with `ssh` in between, not the process that we started.
    pid: u32,
}

/// The agents, their events, and the record that these go to.
pub(crate) struct Crew<'a> {
    pub(crate) journal: &'a mut Journal,
    pub(crate) view: &'a mut dyn View,
    pub(crate) watch: Watch,
    clock: Arc<dyn Clock>,
    interrupt: Interrupt,
    host: Option<Member>,
    load: Option<Member>,
}

impl<'a> Crew<'a> {
    pub(crate) fn new(
        journal: &'a mut Journal,
        view: &'a mut dyn View,
        clock: Arc<dyn Clock>,
        interrupt: Interrupt,
    ) -> Self {
        Self { journal, view, watch: Watch::default(), clock, interrupt, host: None, load: None }
    }

    /// Starts an agent by its command, and measures its clock.
    pub(crate) fn start(&mut self, role: Role, command: &[String]) -> Result<(), Error> {
        let (sender, events) = channel();
        let process = Arc::new(AgentProcess::start(command, role.name(), sender)?);
        *self.slot(role) = Some(Member { process, events, clock_ahead_ns: 0, pid: 0 });
        let (ahead, error) = self.measure_clock(role)?;
        if error > Duration::from_millis(10) {
            return Err(Error::new(format!(
                "the {} agent's clock can only be placed to within {error:?}; 10 ms is the limit",
                role.name()
            )));
        }
        if let Some(member) = self.slot(role) {
            member.clock_ahead_ns = ahead;
        }
        Ok(())
    }

    /// Nanoseconds that the agent's clock is ahead of ours, and half the shortest round trip.
    fn measure_clock(&mut self, role: Role) -> Result<(i64, Duration), Error> {
        let mut best = (0, Duration::MAX);
        for _ in 0..CLOCK_EXCHANGES {
            let sent = self.clock.now();
            let reply = self.member(role)?.process.call(Request::Ping, Some(Duration::from_secs(20)))?;
            let back = self.clock.now();
            let Reply::Pong { moment, pid } = reply else { return Err(unexpected(&reply)) };
            self.member(role)?.pid = pid;
            let trip = back.since(sent) / 2;
            if trip < best.1 {
                best = (moment.offset_from(sent + trip).0, trip);
            }
        }
        Ok(best)
    }

    /// Our clock.
    pub(crate) fn now(&self) -> Moment {
        self.clock.now()
    }

    pub(crate) fn is_running(&self, role: Role) -> bool {
        match role {
            Role::Host => self.host.is_some(),
            Role::Load => self.load.is_some(),
        }
    }

    /// Ends an agent: politely, then by force.
    pub(crate) fn stop(&mut self, role: Role) {
        if let Some(member) = self.slot(role).take() {
            let _ended = member.process.call(Request::Quit, Some(Duration::from_secs(5)));
        }
    }

    /// Process of an agent, when it runs on this machine.
    pub(crate) fn pid(&self, role: Role) -> Option<u32> {
        let member = match role {
            Role::Host => &self.host,
            Role::Load => &self.load,
        };
        member.as_ref().map(|member| member.pid)
    }

    pub(crate) fn host(&mut self, request: HostRequest) -> Result<Reply, Error> {
        self.call(Role::Host, Request::Host(request))
    }

    pub(crate) fn load(&mut self, request: LoadRequest) -> Result<Reply, Error> {
        self.call(Role::Load, Request::Load(request))
    }

    /// A moment of our clock on an agent's clock.
    pub(crate) fn in_time_of(&self, role: Role, ours: Moment) -> Moment {
        let ahead = self.ahead(role);
        Moment(ours.0.saturating_add_signed(ahead))
    }

    /// A moment of an agent's clock on ours.
    pub(crate) fn in_our_time(&self, role: Role, theirs: Moment) -> Moment {
        Moment(theirs.0.saturating_add_signed(-self.ahead(role)))
    }

    fn ahead(&self, role: Role) -> i64 {
        let member = match role {
            Role::Host => &self.host,
            Role::Load => &self.load,
        };
        member.as_ref().map_or(0, |member| member.clock_ahead_ns)
    }

    fn slot(&mut self, role: Role) -> &mut Option<Member> {
        match role {
            Role::Host => &mut self.host,
            Role::Load => &mut self.load,
        }
    }

    fn member(&mut self, role: Role) -> Result<&mut Member, Error> {
        self.slot(role).as_mut().ok_or_else(|| Error::new(format!("the {} agent is not running", role.name())))
    }

    /// Sends a request and handles events until its answer comes. An interrupt or a lost agent ends the wait with an error.
    fn call(&mut self, role: Role, request: Request) -> Result<Reply, Error> {
        let process = Arc::clone(&self.member(role)?.process);
        let answered = std::thread::scope(|scope| {
            let waiting = scope.spawn(|| process.call(request, None));
            while !waiting.is_finished() {
                let heard = self.hear(GLANCE);
                if heard.is_err() || self.interrupt.asked() {
                    process.kill();
                    break;
                }
            }
            waiting.join().unwrap_or_else(|_| Err(Error::new("the wait for an agent's answer broke off")))
        });
        self.hear_all()?;
        if !process.is_alive() {
            *self.slot(role) = None;
        }
        if self.interrupt.asked() { Err(Error::new("interrupted")) } else { answered }
    }

    /// Handles events until there was one, or until `patience` is over.
    pub(crate) fn hear(&mut self, patience: Duration) -> Result<(), Error> {
        let until = self.clock.now() + patience;
        while !self.hear_all()? {
            let left = until.since(self.clock.now());
            if left.is_zero() {
                break;
            }
            self.clock.sleep(left.min(EAR));
        }
        Ok(())
    }

    /// Handles all events that are there; was there one?
    fn hear_all(&mut self) -> Result<bool, Error> {
        let mut heard = false;
        for role in [Role::Host, Role::Load] {
            while let Some((name, event)) = self.slot(role).as_ref().and_then(|member| member.events.try_recv().ok()) {
                heard = true;
                self.take(&name, event)?;
            }
        }
        Ok(heard)
    }

    /// Has someone asked to stop, or can the run not go on?
    pub(crate) fn troubled(&self) -> Result<(), Error> {
        if self.interrupt.asked() {
            return Err(Error::new("interrupted"));
        }
        self.watch.trouble.clone().map_or(Ok(()), Err)
    }

    pub(crate) fn interrupted(&self) -> bool {
        self.interrupt.asked()
    }

    /// Writes an event to the record. Errors are errors of the record only.
    fn take(&mut self, name: &str, event: AgentEvent) -> Result<(), Error> {
        match event {
            AgentEvent::Event(Event::Interval(sample)) => {
                self.journal.interval(&sample)?;
                self.watch.add(&sample);
                self.view.interval(&self.watch.throughput);
                Ok(())
            }
            AgentEvent::Event(Event::Telemetry(telemetry)) => match self.watch.origin {
                Some(origin) => {
                    let at: Offset = self.in_our_time(Role::Host, telemetry.moment).offset_from(origin);
                    self.journal.telemetry(&telemetry.probe, at, telemetry.span_ns, &telemetry.readings)
                }
                None => Ok(()),
            },
            AgentEvent::Event(Event::Progress { what, done, total }) => {
                self.view.progress(&what, done, total);
                Ok(())
            }
            AgentEvent::Event(Event::Log { level, text }) => self.journal.log(&level, name, &text),
            AgentEvent::Event(Event::RoundEnded(round)) => {
                self.watch.rounds.push(round);
                Ok(())
            }
            AgentEvent::Event(Event::LoadEnded { intervals, first_without_work, ran }) => {
                self.watch.ended = first_without_work.map(|first| Ended { intervals, first_without_work: first, ran });
                Ok(())
            }
            AgentEvent::Event(Event::LoadFailed { error }) => {
                self.journal.log("error", name, &error.to_string())?;
                self.watch.trouble.get_or_insert(error);
                Ok(())
            }
            AgentEvent::Event(Event::Document { name, body }) => self.journal.document_of_run(&name, &body),
            AgentEvent::Event(Event::Heartbeat) => Ok(()),
            AgentEvent::Lost { reason } => {
                self.journal.log("error", name, &reason)?;
                self.watch.trouble.get_or_insert(Error::new(format!("the {name} agent was lost: {reason}")));
                Ok(())
            }
        }
    }
}

/// The error of an answer that does not fit its question.
pub(crate) fn unexpected(reply: &Reply) -> Error {
    Error::new(format!("an agent gave an answer that does not fit the question: {reply:?}"))
}
