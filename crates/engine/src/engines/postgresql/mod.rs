//! PostgreSQL 14 and later: a local instance that Proofload starts, or a server reached by URL.

mod commit_times;
mod configuration;
mod connection;
mod copy;
mod data_end;
mod database;
mod engine;
mod existing_replication;
mod failure;
mod hosts;
mod installation;
mod live;
mod log_fork;
mod numeric;
mod observer;
mod password;
mod quantity;
mod quorum;
mod recipe;
mod refused_settings;
mod replication;
mod replication_watch;
mod rights;
mod scratch;
mod session;
mod sessions;
mod settings;
mod statistics;
mod tls;
mod values;
mod wire;

pub use engine::Postgresql;
pub use session::PostgresqlSession;
