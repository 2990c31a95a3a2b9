//! Faults that the server makes on command.

use super::build;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// What goes wrong with one request.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Fault {
    /// No answer; the connection stays open.
    Silence,
    /// The connection is closed instead of an answer.
    Close,
    /// The answer names another request.
    WrongResponseTo,
    /// Half of the answer, then the connection is closed.
    ShortFrame,
    /// The answer's document is damaged.
    Damaged,
    /// The answer says that more follow.
    MoreToCome,
    /// The answer is followed by a second one.
    Twice,
    /// The answer is of a kind that nobody knows.
    OtherKind,
    /// The answer comes late.
    Slow(Duration),
    /// The command fails with this code.
    Error(i32),
    /// The write is done, but its write concern fails with this code.
    Unconfirmed(i32),
    /// Refuses every such document of an insertion with this code.
    RefuseEvery {
        /// Every so manieth.
        every: usize,
        /// Code.
        code: i32,
    },
}

/// Faults to come.
#[derive(Debug, Default)]
pub(super) struct Faults {
    queue: VecDeque<(String, Fault)>,
    stalled_until: Option<Instant>,
}

impl Faults {
    /// The next request of this command has this fault.
    pub(super) fn add(&mut self, command: &str, fault: Fault) {
        self.queue.push_back((command.to_owned(), fault));
    }

    /// Nobody is answered for so long.
    pub(super) fn stall(&mut self, time: Duration) {
        self.stalled_until = Some(Instant::now() + time);
    }

    /// How long the server still stands.
    pub(super) fn stalled(&self) -> Option<Duration> {
        self.stalled_until.map(|until| until.saturating_duration_since(Instant::now())).filter(|time| !time.is_zero())
    }

    /// Whether there are no faults.
    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// The fault of this command's request, which is used up.
    pub(super) fn take(&mut self, command: &str) -> Option<Fault> {
        let place = self.queue.iter().position(|(known, _)| known == command)?;
        self.queue.remove(place).map(|(_, fault)| fault)
    }
}

impl Fault {
    /// Changes an answer that goes out.
    pub(super) fn damage(&self, reply: &mut Vec<u8>) {
        match self {
            Self::WrongResponseTo => reply[8] ^= 0x55,
            Self::ShortFrame => reply.truncate(reply.len() / 2),
            Self::Damaged => reply[21] ^= 0x7F,
            Self::MoreToCome => reply[16] |= 2,
            Self::OtherKind => reply[12] = 1,
            Self::Twice => reply.extend_from_within(..),
            _ => {}
        }
    }

    /// The error of a command that fails.
    pub(super) fn error(&self) -> Option<Vec<u8>> {
        match self {
            Self::Error(code) => Some(build::failure(*code, "Injected", "the test wants it so")),
            _ => None,
        }
    }
}
