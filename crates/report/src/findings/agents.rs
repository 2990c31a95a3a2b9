//! What each of several load agents did in the window of a run, and whether it was the limit. Empty for a load of one agent.

use proofload_analysis::generator::{Doubt, Observed, check_generator};
use proofload_analysis::latency::Sparse;
use proofload_analysis::quantity::{Interval, Quantity, Unit};
use proofload_model::samples::{AgentSecond, LatencyClock};
use proofload_record::Attempt;
use serde_json::Value;
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
    /// Send lag at p99, ns; none where no user was free in time, or nothing is due by a schedule.
    pub lag_ns_p99: Option<u64>,
    /// Its clock was placed within so much before the load, ns.
    pub clock_bound_ns: Option<u64>,
    /// Its clock had moved by so much after the load, ns.
    pub clock_moved_ns: Option<i64>,
    /// Why it was the limit; empty when it was not.
    pub bound: Vec<Doubt>,
}

impl AgentFindings {
    /// Got over asked, less 1: 0 when it did its part.
    pub fn imbalance(&self) -> f64 {
        self.share_got / self.share_asked - 1.0
    }

    /// Its part of what was completed, for readers.
    pub fn share(&self) -> Quantity {
        Quantity::new(100.0 * self.share_got, Unit::PERCENT, self.completed, Interval::none(COUNTED))
    }
}

/// Why these have no interval.
const COUNTED: &str = "counts of the whole window";

/// Every load agent of a run; none when there was but one. `embedded`: the engine runs in the agents, whose threads' CPU says nothing.
pub(super) fn agents(attempt: &Attempt, window: Option<(u64, u64)>, embedded: bool) -> Vec<AgentFindings> {
    let (Some((from, to)), Some(told)) = (window, lines(attempt, "load_agents")) else { return Vec::new() };
    let stopped = lines(attempt, "load_agents_stopped").unwrap_or_default();
    let inside: Vec<&AgentSecond> =
        attempt.agents.seconds.iter().filter(|second| (from..to).contains(&second.number)).collect();
    let all: u64 = inside.iter().map(|second| second.completed).sum();
    let whole: f64 = told.iter().filter_map(|line| line["share"].as_f64()).sum();
    let of_line = |(number, line): (u32, &Value)| {
        let own: Vec<&AgentSecond> = inside.iter().copied().filter(|second| second.agent == number).collect();
        let completed: u64 = own.iter().map(|second| second.completed).sum();
        let threads = if embedded { Vec::new() } else { thread_shares(&own) };
        let lag_ns_p99 = p99(attempt, number, LatencyClock::SendLag);
        let observed = Observed {
            client_threads: threads.clone(),
            send_lag_p99: lag_ns_p99.map(Duration::from_nanos),
            throughput: completed as f64 / own.len() as f64,
            null_ceiling: None,
        };
        let end = stopped.iter().find(|end| end["number"].as_u64() == Some(number.into()));
        AgentFindings {
            name: line["name"].as_str().unwrap_or_default().to_owned(),
            users: line["users"].as_u64(),
            share_asked: line["share"].as_f64().unwrap_or(f64::NAN) / whole,
            completed,
            share_got: completed as f64 / all as f64,
            response_ns_p99: p99(attempt, number, LatencyClock::Response),
            busiest_thread: threads.iter().copied().reduce(f64::max),
            lag_ns_p99,
            clock_bound_ns: line["clock_bound_ns"].as_u64(),
            clock_moved_ns: end.and_then(|end| end["clock_moved_ns"].as_i64()),
            bound: check_generator(&observed).bound,
        }
    };
    (0..).zip(&told).map(of_line).collect()
}

/// The list in the detail of an event.
fn lines(attempt: &Attempt, event: &str) -> Option<Vec<Value>> {
    serde_json::from_str(&attempt.event(event)?.detail).ok()
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
