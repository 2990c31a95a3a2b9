//! `engine.settings.*` of PostgreSQL: set per session on a server that is not ours, read back and compared on every server.

use super::connection;
use super::failure::failed;
use super::quantity::{Shape, fulfils, server_text};
use crate::contract::{Error, Target};
use postgres_protocol::escape::escape_literal;
use proofload_model::facts::engine;
use proofload_model::samples::Fact;
use std::collections::BTreeMap;
use tokio_postgres::Client;

/// Settings that a study's reader wants to know whether or not they were asked for.
const OBSERVED: &[&str] = &[
    "server_version",
    "shared_buffers",
    "work_mem",
    "maintenance_work_mem",
    "effective_cache_size",
    "max_connections",
    "huge_pages",
    "huge_pages_status",
    "fsync",
    "full_page_writes",
    "synchronous_commit",
    "synchronous_standby_names",
    "wal_level",
    "wal_compression",
    "wal_buffers",
    "max_wal_size",
    "checkpoint_timeout",
    "checkpoint_completion_target",
    "data_checksums",
    "default_transaction_isolation",
    "plan_cache_mode",
    "jit",
    "autovacuum",
    "track_io_timing",
    "io_method",
    "block_size",
    "lc_collate",
    "server_encoding",
];

/// What the server says of one setting.
#[derive(Debug, Clone)]
struct InForce {
    setting: String,
    unit: Option<String>,
    kind: String,
    pending_restart: bool,
    shown: String,
}

/// The last value that is asked for each name.
fn asked(target: &Target) -> BTreeMap<&str, &str> {
    target.place.settings.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

/// Settings for a session of a server by URL: the statement that sets each, and its effect in words. A local instance
/// has them in its configuration.
pub(super) fn to_apply(target: &Target) -> Vec<(String, String)> {
    if target.is_ours() {
        return Vec::new();
    }
    let set = |(name, value): (&str, &str)| {
        let value = server_text(value);
        let sql = format!(
            "SELECT set_config(name, {}, false) FROM pg_settings WHERE lower(name) = lower({}) AND context = 'user'",
            escape_literal(&value),
            escape_literal(name)
        );
        (format!("set {name} to {value} for the session"), sql)
    };
    asked(target).into_iter().map(set).collect()
}

/// Facts of all settings asked, and of those that a reader wants to know, as a session sees them.
pub(super) async fn verify(target: &Target) -> Result<Vec<Fact>, Error> {
    let client = connection::open(connection::config(target)?).await?;
    for (what, sql) in to_apply(target) {
        client.batch_execute(&sql).await.map_err(|error| failed(error).context(what))?;
    }
    let asked = asked(target);
    let mut facts = Vec::new();
    for (name, value) in &asked {
        facts.push(compared(name, value, read(&client, name).await?));
    }
    for name in OBSERVED.iter().filter(|name| !asked.contains_key(**name)) {
        if let Some(found) = read(&client, name).await? {
            facts.push(engine::SETTING.of(name).observed(found.shown, "pg_settings"));
        }
    }
    let waits = read(&client, LOCAL_WAIT).await?.map(|found| is_durable(&found.setting));
    facts.push(engine::DURABLE_COMMITS.found(waits, format!("{LOCAL_WAIT} as pg_settings has it")));
    let level = read(&client, ISOLATION).await?.map(|found| found.setting.to_uppercase());
    facts.extend(level.map(|level| engine::ISOLATION.observed(level, format!("{ISOLATION} of a session"))));
    let mut in_force = BTreeMap::new();
    for name in POWER_SAFE {
        in_force.extend(read(&client, name).await?.map(|found| (*name, found.setting)));
    }
    facts.push(power_safe(&in_force));
    Ok(facts)
}

/// Settings of which none may be off, or a loss of power undoes commits. Source: PostgreSQL manual, "Asynchronous Commit"; "Write Ahead Log",
/// `fsync`.
const POWER_SAFE: &[&str] = &[LOCAL_WAIT, "fsync", WHOLE_PAGES];
/// One that may be off where the storage writes a page whole. Source: the same, `full_page_writes`.
const WHOLE_PAGES: &str = "full_page_writes";

/// The fact whether commits survive a loss of the host's power, with the settings that say no.
fn power_safe(in_force: &BTreeMap<&str, String>) -> Fact {
    let off: Vec<&str> = in_force.iter().filter(|(_, value)| *value == "off").map(|(name, _)| *name).collect();
    let told = off.iter().map(|name| format!("{name} = off")).collect::<Vec<_>>().join(", ");
    match off.as_slice() {
        [] => {}
        [WHOLE_PAGES] => {
            return engine::POWER_SAFE_COMMITS.unknown(format!("{told}: only where the storage never tears a page"));
        }
        _ => return engine::POWER_SAFE_COMMITS.observed(false, told),
    }
    let answer = (in_force.len() == POWER_SAFE.len()).then_some(true);
    engine::POWER_SAFE_COMMITS.found(answer, format!("{} as pg_settings has them", POWER_SAFE.join(", ")))
}

/// Isolation level of transactions that name none, as ours do. Source: PostgreSQL manual, "Client Connection Defaults".
const ISOLATION: &str = "default_transaction_isolation";

/// The setting by which a commit waits for the server's own log, or does not. Source: PostgreSQL manual, "Asynchronous Commit".
const LOCAL_WAIT: &str = "synchronous_commit";

/// Whether a commit is in the server's own log before it is acknowledged, by the value that the server has: it writes `off` for `no`, `0`
/// and `false`, too.
fn is_durable(synchronous_commit: &str) -> bool {
    synchronous_commit != "off"
}

/// The fact of a setting that was asked for.
fn compared(name: &str, asked: &str, found: Option<InForce>) -> Fact {
    let holds = found.as_ref().is_some_and(|found| {
        let shape = Shape { kind: &found.kind, unit: found.unit.as_deref() };
        fulfils(asked, &found.setting, shape) && !found.pending_restart
    });
    let source = match &found {
        None => "pg_settings has no such setting",
        Some(found) if found.pending_restart => "pg_settings, pending a restart",
        Some(_) => "pg_settings",
    };
    engine::SETTING.of(name).compared(asked, found.map(|found| found.shown), holds, source)
}

/// The server's view of a setting; `None` when it does not know the name.
async fn read(client: &Client, name: &str) -> Result<Option<InForce>, Error> {
    let context = |error| failed(error).context(format!("failed to read setting {name}"));
    let row = client
        .query_opt(
            "SELECT setting, unit, vartype, pending_restart, current_setting(name) \
             FROM pg_settings WHERE lower(name) = lower($1)",
            &[&name],
        )
        .await
        .map_err(context)?;
    let Some(row) = row else { return Ok(None) };
    Ok(Some(InForce {
        setting: row.try_get(0).map_err(context)?,
        unit: row.try_get(1).map_err(context)?,
        kind: row.try_get(2).map_err(context)?,
        pending_restart: row.try_get(3).map_err(context)?,
        shown: row.try_get(4).map_err(context)?,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_asynchronous_commits_are_acknowledged_before_they_are_in_the_log() {
        assert!(["on", "local", "remote_write", "remote_apply"].into_iter().all(is_durable));
        assert!(!is_durable("off"));
    }

    #[test]
    fn a_loss_of_power_undoes_commits_that_are_not_flushed() {
        let said = |values: [&str; 3]| {
            let in_force: BTreeMap<&str, String> = POWER_SAFE.iter().copied().zip(values.map(str::to_owned)).collect();
            let fact = power_safe(&in_force);
            (engine::POWER_SAFE_COMMITS.answer(std::slice::from_ref(&fact)), fact.source)
        };
        assert_eq!(said(["on", "on", "on"]).0, Some(true));
        assert_eq!(said(["local", "on", "on"]).0, Some(true));
        assert_eq!(said(["off", "off", "on"]), (Some(false), "fsync = off, synchronous_commit = off".to_owned()));
        assert_eq!(said(["on", "on", "off"]).0, None, "the storage decides");
        assert_eq!(said(["on", "off", "off"]), (Some(false), "fsync = off, full_page_writes = off".to_owned()));
        assert_eq!(power_safe(&BTreeMap::new()).effective, None, "the server told none of them");
    }
}
