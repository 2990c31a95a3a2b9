//! Replication by the binary log: the settings of a mode, what makes an instance follow, its promotion. Source: MariaDB knowledge base,
//! "Semisynchronous Replication", "Global Transaction ID", "CHANGE MASTER TO"; MySQL 9.7 reference manual, "Semisynchronous Replication",
//! "Replication with Global Transaction Identifiers".
//!
//! A standby comes to its primary over the loopback interface, since the server's own client knows no Unix socket, with an account and a
//! password that are made for it at each start. The instance lets nobody else in there.

use super::address::{ServerAddress, port_of};
use super::configuration::{self, START_FILE};
use super::database::{identifier, text};
use super::flavour::{FamilyMember, filled};
use super::log_position::{StandbyStatus, standby_status};
use super::quantity::{fulfils, literal};
use super::recipe;
use super::replication_watch::{PrimaryWatch, SettingsOwner};
use super::replication_words::ReplicationWords;
use super::session::connect;
use super::wire::ServerConnection;
use crate::contract::{
    Error, ExistingReplication, FileToWrite, RelayPlaces, Replication, ReplicationWatch, SocketPlace, StandbyFiles,
    Target,
};
use crate::engines::blocking::{PATIENCE, runtime};
use crate::engines::wire::Place;
use proofload_model::catalogue::{ReplicationFacts, StandbyExtent};
use proofload_model::deployment::InstanceName;
use proofload_model::replication::{ReplicationAsked, ReplicationMode};
use proofload_model::units::Bytes;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long commits wait for a standby: eleven days and a half, so that they never go on without one. Milliseconds.
pub(super) const NEVER_ALONE: &str = "1000000000";

/// Thread of a standby that receives, and the one that applies, behind the statement that stops or starts both.
const RECEIVER: &str = "IO_THREAD";
const APPLIER: &str = "SQL_THREAD";

/// How long a standby may take to apply what it has received.
const PROMOTED_WITHIN: Duration = Duration::from_secs(60);

/// How long what changes a server may take where a disk is slow.
const CHANGED_WITHIN: Duration = Duration::from_secs(60);

/// Host of every instance as its standbys are told it.
const HOST: &str = "127.0.0.1";

const MODES: &[ReplicationMode] = &[ReplicationMode::Async, ReplicationMode::RemoteWrite, ReplicationMode::RemoteFlush];

/// Modes that can be told from a primary alone: whether a standby flushes what it confirms, only the standby says.
const MODES_BY_URL: &[ReplicationMode] = &[ReplicationMode::Async, ReplicationMode::RemoteWrite];

/// Settings that are in force from the start of a server on.
const AT_THE_START: &[&str] = &["log_bin", "report_host"];

/// A server that is not ours keeps its settings: a connection asks for nothing, and the mode is what the server has.
impl<F: FamilyMember> ExistingReplication for F {
    fn modes(&self) -> &'static [ReplicationMode] {
        MODES_BY_URL
    }

    fn watch(&self, primary: &Target, asked: &ReplicationAsked) -> Result<Box<dyn ReplicationWatch>, Error> {
        Ok(Box::new(PrimaryWatch::new(primary, &[], asked, SettingsOwner::Operator)?))
    }
}

impl<F: FamilyMember> Replication for F {
    fn facts(&self) -> ReplicationFacts {
        ReplicationFacts {
            modes: MODES,
            settings: F::FLAVOUR.replication.settings,
            by_url: &[],
            failover_by_url: false,
            managers: &[],
            confirmations: F::FLAVOUR.replication.confirmations,
            extent: StandbyExtent { hosts: false, rejoins: false },
        }
    }

    fn primary_settings(&self, asked: &ReplicationAsked) -> Vec<(String, String)> {
        let words = &F::FLAVOUR.replication;
        let count = asked.confirmation.count().to_string();
        let mut settings = vec![("log_bin", "ON"), (words.waits, on(asked.mode.waits()))];
        if asked.mode.waits() {
            settings.extend([(words.timeout, NEVER_ALONE), (words.waits_unconnected, "ON")]);
            settings.extend(words.count.map(|name| (name, count.as_str())));
        }
        owned(&settings)
    }

    /// A standby confirms what it has written into its relay log; with `sync_relay_log` = 1 that is flushed before.
    fn standby_settings(&self, asked: &ReplicationAsked) -> Vec<(String, String)> {
        let flushes = asked.mode == ReplicationMode::RemoteFlush;
        owned(&[("log_bin", "ON"), ("sync_relay_log", if flushes { "1" } else { "10000" })])
    }

    fn standby(&self, name: &str, upstream: &str, _password: Option<&str>) -> Result<StandbyFiles, Error> {
        let port =
            port_of(upstream).ok_or_else(|| Error::other(format!("the primary's address {upstream:?} has no port")))?;
        let password = chance()?;
        let account = self.account(name, &password);
        let grant = format!("GRANT REPLICATION SLAVE ON *.* TO {}@'{HOST}'", text(name));
        ask(ServerAddress::parse(upstream)?, CHANGED_WITHIN, async move |connection| {
            // Not part of what standbys are sent, for which this one would have to wait.
            connection.text(&format!("SET SESSION sql_log_bin = 0; {account}; {grant}"), |_| {}).await
        })
        .map_err(|error| error.context(format!("make the account by which {name} follows")))?;
        let server = server_id(name)?.to_string();
        let words = &F::FLAVOUR.replication;
        let settings =
            [("server_id", server.as_str()), ("report_host", name), ("read_only", "ON"), (words.confirms, "ON")];
        let content = format!("{}{};\n{};\n", words.closed, follow(words, port, name, &password), words.start);
        let identity = words.identity.map(|file| Ok::<_, Error>(identity(file, &chance()?))).transpose()?;
        Ok(StandbyFiles {
            settings: owned(&settings),
            files: identity.into_iter().collect(),
            secrets: vec![FileToWrite { path: PathBuf::from(START_FILE), content }],
            ..StandbyFiles::default()
        })
    }

    fn has_applied_all(&self, standby: &Target) -> Result<bool, Error> {
        status(standby).map(|found| found.applied >= found.received)
    }

    /// Users come by a socket, standbys by a port.
    fn relayed(&self, upstream: &str, folder: &Path, port: Option<u16>) -> Result<RelayPlaces, Error> {
        let no_place = |what: &str| Error::other(format!("the primary's address {upstream:?} has no {what}"));
        let own = port_of(upstream).ok_or_else(|| no_place("port"))?;
        let Some(port) = port else {
            let Place::Unix(to) = ServerAddress::parse(upstream)?.place else { return Err(no_place("socket")) };
            let at = folder.join(F::FLAVOUR.instance.socket);
            let address = recipe::address(F::FLAVOUR, &at, own);
            return Ok(RelayPlaces { at: SocketPlace::File(at), to: SocketPlace::File(to), address });
        };
        let place = |port| SocketPlace::Host { host: HOST.to_owned(), port };
        let address = upstream.replacen(&format!(":{own}/"), &format!(":{port}/"), 1);
        Ok(RelayPlaces { at: place(port), to: place(own), address })
    }

    fn reconfigure(&self, instance: &Target, settings: &[(String, String)]) -> Result<(), Error> {
        let settings = settings.to_vec();
        ask(ServerAddress::of(instance)?, CHANGED_WITHIN, async move |connection| {
            for (name, value) in &settings {
                set(connection, name, value).await.map_err(|error| error.context(format!("set {name} to {value}")))?;
            }
            Ok(())
        })
        .map_err(|error| error.context("change settings of a running instance"))
    }

    fn follow(&self, standby: &Target, files: &StandbyFiles) -> Result<(), Error> {
        let start = files.secrets.first().map(|file| file.content.clone()).unwrap_or_default();
        let words = &F::FLAVOUR.replication;
        let follow = start.strip_prefix(words.closed).unwrap_or(&start).to_owned();
        ask(ServerAddress::of(standby)?, PROMOTED_WITHIN, async move |connection| {
            connection.text(&format!("{}; {follow}", words.stop), |_| {}).await
        })
        .map_err(|error| error.context("let a standby follow another instance"))
    }

    fn watch(
        &self,
        primary: &Target,
        standbys: &[(InstanceName, Target)],
        asked: &ReplicationAsked,
    ) -> Result<Box<dyn ReplicationWatch>, Error> {
        Ok(Box::new(PrimaryWatch::new(primary, standbys, asked, SettingsOwner::Proofload)?))
    }

    fn receiver(&self) -> Option<&'static str> {
        None
    }

    fn hold_apply(&self, standby: &Target, held: bool) -> Result<(), Error> {
        let words = &F::FLAVOUR.replication;
        let statement = format!("{} {APPLIER}", if held { words.stop } else { words.start });
        let address = ServerAddress::of(standby)?;
        let done = ask(address, CHANGED_WITHIN, async |connection| connection.text(&statement, |_| {}).await);
        done.map_err(|error| error.context(statement.to_ascii_lowercase()))
    }

    fn holds_apply(&self, standby: &Target) -> Result<bool, Error> {
        status(standby).map(|found| !found.applies)
    }

    fn received(&self, standby: &Target) -> Result<Bytes, Error> {
        status(standby).map(|found| found.received)
    }

    fn account(&self, name: &str, password: &str) -> String {
        let account = format!("{}@'{HOST}'", text(name));
        filled(F::FLAVOUR.replication.account, &[("account", &account), ("password", &text(password))])
    }

    fn takes_writes(&self, server: &Target) -> Result<bool, Error> {
        ask(ServerAddress::of(server)?, PATIENCE, async |connection| {
            let rows = connection.rows("SELECT @@global.read_only").await?;
            Ok(matches!(rows.first().map(Vec::as_slice), Some([Some(value)]) if value == "0"))
        })
    }

    fn promote(&self, standby: &Target) -> Result<(), Error> {
        ask(ServerAddress::of(standby)?, PROMOTED_WITHIN, async |connection| promote(connection).await)
            .map_err(|error| error.context("promote the standby"))
    }
}

/// Applies what was received, forgets the primary and takes writes. What is applied is in our own log too and would wait for standbys that
/// follow only afterwards, so that nothing is waited for until it is done; nobody writes yet.
async fn promote(connection: &mut ServerConnection) -> Result<(), Error> {
    let words = &connection.flavour().replication;
    connection.text(&format!("{} {RECEIVER}", words.stop), |_| {}).await?;
    let waits = connection.rows(&format!("SELECT @@global.{}", words.waits)).await?;
    let waits = matches!(waits.first().map(Vec::as_slice), Some([Some(value)]) if value == "1");
    if waits {
        connection.text(&format!("SET GLOBAL {} = OFF", words.waits), |_| {}).await?;
    }
    let received = standby_status(connection).await?.map(|status| status.received_id).unwrap_or_default();
    if !received.is_empty() {
        let seconds = PROMOTED_WITHIN.as_secs().to_string();
        let wait = filled(words.until_applied, &[("transactions", &text(&received)), ("seconds", &seconds)]);
        let rows = connection.rows(&wait).await?;
        if !matches!(rows.first().map(Vec::as_slice), Some([Some(value)]) if value == "0") {
            return Err(Error::other(format!("it has not applied transaction {received}, which it has received")));
        }
    }
    connection.text(&format!("{}; {}", words.stop, words.forget), |_| {}).await?;
    if waits {
        connection.text(&format!("SET GLOBAL {} = ON", words.waits), |_| {}).await?;
    }
    connection.text("SET GLOBAL read_only = OFF", |_| {}).await
}

/// Sets a variable of a running server, where it is not as asked already.
async fn set(connection: &mut ServerConnection, name: &str, value: &str) -> Result<(), Error> {
    let rows = connection.rows(&format!("SELECT @@global.{}", identifier(name))).await?;
    let found = rows.into_iter().flatten().next().flatten().unwrap_or_default();
    if fulfils(value, &found) {
        return Ok(());
    }
    if AT_THE_START.contains(&name) {
        return Err(Error::other(format!("it is {found}, which only a start of the server changes")));
    }
    connection.text(&format!("SET GLOBAL {} = {}", identifier(name), literal(value)), |_| {}).await
}

/// How far a standby is.
fn status(standby: &Target) -> Result<StandbyStatus, Error> {
    ask(ServerAddress::of(standby)?, PATIENCE, async |connection| {
        let found = standby_status(connection).await?;
        found.ok_or_else(|| Error::other("read the standby's status: it follows nobody"))
    })
}

/// Does something with a connection of its own, within a time.
pub(super) fn ask<T>(
    mut address: ServerAddress,
    within: Duration,
    work: impl AsyncFnOnce(&mut ServerConnection) -> Result<T, Error>,
) -> Result<T, Error> {
    address.options.patience = Some(within);
    address.must_take_writes = false;
    let work = async { work(&mut connect(&address, None).await?).await };
    let late = |_| Err(Error::other(format!("it was not done after {within:?}")));
    runtime()?.block_on(async { tokio::time::timeout(within, work).await.unwrap_or_else(late) })
}

/// Number of an instance's server, by its name: those of one deployment differ.
fn server_id(name: &str) -> Result<u32, Error> {
    let standby = name.rsplit_once('-').and_then(|(_, number)| number.parse::<u32>().ok());
    let standby = standby.and_then(|number| number.checked_add(configuration::SERVER_ID));
    standby.ok_or_else(|| Error::other(format!("find a server number for {name}: it has no number of its own")))
}

/// The statement by which a standby follows the instance at a port.
fn follow(words: &ReplicationWords, port: u16, name: &str, password: &str) -> String {
    let (port, account, password) = (port.to_string(), text(name), text(password));
    filled(words.follow, &[("port", &port), ("account", &account), ("password", &password)])
}

/// A file that makes a copied folder another server's than the one that it was copied from.
fn identity(file: &str, chance: &str) -> FileToWrite {
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|range| &chance[range]);
    FileToWrite { path: PathBuf::from(file), content: format!("[auto]\nserver-uuid={}\n", parts.join("-")) }
}

/// 16 bytes of the kernel's chance in hexadecimal digits: the password of one standby, of which MySQL takes 32 letters, or what tells it from
/// others.
fn chance() -> Result<String, Error> {
    let mut chance = [0_u8; 16];
    let read = std::fs::File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut chance));
    read.map_err(|error| Error::other(format!("make a password of /dev/urandom: {error}")))?;
    Ok(chance.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn on(is_on: bool) -> &'static str {
    if is_on { "ON" } else { "OFF" }
}

fn owned(settings: &[(&str, &str)]) -> Vec<(String, String)> {
    settings.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines::mariadb::{self, Mariadb};
    use crate::engines::mysql::Mysql;
    use proofload_model::replication::Confirmation;

    fn asked(mode: ReplicationMode) -> ReplicationAsked {
        let standbys = vec![InstanceName::standby(1)];
        ReplicationAsked { mode, standbys, confirmation: Confirmation::Any(1), presented_as: Vec::new() }
    }

    #[test]
    fn a_mode_is_what_commits_wait_for_and_what_a_confirmation_means() {
        let check = |mode, waits: &str, flushes: &str| {
            let of = |settings: Vec<(String, String)>, name: &str| {
                settings.into_iter().find(|(found, _)| found == name).map(|(_, value)| value)
            };
            let (primary, standby) = (Mariadb.primary_settings(&asked(mode)), Mariadb.standby_settings(&asked(mode)));
            assert_eq!(of(primary.clone(), "rpl_semi_sync_master_enabled").as_deref(), Some(waits), "{mode}");
            assert_eq!(of(primary, "rpl_semi_sync_master_timeout").is_some(), mode.waits(), "{mode}");
            assert_eq!(of(standby, "sync_relay_log").as_deref(), Some(flushes), "{mode}");
        };
        check(ReplicationMode::Async, "OFF", "10000");
        check(ReplicationMode::RemoteWrite, "ON", "10000");
        check(ReplicationMode::RemoteFlush, "ON", "1");
    }

    #[test]
    fn numbers_of_servers_differ_from_the_primarys_and_from_each_others() {
        let numbers = ["standby-1", "standby-2", "standby-3"].map(|name| server_id(name).expect("it has one"));
        assert_eq!(numbers, [2, 3, 4]);
        assert!(server_id("primary").is_err());
    }

    #[test]
    fn a_relay_leads_users_to_the_socket_and_standbys_to_the_port() {
        let upstream = recipe::address(&mariadb::FLAVOUR, Path::new("/data/mariadbd.sock"), 33061);
        let host = |port| SocketPlace::Host { host: HOST.to_owned(), port };
        let of_standby = Mariadb.relayed(&upstream, Path::new("/l"), Some(40000)).expect("it has a port");
        assert_eq!((of_standby.at, of_standby.to), (host(40000), host(33061)));
        assert_eq!(port_of(&of_standby.address), Some(40000));
        assert!(of_standby.address.ends_with("?socket=/data/mariadbd.sock"), "{}", of_standby.address);
        let of_users = Mariadb.relayed(&upstream, Path::new("/l"), None).expect("it has a socket");
        let file = |path: &str| SocketPlace::File(PathBuf::from(path));
        assert_eq!((of_users.at, of_users.to), (file("/l/mariadbd.sock"), file("/data/mariadbd.sock")));
        assert_eq!(of_users.address, recipe::address(&mariadb::FLAVOUR, Path::new("/l/mariadbd.sock"), 33061));
    }

    #[test]
    fn passwords_differ_and_need_no_quotes() {
        let (one, other) = (chance().unwrap(), chance().unwrap());
        assert!(one != other && one.len() == 32 && one.chars().all(|letter| letter.is_ascii_hexdigit()));
        let words = &mariadb::FLAVOUR.replication;
        assert!(follow(words, 33061, "standby-1", &one).contains("MASTER_PORT = 33061, MASTER_USER = 'standby-1'"));
    }

    #[test]
    fn a_copy_of_mysql_is_another_server_and_commits_wait_for_a_number_of_them() {
        let file = identity("auto.cnf", &"0123456789abcdef".repeat(2));
        assert_eq!(file.content, "[auto]\nserver-uuid=01234567-89ab-cdef-0123-456789abcdef\n");
        let asked = ReplicationAsked { confirmation: Confirmation::Any(2), ..asked(ReplicationMode::RemoteWrite) };
        let settings = Mysql.primary_settings(&asked);
        let count = ("rpl_semi_sync_source_wait_for_replica_count".to_owned(), "2".to_owned());
        assert!(settings.contains(&count), "{settings:?}");
        assert!(!Mariadb.primary_settings(&asked).iter().any(|(name, _)| name.ends_with("_count")));
    }
}
