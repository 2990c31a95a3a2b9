//! The agents of a study, and what they tell. Waits for answers without going deaf: events are handled while a call is open,
//! and an interrupt ends the wait.

use super::journal::Journal;
use super::member::{Member, silence_text};
use crate::interrupt::Interrupt;
use crate::live::View;
use proofload_load::intervals::Merger;
use proofload_model::error::Error;
use proofload_model::events::RunEvent;
use proofload_model::samples::{IntervalSample, LostSession, OperationCounts, UserRound};
use proofload_model::time::{Clock, Moment, Offset};
use proofload_model::wire::{Ask, Event, Quit};
use proofload_testbed::agents::{AgentEvent, AgentProcess};
use std::sync::Arc;
use std::time::Duration;

/// How often a wait looks at the interrupt.
const GLANCE: Duration = Duration::from_millis(50);

/// How often a wait looks for events.
const EAR: Duration = Duration::from_millis(5);

/// An agent that is told to quit is killed after so long.
const QUIT_PATIENCE: Duration = Duration::from_secs(5);

/// Which agent, or agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Host,
    /// All load agents; where one is meant, the first.
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
#[derive(Default)]
pub(crate) struct Watch {
    /// Makes the seconds of all load agents one.
    pub(super) merger: Merger,
    /// How each load agent that has ended by itself, or was stopped, came to its end.
    pub(super) ends: Vec<Option<Ended>>,
    /// Time zero on the conductor's clock; none before the start.
    pub(crate) origin: Option<Moment>,
    /// Completed operations of each second; a missing second is not a number.
    pub(crate) throughput: Vec<f64>,
    /// Rounds that virtual users have ended, where the workload deals operations in rounds.
    pub(crate) rounds: Vec<UserRound>,
    /// Sessions whose connection was lost.
    pub(crate) lost: Vec<LostSession>,
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

    pub(super) fn add(&mut self, sample: &IntervalSample) {
        let index = usize::try_from(sample.index).unwrap_or(usize::MAX);
        while self.throughput.len() < index {
            self.throughput.push(f64::NAN);
        }
        self.throughput.push(sample.counts.iter().map(OperationCounts::completed).sum::<u64>() as f64);
        self.failed += sample.counts.iter().map(|counts| counts.failed).sum::<u64>();
    }
}

/// The agents, their events, and the record that these go to.
pub(crate) struct Crew<'a> {
    pub(crate) journal: &'a mut Journal,
    pub(crate) view: &'a mut dyn View,
    pub(crate) watch: Watch,
    clock: Arc<dyn Clock>,
    interrupt: Interrupt,
    host: Option<Member>,
    load: Vec<Member>,
}

impl<'a> Crew<'a> {
    pub(crate) fn new(
        journal: &'a mut Journal,
        view: &'a mut dyn View,
        clock: Arc<dyn Clock>,
        interrupt: Interrupt,
    ) -> Self {
        Self { journal, view, watch: Watch::default(), clock, interrupt, host: None, load: Vec::new() }
    }

    /// Starts an agent by its command, and measures its clock. Of load agents it is the only one then.
    pub(crate) fn start(&mut self, role: Role, command: &[String]) -> Result<(), Error> {
        let member = Member::start(role.name(), command, self.clock.as_ref())?;
        match role {
            Role::Host => self.host = Some(member),
            Role::Load => self.load = vec![member],
        }
        Ok(())
    }

    /// The load agents, in the order of their numbers.
    pub(super) fn load_agents(&self) -> &[Member] {
        &self.load
    }

    pub(super) fn set_load_agents(&mut self, members: Vec<Member>) {
        self.load = members;
    }

    /// Where our time comes from.
    pub(super) fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.clock)
    }

    /// Our clock.
    pub(crate) fn now(&self) -> Moment {
        self.clock.now()
    }

    pub(crate) fn is_running(&self, role: Role) -> bool {
        match role {
            Role::Host => self.host.is_some(),
            Role::Load => !self.load.is_empty(),
        }
    }

    /// Ends an agent, or all load agents at the same time: politely, then by force.
    pub(crate) fn stop(&mut self, role: Role) {
        let members: Vec<Member> = match role {
            Role::Host => self.host.take().into_iter().collect(),
            Role::Load => std::mem::take(&mut self.load),
        };
        std::thread::scope(|scope| {
            for process in members.iter().map(|member| &member.process) {
                scope.spawn(move || {
                    let _ended = process.ask(Quit, Some(QUIT_PATIENCE));
                    process.kill();
                });
            }
        });
    }

    /// Process of an agent, when it runs on this machine.
    pub(crate) fn pid(&self, role: Role) -> Option<u32> {
        match role {
            Role::Host => self.host.as_ref(),
            Role::Load => self.load.first(),
        }
        .map(|member| member.pid)
    }

    /// Asks the host agent.
    pub(crate) fn host<A: Ask>(&mut self, ask: A) -> Result<A::Answer, Error> {
        let process = self.host.as_ref().map(|member| Arc::clone(&member.process));
        let process = process.ok_or_else(|| Error::lost("the host agent is not running"))?;
        let answer = self.ask(&process, ask);
        if !process.is_alive() {
            self.host = None;
        }
        answer
    }

    /// Asks the first load agent.
    pub(crate) fn load<A: Ask>(&mut self, ask: A) -> Result<A::Answer, Error> {
        self.ask_load(0, ask)
    }

    /// Asks one load agent by its number.
    pub(super) fn ask_load<A: Ask>(&mut self, agent: usize, ask: A) -> Result<A::Answer, Error> {
        let process = self.load.get(agent).map(|member| Arc::clone(&member.process)).ok_or_else(not_running)?;
        self.ask(&process, ask)
    }

    /// Asks all load agents at the same time; their answers in the order of their numbers, or the first error.
    pub(super) fn each_load<A: Ask>(&mut self, ask: impl Fn(usize) -> A) -> Result<Vec<A::Answer>, Error> {
        let asks = (0..).zip(&self.load).map(|(agent, member)| (Arc::clone(&member.process), ask(agent))).collect();
        self.ask_all(asks)?.into_iter().collect()
    }

    fn ask<A: Ask>(&mut self, process: &Arc<AgentProcess>, ask: A) -> Result<A::Answer, Error> {
        self.ask_all(vec![(Arc::clone(process), ask)])?.pop().unwrap_or_else(|| Err(not_running()))
    }

    /// A moment of our clock on the host agent's.
    pub(crate) fn in_time_of_host(&self, ours: Moment) -> Moment {
        self.host.as_ref().map_or(ours, |member| member.in_its_time(ours))
    }

    /// Sends requests and handles events until all answers have come. An interrupt or a lost agent ends the wait with an error.
    fn ask_all<A: Ask>(&mut self, asks: Vec<(Arc<AgentProcess>, A)>) -> Result<Vec<Result<A::Answer, Error>>, Error> {
        let processes: Vec<_> = asks.iter().map(|(process, _)| Arc::clone(process)).collect();
        let answers = std::thread::scope(|scope| {
            let ask_one = |(process, ask): (Arc<AgentProcess>, A)| scope.spawn(move || process.ask(ask, None));
            let waiting: Vec<_> = asks.into_iter().map(ask_one).collect();
            while !waiting.iter().all(|one| one.is_finished()) {
                let heard = self.hear(GLANCE);
                if heard.is_err() || self.interrupt.asked() {
                    processes.iter().for_each(|process| {
                        scope.spawn(move || process.kill());
                    });
                    break;
                }
            }
            let broke_off = || Err(Error::new("the wait for an agent's answer broke off"));
            waiting.into_iter().map(|one| one.join().unwrap_or_else(|_| broke_off())).collect()
        });
        self.hear_all()?;
        if self.interrupt.asked() { Err(Error::interrupted()) } else { Ok(answers) }
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
        while let Some((name, event)) = self.host.as_ref().and_then(|member| member.events.try_recv().ok()) {
            heard = true;
            self.take(&name, None, event)?;
        }
        for agent in 0..self.load.len() {
            while let Some((name, event)) = self.load.get(agent).and_then(|member| member.events.try_recv().ok()) {
                heard = true;
                self.take(&name, Some(agent), event)?;
            }
        }
        self.look_for_silence()?;
        Ok(heard)
    }

    /// One of several load agents that says nothing any more is lost, though its stream stands.
    fn look_for_silence(&mut self) -> Result<(), Error> {
        if self.load.len() < 2 || self.watch.origin.is_none() {
            return Ok(());
        }
        let now = self.clock.now();
        let mut silent = Vec::new();
        for member in &mut self.load {
            if member.is_silent(now) && member.process.is_alive() {
                silent.push((member.name.clone(), Arc::clone(&member.process)));
            }
        }
        for (name, process) in silent {
            // Takes seconds where it does not listen; the others are not kept at work for so long.
            std::thread::spawn(move || process.kill());
            self.lose(&name, &silence_text())?;
        }
        Ok(())
    }

    /// An agent is lost, and with it the attempt.
    fn lose(&mut self, name: &str, reason: &str) -> Result<(), Error> {
        self.journal.log("error", name, reason)?;
        if self.watch.trouble.is_some() {
            return Ok(());
        }
        self.journal.event(RunEvent::AgentLost { agent: name.to_owned(), reason: reason.to_owned() })?;
        self.watch.trouble = Some(Error::lost(format!("the {name} agent was lost: {reason}")));
        Ok(())
    }

    /// The run cannot go on; the first reason counts.
    fn fail(&mut self, name: &str, error: Error) -> Result<(), Error> {
        self.journal.log("error", name, &error.to_string())?;
        self.watch.trouble.get_or_insert(error);
        Ok(())
    }

    /// Has someone asked to stop, or can the run not go on?
    pub(crate) fn troubled(&self) -> Result<(), Error> {
        if self.interrupt.asked() {
            return Err(Error::interrupted());
        }
        self.watch.trouble.clone().map_or(Ok(()), Err)
    }

    pub(crate) fn interrupted(&self) -> bool {
        self.interrupt.asked()
    }

    /// Takes what an agent tells, a load agent with its number. Errors are errors of the record only.
    fn take(&mut self, name: &str, agent: Option<usize>, event: AgentEvent) -> Result<(), Error> {
        match event {
            AgentEvent::Event(Event::Interval(sample)) => self.hear_second(agent.unwrap_or(0), *sample),
            AgentEvent::Event(Event::Telemetry(telemetry)) => match (self.watch.origin, &self.host) {
                (Some(origin), Some(host)) => {
                    let at: Offset = host.in_our_time(telemetry.moment).offset_from(origin);
                    self.journal.telemetry(at, &telemetry)
                }
                _ => Ok(()),
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
            AgentEvent::Event(Event::SessionLost(lost)) => {
                self.watch.lost.push(lost);
                Ok(())
            }
            AgentEvent::Event(Event::LoadEnded { intervals, first_without_work, ran }) => {
                let ended = first_without_work.map(|first| Ended { intervals, first_without_work: first, ran });
                self.hear_end(agent.unwrap_or(0), ended, intervals)
            }
            // No drill asks for it: whichever instance it is, the run is over.
            AgentEvent::Event(Event::InstanceEnded { reason, .. }) => {
                self.fail(name, Error::lost(format!("the server ended during the run: {reason}")))
            }
            AgentEvent::Event(Event::LoadFailed { error }) => self.fail(name, error),
            AgentEvent::Event(Event::Document { name: document, body }) => match agent {
                Some(1..) => self.journal.document_of_run(&format!("{name}/{document}"), &body),
                _ => self.journal.document_of_run(&document, &body),
            },
            AgentEvent::Event(Event::Heartbeat) => Ok(()),
            AgentEvent::Lost { reason } => self.lose(name, &reason),
        }
    }
}

fn not_running() -> Error {
    Error::lost("the load agent is not running")
}
