//! How a local instance of a server engine is made, started and stopped. Describes commands; the testbed runs them.

use super::error::Error;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A program with its arguments and environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLine {
    /// Program.
    pub program: PathBuf,
    /// Arguments.
    pub arguments: Vec<String>,
    /// Environment variables to set.
    pub environment: Vec<(String, String)>,
}

/// A file that the testbed writes before a start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileToWrite {
    /// Path relative to the instance's folder.
    pub path: PathBuf,
    /// Whole content.
    pub content: String,
}

/// Frees what a killed server left in the kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AfterKill {
    /// File below the instance's folder that says that a server runs, to be removed first: a number alone may be that of a process that was killed
    /// and that nobody waits for.
    pub lock_file: PathBuf,
    /// Command, which changes no data.
    pub command: CommandLine,
    /// Segment that the command leaves where it cannot run, or takes for that of other data.
    pub segment: Option<SharedSegment>,
}

/// A System V segment of shared memory, as the files of its server tell it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SharedSegment {
    /// Its number; shmget(2).
    pub id: u32,
    /// Key under which it was made, as the kernel lists it: a number alone may be that of a later segment.
    pub key: i64,
    /// Process that made it.
    pub creator: u32,
}

/// Terminate.
const SIGTERM: i32 = 15;
/// Kill.
const SIGKILL: i32 = 9;
/// How long a server may take to stop: pages or a checkpoint of a large cache on a slow disk take minutes.
pub(crate) const STOPS_WITHIN: Duration = Duration::from_secs(180);

/// What the testbed needs to run a server of this kind. `folder` is the instance's own data folder.
pub trait ServerRecipe: Sync {
    /// Accounts that it runs as when we are root, best first; empty where it runs as root.
    fn unprivileged_users(&self) -> &'static [&'static str];
    /// Commands that make an empty instance in `folder` (which exists and is empty), as the instance's user.
    fn create(&self, folder: &Path) -> Result<Vec<CommandLine>, Error>;
    /// Files to write before each start. `settings`: name and value, later ones win; `port` is free.
    fn configure(&self, folder: &Path, settings: &[(String, String)], port: u16) -> Result<Vec<FileToWrite>, Error>;
    /// File by which data of a stopped instance, which were just built, get a log of another size at the next start; `None` where the log
    /// that they have fits them. `settings`: those of the build.
    fn log_after_build(&self, folder: &Path, settings: &[(String, String)]) -> Result<Option<FileToWrite>, Error> {
        let _ = (folder, settings);
        Ok(None)
    }
    /// The server's command, to stay in the foreground.
    fn start(&self, folder: &Path) -> Result<CommandLine, Error>;
    /// Connection string for a session on this host, without secrets.
    fn address(&self, folder: &Path, port: u16) -> String;
    /// Asks whether the server answers. Blocking; errors mean "not yet" unless the process has ended.
    fn probe(&self, address: &str) -> Result<(), Error>;
    /// Signal numbers to stop it cleanly: a polite one, then a firmer one after `patience`. By default it is asked to terminate, and killed
    /// then: the next start recovers from its log.
    fn stop_signals(&self) -> (i32, i32, Duration) {
        (SIGTERM, SIGKILL, STOPS_WITHIN)
    }
    /// Folder of its log of transactions, relative to the instance's folder, which may be a link to another volume; `None` where the log has none
    /// of its own.
    fn log_folder(&self) -> Option<&'static str> {
        None
    }
    /// What frees what a killed server of `folder` left in the kernel, as the instance's user; `None` where it leaves nothing.
    fn after_kill(&self, folder: &Path) -> Result<Option<AfterKill>, Error> {
        let _ = folder;
        Ok(None)
    }
    /// File of the server's log relative to the folder: the testbed appends the server's standard streams to it, and shows its end
    /// when a start fails.
    fn log_file(&self) -> PathBuf {
        PathBuf::from("server.log")
    }
    /// File below `folder` whose presence says that a server may be running there, and how to read its process id.
    fn running_pid(&self, folder: &Path) -> Option<u32>;
}
