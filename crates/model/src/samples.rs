//! What agents observe and the record keeps: facts, interval samples, histogram deltas, telemetry, checks.
//! Plain data; may not compute statistics.

use crate::deployment::InstanceName;
use crate::facts::FactValue;
use crate::time::{Moment, Offset};
use crate::words::words;
use serde::{Deserialize, Serialize};

/// A setting or property of the world: what was asked, what is in force, and who says so.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Fact {
    /// Instance that the fact is about; empty for a fact of the study, of a host or of the load.
    #[serde(default)]
    pub instance: InstanceName,
    /// What the fact is about: `host`, `limit`, `engine`, `storage`, `data`, `client`.
    pub subject: String,
    /// Dotted name, such as `memory.max` or `shared_buffers`.
    pub name: String,
    /// The value asked for; `None` for a plain observation.
    pub requested: Option<String>,
    /// What was read back, as people read it; `None` when it could not be read.
    pub effective: Option<String>,
    /// What was read back as a number, in the unit of facts of this name; `None` for text.
    #[serde(default)]
    pub number: Option<f64>,
    /// Where the effective value was read, or why it could not be.
    pub source: String,
    /// Whether `effective` fulfils `requested`; `None` for plain observations. `Some(false)` on a limit voids the
    /// point.
    pub holds: Option<bool>,
}

impl Eq for Fact {}

impl Fact {
    /// An observation under a name that is in no table, as records of other versions have them; else see [`crate::facts`].
    pub fn observed(subject: &str, name: &str, value: impl Into<FactValue>, source: &str) -> Self {
        let FactValue { text, number } = value.into();
        Self {
            subject: subject.to_owned(),
            name: name.to_owned(),
            effective: Some(text),
            number,
            source: source.to_owned(),
            ..Self::default()
        }
    }
}

/// Which stretch of an operation's time a histogram counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum LatencyClock {
    /// Time from the intended start.
    Response,
    /// Time from the actual start.
    Service,
    /// Time from the intended start to the actual one, with the user free: the delay that the load generator adds. One
    /// for all kinds together.
    SendLag,
}

impl LatencyClock {
    /// The word in the record and in names of metrics.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Response => "response",
            Self::Service => "service",
            Self::SendLag => "send_lag",
        }
    }

    /// The clock of a word in a record.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Response, Self::Service, Self::SendLag].into_iter().find(|clock| clock.word() == word)
    }
}

/// Word in the place of a kind of operation for all kinds together.
pub const ALL_KINDS: &str = "all";

/// The latencies of one kind of operation that ended in one interval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistogramDelta {
    /// Kind of operation, such as `new_order`; empty for send lag, which belongs to no kind.
    pub kind: String,
    /// Which clock.
    pub clock: LatencyClock,
    /// Number of values.
    pub count: u64,
    /// Sum of the values as recorded before bucketing, nanoseconds.
    pub sum_ns: u64,
    /// Largest value, nanoseconds.
    pub max_ns: u64,
    /// HdrHistogram V2 with deflate.
    pub payload: Vec<u8>,
}

/// How the operations of one kind fared in one interval.
/// Invariant: `due = done + rolled_back + failed + dropped + (in_flight - in_flight of the interval before)`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperationCounts {
    /// Kind of operation.
    pub kind: String,
    /// Began in the interval, or was given up in it. Of a load by a schedule, what is due and waits for a user has no kind yet: see
    /// [`OfferedLoad`].
    pub due: u64,
    /// Committed (or completed, for reads).
    pub done: u64,
    /// Rolled back by design, such as TPC-C's unused item.
    pub rolled_back: u64,
    /// Failed after all retries.
    pub failed: u64,
    /// Due, and given up in the interval because no user was free for too long: never started.
    pub dropped: u64,
    /// Started and not ended at the interval's end.
    pub in_flight: u64,
    /// Retries after deadlocks, serialization failures and busy answers.
    pub retries: u64,
}

impl OperationCounts {
    /// Operations that ended as they should, those rolled back by design included; 0 for a [deferred](is_deferred)
    /// kind.
    pub fn completed(&self) -> u64 {
        if is_deferred(&self.kind) { 0 } else { self.done + self.rolled_back }
    }
}

/// Adds counts kind by kind; kinds that are not there yet come at the end.
pub fn add_counts(into: &mut Vec<OperationCounts>, more: &[OperationCounts]) {
    for (place, counts) in more.iter().enumerate() {
        let same_place = into.get(place).is_some_and(|known| known.kind == counts.kind).then_some(place);
        let found = same_place.or_else(|| into.iter().position(|known| known.kind == counts.kind));
        let Some(sum) = found.and_then(|place| into.get_mut(place)) else {
            into.push(counts.clone());
            continue;
        };
        sum.due += counts.due;
        sum.done += counts.done;
        sum.rolled_back += counts.rolled_back;
        sum.failed += counts.failed;
        sum.dropped += counts.dropped;
        sum.in_flight += counts.in_flight;
        sum.retries += counts.retries;
    }
}

/// How the names of kinds begin that are done later on behalf of an operation that was answered, and counted, already.
pub const DEFERRED: &str = "deferred_";

/// Whether this kind is work that an operation left to be done later. It has counts and latencies of its own, and is no
/// throughput.
pub fn is_deferred(kind: &str) -> bool {
    kind.starts_with(DEFERRED)
}

/// Code of the errors of operations that their users gave up at `workload.deadline`, without an answer: their outcome is unknown.
pub const PAST_DEADLINE: &str = "deadline";

/// One class of errors met by virtual users in one interval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorCount {
    /// Kind of operation.
    pub kind: String,
    /// The engine's own code, such as `40001` or `SQLITE_BUSY`.
    pub code: String,
    /// The first text met.
    pub text: String,
    /// How often.
    pub count: u64,
}

/// What the load generator says of itself in one interval.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientSelf {
    /// CPU time of each client thread in the interval, nanoseconds.
    pub thread_cpu_ns: Vec<u64>,
    /// Resident memory of the agent at the interval's end, bytes.
    pub resident_bytes: u64,
    /// 99th percentile of send lag (actual start - intended start with the user free), nanoseconds; `None` when
    /// saturated, and when no user was free in time.
    pub send_lag_ns_p99: Option<u64>,
    /// Load offered by the schedule; `None` when operations are due as soon as their user is free, and in a second that
    /// the load did not last through.
    #[serde(default)]
    pub offered: Option<OfferedLoad>,
    /// Time of the interval in which the agent did not run at all, nanoseconds; 0 in records from before it was told.
    #[serde(default)]
    pub paused_ns: u64,
}

impl ClientSelf {
    /// Whether the interval tells nothing of the database, since the load generator stood still in it.
    pub fn has_paused(&self) -> bool {
        self.paused_ns > 0
    }
}

/// What a schedule offered in one interval.
/// Invariant: `due + waiting of the interval before = due of all kinds (begun or given up) + waiting`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfferedLoad {
    /// Operations that became due in the interval, whether or not they could begin.
    pub due: u64,
    /// Operations due and not begun at the interval's end: the backlog.
    pub waiting: u64,
}

/// One round of one virtual user: every operation that its workload deals it in a round, each once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserRound {
    /// Which user, from 0.
    pub user: u32,
    /// Which of its rounds, from 0.
    pub number: u64,
    /// When it began, from time zero.
    pub began: Offset,
    /// When its last operation ended, from time zero.
    pub ended: Offset,
    /// Operations that ended well.
    pub well: u64,
    /// Operations that failed.
    pub failed: u64,
}

/// A session of a virtual user whose connection was lost while load ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LostSession {
    /// Which session of the whole load, from 0.
    pub session: u32,
    /// When the operation failed that it was lost in, from time zero.
    pub lost: Offset,
    /// Time from time zero at which it was ready for operations again; `None` when it was not while the load ran.
    pub returned: Option<Offset>,
    /// Tries to connect.
    pub tries: u32,
}

/// One second of load.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntervalSample {
    /// Number of the interval: it covers `[index, index + 1)` seconds after time zero. No number is left out.
    pub index: u64,
    /// Counts by kind of operation.
    pub counts: Vec<OperationCounts>,
    /// Histograms by kind and clock; kinds without a value are left out.
    pub histograms: Vec<HistogramDelta>,
    /// Errors met.
    pub errors: Vec<ErrorCount>,
    /// The generator itself.
    pub client: ClientSelf,
    /// Counters of an embedded engine over the interval (already differences), such as `cache_miss`.
    pub engine: Vec<Reading>,
}

/// What one of several load agents did in one second: its part of an [`IntervalSample`] in which all are merged.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentSecond {
    /// Number of the agent, from 0.
    pub agent: u32,
    /// Number of the interval.
    pub number: u64,
    /// Operations that ended as they should, without those of a deferred kind.
    pub completed: u64,
    /// Failed operations.
    pub failed: u64,
    /// Dropped operations.
    pub dropped: u64,
    /// Response times of all kinds.
    pub count: u64,
    /// Their sum, nanoseconds.
    pub sum_ns: u64,
    /// The largest of them, nanoseconds.
    pub max_ns: u64,
    /// What the agent says of itself.
    pub client: ClientSelf,
}

/// The latencies of one of several load agents over the measured window, of all kinds that count as throughput.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentHistogram {
    /// Number of the agent, from 0.
    pub agent: u32,
    /// Its latencies; without a kind.
    pub delta: HistogramDelta,
}

/// A named number with its unit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// Name of the series, such as `cpu_busy`, `read_bytes`.
    pub name: String,
    /// What is observed: a core's number, a device, a thread, or empty.
    pub component: String,
    /// Unit as printed: `%`, `B/s`, `1/s`, `B`, `ms`.
    pub unit: String,
    /// The value; counters have been turned into rates by the probe.
    pub value: f64,
}

impl Eq for Reading {}

/// What one probe saw at one moment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Telemetry {
    /// Instance that is observed; empty for a host, and for what the load observes.
    pub instance: InstanceName,
    /// Name of the probe, such as `cores`, `device`, `pressure`.
    pub probe: String,
    /// When, on the observing machine's monotonic clock.
    pub moment: Moment,
    /// The time since the probe's previous reading, nanoseconds: rates are over this span.
    pub span_ns: u64,
    /// What it saw.
    pub readings: Vec<Reading>,
}

words! {
    /// Moment of a run at which the database's counters are read.
    MarkLabel {
        /// Reading before the load.
        Before = "before",
        /// Reading when the measured window begins.
        WindowStart = "window_start",
        /// Reading when the measured window ends.
        WindowEnd = "window_end",
        /// Reading after the load.
        After = "after",
    }
}

/// Counters read from the database, with the moment of the reading.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// When the reading was taken (middle of the statement), on the load agent's clock.
    pub moment: Moment,
    /// Offset from time zero.
    pub offset: Offset,
    /// Name and value, such as `new_orders` = sum of d_next_o_id.
    pub counters: Vec<(String, i64)>,
}

/// One thing that was verified after a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// Group: `consistency`, `conservation`, `acknowledged`, `inputs`, `agreement`.
    pub group: String,
    /// Name, such as `condition 3`.
    pub name: String,
    /// What must hold, in words.
    pub rule: String,
    /// What was found.
    pub found: String,
    /// Verdict.
    pub outcome: CheckOutcome,
    /// Offenders, at most ten, with keys and both sides.
    pub offenders: Vec<String>,
    /// What was compared, of an audit of drawn inputs; records of older versions have none.
    #[serde(default)]
    pub sample: Option<AuditedSample>,
    /// Acknowledged operations that it did not find in the database; `None` for a check that looks for none, and in older records.
    #[serde(default)]
    pub lost: Option<u64>,
}

/// What an audit of drawn inputs compared with its law.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AuditedSample {
    /// What the law and its limits are, such as `9.5 to 10.5`.
    pub limits: String,
    /// Size of the sample.
    pub n: u64,
    /// What was observed, with its unit.
    pub observed: String,
    /// Probability of a result as far from the law by chance; `None` where nothing can be said.
    pub p: Option<f64>,
}

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum CheckOutcome {
    /// It holds.
    Met,
    /// It does not hold: the point is void.
    Failed,
    /// Outside its limits, but the sample is too small to tell.
    TooSmall,
    /// Does not apply here.
    NotApplicable,
}
