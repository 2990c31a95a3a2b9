//! Rights of the login at a server that Proofload did not start: which are lacking, what does not work without them, and how they are granted.

use super::engine::Target;
use super::error::Error;
use std::fmt;

/// Work of Proofload that needs a right at the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RightPurpose {
    /// Makes the study's database, which is not there.
    Database,
    /// Builds the first data: the server shows that there are none.
    FirstBuild,
    /// Builds the data.
    Build,
    /// Makes and calls procedures, makes indexes, alters tables.
    RoutinesAndIndexes,
    /// Checks the conditions of the data after a run.
    Checks,
    /// Brings the server to rest after a build.
    Settle,
    /// Reads counters.
    Counters,
    /// Reads what sessions wait for.
    Waits,
    /// Reads which thread of the server does what.
    Threads,
    /// Watches standbys.
    Standbys,
    /// Sets the study's settings for each session.
    Settings,
    /// Sets memory and cores of the server.
    Limits,
    /// Has the server back its data up and put them back.
    Backups,
    /// Ends sessions of others that come between the tries of a restore.
    Sessions,
    /// Ends transactions that a self-test has meet.
    Meetings,
}

impl RightPurpose {
    /// What does not work without the right.
    pub fn consequence(self) -> &'static str {
        match self {
            Self::Database => "the database cannot be made",
            Self::FirstBuild => "there are no data, and none can be built",
            Self::Build => "data cannot be built",
            Self::RoutinesAndIndexes => "procedures and indexes cannot be built",
            Self::Checks => "the conditions of the data cannot be checked",
            Self::Settle => "the server is not brought to rest after a build, whose work then goes on in the first run",
            Self::Counters => "counters of the server cannot be read",
            Self::Waits => "waits cannot be observed, or only those of the login's own sessions",
            Self::Threads => "roles of the server's threads cannot be told",
            Self::Standbys => "standbys cannot be watched",
            Self::Settings => "settings that the server keeps to administrators cannot be set for a session",
            Self::Limits => "memory and cores of the server cannot be set",
            Self::Backups => "the server cannot back its data up and put them back",
            Self::Sessions => "a client that connects during a restore cannot be disconnected, and the restore fails",
            Self::Meetings => "transactions that meet cannot be tested",
        }
    }

    /// Tells whether a study cannot be run at all without it, unless its data stand already.
    pub fn is_needed_to_build(self) -> bool {
        matches!(self, Self::Database | Self::FirstBuild | Self::Build)
    }

    /// Tells whether the server itself shows that there are no data yet.
    pub fn shows_no_data(self) -> bool {
        matches!(self, Self::Database | Self::FirstBuild)
    }
}

/// A right that the login lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingRight {
    /// The right, as the server calls it.
    pub right: String,
    /// What needs it; at least one.
    pub purposes: Vec<RightPurpose>,
    /// What gives it: a statement of an administrator, or else what to do.
    pub grant: String,
}

impl MissingRight {
    /// Everything that does not work without it, in words.
    pub fn consequences(&self) -> String {
        self.purposes.iter().map(|purpose| purpose.consequence()).collect::<Vec<_>>().join("; ")
    }

    /// Tells whether a study cannot be run at all without it, unless its data stand already.
    pub fn is_needed_to_build(&self) -> bool {
        self.purposes.iter().any(|purpose| purpose.is_needed_to_build())
    }
}

impl fmt::Display for MissingRight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the login lacks {}: {}; what helps: {}", self.right, self.consequences(), self.grant)
    }
}

/// Rights of a login at a server that Proofload did not start.
pub trait ServerRights: Sync {
    /// The rights that the login of a target lacks of those that anything here needs, in the order in which they are needed. Asks the server and
    /// changes nothing. Blocking; may not be called on a runtime.
    ///
    /// # Errors
    /// The server does not answer, or does not let the login in.
    fn lacking(&self, target: &Target) -> Result<Vec<MissingRight>, Error>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_right_says_what_does_not_work_and_what_grants_it() {
        let missing = MissingRight {
            right: "PROCESS".to_owned(),
            purposes: vec![RightPurpose::Standbys, RightPurpose::Counters],
            grant: "GRANT PROCESS ON *.* TO 'me'@'%'".to_owned(),
        };
        assert!(!missing.is_needed_to_build());
        assert!(RightPurpose::FirstBuild.shows_no_data() && !RightPurpose::Build.shows_no_data());
        assert_eq!(
            missing.to_string(),
            "the login lacks PROCESS: standbys cannot be watched; counters of the server cannot be read; what helps: \
             GRANT PROCESS ON *.* TO 'me'@'%'"
        );
    }
}
