//! `engine.settings.*`: set per session on a server that is not ours, and on every server where each session is told another value at first;
//! read back and compared on every server.

use super::address::ServerAddress;
use super::configuration::{canonical, check_query_cache};
use super::isolation;
use super::pipelining;
use super::quantity::{fulfils, literal};
use super::session::connect;
use super::wire::ServerConnection;
use crate::contract::{Error, Target};
use proofload_model::facts::engine;
use proofload_model::samples::Fact;
use proofload_model::units::Bytes;
use std::collections::BTreeMap;

/// Settings of every flavour that a study's reader wants to know whether or not they were asked for; see those of each.
const OBSERVED: &[&str] = &[
    "version",
    "innodb_buffer_pool_size",
    "innodb_buffer_pool_chunk_size",
    "innodb_page_size",
    "innodb_log_buffer_size",
    "innodb_flush_log_at_trx_commit",
    "innodb_flush_method",
    "innodb_doublewrite",
    "innodb_checksum_algorithm",
    "innodb_io_capacity",
    "innodb_io_capacity_max",
    "innodb_flush_neighbors",
    "innodb_read_io_threads",
    "innodb_write_io_threads",
    "sync_binlog",
    "log_bin",
    "sync_relay_log",
    "transaction_isolation",
    "sql_mode",
    "join_buffer_size",
    "sort_buffer_size",
    "tmp_table_size",
    "max_heap_table_size",
    "max_connections",
    "performance_schema",
    "thread_handling",
    "character_set_server",
    "collation_server",
];

/// What the server says of one setting.
#[derive(Debug, Clone)]
struct InForce {
    value: String,
    /// Whether a session may set it for itself.
    of_session: bool,
}

/// The last value that is asked for each of the server's names.
fn asked(target: &Target) -> BTreeMap<&str, &str> {
    let of_server = target.place.settings.iter().filter(|(name, _)| name != pipelining::NAME);
    of_server.map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

/// Errors that a setting is the server's, or cannot be changed.
const NOT_OF_SESSION: &[&str] = &["1229", "1238"];

/// How long a statement waits for a table that another changes the form of: sessions are told 10 s at first.
const LOCK_WAIT: &str = "lock_wait_timeout";

/// Whether each session is told a value of ours at first, so that one in the configuration would not hold.
fn is_said_first(name: &str) -> bool {
    isolation::is_isolation(name) || canonical(name) == LOCK_WAIT
}

/// Sets a study's settings for a session of a server by URL. A local instance has them in its configuration, but for those that each session
/// is told at first; what a session may not set is left to be read back.
pub(super) async fn apply(target: &Target, connection: &mut ServerConnection) -> Result<(), Error> {
    let (all, product) = (asked(target), connection.flavour().product);
    for (name, value) in &all {
        check_query_cache(product, name, value)?;
    }
    let told: Vec<_> = all.into_iter().filter(|(name, _)| !target.is_ours() || is_said_first(name)).collect();
    if told.is_empty() {
        return Ok(());
    }
    let known = read(connection).await?;
    for (name, value) in told {
        let statement = if isolation::is_isolation(name) {
            isolation::statement(product, name, value)?
        } else if known.get(&canonical(name)).is_some_and(|found| found.of_session) {
            format!("SET SESSION {} = {}", canonical(name), literal(value))
        } else {
            continue;
        };
        let set = connection.text(&statement, |_| {}).await;
        if let Err(error) = set
            && !NOT_OF_SESSION.contains(&error.code())
        {
            return Err(error.context(format!("set {name} to {value} for the session")));
        }
    }
    Ok(())
}

/// Facts of all settings asked, and of those that a reader wants to know, as a session sees them.
pub(super) async fn verify(target: &Target) -> Result<Vec<Fact>, Error> {
    let address = ServerAddress::of(target)?;
    let mut connection = connect(&address, Some(&address.database)).await?;
    let sending = pipelining::verify(target, &address).await?;
    apply(target, &mut connection).await?;
    let known = read(&mut connection).await?;
    let source = address.flavour.statements.settings_source;
    let asked = asked(target);
    let compared = |(name, value): (&&str, &&str)| {
        let found = found(&known, name).map(|found| found.value.as_str());
        let holds = found.is_some_and(|found| fulfils(value, found));
        let known = if found.is_some() { source.to_owned() } else { format!("{source} has no such name") };
        engine::SETTING.of(name).compared(*value, found.map(|found| shown(name, found)), holds, known)
    };
    let mut facts: Vec<Fact> = asked.iter().map(compared).collect();
    facts.push(sending);
    let is_asked = |name: &str| asked.keys().any(|asked| canonical(asked) == name);
    for name in OBSERVED.iter().chain(address.flavour.observed).filter(|name| !is_asked(name)) {
        if let Some(found) = known.get(*name) {
            facts.push(engine::SETTING.of(name).observed(shown(name, &found.value), source));
        }
    }
    let block = known.get("innodb_page_size").and_then(|found| found.value.parse().ok());
    facts.extend(block.map(|bytes| engine::BLOCK_SIZE.observed(Bytes(bytes), "innodb_page_size")));
    let waits = known.get(LOG_AT_COMMIT).map(|found| is_durable(&found.value));
    facts.push(engine::DURABLE_COMMITS.found(waits, format!("{LOG_AT_COMMIT} as {source} has it")));
    let level = found(&known, isolation::NAMES[0]).map(|found| isolation::level(&found.value));
    facts.extend(level.map(|level| engine::ISOLATION.observed(level, format!("a session, by {source}"))));
    facts.push(power_safe(&|name| known.get(name).map(|found| found.value.as_str()), source));
    Ok(facts)
}

/// The setting by which a commit writes the server's own log, or does not.
const LOG_AT_COMMIT: &str = "innodb_flush_log_at_trx_commit";

/// Whether a commit is in the server's own log before it is acknowledged, by the value that the server has: with 0 the log is written once
/// a second, with 2 written and not flushed, which the end of the server's processes leaves. Source: MariaDB and MySQL manuals.
fn is_durable(log_at_commit: &str) -> bool {
    log_at_commit != "0"
}

/// Settings by which a loss of the host's power may undo commits, with the values under which it does not. Source: MariaDB and MySQL
/// manuals, `innodb_flush_log_at_trx_commit` (3 is MariaDB's), `innodb_flush_method`.
const POWER_SAFE: &[(&str, PowerSafeValues)] = &[
    (LOG_AT_COMMIT, PowerSafeValues::Only(&["1", "3"])),
    ("innodb_flush_method", PowerSafeValues::Not(&["nosync", "littlesync"])),
];
/// The same of pages that are torn by it. Where the storage writes a page whole, or the service under it does, it may be off.
const WHOLE_PAGES: (&str, PowerSafeValues) = ("innodb_doublewrite", PowerSafeValues::Not(&["OFF", "0", "DETECT_ONLY"]));
/// The same of the binary log, where there is one: after a crash the server's own log follows it.
const LOG_SYNC: (&str, PowerSafeValues) = ("sync_binlog", PowerSafeValues::Only(&["1"]));

/// Values of a setting under which commits survive a loss of power.
#[derive(Debug, Clone, Copy)]
enum PowerSafeValues {
    /// Values that are safe; no other is.
    Only(&'static [&'static str]),
    /// Values that are not safe; all others are.
    Not(&'static [&'static str]),
}

impl PowerSafeValues {
    fn has(self, value: &str) -> bool {
        let is_among = |values: &[&str]| values.iter().any(|known| known.eq_ignore_ascii_case(value));
        match self {
            Self::Only(values) => is_among(values),
            Self::Not(values) => !is_among(values),
        }
    }
}

/// The fact whether commits survive a loss of the host's power, with the settings that say no.
fn power_safe<'k>(known: &dyn Fn(&str) -> Option<&'k str>, source: &str) -> Fact {
    let has_log = known("log_bin").is_some_and(|value| value == "1" || value.eq_ignore_ascii_case("on"));
    let asked = || POWER_SAFE.iter().copied().chain(has_log.then_some(LOG_SYNC));
    let wrong_of = |(name, safe): (&str, PowerSafeValues)| {
        let value = known(name)?;
        (!safe.has(value)).then(|| format!("{name} = {value}"))
    };
    let wrong: Vec<String> = asked().filter_map(wrong_of).collect();
    if !wrong.is_empty() {
        return engine::POWER_SAFE_COMMITS.observed(false, wrong.join(", "));
    }
    if let Some(torn) = wrong_of(WHOLE_PAGES) {
        return engine::POWER_SAFE_COMMITS.unknown(format!("{torn}: only where the storage never tears a page"));
    }
    let names: Vec<&str> = asked().chain([WHOLE_PAGES]).map(|(name, _)| name).collect();
    let answer = known(LOG_AT_COMMIT).map(|_| true);
    engine::POWER_SAFE_COMMITS.found(answer, format!("{} as {source} has them", names.join(", ")))
}

/// What the server says of a setting; of the level of isolation under whichever name it has.
fn found<'k>(known: &'k BTreeMap<String, InForce>, name: &str) -> Option<&'k InForce> {
    let others = if isolation::is_isolation(name) { isolation::NAMES } else { &[] };
    known.get(&canonical(name)).or_else(|| others.iter().find_map(|other| known.get(*other)))
}

/// A value as a reader wants it: sizes in binary units.
fn shown(name: &str, value: &str) -> String {
    let bytes = value.parse::<u64>().ok().filter(|bytes| *bytes > 0 && canonical(name).ends_with("_size"));
    match bytes {
        Some(bytes) if bytes % (1 << 20) == 0 => format!("{}MiB", bytes >> 20),
        Some(bytes) if bytes % (1 << 10) == 0 => format!("{}KiB", bytes >> 10),
        _ => value.to_owned(),
    }
}

/// All settings that the server has, by name.
async fn read(connection: &mut ServerConnection) -> Result<BTreeMap<String, InForce>, Error> {
    let sql = connection.flavour().statements.settings;
    let rows = connection.rows(sql).await.map_err(|error| error.context("read the server's settings"))?;
    let setting = |row: Vec<Option<String>>| match <[Option<String>; 3]>::try_from(row) {
        Ok([Some(name), value, of_session]) => {
            let of_session = of_session.as_deref() == Some("1");
            Some((name, InForce { value: value.unwrap_or_default(), of_session }))
        }
        _ => None,
    };
    Ok(rows.into_iter().filter_map(setting).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_level_of_isolation_is_found_under_either_name() {
        let level = InForce { value: "SERIALIZABLE".to_owned(), of_session: true };
        let known = BTreeMap::from([("tx_isolation".to_owned(), level)]);
        let value = |name: &str| found(&known, name).map(|found| found.value.as_str());
        assert_eq!(["transaction-isolation", "tx_isolation"].map(value), [Some("SERIALIZABLE"); 2]);
        assert_eq!(value("max_connections"), None);
        assert!(
            is_said_first("transaction_isolation") && is_said_first("lock-wait-timeout") && !is_said_first("sql_mode")
        );
    }

    #[test]
    fn a_log_that_is_written_once_a_second_lags_behind_commits() {
        assert!(["1", "2", "3"].into_iter().all(is_durable));
        assert!(!is_durable("0"));
    }

    #[test]
    fn a_loss_of_power_undoes_commits_that_are_written_and_not_flushed() {
        let said = |settings: &[(&str, &'static str)]| {
            let value = |name: &str| settings.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
            let fact = power_safe(&value, "a table");
            (engine::POWER_SAFE_COMMITS.answer(std::slice::from_ref(&fact)), fact.source)
        };
        let answer = |settings: &[(&str, &'static str)]| said(settings).0;
        let safe = (LOG_AT_COMMIT, "1");
        assert_eq!(answer(&[safe, ("innodb_doublewrite", "ON"), ("log_bin", "OFF")]), Some(true));
        assert_eq!(answer(&[safe, ("sync_binlog", "0"), ("log_bin", "OFF")]), Some(true), "there is no such log");
        assert_eq!(answer(&[safe, ("sync_binlog", "1"), ("log_bin", "ON")]), Some(true));
        assert_eq!(answer(&[safe, ("innodb_doublewrite", "DETECT_AND_RECOVER")]), Some(true));
        assert_eq!(
            answer(&[(LOG_AT_COMMIT, "2")]),
            Some(false),
            "the end of the process leaves it, a loss of power does not"
        );
        assert_eq!(answer(&[safe, ("innodb_flush_method", "nosync")]), Some(false));
        let two = said(&[(LOG_AT_COMMIT, "0"), ("sync_binlog", "0"), ("log_bin", "1")]);
        assert_eq!(two, (Some(false), "innodb_flush_log_at_trx_commit = 0, sync_binlog = 0".to_owned()));
        assert_eq!(answer(&[safe, ("innodb_doublewrite", "OFF")]), None, "the storage decides");
        assert_eq!(answer(&[]), None, "the server tells nothing");
    }

    #[test]
    fn sizes_are_shown_in_binary_units() {
        let cases = [
            ("innodb_buffer_pool_size", "16777216", "16MiB"),
            ("innodb-page-size", "16384", "16KiB"),
            ("innodb_buffer_pool_chunk_size", "0", "0"),
            ("join_buffer_size", "262145", "262145"),
            ("max_connections", "1024", "1024"),
        ];
        for (name, value, expected) in cases {
            assert_eq!(shown(name, value), expected, "{name}");
        }
    }
}
