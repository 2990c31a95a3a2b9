//! Looks at a primary's replication: whether the mode is in force for its users, and how far its standbys are. Source: PostgreSQL
//! manual, `pg_stat_replication`, `pg_db_role_setting`.

use super::commit_times::time_commits;
use super::connection::{self, ServerConfig};
use super::existing_replication;
use super::failure::failed;
use super::quorum::Quorum;
use super::replication::{level, standby_names};
use crate::contract::{Error, ReplicationWatch, Target};
use crate::engines::blocking::{KeptLink, PATIENCE};
use proofload_model::commit_levels::CommitLevel;
use proofload_model::deployment::InstanceName;
use proofload_model::replication::{ReplicationAsked, ReplicationReading, StandbyReading};
use proofload_model::time::Clock;
use proofload_model::units::Bytes;
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio_postgres::{Client, Row};

/// What is in force for a user's connection that is open, and what would be for a new one; then when the server was started and its
/// settings were loaded, and which change of ours they have.
const IN_FORCE: &str = "SELECT current_setting('synchronous_commit'), current_setting('synchronous_standby_names'), \
     (SELECT string_agg(DISTINCT value, ', ') FROM pg_db_role_setting, unnest(setconfig) AS value \
      WHERE value LIKE 'synchronous_commit=%'), \
     (pg_current_wal_flush_lsn() - '0/0'::pg_lsn)::int8, \
     extract(epoch FROM pg_postmaster_start_time())::float8, extract(epoch FROM pg_conf_load_time())::float8, \
     coalesce(current_setting('proofload.change', true), '')";

/// Standbys as the primary sees them; a place that a standby has not told yet counts from the begin of the log. The lag in time is that of
/// the last log whose application a standby told; after a while without log it is null, and then nothing is missing, or nothing is known.
const STANDBYS: &str = "SELECT application_name, state = 'streaming', sync_state IN ('sync', 'quorum'), \
     greatest(here - coalesce(sent_lsn, '0/0'), 0)::int8, greatest(here - coalesce(write_lsn, '0/0'), 0)::int8, \
     greatest(here - coalesce(flush_lsn, '0/0'), 0)::int8, greatest(here - coalesce(replay_lsn, '0/0'), 0)::int8, \
     coalesce(extract(epoch FROM replay_lag), CASE WHEN replay_lsn >= here THEN 0 END)::float8 \
     FROM pg_stat_replication, pg_current_wal_flush_lsn() AS here ORDER BY application_name";

/// Whether a session waits for a standby. Source: PostgreSQL manual, "Wait Events of Type IPC".
const WAITS: &str = "SELECT coalesce(wait_event_type = 'IPC' AND wait_event = 'SyncRep', false) \
     FROM pg_stat_activity WHERE pid = $1";

/// A commit that writes log, and waits as every writing transaction does, but changes no table.
const COMMIT: &str = "BEGIN; SELECT pg_logical_emit_message(true, 'proofload', 'proof'); COMMIT";

/// Why a mode may not have been in force between two readings.
const RELOADED: &str = "settings were reloaded between two readings, which Proofload did not ask for";

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
    commit: Option<JoinHandle<Result<(), Error>>>,
    /// Process that serves the connection of the last commit.
    backend: Option<i32>,
    /// What the reading before found of the server's settings.
    loaded: Option<LoadedSettings>,
    config: ServerConfig,
    link: KeptLink<Client>,
}

impl PrimaryWatch {
    pub(super) fn new(primary: &Target, asked: &ReplicationAsked, asker: Asker) -> Result<Self, Error> {
        let mut config = connection::config(primary)?;
        config.connect_timeout(PATIENCE);
        Ok(Self {
            asked: asked.clone(),
            asker,
            commit: None,
            backend: None,
            loaded: None,
            config,
            link: KeptLink::new()?,
        })
    }

    /// Asks the primary by the connection that is kept, which is opened anew after a failure.
    fn ask<T>(&mut self, question: impl AsyncFnOnce(&mut Client) -> Result<T, Error>) -> Result<T, Error> {
        let config = &self.config;
        self.link.ask(PATIENCE, async || connection::open(config.clone()).await, question)
    }

    /// Whether somebody had the server load its settings between two readings. A failover manager does so by itself, and a server of
    /// others has its own reasons.
    fn was_reloaded(&mut self, loaded: LoadedSettings) -> bool {
        let is_ours_alone = self.asker == Asker::Server && self.asked.presented_as.is_empty();
        let reloaded = self.loaded.as_ref().is_some_and(|before| loaded.by_others_since(before));
        self.loaded = Some(loaded);
        is_ours_alone && self.asked.mode.waits() && reloaded
    }
}

/// When the settings of a server were loaded.
#[derive(Debug, Clone, PartialEq)]
struct LoadedSettings {
    /// When the server was started, seconds.
    started: f64,
    /// When its settings were loaded, seconds. A session has its own time of it, which is never before the server's.
    loaded: f64,
    /// Number of the last change that Proofload made while it ran.
    change: String,
}

impl LoadedSettings {
    /// Whether they were loaded since a reading, by neither a start nor a change of ours.
    fn by_others_since(&self, before: &Self) -> bool {
        self.loaded > before.loaded && self.started <= before.started && self.change == before.change
    }
}

impl ReplicationWatch for PrimaryWatch {
    fn read(&mut self) -> Result<ReplicationReading, Error> {
        let (asked, asker) = (self.asked.clone(), self.asker);
        let outcome = self.ask(async |client| read(client, &asked, asker).await);
        let (mut reading, loaded) =
            outcome.map_err(|error| error.context("failed to read the primary's replication status"))?;
        if self.was_reloaded(loaded) {
            // What was in force meanwhile, nobody knows. Settings that differ now say more; a standby that is not counted yet, after a
            // load of the same settings, says less.
            if !reading.unprotected {
                reading.out_of_force = Some(RELOADED.to_owned());
            }
            reading.unprotected = true;
        }
        Ok(reading)
    }

    fn begin_commit(&mut self, within: Duration) -> Result<bool, Error> {
        let config = self.config.clone();
        let opened = self.link.runtime().block_on(connection::open(config))?;
        let backend = self.link.runtime().block_on(opened.query_one("SELECT pg_backend_pid()", &[])).map_err(failed)?;
        self.backend = Some(backend.try_get(0).map_err(failed)?);
        let commit = async move { opened.batch_execute(COMMIT).await.map_err(failed) };
        self.commit = Some(self.link.runtime().spawn(commit));
        self.end_commit(within)
    }

    fn time_commits(
        &mut self,
        levels: &[CommitLevel],
        within: Duration,
        clock: &dyn Clock,
    ) -> Result<Vec<Duration>, Error> {
        let timed = self.link.runtime().block_on(time_commits(self.config.clone(), levels, within, clock));
        timed.map_err(|error| error.context("failed to time commits by commit level"))
    }

    fn sees_commit_wait(&mut self) -> Result<Option<bool>, Error> {
        let Some(backend) = self.backend.filter(|_| self.commit.is_some()) else { return Ok(None) };
        let seen = self.ask(async |client| {
            let row = client.query_opt(WAITS, &[&backend]).await.map_err(failed)?;
            row.map_or(Ok(false), |row| row.try_get(0).map_err(failed))
        });
        seen.map(Some).map_err(|error| error.context("failed to read what the test transaction waits for"))
    }

    fn end_commit(&mut self, within: Duration) -> Result<bool, Error> {
        let Some(commit) = &mut self.commit else { return Ok(true) };
        let ended = self.link.runtime().block_on(async { tokio::time::timeout(within, commit).await });
        let Ok(ended) = ended else { return Ok(false) };
        self.commit = None;
        let broke_off = |error| Err(Error::other(format!("the commit failed: {error}")));
        ended
            .unwrap_or_else(broke_off)
            .map(|()| true)
            .map_err(|error| error.context("failed to commit a test transaction"))
    }
}

async fn read(
    client: &Client,
    asked: &ReplicationAsked,
    asker: Asker,
) -> Result<(ReplicationReading, LoadedSettings), Error> {
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
    let loaded = LoadedSettings {
        started: force.try_get(4).map_err(failed)?,
        loaded: force.try_get(5).map_err(failed)?,
        change: force.try_get(6).map_err(failed)?,
    };
    let reading = ReplicationReading {
        unprotected: asked.mode.waits() && unprotected.is_some(),
        out_of_force,
        log_end: Some(bytes(force.try_get(3).map_err(failed)?)),
        standbys: rows.into_iter().map(|row| row.reading).collect(),
    };
    Ok((reading, loaded))
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
    fn a_load_of_settings_by_others_is_told_from_a_start_and_a_change_of_ours() {
        let at = |started, loaded, change: &str| LoadedSettings { started, loaded, change: change.to_owned() };
        let before = at(10.0, 20.0, "1");
        assert!(at(10.0, 20.3, "1").by_others_since(&before));
        assert!(!at(10.0, 20.0, "1").by_others_since(&before));
        assert!(!at(10.0, 19.9, "1").by_others_since(&before), "a new session has the server's time of the same load");
        assert!(!at(30.0, 30.0, "").by_others_since(&before), "a start");
        assert!(!at(10.0, 20.3, "2").by_others_since(&before), "a change of ours");
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
