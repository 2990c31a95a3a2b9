//! Replication of an engine: how a mode is put in force, how a standby is made to follow, and how both are looked at. Describes files
//! and asks servers; the testbed writes and starts.

use super::engine::Target;
use super::error::Error;
use super::server::FileToWrite;
use proofload_model::catalogue::ReplicationFacts;
use proofload_model::replication::{ReplicationAsked, ReplicationReading};
use std::path::PathBuf;
use std::time::Duration;

/// Instances that follow another.
pub trait Replication: Sync {
    /// What a study may ask for.
    fn facts(&self) -> ReplicationFacts;

    /// Settings of a primary that put a mode in force.
    fn primary_settings(&self, asked: &ReplicationAsked) -> Vec<(String, String)>;

    /// What makes an instance of the same data follow the one at `upstream`, under the name of the standby.
    fn standby(&self, name: &str, upstream: &str) -> Result<StandbyFiles, Error>;

    /// Opens a watch of a primary; nothing is connected yet.
    fn watch(&self, primary: &Target, asked: &ReplicationAsked) -> Result<Box<dyn ReplicationWatch>, Error>;

    /// Role, as its title names it, of the process of a standby that takes what the primary sends.
    fn receiver(&self) -> &'static str;

    /// Keeps the standby at this address from applying what it has received, or lets it go on. Blocking.
    fn hold_apply(&self, standby: &Target, held: bool) -> Result<(), Error>;
}

/// What an instance needs before its start to be a standby.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StandbyFiles {
    /// Settings on top of those of its primary.
    pub settings: Vec<(String, String)>,
    /// Files to write.
    pub files: Vec<FileToWrite>,
    /// Symbolic links in its folder, and what each leads to.
    pub links: Vec<(PathBuf, PathBuf)>,
}

/// Looks at the replication of a primary. Owns its connections and its runtime; blocking.
pub trait ReplicationWatch: Send {
    /// Reads whether the mode is in force, and how standbys stand.
    fn read(&mut self) -> Result<ReplicationReading, Error>;

    /// Begins a commit as users of the load commit, which changes no table, and waits for its end; false when it has not ended `within`
    /// this time, and goes on.
    fn begin_commit(&mut self, within: Duration) -> Result<bool, Error>;

    /// Waits for the end of a commit that goes on; true once it has ended. None goes on: true.
    fn end_commit(&mut self, within: Duration) -> Result<bool, Error>;
}
