//! TPROC-C: the OLTP workload derived from TPC-C, with its own data, transactions and checks. Lists and re-exports.

mod acknowledged;
mod build;
mod checks;
mod clerk;
mod departures;
mod dialect;
mod drawn;
mod opened;
mod opening;
mod paced;
mod procedures;
mod settings;
mod statements;
mod tally;
mod terminal;
#[cfg(test)]
mod tests;
mod transactions;
mod user;
mod workload;

use super::desk;
pub use workload::Tprocc;
