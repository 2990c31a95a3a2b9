//! The control socket of an open pool: another process reads its state, and asks it to drain or to stop.
//!
//! It serves one request on each connection and keeps nothing. It may not change content, sizes or modes, read a clock
//! but the pool's, or stop a pool itself: it tells the owner, who decides.

mod client;
mod frame;
mod message;
pub(crate) mod place;
mod reading;
mod sampled;
mod server;

pub use client::ControlClient;
pub use frame::FrameFault;
pub use reading::{DiskReading, PoolReading};
pub use server::{ControlServer, ControlSubject, RetiredSocket};
