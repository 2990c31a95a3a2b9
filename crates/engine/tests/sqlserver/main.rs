//! The engine `sqlserver` against a server of the tests: logging on, calls, types, errors, rows in bulk, and a server that breaks its word. No
//! SQL Server has been asked.

#[path = "../support/tds_server/mod.rs"]
mod tds_server;

mod availability;
mod backup_files;
mod broken;
mod bulk;
mod by_token;
mod encryption;
mod failover;
mod flights;
mod freetds;
mod host_rights;
mod instances;
mod memory_grant;
mod places;
mod rates_by_key;
mod recovery;
mod rights;
mod routes;
mod types;
mod upkeep;
