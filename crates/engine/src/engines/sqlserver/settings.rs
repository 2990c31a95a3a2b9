//! `engine.settings.*` of SQL Server: options of the study's own database are set, those of the server only with leave; all are read back
//! and compared.

use super::unlisted::{self, UNLISTED};
use super::wire::{ServerConnection, quoted};
use super::{changes, database, host_rights, memory_use, recovery, row_groups, version};
use crate::contract::{Error, OwnedValue, Target};
use crate::engines::switch::switch;
use proofload_model::facts::{client, engine};
use proofload_model::samples::Fact;
use proofload_model::units::{Bytes, duration_text, parse_duration};
use std::collections::BTreeMap;
use std::time::Duration;

/// The size of a page, which no setting changes.
const PAGE: Bytes = Bytes(8192);
/// Where options of a database are read.
const DATABASES: &str = "sys.databases";
const SCOPED: &str = "sys.database_scoped_configurations";
const SERVER: &str = "sys.configurations";

/// The option by which readers do not wait for writers, as on the other engines; on where Proofload makes the database.
const ROW_VERSIONS: &str = "read_committed_snapshot";

/// The option that a build switches for as long as it takes.
const RECOVERY: &str = "recovery_model";

/// Options of the database that a study may set: name, what the statement says, words for values, and whether nobody else may be connected.
const OPTIONS: &[(&str, &str, bool)] = &[
    ("delayed_durability", "DELAYED_DURABILITY =", false),
    (RECOVERY, "RECOVERY", false),
    ("compatibility_level", "COMPATIBILITY_LEVEL =", false),
    ("target_recovery_time_seconds", "TARGET_RECOVERY_TIME =", false),
    ("page_verify", "PAGE_VERIFY", false),
    (ROW_VERSIONS, "READ_COMMITTED_SNAPSHOT", true),
    ("allow_snapshot_isolation", "ALLOW_SNAPSHOT_ISOLATION", false),
    ("query_store", "QUERY_STORE =", false),
];

/// The setting that limits the server's memory, in MiB.
const MEMORY: &str = "max_server_memory_mb";

/// The setting that no server has: how long a query or a message of calls may take.
const STATEMENT_TIMEOUT: &str = "statement_timeout";

/// All that is read: name, value, and where it stands. Values are texts; a switch is ON or OFF.
const READ: &str = include_str!("settings.sql");

/// Settings that a study's reader wants to know whether or not they were asked for.
const OBSERVED: &[&str] = &[
    "version",
    "edition",
    "collation",
    "delayed_durability",
    RECOVERY,
    "compatibility_level",
    "target_recovery_time_seconds",
    "page_verify",
    ROW_VERSIONS,
    "allow_snapshot_isolation",
    "query_store",
    "maxdop",
    "max_server_memory_mb",
    "min_server_memory_mb",
    "max_degree_of_parallelism",
    "cost_threshold_for_parallelism",
    "affinity_mask",
    "optimize_for_ad_hoc_workloads",
    // Beside the one in force, where that is asked for.
    "request_max_memory_grant_percent_stored",
];

/// What the server says of one setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct InForce {
    /// Name, as the server has it.
    name: String,
    pub(super) value: String,
    pub(super) source: String,
}

/// A name as studies write it: small letters, digits and `_`.
pub(super) fn canonical(name: &str) -> String {
    let mut found = String::new();
    for letter in name.trim().chars() {
        match letter {
            letter if letter.is_ascii_alphanumeric() => found.push(letter.to_ascii_lowercase()),
            _ if found.ends_with('_') || found.is_empty() => {}
            _ => found.push('_'),
        }
    }
    found.trim_end_matches('_').to_owned()
}

/// The last value that is asked for each name.
fn asked(target: &Target) -> BTreeMap<&str, &str> {
    let is_ours = |name: &str| changes::is_ours(name) || name == STATEMENT_TIMEOUT;
    let all = target.place.settings.iter().filter(|(name, _)| !is_ours(name));
    all.map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

/// How long a query or a message of calls may take, if the settings limit it.
pub(super) fn statement_timeout(target: &Target) -> Result<Option<Duration>, Error> {
    let given = target.place.settings.iter().rev().find(|(name, _)| name == STATEMENT_TIMEOUT);
    let read = |(_, value): &(String, String)| {
        parse_duration(value).map_err(|error| Error::other(format!("SQL Server setting {STATEMENT_TIMEOUT}: {error}")))
    };
    given.map(read).transpose()
}

/// Sets those options of the study's database that are asked for and not in force; with leave also the server's, of which nothing stays that an
/// earlier run has changed and this one does not ask for.
pub(super) async fn apply(target: &Target, connection: &mut ServerConnection, database: &str) -> Result<(), Error> {
    let asked = asked(target);
    if changes::allowed(target) {
        changes::put_back_unless(connection, |name| is_asked(&asked, name)).await?;
    }
    if asked.is_empty() {
        return Ok(());
    }
    let known = read(connection, &asked).await?;
    for (name, value) in asked {
        let canonical = canonical(name);
        let in_force = known.get(&canonical).is_some_and(|found| fulfils(value, &found.value));
        if in_force {
            continue;
        }
        if changes::allowed(target) && change(connection, known.get(&canonical), value).await? {
            continue;
        }
        // A build that goes on has switched it; it is put back when that is settled, and set then.
        if canonical == RECOVERY && recovery::is_switched(connection).await? {
            continue;
        }
        let Some(statement) = statement(&canonical, value, database, &known) else { continue };
        connection
            .text(&statement)
            .await
            .map_err(|error| error.context(format!("set {name} to {value} for database {database}")))?;
    }
    Ok(())
}

/// Changes a setting of the server; false where it is none, or the value not one that it takes.
async fn change(connection: &mut ServerConnection, found: Option<&InForce>, value: &str) -> Result<bool, Error> {
    let Some((found, value)) = found.zip(value.trim().parse::<i64>().ok()) else { return Ok(false) };
    if found.source == SERVER {
        return changes::set(connection, &found.name, &found.value, value).await.map(|()| true);
    }
    // What is in force is no number where it is that of another group of sessions, which the setting does not reach.
    let is_number = found.value.parse::<f64>().is_ok();
    match unlisted::of_name(&found.name) {
        Some(setting) if is_number && setting.values.contains(&value) => {
            changes::set_unlisted(connection, setting, value).await.map(|()| true)
        }
        _ => Ok(false),
    }
}

/// The statement that sets an option of the database; `None` where it is none.
fn statement(name: &str, value: &str, database: &str, known: &BTreeMap<String, InForce>) -> Option<String> {
    // Values are words or numbers; anything else is left to be read back as not in force.
    let word = value.trim().to_ascii_uppercase();
    if word.is_empty() || !word.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_') {
        return None;
    }
    if let Some((_, option, alone)) = OPTIONS.iter().find(|(known, ..)| *known == name) {
        let unit = if name == "target_recovery_time_seconds" { " SECONDS" } else { "" };
        let alone = if *alone { " WITH ROLLBACK IMMEDIATE" } else { "" };
        return Some(format!("ALTER DATABASE {} SET {option} {word}{unit}{alone}", quoted(database)));
    }
    let found = known.get(name).filter(|found| found.source == SCOPED)?;
    let word = match (switch(&found.value), switch(&word)) {
        (Some(_), Some(true)) if !is_number(&word) => "ON".to_owned(),
        (Some(_), Some(false)) if !is_number(&word) => "OFF".to_owned(),
        _ => word,
    };
    Some(format!("ALTER DATABASE SCOPED CONFIGURATION SET {} = {word}", name.to_ascii_uppercase()))
}

/// Facts of all settings asked, and of those that a reader wants to know.
pub(super) async fn verify(target: &Target) -> Result<Vec<Fact>, Error> {
    let (mut connection, name) = database::open(target).await?;
    version::check(&mut connection).await?;
    recovery::put_back(&mut connection, &name).await?;
    apply(target, &mut connection, &name).await?;
    let asked = asked(target);
    let known = read(&mut connection, &asked).await?;
    let missing = format!("neither {DATABASES}, {SCOPED} nor {SERVER} has such a name");
    let compared = |(name, value): (&&str, &&str)| {
        let found = known.get(&canonical(name));
        let holds = found.is_some_and(|found| fulfils(value, &found.value));
        let source = found.map_or(missing.as_str(), |found| found.source.as_str());
        engine::SETTING.of(name).compared(*value, found.map(|found| found.value.clone()), holds, source)
    };
    let mut facts: Vec<Fact> = asked.iter().map(compared).collect();
    facts.extend(left_by_others(&mut connection, &asked).await?);
    let is_told =
        |name: &str| facts.iter().any(|fact| engine::SETTING.part(fact).is_some_and(|part| canonical(part) == name));
    let untold: Vec<&str> = OBSERVED.iter().copied().filter(|name| !is_told(name)).collect();
    for name in untold {
        if let Some(found) = known.get(name) {
            facts.push(engine::SETTING.of(name).observed(found.value.clone(), source(name, found)));
        }
    }
    if let Some(limit) = statement_timeout(target)? {
        facts.push(client::STATEMENT_TIMEOUT.carried_out(duration_text(limit), "enforced by the client"));
    }
    if let Some(limit) = memory_in_force(&asked, &known) {
        facts.push(memory_use::verify(&mut connection, limit).await);
    }
    facts.extend(host_rights::facts(&mut connection).await);
    facts.extend(recovery::fact(&mut connection).await?);
    facts.extend(row_groups::facts(&mut connection).await);
    facts.push(engine::BLOCK_SIZE.observed(PAGE, "the documentation of SQL Server"));
    Ok(facts)
}

/// Whether a setting is asked for, by any spelling of its name.
fn is_asked(asked: &BTreeMap<&str, &str>, name: &str) -> bool {
    let name = canonical(name);
    asked.keys().any(|asked| canonical(asked) == name)
}

/// Facts of what a killed run has left changed of the server and this one has no leave to put back: none of them holds.
async fn left_by_others(connection: &mut ServerConnection, asked: &BTreeMap<&str, &str>) -> Result<Vec<Fact>, Error> {
    let left = changes::left(connection).await?;
    let source = "a run that was killed has left it; engine.changes = \"allowed\" has the next run put it back";
    let fact = |left: changes::LeftChange| {
        engine::SETTING.of(&canonical(&left.name)).compared(left.old, Some(left.now), false, source)
    };
    Ok(left.into_iter().filter(|left| !is_asked(asked, &left.name)).map(fact).collect())
}

/// The limit of memory that was asked for, where the server has it as its own.
fn memory_in_force(asked: &BTreeMap<&str, &str>, known: &BTreeMap<String, InForce>) -> Option<Bytes> {
    let (_, value) = asked.iter().find(|(name, _)| canonical(name) == MEMORY)?;
    let found = known.get(MEMORY).filter(|found| fulfils(value, &found.value))?;
    found.value.parse().ok().map(Bytes::mebi)
}

/// Where a setting stands that was not asked for; of row versions that are off, what they would change.
fn source(name: &str, found: &InForce) -> String {
    if name == ROW_VERSIONS && switch(&found.value) == Some(false) {
        return format!(
            "{}; readers wait for writers: set engine.settings.{ROW_VERSIONS} to \"on\", or to \"off\" where that is meant",
            found.source
        );
    }
    found.source.clone()
}

/// All settings, by the name that studies use.
async fn read(
    connection: &mut ServerConnection,
    asked: &BTreeMap<&str, &str>,
) -> Result<BTreeMap<String, InForce>, Error> {
    let rows = connection.rows(READ).await.map_err(|error| error.context("read the server's settings"))?;
    let mut known: BTreeMap<String, InForce> = rows.into_iter().filter_map(in_force).collect();
    for setting in UNLISTED.iter().filter(|setting| is_asked(asked, setting.name)) {
        let context =
            |error: Error| error.context(format!("read {}; the account needs VIEW SERVER STATE", setting.name));
        let rows = connection.rows(setting.in_force).await.map_err(context)?;
        known.extend(rows.into_iter().filter_map(in_force));
    }
    Ok(known)
}

/// A setting by the name that studies use, from a row of its name, its value and where it stands.
pub(super) fn in_force(row: Vec<OwnedValue>) -> Option<(String, InForce)> {
    let Ok([OwnedValue::Text(name), value, OwnedValue::Text(source)]) = <[OwnedValue; 3]>::try_from(row) else {
        return None;
    };
    let value = match value {
        OwnedValue::Text(value) => value.trim().to_owned(),
        _ => String::new(),
    };
    Some((canonical(&name), InForce { name, value, source }))
}

/// Whether the value in force fulfils what was asked.
fn fulfils(asked: &str, in_force: &str) -> bool {
    match (switch(asked), switch(in_force)) {
        (Some(wanted), Some(found)) => wanted == found,
        _ => asked.trim().eq_ignore_ascii_case(in_force),
    }
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_server_are_those_of_studies() {
        assert_eq!(canonical("max server memory (MB)"), "max_server_memory_mb");
        assert_eq!(canonical("MAXDOP"), "maxdop");
        assert_eq!(canonical(" optimize for ad hoc workloads "), "optimize_for_ad_hoc_workloads");
    }

    #[test]
    fn options_of_the_database_are_set_and_nothing_else() {
        let scoped = |value: &str| InForce { name: String::new(), value: value.to_owned(), source: SCOPED.to_owned() };
        let server = InForce { name: String::new(), value: "8".to_owned(), source: SERVER.to_owned() };
        let known = [("maxdop", scoped("0")), ("parameter_sniffing", scoped("1")), ("max_server_memory_mb", server)];
        let known: BTreeMap<String, InForce> =
            known.into_iter().map(|(name, found)| (name.to_owned(), found)).collect();
        let check = |name, value, expected: Option<&str>| {
            assert_eq!(statement(name, value, "a]b", &known).as_deref(), expected)
        };
        check("delayed_durability", "forced", Some("ALTER DATABASE [a]]b] SET DELAYED_DURABILITY = FORCED"));
        check("target_recovery_time_seconds", "0", Some("ALTER DATABASE [a]]b] SET TARGET_RECOVERY_TIME = 0 SECONDS"));
        check(
            "read_committed_snapshot",
            "off",
            Some("ALTER DATABASE [a]]b] SET READ_COMMITTED_SNAPSHOT OFF WITH ROLLBACK IMMEDIATE"),
        );
        check("maxdop", "28", Some("ALTER DATABASE SCOPED CONFIGURATION SET MAXDOP = 28"));
        check("maxdop", "1", Some("ALTER DATABASE SCOPED CONFIGURATION SET MAXDOP = 1"));
        check("parameter_sniffing", "off", Some("ALTER DATABASE SCOPED CONFIGURATION SET PARAMETER_SNIFFING = OFF"));
        check("max_server_memory_mb", "4096", None);
        check("delayed_durability", "forced; DROP TABLE x", None);
        assert!(fulfils("on", "1") && fulfils("simple", "SIMPLE") && !fulfils("1", "2"));
    }
}
