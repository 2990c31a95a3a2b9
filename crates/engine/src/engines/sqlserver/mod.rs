//! SQL Server 2019 and later, reached by URL over our own end of TDS. Wire and syntax are verified; it has never been run on a server.

mod address;
mod availability;
mod backup;
mod bulk_load;
mod changes;
mod database;
mod engine;
mod failover;
mod failure;
mod group_member;
mod host_rights;
mod key_rates;
mod ledger;
mod memory;
mod memory_use;
mod observer;
mod password;
mod recovery;
mod replica_group;
mod rights;
mod row_groups;
mod scratch;
mod script;
mod session;
mod settings;
mod statement_entry;
mod thread_times;
mod unlisted;
mod version;
mod wire;

pub use engine::Sqlserver;
pub use session::SqlserverSession;
