//! One agent as the conductor knows it: its process, how its clock lies to ours, when it last said anything. May not know what it does.

use proofload_model::error::Error;
use proofload_model::time::{Clock, Moment};
use proofload_model::wire::{Ping, Pong};
use proofload_testbed::agents::{AgentEvent, AgentProcess};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Exchanges for the offset between two clocks; the one with the shortest round trip counts.
const CLOCK_EXCHANGES: u32 = 32;

/// An answer to the question for the time.
const CLOCK_PATIENCE: Duration = Duration::from_secs(20);

/// Largest error of a clock's offset, and of its drift: beyond it, what ends in one second would be put into another.
pub(super) const CLOCK_WITHIN: Duration = Duration::from_millis(10);

/// Longest silence before an agent is taken for lost. It says something at least once a second.
const SILENCE: Duration = Duration::from_secs(15);

/// Polls further apart than this prove no silence: the conductor itself was paused.
const REGULAR_LOOKS: Duration = Duration::from_secs(3);

/// Offset of an agent's monotonic clock to ours.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ClockOffset {
    /// Nanoseconds by which it is ahead of ours.
    pub(super) ahead_ns: i64,
    /// Bound of its error: half the shortest round trip.
    pub(super) within: Duration,
}

/// An agent's process and its events. Events that a dead agent had yet to deliver are dropped with it.
pub(crate) struct Agent {
    pub(super) name: String,
    pub(super) process: Arc<AgentProcess>,
    pub(super) events: Receiver<(String, AgentEvent)>,
    pub(super) clock: ClockOffset,
    /// Process id that the agent reports; with `ssh` in between, not the process that we started.
    pub(super) pid: u32,
    /// Number of messages heard, and when it was last seen to grow.
    heard: (u64, Moment),
    looked: Moment,
}

impl Agent {
    /// Starts an agent by its command, and measures its clock.
    pub(super) fn start(name: &str, command: &[String], clock: &dyn Clock) -> Result<Self, Error> {
        let (sender, events) = channel();
        let process = Arc::new(AgentProcess::start(command, name, sender)?);
        let (offset, pid) = clock_offset(&process, clock)?;
        if offset.within > CLOCK_WITHIN {
            let within = offset.within;
            return Err(Error::refused(format!(
                "the clock of the {name} agent can only be aligned to within {within:?}, but the limit is {CLOCK_WITHIN:?}: the connection to it is too slow"
            )));
        }
        let now = clock.now();
        Ok(Self { name: name.to_owned(), process, events, clock: offset, pid, heard: (0, now), looked: now })
    }

    /// A moment of our clock on the agent's.
    pub(super) fn in_its_time(&self, ours: Moment) -> Moment {
        Moment(ours.0.saturating_add_signed(self.clock.ahead_ns))
    }

    /// A moment of the agent's clock on ours.
    pub(super) fn in_our_time(&self, its: Moment) -> Moment {
        Moment(its.0.saturating_add_signed(-self.clock.ahead_ns))
    }

    /// True if the agent has been silent for longer than [`SILENCE`]. Must be polled; after a pause of our own we first hear what has come.
    pub(super) fn is_silent(&mut self, now: Moment) -> bool {
        let (messages, stood_still) = (self.process.messages_heard(), now.since(self.looked) > REGULAR_LOOKS);
        self.looked = now;
        if messages != self.heard.0 || stood_still {
            self.heard = (messages, now);
        }
        now.since(self.heard.1) > SILENCE
    }
}

/// Words for the loss of a silent agent.
pub(super) fn silence_text() -> String {
    format!("it has not answered for {} s", SILENCE.as_secs())
}

/// The offset between an agent's clock and ours, by exchanges of four stamps; and its process id. Source: Mills, RFC 5905, section 8.
pub(super) fn clock_offset(process: &AgentProcess, clock: &dyn Clock) -> Result<(ClockOffset, u32), Error> {
    let (mut best, mut number) = (ClockOffset { ahead_ns: 0, within: Duration::MAX }, 0);
    for _ in 0..CLOCK_EXCHANGES {
        let sent = clock.now();
        let Pong { received, moment, pid } = process.ask(Ping, Some(CLOCK_PATIENCE))?;
        let back = clock.now();
        number = pid;
        let within = back.since(sent).saturating_sub(moment.since(received)) / 2;
        if within < best.within {
            let (there, here) = (received.offset_from(sent).0, moment.offset_from(back).0);
            best = ClockOffset { ahead_ns: i64::midpoint(there, here), within };
        }
    }
    Ok((best, number))
}
