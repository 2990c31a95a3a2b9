//! The engine's own settings as a session needs them. Everything else that a study sets is a server parameter.

use super::write_concern::{Acknowledgement, WriteConcern};
use crate::contract::Error;
use proofload_model::settings::{Kind, Scope, SettingSpec};
use proofload_model::units::{Bytes, parse_duration};
use std::time::Duration;

/// The settings below `engine.`.
pub(super) const SETTINGS: &[SettingSpec] = &[
    SettingSpec::new(
        "engine.path",
        Kind::OneOf(&["lean", "driver"]),
        "lean",
        "Client path: `lean` opens one connection per session to a single server, without TLS and authentication; \
         `driver` uses MongoDB's own Rust driver, for everything else.",
    )
    .only(Scope::Engine("mongodb")),
    SettingSpec::new(
        "engine.replica_set",
        Kind::Boolean,
        "false",
        "Local instance: run it as a replica set of one member, because transactions need a replica set. Server by \
         URL: require that it is a member of a replica set.",
    )
    .only(Scope::Engine("mongodb")),
    SettingSpec::new(
        "engine.write_concern",
        Kind::Free,
        "1",
        "Number of members that must have a write before it is acknowledged, from 1, or `majority`. 0 is refused: an \
         unacknowledged write has no response time.",
    )
    .only(Scope::Engine("mongodb")),
    SettingSpec::new(
        "engine.journal",
        Kind::Boolean,
        "false",
        "Acknowledge a write only when it is in the journal on the drive. Sent with each write as `j`.",
    )
    .only(Scope::Engine("mongodb")),
    SettingSpec::new(
        "engine.timeout",
        Kind::Duration { least_ms: 10, most_ms: 3_600_000 },
        "30s",
        "Longest wait for the answer to one operation; after that the connection counts as lost and the outcome as \
         unknown.",
    )
    .only(Scope::Engine("mongodb")),
    SettingSpec::optional(
        "engine.cache_size",
        Kind::Bytes { least: 256 << 20 },
        "Size of the WiredTiger cache of a local instance, at least 256MiB. By default it is derived from \
         `limits.memory`.",
    )
    .only(Scope::Engine("mongodb")),
];

/// How the client talks to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ClientPath {
    /// One connection, raw messages.
    Lean,
    /// The official driver.
    Driver,
}

impl ClientPath {
    /// The word of `engine.path`.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Lean => "lean",
            Self::Driver => "driver",
        }
    }
}

/// The settings of a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Options {
    /// Client path.
    pub(super) path: ClientPath,
    /// Whether it is a replica set.
    pub(super) replica_set: bool,
    /// What writes wait for.
    pub(super) write_concern: WriteConcern,
    /// Longest wait for an answer.
    pub(super) timeout: Duration,
    /// WiredTiger cache of a local instance.
    pub(super) cache_size: Option<Bytes>,
    /// Server parameters, later ones win.
    pub(super) parameters: Vec<(String, String)>,
}

impl Options {
    /// Reads settings by name, without `engine.`; later ones win.
    pub(super) fn read(settings: &[(String, String)]) -> Result<Self, Error> {
        let write_concern = WriteConcern { acknowledged: Acknowledgement::By(1), journal: false };
        let mut options = Self {
            path: ClientPath::Lean,
            replica_set: false,
            write_concern,
            timeout: Duration::from_secs(30),
            cache_size: None,
            parameters: Vec::new(),
        };
        for (name, value) in settings {
            options.set(name, value).map_err(|error| error.context(format!("failed to read engine setting {name}")))?;
        }
        Ok(options)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), Error> {
        let wrong = |error: proofload_model::error::Error| Error::other(error.to_string());
        match name {
            "path" => self.path = path(value)?,
            "replica_set" => self.replica_set = switch(value)?,
            "write_concern" => self.write_concern.acknowledged = Acknowledgement::parse(value)?,
            "journal" => self.write_concern.journal = switch(value)?,
            "timeout" => self.timeout = parse_duration(value).map_err(wrong)?,
            "cache_size" => self.cache_size = Some(Bytes::parse(value).map_err(wrong)?),
            _ => self.parameters.push((name.to_owned(), value.to_owned())),
        }
        Ok(())
    }
}

fn path(value: &str) -> Result<ClientPath, Error> {
    let known = [ClientPath::Lean, ClientPath::Driver];
    let found = known.into_iter().find(|path| path.word() == value);
    found.ok_or_else(|| Error::other(format!("{value:?} must be \"lean\" or \"driver\"")))
}

fn switch(value: &str) -> Result<bool, Error> {
    value.parse().map_err(|_| Error::other(format!("{value:?} must be true or false")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(settings: &[(&str, &str)]) -> Result<Options, Error> {
        let settings: Vec<_> = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Options::read(&settings)
    }

    #[test]
    fn defaults_are_those_of_the_table() {
        let defaults: Vec<_> =
            SETTINGS.iter().filter_map(|spec| Some((&spec.path["engine.".len()..], spec.default?))).collect();
        assert_eq!(check(&defaults).unwrap(), check(&[]).unwrap());
    }

    #[test]
    fn the_last_setting_wins_and_others_are_server_parameters() {
        let options =
            check(&[("cache_size", "1GiB"), ("cache_size", "256MiB"), ("journal", "true"), ("ttl", "5")]).unwrap();
        assert_eq!(options.cache_size, Some(Bytes::mebi(256)));
        assert!(options.write_concern.journal);
        assert_eq!(options.parameters, [("ttl".to_owned(), "5".to_owned())]);
        assert!(check(&[("write_concern", "0")]).is_err() && check(&[("path", "fast")]).is_err());
    }
}
