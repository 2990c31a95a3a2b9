//! What an agent tells unasked.

use crate::deployment::InstanceName;
use crate::error::Error;
use crate::ledger::LedgerPage;
use crate::log_level::LogLevel;
use crate::samples::{IntervalSample, LostSession, Telemetry, UserRound};
use crate::step_count::StepCount;
use crate::time::Offset;
use serde::{Deserialize, Serialize};

/// What an agent tells unasked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Event {
    /// One second of load.
    Interval(Box<IntervalSample>),
    /// How far the users of one of several load agents are, before each second: told where what may be read depends on it.
    OperationsEnded {
        /// Every operation of this agent below this index has ended.
        below: u64,
    },
    /// One reading of a probe.
    Telemetry(Telemetry),
    /// How far a long request has come.
    Progress {
        /// What, in words.
        what: String,
        /// How much of it; `None` where nothing is counted.
        count: Option<StepCount>,
    },
    /// Line for the operator.
    Log {
        /// How much it matters.
        level: LogLevel,
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
    /// What became of the prober's writes since the last page.
    LedgerPage(LedgerPage),
    /// Every virtual user has ended: all asked-for operations are done, or the load was stopped.
    LoadEnded {
        /// Seconds reported.
        intervals: u64,
        /// Time from time zero to the first user that had no operation left; `None` when the load was stopped before
        /// that.
        first_without_work: Option<Offset>,
        /// Time from time zero to the end of the last operation.
        ran: Offset,
    },
    /// A server that we started has ended, and nobody asked it to.
    InstanceEnded {
        /// Which instance.
        instance: InstanceName,
        /// How it ended, with the end of its log.
        reason: String,
    },
    /// The load ended by itself: a user failed for good.
    LoadFailed {
        /// Why.
        error: Error,
    },
    /// Once a second while nothing else is said.
    Heartbeat,
}
