//! Requests to the host role of an agent. Those about an instance name it; the others are about the machine.

pub use super::host_answers::{
    DataEnd, DeviceUse, PreconditioningResult, PrewarmResult, ProcessUse, ProcessorUse, QuietCheck, ReadsMeasured,
    SnapshotCopy, StartedInstance,
};

use super::ask::asks;
use super::{DataLocation, LimitsAsked, Preconditioning, ResourceUse, ScrapeSpec};
use crate::commit_levels::CommitLevel;
use crate::deployment::{InstanceName, StoragePlan};
use crate::drill::{FaultInForce, FaultKind, FaultUndone, LogFork};
use crate::fault_strength::FaultStrength;
use crate::group_failover::{FailoverKind, FailoverReport, SeedingReading};
use crate::intervention::LimitMeter;
use crate::manager::{ClusterReading, ManagedNode, ManagerAsked};
use crate::replication::{HeldPart, LinkAsked, LinkMeasured, ReplicationAsked, ReplicationPart, ReplicationReading};
use crate::samples::Fact;
use crate::secret::Secret;
use crate::time::Moment;
use crate::units::Bytes;
use core::net::IpAddr;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// An instance whose data are replaced by a snapshot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RestoreTarget {
    /// Name of the instance.
    pub instance: InstanceName,
    /// Where.
    pub place: DataLocation,
}

asks! {
    Host
    /// A server of the host role.
    trait HostService;

    /// Facts about the machine: hardware, kernel, mounts below `folder`.
    describe: Describe {
        /// The study's folder.
        folder: String,
    } -> Vec<Fact>;

    /// Look what others do on the host.
    check_quiet: CheckQuiet {
        /// The study's folder.
        folder: String,
        /// How long.
        time: Duration,
        /// Cores that the database will be limited to; `None`: all.
        cores: Option<u32>,
        /// How many of the cores that the agent may use come before them.
        cores_before: u32,
    } -> QuietCheck;

    /// Make a control group with these limits, read them back and remove it. An error of the kind *refused* when the machine is too small.
    try_limits: TryLimits {
        /// The study's folder.
        folder: String,
        /// What.
        limits: LimitsAsked,
    } -> ();

    /// Free what earlier, killed processes of ours left in `folder`: instances, control groups.
    sweep: Sweep {
        /// The study's folder.
        folder: String,
    } -> ();

    /// Mount the volume of a folder, a file system in a file beside it; make it where there is none. Nothing happens where it is mounted.
    mount_volume: MountVolume {
        /// Instance whose folder it is.
        instance: InstanceName,
        /// Its folder.
        place: DataLocation,
        /// Size of the volume.
        size: Bytes,
    } -> Vec<Fact>;

    /// Return a device to fresh out of box: ALL ITS DATA ARE LOST. Then mount it, with a new file system, at the folder of an instance.
    purge: Purge {
        /// Instance whose data it is to hold.
        instance: InstanceName,
        /// Its folder.
        place: DataLocation,
        /// Device, by its path.
        device: String,
        /// Device named a second time, with `--yes`; must equal `device`.
        confirmed: Option<String>,
    } -> Vec<Fact>;

    /// Precondition storage.
    precondition: Precondition {
        /// Instance whose storage it is.
        instance: InstanceName,
        /// Where.
        place: DataLocation,
        /// How.
        how: Preconditioning,
    } -> PreconditioningResult;

    /// Make an empty instance (data folder) of a server engine; of an embedded engine the folder only.
    create: Create {
        /// Name of the instance.
        instance: InstanceName,
        /// Where.
        place: DataLocation,
    } -> ();

    /// Attach the storage of an instance: between restoring its data and starting it. Replaces what was attached before.
    attach: Attach {
        /// Name of the instance.
        instance: InstanceName,
        /// Where.
        place: DataLocation,
        /// Storage of the instance.
        storage: StoragePlan,
    } -> Vec<Fact>;

    /// Detach the storage of a stopped instance; nothing happens when none is attached.
    detach: Detach {
        /// Name of the instance.
        instance: InstanceName,
    } -> ();

    /// Put limits in place, empty, ready to be joined. Replaces earlier limits of the instance.
    prepare_limits: PrepareLimits {
        /// Name of the instance; its storage is attached.
        instance: InstanceName,
        /// What.
        limits: LimitsAsked,
    } -> Vec<Fact>;

    /// Put a running process of this host (the load agent of an embedded engine) under the prepared limits.
    join_limits: JoinLimits {
        /// Name of the instance.
        instance: InstanceName,
        /// Process id.
        pid: u32,
    } -> ();

    /// Read the data once in order under the prepared limits, so that a run does not begin with an empty page cache.
    prewarm: Prewarm {
        /// Name of the instance.
        instance: InstanceName,
    } -> PrewarmResult;

    /// Have an instance reached by other hosts from its next start on, until it is stopped: at one address of its host, by a password.
    admit: Admit {
        /// Name of the instance.
        instance: InstanceName,
        /// Address of the host, at which it listens.
        at: IpAddr,
        /// Network device that the host has to itself, which may be taken down.
        device: Option<String>,
        /// Password of all accounts of the deployment.
        password: Secret,
    } -> ();

    /// Make the data of a standby on this host a copy of those of a running instance that other hosts reach.
    copy_instance: CopyInstance {
        /// Name of the standby.
        instance: InstanceName,
        /// Where.
        place: DataLocation,
        /// Address of the instance that is copied.
        from: String,
    } -> ();

    /// Tell whether a standby has applied all log that it has received.
    has_applied_all: HasAppliedAll {
        /// Name of the standby.
        instance: InstanceName,
    } -> bool;

    /// Read where the log of stopped data ends, or that of their snapshot.
    read_data_end: ReadDataEnd {
        /// Where.
        place: DataLocation,
        /// Whether the snapshot is meant.
        of_snapshot: bool,
    } -> DataEnd;

    /// Take processes of other agents on this machine, and all below them, for instances of ours in what is told of its use from now on.
    know_beside: KnowBeside {
        /// Their roots.
        processes: Vec<u32>,
    } -> ();

    /// Start the server under the prepared limits (or none), or the failover manager's program of its node, and wait until it answers.
    start: Start {
        /// Name of the instance.
        instance: InstanceName,
        /// Where.
        place: DataLocation,
        /// Part in the replication.
        part: ReplicationPart,
    } -> StartedInstance;

    /// Start a failover manager, which starts the instances; answers once they all answer, in the order of the nodes. The first leads.
    start_managed: StartManaged {
        /// The manager.
        manager: ManagerAsked,
        /// Replication.
        asked: ReplicationAsked,
        /// Instances, the first of which shall lead.
        nodes: Vec<ManagedNode>,
    } -> Vec<StartedInstance>;

    /// Read how the cluster stands, from the manager.
    read_cluster: ReadCluster {
    } -> ClusterReading;

    /// Start the arbiter of the failover manager again.
    start_arbiter: StartArbiter {
    } -> ();

    /// Stop the arbiter of the failover manager; nothing happens when there is none.
    stop_arbiter: StopArbiter {
    } -> ();

    /// Start the relay through which a standby shall follow; answers with the address that it is told. Replaces an earlier one.
    start_link: StartLink {
        /// Name of the standby.
        instance: InstanceName,
        /// Where.
        place: DataLocation,
        /// Address of the instance that it shall follow.
        upstream: String,
        /// What the relay does.
        link: LinkAsked,
    } -> String;

    /// Measure the relay of a standby.
    measure_link: MeasureLink {
        /// Name of the standby.
        instance: InstanceName,
        /// Round trips to make.
        count: u32,
    } -> LinkMeasured;

    /// Watch the standbys of a server that was not started here from now on.
    watch_existing: WatchExisting {
        /// Name of the instance.
        instance: InstanceName,
        /// Where it is, with the settings by which a connection asks for the mode.
        place: DataLocation,
        /// What is asked for.
        asked: ReplicationAsked,
    } -> ();

    /// Read how a primary's replication stands.
    read_replication: ReadReplication {
        /// Name of the primary.
        instance: InstanceName,
    } -> ReplicationReading;

    /// Begin a commit at a primary as users commit; tells whether it ended within a time, else it goes on.
    begin_commit: BeginCommit {
        /// Name of the primary.
        instance: InstanceName,
        /// Time.
        within: Duration,
    } -> bool;

    /// Tell whether a primary lists the commit that goes on as one that waits for a standby; nothing where its engine cannot tell.
    see_commit_wait: SeeCommitWait {
        /// Name of the primary.
        instance: InstanceName,
    } -> Option<bool>;

    /// Wait for the end of a commit that goes on; tells whether it ended within a time.
    end_commit: EndCommit {
        /// Name of the primary.
        instance: InstanceName,
        /// Time.
        within: Duration,
    } -> bool;

    /// Commit at a primary one transaction after the other on one connection, each at its level, changing no table; tells how long each
    /// took, and fewer of them when the time is up.
    time_commits: TimeCommits {
        /// Name of the primary.
        instance: InstanceName,
        /// Levels in their order.
        levels: Vec<CommitLevel>,
        /// Time.
        within: Duration,
    } -> Vec<Duration>;

    /// Hold a part of what a standby does, or let it go on.
    hold_standby: HoldStandby {
        /// Name of the standby.
        instance: InstanceName,
        /// What is held.
        part: HeldPart,
        /// Whether it is held from now on.
        held: bool,
    } -> ();

    /// Make an instance fail, or its link; answers once the fault is found in force.
    make_fault: MakeFault {
        /// Name of the instance; of a link the standby behind it.
        instance: InstanceName,
        /// Way in which it fails.
        kind: FaultKind,
        /// How strong the fault is.
        strength: FaultStrength,
    } -> FaultInForce;

    /// Have a group of servers fail over that were not started here, and answer once that is found in force.
    fail_over: FailOver {
        /// Name of the instance.
        instance: InstanceName,
        /// Way in which a standby takes over.
        kind: FailoverKind,
    } -> FailoverReport;

    /// Let servers of such a group follow again that a forced failover has suspended; tells whether none is suspended.
    resume_group: ResumeGroup {
        /// Name of the instance.
        instance: InstanceName,
    } -> bool;

    /// Read how standbys of a server that was not started here are filled; nothing where all follow, or the engine does not tell.
    read_seeding: ReadSeeding {
        /// Name of the instance.
        instance: InstanceName,
    } -> Vec<SeedingReading>;

    /// Undo the fault of an instance as far as that needs no start, and answer once it is found undone. Nothing happens when there is none.
    undo_fault: UndoFault {
        /// Name of the instance.
        instance: InstanceName,
    } -> FaultUndone;

    /// End what a fault has left of an instance: a frozen one is killed, not let go on.
    end_faulty: EndFaulty {
        /// Name of the instance.
        instance: InstanceName,
    } -> ();

    /// Tell how much of the primary's log a standby has received, in bytes since a fixed, unknown begin.
    read_received: ReadReceived {
        /// Name of the standby.
        instance: InstanceName,
    } -> Bytes;

    /// Tell whether no process of a failed instance can take a write any more: all have ended, or stand still.
    is_fenced: IsFenced {
        /// Name of the instance.
        instance: InstanceName,
    } -> bool;

    /// Put a mode in force at a standby that will be the primary, before it takes writes; it can be read as that of a primary from then on.
    protect: Protect {
        /// Name of the standby.
        instance: InstanceName,
        /// Its own standbys, and what commits wait for.
        asked: ReplicationAsked,
    } -> ();

    /// Let a running standby follow another instance, through a new relay where there is a link; answers with the address that it was told.
    follow: Follow {
        /// Name of the standby.
        instance: InstanceName,
        /// Where.
        place: DataLocation,
        /// Address of the instance that it shall follow.
        upstream: String,
        /// What the relay does, if there is one.
        link: Option<LinkAsked>,
    } -> String;

    /// Make a standby a primary without standbys of its own; answers with the moment at which it was one.
    promote: Promote {
        /// Name of the standby.
        instance: InstanceName,
    } -> Moment;

    /// Tell where the log of a promoted instance left that of the primary before it; nothing where its engine does not tell.
    read_fork: ReadFork {
        /// Name of the promoted instance.
        instance: InstanceName,
    } -> Option<LogFork>;

    /// Tell where the log of the old primary ends, whose server takes no writes any more; nothing where its engine does not tell.
    read_log_end_after: ReadLogEndAfter {
        /// Name of the old primary.
        instance: InstanceName,
        /// Its data.
        place: DataLocation,
        /// Fork from which on its log is read.
        fork: LogFork,
    } -> Option<Bytes>;

    /// Prepare an instance that was promoted to be what another is rewound by.
    before_rewind: BeforeRewind {
        /// Name of the instance.
        instance: InstanceName,
    } -> ();

    /// Put an instance that has ended back to where its log and that of another instance are one.
    rewind: Rewind {
        /// Name of the instance.
        instance: InstanceName,
        /// Where.
        place: DataLocation,
        /// Address of the other instance.
        upstream: String,
    } -> ();

    /// Read back each limit and setting that should be in force, the storage, and the engine's own view.
    verify: Verify {
        /// Name of the instance.
        instance: InstanceName,
    } -> Vec<Fact>;

    /// Use of the limited resources up to now: peak memory, memory.stat, events, pressure totals.
    read_usage: ReadUsage {
        /// Name of the instance.
        instance: InstanceName,
    } -> Vec<Fact>;

    /// Put a running process of this host that is no instance (the load generator) into a control group of its own, in the place of an
    /// earlier one, under limits, and with precedence over other processes unless they say without.
    limit_process: LimitProcess {
        /// Name under which its limits are addressed.
        instance: InstanceName,
        /// Process id.
        pid: u32,
        /// Limits.
        limits: LimitsAsked,
    } -> Vec<Fact>;

    /// Set each live limit of an instance to this share of what was asked for, and every other live limit to what was asked for; answer
    /// once all are read back, with how they stand.
    change_limits: ChangeLimits {
        /// Name of the instance.
        instance: InstanceName,
        /// Shares by the paths of their settings.
        shares: BTreeMap<String, f64>,
        /// Resources of its engine that count as live limits.
        of_engine: Vec<String>,
    } -> Vec<LimitMeter>;

    /// Read how the live limits of an instance stand.
    read_meters: ReadMeters {
        /// Name of the instance.
        instance: InstanceName,
        /// Resources of its engine that count as live limits.
        of_engine: Vec<String>,
    } -> Vec<LimitMeter>;

    /// Tell of which of these resources of an instance's engine work goes on now.
    read_work: ReadWork {
        /// Name of the instance.
        instance: InstanceName,
        /// Resources of its engine.
        of_engine: Vec<String>,
    } -> Vec<String>;

    /// Do what work of these resources of an instance's engine left undone while it was off; answers what could not be done, in words.
    catch_up: CatchUp {
        /// Name of the instance.
        instance: InstanceName,
        /// Resources of its engine.
        of_engine: Vec<String>,
    } -> Vec<String>;

    /// Read a file of ours in order and around the page cache, under the prepared limits, to see how fast the device is. The file is
    /// written before, without limits, and removed afterwards.
    measure_reads: MeasureReads {
        /// Name of the instance.
        instance: InstanceName,
        /// Where.
        place: DataLocation,
        /// Size of the file.
        size: Bytes,
        /// How long it is read.
        time: Duration,
    } -> ReadsMeasured;

    /// What the server, or the process of an embedded engine, used up to now.
    read_used: ReadUsed {
        /// Name of the instance.
        instance: InstanceName,
        /// Process of the embedded engine, if any.
        pid: Option<u32>,
    } -> ResourceUse;

    /// Stop the server, cleanly, so that its files are a snapshot's source.
    stop: Stop {
        /// Name of the instance.
        instance: InstanceName,
    } -> ();

    /// End the server at once with all its processes, and discard its data. They become no snapshot, and no server is started on them,
    /// until they are restored or made anew. An error when the server had ended before, or when a process still works on them after the
    /// time that a clean stop may take.
    discard: Discard {
        /// Name of the instance.
        instance: InstanceName,
        /// Where.
        place: DataLocation,
    } -> ();

    /// Tell whether the data of a folder were discarded, and neither restored nor made anew since.
    are_discarded: AreDiscarded {
        /// Where.
        place: DataLocation,
    } -> bool;

    /// Have stopped data that were just built get the log at their next start that fits them; tells whether there has to be one for that.
    refit_log: RefitLog {
        /// Name of the instance.
        instance: InstanceName,
        /// Where, with the settings of the build.
        place: DataLocation,
    } -> bool;

    /// Copy the stopped data to the snapshot folder.
    save_snapshot: SaveSnapshot {
        /// Name of the instance.
        instance: InstanceName,
        /// Where.
        place: DataLocation,
    } -> SnapshotCopy;

    /// Looks for a complete snapshot whose label equals this one.
    find_snapshot: FindSnapshot {
        /// Where.
        place: DataLocation,
        /// Names seed, scale, version; saved with the snapshot.
        label: String,
    } -> bool;

    /// Label the snapshot as complete.
    label_snapshot: LabelSnapshot {
        /// Where.
        place: DataLocation,
        /// Label.
        label: String,
    } -> ();

    /// Replace the data of instances by one snapshot, which is read once; answers in their order.
    restore_snapshot: RestoreSnapshot {
        /// Folder whose snapshot it is: that of an instance, or of the one that it shall follow.
        from: String,
        /// Instances, all stopped.
        instances: Vec<RestoreTarget>,
    } -> Vec<SnapshotCopy>;

    /// Write back and drop the page cache of the data files.
    drop_page_cache: DropPageCache {
        /// Where.
        place: DataLocation,
    } -> ();

    /// Send telemetry once a second, on the second after `origin`.
    start_probes: StartProbes {
        /// Name of the instance.
        instance: InstanceName,
        /// Time zero on this agent's clock.
        origin: Moment,
        /// Where (instance, engine statistics).
        place: DataLocation,
        /// Process of the embedded engine, if any.
        pid: Option<u32>,
        /// Exporters that observe the host in the place of this agent's own probes.
        scraped: ScrapeSpec,
        /// Times a second that the sessions of the load are looked at; 0: not at all.
        session_looks: u32,
    } -> ();

    /// Stop sending.
    stop_probes: StopProbes {
        /// Name of the instance.
        instance: InstanceName,
    } -> ();

    /// Lift the limits; processes go on.
    release: Release {
        /// Name of the instance.
        instance: InstanceName,
    } -> ();
}
