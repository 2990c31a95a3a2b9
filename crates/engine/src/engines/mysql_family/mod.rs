//! MySQL's family: what MariaDB and MySQL have alike, from the protocol to the local instance. What they have otherwise is a `Flavour` in the
//! folder of each. Lists and re-exports.

mod address;
mod configuration;
mod database;
mod engine;
mod failure;
mod flavour;
mod grants;
mod insert_rows;
mod installation;
mod isolation;
mod live;
mod load_data;
mod log_position;
mod log_size;
mod memory;
mod observer;
mod page_flushing;
mod password;
mod pipelining;
mod probe;
mod quantity;
mod recipe;
mod replication;
mod replication_watch;
mod replication_words;
mod rights;
mod scratch;
mod session;
mod sessions;
mod settings;
mod statistics;
mod version;
mod wait_events;
mod wire;

pub(in crate::engines) use flavour::{
    FamilyMember, Flavour, FlavourStatements, InstanceRecipe, MemoryShares, PoolDivision, ProgramNames,
    SeveralStatements,
};
pub(in crate::engines) use grants::Privilege;
pub(in crate::engines) use pipelining::setting as pipelining_setting;
pub(in crate::engines) use replication_words::ReplicationWords;
pub(in crate::engines) use rights::NeededRight;
pub(in crate::engines) use session::FamilySession;
pub(in crate::engines) use version::{OldestVersion, ServerUse, ServerVersion, VersionedText};
