//! The messages between the conductor and its agents. Data only: framing and processes are `testbed::agents`' business.
//!
//! One agent serves both roles. The *host* role prepares a machine: instances, limits, snapshots, probes.
//! The *load* role runs virtual users. A change of any type here raises [`PROTOCOL`].

use crate::error::Error;
use crate::part::Part;
use crate::samples::{Check, Fact, IntervalSample, LostSession, Mark, OperationCounts, Telemetry, UserRound};
use crate::settings::Settings;
use crate::time::{Moment, Offset, WallTime};
use crate::units::{Bytes, BytesPerSecond, CpuRate};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Version of the messages; agents of another version are refused at the greeting.
pub const PROTOCOL: u32 = 9;

/// From the conductor to an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// Number of the call; the answer carries it.
    pub id: u64,
    /// What to do.
    pub request: Request,
}

/// From an agent to the conductor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Message {
    /// The answer to a call.
    Answer {
        /// Number of the call.
        id: u64,
        /// What came back.
        result: Result<Reply, Error>,
    },
    /// Something that happened.
    Event(Event),
}

/// What an agent can be asked to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Request {
    /// Answer with the clock: for offsets between machines.
    Ping,
    /// To the host role.
    Host(HostRequest),
    /// To the load role.
    Load(LoadRequest),
    /// Release everything and end.
    Quit,
}

/// Where the data of a study lives on its host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataPlace {
    /// Kind of engine.
    pub engine: String,
    /// Folder of the study on the host under test: `<storage.path>/<name>`; all that Proofload creates lies below it.
    pub folder: String,
    /// URL of an existing server; none when we start an instance or the engine is embedded.
    pub url: Option<String>,
    /// Settings of the engine by name, later ones win: what the memory limit implies, the engine's own (`engine.<name>`), then
    /// `engine.settings.*`. Made by `proofload_engine::place_settings`.
    pub settings: Vec<(String, String)>,
}

/// A host that no agent runs on, observed through exporters of Prometheus' text format.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Scraped {
    /// Where they serve, such as `http://db1:9100/metrics`; empty: the host is observed by its own agent.
    pub endpoints: Vec<String>,
    /// The database's device as they name it, such as `nvme0n1` or `D:`.
    pub device: Option<String>,
    /// Further series to keep: names, or beginnings of names with a `*` after them.
    pub series: Vec<String>,
}

/// Limits to put on what is tested.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LimitsAsked {
    /// Memory of the instance or embedded engine: control group and engine setting.
    pub memory: Option<Bytes>,
    /// Number of cores.
    pub cores: Option<u32>,
    /// CPU time per time, on whatever cores.
    pub cpu: Option<CpuRate>,
    /// Reads from the block device under the data.
    pub read_bandwidth: Option<BytesPerSecond>,
    /// Writes to the block device under the data.
    pub write_bandwidth: Option<BytesPerSecond>,
    /// Reads from the block device under the data, requests per second.
    pub read_iops: Option<u32>,
    /// Writes to the block device under the data, requests per second.
    pub write_iops: Option<u32>,
}

/// Preconditioning by fio, of the folder's file system or of a device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preconditioning {
    /// A device such as `/dev/nvme1n1`; none for a file in the study's folder.
    pub device: Option<String>,
    /// The device named a second time, with `--yes`; must equal `device`.
    pub device_confirmed: Option<String>,
    /// Size of the file when there is no device.
    pub size: Bytes,
    /// Sequential fills of the whole size.
    pub sequential_fills: u32,
    /// Random-write passes over the whole size.
    pub random_passes: u32,
    /// Length of one round of the steady-state test.
    pub round: Duration,
    /// Rounds at most; 0 leaves the steady-state test out.
    pub rounds_at_most: u32,
}

/// What the processes of a place used since they began. Only differences say something, and only between readings of one source.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Used {
    /// CPU time; none when it cannot be told.
    pub cpu: Option<Duration>,
    /// Where it was read.
    pub cpu_source: String,
    /// Bytes read from the block device under the data; none when it cannot be told.
    pub device_read: Option<Bytes>,
    /// Where it was read, and of whom.
    pub device_source: String,
}

/// A probe query that was run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probed {
    /// From sending it to its last row.
    pub took: Duration,
    /// Bytes of the pages that it asked for, in the engine's cache or not; none where the engine does not count them.
    pub logical: Option<Bytes>,
    /// Why it failed, such as `query_cap`; none when it ended well.
    pub failed: Option<String>,
}

/// Requests to the host role.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum HostRequest {
    /// Facts about the machine: hardware, kernel, mounts below `folder`.
    Describe {
        /// The study's folder.
        folder: String,
    },
    /// Free what earlier, killed processes of ours left in `folder`: instances, control groups.
    Sweep {
        /// The study's folder.
        folder: String,
    },
    /// Precondition storage.
    Precondition {
        /// Where.
        place: DataPlace,
        /// How.
        how: Preconditioning,
    },
    /// Make an empty instance (data folder) of a server engine; nothing for embedded engines but the folder.
    CreateInstance {
        /// Where.
        place: DataPlace,
    },
    /// Put limits in place, empty, ready to be joined. Replaces earlier limits of this agent.
    PrepareLimits {
        /// Where.
        place: DataPlace,
        /// What.
        limits: LimitsAsked,
    },
    /// Put a running process of this host (the load agent of an embedded engine) under the prepared limits.
    JoinLimits {
        /// Process id.
        pid: u32,
    },
    /// Start the server under the prepared limits (or none), and wait until it answers.
    StartInstance {
        /// Where.
        place: DataPlace,
    },
    /// Read back each limit and setting that should be in force, and the engine's own view.
    VerifyLimits,
    /// Use of the limited resources up to now: peak memory, memory.stat, events, pressure totals.
    ReadUsage,
    /// Read a file of ours in order and around the page cache, under the prepared limits, to see how fast the device is. The file is
    /// written before, without limits, and removed afterwards.
    MeasureReads {
        /// Where.
        place: DataPlace,
        /// Size of the file.
        size: Bytes,
        /// How long it is read.
        time: Duration,
    },
    /// What the server, or the process of an embedded engine, used up to now.
    ReadUsed {
        /// Where.
        place: DataPlace,
        /// Process of the embedded engine, if any.
        pid: Option<u32>,
    },
    /// Stop the server, cleanly, so that its files are a snapshot's source.
    StopInstance,
    /// Copy the stopped data to the snapshot folder.
    SaveSnapshot {
        /// Where.
        place: DataPlace,
    },
    /// Is there a complete snapshot whose label equals this one?
    FindSnapshot {
        /// Where.
        place: DataPlace,
        /// Label: names seed, scale, version; saved with the snapshot.
        label: String,
    },
    /// Label the snapshot as complete.
    LabelSnapshot {
        /// Where.
        place: DataPlace,
        /// Label.
        label: String,
    },
    /// Replace the data by the snapshot.
    RestoreSnapshot {
        /// Where.
        place: DataPlace,
    },
    /// Write back and drop the page cache of the data files.
    DropPageCache {
        /// Where.
        place: DataPlace,
    },
    /// Send telemetry once a second, on the second after `origin`.
    StartProbes {
        /// Time zero on this agent's clock.
        origin: Moment,
        /// Where (device, instance, engine statistics).
        place: DataPlace,
        /// Process of the embedded engine, if any.
        pid: Option<u32>,
        /// Exporters that observe the host in the place of this agent's own probes.
        scraped: Scraped,
    },
    /// Stop sending.
    StopProbes,
    /// Release limits.
    Release,
}

/// What a load agent runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadSpec {
    /// Kind of workload.
    pub workload: String,
    /// All resolved settings of the point (the workload reads `workload.*`).
    pub settings: Settings,
    /// Where the data is.
    pub place: DataPlace,
    /// Address of a started instance, such as `host=127.0.0.1 port=5433 user=proofload dbname=proofload`.
    pub address: Option<String>,
    /// Seed of the data (the study's).
    pub data_seed: u64,
    /// Seed of the inputs (of study and run).
    pub input_seed: u64,
    /// Date of every date column at load, from the study.
    pub load_time: WallTime,
    /// What of the load is this agent's.
    pub part: Part,
}

/// Requests to the load role.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum LoadRequest {
    /// Take the specification; answers with the process id. Touches nothing.
    Open {
        /// What will run.
        spec: Box<LoadSpec>,
    },
    /// Create and fill the schema, resuming from its manifest; then index and analyse. Sends progress.
    Build,
    /// Does the data fit the specification? An error says why not.
    CheckData,
    /// Connect the virtual users and prepare statements.
    Connect,
    /// Start the load. When `at` is past, an agent that is alone begins at once; one of several refuses, since it would begin after the
    /// others.
    Start {
        /// Time zero on this agent's clock.
        at: Moment,
    },
    /// The conductor's record holds all seconds before this one. Once it has come, an agent that hears no more of it ends its load.
    Acknowledge {
        /// Seconds of load.
        intervals: u64,
    },
    /// Open a session for probe queries in the place of an earlier one.
    OpenProbe,
    /// Run a probe query of the workload in that session.
    Probe {
        /// Its name.
        query: String,
    },
    /// Read the database's counters now.
    Mark,
    /// End the load: no new operation starts, operations in flight finish.
    Stop,
    /// After the load has stopped: a piece of what this agent's users leave for the checks, which the first agent does for all.
    GiveEvidence {
        /// Number of the piece, from 0.
        piece: u64,
    },
    /// A piece of what another agent's users have left; agents one after another.
    TakeEvidence {
        /// The piece.
        bytes: Vec<u8>,
        /// Does it end what that agent left?
        last: bool,
    },
    /// Check consistency, conservation, acknowledged operations and inputs.
    Verify {
        /// Exact totals of all agents by kind.
        totals: Vec<OperationCounts>,
    },
    /// Close connections.
    Close,
}

/// What a call brings back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Reply {
    /// Done; nothing to tell.
    Done,
    /// The clock.
    Pong {
        /// When the call arrived, on the agent's monotonic clock.
        received: Moment,
        /// When it is answered, on the same clock.
        moment: Moment,
        /// Process id.
        pid: u32,
    },
    /// Facts, requested and effective.
    Facts(Vec<Fact>),
    /// Where the instance answers, and its facts.
    Started {
        /// Connection string without secrets.
        address: String,
        /// Facts: settings asked and in force, version.
        facts: Vec<Fact>,
    },
    /// A yes or no.
    Found(bool),
    /// A copy was made.
    Copied {
        /// Bytes of the files.
        bytes: Bytes,
        /// `reflink` or `copy`.
        method: String,
        /// Time that it took.
        took: Duration,
    },
    /// Documents to keep, such as fio's JSON: name and body; and facts drawn from them.
    Documents {
        /// Name and body.
        documents: Vec<(String, String)>,
        /// Facts.
        facts: Vec<Fact>,
    },
    /// The device was read.
    ReadsMeasured {
        /// Rate.
        rate: BytesPerSecond,
        /// How, in words.
        how: String,
        /// fio's JSON: name and body.
        documents: Vec<(String, String)>,
    },
    /// What was used.
    Used(Used),
    /// A probe query was run, well or not.
    Probed(Probed),
    /// Data was built.
    Built {
        /// Facts: rows and content hash per table, time, size.
        facts: Vec<Fact>,
    },
    /// Users are connected.
    Connected {
        /// Facts: client threads, users, engine settings as sessions see them.
        facts: Vec<Fact>,
    },
    /// Load starts.
    Starting {
        /// Time zero on the load agent's clock.
        origin: Moment,
    },
    /// Counters.
    Marked(Mark),
    /// The load has ended.
    Stopped {
        /// Index after the last interval sent.
        intervals: u64,
        /// Exact totals of the clients per kind: name and counts as in the intervals, summed.
        totals: Vec<OperationCounts>,
    },
    /// A piece of what users left for the checks.
    Evidence {
        /// The piece.
        bytes: Vec<u8>,
        /// Is it the last?
        last: bool,
    },
    /// Verification.
    Checked(Vec<Check>),
}

/// What an agent tells unasked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Event {
    /// One second of load.
    Interval(Box<IntervalSample>),
    /// One reading of a probe.
    Telemetry(Telemetry),
    /// How far a long request has come.
    Progress {
        /// What, in words.
        what: String,
        /// Done.
        done: u64,
        /// Of how many; 0 when unknown.
        total: u64,
    },
    /// For the operator.
    Log {
        /// `info`, `warning`, `error`.
        level: String,
        /// The text.
        text: String,
    },
    /// A virtual user has ended a round, where its workload deals operations in rounds.
    RoundEnded(UserRound),
    /// A session had lost its connection: it is back, or will not be.
    SessionLost(LostSession),
    /// Something that the run leaves for the record besides its checks.
    Document {
        /// Name within the run, such as `deliveries-1.csv`.
        name: String,
        /// Its text.
        body: String,
    },
    /// Every virtual user has ended: all asked-for operations are done, or the load was stopped.
    LoadEnded {
        /// Seconds reported.
        intervals: u64,
        /// From time zero to the first user that had no operation left; none when the load was stopped before that.
        first_without_work: Option<Offset>,
        /// From time zero to the end of the last operation.
        ran: Offset,
    },
    /// The load ended by itself: a user failed for good, the server went away.
    LoadFailed {
        /// Why.
        error: Error,
    },
    /// Once a second while nothing else is said.
    Heartbeat,
}
