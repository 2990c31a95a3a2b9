//! One agent as the conductor knows it: its process, how its clock lies to ours, when it last said anything. May not know what it does.

use crate::interrupt::Interrupt;
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

/// Longest silence before an agent is taken for lost. It says something at least once a second, whatever it does; a host that is short of
/// memory or processor time may keep it from that for a while. An agent gives its conductor as long.
pub(super) const SILENCE: Duration = Duration::from_secs(60);

/// Longest silence of one of several load agents while their load runs: the seconds of all others wait for its own.
pub(super) const SILENCE_AMONG_SEVERAL: Duration = Duration::from_secs(15);

/// Looks further apart than this prove no silence: the conductor itself was stopped. Time that a machine sleeps is not on the clock.
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
    silence: SilenceWatch,
}

impl Agent {
    /// Starts an agent by its command, and measures its clock. An interrupt ends the command while it has not greeted.
    pub(super) fn start(
        name: &str,
        command: &[String],
        clock: &dyn Clock,
        interrupt: &Interrupt,
    ) -> Result<Self, Error> {
        let (sender, events) = channel();
        let interrupt = interrupt.clone();
        let process = Arc::new(AgentProcess::start_unless(command, name, sender, move || interrupt.asked())?);
        let (offset, pid) = clock_offset(&process, clock)?;
        if offset.within > CLOCK_WITHIN {
            let within = offset.within;
            return Err(Error::refused(format!(
                "the clock of the {name} agent can only be aligned to within {within:?}, but the limit is {CLOCK_WITHIN:?}: the connection to it is too slow"
            )));
        }
        let now = clock.now();
        let silence = SilenceWatch::new(now);
        Ok(Self { name: name.to_owned(), process, events, clock: offset, pid, silence })
    }

    /// A moment of our clock on the agent's.
    pub(super) fn in_its_time(&self, ours: Moment) -> Moment {
        Moment(ours.0.saturating_add_signed(self.clock.ahead_ns))
    }

    /// A moment of the agent's clock on ours.
    pub(super) fn in_our_time(&self, its: Moment) -> Moment {
        Moment(its.0.saturating_add_signed(-self.clock.ahead_ns))
    }

    /// True once, when the agent has been silent for longer than `longest` and its stream is still open. Must be polled.
    pub(super) fn falls_silent(&mut self, now: Moment, longest: Duration) -> bool {
        self.process.is_alive() && self.silence.begins(self.process.messages_heard(), now, longest)
    }

    /// Whether it was given up for its silence.
    pub(super) fn is_given_up(&self) -> bool {
        self.silence.is_told
    }
}

/// Whether an agent still says something, by the number of its messages.
struct SilenceWatch {
    messages: u64,
    /// When that number was last seen to grow, or the conductor had been stopped.
    since: Moment,
    looked: Moment,
    is_told: bool,
}

impl SilenceWatch {
    fn new(now: Moment) -> Self {
        Self { messages: 0, since: now, looked: now, is_told: false }
    }

    /// True once, when nothing was heard for longer than `longest`. After a pause of our own we first hear what has come.
    fn begins(&mut self, messages: u64, now: Moment, longest: Duration) -> bool {
        let stood_still = now.since(self.looked) > REGULAR_LOOKS;
        self.looked = now;
        if messages != self.messages || stood_still {
            (self.messages, self.since) = (messages, now);
        }
        let begins = !self.is_told && now.since(self.since) > longest;
        self.is_told |= begins;
        begins
    }
}

/// Words for the loss of an agent that was silent for longer than `longest`.
pub(super) fn silence_text(longest: Duration) -> String {
    format!("it has not answered for {} s", longest.as_secs())
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

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    /// Looks once a second at an agent that says nothing, from one second to another; whether it was given up.
    fn looks(watch: &mut SilenceWatch, seconds: std::ops::RangeInclusive<u64>) -> bool {
        seconds.map(|second| watch.begins(7, Moment(second * SECOND), SILENCE)).fold(false, |one, other| one | other)
    }

    #[test]
    fn silence_is_told_once_after_its_time() {
        let mut watch = SilenceWatch::new(Moment(0));
        assert!(!looks(&mut watch, 1..=61), "heard at the first look, silent for 60 s");
        assert!(looks(&mut watch, 62..=62));
        assert!(!looks(&mut watch, 63..=300), "it is told once");
        let mut watch = SilenceWatch::new(Moment(0));
        let speaks = |second: u64| watch.begins(second, Moment(second * SECOND), SILENCE);
        assert!(!(1..=300).map(speaks).fold(false, |one, other| one | other));
    }

    #[test]
    fn a_conductor_that_was_stopped_hears_what_has_come_before_it_gives_anybody_up() {
        let mut watch = SilenceWatch::new(Moment(0));
        assert!(!looks(&mut watch, 1..=50));
        // Stopped for ten minutes.
        assert!(!looks(&mut watch, 650..=710), "the time begins anew");
        assert!(looks(&mut watch, 711..=711));
    }
}
