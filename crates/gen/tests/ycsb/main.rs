//! The key-value workload seen from outside the crate.

mod chi_square;
mod compatible;
mod golden;
mod keys;
mod operations;
mod settings;
mod support;
mod values;
mod zipfian;
