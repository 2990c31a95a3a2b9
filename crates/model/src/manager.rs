//! Failover managers: programs of others that watch a primary and its standbys and make another instance the primary. Pure. May not know how
//! one is configured.

use crate::deployment::InstanceName;
use crate::error::Error;
use crate::settings::Settings;
use crate::wire::DataLocation;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// How the settings of a manager begin.
pub const MANAGER_SETTINGS: &str = "replication.manager_settings.";

/// A failover manager.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ManagerKind {
    /// Patroni with etcd.
    Patroni,
    /// pg_auto_failover with its monitor.
    PgAutoFailover,
}

impl ManagerKind {
    /// Words of `replication.manager`: the first stands for none.
    pub const WORDS: &[&str] = &["by-hand", "patroni", "pg_auto_failover"];

    /// Every manager.
    pub const ALL: [Self; 2] = [Self::Patroni, Self::PgAutoFailover];

    /// The word in a study.
    pub fn word(self) -> &'static str {
        Self::WORDS[1 + self as usize]
    }

    /// The manager of a word.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }

    /// The name for readers.
    pub fn title(self) -> &'static str {
        match self {
            Self::Patroni => "Patroni",
            Self::PgAutoFailover => "pg_auto_failover",
        }
    }
}

impl fmt::Display for ManagerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.title())
    }
}

/// A manager that a point asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManagerAsked {
    /// Which.
    pub kind: ManagerKind,
    /// Its settings under their own names; what is left out is as the manager has it.
    pub settings: BTreeMap<String, String>,
}

/// The manager of a point; `None` where whoever conducts the study promotes.
///
/// # Errors
/// A word that no study can hold.
pub fn manager(settings: &Settings) -> Result<Option<ManagerAsked>, Error> {
    let word = settings.text("replication.manager").unwrap_or(ManagerKind::WORDS[0]);
    if word == ManagerKind::WORDS[0] {
        return Ok(None);
    }
    let kind = ManagerKind::of(word).ok_or_else(|| Error::new(format!("unknown replication.manager {word:?}")))?;
    let own = |(path, value): (&String, &crate::settings::Value)| {
        Some((path.strip_prefix(MANAGER_SETTINGS)?.to_owned(), value.to_string()))
    };
    Ok(Some(ManagerAsked { kind, settings: settings.0.iter().filter_map(own).collect() }))
}

/// An instance that a manager runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManagedNode {
    /// Name of the instance.
    pub instance: InstanceName,
    /// Where.
    pub place: DataLocation,
}

/// The cluster as its manager tells it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClusterReading {
    /// Instance that leads and is meant to; `None` while none does.
    pub leader: Option<InstanceName>,
    /// First process of the leader's server, which tells a server from one that was started after it.
    pub server: Option<u32>,
    /// Whether the leader's server takes writes.
    pub takes_writes: bool,
    /// Whether every other instance follows the leader as the mode wants it.
    pub is_protected: bool,
}

impl ClusterReading {
    /// Tells whether another server leads than in an earlier reading: another instance, or the same one started again.
    pub fn is_after(&self, before: &Self) -> bool {
        self.leader != before.leader || self.server != before.server
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Value;

    #[test]
    fn words_and_managers_belong_to_each_other() {
        for kind in ManagerKind::ALL {
            assert_eq!(ManagerKind::of(kind.word()), Some(kind));
        }
        assert_eq!(ManagerKind::of("by-hand"), None);
    }

    #[test]
    fn a_study_without_a_word_has_no_manager_and_others_have_their_settings() {
        assert_eq!(manager(&Settings::default()).unwrap(), None);
        let given = [
            ("replication.manager", Value::Text("patroni".to_owned())),
            ("replication.manager_settings.ttl", Value::Integer(20)),
        ];
        let settings = Settings(given.into_iter().map(|(path, value)| (path.to_owned(), value)).collect());
        let asked = manager(&settings).unwrap().unwrap();
        assert_eq!(asked.kind, ManagerKind::Patroni);
        assert_eq!(asked.settings.get("ttl").map(String::as_str), Some("20"));
    }
}
