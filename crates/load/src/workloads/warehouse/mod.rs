//! The warehouse workload: analytic queries over TPC-H-derived data, in streams. Results are not TPC results.
//!
//! Data come from the generator crate, queries and their rules from `suites/warehouse/`. May not contain a query, and may not know
//! what an engine is called outside `suite/dialect.rs`.

mod answers;
mod build;
mod checks;
mod data;
mod mix;
mod opened;
mod own_cpu;
mod probe;
mod session;
mod settings;
mod stream;
mod suite;
#[cfg(test)]
mod tests;
mod workload;

pub use data::generated;
pub use workload::Warehouse;
