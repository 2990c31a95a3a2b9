//! Rights of the login at a server that Proofload did not start: which are lacking, what does not work without them, and how they are granted.

use super::engine::Target;
use super::error::{Error, ErrorClass};
use std::fmt;
use std::time::Duration;

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
    /// Sets the setting of the whole server that has this name below `engine.settings`.
    ServerSetting(&'static str),
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
            Self::ServerSetting(_) => "a setting of the server that the study asks for cannot be set",
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

/// Reason for which a host did not say what its login may do, by how far the question came.
#[derive(Debug, Clone)]
pub enum RightsFailure {
    /// Failure to connect: what answers there, if anything, takes no sessions now.
    Connect(Error),
    /// Failure for want of room: the server answers and has no session left for the login.
    Full(Error),
    /// Failure to log in: the server answers and refuses the login.
    Login(Error),
    /// Failure to enter the database: the server knows the login, which lacks the right to connect to it.
    Entry {
        /// What came back.
        error: Error,
        /// Statement of an administrator that gives the right.
        grant: String,
    },
    /// Failure of the question: the login is let in and gets no answer.
    Question(Error),
}

impl RightsFailure {
    /// Tells at what a connection failed that was to be opened: at the login where the server refused it for good, which it says with a
    /// code of its own; at the connection where it takes none now, or where nothing but this program refused anything.
    pub fn of_opening(error: Error) -> Self {
        match error.class() {
            ErrorClass::Other | ErrorClass::Data if !error.code().is_empty() => Self::Login(error),
            _ => Self::Connect(error),
        }
    }

    /// What failed, in words that the name of the host follows.
    pub fn what(&self) -> &'static str {
        match self {
            Self::Connect(_) => "cannot connect to",
            Self::Full(_) => "no session is left at",
            Self::Entry { .. } => "the login may not connect to",
            Self::Login(_) => "cannot log in to",
            Self::Question(_) => "logged in, but was not told of the login's rights by",
        }
    }

    /// The error itself.
    pub fn error(&self) -> &Error {
        match self {
            Self::Connect(error)
            | Self::Full(error)
            | Self::Login(error)
            | Self::Entry { error, .. }
            | Self::Question(error) => error,
        }
    }

    /// The statement that lets the login in, where that is all that it lacks.
    pub fn grant(&self) -> Option<&str> {
        match self {
            Self::Entry { grant, .. } => Some(grant),
            _ => None,
        }
    }

    /// Tells whether the server lets nobody in for want of room.
    pub fn is_full(&self) -> bool {
        matches!(self, Self::Full(_))
    }

    /// Tells whether the login was let in.
    pub fn is_logged_in(&self) -> bool {
        matches!(self, Self::Question(_))
    }
}

impl fmt::Display for RightsFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stage = match self {
            Self::Connect(_) | Self::Full(_) | Self::Entry { .. } => "connect",
            Self::Login(_) => "log in",
            Self::Question(_) => "read the rights of the login",
        };
        write!(f, "{stage}: {}", self.error())
    }
}

impl From<Error> for RightsFailure {
    /// An error of an opening, by its class and its code.
    fn from(error: Error) -> Self {
        Self::of_opening(error)
    }
}

/// Opens a connection and asks by it what its login may do, each within a time; an error tells at which of both.
pub(crate) async fn asked<C, T, E: Into<RightsFailure>>(
    patience: Duration,
    opening: impl Future<Output = Result<C, E>>,
    question: impl AsyncFnOnce(C) -> Result<T, Error>,
) -> Result<T, RightsFailure> {
    let late = || Error::other(format!("no answer within {patience:?}"));
    let Ok(opened) = tokio::time::timeout(patience, opening).await else {
        return Err(RightsFailure::Connect(late()));
    };
    let connection = opened.map_err(Into::<RightsFailure>::into)?;
    let answer = tokio::time::timeout(patience, question(connection)).await;
    answer.unwrap_or_else(|_| Err(late())).map_err(RightsFailure::Question)
}

/// Room for a login's sessions at a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionRoom {
    /// Most sessions that the login may have at once, those of others left aside.
    pub most: u32,
    /// Whether it is certain that no more are taken: a pooler in between may share the server's among more.
    pub is_certain: bool,
}

/// Rights of a login at a server that Proofload did not start.
pub trait ServerRights: Sync {
    /// The rights that the login of a target lacks of those that anything here needs, in the order in which they are needed. Asks one host, the
    /// one whose turn it is, and changes nothing. Blocking; may not be called on a runtime.
    ///
    /// # Errors
    /// How far the question came, and what came back.
    fn lacking(&self, target: &Target) -> Result<Vec<MissingRight>, RightsFailure>;

    /// The room for sessions of the login of a target; `None` where its server sets no bound or is not asked for one. Asks like `lacking`.
    ///
    /// # Errors
    /// How far the question came, and what came back.
    fn session_room(&self, _target: &Target) -> Result<Option<SessionRoom>, RightsFailure> {
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_tells_how_far_the_question_came() {
        let is_login =
            |class, code| matches!(RightsFailure::of_opening(Error::new(class, code, "no")), RightsFailure::Login(_));
        assert!(is_login(ErrorClass::Other, "1045") && is_login(ErrorClass::Data, "2"));
        for later in [ErrorClass::ConnectionLost, ErrorClass::OutOfSpace, ErrorClass::Retryable] {
            assert!(!is_login(later, "1040"), "{later:?}: it takes no sessions now");
        }
        assert!(!is_login(ErrorClass::Other, ""), "no server has said so");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let refused = async |_open: ()| Err::<(), _>(Error::other("may not ask"));
        let asked = runtime.block_on(asked(Duration::from_secs(60), async { Ok::<_, Error>(()) }, refused));
        let failure = asked.expect_err("it is refused");
        assert!(failure.is_logged_in(), "{failure:?}");
        assert_eq!(failure.to_string(), "read the rights of the login: may not ask");
    }

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
