//! MariaDB 10.6 and later: a local instance that Proofload starts, or a server reached by URL.

mod address;
mod configuration;
mod database;
mod engine;
mod failure;
mod installation;
mod load_data;
mod log_position;
mod memory;
mod observer;
mod password;
mod probe;
mod quantity;
mod recipe;
mod replication;
mod replication_watch;
mod scratch;
mod session;
mod sessions;
mod settings;
mod statistics;
mod wire;

pub use engine::Mariadb;
pub use session::MariadbSession;
