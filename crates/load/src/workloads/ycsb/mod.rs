//! The key-value workload in YCSB's vocabulary: records found by key in one table or collection.
//!
//! Written once for two kinds of sessions: SQL, with the statements of `suites/ycsb/`, and documents. Keys, values and
//! operations come from `proofload_gen::ycsb`. May not know what an engine is called outside `store/dialect.rs`.

mod build;
mod checks;
mod connection;
mod live;
mod selftest;
mod settings;
mod store;
mod tally;
mod user;
mod watermark;
mod workload;
mod workload_run;

pub use workload::Ycsb;
