//! Settings that experiments change while an instance runs: written behind a mark in its `postgresql.conf`, which every start writes anew, so
//! that a killed experiment leaves nothing changed. Source: PostgreSQL manual, "Server Configuration", `autovacuum`, `checkpoint_timeout`,
//! `max_wal_size`, `synchronous_commit`.

use super::engine::Postgresql;
use super::failure::failed;
use super::replication::{ask, literal};
use crate::contract::{Error, LiveChange, LiveSetting, LiveSettings, Target};
use std::fmt::Write as _;
use std::time::Duration;

/// Line before what an experiment has changed.
const MARK: &str = "# Changed while running; the next start removes it.\n";
/// Setting by which whoever reads the server's settings tells a change of ours from one of others: the number of changes since the start.
const CHANGE: &str = "proofload.change";
const SETTING_OR_NOTHING: &str = "SELECT coalesce(current_setting($1, true), '')";
/// How long a reload may take.
const WITHIN: Duration = Duration::from_secs(20);
/// Time between two looks whether a reload has come.
const LOOK: Duration = Duration::from_millis(20);

/// Background work. A worker of autovacuum that runs ends its table first; a checkpoint that runs goes on at the pace of the new interval.
const KNOWN: &[LiveSetting] = &[
    LiveSetting {
        resource: "engine.autovacuum",
        change: LiveChange::Off(&[("autovacuum", "off")]),
        settles: Duration::from_secs(4),
    },
    LiveSetting {
        resource: "engine.checkpoints",
        change: LiveChange::Off(&[("checkpoint_timeout", "1d"), ("max_wal_size", "1TB")]),
        settles: Duration::from_secs(4),
    },
    LiveSetting {
        resource: "engine.durability",
        change: LiveChange::Off(&[("synchronous_commit", "off")]),
        settles: Duration::from_secs(1),
    },
];

/// Questions whether work of a resource goes on. A checkpointer without a checkpoint waits in its main loop. Source: PostgreSQL manual, "The
/// Cumulative Statistics System", `pg_stat_activity` and wait events of type `Activity`.
const AT_WORK: &[(&str, &str)] = &[
    ("engine.autovacuum", "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'autovacuum worker')"),
    (
        "engine.checkpoints",
        "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'checkpointer' \
         AND wait_event IS DISTINCT FROM 'CheckpointerMain')",
    ),
];

/// Statements that do what work left undone while it was off.
const LEFT_UNDONE: &[(&str, &str)] = &[("engine.autovacuum", "VACUUM"), ("engine.checkpoints", "CHECKPOINT")];
/// How long such a statement may take, in the server's spelling: well below [`WITHIN`].
const CAUGHT_UP_WITHIN: &str = "SET statement_timeout = '10s'";

impl LiveSettings for Postgresql {
    fn known(&self) -> &'static [LiveSetting] {
        KNOWN
    }

    fn read(&self, instance: &Target, names: &[&str]) -> Result<Vec<String>, Error> {
        ask(instance, WITHIN, async |client| {
            let mut found = Vec::with_capacity(names.len());
            for name in names {
                let row = client.query_one("SELECT current_setting($1)", &[name]).await.map_err(failed)?;
                found.push(row.get::<_, String>(0));
            }
            Ok(found)
        })
        .map_err(|error| error.context("failed to read settings of a running instance"))
    }

    fn put(&self, instance: &Target, settings: &[(String, String)]) -> Result<(), Error> {
        ask(instance, WITHIN, async |client| {
            let row = client.query_one("SELECT current_setting('config_file')", &[]).await.map_err(failed)?;
            let file: String = row.get(0);
            let text = std::fs::read_to_string(&file).map_err(|error| Error::other(format!("read {file}: {error}")))?;
            let row = client.query_one(SETTING_OR_NOTHING, &[&CHANGE]).await;
            let before: String = row.map_err(failed)?.get(0);
            let change = (CHANGE.to_owned(), (before.parse::<u64>().unwrap_or(0) + 1).to_string());
            let settings: Vec<(String, String)> = settings.iter().cloned().chain([change]).collect();
            let text = with(&text, &settings);
            std::fs::write(&file, text).map_err(|error| Error::other(format!("write {file}: {error}")))?;
            client.batch_execute("SELECT pg_reload_conf()").await.map_err(failed)?;
            // The files are read again within moments, and nobody is told.
            for (name, value) in &settings {
                loop {
                    let row = client.query_one(SETTING_OR_NOTHING, &[name]).await.map_err(failed)?;
                    if row.get::<_, &str>(0) == value {
                        break;
                    }
                    tokio::time::sleep(LOOK).await;
                }
            }
            Ok(())
        })
        .map_err(|error| error.context("failed to change settings of a running instance"))
    }

    fn is_at_work(&self, instance: &Target, resource: &str) -> Result<bool, Error> {
        let Some((_, question)) = AT_WORK.iter().find(|(known, _)| *known == resource) else { return Ok(false) };
        ask(instance, WITHIN, async |client| {
            let row = client.query_one(*question, &[]).await.map_err(failed)?;
            Ok(row.get::<_, bool>(0))
        })
        .map_err(|error| error.context(format!("failed to read whether work of {resource} goes on")))
    }

    fn catch_up(&self, instance: &Target, resource: &str) -> Result<(), Error> {
        let Some((_, statement)) = LEFT_UNDONE.iter().find(|(known, _)| *known == resource) else { return Ok(()) };
        ask(instance, WITHIN, async |client| {
            client.batch_execute(CAUGHT_UP_WITHIN).await.map_err(failed)?;
            client.batch_execute(statement).await.map_err(failed)
        })
        .map_err(|error| error.context(format!("failed to do by {statement} what {resource} left undone")))
    }
}

/// The configuration with these settings behind the mark, and those that stand there and are not given anew.
fn with(text: &str, settings: &[(String, String)]) -> String {
    let (before, changed) = text.split_once(MARK).unwrap_or((text, ""));
    let is_kept = |line: &&str| !settings.iter().any(|(name, _)| line.split(' ').next() == Some(name));
    let mut text = format!("{before}{MARK}");
    for line in changed.lines().filter(is_kept) {
        writeln!(text, "{line}").expect("a string takes all text");
    }
    for (name, value) in settings {
        writeln!(text, "{name} = {}", literal(value)).expect("a string takes all text");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_model::intervention::settles_at_most;
    use proofload_model::settings::Settings;

    #[test]
    fn a_plan_waits_for_changes_as_long_as_engines_do() {
        for name in ["postgresql", "mariadb"] {
            let engine = crate::engine(name).expect("it is built in");
            for one in engine.live_settings().expect("it has some").known() {
                let most = settles_at_most(one.resource, &Settings::default());
                assert!(one.settles <= most, "{name}, {}: {:?} is longer than {most:?}", one.resource, one.settles);
            }
        }
    }

    #[test]
    fn all_work_that_can_be_off_can_be_asked_for_and_caught_up() {
        let work = KNOWN.iter().filter(|one| one.resource != "engine.durability");
        let names: Vec<&str> = work.map(|one| one.resource).collect();
        // A flush of commits is no work of its own.
        assert_eq!(names, AT_WORK.iter().map(|(name, _)| *name).collect::<Vec<_>>());
        assert_eq!(names, LEFT_UNDONE.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    }

    fn pair(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    #[test]
    fn what_is_changed_stands_once_behind_the_mark() {
        let once = with("port = '1'\n", &[pair("autovacuum", "off"), pair("max_wal_size", "1TB")]);
        assert_eq!(once, format!("port = '1'\n{MARK}autovacuum = 'off'\nmax_wal_size = '1TB'\n"));
        let twice = with(&once, &[pair("autovacuum", "on")]);
        assert_eq!(twice, format!("port = '1'\n{MARK}max_wal_size = '1TB'\nautovacuum = 'on'\n"));
    }
}
