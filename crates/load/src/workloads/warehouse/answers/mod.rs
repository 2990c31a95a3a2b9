//! Answers of queries: written alike whatever the engine, and compared with golden ones. Runs nothing. Lists and
//! re-exports.

mod compare;
#[cfg(test)]
mod corruptions;
mod csv;
mod write;

pub(super) use compare::compare;
pub(super) use csv::read_csv;
#[cfg(test)]
pub(super) use csv::write_csv;
pub(super) use write::{Answer, hash, written};
