//! The key-value workload seen from outside the crate.

mod chi_square;
mod compatible;
mod golden;
mod operations;
mod support;
mod values;
mod zipfian;
