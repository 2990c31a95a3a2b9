//! The prober: writes, reads and new connections at fixed times beside the load, each with its outcome, to tell when a database was
//! away and what it has lost. May not make anything fail. Lists and re-exports.

mod claims;
mod dialler;
mod hosts;
mod ledger;
mod operation;
mod outage;
mod pace;
#[cfg(test)]
mod paced_tests;
mod pages;
#[cfg(test)]
mod planted_tests;
mod pool;
mod primaries;
mod reads;
#[cfg(test)]
#[path = "scripted_server_tests.rs"]
mod scripted_server;
#[cfg(test)]
#[path = "scripted_service_tests.rs"]
mod scripted_service;
#[cfg(test)]
mod socket_tests;
mod stream;
mod thread;
mod tries;

pub(crate) use thread::Prober;
