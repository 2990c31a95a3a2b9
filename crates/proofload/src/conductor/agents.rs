//! The agents of a study: who is there. Starts and stops them, asks them, hears them. While a call waits for its
//! answer, events are handed on all the same, and an interrupt ends the wait. May not know what is asked, nor what an event means.

use super::agent::{Agent, SILENCE, SILENCE_AMONG_SEVERAL, silence_text};
use super::heard::{Heard, Teller};
use crate::interrupt::Interrupt;
use proofload_model::deployment::HostName;
use proofload_model::error::Error;
use proofload_model::network::{NetworkMember, load_member};
use proofload_model::time::{Clock, Moment};
use proofload_model::wire::{Ask, Quit};
use proofload_testbed::agents::AgentProcess;
use proofload_testbed::network::Network;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// How often a wait looks for events and at the interrupt.
const EVENT_INTERVAL: Duration = Duration::from_millis(5);

/// Time before the first look for an answer; each further one comes after twice the time, up to [`EVENT_INTERVAL`].
const FIRST_LOOK: Duration = Duration::from_millis(1);

/// Longest time that an agent may take to quit before it is killed.
const QUIT_PATIENCE: Duration = Duration::from_secs(5);

/// Command that starts a load agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LoadCommand {
    /// Its name in messages: `load`, or its host.
    pub(crate) name: String,
    pub(crate) command: Vec<String>,
}

/// Agents that run.
pub(crate) struct Agents {
    clock: Arc<dyn Clock>,
    interrupt: Interrupt,
    hosts: BTreeMap<HostName, Agent>,
    load: Vec<Agent>,
    /// Network that agents of this machine are started in; removed after them.
    network: Option<Network>,
}

impl Agents {
    pub(crate) fn new(clock: Arc<dyn Clock>, interrupt: Interrupt) -> Self {
        Self { clock, interrupt, hosts: BTreeMap::new(), load: Vec::new(), network: None }
    }

    /// Makes the network that agents are started in from now on, unless there is one; nothing happens without members.
    pub(crate) fn join_network(&mut self, members: &[NetworkMember]) -> Result<(), Error> {
        if self.network.is_none() && !members.is_empty() {
            self.network = Some(Network::make(members)?);
        }
        Ok(())
    }

    /// The command that starts an agent as a member of the network, where there is one.
    fn within(&self, member: &str, command: &[String]) -> Vec<String> {
        self.network.as_ref().map_or_else(|| command.to_vec(), |network| network.within(member, command))
    }

    /// Starts the agent of a host, and measures its clock.
    pub(crate) fn start_host(&mut self, host: HostName, command: &[String]) -> Result<(), Error> {
        let command = self.within(host.as_str(), command);
        let agent = Agent::start(host.as_str(), &command, self.clock.as_ref(), &self.interrupt)?;
        self.hosts.insert(host, agent);
        Ok(())
    }

    /// Starts load agents in the place of earlier ones, all at the same time.
    pub(crate) fn start_load(&mut self, commands: &[LoadCommand]) -> Result<(), Error> {
        let inside = |(number, one): (usize, &LoadCommand)| LoadCommand {
            name: one.name.clone(),
            command: self.within(&load_member(number), &one.command),
        };
        let commands: Vec<LoadCommand> = commands.iter().enumerate().map(inside).collect();
        let (clock, interrupt) = (self.clock.as_ref(), &self.interrupt);
        let started: Vec<Result<Agent, Error>> = std::thread::scope(|scope| {
            let start = |one: &'_ LoadCommand| {
                let LoadCommand { name, command } = one.clone();
                scope.spawn(move || Agent::start(&name, &command, clock, interrupt))
            };
            let starting: Vec<_> = commands.iter().map(start).collect();
            starting.into_iter().map(|one| one.join().unwrap_or_else(|_| Err(broke_off()))).collect()
        });
        self.load = started.into_iter().collect::<Result<_, _>>()?;
        Ok(())
    }

    /// The load agents, in the order of their numbers.
    pub(super) fn load(&self) -> &[Agent] {
        &self.load
    }

    /// The agent of a host, if it runs.
    pub(super) fn host(&self, host: &HostName) -> Option<&Agent> {
        self.hosts.get(host)
    }

    /// The first of these hosts whose agent does not run.
    pub(super) fn first_missing<'h>(&self, hosts: impl IntoIterator<Item = &'h HostName>) -> Option<&'h HostName> {
        hosts.into_iter().find(|host| !self.hosts.contains_key(host))
    }

    /// Source of our time.
    pub(super) fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.clock)
    }

    /// Ends all load agents at the same time: politely, then by force.
    pub(crate) fn stop_load(&mut self) {
        stop(std::mem::take(&mut self.load));
    }

    /// Ends the agents of all hosts likewise.
    pub(crate) fn stop_hosts(&mut self) {
        stop(std::mem::take(&mut self.hosts).into_values().collect());
    }

    /// Asks the agent of a host.
    pub(crate) fn ask_host<A: Ask>(
        &mut self,
        host: &HostName,
        ask: A,
        heard: &mut Heard<'_>,
    ) -> Result<A::Answer, Error> {
        self.ask_hosts(vec![(host, ask)], heard)?.pop().unwrap_or_else(|| Err(not_running()))
    }

    /// Asks the agents of hosts at the same time; what came of each request, in their order.
    pub(super) fn ask_hosts<A: Ask>(
        &mut self,
        asks: Vec<(&HostName, A)>,
        heard: &mut Heard<'_>,
    ) -> Result<Vec<Result<A::Answer, Error>>, Error> {
        let (mut asked, mut hosts) = (Vec::new(), Vec::new());
        for (host, ask) in asks {
            let process = self.hosts.get(host).map(|agent| Arc::clone(&agent.process));
            let process = process.ok_or_else(|| Error::lost(format!("the {host} agent is not running")))?;
            asked.push((process, ask));
            hosts.push(host);
        }
        let answers = self.ask_all(asked, heard);
        for host in hosts {
            if self.hosts.get(host).is_some_and(|agent| !agent.process.is_alive()) {
                self.hosts.remove(host);
            }
        }
        answers
    }

    /// Asks one load agent by its number.
    pub(crate) fn ask_load<A: Ask>(&mut self, agent: usize, ask: A, heard: &mut Heard<'_>) -> Result<A::Answer, Error> {
        let process = self.load.get(agent).map(|agent| Arc::clone(&agent.process)).ok_or_else(not_running)?;
        self.ask(&process, ask, heard)
    }

    /// Asks all load agents at the same time; their answers in the order of their numbers, or the first error.
    pub(crate) fn ask_all_load<A: Ask>(
        &mut self,
        ask: impl Fn(usize) -> A,
        heard: &mut Heard<'_>,
    ) -> Result<Vec<A::Answer>, Error> {
        let asks = (0..).zip(&self.load).map(|(number, agent)| (Arc::clone(&agent.process), ask(number))).collect();
        self.ask_all(asks, heard)?.into_iter().collect()
    }

    fn ask<A: Ask>(&mut self, process: &Arc<AgentProcess>, ask: A, heard: &mut Heard<'_>) -> Result<A::Answer, Error> {
        self.ask_all(vec![(Arc::clone(process), ask)], heard)?.pop().unwrap_or_else(|| Err(not_running()))
    }

    /// Sends requests and hears events until all answers have come. An interrupt or a lost agent ends the wait with an error; an agent that
    /// says nothing any more is lost.
    fn ask_all<A: Ask>(
        &mut self,
        asks: Vec<(Arc<AgentProcess>, A)>,
        heard: &mut Heard<'_>,
    ) -> Result<Vec<Result<A::Answer, Error>>, Error> {
        let processes: Vec<_> = asks.iter().map(|(process, _)| Arc::clone(process)).collect();
        let answers: Vec<Result<A::Answer, Error>> = std::thread::scope(|scope| {
            let ask_one = |(process, ask): (Arc<AgentProcess>, A)| scope.spawn(move || process.ask(ask, None));
            let waiting: Vec<_> = asks.into_iter().map(ask_one).collect();
            let mut patience = FIRST_LOOK;
            while !waiting.iter().all(|one| one.is_finished()) {
                let heard = self.hear(patience, heard);
                patience = EVENT_INTERVAL.min(2 * patience);
                if heard.is_err() || self.interrupt.asked() {
                    processes.iter().for_each(|process| {
                        scope.spawn(move || process.kill());
                    });
                    break;
                }
            }
            let broke_off = || Err(Error::new("waiting for an agent's answer failed"));
            waiting.into_iter().map(|one| one.join().unwrap_or_else(|_| broke_off())).collect()
        });
        self.hear_all(heard)?;
        self.expect_no_interrupt()?;
        Ok(answers.into_iter().map(|answer| answer.map_err(|error| self.cause_of(error, heard))).collect())
    }

    /// Why an agent gave no answer: its silence, where it was ended for that.
    fn cause_of(&self, error: Error, heard: &Heard<'_>) -> Error {
        let is_ended = self.hosts.values().chain(&self.load).any(Agent::is_given_up);
        heard.state.trouble.clone().filter(|_| is_ended && error.is_lost()).unwrap_or(error)
    }

    /// Waits for events until one has come, or until `patience` is over.
    pub(crate) fn hear(&mut self, patience: Duration, heard: &mut Heard<'_>) -> Result<(), Error> {
        let until = self.clock.now() + patience;
        while !self.hear_all(heard)? {
            let left = until.since(self.clock.now());
            if left.is_zero() {
                break;
            }
            self.clock.sleep(left.min(EVENT_INTERVAL));
        }
        Ok(())
    }

    /// Hands on all waiting events; true if there was one.
    fn hear_all(&mut self, heard: &mut Heard<'_>) -> Result<bool, Error> {
        let before = heard.count();
        for agent in self.hosts.values() {
            agent.events.try_iter().try_for_each(|(_, event)| heard.take(Teller::Host(agent), event))?;
        }
        for (number, agent) in self.load.iter().enumerate() {
            let teller = Teller::Load { number, all: &self.load };
            agent.events.try_iter().try_for_each(|(_, event)| heard.take(teller, event))?;
        }
        self.look_for_silence(heard)?;
        Ok(heard.count() > before)
    }

    /// Declares agents lost that say nothing any more although their streams are open, as behind a cut link, and ends them.
    fn look_for_silence(&mut self, heard: &mut Heard<'_>) -> Result<(), Error> {
        let now = self.clock.now();
        let are_several = self.load.len() > 1 && heard.state.origin.is_some();
        let of_load = if are_several { SILENCE_AMONG_SEVERAL } else { SILENCE };
        let hosts = self.hosts.values_mut().map(|agent| (agent, SILENCE, false));
        let loaders = self.load.iter_mut().map(|agent| (agent, of_load, true));
        for (agent, longest, is_loader) in hosts.chain(loaders) {
            if !agent.falls_silent(now, longest) {
                continue;
            }
            let process = Arc::clone(&agent.process);
            // Takes seconds where it does not listen; the others are not kept at work for so long.
            std::thread::spawn(move || process.kill());
            heard.state.loader_lost |= is_loader;
            heard.lose(&agent.name, &silence_text(longest))?;
        }
        Ok(())
    }

    /// An error of the kind *interrupted* when somebody asked to stop.
    pub(crate) fn expect_no_interrupt(&self) -> Result<(), Error> {
        if self.interrupt.asked() { Err(Error::interrupted()) } else { Ok(()) }
    }

    /// Our clock.
    pub(crate) fn now(&self) -> Moment {
        self.clock.now()
    }
}

pub(super) fn stop(agents: Vec<Agent>) {
    std::thread::scope(|scope| {
        for process in agents.iter().map(|agent| &agent.process) {
            scope.spawn(move || {
                let _ended = process.ask(Quit, Some(QUIT_PATIENCE));
                process.kill();
            });
        }
    });
}

fn not_running() -> Error {
    Error::lost("the load agent is not running")
}

fn broke_off() -> Error {
    Error::new("a request to a load agent failed")
}
