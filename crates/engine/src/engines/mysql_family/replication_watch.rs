//! Looks at a primary's replication: whether commits wait as the mode says, and how far its standbys are. The primary knows of its standbys
//! only who is connected and how many commits they have confirmed; how far each is, it is asked itself. Source: MariaDB knowledge base,
//! "Semisynchronous Replication", "`SHOW REPLICA HOSTS`"; MySQL 9.7 reference manual, "Semisynchronous Replication Monitoring".

use super::address::ServerAddress;
use super::database::text;
use super::flavour::filled;
use super::log_position::{StandbyStatus, place, standby_status};
use super::replication::NEVER_ALONE;
use super::replication_words::ReplicationWords;
use super::session::connect;
use super::sessions::state;
use super::version::ServerUse;
use super::wire::ServerConnection;
use crate::contract::{Error, ReplicationWatch, Target};
use crate::engines::blocking::{KeptLink, PATIENCE};
use proofload_model::deployment::InstanceName;
use proofload_model::replication::{ReplicationAsked, ReplicationMode, ReplicationReading, StandbyReading};
use proofload_model::session_state::SessionState;
use proofload_model::units::Bytes;
use std::time::Duration;
use tokio::task::{JoinHandle, JoinSet};

/// What a standby is asked beside its status: whether it flushes what it confirms.
const FLUSHES: &str = "SELECT @@global.sync_relay_log";

/// A standby that does not answer in this time is left out of a reading: it may be frozen, and the next one comes in a second.
const STANDBY_PATIENCE: Duration = Duration::from_millis(500);

/// A table of our own for commits that change none of the study's. Made while nothing is withheld.
const TABLE: &str = "CREATE DATABASE IF NOT EXISTS proofload_watch; \
     CREATE TABLE IF NOT EXISTS proofload_watch.proofs (id int PRIMARY KEY, at datetime(6) NOT NULL) ENGINE = InnoDB";
const COMMIT: &str = "REPLACE INTO proofload_watch.proofs VALUES (1, now(6))";

/// Owner of a primary's settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SettingsOwner {
    /// Proofload: commits never go on without a standby, and standbys have names of ours.
    Proofload,
    /// The operator of an existing server: how long commits wait is its own affair, and a commit that nobody confirmed is told when it comes.
    Operator,
}

/// The watch. Connects at the first reading, and again at the next one after a connection was lost.
pub(super) struct PrimaryWatch {
    asked: ReplicationAsked,
    owner: SettingsOwner,
    primary: ServerAddress,
    /// Declared before the runtime of the link, on which their sockets are registered.
    standbys: Vec<WatchedStandby>,
    commit: Option<JoinHandle<Result<(), Error>>>,
    /// Number of the connection of the last commit.
    connection: Option<u64>,
    /// Whether the table for commits is there.
    has_table: bool,
    /// Commits that had returned without a confirmation at the reading before.
    unconfirmed: Option<u64>,
    link: KeptLink<ServerConnection>,
}

/// A standby that can be asked.
struct WatchedStandby {
    name: InstanceName,
    address: ServerAddress,
    link: Option<ServerConnection>,
}

/// How a standby answered: how far it is, and its `sync_relay_log`.
type Answered = (InstanceName, StandbyStatus, String);

impl PrimaryWatch {
    pub(super) fn new(
        primary: &Target,
        standbys: &[(InstanceName, Target)],
        asked: &ReplicationAsked,
        owner: SettingsOwner,
    ) -> Result<Self, Error> {
        let watched = |(name, target): &(InstanceName, Target)| {
            Ok(WatchedStandby { name: name.clone(), address: patient(target, STANDBY_PATIENCE)?, link: None })
        };
        Ok(Self {
            asked: asked.clone(),
            owner,
            primary: patient(primary, PATIENCE)?,
            standbys: standbys.iter().map(watched).collect::<Result<_, Error>>()?,
            commit: None,
            connection: None,
            has_table: false,
            unconfirmed: None,
            link: KeptLink::new()?,
        })
    }
}

fn patient(target: &Target, patience: Duration) -> Result<ServerAddress, Error> {
    let mut address = ServerAddress::of(target)?;
    address.options.patience = Some(patience);
    address.must_take_writes = false;
    Ok(address)
}

impl ReplicationWatch for PrimaryWatch {
    fn read(&mut self) -> Result<ReplicationReading, Error> {
        let Self { asked, owner, primary, link, standbys, unconfirmed, .. } = self;
        let before = *unconfirmed;
        let open = async || connect(primary, None).await;
        let look = link
            .ask(PATIENCE, open, async |link: &mut ServerConnection| PrimaryLook::of(link, before).await)
            .map_err(|error| error.context("failed to read the primary's replication status"))?;
        *unconfirmed = Some(look.unconfirmed_in_all);
        let answered = link.runtime().block_on(ask_standbys(standbys));
        let words = &primary.flavour.replication;
        let differs = look.settings_differ(words, asked, *owner);
        Ok(ReplicationReading {
            unprotected: asked.mode.waits() && differs.is_some(),
            out_of_force: differs
                .or_else(|| look.absent(asked, *owner))
                .or_else(|| standbys_differ(asked.mode, &answered)),
            log_end: Some(look.log_end),
            standbys: answered.into_iter().map(|(name, status, _)| reading(name, &status, look.log_end)).collect(),
        })
    }

    fn begin_commit(&mut self, within: Duration) -> Result<bool, Error> {
        let (address, has_table) = (self.primary.clone(), std::mem::replace(&mut self.has_table, true));
        let opened = self.link.runtime().block_on(async {
            let mut connection = connect(&address, None).await?;
            let number = connection.rows("SELECT connection_id()").await?.into_iter().flatten().next().flatten();
            Ok::<_, Error>((connection, number.and_then(|number| number.parse::<u64>().ok())))
        });
        let (mut connection, number) =
            opened.map_err(|error| error.context("failed to connect for a test transaction"))?;
        self.connection = number;
        let commit = async move {
            if !has_table {
                connection.text(TABLE, |_| {}).await?;
            }
            connection.text(COMMIT, |_| {}).await
        };
        self.commit = Some(self.link.runtime().spawn(commit));
        self.end_commit(within)
    }

    fn sees_commit_wait(&mut self) -> Result<Option<bool>, Error> {
        let Some(number) = self.connection.filter(|_| self.commit.is_some()) else { return Ok(None) };
        let primary = &self.primary;
        let look = format!("SELECT command, state FROM information_schema.processlist WHERE id = {number}");
        let open = async || connect(primary, None).await;
        let outcome = self.link.ask(PATIENCE, open, async |link: &mut ServerConnection| link.rows(&look).await);
        let rows = outcome.map_err(|error| error.context("failed to read what the test transaction waits for"))?;
        let text = |row: &[Option<String>], place: usize| row.get(place).cloned().flatten().unwrap_or_default();
        let waits = |row: &Vec<Option<String>>| state(&text(row, 0), &text(row, 1), false) == SessionState::Standby;
        Ok(Some(rows.iter().any(waits)))
    }

    fn end_commit(&mut self, within: Duration) -> Result<bool, Error> {
        let Some(commit) = &mut self.commit else { return Ok(true) };
        let ended = self.link.runtime().block_on(async { tokio::time::timeout(within, commit).await });
        let Ok(ended) = ended else { return Ok(false) };
        self.commit = None;
        let broke_off = |error| Err(Error::other(format!("the commit failed: {error}")));
        let ended = ended.unwrap_or_else(broke_off);
        ended.map(|()| true).map_err(|error| error.context("failed to commit a test transaction"))
    }
}

/// What a primary said at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
struct PrimaryLook {
    /// Whether commits wait; `None` where the server knows no such setting.
    waits: Option<bool>,
    timeout_ms: u64,
    waits_unconnected: bool,
    /// How many standbys commits wait for.
    count: u64,
    is_active: bool,
    confirming: u64,
    /// Commits that have returned without a confirmation since the start of the server, and since the reading before.
    unconfirmed_in_all: u64,
    unconfirmed: u64,
    connected: Vec<String>,
    log_end: Bytes,
}

impl PrimaryLook {
    async fn of(connection: &mut ServerConnection, before: Option<u64>) -> Result<Self, Error> {
        let (flavour, version) = (connection.flavour(), connection.version());
        flavour.check_use(ServerUse::Standbys, version)?;
        let words = &flavour.replication;
        let found = connection.rows(&read(words)).await?;
        let value = |name: &str| {
            let row = found.iter().find(|row| matches!(row.first(), Some(Some(found)) if found == name))?;
            row.get(1)?.as_deref()
        };
        let number = |name: &str| value(name).and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
        let is_on = |name: &str| value(name).is_some_and(|text| text.eq_ignore_ascii_case("on"));
        let end = connection.rows(words.log_end.of(version)).await?;
        let log_end = match end.first().map(Vec::as_slice) {
            Some([Some(file), Some(at), ..]) => place(file, at),
            _ => return Err(Error::other("the server writes no binary log, so that nobody can follow it")),
        };
        let connected = connection.rows(words.connected).await?;
        let unconfirmed_in_all = number(words.unconfirmed);
        Ok(Self {
            waits: value(words.waits).map(|_| is_on(words.waits)),
            timeout_ms: number(words.timeout),
            waits_unconnected: is_on(words.waits_unconnected),
            count: words.count.map_or(1, number),
            is_active: is_on(words.is_active),
            confirming: number(words.confirming),
            unconfirmed_in_all,
            unconfirmed: before.map_or(0, |before| unconfirmed_in_all.saturating_sub(before)),
            connected: connected
                .into_iter()
                .filter_map(|mut row| (row.len() > 1).then(|| row.swap_remove(1)).flatten())
                .collect(),
            log_end,
        })
    }

    /// Why commits may not wait as the mode says. A standby that is away is no reason: commits wait for it.
    fn settings_differ(
        &self,
        words: &ReplicationWords,
        asked: &ReplicationAsked,
        owner: SettingsOwner,
    ) -> Option<String> {
        let (mode, waits) = (asked.mode, words.waits);
        if !mode.waits() {
            return (self.waits == Some(true)).then(|| format!("{waits} is ON, but {mode} needs OFF"));
        }
        match self.waits {
            Some(true) if self.unconfirmed > 0 => Some(format!(
                "{} commits returned without a standby's confirmation since the reading before ({})",
                self.unconfirmed, words.unconfirmed
            )),
            Some(true) if !self.is_active => Some(format!(
                "semi-synchronous replication has fallen back to asynchronous ({} is OFF)",
                words.is_active
            )),
            Some(true) if owner == SettingsOwner::Proofload => self.ours_differ(words, asked),
            Some(true) => None,
            Some(false) => Some(format!("{waits} is OFF, but {mode} needs ON")),
            None => Some(format!("the server has no {waits}, but {mode} needs it ON")),
        }
    }

    /// Why commits of a server that is ours may not wait, or not for so many standbys.
    fn ours_differ(&self, words: &ReplicationWords, asked: &ReplicationAsked) -> Option<String> {
        let shortest: u64 = NEVER_ALONE.parse().unwrap_or(u64::MAX);
        let wanted = u64::from(asked.confirmation.count());
        if self.timeout_ms < shortest {
            Some(format!("{} is {} ms, after which commits go on alone", words.timeout, self.timeout_ms))
        } else if !self.waits_unconnected {
            Some(format!("{} is OFF: commits go on while no standby is connected", words.waits_unconnected))
        } else if self.count != wanted {
            let name = words.count.unwrap_or(words.waits);
            Some(format!("{name} is {}, but {} needs {wanted}", self.count, asked.confirmation))
        } else {
            None
        }
    }

    /// Which standby is away, or how many are: those of others have names of theirs.
    fn absent(&self, asked: &ReplicationAsked, owner: SettingsOwner) -> Option<String> {
        let connected = |name: &&str| self.connected.iter().any(|found| found == name);
        let (there, all) = (self.connected.len(), asked.standbys.len());
        let absent = match owner {
            SettingsOwner::Proofload => {
                asked.presented().find(|name| !connected(name)).map(|name| format!("{name} is not connected"))
            }
            SettingsOwner::Operator => {
                (there < all).then(|| format!("{there} standbys are connected, but replication.standbys is {all}"))
            }
        };
        let wanted = u64::from(asked.confirmation.count());
        absent.or_else(|| {
            (asked.mode.waits() && self.confirming < wanted).then(|| {
                format!("commits wait for {} standbys, but {} were requested", self.confirming, asked.confirmation)
            })
        })
    }
}

/// The statement that reads what is in force for every commit, and what became of those before.
fn read(words: &ReplicationWords) -> String {
    let names =
        [words.waits, words.timeout, words.waits_unconnected, words.is_active, words.confirming, words.unconfirmed];
    let names: Vec<String> = names.into_iter().chain(words.count).map(text).collect();
    filled(words.read, &[("names", &names.join(", "))])
}

/// Why what standbys confirm or apply is not what the mode says.
fn standbys_differ(mode: ReplicationMode, answered: &[Answered]) -> Option<String> {
    answered.iter().find_map(|(name, status, flushes)| {
        if mode == ReplicationMode::RemoteFlush && flushes != "1" {
            return Some(format!("sync_relay_log of {name} is {flushes}, but {mode} needs 1"));
        }
        (!status.apply_error.is_empty()).then(|| format!("{name} applies no more: {}", status.apply_error))
    })
}

/// How far a standby is behind. It says what it has received, which it has written by then, and not what of it is flushed.
fn reading(name: InstanceName, status: &StandbyStatus, log_end: Bytes) -> StandbyReading {
    let behind = |place: Bytes| Bytes(log_end.0.saturating_sub(place.0));
    let unreceived = behind(status.received);
    StandbyReading {
        name,
        unsent: unreceived,
        unwritten: unreceived,
        unflushed: unreceived,
        unapplied: behind(status.applied),
        lag: status.lag,
    }
}

/// Asks all standbys at once; those that do not answer are left out, and connected to anew the next time.
async fn ask_standbys(standbys: &mut [WatchedStandby]) -> Vec<Answered> {
    let mut asked = JoinSet::new();
    for (number, standby) in standbys.iter_mut().enumerate() {
        let (link, address, name) = (standby.link.take(), standby.address.clone(), standby.name.clone());
        let answer = async move {
            let mut link = match link {
                Some(link) => link,
                None => connect(&address, None).await?,
            };
            let status = standby_status(&mut link).await?;
            let flushes = link.rows(FLUSHES).await?.into_iter().flatten().next().flatten();
            Ok::<_, Error>((link, status.map(|status| (name, status, flushes.unwrap_or_default()))))
        };
        asked.spawn(async move { (number, tokio::time::timeout(STANDBY_PATIENCE, answer).await) });
    }
    let mut answered = Vec::new();
    while let Some(done) = asked.join_next().await {
        if let Ok((number, Ok(Ok((link, answer))))) = done {
            standbys[number].link = Some(link);
            answered.extend(answer);
        }
    }
    answered.sort_by(|one, other| one.0.cmp(&other.0));
    answered
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines::{mariadb, mysql};
    use proofload_model::replication::Confirmation;

    fn good() -> PrimaryLook {
        PrimaryLook {
            waits: Some(true),
            timeout_ms: 1_000_000_000,
            waits_unconnected: true,
            count: 1,
            is_active: true,
            confirming: 1,
            unconfirmed_in_all: 0,
            unconfirmed: 0,
            connected: vec!["standby-1".to_owned()],
            log_end: Bytes(1000),
        }
    }

    /// Both reasons of a primary, those of its settings and of its standbys, whosever it is.
    #[track_caller]
    fn check(
        (mode, owner): (ReplicationMode, SettingsOwner),
        change: impl FnOnce(&mut PrimaryLook),
        expected: [Option<&str>; 2],
    ) {
        let standbys = vec![InstanceName::standby(1)];
        let asked = ReplicationAsked { mode, standbys, confirmation: Confirmation::Any(1), presented_as: Vec::new() };
        let mut look = good();
        change(&mut look);
        for words in [&mariadb::FLAVOUR.replication, &mysql::FLAVOUR.replication] {
            let found = [look.settings_differ(words, &asked, owner), look.absent(&asked, owner)];
            for (found, expected) in found.into_iter().zip(expected) {
                assert_eq!(found.is_some(), expected.is_some(), "{found:?}");
                assert!(found.as_deref().unwrap_or_default().contains(expected.unwrap_or_default()), "{found:?}");
            }
        }
    }

    #[test]
    fn every_way_out_of_force_is_named() {
        use ReplicationMode::{Async, RemoteFlush};
        let (flush, alone) = ((RemoteFlush, SettingsOwner::Proofload), (Async, SettingsOwner::Proofload));
        check(flush, |_| {}, [None, None]);
        check(flush, |look| look.waits = Some(false), [Some("enabled is OFF"), None]);
        check(flush, |look| look.waits = None, [Some("the server has no rpl_semi_sync"), None]);
        check(flush, |look| look.is_active = false, [Some("fallen back"), None]);
        check(flush, |look| look.unconfirmed = 3, [Some("3 commits returned without"), None]);
        check(flush, |look| look.timeout_ms = 10_000, [Some("timeout is 10000 ms"), None]);
        check(flush, |look| look.waits_unconnected = false, [Some("is OFF: commits go on"), None]);
        check(flush, |look| look.count = 2, [Some("is 2, but any 1 needs 1"), None]);
        check(flush, |look| look.connected.clear(), [None, Some("standby-1 is not connected")]);
        check(flush, |look| look.confirming = 0, [None, Some("commits wait for 0 standbys")]);
        check(alone, |look| (look.waits, look.confirming, look.is_active) = (Some(false), 0, false), [None, None]);
        check(alone, |look| (look.waits, look.confirming, look.is_active) = (None, 0, false), [None, None]);
        check(alone, |_| {}, [Some("async needs OFF"), None]);
    }

    #[test]
    fn a_server_of_others_has_a_timeout_and_names_of_its_own() {
        use ReplicationMode::{Async, RemoteWrite};
        let (write, alone) = ((RemoteWrite, SettingsOwner::Operator), (Async, SettingsOwner::Operator));
        let own = |look: &mut PrimaryLook| {
            (look.timeout_ms, look.waits_unconnected, look.count) = (10_000, false, 2);
            look.connected = vec![String::new()];
        };
        check(write, own, [None, None]);
        check(write, |look| look.waits = Some(false), [Some("enabled is OFF"), None]);
        check(write, |look| look.unconfirmed = 3, [Some("3 commits returned without"), None]);
        check(write, |look| look.is_active = false, [Some("fallen back"), None]);
        check(write, |look| look.connected.clear(), [None, Some("0 standbys are connected")]);
        check(write, |look| look.confirming = 0, [None, Some("commits wait for 0 standbys")]);
        check(alone, |look| (look.waits, look.confirming) = (Some(false), 0), [None, None]);
        check(alone, |_| {}, [Some("async needs OFF"), None]);
    }

    #[test]
    fn all_names_are_asked_for_in_one_statement() {
        let text = read(&mysql::FLAVOUR.replication);
        assert_eq!(text.matches("'rpl_semi_sync_source_wait_for_replica_count'").count(), 2, "{text}");
        assert!(!read(&mariadb::FLAVOUR.replication).contains("count"));
    }

    #[test]
    fn a_standby_that_does_not_flush_or_apply_is_told() {
        let status = |error: &str| StandbyStatus {
            received: Bytes(900),
            applied: Bytes(400),
            received_id: String::new(),
            applies: error.is_empty(),
            apply_error: error.to_owned(),
            lag: Some(Duration::from_secs(3)),
        };
        let told = |mode, error: &str, flushes: &str| {
            standbys_differ(mode, &[(InstanceName::standby(1), status(error), flushes.to_owned())])
        };
        assert_eq!(told(ReplicationMode::RemoteFlush, "", "1"), None);
        assert_eq!(told(ReplicationMode::RemoteWrite, "", "10000"), None);
        assert!(told(ReplicationMode::RemoteFlush, "", "10000").is_some_and(|why| why.contains("needs 1")));
        assert!(told(ReplicationMode::Async, "Duplicate", "1").is_some_and(|why| why.contains("applies no more")));
        let behind = reading(InstanceName::standby(1), &status(""), Bytes(1000));
        assert_eq!([behind.unsent, behind.unflushed, behind.unapplied], [Bytes(100), Bytes(100), Bytes(600)]);
        assert_eq!(behind.lag, Some(Duration::from_secs(3)));
    }
}
