//! DuckDB: a column store that runs inside the load agent, loaded at run time through its C API; the build never needs it.
//! Keeps one file, `data/proofload.duckdb`. Blocking; one session per client thread.

mod database;
mod engine;
mod failure;
mod floating;
mod library;
mod locate;
mod options;
mod registry;
mod session;
mod settings;
mod statements;
mod values;

pub use engine::Duckdb;
pub use session::DuckdbSession;
