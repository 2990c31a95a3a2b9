//! The warehouse workload: analytic queries over TPC-H-derived data, in streams. Results are not TPC results.
//!
//! Data come from the generator crate, queries and their rules from `suites/warehouse/`. May not contain a query, and
//! may not know what an engine is called outside `suite/dialect.rs`.

mod answers;
mod build;
mod checks;
mod data;
mod mix;
mod own_cpu;
mod probe;
mod selftest;
mod session_opener;
mod settings;
mod stream;
mod suite;
#[cfg(test)]
mod tests;
mod workload;
mod workload_run;

pub use data::generated;
pub use workload::Warehouse;
