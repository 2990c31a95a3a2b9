//! The engine `sqlserver` against a server of the tests: logging on, calls, types, errors, rows in bulk, and a server that breaks its word. No
//! SQL Server has been asked.

#[path = "../support/tds_server/mod.rs"]
mod tds_server;

mod availability;
mod backup_files;
mod broken;
mod bulk;
mod encryption;
mod flights;
mod host_rights;
mod memory_grant;
mod places;
mod recovery;
mod rights;
mod types;
mod upkeep;
