//! The SSD cache tier and the modelled disk under it.
//!
//! A pool of lines on a fast device stands in front of the volumes on slow ones. Policies, machine and forecast are
//! pure: no clock, no thread, no input or output. The crate knows no database.

pub mod block;
pub mod control;
pub mod device;
pub mod disk;
mod error;
pub mod export;
pub mod forecast;
pub mod layout;
pub mod lines;
pub mod lists;
pub mod machine;
pub mod policy;
#[cfg(test)]
mod sim;
pub mod stats;
pub mod tier;

pub use error::Error;
