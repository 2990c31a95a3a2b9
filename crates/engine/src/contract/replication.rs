//! Replication of an engine: how a mode is put in force, how a standby is made to follow, and how both are looked at. Describes files
//! and asks servers; the testbed writes and starts.

use super::engine::Target;
use super::error::Error;
use super::group_failover::GroupFailover;
use super::server::{CommandLine, FileToWrite};
use proofload_model::catalogue::ReplicationFacts;
use proofload_model::commit_levels::CommitLevel;
use proofload_model::deployment::InstanceName;
use proofload_model::drill::LogFork;
use proofload_model::replication::{ReplicationAsked, ReplicationMode, ReplicationReading};
use proofload_model::time::Clock;
use proofload_model::units::Bytes;
use proofload_model::wire::host::DataEnd;
use std::fmt;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Instances that follow another.
pub trait Replication: Sync {
    /// What a study may ask for.
    fn facts(&self) -> ReplicationFacts;

    /// Settings of a primary that put a mode in force.
    fn primary_settings(&self, asked: &ReplicationAsked) -> Vec<(String, String)>;

    /// Settings of a standby beside those of its primary that belong to a mode; read back like all others.
    fn standby_settings(&self, _asked: &ReplicationAsked) -> Vec<(String, String)> {
        Vec::new()
    }

    /// What makes an instance of the same data follow the one at `upstream`, under the name of the standby and with the password of the
    /// deployment, where it comes over the network.
    fn standby(&self, name: &str, upstream: &str, password: Option<&str>) -> Result<StandbyFiles, Error>;

    /// What has an instance listen at an address of its host, with these settings, and let in who knows the password.
    fn reachable(&self, _settings: &[(String, String)], _at: IpAddr, _port: u16) -> Result<Reachable, Error> {
        Err(unsupported("listen at an address of its host"))
    }

    /// Command that copies the running instance at an address into an empty folder, whose server may be started as its standby, and the
    /// content of the file of mode 0600 in which it finds the password.
    fn copy(&self, _from: &str, _to: &Path, _password: (&Path, &str)) -> Result<(CommandLine, String), Error> {
        Err(unsupported("copy a running instance"))
    }

    /// Tells whether the standby at this address has applied all log that it has received. Blocking.
    fn has_applied_all(&self, standby: &Target) -> Result<bool, Error>;

    /// Reads where the log of the stopped instance of a folder ends.
    fn data_end(&self, _folder: &Path) -> Result<DataEnd, Error> {
        Err(unsupported("read where the log of a stopped instance ends"))
    }

    /// Places of a relay to the instance at `upstream`, whose socket lies in a folder. `port`: one of this host that is free, where a standby
    /// comes through it; `None`: users of this host do.
    fn relayed(&self, upstream: &str, folder: &Path, port: Option<u16>) -> Result<RelayPlaces, Error>;

    /// Puts settings in force in the instance at this address while it runs, also in one that takes no writes yet, and for its later
    /// starts. Blocking.
    fn reconfigure(&self, instance: &Target, settings: &[(String, String)]) -> Result<(), Error>;

    /// Lets the running standby at this address follow another instance, by what was made for that. Blocking.
    fn follow(&self, standby: &Target, files: &StandbyFiles) -> Result<(), Error> {
        self.reconfigure(standby, &files.settings)
    }

    /// Opens a watch of a primary; nothing is connected yet. `standbys`: those of its host, which may be asked how far they are.
    fn watch(
        &self,
        primary: &Target,
        standbys: &[(InstanceName, Target)],
        asked: &ReplicationAsked,
    ) -> Result<Box<dyn ReplicationWatch>, Error>;

    /// Role, as its title names it, of the process of a standby that takes what the primary sends; `None`: the server is one process.
    fn receiver(&self) -> Option<&'static str>;

    /// Keeps the standby at this address from applying what it has received, or lets it go on. Blocking.
    fn hold_apply(&self, standby: &Target, held: bool) -> Result<(), Error>;

    /// Tells whether the standby at this address is kept from applying. Blocking.
    fn holds_apply(&self, standby: &Target) -> Result<bool, Error>;

    /// Reads how much of the primary's log the standby at this address has received: bytes since a fixed, unknown begin. Blocking.
    fn received(&self, standby: &Target) -> Result<Bytes, Error>;

    /// Settings of every instance that put a mode in force where a failover manager chooses for whom commits wait.
    fn managed_settings(&self, _asked: &ReplicationAsked) -> Vec<(String, String)> {
        Vec::new()
    }

    /// What a failover manager needs to run an instance of `folder` with these settings, which listens at a port of this host.
    fn managed(&self, _folder: &Path, _settings: &[(String, String)], _port: u16) -> Result<ManagedServer, Error> {
        Err(unsupported("run under a failover manager"))
    }

    /// Statement that makes an account for replication, or has one that is there come by a password, of which it says no more than the
    /// server keeps.
    fn account(&self, name: &str, password: &str) -> String;

    /// Makes the account of managers and of the load, and these others, come by a password; no standby is waited for. Blocking.
    fn set_accounts(&self, _primary: &Target, _others: &[&str], _password: &str) -> Result<(), Error> {
        Err(unsupported("have accounts come by a password of the run"))
    }

    /// Tells whether the server at this address takes writes. Blocking.
    fn takes_writes(&self, server: &Target) -> Result<bool, Error>;

    /// Makes the standby at this address a primary that takes writes, and waits until it is. No commit waits there. Blocking.
    fn promote(&self, standby: &Target) -> Result<(), Error>;

    /// Reads where the log of a promoted instance left that of the primary before it, without the end of the latter; `None` where the
    /// engine does not tell. Blocking.
    fn fork(&self, _promoted: &Target) -> Result<Option<LogFork>, Error> {
        Ok(None)
    }

    /// Reads where the log of the old primary ends, from its data folder, whose server takes no writes any more; `None` where the
    /// engine does not tell. Blocking.
    fn log_end_after(&self, _folder: &Path, _fork: &LogFork) -> Result<Option<Bytes>, Error> {
        Ok(None)
    }

    /// Prepares a promoted instance to be the source of [`Replication::rewind`]: what it has since is in its files. Blocking.
    fn before_rewind(&self, _leader: &Target) -> Result<(), Error> {
        Err(unsupported("put a failed instance back"))
    }

    /// What puts the stopped instance in a data folder back to where its log and that of the instance at `upstream` are one, by what
    /// differs since; `password`: where it finds the one by which it comes to the other, if it takes one, and what that is.
    fn rewind(&self, _data: &Path, _upstream: &str, _password: Option<(&Path, &str)>) -> Result<Rewind, Error> {
        Err(unsupported("put a failed instance back"))
    }

    /// Names of the links in the data folder of a standby by which it follows.
    fn links(&self) -> &'static [&'static str] {
        &[]
    }
}

/// What an engine does not do; a study that asks for it is refused before, by [`ReplicationFacts`].
fn unsupported(what: &str) -> Error {
    Error::other(format!("failed to {what}: this engine does not support it"))
}

/// How an instance is put back behind another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewind {
    /// Command, to be run in a folder of its own as the server's user.
    pub command: CommandLine,
    /// Symbolic links in that folder, and what each leads to.
    pub links: Vec<(PathBuf, PathBuf)>,
    /// Content of the file of mode 0600 in which it finds the password, if it takes one.
    pub password: Option<String>,
    /// Files of the data folder that are the other instance's afterwards and must go.
    pub others: Vec<PathBuf>,
}

/// Standbys of a server that Proofload did not start: what its users' commits wait for is chosen by each connection, and nothing of the
/// server is changed.
pub trait ExistingReplication: Sync {
    /// Modes that a connection can ask for.
    fn modes(&self) -> &'static [ReplicationMode];

    /// Names of the settings below, as a study writes their last part.
    fn setting_names(&self) -> &'static [&'static str] {
        &[]
    }

    /// Settings of a place by which every connection of a mode asks for it; read back by [`super::Engine::verify_settings`]. Nothing where the
    /// server alone has the mode.
    fn session_settings(&self, _mode: ReplicationMode) -> Vec<(String, String)> {
        Vec::new()
    }

    /// Opens a watch of the server that takes the writes; nothing is connected yet.
    fn watch(&self, primary: &Target, asked: &ReplicationAsked) -> Result<Box<dyn ReplicationWatch>, Error>;

    /// Failover by the servers' own command; `None` where they have none.
    fn failover(&self) -> Option<&dyn GroupFailover> {
        None
    }
}

/// Server of an instance as a failover manager is to run it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManagedServer {
    /// Folder of the server's programs.
    pub programs: PathBuf,
    /// Account of the manager and of standbys, which comes by a password over the network.
    pub account: &'static str,
    /// Database of the load.
    pub database: &'static str,
    /// Files of the data folder to write: who may come in.
    pub files: Vec<FileToWrite>,
    /// The study's settings as a configuration file.
    pub settings: String,
    /// Folder of the socket by which sessions of this host come in, as the server and its manager are told it.
    pub sockets: &'static str,
    /// Link in the folder that the manager works in, and what it leads to: with it that folder of sockets is the server's.
    pub link: (PathBuf, PathBuf),
    /// Address for sessions of this host, without secrets.
    pub address: String,
}

/// Place of a socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SocketPlace {
    /// File of a Unix socket.
    File(PathBuf),
    /// Host and port.
    Host {
        /// Name or address.
        host: String,
        /// Port.
        port: u16,
    },
}

impl fmt::Display for SocketPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Host { host, port } => write!(f, "{host} port {port}"),
        }
    }
}

/// Places of a relay between a standby and the instance that it follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelayPlaces {
    /// Where the relay listens.
    pub at: SocketPlace,
    /// Where it leads.
    pub to: SocketPlace,
    /// Address that the standby is told.
    pub address: String,
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
    /// Files that nobody but its server may read, and that go when it is stopped.
    pub secrets: Vec<FileToWrite>,
}

/// An instance that other hosts reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reachable {
    /// Files to write in the place of those of its recipe.
    pub files: Vec<FileToWrite>,
    /// Address for sessions of other hosts, without secrets.
    pub address: String,
}

/// Looks at the replication of a primary. Owns its connections and its runtime; blocking.
pub trait ReplicationWatch: Send {
    /// Reads whether the mode is in force, and how standbys stand.
    fn read(&mut self) -> Result<ReplicationReading, Error>;

    /// Begins a commit as users of the load commit, which changes no table, and waits for its end; false when it has not ended `within`
    /// this time, and goes on.
    fn begin_commit(&mut self, _within: Duration) -> Result<bool, Error> {
        Err(Error::other(
            "failed to begin a commit: this engine only observes its standbys and cannot hold their links",
        ))
    }

    /// Commits one transaction after the other on a connection of its own, each at its level, changing no table; how long each took, in
    /// their order, and fewer when the time is up. Nothing where a transaction cannot have a level of its own.
    fn time_commits(
        &mut self,
        _levels: &[CommitLevel],
        _within: Duration,
        _clock: &dyn Clock,
    ) -> Result<Vec<Duration>, Error> {
        Ok(Vec::new())
    }

    /// Tells whether the server lists the commit that goes on as one that waits for a standby: a commit that a busy disk makes long does
    /// not. Nothing where an engine cannot tell, and where none goes on.
    fn sees_commit_wait(&mut self) -> Result<Option<bool>, Error> {
        Ok(None)
    }

    /// Waits for the end of a commit that goes on; true once it has ended. None goes on: true.
    fn end_commit(&mut self, _within: Duration) -> Result<bool, Error> {
        Ok(true)
    }
}
