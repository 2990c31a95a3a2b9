//! TPROC-C: the OLTP workload derived from TPC-C, with its own data, transactions and checks. Lists and re-exports.

mod acknowledged;
mod build;
mod checks;
mod departures;
mod dialect;
mod draw_counts;
mod paced;
mod procedures;
mod selftest;
mod session_opener;
mod session_work;
mod settings;
mod statements;
mod tally;
#[cfg(test)]
mod tests;
mod transaction_runner;
mod transactions;
mod user;
mod workload;
mod workload_run;

pub use selftest::build_apart;
pub use workload::Tprocc;
