//! Replication of a deployment: what a commit waits for, on how many standbys, and how standbys stand. Pure. May not know how an
//! engine does it.

use crate::deployment::InstanceName;
use crate::error::Error;
use crate::settings::{Settings, setting};
use crate::standby_hosts::standby_hosts;
use crate::units::{Bytes, BytesPerSecond};
use crate::words::words;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

words! {
    /// What a commit waits for, in the order of what it promises.
    #[derive(PartialOrd, Ord)]
    ReplicationMode {
        /// No standby.
        None = "none",
        /// Its own log alone; standbys follow.
        Async = "async",
        /// A standby has written its log, not flushed it.
        RemoteWrite = "remote_write",
        /// A standby has flushed its log.
        RemoteFlush = "remote_flush",
        /// A standby has applied its log, so that its readers see it.
        RemoteApply = "remote_apply",
    }
}

impl ReplicationMode {
    /// Tells whether a commit waits for a standby.
    pub fn waits(self) -> bool {
        self >= Self::RemoteWrite
    }
}

impl fmt::Display for ReplicationMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Standbys that must confirm a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Confirmation {
    /// Any so many of them.
    Any(u32),
    /// The first so many in the order of their names.
    First(u32),
}

impl Confirmation {
    /// Words of `replication.confirm`.
    pub const WORDS: &[&str] = &["any 1", "any 2", "any 3", "first 1", "first 2", "first 3"];

    /// Every confirmation, in the order of its words.
    pub const ALL: &[Self] =
        &[Self::Any(1), Self::Any(2), Self::Any(3), Self::First(1), Self::First(2), Self::First(3)];

    /// The confirmation of such words.
    pub fn of(words: &str) -> Option<Self> {
        let (kind, count) = words.split_once(' ')?;
        let count = count.parse().ok()?;
        match kind {
            "any" => Some(Self::Any(count)),
            "first" => Some(Self::First(count)),
            _ => None,
        }
    }

    /// How many must confirm.
    pub fn count(self) -> u32 {
        match self {
            Self::Any(count) | Self::First(count) => count,
        }
    }
}

impl fmt::Display for Confirmation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any(count) => write!(f, "any {count}"),
            Self::First(count) => write!(f, "first {count}"),
        }
    }
}

/// Replication that a point asks for; its mode is never [`ReplicationMode::None`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplicationAsked {
    /// What a commit waits for.
    pub mode: ReplicationMode,
    /// Standbys in the order of their names.
    pub standbys: Vec<InstanceName>,
    /// How many of them must confirm.
    pub confirmation: Confirmation,
    /// Names by which the standbys present themselves to the primary, where these are not their own.
    #[serde(default)]
    pub presented_as: Vec<String>,
}

impl ReplicationAsked {
    /// Names by which the standbys present themselves to the primary, in their order.
    pub fn presented(&self) -> impl Iterator<Item = &str> {
        let one = |(place, name)| self.presented_as.get(place).map_or(InstanceName::as_str(name), String::as_str);
        self.standbys.iter().enumerate().map(one)
    }

    /// The standby that presents itself by a name.
    pub fn standby_of(&self, presented: &str) -> InstanceName {
        let place = self.presented().position(|name| name == presented);
        place.map_or_else(|| InstanceName::new(presented), |place| self.standbys[place].clone())
    }
}

/// Network that a study asks for between a primary and each of its standbys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkAsked {
    /// Time there and back that is added.
    pub rtt: Duration,
    /// Bytes per second in each direction; `None`: as many as go.
    pub bandwidth: Option<BytesPerSecond>,
}

/// The network of a point; `None` where standbys are connected directly.
pub fn link(settings: &Settings) -> Option<LinkAsked> {
    let rtt = settings.duration(setting::REPLICATION_RTT).ok();
    let bandwidth = settings.bytes(setting::REPLICATION_BANDWIDTH).ok().map(|bytes| BytesPerSecond(bytes.0));
    (rtt.is_some() || bandwidth.is_some()).then(|| LinkAsked { rtt: rtt.unwrap_or_default(), bandwidth })
}

/// The network between users and the database; `None` where they are connected directly.
pub fn clients_link(settings: &Settings) -> Option<LinkAsked> {
    let rtt = settings.duration("clients.rtt").ok();
    let bandwidth = settings.bytes("clients.bandwidth").ok().map(|bytes| BytesPerSecond(bytes.0));
    (rtt.is_some() || bandwidth.is_some()).then(|| LinkAsked { rtt: rtt.unwrap_or_default(), bandwidth })
}

/// What a link was found to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkMeasured {
    /// Time of each round trip, the shortest first.
    pub round_trips: Vec<Duration>,
    /// Bytes per second in one direction; `None` where no limit was asked for.
    pub bandwidth: Option<BytesPerSecond>,
}

/// Most standbys of a study.
pub const MOST_STANDBYS: u32 = 3;

/// The replication of a point; `None` for a single instance.
///
/// # Errors
/// A word that no study can hold.
pub fn replication(settings: &Settings) -> Result<Option<ReplicationAsked>, Error> {
    let word = settings.text(setting::REPLICATION_MODE).unwrap_or(ReplicationMode::None.word());
    let mode = ReplicationMode::of(word).ok_or_else(|| Error::new(format!("unknown replication.mode {word:?}")))?;
    if mode == ReplicationMode::None {
        return Ok(None);
    }
    let words = settings.text("replication.confirm").unwrap_or("any 1");
    let confirmation =
        Confirmation::of(words).ok_or_else(|| Error::new(format!("unknown replication.confirm {words:?}")))?;
    let count = settings.count("replication.standbys").unwrap_or(1);
    let standbys = (1..=count).map(InstanceName::standby).collect();
    Ok(Some(ReplicationAsked { mode, standbys, confirmation, presented_as: Vec::new() }))
}

impl ReplicationAsked {
    /// The same for a standby that was made the primary, with those that are left: as many confirm as are asked for, or as there are.
    pub fn with_standbys_left(&self, left: &[InstanceName]) -> Self {
        let standbys: Vec<InstanceName> = self.standbys.iter().filter(|name| left.contains(name)).cloned().collect();
        let most = u32::try_from(standbys.len()).unwrap_or(u32::MAX);
        let confirmation = match self.confirmation {
            Confirmation::Any(count) => Confirmation::Any(count.min(most)),
            Confirmation::First(count) => Confirmation::First(count.min(most)),
        };
        // By hand, where instances present themselves by their names.
        Self { mode: self.mode, standbys, confirmation, presented_as: Vec::new() }
    }

    /// Tells whether every acknowledged write is on one of the standbys that answer. Under `any n` of k each write is on some n of them, so
    /// that k − n + 1 must answer; under `first n` it is on those that come first.
    pub fn holds_all(&self, answering: &[InstanceName]) -> bool {
        let count = self.confirmation.count() as usize;
        self.mode.waits()
            && match self.confirmation {
                Confirmation::Any(_) => answering.len() + count > self.standbys.len(),
                Confirmation::First(_) => self.standbys.iter().take(count).any(|name| answering.contains(name)),
            }
    }
}

/// Number of instances of a point on one host, each of which has the limits of the study.
pub fn instances_together(settings: &Settings) -> u32 {
    if matches!(standby_hosts(settings), Ok(Some(hosts)) if !hosts.is_one_machine) {
        return 1;
    }
    1 + replication(settings).ok().flatten().map_or(0, |asked| asked.standbys.len() as u32)
}

/// Part of an instance in the replication of its deployment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReplicationPart {
    /// It has no standby and follows nobody.
    Alone,
    /// Standbys follow it.
    Primary(ReplicationAsked),
    /// It follows the instance at this address.
    Standby {
        /// Address of the instance that it follows.
        upstream: String,
    },
}

/// Part of what a standby does that can be held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum HeldPart {
    /// Taking what the primary sends.
    Link,
    /// Applying what it has taken.
    Apply,
}

/// How a primary sees its standbys at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplicationReading {
    /// Why the mode is not in force, for people; `None` while it is.
    pub out_of_force: Option<String>,
    /// Whether a commit may be acknowledged without the standbys that the mode asks for; never under a mode that waits for none.
    pub unprotected: bool,
    /// Standbys that are connected.
    pub standbys: Vec<StandbyReading>,
    /// End of the primary's own log: bytes since a fixed, unknown begin; `None` where the server does not say it in bytes.
    pub log_end: Option<Bytes>,
}

/// How a primary sees one standby.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StandbyReading {
    /// Standby.
    pub name: InstanceName,
    /// Bytes of log that the primary has flushed and not sent.
    pub unsent: Bytes,
    /// Bytes of log that the primary has flushed and the standby has not written.
    pub unwritten: Bytes,
    /// Bytes of log that the primary has flushed and the standby has not.
    pub unflushed: Bytes,
    /// Bytes of log that the primary has flushed and the standby has not applied.
    pub unapplied: Bytes,
    /// Time by which the standby trails in applying log, as the engine tells it; `None` where it does not.
    #[serde(default)]
    pub lag: Option<Duration>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Value;

    fn settings(given: &[(&str, Value)]) -> Settings {
        Settings(given.iter().map(|(path, value)| ((*path).to_owned(), value.clone())).collect())
    }

    #[test]
    fn words_and_modes_belong_to_each_other() {
        for word in ReplicationMode::WORDS {
            assert_eq!(ReplicationMode::of(word).map(ReplicationMode::word), Some(*word));
        }
        for (words, confirmation) in Confirmation::WORDS.iter().zip(Confirmation::ALL) {
            assert_eq!(Confirmation::of(words), Some(*confirmation));
            assert_eq!(confirmation.to_string(), *words);
        }
        assert_eq!(ReplicationMode::of("sync"), None);
        let waiting: Vec<_> = ReplicationMode::ALL.into_iter().filter(|mode| mode.waits()).collect();
        assert_eq!(waiting, ReplicationMode::ALL[2..]);
    }

    #[test]
    fn a_study_without_a_mode_has_a_single_instance() {
        assert_eq!(replication(&settings(&[])).unwrap(), None);
        assert_eq!(replication(&settings(&[("replication.mode", Value::Text("none".to_owned()))])).unwrap(), None);
        let given = [
            ("replication.mode", Value::Text("remote_apply".to_owned())),
            ("replication.standbys", Value::Integer(2)),
            ("replication.confirm", Value::Text("first 2".to_owned())),
        ];
        let found = replication(&settings(&given)).unwrap().unwrap();
        assert_eq!((found.mode, found.confirmation), (ReplicationMode::RemoteApply, Confirmation::First(2)));
        let names: Vec<&str> = found.standbys.iter().map(InstanceName::as_str).collect();
        assert_eq!(names, ["standby-1", "standby-2"]);
    }

    #[test]
    fn all_writes_are_on_enough_of_the_standbys_that_answer() {
        let standbys: Vec<InstanceName> = (1..=3).map(InstanceName::standby).collect();
        let check = |mode, confirmation, answering: &[u32], expected: bool| {
            let asked = ReplicationAsked { mode, standbys: standbys.clone(), confirmation, presented_as: Vec::new() };
            let answering: Vec<InstanceName> = answering.iter().map(|one| InstanceName::standby(*one)).collect();
            assert_eq!(asked.holds_all(&answering), expected, "{confirmation} of 3, {answering:?}");
        };
        let flush = ReplicationMode::RemoteFlush;
        check(flush, Confirmation::Any(1), &[1, 2], false);
        check(flush, Confirmation::Any(1), &[1, 2, 3], true);
        check(flush, Confirmation::Any(2), &[2, 3], true);
        check(flush, Confirmation::Any(2), &[3], false);
        check(flush, Confirmation::Any(3), &[3], true);
        check(flush, Confirmation::First(1), &[2, 3], false);
        check(flush, Confirmation::First(2), &[2], true);
        check(ReplicationMode::Async, Confirmation::Any(1), &[1, 2, 3], false);
    }

    #[test]
    fn after_a_promotion_the_others_confirm() {
        let standbys: Vec<InstanceName> = (1..=3).map(InstanceName::standby).collect();
        let asked = |count| ReplicationAsked {
            mode: ReplicationMode::RemoteFlush,
            standbys: standbys.clone(),
            confirmation: Confirmation::Any(count),
            presented_as: Vec::new(),
        };
        let left = asked(1).with_standbys_left(&[standbys[2].clone(), standbys[0].clone()]);
        assert_eq!(
            (left.standbys, left.confirmation),
            (vec![standbys[0].clone(), standbys[2].clone()], Confirmation::Any(1))
        );
        assert_eq!(asked(3).with_standbys_left(&standbys[1..]).confirmation, Confirmation::Any(2));
    }
}
