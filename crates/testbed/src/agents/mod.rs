//! Reaching machines: the same binary started by any command, speaking frames on its standard streams.
//! May not know what requests mean. Lists and re-exports.

mod client;
mod frame;
mod greeting;
mod server;

pub use client::{AgentEvent, AgentProcess};
pub use server::{EventSink, Handler, serve};
