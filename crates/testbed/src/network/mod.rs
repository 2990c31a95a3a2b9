//! The network of a study between instances and clients of this machine: made, entered, cut, removed. Lists and re-exports.

mod cable;
mod namespaces;
mod program;

pub(crate) use cable::Cable;
pub use namespaces::{Network, sweep_networks};
