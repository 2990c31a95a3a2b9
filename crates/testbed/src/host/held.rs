//! One instance as a host holds it: storage, limits, server, probes. Facts and events of it are stamped with its name here and nowhere
//! else. May not know of other instances.

mod admission;
mod engine_settings;
mod faulty;
mod flushes;
mod fork;
mod live;

use super::cluster::SIGNALS;
use super::remains::InstanceRemains;
use super::replication::{self, InstanceReplication, RelayedSide};
use super::used::used;
use crate::agents::EventSink;
use crate::instances::{self, Launch, Server, Start, User};
use crate::limits::AppliedLimits;
use crate::managers::{NodePlan, ProcessPlan};
use crate::preconditioning::Within;
use crate::probes::{Probes, Subject, WatchedTier};
use crate::relay::{Relay, Way};
use crate::snapshots;
use crate::storages::{self, AttachedStorage, Devices, StorageMeans, StorageOrder};
use admission::Admission;
use engine_settings::UntouchedSettings;
use faulty::InstanceFault;
use flushes::FlushDelay;
use proofload_engine::{Engine, Replication, ReplicationWatch, Target};
use proofload_model::deployment::{InstanceName, StoragePlan};
use proofload_model::error::Error;
use proofload_model::facts::engine as names;
use proofload_model::replication::{HeldPart, LinkAsked, LinkMeasured, ReplicationAsked, ReplicationPart};
use proofload_model::samples::Fact;
use proofload_model::time::{Clock, Moment};
use proofload_model::units::Bytes;
use proofload_model::wire::host::{StartProbes, StartedInstance};
use proofload_model::wire::{DataLocation, Event, LimitsAsked, ResourceUse};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Resources of an instance.
pub(super) struct InstanceResources {
    name: InstanceName,
    clock: Arc<dyn Clock>,
    events: EventSink,
    remains: Arc<InstanceRemains>,
    /// What its storage runs.
    storage_remains: Arc<InstanceRemains>,
    /// Fault that was made and is not undone.
    fault: Option<InstanceFault>,
    /// Port of a server that a fault has ended: clients look for it there.
    port: Option<u16>,
    /// Whether a fault has ended the server: nothing runs under the limits.
    ended_by_fault: bool,
    /// Whether a failover manager may have changed the instance's part since a fault: its settings are another part's.
    part_may_have_changed: bool,
    /// Values that its server had before an experiment changed them.
    untouched: Option<UntouchedSettings>,
    /// Address and password by which other hosts reach it, if they do.
    admission: Option<Admission>,
    // In this order they are dropped: nobody watches what is gone, the limits outlive who is under them, and the storage all of them.
    probes: Option<Probes>,
    replication: Option<InstanceReplication>,
    server: Option<RunningServer>,
    link: Option<Relay>,
    limits: Option<AppliedLimits>,
    storage: Option<Box<dyn AttachedStorage>>,
    /// The delay of flushes of its storage, where the study asks for one.
    flush_delay: Option<FlushDelay>,
}

/// Other instances of ours on the same host.
pub(super) struct Beside {
    /// Roots of their processes.
    pub(super) processes: Vec<u32>,
    /// Whether the host is watched beside one of them.
    pub(super) host_is_watched: bool,
    /// What their servers are reached by.
    pub(super) targets: Vec<(InstanceName, Target)>,
}

/// A server that we started, and from what.
#[derive(Debug)]
struct RunningServer {
    server: Server,
    target: Target,
}

impl std::fmt::Debug for InstanceResources {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("InstanceResources");
        shown.field("server", &self.server).field("limits", &self.limits).field("storage", &self.storage);
        shown.finish_non_exhaustive()
    }
}

impl InstanceResources {
    /// An instance without resources.
    pub(super) fn new(
        name: InstanceName,
        clock: Arc<dyn Clock>,
        events: &EventSink,
        (remains, storage_remains): (Arc<InstanceRemains>, Arc<InstanceRemains>),
    ) -> Self {
        let events = stamping(&name, events);
        Self {
            name,
            clock,
            events,
            remains,
            storage_remains,
            fault: None,
            port: None,
            ended_by_fault: false,
            part_may_have_changed: false,
            untouched: None,
            admission: None,
            probes: None,
            replication: None,
            server: None,
            link: None,
            limits: None,
            storage: None,
            flush_delay: None,
        }
    }

    /// Attaches its storage, in the place of what was attached before.
    pub(super) fn attach(
        &mut self,
        plan: &StoragePlan,
        place: &DataLocation,
        data: &Path,
        program: Option<&Path>,
    ) -> Result<Vec<Fact>, Error> {
        self.refuse_while_running("attach storage")?;
        self.detach()?;
        let means = StorageMeans {
            instance: &self.name,
            program,
            clock: &self.clock,
            events: &self.events,
            remains: Arc::clone(&self.storage_remains),
        };
        let storage = storages::attach(plan, &StorageOrder { data, place, means: &means })?;
        let facts = storage.verify();
        self.flush_delay = FlushDelay::of(place, storage.control());
        self.storage = Some(storage);
        Ok(self.stamped(facts))
    }

    /// Detaches its storage; limits on its devices go first.
    pub(super) fn detach(&mut self) -> Result<(), Error> {
        self.refuse_while_running("detach storage")?;
        self.drop_limits();
        self.free_after_kill();
        self.flush_delay = None;
        self.storage.take().map_or(Ok(()), |mut storage| storage.detach())
    }

    /// Frees what a killed server left in the kernel.
    fn free_after_kill(&self) {
        if let Some(data) = self.remains.data() {
            instances::free_after_kill_or_warn(&data, &*self.clock, &self.events);
        }
    }

    /// Folder that the instance works on.
    fn folder(&self) -> Result<PathBuf, Error> {
        let storage = self.storage.as_ref().ok_or_else(|| Error::new("no storage is attached"))?;
        Ok(storage.folder().to_owned())
    }

    fn devices(&self) -> Devices {
        self.storage.as_ref().map(|storage| storage.devices()).unwrap_or_default()
    }

    /// Puts limits in place, in the place of earlier ones.
    pub(super) fn prepare_limits(&mut self, asked: LimitsAsked) -> Result<Vec<Fact>, Error> {
        self.drop_limits();
        self.folder().map_err(|error| error.context("failed to prepare limits"))?;
        let limits = AppliedLimits::prepare(&self.name, asked, self.devices())?.timed_by(Arc::clone(&self.clock));
        self.remains.set_group(Some(limits.group().clone()));
        let facts = limits.verify();
        self.limits = Some(limits);
        Ok(self.stamped(facts))
    }

    /// The limits, for those who change them while they hold.
    fn limits_in_place(&self) -> Result<&AppliedLimits, Error> {
        self.limits.as_ref().ok_or_else(|| Error::new("failed to change limits: no limits were prepared"))
    }

    fn drop_limits(&mut self) {
        self.limits = None;
        self.remains.set_group(None);
    }

    /// Puts a process that is no child of ours under the limits.
    pub(super) fn join_limits(&mut self, process: u32) -> Result<(), Error> {
        let limits =
            self.limits.as_mut().ok_or_else(|| Error::new("failed to join limits: no limits were prepared"))?;
        self.remains.add_foreign_pid(process);
        limits.join(process)
    }

    /// What a process needs to be born under the limits.
    pub(super) fn within(&self) -> Result<Within, Error> {
        let limits =
            self.limits.as_ref().ok_or_else(|| Error::new("failed to read under limits: no limits were prepared"))?;
        let (groups, cores) = limits.entrance()?;
        Ok(Within { groups, cores })
    }

    /// Reads the data once under the limits; answers with their bytes.
    pub(super) fn prewarm(&self) -> Result<u64, Error> {
        let folder = self.folder().map_err(|error| error.context("prewarm"))?;
        snapshots::prewarm(&folder, self.within()?)
    }

    /// Starts the server in its part.
    pub(super) fn start(&mut self, place: DataLocation, part: ReplicationPart) -> Result<StartedInstance, Error> {
        self.refuse_while_running("start the server")?;
        self.end_faulty();
        let without = || Error::new(format!("failed to start the server: no recipe says how to run {}", place.engine));
        let data = self.folder().map_err(|error| error.context("failed to start the server"))?;
        let (standby, reached) = self.admission_of(&place, &part, &data)?;
        let (server, facts) = instances::start(Start {
            instance: &self.name,
            recipe: engine(&place)?.server().ok_or_else(without)?,
            data,
            port: self.port.take(),
            settings: &place.settings,
            standby,
            reached,
            limits: self.limits.as_mut(),
            clock: &self.clock,
            events: &self.events,
            remains: &self.remains,
        })?;
        let leads = !matches!(part, ReplicationPart::Standby { .. });
        let started = self.serves(server, place, part, facts)?;
        self.reached_by_others(started, reached, leads)
    }

    /// Launches the failover manager of its node, which starts the server.
    pub(super) fn start_managed(
        &mut self,
        (node, process, user): (NodePlan, ProcessPlan, Option<User>),
        place: DataLocation,
        part: ReplicationPart,
    ) -> Result<StartedInstance, Error> {
        self.refuse_while_running("start the failover manager")?;
        let recipe = engine(&place)?.server().ok_or_else(|| Error::refused("the engine has no server"))?;
        let line = format!("{} {}", process.command.program.display(), process.command.arguments.join(" "));
        let server = instances::launch(Launch {
            instance: &self.name,
            command: process.command,
            folder: &process.folder,
            log: process.folder.join("log"),
            user: user.as_ref(),
            signals: SIGNALS,
            runs: process.runs,
            port: node.port,
            address: node.server.address,
            answers: &|address| Ok(recipe.probe(address)?),
            limits: self.limits.as_mut(),
            clock: &self.clock,
            events: &self.events,
            remains: &self.remains,
        })?;
        let facts = vec![
            names::INSTANCE_COMMAND.observed(line, "the start of the failover manager"),
            names::INSTANCE_PROCESS.observed(server.process(), "the start of the failover manager"),
        ];
        self.serves(server, place, part, facts)
    }

    /// Notes a server that answers.
    fn serves(
        &mut self,
        server: Server,
        place: DataLocation,
        part: ReplicationPart,
        facts: Vec<Fact>,
    ) -> Result<StartedInstance, Error> {
        let address = server.address().to_owned();
        let target = Target::new(place, Some(address.clone()));
        (self.ended_by_fault, self.part_may_have_changed) = (false, false);
        self.server = Some(RunningServer { server, target });
        self.replication = self.server.as_ref().map_or(Ok(None), |one| InstanceReplication::of(&one.target, part))?;
        Ok(StartedInstance { address, reached_at: None, facts: self.stamped(facts) })
    }

    /// Watches the standbys of a server that was not started here.
    pub(super) fn watch_existing(&mut self, place: DataLocation, asked: ReplicationAsked) -> Result<(), Error> {
        self.replication = Some(InstanceReplication::of_existing(&Target::new(place, None), asked)?);
        Ok(())
    }

    /// What its server is reached by.
    pub(super) fn target(&self) -> Option<&Target> {
        self.server.as_ref().map(|running| &running.target)
    }

    /// Notes that a failover manager may change its part.
    pub(super) fn part_may_change(&mut self) {
        self.part_may_have_changed = true;
    }

    /// The watch of its standbys, which are among the other instances of the host.
    pub(super) fn replication(
        &mut self,
        beside: &[(InstanceName, Target)],
    ) -> Result<&mut Box<dyn ReplicationWatch>, Error> {
        self.replication.as_mut().ok_or_else(alone)?.watch(beside)
    }

    /// Starts a relay in the place of an earlier one: that through which it shall follow, or, of a primary that runs, that by which its users
    /// come. The address that the other end is told.
    pub(super) fn start_link(
        &mut self,
        place: &DataLocation,
        upstream: &str,
        link: LinkAsked,
    ) -> Result<String, Error> {
        if self.link.is_some() {
            self.refuse_while_running("start a relay")?;
            self.link = None;
        }
        // A standby gets its relay before it starts; what runs without a part in replication has users alone.
        let by_users = self.replication.as_ref().map_or(self.server.is_some(), InstanceReplication::is_of_primary);
        let side = if by_users { RelayedSide::Users } else { RelayedSide::Standby };
        let (relay, address) = replication::start_relay((place, side), upstream, link, Arc::clone(&self.clock))?;
        self.link = Some(relay);
        self.follows(upstream);
        Ok(address)
    }

    /// Measures its relay.
    pub(super) fn measure_link(&self, count: u32) -> Result<LinkMeasured, Error> {
        let relay = self.link.as_ref().ok_or_else(|| Error::new("failed to measure the link: there is no relay"))?;
        let mut round_trips = relay.round_trips(count)?;
        round_trips.sort_unstable();
        Ok(LinkMeasured { round_trips, bandwidth: relay.bandwidth()? })
    }

    /// Holds a part of what it does as a standby, or lets it go on. The link is held in its relay, where there is one.
    pub(super) fn hold(&self, part: HeldPart, held: bool) -> Result<(), Error> {
        if let (HeldPart::Link, Some(relay)) = (part, &self.link) {
            relay.hold(&Way::BOTH, held);
            return Ok(());
        }
        let server = self.process().ok_or_else(|| Error::new("failed to hold a standby: it is not running"))?;
        self.replication.as_ref().ok_or_else(alone)?.hold(server, part, held, &*self.clock)
    }

    /// Reads back storage, limits and settings; nothing of an instance that a fault has ended.
    pub(super) fn verify(&self) -> Result<Vec<Fact>, Error> {
        if self.ended_by_fault {
            return Ok(Vec::new());
        }
        let limits =
            self.limits.as_ref().ok_or_else(|| Error::new("failed to verify limits: no limits were prepared"))?;
        let mut facts = limits.verify();
        facts.extend(self.storage.iter().flat_map(|storage| storage.verify()));
        if let Some(running) = self.server.as_ref().filter(|_| !self.part_may_have_changed) {
            facts.extend(settings_in_force(&running.target)?);
        }
        Ok(self.stamped(facts))
    }

    /// Reads what of its limits and its storage was used.
    pub(super) fn usage(&self) -> Vec<Fact> {
        let mut facts = self.limits.as_ref().map(AppliedLimits::usage).unwrap_or_default();
        facts.extend(self.storage.iter().flat_map(|storage| storage.counters()));
        self.stamped(facts)
    }

    /// Reads what its processes used; `pid`: the process of an embedded engine.
    pub(super) fn used(&self, pid: Option<u32>) -> ResourceUse {
        used(self.limits.as_ref().map(AppliedLimits::group), self.process().or(pid), &self.devices())
    }

    /// Root of the processes of its server.
    pub(super) fn process(&self) -> Option<u32> {
        self.server.as_ref().map(|running| running.server.process())
    }

    /// Tells whether its server, or the manager's program that runs it, exited by itself or was never started.
    pub(super) fn has_exited(&self) -> bool {
        self.server.as_ref().is_none_or(|running| running.server.has_exited())
    }

    /// The last lines of its server's log.
    pub(super) fn log_tail(&self) -> String {
        self.server.as_ref().map_or_else(|| "it does not run".to_owned(), |running| running.server.log_tail())
    }

    /// Puts a mode in force at it as at a primary.
    pub(super) fn protect(&mut self, asked: ReplicationAsked) -> Result<(), Error> {
        let (facet, target) = self.standby()?;
        facet.reconfigure(target, &facet.primary_settings(&asked))?;
        self.replication = InstanceReplication::of(target, ReplicationPart::Primary(asked))?;
        Ok(())
    }

    /// Lets it follow another instance; the address that it was told.
    pub(super) fn follow(
        &mut self,
        place: &DataLocation,
        upstream: &str,
        link: Option<LinkAsked>,
    ) -> Result<String, Error> {
        let told = match link {
            Some(link) => {
                self.link = None;
                let (place, clock) = ((place, RelayedSide::Standby), Arc::clone(&self.clock));
                let (relay, address) = replication::start_relay(place, upstream, link, clock)?;
                self.link = Some(relay);
                address
            }
            None => upstream.to_owned(),
        };
        let (facet, target) = self.standby()?;
        let files = facet.standby(self.name.as_str(), &told, self.password())?;
        instances::lead(&self.folder()?, &files.links)?;
        facet.follow(target, &files)?;
        self.follows(upstream);
        Ok(told)
    }

    /// Bytes of the primary's log that it has received as a standby.
    pub(super) fn received(&self) -> Result<Bytes, Error> {
        let (facet, target) = self.standby()?;
        Ok(facet.received(target)?)
    }

    /// Makes it a primary.
    pub(super) fn promote(&self) -> Result<Moment, Error> {
        let (facet, target) = self.standby()?;
        facet.promote(target)?;
        Ok(self.clock.now())
    }

    /// Prepares it, which was promoted, to be what another instance is rewound by.
    pub(super) fn before_rewind(&self) -> Result<(), Error> {
        let (facet, target) = self.standby()?;
        // The program would follow the link into the folder of whom this one followed.
        instances::unlead(&self.folder()?, facet.links())?;
        Ok(facet.before_rewind(target)?)
    }

    /// Puts it, which has ended, back to where its log and that of the instance at an address are one.
    pub(super) fn rewind(&mut self, place: &DataLocation, upstream: &str) -> Result<(), Error> {
        self.end_faulty();
        self.refuse_while_running("rewind the instance")?;
        let recipe =
            engine(place)?.server().ok_or_else(|| Error::refused("failed to rewind: the engine has no server"))?;
        let data = self.folder()?;
        let passwords = instances::rewind_passwords(&data);
        let password = self.password().map(|password| (passwords.as_path(), password));
        let how = replication::facet(place)?.rewind(&data, upstream, password)?;
        instances::rewind(recipe, &how, &data, &*self.clock, &self.remains)
    }

    /// Whether it has applied all log that it has received as a standby.
    pub(super) fn has_applied_all(&self) -> Result<bool, Error> {
        let (facet, target) = self.standby()?;
        Ok(facet.has_applied_all(target)?)
    }

    fn standby(&self) -> Result<(&'static dyn Replication, &Target), Error> {
        let running = self.server.as_ref().ok_or_else(|| Error::new("failed to ask a standby: it is not running"))?;
        Ok((replication::facet(&running.target.place)?, &running.target))
    }

    /// Stops the server, if there is one; what a fault has frozen is ended.
    pub(super) fn stop(&mut self) -> Result<(), Error> {
        self.end_faulty();
        (self.replication, self.port, self.admission) = (None, None, None);
        let stopped = self.server.take().map_or(Ok(()), |running| running.server.stop());
        self.link = None;
        stopped
    }

    /// Refuses what must not happen under a server.
    pub(super) fn refuse_while_running(&self, what: &str) -> Result<(), Error> {
        self.server.as_ref().map(|running| running.server.process()).map_or(Ok(()), |process| {
            Err(Error::refused(format!("{what}: process {process} still serves the data; stop it first")))
        })
    }

    /// Roots of the processes of its storage.
    fn storage_processes(&self) -> Vec<u32> {
        self.storage.iter().flat_map(|storage| storage.processes()).collect()
    }

    /// Whether its probes run.
    pub(super) fn is_watched(&self) -> bool {
        self.probes.is_some()
    }

    /// Starts the probes, in the place of earlier ones.
    pub(super) fn start_probes(&mut self, ask: StartProbes, beside: Beside) -> Result<(), Error> {
        let StartProbes { origin, place, pid, scraped, session_looks, .. } = ask;
        self.probes = None;
        let address = self.server.as_ref().map(|running| running.server.address().to_owned());
        let target = Target::new(place, address);
        let observer = engine(&target.place)?.observer(&target).unwrap_or_else(|error| {
            let text = format!("the engine's statistics are not observed: {error}");
            (self.events)(Event::Log { level: "warning".to_owned(), text });
            None
        });
        let sampler = if session_looks > 0 { engine(&target.place)?.session_sampler(&target)? } else { None };
        let subject = Subject {
            sessions: sampler.map(|sampler| (sampler, session_looks)),
            clock: Some(Arc::clone(&self.clock)),
            tier: WatchedTier::of(&target.place, self.storage.as_ref().and_then(|storage| storage.control())),
            devices: self.devices(),
            pid: self.process().or(pid),
            group: self.limits.as_ref().map(AppliedLimits::group).cloned().unwrap_or_default(),
            cores: self.limits.as_ref().and_then(AppliedLimits::cores).cloned(),
            observer,
            thread_roles: self.limits.as_ref().map(AppliedLimits::thread_roles).unwrap_or_default(),
            replication: self.replication.as_ref().map_or(Ok(None), |part| part.open_watch(&beside.targets))?,
            relay: self.link.as_ref().map(Relay::meter),
            users_are_relayed: self.replication.as_ref().is_none_or(InstanceReplication::is_of_primary),
            beside: beside.processes.into_iter().chain(self.storage_processes()).collect(),
            host_is_watched: beside.host_is_watched,
            scraped,
        };
        self.probes = Some(Probes::start(&self.clock, &self.events, origin, subject));
        Ok(())
    }

    pub(super) fn stop_probes(&mut self) {
        self.probes = None;
    }

    /// Ends a fault, lifts the limits and frees the storage of what makes it slow.
    pub(super) fn release(&mut self) -> Result<(), Error> {
        self.end_faulty();
        self.limits.as_mut().map_or(Ok(()), AppliedLimits::lift)?;
        self.storage.as_ref().map_or(Ok(()), |storage| storage.release())
    }

    /// Facts as facts of this instance.
    fn stamped(&self, mut facts: Vec<Fact>) -> Vec<Fact> {
        facts.iter_mut().for_each(|fact| fact.instance = self.name.clone());
        facts
    }
}

impl Drop for InstanceResources {
    /// Ends the server while its data are still there.
    fn drop(&mut self) {
        (self.probes, self.replication, self.server) = (None, None, None);
        self.free_after_kill();
    }
}

fn alone() -> Error {
    Error::new("failed to observe the replication: the instance takes no part in it")
}

/// A sink that says of telemetry whose it is.
fn stamping(name: &InstanceName, events: &EventSink) -> EventSink {
    let (name, events) = (name.clone(), Arc::clone(events));
    Arc::new(move |event| {
        events(match event {
            Event::Telemetry(telemetry) => {
                Event::Telemetry(proofload_model::samples::Telemetry { instance: name.clone(), ..telemetry })
            }
            other => other,
        });
    })
}

/// The engine of a place.
pub(super) fn engine(place: &DataLocation) -> Result<&'static dyn Engine, Error> {
    proofload_engine::engine(&place.engine).ok_or_else(|| Error::refused(format!("unknown engine {:?}", place.engine)))
}

/// Asks the engine for its own view of its settings. What cannot be read back is a fact that does not hold.
fn settings_in_force(target: &Target) -> Result<Vec<Fact>, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Error::new(format!("failed to start the async runtime: {error}")))?;
    let engine = engine(&target.place)?;
    Ok(runtime
        .block_on(engine.verify_settings(target))
        .unwrap_or_else(|error| vec![names::SETTINGS.compared("readable", None::<String>, false, error.to_string())]))
}
