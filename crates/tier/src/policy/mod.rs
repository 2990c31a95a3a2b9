//! Replacement policies: which clean line is given up. None of them sees a dirty line or does input and output.

mod adaptive;
mod choice;
mod contract;
mod fifo;
mod ghosts;
mod recency;
mod sketch;
mod tiny_lfu;
mod two_queue;

pub use choice::PolicyChoice;
pub use contract::{Incoming, Policy};
