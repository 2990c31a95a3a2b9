//! Requests to the load role of an agent.

use super::ask::asks;
use super::{LoadSpec, ProbeResult};
use crate::drill::{ProberAsked, ProberReport};
use crate::error::Error;
use crate::intervention::LimitMeter;
use crate::prober::ProberPace;
use crate::samples::{Check, Fact, Mark, OperationCounts};
use crate::secret::Secret;
use crate::time::Moment;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What is in the database of a study, as its own manifest says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[must_use]
pub enum DataState {
    /// The data that the study needs.
    Fits,
    /// No data of ours: they may be built.
    Empty {
        /// What was not found.
        why: String,
    },
    /// A build of the right data that was broken off: it may go on.
    Unfinished {
        /// How that shows.
        why: String,
    },
    /// Other data of ours, or somebody's: nothing may be built.
    Differs {
        /// Each difference, and what to do.
        why: String,
    },
}

impl DataState {
    /// An error unless the data fit.
    ///
    /// # Errors
    /// Why they do not: of the kind *verification*.
    pub fn must_fit(self) -> Result<(), Error> {
        if self == Self::Fits { Ok(()) } else { Err(self.into_error()) }
    }

    /// The state as an error of the kind *verification*.
    pub fn into_error(self) -> Error {
        match self {
            Self::Fits => Error::verification("the data fit"),
            Self::Empty { why } | Self::Unfinished { why } | Self::Differs { why } => Error::verification(why),
        }
    }
}

/// The end of a load.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadTotals {
    /// Index after the last interval sent.
    pub intervals: u64,
    /// Exact totals of the clients per kind: name and counts as in the intervals, summed.
    pub totals: Vec<OperationCounts>,
}

/// A piece of what users left for the checks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// The piece.
    pub bytes: Vec<u8>,
    /// Whether it is the last.
    pub last: bool,
}

asks! {
    Load
    /// A server of the load role.
    trait LoadService;

    /// Come to started instances over the network by this password from the next opening on; without one, those of before are forgotten.
    authenticate: Authenticate {
        /// Password of all accounts of the deployment.
        password: Option<Secret>,
    } -> ();

    /// Take the specification; answers with the process id. Touches nothing.
    open: Open {
        /// What will run.
        spec: Box<LoadSpec>,
    } -> u32;

    /// Create and fill the schema, resuming from its manifest; then index and analyse. Sends progress; answers with rows and content hash
    /// per table, time, size.
    build: Build {} -> Vec<Fact>;

    /// Make what one agent has to make before several can load data; `false`: one has to build everything. Asked of the first agent.
    begin_build: BeginBuild {} -> bool;

    /// Load this agent's share of what is missing of the data. Sends progress. The first agent is asked to build afterwards.
    build_share: BuildShare {} -> ();

    /// Compare the data with the specification. An error: it could not be found out.
    check_data: CheckData {} -> DataState;

    /// Tells whether the server keeps the data of a label; keeps them as they are first where it is to. Sends progress.
    keep_data: KeepData {
        /// The data's label.
        label: String,
        /// Whether to keep them.
        anew: bool,
    } -> bool;

    /// Have the server put back the data of a label. Sends progress. No user may be connected.
    restore_data: RestoreData {
        /// The data's label.
        label: String,
    } -> ();

    /// Connect the virtual users and prepare statements; answers with client threads, users, engine settings as sessions see them.
    connect: Connect {} -> Vec<Fact>;

    /// Start the load; answers with time zero on the agent's clock. When `at` is past, an agent that is alone begins at once; one of
    /// several refuses, since it would begin after the others.
    start: Start {
        /// Time zero on this agent's clock.
        at: Moment,
    } -> Moment;

    /// The conductor's record holds all seconds before this one. Once it has come, an agent that hears no more of it ends its load.
    acknowledge: Acknowledge {
        /// Seconds of load.
        intervals: u64,
        /// Index below which the operations of all agents have ended, where agents tell it.
        ended_below: Option<u64>,
    } -> ();

    /// Open a session for probe queries in the place of an earlier one.
    open_probe: OpenProbe {} -> ();

    /// Run a probe query of the workload in that session, well or not.
    probe: Probe {
        /// Its name.
        query: String,
    } -> ProbeResult;

    /// Read the database's counters now.
    mark: ReadMark {} -> Mark;

    /// Let only the first so many users of the whole load begin operations; the others end theirs and wait. Answers whether this load has
    /// users that can be held.
    hold_users: HoldUsers {
        /// Users; `None`: all.
        active: Option<u32>,
    } -> bool;

    /// Set what can be changed of this load while it runs to these values, and all else of it to what was asked for; answers how it stands.
    change_load: ChangeLoad {
        /// Value by setting: a number of things, or times per second.
        values: BTreeMap<String, f64>,
    } -> Vec<LimitMeter>;

    /// Read how what can be changed of this load stands, and how many of its users began an operation since the last such request.
    read_load: ReadLoad {} -> Vec<LimitMeter>;

    /// End the load: no new operation starts, operations in flight finish.
    stop: Stop {} -> LoadTotals;

    /// Asks, after the load has stopped, for a piece of this agent's evidence for the checks, which the first agent
    /// does for all.
    give_evidence: GiveEvidence {
        /// Number of the piece, from 0.
        piece: u64,
    } -> Evidence;

    /// A piece of what another agent's users have left; agents one after another.
    take_evidence: TakeEvidence {
        /// The piece.
        piece: Evidence,
    } -> ();

    /// Connect a prober: its table is made, its connections are opened, and it begins at time zero. Users need not be connected.
    connect_prober: ConnectProber {
        /// What it does.
        asked: ProberAsked,
    } -> ();

    /// Set the pace of the prober. It is at its calm pace only once all of its operations have been acknowledged for a while.
    pace_prober: PaceProber {
        /// The pace.
        pace: ProberPace,
    } -> ();

    /// End the prober, and look for each of its writes in the database.
    end_prober: EndProber {} -> Box<ProberReport>;

    /// Check consistency, conservation, acknowledged operations and inputs.
    verify: Verify {
        /// Exact totals of all agents by kind.
        totals: Vec<OperationCounts>,
    } -> Vec<Check>;

    /// Close connections.
    close: Close {} -> ();
}
