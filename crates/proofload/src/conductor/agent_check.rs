//! Looks at the agents of a study without running it: each is started by its command, asked who it is and what it allows, and ended. May not
//! change anything on a host.

use super::agent::Agent;
use super::agents::stop;
use super::study::Commands;
use crate::clock::SystemClock;
use crate::interrupt::Interrupt;
use proofload_model::error::Error;
use proofload_model::samples::Fact;
use proofload_model::settings::setting;
use proofload_model::study::Study;
use proofload_model::time::Clock;
use proofload_model::wire::host::{Describe, TryLimits};
use proofload_model::wire::{LimitsAsked, Ping};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Longest wait for one answer.
const PATIENCE: Duration = Duration::from_secs(20);

/// How often a look at an agent looks at the interrupt.
const GLANCE: Duration = Duration::from_millis(50);

/// Round trips, of which the median is told.
const ROUND_TRIPS: usize = 21;

/// What an agent is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AgentRole {
    /// Prepares a host of the database.
    Host,
    /// Runs virtual users.
    Load,
}

/// An agent that was looked at.
pub(crate) struct CheckedAgent {
    pub(crate) name: String,
    pub(crate) role: AgentRole,
    pub(crate) found: Result<FoundAgent, Error>,
}

/// What an agent told.
pub(crate) struct FoundAgent {
    /// Median time between a question and its answer.
    pub(crate) round_trip: Duration,
    /// Nanoseconds by which its monotonic clock is ahead of ours, and the bound of its error.
    pub(crate) clock: (i64, Duration),
    /// Its machine.
    pub(crate) facts: Vec<Fact>,
    /// Each limit by its setting, and what stands in its way; empty for load agents.
    pub(crate) limits: Vec<(&'static str, Option<Error>)>,
}

/// Looks at all agents of a study at the same time; those of hosts try these limits. `waiting` is told their names before. An interrupt ends
/// them.
pub(crate) fn check_agents(
    study: &Study,
    limits: &[(&'static str, LimitsAsked)],
    interrupt: &Interrupt,
    waiting: impl FnOnce(&[&str]),
) -> Result<Vec<CheckedAgent>, Error> {
    let commands = Commands::of(study)?;
    let folder = study.settings.text(setting::STORAGE_PATH).unwrap_or(".");
    let hosts = commands.hosts.into_iter().map(|one| (AgentRole::Host, one.host.as_str().to_owned(), one.command));
    let loads = commands.loads.into_iter().map(|one| (AgentRole::Load, one.name, one.command));
    let all: Vec<(AgentRole, String, Vec<String>)> = hosts.chain(loads).collect();
    waiting(&all.iter().map(|(_, name, _)| name.as_str()).collect::<Vec<_>>());
    let looked: Result<Vec<CheckedAgent>, Error> = std::thread::scope(|scope| {
        let look = |(role, name, command): (AgentRole, String, Vec<String>)| {
            scope.spawn(move || {
                let limits = if role == AgentRole::Host { limits } else { &[] };
                let found = look(&name, &command, folder, limits, interrupt);
                CheckedAgent { name, role, found }
            })
        };
        let looking: Vec<_> = all.into_iter().map(look).collect();
        let looked = looking.into_iter().map(|one| one.join().map_err(|_| Error::new("a look at an agent failed")));
        looked.collect()
    });
    if interrupt.asked() { Err(Error::interrupted()) } else { looked }
}

fn look(
    name: &str,
    command: &[String],
    folder: &str,
    limits: &[(&'static str, LimitsAsked)],
    interrupt: &Interrupt,
) -> Result<FoundAgent, Error> {
    let agent = Agent::start(name, command, &SystemClock, interrupt)?;
    let process = Arc::clone(&agent.process);
    let (answered, over) = channel::<()>();
    let found = std::thread::scope(|scope| {
        scope.spawn(move || {
            while over.recv_timeout(GLANCE) == Err(RecvTimeoutError::Timeout) {
                if interrupt.asked() {
                    process.kill();
                    return;
                }
            }
        });
        let found = ask(&agent, folder, limits);
        drop(answered);
        found
    });
    stop(vec![agent]);
    found
}

fn ask(agent: &Agent, folder: &str, limits: &[(&'static str, LimitsAsked)]) -> Result<FoundAgent, Error> {
    let mut trips = Vec::with_capacity(ROUND_TRIPS);
    for _ in 0..ROUND_TRIPS {
        let sent = SystemClock.now();
        agent.process.ask(Ping, Some(PATIENCE))?;
        trips.push(SystemClock.now().since(sent));
    }
    trips.sort_unstable();
    let facts = agent.process.ask(Describe { folder: folder.to_owned() }, Some(PATIENCE))?;
    let try_one = |(setting, limits): &(&'static str, LimitsAsked)| {
        let ask = TryLimits { folder: folder.to_owned(), limits: limits.clone() };
        (*setting, agent.process.ask(ask, Some(PATIENCE)).err())
    };
    Ok(FoundAgent {
        round_trip: trips[ROUND_TRIPS / 2],
        clock: (agent.clock.ahead_ns, agent.clock.within),
        facts,
        limits: limits.iter().map(try_one).collect(),
    })
}
