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
            let text = with(&text, settings);
            std::fs::write(&file, text).map_err(|error| Error::other(format!("write {file}: {error}")))?;
            client.batch_execute("SELECT pg_reload_conf()").await.map_err(failed)?;
            // The files are read again within moments, and nobody is told.
            for (name, value) in settings {
                while client.query_one("SELECT current_setting($1)", &[name]).await.map_err(failed)?.get::<_, &str>(0)
                    != value
                {
                    tokio::time::sleep(LOOK).await;
                }
            }
            Ok(())
        })
        .map_err(|error| error.context("failed to change settings of a running instance"))
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
