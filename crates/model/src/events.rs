//! What happens to a run and to its study, as values. The record keeps each under its name with a version; may not know how it is stored.

use crate::commit_levels::CommitCalibration;
use crate::drill::DrillReport;
use crate::duet_check::DuetCheck;
use crate::error::ErrorKind;
use crate::intervention::{Change, Experiment, InterventionVisit};
use crate::ledger::LedgerPage;
use crate::readiness::ReadinessFound;
use crate::replication::ReplicationMode;
use crate::samples::{Fact, LostSession, OperationCounts, UserRound};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of the values of [`RunEvent`]; a record of a later one is read with its events as [`RunEvent::Unknown`].
pub const VERSION: u32 = 1;

/// Something that happened to a run, or to the study as a whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", content = "detail", rename_all = "snake_case")]
pub enum RunEvent {
    /// The drive was brought into the state that the study asks for.
    Preconditioned,
    /// Data are being built, of this label.
    Building(String),
    /// Data were built and kept as a snapshot.
    Built(DataCopy),
    /// The snapshot was restored.
    Restored(DataCopy),
    /// What was found out for all runs of equal data and limits.
    Calibrated {
        /// What it holds for.
        key: String,
        /// What was found out.
        facts: Vec<Fact>,
    },
    /// A calibration failed, for this reason.
    CalibrationFailed(String),
    /// Limits, instance and sessions are ready.
    Prepared,
    /// How each of several load agents was started.
    LoadAgents(Vec<LoadAgentStart>),
    /// The page cache was emptied right before the load.
    ColdStart,
    /// Load began, from this seed; `None` where a record does not say.
    LoadStarted(Option<u64>),
    /// The warm-up ended in a steady state.
    Steady {
        /// How long it took, seconds; `None` where a record does not say.
        #[serde(default)]
        seconds: Option<u64>,
    },
    /// The warm-up ended without a steady state.
    NotSteady {
        /// How long it took, seconds; `None` where a record does not say.
        #[serde(default)]
        seconds: Option<u64>,
        /// What stands against it, in words.
        #[serde(default)]
        verdict: String,
    },
    /// The warm-up lasted as long as planned, whatever was seen in it.
    WarmedUp {
        /// How long it took, seconds.
        seconds: u64,
    },
    /// Caches and standbys were looked at when the warm-up ended.
    Readiness(Vec<ReadinessFound>),
    /// The load came to its own end before there was a window to measure.
    EndedEarly {
        /// How long it ran, seconds.
        seconds: u64,
    },
    /// The study is measured in turns with another one, or at once with it.
    InTurns {
        /// Name of the other study.
        with: String,
        /// Words that both records have in common, and no others.
        token: String,
        /// Whether both run at once, not one after the other.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        at_once: bool,
    },
    /// Paths of the limits that the machine did not allow and that the study is carried out without, as it says; empty where it allows all.
    LimitsLeftOut(Vec<String>),
    /// Duets whose true ratio is known were measured before this one.
    DuetChecked(Vec<DuetCheck>),
    /// The host was looked at before a run, and waited for if the study allows.
    QuietChecked {
        /// Share of the processor that others took in the last look; `None` where not observed.
        taken: Option<f64>,
        /// Share that the study tolerates.
        tolerated: f64,
        /// How long was looked and waited in all, seconds.
        seconds: f64,
        /// The largest processes of others by name with their CPU time, CPU s/s.
        processes: Vec<(String, f64)>,
    },
    /// The mode of replication was proved in force before the load.
    ReplicationProved(ReplicationProof),
    /// What a commit costs by what it waits for: measured once for equal deployments and links, and named in each run that it holds for.
    CommitsCalibrated(CommitCalibration),
    /// The data were read once before the load, under the limits.
    Prewarmed {
        /// Bytes of the files.
        bytes: u64,
        /// How long it took, seconds.
        seconds: f64,
    },
    /// The measured window.
    Window {
        /// Number of the first interval in it.
        from: u64,
        /// Number of the first interval after it.
        to: u64,
    },
    /// A fault was made while load went on, and this came of it.
    Drilled(Box<DrillReport>),
    /// What became of the prober's writes in a second of a drill: the part of its ledger that outlives it.
    LedgerPage(LedgerPage),
    /// An experiment with the point begins: the attempt is no result of it.
    ExperimentBegun(Experiment),
    /// A block of visits begins.
    BlockBegun {
        /// Its number, from 0 on over all attempts at the point.
        number: u32,
        /// What its visits change, in their order.
        order: Vec<Change>,
    },
    /// A visit of a block was made.
    Visited(InterventionVisit),
    /// An experiment has all the blocks that it takes.
    ExperimentEnded {
        /// Blocks of all attempts at the point.
        blocks: u32,
        /// Why there are no more, in words.
        why: String,
    },
    /// Every round of every user, in the order of their ends, of a run that is rated whole.
    Rounds(Vec<UserRound>),
    /// What is rated of a run that is rated whole.
    WholeRun {
        /// Rounds of each user before it.
        #[serde(default)]
        warm_up_rounds: u64,
        /// Its first second; `None` when a user had no work left before every user had ended these rounds.
        #[serde(default)]
        from: Option<u64>,
        /// When the first user had no work left, seconds from time zero.
        #[serde(default)]
        to: f64,
    },
    /// The load came to its own end.
    Completed {
        /// How long it ran, seconds.
        seconds: f64,
        /// Operations that ended, well or not.
        operations: u64,
        /// When the first user had no work left, seconds from time zero.
        #[serde(default)]
        first_user_ended: Option<f64>,
    },
    /// Sessions whose connection was lost while load ran.
    SessionsLost(Vec<LostSession>),
    /// Load was stopped.
    LoadStopped {
        /// Seconds of load.
        #[serde(default)]
        intervals: u64,
        /// The clients' own counts.
        totals: Vec<OperationCounts>,
    },
    /// How the clock of each of several load agents stood after the load.
    LoadAgentsStopped(Vec<LoadAgentStop>),
    /// An agent was lost, and with it the run.
    AgentLost {
        /// Its name.
        agent: String,
        /// Why.
        reason: String,
    },
    /// Instance and limits were released.
    Released,
    /// The run went through.
    Finished,
    /// Kind of the error that ends the run or the study: of the [`RunEvent::Failed`] that comes next.
    FailedAs(ErrorKind),
    /// The run or the study ended with this error.
    Failed(String),
    /// A search added to the plan.
    SearchStep {
        /// Levels of the factors, which tell searches apart.
        #[serde(default)]
        others: BTreeMap<String, String>,
        /// Number of the point in the plan.
        point: u64,
        /// The load that was chosen.
        #[serde(default)]
        load: String,
        /// Why.
        why: String,
    },
    /// A search ended.
    SearchEnded {
        /// Levels of the factors, which tell searches apart.
        others: BTreeMap<String, String>,
        /// Whether a load was found.
        found: bool,
        /// What was found, in words.
        text: String,
    },
    /// An event of a version that this one does not know.
    #[serde(skip)]
    Unknown {
        /// Its name.
        name: String,
        /// What the record says of it.
        detail: String,
    },
}

/// A copy of data: what was copied, and how.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DataCopy {
    /// Bytes.
    pub bytes: u64,
    /// How, such as `reflink`.
    pub method: String,
    /// How long it took, seconds; where instances of a host were restored together, that of all of them.
    pub seconds: f64,
}

/// Proof of a mode by withholding: what a commit did while standbys were held.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ReplicationProof {
    /// Mode.
    pub mode: ReplicationMode,
    /// Time from the start of the last instance until the mode was in force, seconds.
    pub in_force_after: f64,
    /// Whether a commit waited while standbys received nothing.
    pub waited_for_link: bool,
    /// Whether a commit waited while standbys applied nothing.
    pub waited_for_apply: bool,
    /// Whether the server listed each commit that waited as one that waits for a standby; `None` where none waited or the engine cannot
    /// tell.
    #[serde(default)]
    pub seen_waiting: Option<bool>,
    /// Whether as many standbys as must confirm were told from one more and one less, by holding some of several.
    #[serde(default)]
    pub count_proved: bool,
}

/// A load agent at the start of a load.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadAgentStart {
    /// Number of the agent, from 0.
    pub number: u32,
    /// Name of its host.
    pub name: String,
    /// Its share of the load, as a part of the sum of all shares.
    pub share: u32,
    /// Virtual users of its part.
    #[serde(default)]
    pub users: Option<u64>,
    /// Its process.
    #[serde(default)]
    pub pid: Option<u32>,
    /// How far the offset of its clock may be wrong, nanoseconds.
    #[serde(default)]
    pub clock_bound_ns: Option<u64>,
}

/// A load agent after the load.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadAgentStop {
    /// Number of the agent, from 0.
    pub number: u32,
    /// How far its clock had moved against the conductor's, nanoseconds.
    #[serde(default)]
    pub clock_moved_ns: Option<i64>,
    /// How far that may be wrong, nanoseconds.
    #[serde(default)]
    pub clock_bound_ns: Option<u64>,
}

impl RunEvent {
    /// The name in the record and in listings.
    pub fn name(&self) -> &str {
        match self {
            Self::Preconditioned => "preconditioned",
            Self::Building(_) => "building",
            Self::Built(_) => "built",
            Self::Restored(_) => "restored",
            Self::Calibrated { .. } => "calibrated",
            Self::CalibrationFailed(_) => "calibration_failed",
            Self::Prepared => "prepared",
            Self::LoadAgents(_) => "load_agents",
            Self::ColdStart => "cold_start",
            Self::LoadStarted(_) => "load_started",
            Self::Steady { .. } => "steady",
            Self::NotSteady { .. } => "not_steady",
            Self::WarmedUp { .. } => "warmed_up",
            Self::Readiness(_) => "readiness",
            Self::EndedEarly { .. } => "ended_early",
            Self::InTurns { .. } => "in_turns",
            Self::LimitsLeftOut(_) => "limits_left_out",
            Self::DuetChecked(_) => "duet_checked",
            Self::QuietChecked { .. } => "quiet_checked",
            Self::ReplicationProved(_) => "replication_proved",
            Self::CommitsCalibrated(_) => "commits_calibrated",
            Self::Prewarmed { .. } => "prewarmed",
            Self::Window { .. } => "window",
            Self::Drilled(_) => "drilled",
            Self::LedgerPage(_) => "ledger_page",
            Self::ExperimentBegun(_) => "experiment_begun",
            Self::BlockBegun { .. } => "block_begun",
            Self::Visited(_) => "visited",
            Self::ExperimentEnded { .. } => "experiment_ended",
            Self::Rounds(_) => "rounds",
            Self::WholeRun { .. } => "whole_run",
            Self::Completed { .. } => "completed",
            Self::SessionsLost(_) => "sessions_lost",
            Self::LoadStopped { .. } => "load_stopped",
            Self::LoadAgentsStopped(_) => "load_agents_stopped",
            Self::AgentLost { .. } => "agent_lost",
            Self::Released => "released",
            Self::Finished => "finished",
            Self::FailedAs(_) => "failed_as",
            Self::Failed(_) => "failed",
            Self::SearchStep { .. } => "search_step",
            Self::SearchEnded { .. } => "search_ended",
            Self::Unknown { name, .. } => name,
        }
    }
}
