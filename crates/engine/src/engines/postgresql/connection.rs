//! Connections: how a server is reached by an address or URL, passwords from the load host, long socket paths.

use super::existing_replication::LEVEL;
use super::failure::failed;
use super::password::{self, Account};
use super::tls::{TlsAsked, TlsMode};
use super::wire::{Connection, connect};
use crate::contract::{Error, ErrorClass, Target};
use crate::engines::wire::Password;
use std::fs::File;
use std::ops::{Deref, DerefMut};
use std::os::fd::AsRawFd as _;
use std::path::Path;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};
use tokio_postgres::tls::NoTlsStream;
use tokio_postgres::{Client, Config, NoTls};

/// The name under which the server lists the sessions of the load.
pub(super) const APPLICATION: &str = "proofload";
/// The name under which it lists connections of ours for work beside the load.
const BESIDE: &str = "proofload beside";
/// The schema that holds everything of ours, and the database of a local instance.
pub(super) const SCHEMA: &str = "proofload";
/// Bytes that the address of a socket may have, with its file name.
const MOST_SOCKET_BYTES: usize = 107;
/// A probe or an observer waits no longer for an answer.
pub(super) const PATIENCE: Duration = Duration::from_secs(3);

/// How a server is reached: the driver's configuration, and what it does not know of TLS.
#[derive(Debug, Clone)]
pub(super) struct ServerConfig {
    driver: Config,
    pub(super) tls: TlsAsked,
}

impl Deref for ServerConfig {
    type Target = Config;
    fn deref(&self) -> &Config {
        &self.driver
    }
}

impl DerefMut for ServerConfig {
    fn deref_mut(&mut self) -> &mut Config {
        &mut self.driver
    }
}

/// How the server of a target is reached.
pub(super) fn config(target: &Target) -> Result<ServerConfig, Error> {
    let text = target.address().or(target.place.url.as_deref()).ok_or_else(|| {
        Error::other("failed to connect to PostgreSQL: there is neither a started instance nor an engine.url")
    })?;
    let mut config = parse(text)?;
    if target.place.url.is_some() {
        ask_for_level(&mut config, &target.place.settings);
    }
    if let (Some(password), Some(Host::Tcp(_))) = (target.endpoints.password(), config.get_hosts().first()) {
        config.password(password.reveal());
    }
    let several = config.get_hosts().len().max(config.get_hostaddrs().len()) > 1;
    let is_open = config.get_target_session_attrs() == TargetSessionAttrs::Any;
    if is_open && (several || target.endpoints.role_moves()) {
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
    }
    Ok(config)
}

/// Asks for the level of a commit by the connection itself, where the server's settings are not ours.
fn ask_for_level(config: &mut Config, settings: &[(String, String)]) {
    if let Some((_, level)) = settings.iter().rev().find(|(name, _)| name == LEVEL) {
        let others = config.get_options().map_or(String::new(), |options| format!("{options} "));
        config.options(format!("{others}-c {LEVEL}={level}"));
    }
}

/// Reads an address or URL; refuses what would leak a secret.
pub(super) fn parse(text: &str) -> Result<ServerConfig, Error> {
    let (text, tls) = TlsAsked::part(text)?;
    let mut config: Config =
        text.parse().map_err(|error| failed(error).context("failed to read the PostgreSQL URL"))?;
    if config.get_password().is_some() {
        return Err(Error::other(
            "the PostgreSQL URL contains a password, which would be stored with the study; remove it and set \
             PGPASSWORD or write ~/.pgpass on the load host",
        ));
    }
    // TLS is ours: the driver logs on over a socket that has it already.
    config.ssl_mode(SslMode::Disable).application_name(APPLICATION);
    if config.get_user().is_none() {
        config.user(SCHEMA);
    }
    if config.get_dbname().is_none() {
        config.dbname(SCHEMA);
    }
    if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
        config.host("localhost");
    }
    Ok(ServerConfig { driver: config, tls })
}

/// Connects by the driver, for work beside the load, and leaves its connection on this thread's runtime.
pub(super) async fn open(mut config: ServerConfig) -> Result<Client, Error> {
    config.application_name(BESIDE);
    let account = account_text(&config);
    let (config, _folder) = with_password(config)?;
    if config.tls.mode == TlsMode::Disable {
        let connected = config.connect(NoTls).await;
        let (client, connection) = connected.map_err(|error| refused(failed(error), &account))?;
        serve(connection);
        return Ok(client);
    }
    let opened = connect(&config, async |socket| {
        let (client, connection) = config.connect_raw(socket, NoTls).await.map_err(failed)?;
        serve(connection);
        suits(&client, config.get_target_session_attrs()).await?;
        Ok(client)
    });
    opened.await.map_err(|error| refused(error, &account))
}

/// Lets the driver work on this thread's runtime. It ends with its client; its error reaches every call in flight.
fn serve<S>(connection: tokio_postgres::Connection<S, NoTlsStream>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    tokio::spawn(async move {
        let _ = connection.await;
    });
}

/// Checks that the server lets us write, or not, as is wanted.
async fn suits(client: &Client, wanted: TargetSessionAttrs) -> Result<(), Error> {
    let wanted = match wanted {
        TargetSessionAttrs::ReadWrite => "off",
        TargetSessionAttrs::ReadOnly => "on",
        _ => return Ok(()),
    };
    let row = client.query_one("SHOW transaction_read_only", &[]).await.map_err(failed)?;
    let found: &str = row.try_get(0).map_err(failed)?;
    let text = if wanted == "off" { "database does not allow writes" } else { "database is not read only" };
    if found == wanted { Ok(()) } else { Err(Error::new(ErrorClass::ConnectionLost, "", text)) }
}

/// Connects by our own end of the protocol, for a session.
pub(super) async fn open_lean(config: ServerConfig) -> Result<Connection, Error> {
    let account = account_text(&config);
    let (config, _folder) = with_password(config)?;
    Connection::open(&config).await.map_err(|error| refused(error, &account))
}

/// How a server is reached with the password of the load host, and a handle that must stay open while connecting.
fn with_password(mut config: ServerConfig) -> Result<(ServerConfig, Option<File>), Error> {
    // One that an agent was given goes before what its host knows.
    if config.get_password().is_none()
        && let Some(password) = password(&config)?
    {
        config.password(password.reveal());
    }
    shortened(config)
}

/// Code of a login whose password is wrong. Source: PostgreSQL manual, "Error Codes", class 28.
const INVALID_PASSWORD: &str = "28P01";

/// A refusal in words, with advice where the server does not let us in or a password is wanted.
fn refused(error: Error, account: &str) -> Error {
    let text = error.to_string();
    let lacks_password = text.contains("password missing");
    let needs_password = error.code().starts_with("28") || lacks_password;
    let advice = match needs_password {
        _ if text.contains("pg_hba.conf") => "; the server needs a line for this user and host in its pg_hba.conf",
        true => "; set PGPASSWORD or write ~/.pgpass on the load host",
        false => "",
    };
    // The server asked for one, so that it is the login that fails, as with a wrong one.
    let error = if lacks_password { Error::new(error.class(), INVALID_PASSWORD, text) } else { error };
    error.context(format!("failed to connect to {account}{advice}"))
}

/// Asks whether a server answers at this address. Blocking; may be called on any thread.
pub(super) fn probe(address: &str) -> Result<(), Error> {
    let mut config = parse(address)?;
    config.dbname("postgres").connect_timeout(PATIENCE);
    let ask = move || {
        let runtime = runtime()?;
        runtime.block_on(async {
            let answer = async { open(config).await?.simple_query("").await.map(|_| ()).map_err(failed) };
            tokio::time::timeout(PATIENCE, answer)
                .await
                .unwrap_or_else(|_| Err(Error::other(format!("no answer within {PATIENCE:?}"))))
        })
    };
    // A thread of its own, because a runtime may not be started inside another.
    std::thread::spawn(ask).join().unwrap_or_else(|_| Err(Error::other("the probe of the server panicked")))
}

/// A runtime for one blocking task.
pub(super) fn runtime() -> Result<tokio::runtime::Runtime, Error> {
    let builder = tokio::runtime::Builder::new_current_thread().enable_all().build();
    builder.map_err(|error| Error::other(format!("failed to start the async runtime: {error}")))
}

/// The password for the first host, unless it is our own instance's socket, which asks for none.
fn password(config: &Config) -> Result<Option<Password>, Error> {
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(name)) => name.as_str(),
        Some(Host::Unix(_)) | None => "localhost",
    };
    password::find(Account {
        host,
        port: config.get_ports().first().copied().unwrap_or(5432),
        database: config.get_dbname().unwrap_or(SCHEMA),
        user: config.get_user().unwrap_or(SCHEMA),
    })
}

/// Host, port and database in words.
fn account_text(config: &Config) -> String {
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(name)) => name.clone(),
        Some(Host::Unix(path)) => path.display().to_string(),
        None => config.get_hostaddrs().first().map(ToString::to_string).unwrap_or_default(),
    };
    let port = config.get_ports().first().copied().unwrap_or(5432);
    format!("{} on {host} port {port}", config.get_dbname().unwrap_or_default())
}

/// The same configuration with a long socket folder replaced by our handle on it, which must stay open while connecting.
fn shortened(config: ServerConfig) -> Result<(ServerConfig, Option<File>), Error> {
    let Some(Host::Unix(folder)) = config.get_hosts().first() else { return Ok((config, None)) };
    if !too_long(folder) {
        return Ok((config, None));
    }
    let handle = File::open(folder)
        .map_err(|error| Error::other(format!("failed to open socket folder {}: {error}", folder.display())))?;
    let mut short = Config::new();
    short.host_path(format!("/proc/self/fd/{}", handle.as_raw_fd())).ssl_mode(SslMode::Disable);
    short.application_name(config.get_application_name().unwrap_or(APPLICATION));
    short.port(config.get_ports().first().copied().unwrap_or(5432));
    short.user(config.get_user().unwrap_or(SCHEMA)).dbname(config.get_dbname().unwrap_or(SCHEMA));
    if let Some(password) = config.get_password() {
        short.password(password);
    }
    if let Some(patience) = config.get_connect_timeout() {
        short.connect_timeout(*patience);
    }
    short.target_session_attrs(config.get_target_session_attrs());
    Ok((ServerConfig { driver: short, tls: config.tls }, Some(handle)))
}

fn too_long(folder: &Path) -> bool {
    folder.as_os_str().len() + "/.s.PGSQL.65535".len() > MOST_SOCKET_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(url: &str, expected: Result<&str, &str>) {
        match (parse(url), expected) {
            (Ok(config), Ok(account)) => assert_eq!(account_text(&config), account),
            (Err(error), Err(part)) => {
                let text = error.to_string();
                assert!(text.contains(part) && !text.contains("s3cret"), "{text}");
            }
            (found, _) => panic!("{url}: {:?}", found.map(|config| account_text(&config))),
        }
    }

    #[test]
    fn urls_are_completed_or_refused_without_showing_a_password() {
        check("postgresql://me@db1/shop", Ok("shop on db1 port 5432"));
        check("host=/tmp/x port=5433 user=proofload dbname=proofload", Ok("proofload on /tmp/x port 5433"));
        check("postgresql://db1", Ok("proofload on db1 port 5432"));
        check("postgresql://me:s3cret@db1/shop", Err("PGPASSWORD"));
        check("postgresql://me@db1/shop?sslmode=require", Ok("shop on db1 port 5432"));
        check("postgresql://me@db1/shop?sslmode=on", Err("verify-full"));
        check("postgresql://me@db1/shop?password=s3cret&nonsense=s3cret", Err("failed to read the PostgreSQL URL"));
    }

    #[test]
    fn a_refusal_says_what_lets_us_in() {
        let text = |code: &str, text: &str| {
            refused(Error::new(crate::contract::ErrorClass::Other, code, text), "shop on db1 port 5432").to_string()
        };
        let by_hba = text("28000", "pg_hba.conf rejects connection for host \"10.0.0.2\"");
        assert!(
            by_hba.contains("needs a line for this user and host in its pg_hba.conf") && !by_hba.contains("PGPASS"),
            "{by_hba}"
        );
        assert!(text("28P01", "password authentication failed").contains("set PGPASSWORD"));
        assert!(!text("53300", "too many clients").contains(';'));
    }
}
