//! Looks at a primary's replication: whether the mode is in force for its users, and how far its standbys are. Source: PostgreSQL
//! manual, `pg_stat_replication`, `pg_db_role_setting`.

use super::commit_times::time_commits;
use super::connection::{self, PATIENCE, ServerConfig, runtime};
use super::existing_replication;
use super::failure::failed;
use super::quorum::Quorum;
use super::replication::{level, standby_names};
use crate::contract::{Error, ReplicationWatch, Target};
use proofload_model::commit_levels::CommitLevel;
use proofload_model::deployment::InstanceName;
use proofload_model::replication::{ReplicationAsked, ReplicationReading, StandbyReading};
use proofload_model::time::Clock;
use proofload_model::units::Bytes;
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio_postgres::{Client, Row};

/// What is in force for a user's connection that is open, and what would be for a new one.
const IN_FORCE: &str = "SELECT current_setting('synchronous_commit'), current_setting('synchronous_standby_names'), \
     (SELECT string_agg(DISTINCT value, ', ') FROM pg_db_role_setting, unnest(setconfig) AS value \
      WHERE value LIKE 'synchronous_commit=%'), \
     (pg_current_wal_flush_lsn() - '0/0'::pg_lsn)::int8";

/// Standbys as the primary sees them; a place that a standby has not told yet counts from the begin of the log. The lag in time is that of
/// the last log whose application a standby told; after a while without log it is null, and then nothing is missing, or nothing is known.
const STANDBYS: &str = "SELECT application_name, state = 'streaming', sync_state IN ('sync', 'quorum'), \
     greatest(here - coalesce(sent_lsn, '0/0'), 0)::int8, greatest(here - coalesce(write_lsn, '0/0'), 0)::int8, \
     greatest(here - coalesce(flush_lsn, '0/0'), 0)::int8, greatest(here - coalesce(replay_lsn, '0/0'), 0)::int8, \
     coalesce(extract(epoch FROM replay_lag), CASE WHEN replay_lsn >= here THEN 0 END)::float8 \
     FROM pg_stat_replication, pg_current_wal_flush_lsn() AS here ORDER BY application_name";

/// A commit that writes log, and waits as every writing transaction does, but changes no table.
const COMMIT: &str = "BEGIN; SELECT pg_logical_emit_message(true, 'proofload', 'proof'); COMMIT";

/// Choice of what a commit waits for, by whom it is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asker {
    /// The server's own settings, which are ours.
    Server,
    /// Each connection, at a server whose settings are not ours.
    Connection,
}

/// The watch. Connects at the first reading, and again at the next one after the connection was lost.
pub(super) struct PrimaryWatch {
    asked: ReplicationAsked,
    asker: Asker,
    /// Declared before the runtime, on which their drivers run.
    client: Option<Client>,
    commit: Option<JoinHandle<Result<(), Error>>>,
    config: ServerConfig,
    runtime: tokio::runtime::Runtime,
}

impl PrimaryWatch {
    pub(super) fn new(primary: &Target, asked: &ReplicationAsked, asker: Asker) -> Result<Self, Error> {
        let mut config = connection::config(primary)?;
        config.connect_timeout(PATIENCE);
        Ok(Self { asked: asked.clone(), asker, client: None, commit: None, config, runtime: runtime()? })
    }
}

impl ReplicationWatch for PrimaryWatch {
    fn read(&mut self) -> Result<ReplicationReading, Error> {
        let (client, config, asked, asker) = (&mut self.client, &self.config, &self.asked, self.asker);
        let read = async {
            if client.is_none() {
                *client = Some(connection::open(config.clone()).await?);
            }
            read(client.as_ref().expect("opened above"), asked, asker).await
        };
        let late = |_| Err(Error::other(format!("no answer within {PATIENCE:?}")));
        let outcome = self.runtime.block_on(async { tokio::time::timeout(PATIENCE, read).await.unwrap_or_else(late) });
        if outcome.is_err() {
            self.client = None;
        }
        outcome.map_err(|error| error.context("failed to read the primary's replication status"))
    }

    fn begin_commit(&mut self, within: Duration) -> Result<bool, Error> {
        let config = self.config.clone();
        let opened = self.runtime.block_on(connection::open(config))?;
        let commit = async move { opened.batch_execute(COMMIT).await.map_err(failed) };
        self.commit = Some(self.runtime.spawn(commit));
        self.end_commit(within)
    }

    fn time_commits(
        &mut self,
        levels: &[CommitLevel],
        within: Duration,
        clock: &dyn Clock,
    ) -> Result<Vec<Duration>, Error> {
        let timed = self.runtime.block_on(time_commits(self.config.clone(), levels, within, clock));
        timed.map_err(|error| error.context("failed to time commits by commit level"))
    }

    fn end_commit(&mut self, within: Duration) -> Result<bool, Error> {
        let Some(commit) = &mut self.commit else { return Ok(true) };
        let ended = self.runtime.block_on(async { tokio::time::timeout(within, commit).await });
        let Ok(ended) = ended else { return Ok(false) };
        self.commit = None;
        let broke_off = |error| Err(Error::other(format!("the commit failed: {error}")));
        ended
            .unwrap_or_else(broke_off)
            .map(|()| true)
            .map_err(|error| error.context("failed to commit a test transaction"))
    }
}

async fn read(client: &Client, asked: &ReplicationAsked, asker: Asker) -> Result<ReplicationReading, Error> {
    let force = client.query_one(IN_FORCE, &[]).await.map_err(failed)?;
    let rows = client.query(STANDBYS, &[]).await.map_err(failed)?;
    let rows: Vec<StandbyRow> =
        rows.iter().map(|row| StandbyRow::of(row, asked)).collect::<Result<_, _>>().map_err(failed)?;
    let setting = |place: usize| force.try_get::<_, Option<String>>(place).map_err(failed);
    let settings = [setting(0)?, setting(1)?, setting(2)?].map(Option::unwrap_or_default);
    let (out_of_force, unprotected) = match asker {
        Asker::Server => (out_of_force(asked, &settings, &rows), settings_differ(asked, &settings)),
        Asker::Connection => (out_of_force_by_url(asked, &settings, &rows), settings_differ_by_url(asked, &settings)),
    };
    Ok(ReplicationReading {
        unprotected: asked.mode.waits() && unprotected.is_some(),
        out_of_force,
        log_end: Some(bytes(force.try_get(3).map_err(failed)?)),
        standbys: rows.into_iter().map(|row| row.reading).collect(),
    })
}

/// A row of the primary's view.
struct StandbyRow {
    streams: bool,
    /// Whether commits wait for it, as the view says.
    counts: bool,
    reading: StandbyReading,
}

impl StandbyRow {
    fn of(row: &Row, asked: &ReplicationAsked) -> Result<Self, tokio_postgres::Error> {
        let behind = |place: usize| row.try_get(place).map(bytes);
        let reading = StandbyReading {
            name: asked.standby_of(row.try_get(0)?),
            unsent: behind(3)?,
            unwritten: behind(4)?,
            unflushed: behind(5)?,
            unapplied: behind(6)?,
            lag: row.try_get::<_, Option<f64>>(7)?.and_then(seconds),
        };
        Ok(Self { streams: row.try_get(1)?, counts: row.try_get(2)?, reading })
    }
}

fn seconds(number: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(number.max(0.0)).ok()
}

fn bytes(number: i64) -> Bytes {
    Bytes(u64::try_from(number).unwrap_or(0))
}

/// Why a mode is not in force; `settings`: level, names, and levels that roles or databases override.
fn out_of_force(asked: &ReplicationAsked, settings: &[String; 3], rows: &[StandbyRow]) -> Option<String> {
    if let Some(why) = settings_differ(asked, settings) {
        return Some(why);
    }
    let streaming = |name: &&InstanceName| rows.iter().any(|row| row.streams && row.reading.name == **name);
    if let Some(absent) = asked.standbys.iter().find(|name| !streaming(name)) {
        return Some(format!("{absent} is not streaming"));
    }
    too_few_wait(asked, rows)
}

/// Why commits may not wait as the mode says. A standby that is away is no reason: commits wait for it.
fn settings_differ(asked: &ReplicationAsked, settings: &[String; 3]) -> Option<String> {
    let [found_level, found_names, overrides] = settings;
    let (level, names) = (level(asked.mode), standby_names(asked));
    if found_level != level {
        return Some(format!("synchronous_commit is {found_level}, but {} needs {level}", asked.mode));
    }
    if Quorum::of(found_names) != Quorum::of(&names) {
        return Some(format!("synchronous_standby_names is {found_names:?}, but {} needs {names:?}", asked.mode));
    }
    if !overrides.is_empty() {
        return Some(format!("a role or database overrides the level: {overrides}"));
    }
    None
}

/// The same at a server whose settings are not ours: a connection's own level goes before those of roles and databases, and which names the
/// server has is its own affair.
fn out_of_force_by_url(asked: &ReplicationAsked, settings: &[String; 3], rows: &[StandbyRow]) -> Option<String> {
    if let Some(why) = settings_differ_by_url(asked, settings) {
        return Some(why);
    }
    let (streaming, wanted) = (rows.iter().filter(|row| row.streams).count(), asked.standbys.len());
    if streaming < wanted {
        return Some(format!("{streaming} standbys are streaming, but replication.standbys is {wanted}"));
    }
    too_few_wait(asked, rows)
}

fn settings_differ_by_url(asked: &ReplicationAsked, settings: &[String; 3]) -> Option<String> {
    let [found_level, found_names, _] = settings;
    let level = existing_replication::level(asked.mode);
    if found_level != level {
        return Some(format!("a connection has synchronous_commit {found_level}, but {} needs {level}", asked.mode));
    }
    if asked.mode.waits() && found_names.is_empty() {
        return Some("synchronous_standby_names is empty: no commit waits for a standby".to_owned());
    }
    None
}

fn too_few_wait(asked: &ReplicationAsked, rows: &[StandbyRow]) -> Option<String> {
    let counting = rows.iter().filter(|row| row.counts && row.streams).count();
    let wanted = asked.confirmation.count() as usize;
    (asked.mode.waits() && counting < wanted)
        .then(|| format!("commits wait for {counting} standbys, but {} were requested", asked.confirmation))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_model::replication::{Confirmation, ReplicationMode};

    fn row(name: &str, streams: bool, counts: bool) -> StandbyRow {
        let reading = StandbyReading {
            name: InstanceName::new(name),
            unsent: Bytes(0),
            unwritten: Bytes(0),
            unflushed: Bytes(0),
            unapplied: Bytes(0),
            lag: None,
        };
        StandbyRow { streams, counts, reading }
    }

    fn check(mode: ReplicationMode, settings: [&str; 3], rows: &[StandbyRow], expected: Option<&str>) {
        let standbys = vec![InstanceName::standby(1)];
        let asked = ReplicationAsked { mode, standbys, confirmation: Confirmation::Any(1), presented_as: Vec::new() };
        let found = out_of_force(&asked, &settings.map(str::to_owned), rows);
        match expected {
            None => assert_eq!(found, None),
            Some(part) => assert!(found.as_deref().is_some_and(|found| found.contains(part)), "{found:?}"),
        }
    }

    #[test]
    fn every_way_out_of_force_is_named() {
        const NAMES: &str = r#"ANY 1 ("standby-1")"#;
        let good = [row("standby-1", true, true)];
        check(ReplicationMode::RemoteFlush, ["on", NAMES, ""], &good, None);
        check(ReplicationMode::RemoteFlush, ["local", NAMES, ""], &good, Some("synchronous_commit is local"));
        check(ReplicationMode::RemoteFlush, ["on", "", ""], &good, Some("synchronous_standby_names is \"\""));
        let overridden = ["on", NAMES, "synchronous_commit=local"];
        check(ReplicationMode::RemoteFlush, overridden, &good, Some("overrides the level"));
        check(ReplicationMode::RemoteFlush, ["on", NAMES, ""], &[], Some("standby-1 is not streaming"));
        check(ReplicationMode::RemoteFlush, ["on", NAMES, ""], &[row("standby-1", false, true)], Some("not streaming"));
        check(ReplicationMode::RemoteFlush, ["on", NAMES, ""], &[row("standby-1", true, false)], Some("wait for 0"));
        let asked = |mode| ReplicationAsked {
            mode,
            standbys: vec![InstanceName::standby(1)],
            confirmation: Confirmation::Any(1),
            presented_as: Vec::new(),
        };
        let differ = |settings: [&str; 3]| {
            settings_differ(&asked(ReplicationMode::RemoteFlush), &settings.map(str::to_owned)).is_some()
        };
        assert_eq!([differ(["on", NAMES, ""]), differ(["on", "", ""]), differ(overridden)], [false, true, true]);
        check(ReplicationMode::RemoteFlush, ["on", "\"standby-1\"", ""], &good, None);
        check(ReplicationMode::RemoteFlush, ["on", "*", ""], &good, Some("synchronous_standby_names is \"*\""));
        check(ReplicationMode::Async, ["on", "", ""], &[row("standby-1", true, false)], None);
        check(ReplicationMode::Async, ["on", NAMES, ""], &good, Some("synchronous_standby_names"));
        check(ReplicationMode::RemoteApply, ["on", NAMES, ""], &good, Some("but remote_apply needs remote_apply"));
    }

    #[test]
    fn at_a_url_the_connection_asks_and_the_server_keeps_its_names() {
        let check = |mode, settings: [&str; 3], rows: &[StandbyRow], expected: Option<&str>| {
            let standbys = vec![InstanceName::standby(1)];
            let asked =
                ReplicationAsked { mode, standbys, confirmation: Confirmation::Any(1), presented_as: Vec::new() };
            let found = out_of_force_by_url(&asked, &settings.map(str::to_owned), rows);
            assert_eq!(found.is_some(), expected.is_some(), "{found:?}");
            assert!(found.as_deref().unwrap_or_default().contains(expected.unwrap_or_default()), "{found:?}");
        };
        let theirs = [row("db2", true, true), row("db3", true, false)];
        let overridden = ["on", "FIRST 1 (db2, db3)", "synchronous_commit=local"];
        check(ReplicationMode::RemoteFlush, overridden, &theirs, None);
        check(ReplicationMode::Async, ["local", "*", ""], &theirs, None);
        check(ReplicationMode::Async, ["on", "*", ""], &theirs, Some("has synchronous_commit on"));
        check(ReplicationMode::RemoteFlush, ["on", "", ""], &theirs, Some("no commit waits"));
        check(ReplicationMode::RemoteFlush, ["on", "*", ""], &[], Some("0 standbys are streaming"));
        check(ReplicationMode::RemoteFlush, ["on", "*", ""], &[row("db2", true, false)], Some("wait for 0"));
    }
}
