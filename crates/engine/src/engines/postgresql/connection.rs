//! Connections: how a server is reached by an address or URL, passwords from the load host, long socket paths.

use super::database::identifier;
use super::existing_replication::LEVEL;
use super::failure::failed;
use super::password::{self, Account};
use super::tls::{TlsAsked, TlsMode};
use super::wire::{Connection, connect};
use crate::contract::{Error, ErrorClass, Target};
use crate::engines::blocking::{PATIENCE, asked_apart, in_time};
use crate::engines::wire::Password;
use std::fs::File;
use std::ops::{Deref, DerefMut};
use std::os::fd::AsRawFd as _;
use std::path::Path;
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
    let login = ServerLogin::of(&config);
    let (config, _folder) = with_password(config)?;
    if config.tls.mode == TlsMode::Disable {
        let connected = config.connect(NoTls).await;
        let (client, connection) = connected.map_err(|error| login.refused(failed(error)))?;
        serve(connection);
        return Ok(client);
    }
    let opened = connect(&config, async |socket| {
        let (client, connection) = config.connect_raw(socket, NoTls).await.map_err(failed)?;
        serve(connection);
        suits(&client, config.get_target_session_attrs()).await?;
        Ok(client)
    });
    opened.await.map_err(|error| login.refused(error))
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
    let login = ServerLogin::of(&config);
    let (config, _folder) = with_password(config)?;
    Connection::open(&config).await.map_err(|error| login.refused(error))
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

/// Code of a user without a right; while connecting, without the right to connect to the database. Source: PostgreSQL manual, "Error Codes",
/// class 42; `CheckMyDatabase` in its source.
const INSUFFICIENT_PRIVILEGE: &str = "42501";

/// Code of a server, a role or a database all of whose sessions are taken, or kept for others. Source: as above, class 53.
pub(super) const TOO_MANY_CONNECTIONS: &str = "53300";

/// What a connection is opened as, for the words of a refusal.
pub(super) struct ServerLogin {
    /// Database, host and port in words.
    account: String,
    user: String,
    database: String,
    /// Whether it asks for parameters of somebody's choice, which may be refused by the same code as the database.
    asks_for_more: bool,
}

impl ServerLogin {
    pub(super) fn of(config: &Config) -> Self {
        let is_ours = |word: &str| word == "-c" || word.starts_with(LEVEL);
        Self {
            account: account_text(config),
            user: config.get_user().unwrap_or(SCHEMA).to_owned(),
            database: config.get_dbname().unwrap_or(SCHEMA).to_owned(),
            asks_for_more: config.get_options().is_some_and(|options| !options.split_whitespace().all(is_ours)),
        }
    }

    /// The statement that lets the user in, where the right to connect is what it lacks.
    pub(super) fn grant(&self, error: &Error) -> Option<String> {
        let lacks_right = error.code() == INSUFFICIENT_PRIVILEGE && !self.asks_for_more;
        let (database, user) = (identifier(&self.database), identifier(&self.user));
        lacks_right.then(|| format!("GRANT CONNECT ON DATABASE {database} TO {user}"))
    }

    /// A refusal in words, with advice where the server does not let us in or a password is wanted.
    fn refused(&self, error: Error) -> Error {
        let text = error.to_string();
        let lacks_password = text.contains("password missing");
        let needs_password = error.code().starts_with("28") || lacks_password;
        let advice = match needs_password {
            _ if text.contains("pg_hba.conf") => {
                "; the server needs a line for this user and host in its pg_hba.conf".to_owned()
            }
            true => "; set PGPASSWORD or write ~/.pgpass on the load host".to_owned(),
            false if error.code() == TOO_MANY_CONNECTIONS => format!("; {ROOM}"),
            false => String::new(),
        };
        // The server asked for one, so that it is the login that fails, as with a wrong one.
        let error = if lacks_password { Error::new(error.class(), INVALID_PASSWORD, text) } else { error };
        let grant = self.grant(&error);
        let refused = error.context(format!("failed to connect to {}{advice}", self.account));
        match grant {
            // Behind the refusal, which would otherwise read as one of the statement.
            Some(grant) => refused.followed_by(&what_helps(&grant)),
            None => refused,
        }
    }
}

/// The end of a refusal that a statement mends.
pub(super) fn what_helps(grant: &str) -> String {
    format!("; what helps: {grant}")
}

/// What makes room for sessions. Source: PostgreSQL manual, "Connection Settings", "ALTER ROLE", "ALTER DATABASE".
const ROOM: &str = "raise max_connections, of which superuser_reserved_connections and reserved_connections keep some back, or the CONNECTION LIMIT \
     of the role or database; or end idle sessions, or put a pooler in between";

/// Asks whether a server answers at this address. Blocking; may be called on any thread.
pub(super) fn probe(address: &str) -> Result<(), Error> {
    let mut config = parse(address)?;
    config.dbname("postgres").connect_timeout(PATIENCE);
    asked_apart(move || {
        let answer = async { open(config).await?.simple_query("").await.map(|_| ()).map_err(failed) };
        in_time(PATIENCE, answer)
    })
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
    if let Some(options) = config.get_options() {
        short.options(options);
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
    fn a_long_path_of_a_socket_loses_nothing_of_what_is_asked_for() {
        let parent = tempfile::tempdir().expect("a folder");
        let folder = parent.path().join("s".repeat(MOST_SOCKET_BYTES));
        std::fs::create_dir(&folder).expect("it is made");
        let url = format!("host={} user=me dbname=shop options='-c {LEVEL}=off'", folder.display());
        let (short, _handle) = shortened(parse(&url).expect("it is read")).expect("the folder is there");
        assert!(matches!(short.get_hosts(), [Host::Unix(path)] if path.starts_with("/proc/self/fd")), "{short:?}");
        assert_eq!((short.get_user(), short.get_dbname()), (Some("me"), Some("shop")));
        assert_eq!(short.get_options(), Some(format!("-c {LEVEL}=off").as_str()));
    }

    #[test]
    fn a_refusal_says_what_lets_us_in() {
        let by_url = |url: &str, code: &str, text: &str| {
            let login = ServerLogin::of(&parse(url).expect("it is a URL"));
            login.refused(Error::new(ErrorClass::Other, code, text)).to_string()
        };
        let text = |code: &str, text: &str| by_url("postgresql://me@db1/shop", code, text);
        let by_hba = text("28000", "pg_hba.conf rejects connection for host \"10.0.0.2\"");
        assert!(
            by_hba.contains("needs a line for this user and host in its pg_hba.conf") && !by_hba.contains("PGPASS"),
            "{by_hba}"
        );
        assert!(text("28P01", "password authentication failed").contains("set PGPASSWORD"));
        let full = text("53300", "too many clients");
        assert!(full.contains("raise max_connections") && full.contains("a pooler"), "{full}");
        let barred = text("42501", "permission denied for database \"shop\"");
        let expected = "failed to connect to shop on db1 port 5432: permission denied for database \"shop\"; what helps: \
                        GRANT CONNECT ON DATABASE \"shop\" TO \"me\" (42501)";
        assert_eq!(barred, expected);
        let parameter = "permission denied to set parameter \"log_duration\"";
        let other = by_url("postgresql://me@db1/shop?options=-c%20log_duration%3Don", "42501", parameter);
        assert!(!other.contains("GRANT"), "{other}");
        assert!(!text("3D000", "no such database").contains(';'));
    }
}
