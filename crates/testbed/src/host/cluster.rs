//! The cluster of a failover manager on this host: its arbiter, and what is asked of the manager. The processes of its nodes belong to their
//! instances. May not decide who leads.

use super::held::engine;
use super::remains::InstanceRemains;
use super::replication::facet;
use super::switch_order::{SwitchOrder, settled_leader};
use crate::agents::EventSink;
use crate::host::served_by;
use crate::instances::{self, Launch, Server, StopSignals, User};
use crate::managers::{self, ArbiterPlan, Begin, ClusterPlan, Manager, NodePlan, ProcessPlan, Tools};
use crate::password::random_password;
use crate::snapshots;
use proofload_engine::{Replication, Target};
use proofload_model::deployment::InstanceName;
use proofload_model::error::Error;
use proofload_model::log_level::LogLevel;
use proofload_model::manager::{ClusterReading, ManagedNode, ManagerAsked};
use proofload_model::replication::ReplicationAsked;
use proofload_model::samples::Fact;
use proofload_model::time::Clock;
use proofload_model::wire::{DataLocation, Event};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// SIGTERM: managers stop what they run.
const END: i32 = 15;

/// How long a manager may take to stop its server: that makes a last checkpoint.
pub(super) const SIGNALS: StopSignals = StopSignals { polite: END, firm: END, patience: Duration::from_secs(120) };

/// How long the first node may take to lead: a limit against waiting for ever. Beside work that kept the disk busy one took 90 s.
const LEADS_WITHIN: Duration = Duration::from_secs(300);

/// How long a manager may take until it tells its settings: a turn of Patroni's loop lasts 10 s.
const SETTINGS_WITHIN: Duration = Duration::from_secs(30);

const GLANCE: Duration = Duration::from_millis(50);

/// A cluster, from before its first process on. Dropping it ends the arbiter.
pub(super) struct ManagedCluster {
    manager: &'static dyn Manager,
    plan: ClusterPlan,
    engine: &'static dyn Replication,
    targets: Vec<(InstanceName, Target)>,
    tools: Tools,
    events: EventSink,
    remains: Arc<InstanceRemains>,
    arbiter: Option<Server>,
    /// What a file of the arbiter held that a crash may leave empty.
    kept: Option<(PathBuf, String)>,
}

impl std::fmt::Debug for ManagedCluster {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ManagedCluster").field("arbiter", &self.arbiter).finish_non_exhaustive()
    }
}

impl ManagedCluster {
    /// Plans the cluster: free ports, a password.
    pub(super) fn plan(
        asked: ManagerAsked,
        replication: &ReplicationAsked,
        nodes: &[ManagedNode],
        (clock, events, remains): (&Arc<dyn Clock>, &EventSink, Arc<InstanceRemains>),
    ) -> Result<Self, Error> {
        managers::ready(asked.kind)?;
        let manager = managers::manager(asked.kind)?;
        let first =
            nodes.first().ok_or_else(|| Error::refused("failed to run a failover manager: no instance exists"))?;
        let recipe = engine(&first.place)?.server();
        let recipe =
            recipe.ok_or_else(|| Error::refused("failed to run a failover manager: the engine has no server"))?;
        let user = User::for_server(recipe.unprivileged_users())?;
        let engine = facet(&first.place)?;
        let place = PathBuf::from(format!("{}.{}", absolute(&first.place)?.display(), InstanceName::arbiter()));
        snapshots::claim(&place)?;
        instances::free_after_kill_or_warn(&snapshots::data_folder(&place), &**clock, events);
        snapshots::remove_data(&place)?;
        let (port, peer_port) = (instances::free_port()?, instances::free_port()?);
        let arbiter = ArbiterPlan { folder: managers::folder(&place), port, peer_port };
        let plan = ClusterPlan {
            asked,
            mode: replication.mode,
            nodes: nodes.iter().map(|node| node_plan(engine, node)).collect::<Result<_, _>>()?,
            arbiter,
            password: random_password()?,
        };
        if let Some(user) = &user {
            user.can_reach(&plan.arbiter.folder)?;
            // The monitor of a manager makes its data folder there.
            user.own(&place)?;
        }
        let target = |node: &ManagedNode, planned: &NodePlan| {
            (node.instance.clone(), Target::new(node.place.clone(), Some(planned.server.address.clone())))
        };
        let targets = nodes.iter().zip(&plan.nodes).map(|(node, planned)| target(node, planned)).collect();
        let tools = Tools { user, clock: Arc::clone(clock) };
        Ok(Self {
            manager,
            plan,
            engine,
            targets,
            tools,
            events: Arc::clone(events),
            remains,
            arbiter: None,
            kept: None,
        })
    }

    /// Gives the accounts of the manager a password at a server that runs alone.
    pub(super) fn set_accounts(&self, primary: &Target) -> Result<(), Error> {
        Ok(self.engine.set_accounts(primary, self.manager.accounts(), self.plan.password.reveal())?)
    }

    /// Starts the arbiter from nothing.
    pub(super) fn start_arbiter(&mut self) -> Result<(), Error> {
        let process = self.manager.arbiter(&self.plan, Begin::New)?;
        self.prepare(&process)?;
        self.launch_arbiter(process)?;
        self.manager.settle(&self.plan, &self.tools, self.engine)?;
        self.kept = self.manager.rewritten(&self.plan).map(|path| self.keep(path)).transpose()?;
        Ok(())
    }

    /// Reads a file that may be empty for a moment, while it is rewritten.
    fn keep(&self, path: PathBuf) -> Result<(PathBuf, String), Error> {
        let begun = self.tools.clock.now();
        loop {
            match std::fs::read_to_string(&path) {
                Ok(content) if !content.is_empty() => return Ok((path, content)),
                _ if self.tools.clock.now().since(begun) < SETTINGS_WITHIN => self.tools.clock.sleep(GLANCE),
                Ok(_) => return Err(Error::new(format!("failed to read {}: it is empty", path.display()))),
                Err(error) => return Err(Error::new(format!("failed to read {}: {error}", path.display()))),
            }
        }
    }

    /// Writes back what a crash has cut, and says so: without it the manager would not start again.
    fn mend(&self) -> Result<(), Error> {
        let Some((path, content)) = &self.kept else { return Ok(()) };
        if std::fs::metadata(path).is_ok_and(|file| file.len() > 0) {
            return Ok(());
        }
        self.write(path, content)?;
        let text = format!(
            "{} rewrites {} in place, and a crash left it empty: its earlier content was written back, since the \
             arbiter does not start without it",
            self.manager.kind(),
            path.display()
        );
        (self.events)(Event::Log { level: LogLevel::Warning, text });
        Ok(())
    }

    /// Starts the arbiter again on what it left.
    pub(super) fn start_arbiter_again(&mut self) -> Result<(), Error> {
        self.arbiter = None;
        self.mend()?;
        let process = self.manager.arbiter(&self.plan, Begin::Again)?;
        self.launch_arbiter(process)
    }

    fn launch_arbiter(&mut self, process: ProcessPlan) -> Result<(), Error> {
        let arbiter = instances::launch(Launch {
            instance: &InstanceName::arbiter(),
            command: process.command,
            folder: &process.folder,
            log: process.folder.join("log"),
            user: self.tools.user.as_ref(),
            signals: SIGNALS,
            runs: process.runs,
            port: self.plan.arbiter.port,
            address: String::new(),
            answers: &|_| self.manager.arbiter_answers(&self.plan, &self.tools),
            limits: None,
            clock: &self.tools.clock,
            events: &self.events,
            remains: &self.remains,
        });
        self.arbiter =
            Some(arbiter.map_err(|error| error.context("failed to start the arbiter of the failover manager"))?);
        Ok(())
    }

    /// The arbiter; `None` while it does not run.
    pub(super) fn arbiter(&self) -> Option<&Server> {
        self.arbiter.as_ref()
    }

    /// Folder in which it works.
    pub(super) fn arbiter_folder(&self) -> &Path {
        &self.plan.arbiter.folder
    }

    /// Forgets an arbiter that a fault has ended.
    pub(super) fn forget_arbiter(&mut self) {
        self.arbiter = None;
    }

    /// Stops the arbiter.
    pub(super) fn stop_arbiter(&mut self) -> Result<(), Error> {
        self.arbiter.take().map_or(Ok(()), Server::stop)
    }

    /// Number of nodes.
    pub(super) fn nodes(&self) -> usize {
        self.plan.nodes.len()
    }

    /// A node, its manager's program, and the user to run it as. Its files are written.
    pub(super) fn node(&self, number: usize) -> Result<(NodePlan, ProcessPlan, Option<User>), Error> {
        let node = self.plan.nodes.get(number).ok_or_else(|| Error::new(format!("no such node: {number}")))?;
        let process = self.manager.node(&self.plan, node, Begin::New)?;
        self.prepare(&process)?;
        for file in &node.server.files {
            self.write(&node.data.join(&file.path), &file.content)?;
        }
        Ok((node.clone(), process, self.tools.user.clone()))
    }

    /// A node whose program has ended, on what that left: its files are as they are.
    pub(super) fn node_again(&self, name: &InstanceName) -> Result<(NodePlan, ProcessPlan, Option<User>), Error> {
        let node = self.plan.node(name.as_str()).ok_or_else(|| Error::new(format!("no such node: {name}")))?;
        Ok((node.clone(), self.manager.node(&self.plan, node, Begin::Again)?, self.tools.user.clone()))
    }

    /// Name by which a node presents itself to another that it follows.
    pub(super) fn presented_as(&self, number: usize) -> String {
        let name = self.plan.nodes.get(number).map_or("", |node| node.name.as_str());
        self.manager.presented_as(number, name)
    }

    /// Waits until a node leads and takes writes, at most until its program has exited.
    pub(super) fn until_it_leads(&self, number: usize, has_exited: &dyn Fn() -> bool) -> Result<(), Error> {
        let begun = self.tools.clock.now();
        let name = self.plan.nodes.get(number).map(|node| &node.name);
        loop {
            let seen = self.read();
            if seen.as_ref().is_ok_and(|seen| seen.leader.as_ref() == name && seen.takes_writes) {
                return Ok(());
            }
            let (waited, exited) = (self.tools.clock.now().since(begun), has_exited());
            if exited || waited > LEADS_WITHIN {
                let why = match seen {
                    _ if exited => "its program exited".to_owned(),
                    Ok(seen) => format!("it reports {:?}", seen.leader),
                    Err(error) => error.to_string(),
                };
                return Err(Error::new(format!(
                    "failed to elect a leader of {}: no leader after {waited:.0?}: {why}",
                    self.manager.kind()
                )));
            }
            self.tools.clock.sleep(GLANCE);
        }
    }

    /// Reads who leads.
    pub(super) fn read(&self) -> Result<ClusterReading, Error> {
        let view = self.manager.view(&self.plan, &self.tools)?;
        let node = view.leader.as_deref().and_then(|name| self.plan.node(name));
        let target = node.and_then(|node| self.targets.iter().find(|(name, _)| *name == node.name));
        let takes_writes = target.is_some_and(|(_, target)| self.engine.takes_writes(target).unwrap_or(false));
        Ok(ClusterReading {
            leader: node.map(|node| node.name.clone()),
            server: node.and_then(|node| served_by(&node.data)),
            takes_writes,
            is_protected: view.is_protected,
        })
    }

    /// The manager's version and settings. A node may lead before it has read them back from its arbiter.
    pub(super) fn facts(&self) -> Result<Vec<Fact>, Error> {
        let begun = self.tools.clock.now();
        loop {
            let found = self.manager.settings(&self.plan, &self.tools);
            if found.is_ok() || self.tools.clock.now().since(begun) > SETTINGS_WITHIN {
                return found;
            }
            self.tools.clock.sleep(GLANCE);
        }
    }

    /// Gives the order to switch over, and does not wait: what becomes of it is seen at the servers.
    pub(super) fn switch_over(&self, leader: &InstanceName) -> Result<(), Error> {
        let leader = self.plan.node(leader.as_str()).ok_or_else(|| Error::new(format!("no such node: {leader}")))?;
        let (command, folder) = self.manager.switch_over(&self.plan, leader)?;
        let order = SwitchOrder {
            manager: self.manager,
            plan: self.plan.clone(),
            tools: self.tools.clone(),
            events: Arc::clone(&self.events),
            leader: leader.name.to_string(),
            command,
            folder,
        };
        std::thread::spawn(move || order.give());
        Ok(())
    }

    /// Waits until every node is where the manager wants it, but not for ever.
    pub(super) fn until_settled(&self) {
        if settled_leader(self.manager, &self.plan, &self.tools).is_none() {
            let text = "the cluster does not stand still before the order to switch over".to_owned();
            (self.events)(Event::Log { level: LogLevel::Warning, text });
        }
    }

    /// Makes the folder of a process anew, with its files.
    fn prepare(&self, process: &ProcessPlan) -> Result<(), Error> {
        let failed = |what: &str, path: &Path, error: std::io::Error| {
            Error::new(format!("failed to {what} {}: {error}", path.display()))
        };
        // A manager may replace the data folder, which lies in that of the instance.
        process.folder.parent().map_or(Ok(()), |place| self.own(place))?;
        let beside = process.beside.iter().map(|name| process.folder.with_file_name(name));
        let first: Vec<PathBuf> = std::iter::once(process.folder.clone()).chain(beside).collect();
        for folder in &first {
            if let Err(error) = std::fs::remove_dir_all(folder)
                && error.kind() != std::io::ErrorKind::NotFound
            {
                return Err(failed("remove", folder, error));
            }
        }
        let below = process.folders.iter().map(|folder| process.folder.join(folder));
        for folder in first.into_iter().chain(below) {
            let made = std::fs::DirBuilder::new().mode(0o700).create(&folder);
            made.map_err(|error| failed("make", &folder, error))?;
            self.own(&folder)?;
        }
        for (name, to) in &process.links {
            let path = process.folder.join(name);
            std::os::unix::fs::symlink(to, &path).map_err(|error| failed("link", &path, error))?;
            self.own(&path)?;
        }
        process.files.iter().try_for_each(|file| self.write(&process.folder.join(&file.path), &file.content))
    }

    /// Writes a file that may hold a password.
    fn write(&self, path: &Path, content: &str) -> Result<(), Error> {
        let mut options = std::fs::OpenOptions::new();
        let opened = options.create(true).truncate(true).write(true).mode(0o600).open(path);
        let written = opened.and_then(|mut file| std::io::Write::write_all(&mut file, content.as_bytes()));
        written.map_err(|error| Error::new(format!("failed to write {}: {error}", path.display())))?;
        self.own(path)
    }

    fn own(&self, path: &Path) -> Result<(), Error> {
        self.tools.user.as_ref().map_or(Ok(()), |user| user.own(path))
    }
}

impl Drop for ManagedCluster {
    fn drop(&mut self) {
        self.arbiter = None;
        if let Some(data) = self.remains.data() {
            instances::free_after_kill_or_warn(&data, &*self.tools.clock, &self.events);
        }
    }
}

fn node_plan(engine: &dyn Replication, node: &ManagedNode) -> Result<NodePlan, Error> {
    let place = absolute(&node.place)?;
    let (data, port) = (snapshots::data_folder(&place), instances::free_port()?);
    let server = engine.managed(&data, &node.place.settings, port)?;
    let (folder, own_port) = (managers::folder(&place), instances::free_port()?);
    Ok(NodePlan { name: node.instance.clone(), folder, data, port, own_port, server })
}

fn absolute(place: &DataLocation) -> Result<PathBuf, Error> {
    std::path::absolute(&place.folder)
        .map_err(|error| Error::new(format!("failed to find the folder {}: {error}", place.folder)))
}
