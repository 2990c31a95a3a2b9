//! The host role: one method per request. Knows the order of things; how they are done stands in the other modules.

use super::cluster::ManagedCluster;
use super::copy;
use super::held::{Beside, InstanceResources, engine};
use super::managed;
use super::remains::Remains;
use super::replication::facet;
use super::sweep::sweep;
use crate::agents::EventSink;
use crate::doctor;
use crate::facts;
use crate::instances;
use crate::limits::of_machine;
use crate::preconditioning;
use crate::quiet_check;
use crate::snapshots::{self, FolderLock};
use crate::storages::{self, Volume};
use proofload_engine::{ReplicationWatch, Target};
use proofload_model::deployment::InstanceName;
use proofload_model::drill::{FaultInForce, FaultUndone, LogFork};
use proofload_model::error::{Error, ErrorKind};
use proofload_model::group_failover::{FailoverReport, SeedingReading};
use proofload_model::intervention::LimitMeter;
use proofload_model::log_level::LogLevel;
use proofload_model::manager::ClusterReading;
use proofload_model::replication::{LinkMeasured, ReplicationReading};
use proofload_model::samples::Fact;
use proofload_model::step_count::StepCount;
use proofload_model::time::{Clock, Moment};
use proofload_model::units::Bytes;
use proofload_model::wire::host::{
    Admit, AreDiscarded, Attach, BeforeRewind, BeginCommit, CatchUp, ChangeLimits, CheckQuiet, CopyInstance, Create,
    DataEnd, Describe, Detach, Discard, DropPageCache, EndCommit, EndFaulty, FailOver, FindSnapshot, Follow,
    HasAppliedAll, HoldStandby, HostService, IsFenced, JoinLimits, KnowBeside, LabelSnapshot, LimitProcess, MakeFault,
    MeasureLink, MeasureReads, MountVolume, Precondition, PreconditioningResult, PrepareLimits, Prewarm, PrewarmResult,
    Promote, Protect, Purge, QuietCheck, ReadCluster, ReadDataEnd, ReadFork, ReadLogEndAfter, ReadMeters, ReadReceived,
    ReadReplication, ReadSeeding, ReadUsage, ReadUsed, ReadWork, ReadsMeasured, RefitLog, Release, Request,
    RestoreSnapshot, RestoreTarget, ResumeGroup, Rewind, SaveSnapshot, SeeCommitWait, SnapshotCopy, Start,
    StartArbiter, StartLink, StartManaged, StartProbes, StartedInstance, Stop, StopArbiter, StopProbes, Sweep,
    TimeCommits, TryLimits, UndoFault, Verify, WatchExisting,
};
use proofload_model::wire::{DataLocation, Event, Reply, ResourceUse};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Instances of an agent on its host. Dropping it stops them, lifts their limits and detaches their storage.
pub struct HostRole {
    clock: Arc<dyn Clock>,
    events: EventSink,
    instances: BTreeMap<InstanceName, InstanceResources>,
    // Dropped after its nodes, which stop more readily while it answers.
    cluster: Option<ManagedCluster>,
    remains: Arc<Remains>,
    volumes: Vec<Volume>,
    locks: BTreeMap<PathBuf, FolderLock>,
    /// Roots of instances of ours that other agents hold on this machine.
    beside: Vec<u32>,
    /// This program, which serves cache tiers; `None` where nobody told where it is.
    program: Option<PathBuf>,
}

impl std::fmt::Debug for HostRole {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HostRole").field("instances", &self.instances).finish_non_exhaustive()
    }
}

impl HostRole {
    /// A role that holds nothing yet. `events` is told of telemetry, warnings and servers that die.
    pub fn new(clock: Arc<dyn Clock>, events: EventSink) -> Self {
        Self {
            clock,
            events,
            cluster: None,
            instances: BTreeMap::new(),
            remains: Arc::default(),
            volumes: Vec::new(),
            locks: BTreeMap::new(),
            beside: Vec::new(),
            program: None,
        }
    }

    /// The same, which starts this program for what is served beside an instance.
    #[must_use]
    pub fn with_program(mut self, program: Option<PathBuf>) -> Self {
        self.program = program;
        self
    }

    /// Gives a function that frees everything that must not stay behind, callable while a request is stuck: kills servers, removes limits.
    pub fn abandon(&self) -> Arc<dyn Fn() + Send + Sync> {
        let (remains, clock) = (Arc::clone(&self.remains), Arc::clone(&self.clock));
        Arc::new(move || remains.abandon(&*clock))
    }

    /// Carries out one request.
    ///
    /// # Errors
    /// What was to be done, on what, what came back, what to try; of the kind *host* where it is of no other.
    pub fn handle(&mut self, request: Request) -> Result<Reply, Error> {
        request.serve(self).map_err(|error| error.or_kind(ErrorKind::Host))
    }

    /// The instance of this name, made known when it is new.
    pub(super) fn held(&mut self, instance: &InstanceName) -> &mut InstanceResources {
        let (clock, events, remains) = (&self.clock, &self.events, &self.remains);
        let make = || {
            // Told to end after the server that works on it.
            let storage = InstanceName::new(format!("{instance}.storage"));
            let both = (remains.of(instance), remains.of(&storage));
            InstanceResources::new(instance.clone(), Arc::clone(clock), events, both)
        };
        self.instances.entry(instance.clone()).or_insert_with(make)
    }

    /// What the servers of the other instances are reached by.
    fn targets_beside(&self, instance: &InstanceName) -> Vec<(InstanceName, Target)> {
        let others = self.instances.iter().filter(|(name, _)| *name != instance);
        others.filter_map(|(name, held)| Some((name.clone(), held.target()?.clone()))).collect()
    }

    /// The watch of the standbys of an instance.
    fn watch(&mut self, instance: &InstanceName) -> Result<&mut Box<dyn ReplicationWatch>, Error> {
        let beside = self.targets_beside(instance);
        self.held(instance).replication(&beside)
    }

    /// The cluster of the failover manager.
    pub(super) fn cluster(&mut self) -> Result<&mut ManagedCluster, Error> {
        self.cluster.as_mut().ok_or_else(|| Error::new("failed to ask the failover manager: there is none"))
    }

    /// The same, if there is one.
    pub(super) fn parts(
        &mut self,
    ) -> (&dyn Clock, &mut BTreeMap<InstanceName, InstanceResources>, Option<&mut ManagedCluster>) {
        (&*self.clock, &mut self.instances, self.cluster.as_mut())
    }

    /// Frees what a killed server on the data of a folder left in the kernel, whoever started it.
    fn free_after_kill(&self, folder: &Path) {
        instances::free_after_kill_or_warn(&snapshots::data_folder(folder), &*self.clock, &self.events);
    }

    /// Has fio work in a folder, known to whoever frees it from outside.
    fn by_fio<T>(
        &mut self,
        instance: &InstanceName,
        place: &DataLocation,
        work: impl FnOnce(&Path, &dyn Fn(&str, Option<StepCount>)) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let folder = Path::new(&place.folder);
        // Ours before the first file, so that a sweep finds what a killed agent leaves.
        snapshots::claim(folder)?;
        let remains = self.remains.of(instance);
        let tell = |what: &str, count: Option<StepCount>| {
            (self.events)(Event::Progress { what: what.to_owned(), count });
        };
        remains.set_preconditioned(Some(folder));
        let done = work(folder, &tell);
        remains.set_preconditioned(None);
        done
    }
}

impl HostService for HostRole {
    fn describe(&mut self, ask: Describe) -> Result<Vec<Fact>, Error> {
        Ok(facts::describe(Path::new(&ask.folder)))
    }

    fn check_quiet(&mut self, ask: CheckQuiet) -> Result<QuietCheck, Error> {
        quiet_check::check_quiet(&ask, &*self.clock)
    }

    fn try_limits(&mut self, ask: TryLimits) -> Result<(), Error> {
        doctor::try_limits(ask.limits, Path::new(&ask.folder))
    }

    /// Takes the study's folder for this agent, then frees what others left.
    fn sweep(&mut self, ask: Sweep) -> Result<(), Error> {
        let folder = Path::new(&ask.folder);
        if !self.locks.contains_key(folder) {
            self.locks.insert(folder.to_owned(), snapshots::hold(folder, &*self.clock)?);
        }
        for text in sweep(folder, &*self.clock)? {
            (self.events)(Event::Log { level: LogLevel::Info, text });
        }
        Ok(())
    }

    fn mount_volume(&mut self, ask: MountVolume) -> Result<Vec<Fact>, Error> {
        let folder = absolute(&ask.place)?;
        if let Some(plan) = &ask.place.tier {
            storages::tier_needs_and_file(plan)?;
        }
        if !self.volumes.iter().any(|volume| volume.folder() == folder && volume.size() == ask.size) {
            self.held(&ask.instance).refuse_while_running("mount a volume")?;
            self.volumes.retain(|volume| volume.folder() != folder);
            self.volumes.push(Volume::mount(&folder, ask.size, &self.clock)?);
        }
        let facts = self.volumes.iter().filter(|volume| volume.folder() == folder).flat_map(Volume::facts);
        Ok(facts.map(|fact| Fact { instance: ask.instance.clone(), ..fact }).collect())
    }

    fn purge(&mut self, ask: Purge) -> Result<Vec<Fact>, Error> {
        let folder = absolute(&ask.place)?;
        self.held(&ask.instance).refuse_while_running("purge the device of an instance")?;
        // What the run before has left there; its end clears the device.
        self.volumes.retain(|volume| volume.folder() != folder);
        let study = folder.parent().unwrap_or(&folder);
        let device = preconditioning::purge(&ask.device, ask.confirmed.as_deref(), study)?;
        let volume = Volume::on_device(&folder, &device, &self.clock)?;
        let facts = volume.facts();
        self.volumes.push(volume);
        Ok(facts.into_iter().map(|fact| Fact { instance: ask.instance.clone(), ..fact }).collect())
    }

    fn precondition(&mut self, ask: Precondition) -> Result<PreconditioningResult, Error> {
        let Precondition { instance, place, how } = ask;
        self.by_fio(&instance, &place, |_, tell| preconditioning::precondition(&place, &how, tell))
    }

    fn create(&mut self, ask: Create) -> Result<(), Error> {
        let Create { instance, place } = ask;
        if place.url.is_some() {
            return Ok(());
        }
        self.held(&instance).refuse_while_running("create an instance")?;
        // A build may take hours, and a cache is filled behind it.
        place.tier.as_deref().map_or(Ok(()), doctor::find_list)?;
        let folder = absolute(&place)?;
        self.free_after_kill(&folder);
        snapshots::claim(&folder)?;
        snapshots::remove_data(&folder)?;
        let data = snapshots::data_folder(&folder);
        std::fs::create_dir(&data)
            .map_err(|error| Error::new(format!("failed to create {}: {error}", data.display())))?;
        let Some(recipe) = engine(&place)?.server() else { return Ok(()) };
        let made = instances::create(recipe, &data, &*self.clock, &self.remains.of(&instance));
        if made.is_err() {
            self.free_after_kill(&folder);
            let _half_made = snapshots::remove_data(&folder);
        }
        made
    }

    fn admit(&mut self, ask: Admit) -> Result<(), Error> {
        let held = self.held(&ask.instance);
        held.refuse_while_running("make an instance reachable from other hosts")?;
        held.admit(ask);
        Ok(())
    }

    fn know_beside(&mut self, ask: KnowBeside) -> Result<(), Error> {
        self.beside = ask.processes;
        Ok(())
    }

    fn copy_instance(&mut self, ask: CopyInstance) -> Result<(), Error> {
        let CopyInstance { instance, place, from } = ask;
        let folder = absolute(&place)?;
        self.held(&instance).refuse_while_running("copy an instance to its standby")?;
        self.free_after_kill(&folder);
        let (clock, remains) = (Arc::clone(&self.clock), self.remains.of(&instance));
        let held = self.held(&instance);
        let password =
            held.password().ok_or_else(|| Error::new("failed to copy an instance: no password was given"))?;
        copy::copy(&place, &folder, (&from, password), &*clock, &remains)
    }

    fn has_applied_all(&mut self, ask: HasAppliedAll) -> Result<bool, Error> {
        self.held(&ask.instance).has_applied_all()
    }

    fn read_data_end(&mut self, ask: ReadDataEnd) -> Result<DataEnd, Error> {
        let folder = absolute(&ask.place)?;
        let data = if ask.of_snapshot { snapshots::snapshot_folder } else { snapshots::data_folder };
        Ok(facet(&ask.place)?.data_end(&data(&folder))?)
    }

    fn attach(&mut self, ask: Attach) -> Result<Vec<Fact>, Error> {
        let data = snapshots::data_folder(&absolute(&ask.place)?);
        let program = self.program.clone();
        self.held(&ask.instance).attach(&ask.storage, &ask.place, &data, program.as_deref())
    }

    fn detach(&mut self, ask: Detach) -> Result<(), Error> {
        self.held(&ask.instance).detach()
    }

    fn prepare_limits(&mut self, ask: PrepareLimits) -> Result<Vec<Fact>, Error> {
        self.held(&ask.instance).prepare_limits(ask.limits)
    }

    fn join_limits(&mut self, ask: JoinLimits) -> Result<(), Error> {
        self.held(&ask.instance).join_limits(ask.pid)
    }

    fn start(&mut self, ask: Start) -> Result<StartedInstance, Error> {
        if self.cluster.is_some() {
            return managed::start_again(self, ask);
        }
        self.held(&ask.instance).start(ask.place, ask.part)
    }

    fn start_link(&mut self, ask: StartLink) -> Result<String, Error> {
        self.held(&ask.instance).start_link(&ask.place, &ask.upstream, ask.link)
    }

    fn measure_link(&mut self, ask: MeasureLink) -> Result<LinkMeasured, Error> {
        self.held(&ask.instance).measure_link(ask.count)
    }

    fn watch_existing(&mut self, ask: WatchExisting) -> Result<(), Error> {
        self.held(&ask.instance).watch_existing(ask.place, ask.asked)
    }

    fn read_replication(&mut self, ask: ReadReplication) -> Result<ReplicationReading, Error> {
        Ok(self.watch(&ask.instance)?.read()?)
    }

    fn begin_commit(&mut self, ask: BeginCommit) -> Result<bool, Error> {
        Ok(self.watch(&ask.instance)?.begin_commit(ask.within)?)
    }

    fn time_commits(&mut self, ask: TimeCommits) -> Result<Vec<Duration>, Error> {
        let clock = Arc::clone(&self.clock);
        Ok(self.watch(&ask.instance)?.time_commits(&ask.levels, ask.within, &*clock)?)
    }

    fn see_commit_wait(&mut self, ask: SeeCommitWait) -> Result<Option<bool>, Error> {
        Ok(self.watch(&ask.instance)?.sees_commit_wait()?)
    }

    fn end_commit(&mut self, ask: EndCommit) -> Result<bool, Error> {
        Ok(self.watch(&ask.instance)?.end_commit(ask.within)?)
    }

    fn hold_standby(&mut self, ask: HoldStandby) -> Result<(), Error> {
        self.held(&ask.instance).hold(ask.part, ask.held)
    }

    fn start_managed(&mut self, ask: StartManaged) -> Result<Vec<StartedInstance>, Error> {
        let StartManaged { manager, asked, nodes } = ask;
        let arbiter = self.remains.of(&InstanceName::arbiter());
        let cluster = ManagedCluster::plan(manager, &asked, &nodes, (&self.clock, &self.events, arbiter))?;
        self.cluster = Some(cluster);
        managed::start(self, asked, nodes)
    }

    fn read_cluster(&mut self, _: ReadCluster) -> Result<ClusterReading, Error> {
        self.cluster()?.read()
    }

    fn start_arbiter(&mut self, _: StartArbiter) -> Result<(), Error> {
        self.cluster()?.start_arbiter_again()
    }

    fn stop_arbiter(&mut self, _: StopArbiter) -> Result<(), Error> {
        self.cluster.take().map_or(Ok(()), |mut cluster| cluster.stop_arbiter())
    }

    fn make_fault(&mut self, ask: MakeFault) -> Result<FaultInForce, Error> {
        managed::make_fault(self, ask)
    }

    fn fail_over(&mut self, ask: FailOver) -> Result<FailoverReport, Error> {
        self.held(&ask.instance).fail_over(ask.kind)
    }

    fn resume_group(&mut self, ask: ResumeGroup) -> Result<bool, Error> {
        self.held(&ask.instance).resume_group()
    }

    fn read_seeding(&mut self, ask: ReadSeeding) -> Result<Vec<SeedingReading>, Error> {
        self.held(&ask.instance).seeding()
    }

    fn undo_fault(&mut self, ask: UndoFault) -> Result<FaultUndone, Error> {
        self.held(&ask.instance).undo_fault()
    }

    fn end_faulty(&mut self, ask: EndFaulty) -> Result<(), Error> {
        self.held(&ask.instance).end_faulty();
        Ok(())
    }

    fn read_received(&mut self, ask: ReadReceived) -> Result<Bytes, Error> {
        self.held(&ask.instance).received()
    }

    fn is_fenced(&mut self, ask: IsFenced) -> Result<bool, Error> {
        Ok(self.held(&ask.instance).is_fenced())
    }

    fn protect(&mut self, ask: Protect) -> Result<(), Error> {
        self.held(&ask.instance).protect(ask.asked)
    }

    fn follow(&mut self, ask: Follow) -> Result<String, Error> {
        self.held(&ask.instance).follow(&ask.place, &ask.upstream, ask.link)
    }

    fn promote(&mut self, ask: Promote) -> Result<Moment, Error> {
        self.held(&ask.instance).promote()
    }

    fn read_fork(&mut self, ask: ReadFork) -> Result<Option<LogFork>, Error> {
        self.held(&ask.instance).fork()
    }

    fn read_log_end_after(&mut self, ask: ReadLogEndAfter) -> Result<Option<Bytes>, Error> {
        self.held(&ask.instance).log_end_after(&ask.place, &ask.fork)
    }

    fn before_rewind(&mut self, ask: BeforeRewind) -> Result<(), Error> {
        self.held(&ask.instance).before_rewind()
    }

    fn rewind(&mut self, ask: Rewind) -> Result<(), Error> {
        self.held(&ask.instance).rewind(&ask.place, &ask.upstream)
    }

    fn verify(&mut self, ask: Verify) -> Result<Vec<Fact>, Error> {
        self.held(&ask.instance).verify()
    }

    fn read_usage(&mut self, ask: ReadUsage) -> Result<Vec<Fact>, Error> {
        let mut facts = self.held(&ask.instance).usage();
        facts.extend(of_machine());
        Ok(facts)
    }

    fn limit_process(&mut self, ask: LimitProcess) -> Result<Vec<Fact>, Error> {
        self.held(&ask.instance).limit_process(ask.pid, ask.limits)
    }

    fn change_limits(&mut self, ask: ChangeLimits) -> Result<Vec<LimitMeter>, Error> {
        self.held(&ask.instance).change_limits(&ask.shares, &ask.of_engine)
    }

    fn read_meters(&mut self, ask: ReadMeters) -> Result<Vec<LimitMeter>, Error> {
        self.held(&ask.instance).meters(&ask.of_engine)
    }

    fn read_work(&mut self, ask: ReadWork) -> Result<Vec<String>, Error> {
        self.held(&ask.instance).engine_at_work(&ask.of_engine)
    }

    fn catch_up(&mut self, ask: CatchUp) -> Result<Vec<String>, Error> {
        self.held(&ask.instance).engine_catches_up(&ask.of_engine)
    }

    fn measure_reads(&mut self, ask: MeasureReads) -> Result<ReadsMeasured, Error> {
        let MeasureReads { instance, place, size, time } = ask;
        let within = self.held(&instance).within()?;
        self.by_fio(&instance, &place, |folder, tell| {
            preconditioning::measure_reads(&preconditioning::ToRead { folder, size, time }, within, tell)
        })
    }

    fn read_used(&mut self, ask: ReadUsed) -> Result<ResourceUse, Error> {
        Ok(self.held(&ask.instance).used(ask.pid))
    }

    fn stop(&mut self, ask: Stop) -> Result<(), Error> {
        self.held(&ask.instance).stop()
    }

    fn discard(&mut self, ask: Discard) -> Result<(), Error> {
        self.held(&ask.instance).discard(&ask.place)
    }

    fn are_discarded(&mut self, ask: AreDiscarded) -> Result<bool, Error> {
        Ok(snapshots::are_discarded(Path::new(&ask.place.folder)))
    }

    fn refit_log(&mut self, ask: RefitLog) -> Result<bool, Error> {
        self.held(&ask.instance).refuse_while_running("give data another log")?;
        let data = snapshots::data_folder(&absolute(&ask.place)?);
        let Some(recipe) = engine(&ask.place)?.server() else { return Ok(false) };
        instances::refit_log(recipe, &data, &ask.place.settings)
    }

    fn save_snapshot(&mut self, ask: SaveSnapshot) -> Result<SnapshotCopy, Error> {
        self.held(&ask.instance).refuse_while_running("save a snapshot")?;
        snapshots::save(Path::new(&ask.place.folder), &*self.clock)
    }

    fn find_snapshot(&mut self, ask: FindSnapshot) -> Result<bool, Error> {
        Ok(snapshots::find(Path::new(&ask.place.folder), &ask.label))
    }

    fn label_snapshot(&mut self, ask: LabelSnapshot) -> Result<(), Error> {
        snapshots::label(Path::new(&ask.place.folder), &ask.label)
    }

    fn restore_snapshot(&mut self, ask: RestoreSnapshot) -> Result<Vec<SnapshotCopy>, Error> {
        for RestoreTarget { instance, place } in &ask.instances {
            self.held(instance).refuse_while_running("restore the snapshot")?;
            let folder = Path::new(&place.folder);
            self.free_after_kill(folder);
            if ask.from != place.folder {
                snapshots::claim(folder)?;
            }
        }
        let folders: Vec<&Path> = ask.instances.iter().map(|target| Path::new(&target.place.folder)).collect();
        snapshots::restore(Path::new(&ask.from), &folders, &*self.clock)
    }

    fn drop_page_cache(&mut self, ask: DropPageCache) -> Result<(), Error> {
        snapshots::drop_page_cache(Path::new(&ask.place.folder))
    }

    fn prewarm(&mut self, ask: Prewarm) -> Result<PrewarmResult, Error> {
        let begun = self.clock.now();
        let bytes = self.held(&ask.instance).prewarm()?;
        Ok(PrewarmResult { bytes: Bytes(bytes), took: self.clock.now().since(begun) })
    }

    fn start_probes(&mut self, ask: StartProbes) -> Result<(), Error> {
        let others = || self.instances.iter().filter(|(name, _)| **name != ask.instance).map(|(_, held)| held);
        let beside = Beside {
            processes: others().filter_map(InstanceResources::process).chain(self.beside.iter().copied()).collect(),
            host_is_watched: others().any(InstanceResources::is_watched),
            targets: self.targets_beside(&ask.instance),
        };
        self.held(&ask.instance.clone()).start_probes(ask, beside)
    }

    fn stop_probes(&mut self, ask: StopProbes) -> Result<(), Error> {
        self.held(&ask.instance).stop_probes();
        Ok(())
    }

    fn release(&mut self, ask: Release) -> Result<(), Error> {
        self.held(&ask.instance).release()
    }
}

impl Drop for HostRole {
    /// Lifts all limits before the first server is stopped: what waits for a slow device or for CPU time ends too late.
    fn drop(&mut self) {
        for held in self.instances.values_mut() {
            let _as_far_as_it_goes = held.release();
        }
        // Their servers end before a volume goes from under them.
        self.instances.clear();
        storages::release_volumes(std::mem::take(&mut self.volumes));
    }
}

/// The folder as processes see it that work elsewhere.
fn absolute(place: &DataLocation) -> Result<PathBuf, Error> {
    std::path::absolute(&place.folder)
        .map_err(|error| Error::new(format!("failed to find the folder {}: {error}", place.folder)))
}
