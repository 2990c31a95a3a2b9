//! Drills: a fault of an instance or of a link while load runs, and what a prober counted around it. Pure. May not know how a fault is made.

use crate::deployment::InstanceName;
use crate::error::Error;
use crate::fault_strength::FaultStrength;
use crate::ledger::{Leader, LedgerRange};
use crate::manager::ManagerKind;
use crate::prober::ProberPaces;
use crate::replication::replication;
use crate::settings::{Settings, setting};
use crate::time::{Moment, Offset};
use crate::units::Bytes;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// Way in which something fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// All processes of the instance end at once, as those of a lost host.
    Crash,
    /// The first process of the instance is killed; the others see it and end.
    Kill,
    /// The engine's own fast and clean stop: maintenance.
    Stop,
    /// No process of the instance runs, and all its connections stay open.
    Freeze,
    /// Nothing passes the link, and nothing is closed.
    Partition,
    /// Nothing passes the link to the standby, and what it says still arrives.
    PartitionToStandby,
    /// Nothing passes the link to the primary, and what it sends still arrives.
    PartitionToPrimary,
    /// The link closes all its connections and refuses new ones.
    Reset,
    /// Bytes take longer through the link.
    Latency,
    /// Fewer bytes pass the link in a second.
    Bandwidth,
    /// A standby receives log and applies none.
    ReplayPause,
    /// Fewer writes of the instance reach its devices in a second.
    SlowDisk,
    /// No write of the instance reaches its devices.
    DiskStall,
    /// No room is left on the volume of the instance.
    FullDisk,
    /// The manager, or the servers of a group, are told to make a standby the primary: a planned change.
    Switchover,
    /// The servers of a group are told to make a standby the primary with what it has.
    ForcedFailover,
}

impl FaultKind {
    /// Tells whether the server is gone once the fault is made, and must be started again.
    pub fn ends_the_server(self) -> bool {
        matches!(self, Self::Crash | Self::Kill | Self::Stop)
    }
}

/// Thing that fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultTarget {
    /// The instance that takes the writes.
    Primary,
    /// The first standby.
    Standby,
    /// The link to the first standby.
    Link,
    /// The way of users and prober to the instance that takes the writes.
    Clients,
    /// What decides for the manager who leads.
    Arbiter,
}

/// A fault: what fails and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultAsked {
    /// Way in which it fails.
    pub kind: FaultKind,
    /// What fails.
    pub target: FaultTarget,
}

/// The faults by the words of `drill.fault`, in the order of the reference.
const FAULTS: [(&str, Option<FaultAsked>); 23] = [
    ("none", None),
    ("crash primary", Some(FaultAsked { kind: FaultKind::Crash, target: FaultTarget::Primary })),
    ("kill primary", Some(FaultAsked { kind: FaultKind::Kill, target: FaultTarget::Primary })),
    ("stop primary", Some(FaultAsked { kind: FaultKind::Stop, target: FaultTarget::Primary })),
    ("freeze primary", Some(FaultAsked { kind: FaultKind::Freeze, target: FaultTarget::Primary })),
    ("crash standby-1", Some(FaultAsked { kind: FaultKind::Crash, target: FaultTarget::Standby })),
    ("stop standby-1", Some(FaultAsked { kind: FaultKind::Stop, target: FaultTarget::Standby })),
    ("freeze standby-1", Some(FaultAsked { kind: FaultKind::Freeze, target: FaultTarget::Standby })),
    ("partition link-1", Some(FaultAsked { kind: FaultKind::Partition, target: FaultTarget::Link })),
    (
        "partition link-1 to-standby",
        Some(FaultAsked { kind: FaultKind::PartitionToStandby, target: FaultTarget::Link }),
    ),
    (
        "partition link-1 to-primary",
        Some(FaultAsked { kind: FaultKind::PartitionToPrimary, target: FaultTarget::Link }),
    ),
    ("partition clients", Some(FaultAsked { kind: FaultKind::Partition, target: FaultTarget::Clients })),
    ("reset link-1", Some(FaultAsked { kind: FaultKind::Reset, target: FaultTarget::Link })),
    ("latency link-1", Some(FaultAsked { kind: FaultKind::Latency, target: FaultTarget::Link })),
    ("bandwidth link-1", Some(FaultAsked { kind: FaultKind::Bandwidth, target: FaultTarget::Link })),
    ("replay pause standby-1", Some(FaultAsked { kind: FaultKind::ReplayPause, target: FaultTarget::Standby })),
    ("slow disk primary", Some(FaultAsked { kind: FaultKind::SlowDisk, target: FaultTarget::Primary })),
    ("slow disk standby-1", Some(FaultAsked { kind: FaultKind::SlowDisk, target: FaultTarget::Standby })),
    ("disk stall primary", Some(FaultAsked { kind: FaultKind::DiskStall, target: FaultTarget::Primary })),
    ("full disk primary", Some(FaultAsked { kind: FaultKind::FullDisk, target: FaultTarget::Primary })),
    ("switchover", Some(FaultAsked { kind: FaultKind::Switchover, target: FaultTarget::Primary })),
    ("forced failover", Some(FaultAsked { kind: FaultKind::ForcedFailover, target: FaultTarget::Primary })),
    ("crash arbiter", Some(FaultAsked { kind: FaultKind::Crash, target: FaultTarget::Arbiter })),
];

/// Words of `drill.fault`.
pub const FAULT_WORDS: &[&str] = &{
    let mut words = [""; FAULTS.len()];
    let mut number = 0;
    while number < FAULTS.len() {
        words[number] = FAULTS[number].0;
        number += 1;
    }
    words
};

impl FaultAsked {
    /// The fault of such words; the inner `None` is a drill without a fault.
    pub fn of(words: &str) -> Option<Option<Self>> {
        FAULTS.iter().find(|(known, _)| *known == words).map(|(_, fault)| *fault)
    }

    /// Tells whether a failover manager must be there for it.
    pub fn needs_a_manager(self) -> bool {
        self.kind == FaultKind::Switchover || self.target == FaultTarget::Arbiter
    }

    /// Tells whether the database needs another primary.
    pub fn takes_the_primary(self) -> bool {
        self.target == FaultTarget::Clients
            || self.target == FaultTarget::Primary
                && (self.kind.ends_the_server() || self.kind == FaultKind::Freeze || self.is_a_failover())
    }

    /// Tells whether another instance is made the primary by an order, while nothing fails.
    pub fn is_a_failover(self) -> bool {
        matches!(self.kind, FaultKind::Switchover | FaultKind::ForcedFailover)
    }

    /// Instance that the fault is made at: of a link the standby behind it.
    pub fn instance(self) -> InstanceName {
        match self.target {
            FaultTarget::Primary | FaultTarget::Clients => InstanceName::primary(),
            FaultTarget::Standby | FaultTarget::Link => InstanceName::standby(1),
            FaultTarget::Arbiter => InstanceName::arbiter(),
        }
    }
}

impl fmt::Display for FaultAsked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = FAULTS.iter().find(|(_, fault)| *fault == Some(*self)).map_or("a fault", |(words, _)| *words);
        f.write_str(words)
    }
}

/// What brings the database back after a fault that takes the primary.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultRecovery {
    /// A standby becomes the primary.
    #[default]
    Promote,
    /// The failed primary itself goes on: started again after its end, or thawed.
    Restart,
}

impl FaultRecovery {
    /// Words of `drill.recovery`.
    pub const WORDS: &'static [&'static str] = &["promote", "restart"];

    /// The one that a study asks for: the usual one is a promotion where there is a standby.
    pub fn of(settings: &Settings) -> Self {
        match settings.text("drill.recovery") {
            Ok("restart") => Self::Restart,
            Ok(_) => Self::Promote,
            Err(_) if replication(settings).is_ok_and(|asked| asked.is_some()) => Self::Promote,
            Err(_) => Self::Restart,
        }
    }
}

/// What becomes of a primary that has failed and was replaced.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rejoin {
    /// The next run restores its data.
    #[default]
    Restore,
    /// The engine's own program puts it back to where both logs are one, and it follows the new primary; a failover manager does so itself once its
    /// program is started again.
    Rewind,
}

impl Rejoin {
    /// Words of `drill.rejoin`.
    pub const WORDS: &'static [&'static str] = &["restore", "rewind"];

    /// The one of a word; the default for any other.
    pub fn of(word: &str) -> Self {
        if word == "rewind" { Self::Rewind } else { Self::Restore }
    }
}

/// A drill that a point asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DrillAsked {
    /// The fault; `None`: the prober alone, to compare with.
    pub fault: Option<FaultAsked>,
    /// How strong the fault is.
    #[serde(default)]
    pub strength: FaultStrength,
    /// Longest of the waits before the fault, of which each drill draws its own.
    #[serde(default)]
    pub phase: Duration,
    /// What brings the database back after a fault that takes the primary.
    #[serde(default)]
    pub recovery: FaultRecovery,
    /// How long a fault lasts after which no standby is promoted.
    pub lasts: Duration,
    /// Time from the fault to the order to promote.
    pub promote_after: Duration,
    /// Longest time from the fault to the recovery.
    pub within: Duration,
    /// Whether the failed primary follows the promoted instance afterwards.
    #[serde(default)]
    pub rejoin: Rejoin,
    /// What the prober does.
    pub prober: ProberAsked,
}

impl DrillAsked {
    /// Tells whether another instance becomes the primary.
    #[must_use]
    pub fn replaces_the_primary(&self) -> bool {
        self.recovery == FaultRecovery::Promote && self.fault.is_some_and(FaultAsked::takes_the_primary)
    }

    /// Longest time that a drill takes from its fault on, with the return of the failed primary.
    #[must_use]
    pub fn longest(&self) -> Duration {
        self.lasts.max(self.promote_after) + 2 * self.within
    }
}

/// Operations of a prober.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProberAsked {
    /// Writes per second, and reads per second, at the full pace.
    pub rate: u32,
    /// Writes per second, and reads per second, that suffice where nothing is about to fail; no more than at the full pace.
    pub calm_rate: u32,
    /// Time after which an operation without an answer is given up, and its connection closed.
    pub deadline: Duration,
}

impl ProberAsked {
    /// Numbers from one operation at the calm pace to the next. A whole number, so that the calm pace is not slower than asked for.
    #[must_use]
    pub fn calm_step(self) -> u32 {
        (self.rate / self.calm_rate.max(1)).max(1)
    }
}

/// The drill of a point; `None` for a run without one.
///
/// # Errors
/// A word that no study can hold.
pub fn drill(settings: &Settings) -> Result<Option<DrillAsked>, Error> {
    let Ok(words) = settings.text(setting::DRILL_FAULT) else { return Ok(None) };
    let fault = FaultAsked::of(words).ok_or_else(|| Error::new(format!("unknown drill.fault {words:?}")))?;
    let time = |path: &str, default: u64| settings.duration(path).unwrap_or(Duration::from_secs(default));
    let per_second = |path: &str, default: f64| settings.number(path).unwrap_or(default).round().max(1.0) as u32;
    let rate = per_second("prober.rate", 200.0);
    let calm_rate = per_second("prober.calm_rate", 20.0).min(rate);
    let strength = fault.map_or(Ok(FaultStrength::Whole), |fault| FaultStrength::of(fault.kind, settings))?;
    Ok(Some(DrillAsked {
        fault,
        strength,
        phase: time("drill.phase", 0),
        recovery: FaultRecovery::of(settings),
        lasts: time("drill.lasts", 10),
        promote_after: time(setting::DRILL_PROMOTE_AFTER, 0),
        within: time("drill.within", 120),
        rejoin: Rejoin::of(settings.text("drill.rejoin").unwrap_or_default()),
        prober: ProberAsked { rate, calm_rate, deadline: time("prober.deadline", 1) },
    }))
}

/// A fault that was found in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultInForce {
    /// Moment before anything was done for it.
    pub begun: Moment,
    /// Last moment at which it was not in force yet.
    pub after: Moment,
    /// Moment at which it was first found so.
    pub at: Moment,
}

/// A fault that was found undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultUndone {
    /// Moment at which it was found so.
    pub at: Moment,
    /// Whether the server of the instance runs; else it must be started again.
    pub runs: bool,
}

/// Kind of a prober's operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProbeKind {
    /// A number inserted and committed.
    Write,
    /// A number read back that was acknowledged before.
    Read,
    /// A new connection.
    Connect,
}

/// A stretch in which operations of one kind were not acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Outage {
    /// When the first operation was due that was not acknowledged within the deadline, from time zero.
    pub from: Offset,
    /// When the first of enough operations in a row was acknowledged; `None` where that never came.
    pub to: Option<Offset>,
    /// Operations due in it that were not acknowledged.
    pub failed: u64,
}

/// Operations of a kind in a tenth of a second.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeTenth {
    /// Operations acknowledged within the deadline, by their due times.
    pub acknowledged: u32,
    /// Operations that failed for certain.
    pub failed: u32,
    /// Operations whose outcome is unknown.
    pub unknown: u32,
}

/// Operations of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProbeReport {
    /// Kind.
    pub kind: ProbeKind,
    /// Operations due.
    pub due: u64,
    /// Time by which they began after they were due, 99th percentile, milliseconds.
    pub lag_p99_ms: f64,
    /// Stretches without service, in order.
    pub outages: Vec<Outage>,
    /// Operations that failed alone, between others that were acknowledged.
    pub blips: u64,
    /// Tenths of seconds from time zero on.
    pub tenths: Vec<ProbeTenth>,
}

/// Writes of the prober, compared with what the database holds after the drill.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Ledger {
    /// Writes sent.
    pub sent: u64,
    /// Acknowledged and present.
    pub kept: u64,
    /// Acknowledged and absent.
    pub lost: u64,
    /// Acknowledged with a warning of the server, and absent.
    pub lost_as_warned: u64,
    /// Outcome unknown, and present.
    pub unknown_present: u64,
    /// Outcome unknown, and absent.
    pub unknown_absent: u64,
    /// Failed for certain, and present: a defect.
    pub phantoms: u64,
    /// Seen by a reader, not acknowledged, and absent.
    pub seen_and_lost: u64,
    /// Lost, though a write is present that was sent to the same life of the node after the acknowledgement: two primaries, or another node was
    /// read.
    pub holes: u64,
    /// Sent once, and present twice, or refused as there already: a defect.
    #[serde(default)]
    pub doubles: u64,
    /// Numbers lost, the first thousand.
    pub lost_numbers: Vec<u64>,
    /// When the first of the lost writes was acknowledged, from time zero.
    pub oldest_lost: Option<Offset>,
    /// Seconds in which two instances acknowledged writes by turns. An instance that leads again after a pause is another failover instead.
    pub two_primaries_seconds: f64,
    /// Seconds in which an instance said that it takes writes while another acknowledged writes before and after that.
    #[serde(default)]
    pub two_claimed_seconds: u64,
    /// Reads without a write that the same instance had acknowledged before they were sent.
    #[serde(default)]
    pub stale_reads: u64,
    /// Time between two writes at the full pace, nanoseconds: write n was due at n times as much. 0 in records from before ranges were kept.
    #[serde(default)]
    pub period_ns: u64,
    /// Paces of the prober; at the calm one numbers are passed over.
    #[serde(default)]
    pub paces: ProberPaces,
    /// Every write that is not plainly kept, in the order of the numbers.
    #[serde(default)]
    pub ranges: Vec<LedgerRange>,
    /// Instances that acknowledged writes, one after the other.
    #[serde(default)]
    pub leaders: Vec<Leader>,
    /// Number of the instance that was asked what is there.
    #[serde(default)]
    pub read_from: Option<u32>,
    /// Why the database could not be asked; nothing is known of losses then.
    #[serde(default)]
    pub unread: Option<String>,
}

/// Everything that a prober found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProberReport {
    /// Its kinds of operations.
    pub kinds: Vec<ProbeReport>,
    /// Its writes.
    pub ledger: Ledger,
}

/// Drill as it came out. Times are from time zero of the run, in seconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DrillReport {
    /// The fault; `None`: the prober alone.
    pub fault: Option<FaultAsked>,
    /// How strong it was.
    #[serde(default)]
    pub strength: FaultStrength,
    /// Time that was waited before it, drawn from the seed of the run, seconds.
    #[serde(default)]
    pub phase: f64,
    /// Time before anything was done for the fault; `None` in records from before that was told.
    #[serde(default)]
    pub fault_begun: Option<f64>,
    /// Last time at which the fault was not in force.
    pub fault_after: f64,
    /// When the fault was first found in force.
    pub fault_at: f64,
    /// When the order to promote was given.
    pub promote_asked_at: Option<f64>,
    /// When the standby was a primary.
    pub promoted_at: Option<f64>,
    /// Instance that was promoted.
    pub promoted: Option<InstanceName>,
    /// Manager that replaces a failed primary; `None`: whoever conducts the study.
    #[serde(default)]
    pub manager: Option<ManagerKind>,
    /// When the manager was first seen to have taken notice: it named no leader, or another server.
    #[serde(default)]
    pub detected_at: Option<f64>,
    /// When the failed primary was told to follow the promoted instance.
    #[serde(default)]
    pub rejoin_asked_at: Option<f64>,
    /// When it ran and followed.
    #[serde(default)]
    pub rejoined_at: Option<f64>,
    /// When the fault was undone.
    pub undone_at: Option<f64>,
    /// Throughput of the users in the measured window, 1/s.
    pub before: f64,
    /// First second of the first ten with the users' throughput back; `None` where that never came.
    pub recovered_at: Option<f64>,
    /// Work that the users missed from the fault to the recovery or the end, in seconds of the throughput before.
    pub work_missed: f64,
    /// When enough standbys of the primary were in sync again; `None` where that never came.
    #[serde(default)]
    pub protected_again_at: Option<f64>,
    /// Standbys that could be asked before one was promoted; `None` where nobody was.
    #[serde(default)]
    pub reach: Option<StandbyReach>,
    /// Fork of the log that the promotion made; `None` where the engine does not tell it, and in records from before it was read.
    #[serde(default)]
    pub fork: Option<LogFork>,
    /// What the prober found.
    pub prober: ProberReport,
}

/// Standbys that could be asked how much they have before one was promoted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StandbyReach {
    /// Standbys that answered.
    pub reached: u32,
    /// Standbys that there are.
    pub of: u32,
    /// Whether every acknowledged write is on one of those that answered, by what the mode and its confirmation say.
    pub holds_all: bool,
}

/// Place at which the log of a promoted instance left that of the primary before it. Places are bytes as the server counts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogFork {
    /// Number of the timeline of the primary before.
    pub timeline_before: u32,
    /// Number of the timeline of the promoted instance.
    pub timeline: u32,
    /// Place at which the new timeline began.
    pub at: Bytes,
    /// Last place of the old primary's log that could be read in its files; `None` where none could.
    #[serde(default)]
    pub old_end: Option<Bytes>,
}

impl LogFork {
    /// Log of the old primary that the new timeline does not have.
    #[must_use]
    pub fn lost(&self) -> Option<Bytes> {
        self.old_end.map(|end| Bytes(end.0.saturating_sub(self.at.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Value;

    #[test]
    fn words_and_faults_belong_to_each_other() {
        for words in FAULT_WORDS {
            let fault = FaultAsked::of(words).expect("a known word");
            assert_eq!(fault.map_or("none".to_owned(), |fault| fault.to_string()), *words);
            let promotes = ["crash", "kill", "stop", "freeze"].map(|kind| format!("{kind} primary"));
            assert_eq!(
                fault.is_some_and(FaultAsked::takes_the_primary),
                promotes.contains(&(*words).to_owned())
                    || ["switchover", "forced failover", "partition clients"].contains(words)
            );
        }
        assert_eq!(FaultAsked::of("crash everything"), None);
    }

    #[test]
    fn what_lies_beyond_a_fork_is_lost_and_nothing_is_told_without_an_end() {
        let fork = LogFork { timeline_before: 1, timeline: 2, at: Bytes(5_000), old_end: None };
        let lost = [None, Some(Bytes(6_680)), Some(Bytes(4_000))].map(|old_end| LogFork { old_end, ..fork }.lost());
        assert_eq!(lost, [None, Some(Bytes(1_680)), Some(Bytes(0))]);
    }

    #[test]
    fn a_study_without_a_fault_has_no_drill() {
        assert_eq!(drill(&Settings::default()).unwrap(), None);
        let given = [("drill.fault".to_owned(), Value::Text("freeze primary".to_owned()))];
        let asked = drill(&Settings(given.into_iter().collect())).unwrap().unwrap();
        assert_eq!((asked.fault.unwrap().kind, asked.prober.rate), (FaultKind::Freeze, 200));
        assert_eq!((asked.prober.calm_rate, asked.prober.calm_step()), (20, 10));
    }
}
