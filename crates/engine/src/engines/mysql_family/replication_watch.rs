//! Looks at a primary's replication: whether commits wait as the mode says, and how far its standbys are. The primary knows of its standbys
//! only who is connected and how many commits they have confirmed; how far each is, it is asked itself. Source: knowledge base,
//! "Semisynchronous Replication", "`SHOW REPLICA HOSTS`".

use super::address::ServerAddress;
use super::log_position::{StandbyStatus, place, standby_status};
use super::probe::{PATIENCE, runtime};
use super::replication::NEVER_ALONE;
use super::session::connect;
use super::wire::ServerConnection;
use crate::contract::{Error, ReplicationWatch, Target};
use proofload_model::deployment::InstanceName;
use proofload_model::replication::{ReplicationAsked, ReplicationMode, ReplicationReading, StandbyReading};
use proofload_model::units::Bytes;
use std::time::Duration;
use tokio::task::{JoinHandle, JoinSet};

/// What is in force for every commit, and what became of those before.
const IN_FORCE: &str = "SELECT @@global.rpl_semi_sync_master_enabled, @@global.rpl_semi_sync_master_timeout, \
     @@global.rpl_semi_sync_master_wait_no_slave, \
     (SELECT variable_value FROM information_schema.global_status WHERE variable_name = 'RPL_SEMI_SYNC_MASTER_STATUS'), \
     (SELECT variable_value FROM information_schema.global_status WHERE variable_name = 'RPL_SEMI_SYNC_MASTER_CLIENTS'), \
     (SELECT variable_value FROM information_schema.global_status WHERE variable_name = 'RPL_SEMI_SYNC_MASTER_NO_TX')";

/// Where the primary's own log ends.
const LOG_END: &str = "SHOW MASTER STATUS";

/// Standbys that are connected: the second column is the name by which a standby presents itself.
const CONNECTED: &str = "SHOW SLAVE HOSTS";

/// What a standby is asked beside its status: whether it flushes what it confirms.
const FLUSHES: &str = "SELECT @@global.sync_relay_log";

/// A standby that does not answer in this time is left out of a reading: it may be frozen, and the next one comes in a second.
const STANDBY_PATIENCE: Duration = Duration::from_millis(500);

/// A table of our own for commits that change none of the study's. Made while nothing is withheld.
const TABLE: &str = "CREATE DATABASE IF NOT EXISTS proofload_watch; \
     CREATE TABLE IF NOT EXISTS proofload_watch.proofs (id int PRIMARY KEY, at datetime(6) NOT NULL) ENGINE = InnoDB";
const COMMIT: &str = "REPLACE INTO proofload_watch.proofs VALUES (1, now(6))";

/// The watch. Connects at the first reading, and again at the next one after a connection was lost.
pub(super) struct PrimaryWatch {
    asked: ReplicationAsked,
    primary: ServerAddress,
    /// Declared before the runtime, on which their sockets are registered.
    link: Option<ServerConnection>,
    standbys: Vec<WatchedStandby>,
    commit: Option<JoinHandle<Result<(), Error>>>,
    /// Whether the table for commits is there.
    has_table: bool,
    /// Commits that had returned without a confirmation at the reading before.
    unconfirmed: Option<u64>,
    runtime: tokio::runtime::Runtime,
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
    ) -> Result<Self, Error> {
        let watched = |(name, target): &(InstanceName, Target)| {
            Ok(WatchedStandby { name: name.clone(), address: patient(target, STANDBY_PATIENCE)?, link: None })
        };
        Ok(Self {
            asked: asked.clone(),
            primary: patient(primary, PATIENCE)?,
            link: None,
            standbys: standbys.iter().map(watched).collect::<Result<_, Error>>()?,
            commit: None,
            has_table: false,
            unconfirmed: None,
            runtime: runtime()?,
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
        let Self { asked, primary, link, standbys, unconfirmed, runtime, .. } = self;
        let read = async {
            let link = match link {
                Some(link) => link,
                None => link.insert(connect(primary, None).await?),
            };
            PrimaryLook::of(link, *unconfirmed).await
        };
        let late = |_| Err(Error::other(format!("no answer within {PATIENCE:?}")));
        let outcome = runtime.block_on(async { tokio::time::timeout(PATIENCE, read).await.unwrap_or_else(late) });
        let look = match outcome {
            Ok(look) => look,
            Err(error) => {
                self.link = None;
                return Err(error.context("failed to read the primary's replication status"));
            }
        };
        *unconfirmed = Some(look.unconfirmed_in_all);
        let answered = runtime.block_on(ask_standbys(standbys));
        let differs = look.settings_differ(asked.mode);
        Ok(ReplicationReading {
            unprotected: asked.mode.waits() && differs.is_some(),
            out_of_force: differs.or_else(|| look.absent(asked)).or_else(|| standbys_differ(asked.mode, &answered)),
            log_end: Some(look.log_end),
            standbys: answered.into_iter().map(|(name, status, _)| reading(name, &status, look.log_end)).collect(),
        })
    }

    fn begin_commit(&mut self, within: Duration) -> Result<bool, Error> {
        let (address, has_table) = (self.primary.clone(), std::mem::replace(&mut self.has_table, true));
        let commit = async move {
            let mut connection = connect(&address, None).await?;
            if !has_table {
                connection.text(TABLE, |_| {}).await?;
            }
            connection.text(COMMIT, |_| {}).await
        };
        self.commit = Some(self.runtime.spawn(commit));
        self.end_commit(within)
    }

    fn end_commit(&mut self, within: Duration) -> Result<bool, Error> {
        let Some(commit) = &mut self.commit else { return Ok(true) };
        let ended = self.runtime.block_on(async { tokio::time::timeout(within, commit).await });
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
    waits: bool,
    timeout_ms: u64,
    waits_without_standby: bool,
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
        let rows = connection.rows(IN_FORCE).await?;
        let row = rows.first().cloned().unwrap_or_default();
        let text = |place: usize| row.get(place).and_then(Option::as_deref).unwrap_or_default();
        let number = |place: usize| text(place).parse::<u64>().unwrap_or(0);
        let end = connection.rows(LOG_END).await?;
        let log_end = match end.first().map(Vec::as_slice) {
            Some([Some(file), Some(at), ..]) => place(file, at),
            _ => return Err(Error::other("the server writes no binary log, so that nobody can follow it")),
        };
        let connected = connection.rows(CONNECTED).await?;
        Ok(Self {
            waits: text(0) == "1",
            timeout_ms: number(1),
            waits_without_standby: text(2) == "1",
            is_active: text(3).eq_ignore_ascii_case("on"),
            confirming: number(4),
            unconfirmed_in_all: number(5),
            unconfirmed: before.map_or(0, |before| number(5).saturating_sub(before)),
            connected: connected
                .into_iter()
                .filter_map(|mut row| (row.len() > 1).then(|| row.swap_remove(1)).flatten())
                .collect(),
            log_end,
        })
    }

    /// Why commits may not wait as the mode says. A standby that is away is no reason: commits wait for it.
    fn settings_differ(&self, mode: ReplicationMode) -> Option<String> {
        if !mode.waits() {
            return self.waits.then(|| format!("rpl_semi_sync_master_enabled is ON, but {mode} needs OFF"));
        }
        let shortest: u64 = NEVER_ALONE.parse().unwrap_or(u64::MAX);
        if !self.waits {
            Some(format!("rpl_semi_sync_master_enabled is OFF, but {mode} needs ON"))
        } else if self.unconfirmed > 0 {
            Some(format!(
                "{} commits returned without a standby's confirmation since the reading before (Rpl_semi_sync_master_no_tx)",
                self.unconfirmed
            ))
        } else if !self.is_active {
            Some(
                "semi-synchronous replication has fallen back to asynchronous (Rpl_semi_sync_master_status is OFF)"
                    .to_owned(),
            )
        } else if self.timeout_ms < shortest {
            Some(format!("rpl_semi_sync_master_timeout is {} ms, after which commits go on alone", self.timeout_ms))
        } else if !self.waits_without_standby {
            Some("rpl_semi_sync_master_wait_no_slave is OFF: commits go on while no standby is connected".to_owned())
        } else {
            None
        }
    }

    /// Which standby is away.
    fn absent(&self, asked: &ReplicationAsked) -> Option<String> {
        let connected = |name: &&str| self.connected.iter().any(|found| found == name);
        if let Some(absent) = asked.presented().find(|name| !connected(name)) {
            return Some(format!("{absent} is not connected"));
        }
        let wanted = u64::from(asked.confirmation.count());
        (asked.mode.waits() && self.confirming < wanted).then(|| {
            format!("commits wait for {} standbys, but {} were requested", self.confirming, asked.confirmation)
        })
    }
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
    use proofload_model::replication::Confirmation;

    fn good() -> PrimaryLook {
        PrimaryLook {
            waits: true,
            timeout_ms: 1_000_000_000,
            waits_without_standby: true,
            is_active: true,
            confirming: 1,
            unconfirmed_in_all: 0,
            unconfirmed: 0,
            connected: vec!["standby-1".to_owned()],
            log_end: Bytes(1000),
        }
    }

    fn check(mode: ReplicationMode, change: impl FnOnce(&mut PrimaryLook), expected: [Option<&str>; 2]) {
        let standbys = vec![InstanceName::standby(1)];
        let asked = ReplicationAsked { mode, standbys, confirmation: Confirmation::Any(1), presented_as: Vec::new() };
        let mut look = good();
        change(&mut look);
        for (found, expected) in [look.settings_differ(mode), look.absent(&asked)].into_iter().zip(expected) {
            assert_eq!(found.is_some(), expected.is_some(), "{found:?}");
            assert!(found.as_deref().unwrap_or_default().contains(expected.unwrap_or_default()), "{found:?}");
        }
    }

    #[test]
    fn every_way_out_of_force_is_named() {
        use ReplicationMode::{Async, RemoteFlush};
        check(RemoteFlush, |_| {}, [None, None]);
        check(RemoteFlush, |look| look.waits = false, [Some("enabled is OFF"), None]);
        check(RemoteFlush, |look| look.is_active = false, [Some("fallen back"), None]);
        check(RemoteFlush, |look| look.unconfirmed = 3, [Some("3 commits returned without"), None]);
        check(RemoteFlush, |look| look.timeout_ms = 10_000, [Some("timeout is 10000 ms"), None]);
        check(RemoteFlush, |look| look.waits_without_standby = false, [Some("wait_no_slave is OFF"), None]);
        check(RemoteFlush, |look| look.connected.clear(), [None, Some("standby-1 is not connected")]);
        check(RemoteFlush, |look| look.confirming = 0, [None, Some("commits wait for 0 standbys")]);
        check(Async, |look| (look.waits, look.confirming, look.is_active) = (false, 0, false), [None, None]);
        check(Async, |_| {}, [Some("async needs OFF"), None]);
    }

    #[test]
    fn a_standby_that_does_not_flush_or_apply_is_told() {
        let status = |error: &str| StandbyStatus {
            received: Bytes(900),
            applied: Bytes(400),
            received_id: String::new(),
            applies: error.is_empty(),
            apply_error: error.to_owned(),
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
    }
}
