//! The suite of queries: files, headers, parameters, dialects. Runs nothing. Lists and re-exports.

mod dialect;
mod files;
mod layout;
mod lists;
mod parameters;
#[cfg(test)]
mod parsed;
mod query;
mod rule;

pub(super) use dialect::{Dates, Dialect, PARALLELISM, chunk_orders, known, parallelism};
pub(super) use files::{SCAN, golden, is_probe, kinds};
pub(super) use layout::{Layout, Moment, OWN};
pub(super) use parameters::Draw;
pub(super) use query::{Class, Exactness, Query, ResultColumn};
