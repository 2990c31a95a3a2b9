//! What travels: calls to an agent, answers and events from it.

use super::{Event, Pong, host, load};
use crate::error::Error;
use serde::{Deserialize, Serialize};

/// Version of the messages; agents of another version are refused at the greeting.
pub const PROTOCOL: u32 = 29;

/// A message from the conductor to an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// Number of the call; the answer carries it.
    pub id: u64,
    /// What to do.
    pub request: Request,
}

/// A message from an agent to the conductor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Message {
    /// The answer to a call.
    Answer {
        /// Number of the call.
        id: u64,
        /// What came back.
        result: Result<Reply, Error>,
    },
    /// Something that happened.
    Event(Event),
}

/// Any request, as it travels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Request {
    /// Answer with the clock: for offsets between machines.
    Ping,
    /// A request to the host role.
    Host(host::Request),
    /// A request to the load role.
    Load(load::Request),
    /// Go on: the conductor is there. Nothing is answered; an agent that hears nothing for a minute releases everything and ends.
    Alive,
    /// Release everything and end.
    Quit,
}

/// Any answer, as it travels: one variant for each request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Reply {
    /// Reply to [`Request::Ping`].
    Ping(Pong),
    /// Reply of the host role.
    Host(host::Reply),
    /// Reply of the load role.
    Load(load::Reply),
    /// Reply to [`Request::Quit`].
    Quit,
}
