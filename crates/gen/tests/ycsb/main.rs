//! The key-value workload seen from outside the crate.

mod compatible;
mod operations;
mod support;
mod values;
