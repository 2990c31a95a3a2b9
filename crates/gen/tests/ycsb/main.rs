//! The key-value workload seen from outside the crate.

mod operations;
mod support;
mod values;
