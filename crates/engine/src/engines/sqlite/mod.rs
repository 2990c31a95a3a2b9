//! SQLite: compiled in, embedded, blocking; one session per client thread. Keeps one file, `data/proofload.sqlite`.

mod database;
mod engine;
mod failure;
mod pragma;
mod runner;
mod session;
mod tier;
mod values;
mod writers;

pub use engine::Sqlite;
pub use session::SqliteSession;
