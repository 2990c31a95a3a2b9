//! Streaming replication: the settings of a mode, the files of a standby. Source: PostgreSQL manual, "Streaming Replication",
//! "Synchronous Replication", `synchronous_standby_names`.

use super::connection::{self, SCHEMA, ServerConfig};
use super::engine::Postgresql;
use super::failure::failed;
use super::recipe::SOCKETS;
use super::replication_watch::{Asker, PrimaryWatch};
use super::{configuration, data_end, installation, log_fork};
use crate::contract::{
    CommandLine, Error, FileToWrite, ManagedServer, Reachable, RelayPlaces, Replication, ReplicationWatch, Rewind,
    SocketPlace, StandbyFiles, Target,
};
use crate::engines::blocking::{PATIENCE, runtime};
use crate::engines::program::command_line;
use postgres_protocol::escape::{escape_identifier, escape_literal};
use proofload_model::catalogue::{ReplicationFacts, StandbyExtent};
use proofload_model::deployment::InstanceName;
use proofload_model::drill::LogFork;
use proofload_model::manager::ManagerKind;
use proofload_model::replication::{Confirmation, ReplicationAsked, ReplicationMode};
use proofload_model::units::Bytes;
use proofload_model::wire::host::DataEnd;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio_postgres::config::Host;
use tokio_postgres::{Client, Config};

/// Link in a standby's folder to that of the socket of the instance that it follows. The standby works in its folder, so that the
/// socket's path stays within the 107 bytes of its address however long the folders' names are.
const UPSTREAM: &str = "upstream";

/// The same link as the process that opens the connection sees it.
const UPSTREAM_OF_PROCESS: &str = "/proc/self/cwd/upstream";

/// How long a standby may take to stop applying.
const APPLY_STOPS_WITHIN: Duration = Duration::from_secs(30);

/// Program that makes a data folder like another's by what differs. Source: PostgreSQL manual, "pg_rewind".
const REWIND_PROGRAM: &str = "pg_rewind";

/// How long a checkpoint may take that writes everything at once.
const CHECKPOINT_WITHIN: Duration = Duration::from_secs(120);

/// How long a standby is asked what it has received: a new connection to one that is busy may take several seconds.
const RECEIVED_WITHIN: Duration = Duration::from_secs(10);

/// How long a promotion may take, and how often is looked whether it is done. `pg_promote(true)` looks each 100 ms only.
const PROMOTED_WITHIN: Duration = Duration::from_secs(60);
const PROMOTION_LOOK: Duration = Duration::from_millis(5);

/// How long settings and accounts may take to be in force where a disk is slow, and those that read as they were written.
const RECONFIGURED_WITHIN: Duration = Duration::from_secs(60);
const AT_A_RELOAD: &[&str] = &["synchronous_commit", "synchronous_standby_names", "primary_conninfo"];
/// How long a look at a server may take.
const LOOKS_FOR: Duration = Duration::from_secs(1);

/// Functions by which `pg_rewind` reads a server. Source: PostgreSQL manual, "pg_rewind".
const REWIND: &[&str] = &[
    "pg_ls_dir(text, boolean, boolean)",
    "pg_stat_file(text, boolean)",
    "pg_read_binary_file(text)",
    "pg_read_binary_file(text, bigint, bigint, boolean)",
];

/// Log received and not yet applied counts as well.
const RECEIVED: &str =
    "SELECT (greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn(), '0/0'::pg_lsn) - '0/0'::pg_lsn)::int8";

/// Whether a standby has nothing left to apply.
const APPLIED_ALL: &str = "SELECT pg_last_wal_replay_lsn() >= greatest(pg_last_wal_receive_lsn(), '0/0'::pg_lsn)";

const MODES: &[ReplicationMode] =
    &[ReplicationMode::Async, ReplicationMode::RemoteWrite, ReplicationMode::RemoteFlush, ReplicationMode::RemoteApply];

const SETTINGS: &[&str] = &["synchronous_commit", "synchronous_standby_names", "primary_conninfo", "primary_slot_name"];

/// Log that a primary keeps for a standby that is late. No slot: that of an absent standby would fill the disk.
const LOG_KEPT: &str = "512MB";

/// Folder of sockets as a managed server sees it, and a manager that works beside a link of that name.
const SOCKETS_OF_PROCESS: &str = "/proc/self/cwd/pg_stat_tmp";

/// Access to a managed instance: sessions of this host by the private socket, managers and standbys with a password.
const MANAGED_HBA: &str = "# Written by Proofload: access through the private socket, or from this host with a password.\nlocal all all trust\nlocal replication all trust\nhost all all 127.0.0.1/32 scram-sha-256\nhost replication all 127.0.0.1/32 scram-sha-256\n";

/// Access to an instance that other hosts reach.
const REACHABLE_HBA: &str = "# Written by Proofload: access through the private socket, or from anywhere with the password of the run.\nlocal all all trust\nlocal replication all trust\nhost all all all scram-sha-256\nhost replication all all scram-sha-256\n";

/// File of a standby's folder, in which its server works, with the password by which it comes to the instance that it follows.
const PASSWORDS: &str = "passwords";
const BY_PASSWORD: &str = " passfile='passwords'";

/// A standby that lost its connection tries again this often. With the default of 5 s a promotion sometimes waits so long.
const TRY_AGAIN: &str = "100ms";

impl Replication for Postgresql {
    fn facts(&self) -> ReplicationFacts {
        ReplicationFacts {
            modes: MODES,
            settings: SETTINGS,
            by_url: &[],
            failover_by_url: false,
            managers: &ManagerKind::ALL,
            confirmations: Confirmation::ALL,
            extent: StandbyExtent::ALL,
        }
    }

    fn primary_settings(&self, asked: &ReplicationAsked) -> Vec<(String, String)> {
        let settings = [
            ("synchronous_commit", level(asked.mode).to_owned()),
            ("synchronous_standby_names", standby_names(asked)),
            ("wal_keep_size", LOG_KEPT.to_owned()),
        ];
        settings.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    fn standby(&self, name: &str, upstream: &str, password: Option<&str>) -> Result<StandbyFiles, Error> {
        let UpstreamAddress { host, port, user } = UpstreamAddress::of(upstream)?;
        let (host, links) = match host {
            Host::Unix(folder) => (UPSTREAM_OF_PROCESS.to_owned(), vec![(PathBuf::from(UPSTREAM), folder)]),
            Host::Tcp(host) => (host, Vec::new()),
        };
        let by = password.map_or("", |_| BY_PASSWORD);
        let address = format!("host='{host}' port={port} user={user} application_name='{name}'{by}");
        let settings = [
            ("primary_conninfo", address),
            ("wal_retrieve_retry_interval", TRY_AGAIN.to_owned()),
            ("wal_keep_size", LOG_KEPT.to_owned()),
        ];
        Ok(StandbyFiles {
            settings: settings.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
            files: vec![FileToWrite { path: PathBuf::from("standby.signal"), content: String::new() }],
            links,
            secrets: password.iter().map(|password| file(PASSWORDS, password_line(password))).collect(),
        })
    }

    fn reachable(&self, settings: &[(String, String)], at: IpAddr, port: u16) -> Result<Reachable, Error> {
        let conf = configuration::reachable_conf(settings, port, at)?;
        let files = vec![file("postgresql.conf", conf), file("pg_hba.conf", REACHABLE_HBA.to_owned())];
        Ok(Reachable { files, address: format!("host='{at}' port={port} user={SCHEMA} dbname={SCHEMA}") })
    }

    fn copy(&self, from: &str, to: &Path, (at, password): (&Path, &str)) -> Result<(CommandLine, String), Error> {
        let UpstreamAddress { host, port, user } = UpstreamAddress::of(from)?;
        let Host::Tcp(host) = host else {
            return Err(Error::other(format!(
                "failed to copy the instance at {from:?}: it cannot be reached over a network"
            )));
        };
        let address = format!("host='{host}' port={port} user={user} application_name='copy'");
        let arguments = ["--wal-method=stream", "--checkpoint=fast", "--no-password", "--dbname"].map(str::to_owned);
        let arguments = arguments.into_iter().chain([address, "--pgdata".to_owned(), to.display().to_string()]);
        let mut command =
            command_line(installation::with(&["pg_basebackup"])?.join("pg_basebackup"), arguments.collect());
        command.environment.push(("PGPASSFILE".to_owned(), at.display().to_string()));
        Ok((command, password_line(password)))
    }

    fn has_applied_all(&self, standby: &Target) -> Result<bool, Error> {
        ask(standby, PATIENCE, async |client| {
            let row = client.query_one(APPLIED_ALL, &[]).await.map_err(failed)?;
            row.try_get::<_, bool>(0).map_err(failed)
        })
        .map_err(|error| error.context("failed to read the standby's replay position"))
    }

    fn data_end(&self, folder: &Path) -> Result<DataEnd, Error> {
        data_end::read(folder)
    }

    fn relayed(&self, upstream: &str, folder: &Path, _port: Option<u16>) -> Result<RelayPlaces, Error> {
        let UpstreamAddress { host, port, user } = UpstreamAddress::of(upstream)?;
        let name = format!(".s.PGSQL.{port}");
        let to = match host {
            Host::Unix(folder) => SocketPlace::File(folder.join(&name)),
            Host::Tcp(host) => SocketPlace::Host { host, port },
        };
        let place = folder.display().to_string().replace('\\', "\\\\").replace('\'', "\\'");
        let at = SocketPlace::File(folder.join(name));
        Ok(RelayPlaces { at, to, address: format!("host='{place}' port={port} user={user}") })
    }

    fn reconfigure(&self, instance: &Target, settings: &[(String, String)]) -> Result<(), Error> {
        ask(instance, RECONFIGURED_WITHIN, async |client| {
            for (name, value) in settings {
                client.batch_execute(&format!("ALTER SYSTEM SET {name} = {}", literal(value))).await.map_err(failed)?;
            }
            client.batch_execute("SELECT pg_reload_conf()").await.map_err(failed)?;
            // The files are read again within moments, and nobody is told.
            for (name, value) in settings.iter().filter(|(name, _)| AT_A_RELOAD.contains(&name.as_str())) {
                while client.query_one("SELECT current_setting($1)", &[name]).await.map_err(failed)?.get::<_, &str>(0)
                    != value
                {
                    tokio::time::sleep(PROMOTION_LOOK).await;
                }
            }
            Ok(())
        })
        .map_err(|error| error.context("failed to change settings of a running instance"))
    }

    fn watch(
        &self,
        primary: &Target,
        _standbys: &[(InstanceName, Target)],
        asked: &ReplicationAsked,
    ) -> Result<Box<dyn ReplicationWatch>, Error> {
        Ok(Box::new(PrimaryWatch::new(primary, asked, Asker::Server)?))
    }

    fn receiver(&self) -> Option<&'static str> {
        Some("walreceiver")
    }

    fn hold_apply(&self, standby: &Target, held: bool) -> Result<(), Error> {
        let mut config = connection::config(standby)?;
        config.connect_timeout(PATIENCE);
        let hold = async {
            let client = connection::open(config).await?;
            if !held {
                return client.batch_execute("SELECT pg_wal_replay_resume()").await.map_err(failed);
            }
            client.batch_execute("SELECT pg_wal_replay_pause()").await.map_err(failed)?;
            loop {
                let row = client.query_one("SELECT pg_get_wal_replay_pause_state()", &[]).await.map_err(failed)?;
                if row.try_get::<_, &str>(0).map_err(failed)? == "paused" {
                    return Ok(());
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let late = |_| Err(Error::other(format!("it still applies WAL after {APPLY_STOPS_WITHIN:?}")));
        let outcome =
            runtime()?.block_on(async { tokio::time::timeout(APPLY_STOPS_WITHIN, hold).await.unwrap_or_else(late) });
        outcome.map_err(|error| {
            error.context(if held { "pause the standby's replay" } else { "resume the standby's replay" })
        })
    }

    fn holds_apply(&self, standby: &Target) -> Result<bool, Error> {
        ask(standby, PATIENCE, async |client| {
            let row = client.query_one("SELECT pg_get_wal_replay_pause_state()", &[]).await.map_err(failed)?;
            Ok(row.try_get::<_, &str>(0).map_err(failed)? == "paused")
        })
        .map_err(|error| error.context("failed to read whether the standby's replay is paused"))
    }

    fn received(&self, standby: &Target) -> Result<Bytes, Error> {
        ask(standby, RECEIVED_WITHIN, async |client| {
            let row = client.query_one(RECEIVED, &[]).await.map_err(failed)?;
            Ok(Bytes(u64::try_from(row.try_get::<_, i64>(0).map_err(failed)?).unwrap_or(0)))
        })
        .map_err(|error| error.context("failed to read the standby's receive position"))
    }

    fn managed_settings(&self, asked: &ReplicationAsked) -> Vec<(String, String)> {
        let settings = [
            ("synchronous_commit", level(asked.mode)),
            ("wal_keep_size", LOG_KEPT),
            ("wal_retrieve_retry_interval", TRY_AGAIN),
        ];
        settings.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    fn managed(&self, folder: &Path, settings: &[(String, String)], port: u16) -> Result<ManagedServer, Error> {
        let sockets = folder.join(SOCKETS).display().to_string().replace('\\', "\\\\").replace('\'', "\\'");
        let conf = configuration::managed_conf(settings, port, SOCKETS_OF_PROCESS)?;
        Ok(ManagedServer {
            programs: installation::for_managers()?,
            account: SCHEMA,
            database: SCHEMA,
            files: vec![file("pg_hba.conf", MANAGED_HBA.to_owned()), file("postgresql.conf", conf.clone())],
            settings: conf,
            sockets: SOCKETS_OF_PROCESS,
            link: (PathBuf::from(SOCKETS), Path::new("../data").join(SOCKETS)),
            address: format!("host='{sockets}' port={port} user={SCHEMA} dbname={SCHEMA}"),
        })
    }

    fn account(&self, name: &str, password: &str) -> String {
        let kept = postgres_protocol::password::scram_sha_256(password.as_bytes());
        let (role, text) = (escape_identifier(name), escape_literal(name));
        format!(
            "DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = {text}) THEN CREATE ROLE {role} LOGIN REPLICATION; END IF; \
             ALTER ROLE {role} PASSWORD '{kept}'; END $$"
        )
    }

    fn set_accounts(&self, primary: &Target, others: &[&str], password: &str) -> Result<(), Error> {
        let accounts: Vec<String> =
            std::iter::once(&SCHEMA).chain(others).map(|name| self.account(name, password)).collect();
        let may_rewind = |function: &&str, account: &&str| {
            format!("GRANT EXECUTE ON FUNCTION {function} TO {}", escape_identifier(account))
        };
        let grants: Vec<String> =
            others.iter().flat_map(|other| REWIND.iter().map(move |function| may_rewind(function, other))).collect();
        let of_load = connection::config(primary)?;
        let mut of_all = of_load.clone();
        // A manager rewinds by way of this database, and each database has functions of its own.
        of_all.dbname("postgres");
        let executed = async |client: &Client, statements: &[String]| {
            // Its standbys come by the password and may not be there yet.
            let text = format!("SET synchronous_commit = local; {}", statements.join("; "));
            client.batch_execute(&text).await.map_err(failed)
        };
        // Accounts are those of the whole server, and the database of the load may not be made yet.
        let by = if others.is_empty() { of_all.clone() } else { of_load };
        let asked = ask_by(by, RECONFIGURED_WITHIN, async |client| executed(client, &accounts).await);
        asked
            .and_then(|()| ask_by(of_all, RECONFIGURED_WITHIN, async |client| executed(client, &grants).await))
            .map_err(|error| error.context("failed to set the passwords of the instance's accounts"))
    }

    fn takes_writes(&self, server: &Target) -> Result<bool, Error> {
        ask(server, LOOKS_FOR, async |client| {
            let row = client.query_one("SELECT NOT pg_is_in_recovery()", &[]).await.map_err(failed)?;
            row.try_get::<_, bool>(0).map_err(failed)
        })
    }

    fn fork(&self, promoted: &Target) -> Result<Option<LogFork>, Error> {
        log_fork::read(promoted)
    }

    fn log_end_after(&self, folder: &Path, fork: &LogFork) -> Result<Option<Bytes>, Error> {
        log_fork::old_end(folder, fork).map(Some)
    }

    /// Makes the checkpoint without which `pg_rewind` finds nothing to do on the new timeline.
    fn before_rewind(&self, leader: &Target) -> Result<(), Error> {
        ask(leader, CHECKPOINT_WITHIN, async |client| client.batch_execute("CHECKPOINT").await.map_err(failed))
            .map_err(|error| error.context("failed to run a checkpoint before another instance is rewound"))
    }

    fn rewind(&self, data: &Path, upstream: &str, password: Option<(&Path, &str)>) -> Result<Rewind, Error> {
        let UpstreamAddress { host, port, user } = UpstreamAddress::of(upstream)?;
        let (host, links) = match host {
            Host::Unix(folder) => (UPSTREAM_OF_PROCESS.to_owned(), vec![(PathBuf::from(UPSTREAM), folder)]),
            Host::Tcp(host) => (host, Vec::new()),
        };
        let source = format!("host='{host}' port={port} user={user} dbname=postgres");
        let arguments =
            vec!["--target-pgdata".to_owned(), data.display().to_string(), "--source-server".to_owned(), source];
        let others = vec![PathBuf::from("postgresql.auto.conf")];
        let mut command = command_line(installation::with(&[REWIND_PROGRAM])?.join(REWIND_PROGRAM), arguments);
        command.environment.extend(password.map(|(at, _)| ("PGPASSFILE".to_owned(), at.display().to_string())));
        Ok(Rewind { command, links, password: password.map(|(_, password)| password_line(password)), others })
    }

    fn links(&self) -> &'static [&'static str] {
        &[UPSTREAM]
    }

    fn promote(&self, standby: &Target) -> Result<(), Error> {
        ask(standby, PROMOTED_WITHIN, async |client| {
            client.batch_execute("SELECT pg_promote(false)").await.map_err(failed)?;
            loop {
                let row = client.query_one("SELECT pg_is_in_recovery()", &[]).await.map_err(failed)?;
                if !row.try_get::<_, bool>(0).map_err(failed)? {
                    return Ok(());
                }
                tokio::time::sleep(PROMOTION_LOOK).await;
            }
        })
        .map_err(|error| error.context("failed to promote the standby"))
    }
}

/// Does something with a connection of its own, within a time.
pub(super) fn ask<T>(
    target: &Target,
    within: Duration,
    work: impl AsyncFn(&Client) -> Result<T, Error>,
) -> Result<T, Error> {
    ask_by(connection::config(target)?, within, work)
}

/// The same by a configuration of its own.
fn ask_by<T>(
    mut config: ServerConfig,
    within: Duration,
    work: impl AsyncFn(&Client) -> Result<T, Error>,
) -> Result<T, Error> {
    config.connect_timeout(PATIENCE);
    let work = async { work(&connection::open(config).await?).await };
    let late = |_| Err(Error::other(format!("it was not done after {within:?}")));
    runtime()?.block_on(async { tokio::time::timeout(within, work).await.unwrap_or_else(late) })
}

/// Address of the instance that a standby follows.
struct UpstreamAddress {
    host: Host,
    port: u16,
    user: String,
}

impl UpstreamAddress {
    fn of(text: &str) -> Result<Self, Error> {
        let config: Config =
            text.parse().map_err(|error| failed(error).context("failed to read the primary's address"))?;
        let host = config.get_hosts().first().cloned();
        let host = host.ok_or_else(|| Error::other(format!("the primary's address {text:?} contains no host")))?;
        let port = config.get_ports().first().copied().unwrap_or(5432);
        Ok(Self { host, port, user: config.get_user().unwrap_or_default().to_owned() })
    }
}

/// A file of an instance's folder.
fn file(path: &str, content: String) -> FileToWrite {
    FileToWrite { path: PathBuf::from(path), content }
}

/// The line of a password file that fits every server. Source: PostgreSQL manual, "The Password File".
fn password_line(password: &str) -> String {
    format!("*:*:*:*:{password}\n")
}

/// A value as a statement has it.
pub(super) fn literal(value: &str) -> String {
    format!("'{}'", value.replace('\'', "''"))
}

/// What `synchronous_commit` is called.
pub(super) fn level(mode: ReplicationMode) -> &'static str {
    match mode {
        ReplicationMode::RemoteWrite => "remote_write",
        ReplicationMode::RemoteApply => "remote_apply",
        ReplicationMode::None | ReplicationMode::Async | ReplicationMode::RemoteFlush => "on",
    }
}

/// The value of `synchronous_standby_names`; empty where no commit waits.
pub(super) fn standby_names(asked: &ReplicationAsked) -> String {
    if !asked.mode.waits() {
        return String::new();
    }
    let names: Vec<String> = asked.presented().map(|name| format!("\"{name}\"")).collect();
    let names = names.join(", ");
    match asked.confirmation {
        Confirmation::Any(count) => format!("ANY {count} ({names})"),
        Confirmation::First(count) => format!("FIRST {count} ({names})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(mode: ReplicationMode, confirmation: Confirmation) -> ReplicationAsked {
        let standbys = vec![InstanceName::standby(1), InstanceName::standby(2)];
        ReplicationAsked { mode, standbys, confirmation, presented_as: Vec::new() }
    }

    #[test]
    fn a_mode_is_a_level_and_names() {
        let check = |mode, confirmation, expected: [&str; 2]| {
            let found = Postgresql.primary_settings(&asked(mode, confirmation));
            let value = |name: &str| found.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str());
            assert_eq!([value("synchronous_commit"), value("synchronous_standby_names")], expected.map(Some));
        };
        check(ReplicationMode::Async, Confirmation::Any(1), ["on", ""]);
        check(
            ReplicationMode::RemoteWrite,
            Confirmation::Any(2),
            ["remote_write", r#"ANY 2 ("standby-1", "standby-2")"#],
        );
        check(ReplicationMode::RemoteFlush, Confirmation::First(1), ["on", r#"FIRST 1 ("standby-1", "standby-2")"#]);
        check(
            ReplicationMode::RemoteApply,
            Confirmation::Any(1),
            ["remote_apply", r#"ANY 1 ("standby-1", "standby-2")"#],
        );
    }

    #[test]
    fn a_standby_follows_by_a_short_path_or_by_a_host() {
        let long = format!("/{}/data", "x".repeat(200));
        let by_socket =
            Postgresql.standby("standby-1", &format!("host='{long}' port=5433 user=proofload"), None).unwrap();
        let expected = "host='/proc/self/cwd/upstream' port=5433 user=proofload application_name='standby-1'";
        assert_eq!(by_socket.settings[0], ("primary_conninfo".to_owned(), expected.to_owned()));
        assert_eq!(by_socket.links, [(PathBuf::from("upstream"), PathBuf::from(&long))]);
        let relayed =
            Postgresql.relayed(&format!("host='{long}' port=5433 user=proofload"), Path::new("/l"), None).unwrap();
        assert_eq!(relayed.at, SocketPlace::File(PathBuf::from("/l/.s.PGSQL.5433")));
        assert_eq!(relayed.to, SocketPlace::File(PathBuf::from(format!("{long}/.s.PGSQL.5433"))));
        let through = Postgresql.standby("standby-1", &relayed.address, None).unwrap();
        assert_eq!(through.links, [(PathBuf::from("upstream"), PathBuf::from("/l"))]);
        let by_host = Postgresql.standby("standby-2", "host=db1 port=5433 user=proofload", None).unwrap();
        assert!(by_host.settings[0].1.starts_with("host='db1' ") && by_host.links.is_empty(), "{by_host:?}");
    }

    #[test]
    fn a_password_stands_in_a_file_of_its_own_alone() {
        let standby =
            Postgresql.standby("standby-1", "host=10.0.0.1 port=5433 user=proofload", Some("s3cret")).unwrap();
        assert!(standby.settings[0].1.ends_with("application_name='standby-1' passfile='passwords'"), "{standby:?}");
        assert_eq!(standby.secrets, [file("passwords", "*:*:*:*:s3cret\n".to_owned())]);
        let others: Vec<&String> = standby.files.iter().map(|file| &file.content).collect();
        assert!(!format!("{:?}{others:?}", standby.settings).contains("s3cret"));
        let reachable = Postgresql.reachable(&[], "10.0.0.1".parse().unwrap(), 5433).unwrap();
        assert!(reachable.files[0].content.contains("\nlisten_addresses = '10.0.0.1'\n"));
        assert!(
            reachable.files[1]
                .content
                .lines()
                .filter(|line| line.starts_with("host"))
                .all(|line| line.ends_with("scram-sha-256"))
        );
        assert_eq!(reachable.address, "host='10.0.0.1' port=5433 user=proofload dbname=proofload");
    }
}
