//! The contract of a failover manager. An adapter describes files, programs and questions; the host role starts and asks.

use super::cluster_plan::{ClusterPlan, NodePlan};
use super::programs::NeededProgram;
use super::tool::Tools;
use proofload_engine::{CommandLine, FileToWrite, Replication};
use proofload_model::error::Error;
use proofload_model::manager::ManagerKind;
use proofload_model::samples::Fact;
use std::path::{Path, PathBuf};

/// A failover manager.
pub(crate) trait Manager: Sync {
    /// The kind.
    fn kind(&self) -> ManagerKind;

    /// Programs that it needs.
    fn programs(&self) -> &'static [NeededProgram];

    /// Services of its packages that may not run beside it.
    fn services(&self) -> &'static [&'static str];

    /// Accounts that come over the network by the cluster's password, beside the one of managers.
    fn accounts(&self) -> &'static [&'static str];

    /// Name by which a standby presents itself to the primary, by the number of its node from 0.
    fn presented_as(&self, node: usize, name: &str) -> String;

    /// Configuration and programs of the arbiter.
    fn arbiter(&self, plan: &ClusterPlan, begin: Begin) -> Result<ProcessPlan, Error>;

    /// File of the arbiter that it rewrites in place: a crash may leave it empty.
    fn rewritten(&self, _plan: &ClusterPlan) -> Option<PathBuf> {
        None
    }

    /// Asks whether the arbiter answers.
    fn arbiter_answers(&self, plan: &ClusterPlan, tools: &Tools) -> Result<(), Error>;

    /// Does what is left to do once the arbiter answers, before there is a node.
    fn settle(&self, plan: &ClusterPlan, tools: &Tools, engine: &dyn Replication) -> Result<(), Error>;

    /// Configuration and programs of a node.
    fn node(&self, plan: &ClusterPlan, node: &NodePlan, begin: Begin) -> Result<ProcessPlan, Error>;

    /// Asks how the cluster stands. An error means that nobody can tell.
    fn view(&self, plan: &ClusterPlan, tools: &Tools) -> Result<ClusterView, Error>;

    /// The command by which the first other node than the leader becomes the leader, and the folder to run it in.
    fn switch_over(&self, plan: &ClusterPlan, leader: &NodePlan) -> Result<(CommandLine, PathBuf), Error>;

    /// Its settings, asked and in force.
    fn settings(&self, plan: &ClusterPlan, tools: &Tools) -> Result<Vec<Fact>, Error>;
}

/// Begin of an arbiter or of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Begin {
    /// A begin from nothing.
    New,
    /// A begin on what an earlier one left.
    Again,
}

/// What to write before a program is started, and the program.
pub(crate) struct ProcessPlan {
    /// Folder that it works in.
    pub(crate) folder: PathBuf,
    /// Folders to make beside it, empty.
    pub(crate) beside: &'static [&'static str],
    /// Folders to make below it.
    pub(crate) folders: Vec<PathBuf>,
    /// Files below it, for its user alone.
    pub(crate) files: Vec<FileToWrite>,
    /// Links below it, and what each leads to.
    pub(crate) links: Vec<(PathBuf, PathBuf)>,
    /// Program.
    pub(crate) command: CommandLine,
    /// Data folder of the server that it runs, if any.
    pub(crate) runs: Option<PathBuf>,
}

/// The cluster as its manager tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ClusterView {
    /// Name of the node that leads and is meant to.
    pub(crate) leader: Option<String>,
    /// Whether every other node follows it as the mode wants it.
    pub(crate) is_protected: bool,
}

/// A command with arguments, in an environment that leaves its folders no choice.
pub(crate) fn command(program: PathBuf, folder: &Path, programs: &Path, arguments: &[&str]) -> CommandLine {
    let folder = folder.display().to_string();
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", programs.display());
    let environment = [
        ("PATH", path),
        ("HOME", folder.clone()),
        ("XDG_CONFIG_HOME", format!("{folder}/config")),
        ("XDG_DATA_HOME", format!("{folder}/state")),
        ("XDG_RUNTIME_DIR", format!("{folder}/run")),
        ("LC_ALL", "C.UTF-8".to_owned()),
        ("TZ", "UTC".to_owned()),
    ];
    CommandLine {
        program,
        arguments: arguments.iter().map(|&argument| argument.to_owned()).collect(),
        environment: environment.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
    }
}

/// The folders that the environment names.
pub(crate) fn folders() -> Vec<PathBuf> {
    ["config", "state", "run"].iter().map(PathBuf::from).collect()
}
