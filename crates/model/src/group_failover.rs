//! Failover of a group of servers that Proofload did not start, by the servers' own command, and how a standby of it is filled. Pure. May
//! not know how an engine does it.

use crate::drill::{FaultInForce, FaultKind};
use crate::units::{Bytes, size_words};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Way in which a standby of a group takes over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailoverKind {
    /// Old and new primary agree, and nothing is lost: only while the standby is in sync.
    Planned,
    /// The standby takes over with what it has; what the primary alone has is lost.
    Forced,
}

impl FailoverKind {
    /// The one that a fault is; `None` for any other fault.
    #[must_use]
    pub fn of(kind: FaultKind) -> Option<Self> {
        match kind {
            FaultKind::Switchover => Some(Self::Planned),
            FaultKind::ForcedFailover => Some(Self::Forced),
            _ => None,
        }
    }
}

/// Standby that is to take over, as it was seen before the order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailoverChoice {
    /// Server that led; `None` where none said so.
    pub from: Option<String>,
    /// Server that takes over.
    pub to: String,
    /// Standbys of the group that answered.
    pub reached: u32,
    /// Hosts that were asked and are not the primary.
    pub of: u32,
    /// Whether the standby had, by its own word, all that the primary had acknowledged.
    pub holds_all: bool,
}

impl fmt::Display for FailoverChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let from = self.from.as_deref().unwrap_or("no primary");
        let state = if self.holds_all { "in sync" } else { "not in sync" };
        write!(f, "from {from} to {}, which was {state}", self.to)
    }
}

/// Failover that was found in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailoverReport {
    /// Choice of who took over from whom.
    pub choice: FailoverChoice,
    /// When.
    pub in_force: FaultInForce,
}

/// Filling of a standby that does not follow yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeedingReading {
    /// Server that is filled.
    pub name: String,
    /// Data that it was sent; 0 where the primary does not say it.
    pub sent: Bytes,
    /// Data of the whole database; 0 likewise.
    pub size: Bytes,
    /// Why the filling has ended without success; `None` while it goes on.
    pub failure: Option<String>,
}

impl fmt::Display for SeedingReading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.failure {
            Some(why) => write!(f, "seeding {} has failed: {why}", self.name),
            None if self.size.0 == 0 => write!(f, "seeding {}", self.name),
            None => {
                write!(f, "seeding {}: {} % of {}", self.name, percent(self.sent, self.size), size_words(self.size))
            }
        }
    }
}

fn percent(part: Bytes, whole: Bytes) -> u64 {
    part.0.saturating_mul(100) / whole.0.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_planned_change_and_a_forced_one_are_failovers_of_a_group() {
        let kinds = [FaultKind::Switchover, FaultKind::ForcedFailover, FaultKind::Crash];
        assert_eq!(kinds.map(FailoverKind::of), [Some(FailoverKind::Planned), Some(FailoverKind::Forced), None]);
    }

    #[test]
    fn what_a_standby_lacks_and_why_it_failed_is_said() {
        let seen = |sent, size, failure: Option<&str>| {
            let (sent, size) = (Bytes(sent), Bytes(size));
            SeedingReading { name: "DB2".to_owned(), sent, size, failure: failure.map(str::to_owned) }.to_string()
        };
        assert_eq!(seen(0, 0, None), "seeding DB2");
        assert_eq!(seen(1 << 20, 4 << 20, None), "seeding DB2: 25 % of 4 MiB");
        assert_eq!(seen(0, 0, Some("Seeding")), "seeding DB2 has failed: Seeding");
    }
}
