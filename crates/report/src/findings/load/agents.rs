//! What each of several load agents did in the window of a run, and whether it was the limit. Empty for a load of one agent.

use crate::findings::window::Window;
use proofload_analysis::generator::{Doubt, GeneratorObservations, check_generator};
use proofload_analysis::latency::Sparse;
use proofload_analysis::quantity::{Interval, Quantity, Unit};
use proofload_model::events::{LoadAgentStart, LoadAgentStop, RunEvent};
use proofload_model::samples::{AgentSecond, LatencyClock};
use proofload_record::Attempt;
use std::time::Duration;

/// One load agent in the window of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentFindings {
    /// Its host, as the study names it.
    pub name: String,
    /// Virtual users of its part.
    pub users: Option<u64>,
    /// Its part of the load by the study, 0 to 1.
    pub share_asked: f64,
    /// Operations that it completed.
    pub completed: u64,
    /// Its part of all that was completed, 0 to 1; not a number when nothing was.
    pub share_got: f64,
    /// Response time at p99 over all kinds, ns.
    pub response_ns_p99: Option<u64>,
    /// CPU of its busiest client thread, share of a core.
    pub busiest_thread: Option<f64>,
    /// Send lag at p99, ns; `None` where no user was free in time, or nothing is due by a schedule.
    pub lag_ns_p99: Option<u64>,
    /// Bound of the error of its clock's offset before the load, ns.
    pub clock_bound_ns: Option<u64>,
    /// How far its clock had moved after the load, ns.
    pub clock_moved_ns: Option<i64>,
    /// Why it was the limit; empty when it was not.
    pub bound: Vec<Doubt>,
}

impl AgentFindings {
    /// Share that it completed over the share that it was asked for, less 1: 0 when it did its part.
    pub fn imbalance(&self) -> f64 {
        self.share_got / self.share_asked - 1.0
    }

    /// Its part of what was completed, for readers.
    pub(crate) fn share(&self) -> Quantity {
        Quantity::new(100.0 * self.share_got, Unit::PERCENT, self.completed, Interval::none(COUNTED))
    }
}

/// Why these have no interval.
const COUNTED: &str = "counts over the whole window";

/// Every load agent of a run; empty when there was only one. `embedded`: the engine runs in the agents, whose threads' CPU says nothing.
pub(crate) fn agents(attempt: &Attempt, window: Option<Window>, embedded: bool) -> Vec<AgentFindings> {
    let (Some(window), Some(started)) = (window, started(attempt)) else { return Vec::new() };
    let stopped = stopped(attempt).unwrap_or_default();
    let inside: Vec<&AgentSecond> =
        attempt.agents.seconds.iter().filter(|second| window.contains(second.number)).collect();
    let all: u64 = inside.iter().map(|second| second.completed).sum();
    let whole: f64 = started.iter().map(|agent| f64::from(agent.share)).sum();
    let of_agent = |(number, agent): (u32, &LoadAgentStart)| {
        let own: Vec<&AgentSecond> = inside.iter().copied().filter(|second| second.agent == number).collect();
        let completed: u64 = own.iter().map(|second| second.completed).sum();
        let threads = if embedded { Vec::new() } else { thread_shares(&own) };
        let lag_ns_p99 = p99(attempt, number, LatencyClock::SendLag);
        let observed = GeneratorObservations {
            client_threads: threads.clone(),
            send_lag_p99: lag_ns_p99.map(Duration::from_nanos),
            throughput: completed as f64 / own.len() as f64,
            null_ceiling: None,
        };
        let end = stopped.iter().find(|end| end.number == number);
        AgentFindings {
            name: agent.name.clone(),
            users: agent.users,
            share_asked: f64::from(agent.share) / whole,
            completed,
            share_got: completed as f64 / all as f64,
            response_ns_p99: p99(attempt, number, LatencyClock::Response),
            busiest_thread: threads.iter().copied().reduce(f64::max),
            lag_ns_p99,
            clock_bound_ns: agent.clock_bound_ns,
            clock_moved_ns: end.and_then(|end| end.clock_moved_ns),
            bound: check_generator(&observed).bound,
        }
    };
    (0..).zip(started).map(of_agent).collect()
}

fn started(attempt: &Attempt) -> Option<&[LoadAgentStart]> {
    attempt.last_event(|event| match event {
        RunEvent::LoadAgents(agents) => Some(agents.as_slice()),
        _ => None,
    })
}

fn stopped(attempt: &Attempt) -> Option<&[LoadAgentStop]> {
    attempt.last_event(|event| match event {
        RunEvent::LoadAgentsStopped(agents) => Some(agents.as_slice()),
        _ => None,
    })
}

/// CPU of each client thread of an agent, share of a core, mean over its seconds.
fn thread_shares(own: &[&AgentSecond]) -> Vec<f64> {
    let threads = own.iter().map(|second| second.client.thread_cpu_ns.len()).max().unwrap_or(0);
    let share = |thread: usize| {
        let spent: u64 = own.iter().filter_map(|second| second.client.thread_cpu_ns.get(thread)).sum();
        spent as f64 / 1e9 / own.len() as f64
    };
    (0..threads).map(share).collect()
}

fn p99(attempt: &Attempt, agent: u32, clock: LatencyClock) -> Option<u64> {
    let of_agent = attempt.agents.histograms.iter().find(|of| of.agent == agent && of.delta.clock == clock)?;
    Sparse::from_v2_deflate(&of_agent.delta.payload).ok()?.percentile(0.99)
}
