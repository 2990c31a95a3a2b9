//! Merges the seconds of several load agents into those of one load. A second is complete when every agent has sent it,
//! or has ended before it. Nothing is filled in, left out or averaged: histograms are added bucket by bucket, and what
//! does not add up is an error.

use super::histograms::{Latencies, V2Reader};
use super::sums::{MergedKinds, add_client, add_errors, add_readings};
use proofload_model::error::Error;
use proofload_model::samples::{
    AgentHistogram, AgentSecond, ClientSelf, ErrorCount, IntervalSample, LatencyClock, OperationCounts, Reading,
    add_counts, is_deferred,
};
use std::collections::VecDeque;
use std::ops::Range;

/// A second in which all agents are merged, and what each of them did in it.
#[derive(Debug, Clone, PartialEq)]
pub struct MergedSecond {
    /// All agents together.
    pub sample: IntervalSample,
    /// Each of several agents, in their order; empty when there is but one.
    pub agents: Vec<AgentSecond>,
}

/// Merges the seconds of a load's agents.
pub struct Merger {
    agents: Vec<AgentStream>,
    /// Seconds of the measured window.
    window: Range<u64>,
    /// Number of the first slot.
    first: u64,
    pending: VecDeque<PendingSecond>,
    reader: V2Reader,
}

/// Everything that one agent has sent so far.
#[derive(Default)]
struct AgentStream {
    /// The second that it sends next.
    next: u64,
    /// Whether its load has ended, so that it sends no second any more.
    ended: bool,
    /// Sums of its seconds.
    totals: Vec<OperationCounts>,
    /// Number of response times in its seconds.
    responses: u64,
    /// Response times in the window.
    response: Latencies,
    send_lag: Latencies,
}

/// One second that some agents have sent.
#[derive(Default)]
struct PendingSecond {
    counts: Vec<OperationCounts>,
    kinds: MergedKinds,
    errors: Vec<ErrorCount>,
    engine: Vec<Reading>,
    parts: Vec<Option<AgentSecond>>,
}

impl Default for Merger {
    /// A merger of one agent.
    fn default() -> Self {
        Self::new(1)
    }
}

impl Merger {
    /// A merger of this many agents.
    pub fn new(agents: usize) -> Self {
        let agents = (0..agents.max(1)).map(|_| AgentStream::default()).collect();
        Self { agents, window: u64::MAX..u64::MAX, first: 0, pending: VecDeque::new(), reader: V2Reader::default() }
    }

    /// Takes a second of an agent; returns all seconds that are complete now. An error says which agent's second does
    /// not add up.
    pub fn take(&mut self, agent: usize, sample: IntervalSample) -> Result<Vec<MergedSecond>, Error> {
        let several = self.agents.len() > 1;
        let stream = self.agents.get_mut(agent).ok_or_else(|| Error::new(format!("no such agent: {agent}")))?;
        stream.follow(&sample)?;
        if !several {
            self.first = sample.index + 1;
            return Ok(vec![MergedSecond { sample, agents: Vec::new() }]);
        }
        self.add(agent, sample)?;
        Ok(self.complete())
    }

    /// Ends an agent's load after `intervals` seconds; returns all seconds that are complete now.
    pub fn end(&mut self, agent: usize, intervals: u64) -> Result<Vec<MergedSecond>, Error> {
        let stream = self.agents.get_mut(agent).ok_or_else(|| Error::new(format!("no such agent: {agent}")))?;
        stream.ended = true;
        if stream.next != intervals {
            return Err(Error::new(format!("its load has {intervals} seconds, but only {} arrived", stream.next)));
        }
        Ok(self.complete())
    }

    /// The first second that no agent has sent yet.
    pub fn furthest(&self) -> u64 {
        self.agents.iter().map(|stream| stream.next).max().unwrap_or(0)
    }

    /// Sets the measured window, which must not begin before [`Merger::furthest`]: seconds that were sent already are
    /// not counted again.
    pub fn set_window(&mut self, window: Range<u64>) {
        self.window = window;
    }

    /// Compares an agent's totals of its whole load with the sum of its seconds. The error says what differs.
    pub fn check(&self, agent: usize, intervals: u64, totals: &[OperationCounts]) -> Result<(), Error> {
        let stream = self.agents.get(agent).ok_or_else(|| Error::new(format!("no such agent: {agent}")))?;
        if stream.next != intervals {
            return Err(Error::new(format!("only {} of its {intervals} seconds arrived", stream.next)));
        }
        for total in totals {
            let summed = stream.totals.iter().find(|sum| sum.kind == total.kind).cloned().unwrap_or_default();
            if figures(&summed) != figures(total) {
                let (counted, sent) = (figures(total), figures(&summed));
                return Err(Error::new(format!("{}: it counted {counted:?}, but sent {sent:?}", total.kind)));
            }
        }
        let completed: u64 = totals.iter().map(|total| total.done + total.rolled_back).sum();
        if stream.responses != completed {
            let sent = stream.responses;
            return Err(Error::new(format!("it completed {completed} operations, but sent {sent} response times")));
        }
        Ok(())
    }

    /// The latencies of each of several agents over the window; send lag only where there was any.
    pub fn of_window(&self) -> Vec<AgentHistogram> {
        let numbered = (0..).zip(&self.agents).filter(|_| self.agents.len() > 1);
        numbered
            .flat_map(|(agent, stream)| {
                let response = stream.response.to_delta("", LatencyClock::Response);
                let send_lag = stream.send_lag.to_delta("", LatencyClock::SendLag);
                [response, send_lag].into_iter().flatten().map(move |delta| AgentHistogram { agent, delta })
            })
            .collect()
    }

    /// Adds a sample to its second.
    fn add(&mut self, agent: usize, sample: IntervalSample) -> Result<(), Error> {
        let Self { agents, window, first, pending, reader } = self;
        let (all, index) = (agents.len(), sample.index);
        let place = usize::try_from(index.saturating_sub(*first)).unwrap_or(usize::MAX);
        while pending.len() <= place {
            pending.push_back(PendingSecond { parts: vec![None; all], ..PendingSecond::default() });
        }
        let (slot, stream) = (&mut pending[place], &mut agents[agent]);
        let mut second = AgentSecond { agent: u32::try_from(agent).unwrap_or(u32::MAX), ..AgentSecond::default() };
        second.count_all(&sample);
        for delta in &sample.histograms {
            let histogram = reader.read(delta)?;
            slot.kinds.of(&delta.kind, delta.clock).add(histogram, delta);
            if !window.contains(&index) {
                continue;
            }
            match delta.clock {
                LatencyClock::Response if !is_deferred(&delta.kind) => stream.response.add(histogram, delta),
                LatencyClock::SendLag => stream.send_lag.add(histogram, delta),
                LatencyClock::Response | LatencyClock::Service => {}
            }
        }
        add_counts(&mut slot.counts, &sample.counts);
        add_errors(&mut slot.errors, sample.errors);
        add_readings(&mut slot.engine, sample.engine);
        second.client = sample.client;
        slot.parts[agent] = Some(second);
        Ok(())
    }

    /// Takes out the seconds that are complete.
    fn complete(&mut self) -> Vec<MergedSecond> {
        let mut seconds = Vec::new();
        while self.pending.front().is_some_and(|second| self.is_complete(second)) {
            if let Some(second) = self.pending.pop_front() {
                seconds.push(second.merged(self.first));
                self.first += 1;
            }
        }
        seconds
    }

    fn is_complete(&self, second: &PendingSecond) -> bool {
        second
            .parts
            .iter()
            .zip(&self.agents)
            .all(|(part, stream)| part.is_some() || (stream.ended && stream.next <= self.first))
    }
}

impl AgentStream {
    /// Counts a second that must be the next one.
    fn follow(&mut self, sample: &IntervalSample) -> Result<(), Error> {
        if self.ended || sample.index != self.next {
            let due = if self.ended { "none".to_owned() } else { self.next.to_string() };
            return Err(Error::new(format!("it sent second {} instead of {due}", sample.index)));
        }
        self.next += 1;
        add_counts(&mut self.totals, &sample.counts);
        let responses = sample.histograms.iter().filter(|delta| delta.clock == LatencyClock::Response);
        self.responses += responses.map(|delta| delta.count).sum::<u64>();
        Ok(())
    }
}

impl PendingSecond {
    fn merged(self, index: u64) -> MergedSecond {
        let Self { counts, kinds, errors, engine, parts } = self;
        let agents: Vec<AgentSecond> = parts.into_iter().flatten().collect();
        let mut client = ClientSelf::default();
        for (number, agent) in agents.iter().enumerate() {
            add_client(&mut client, &agent.client, number == 0);
        }
        client.send_lag_ns_p99 = kinds.send_lag_ns_p99();
        let histograms = kinds.into_deltas(&counts);
        MergedSecond { sample: IntervalSample { index, counts, histograms, errors, client, engine }, agents }
    }
}

/// Summary of a second for its agent's row.
trait CountAll {
    fn count_all(&mut self, sample: &IntervalSample);
}

impl CountAll for AgentSecond {
    fn count_all(&mut self, sample: &IntervalSample) {
        self.number = sample.index;
        for counts in &sample.counts {
            self.completed += counts.completed();
            self.failed += counts.failed;
            self.dropped += counts.dropped;
        }
        for delta in sample.histograms.iter().filter(|delta| delta.clock == LatencyClock::Response) {
            self.count += delta.count;
            self.sum_ns = self.sum_ns.saturating_add(delta.sum_ns);
            self.max_ns = self.max_ns.max(delta.max_ns);
        }
    }
}

/// The figures that must be equal: all but `in_flight`, which is a level.
fn figures(counts: &OperationCounts) -> [u64; 6] {
    [counts.due, counts.done, counts.rolled_back, counts.failed, counts.dropped, counts.retries]
}
