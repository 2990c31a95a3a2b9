//! The one server of a comparison, PostgreSQL or MariaDB, its CPU time, and scripts for it.

use super::processes;
use super::support::{Place, Special};
use proofload_engine::{engine, free_port};
use std::io::Write as _;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Which server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ServerKind {
    PostgreSql,
    MariaDb,
}

impl ServerKind {
    /// The server of this engine.
    pub(crate) fn named(name: &str) -> Option<Self> {
        [Self::PostgreSql, Self::MariaDb].into_iter().find(|kind| kind.engine() == name)
    }

    /// Name of its engine.
    pub(crate) fn engine(self) -> &'static str {
        match self {
            Self::PostgreSql => "postgresql",
            Self::MariaDb => "mariadb",
        }
    }

    /// Name as it is written.
    pub(crate) fn product(self) -> &'static str {
        match self {
            Self::PostgreSql => "PostgreSQL",
            Self::MariaDb => "MariaDB",
        }
    }

    fn settings(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::PostgreSql => POSTGRESQL_SETTINGS,
            Self::MariaDb => MARIADB_SETTINGS,
        }
    }

    /// Lines by which it listens on the loopback address too, for clients that cannot use its socket.
    fn listening(self, port: u16) -> Vec<(&'static str, String)> {
        match self {
            Self::PostgreSql => vec![
                ("postgresql.conf", "listen_addresses = '127.0.0.1'\n".to_owned()),
                ("pg_hba.conf", "host all all 127.0.0.1/32 trust\n".to_owned()),
            ],
            Self::MariaDb => {
                vec![("my.cnf", format!("skip_networking = 0\nbind_address = 127.0.0.1\nport = {port}\n"))]
            }
        }
    }
}

/// Settings of MariaDB beside those of any instance of ours: its pages fit into the pool, and the redo log into a run.
const MARIADB_SETTINGS: &[(&str, &str)] =
    &[("innodb_buffer_pool_size", "2GiB"), ("innodb_log_file_size", "2GiB"), ("max_connections", "200")];

/// Settings of PostgreSQL beside those of any instance of ours. Runs are shorter than the periods of checkpoints and of autovacuum,
/// which would meet one client's run and not the next one's: [`Server::tidy`] does their work before each run instead.
/// Autovacuum spreads its visits to the databases over its period, and each peer has one.
const POSTGRESQL_SETTINGS: &[(&str, &str)] = &[
    ("shared_buffers", "1GiB"),
    ("max_wal_size", "8GiB"),
    ("checkpoint_timeout", "1h"),
    ("autovacuum_naptime", "1d"),
    ("max_connections", "200"),
];

/// Old rows and dirty pages of MariaDB that count as none, and the most looks at them, a second apart.
const SETTLED: f64 = 2_000.0;
const SETTLING_LOOKS: u32 = 60;

/// A running server.
pub(crate) struct Server {
    pub(crate) kind: ServerKind,
    pub(crate) place: Place,
    /// Its data folder.
    pub(crate) folder: PathBuf,
    pub(crate) port: u16,
    pub(crate) version: String,
    pid: u32,
}

impl Server {
    /// Starts it; the error says what is missing. It also listens on the loopback address for clients that cannot use
    /// its socket.
    pub(crate) fn start(kind: ServerKind) -> Result<Self, String> {
        let server = engine(kind.engine()).expect("it is registered");
        let version = server.locate().map_err(|error| error.to_string())?.version;
        let port = free_port(Ipv4Addr::LOCALHOST.into()).map_err(|error| error.to_string())?;
        let added = kind.listening(port);
        let place = Place::new(
            server,
            kind.settings(),
            &Special { prefix: "proofload-peers-", added: &added, port, kept: false },
        )?;
        let folder = Path::new(&place.target.place.folder).join("instance");
        let pid = server.server().and_then(|recipe| recipe.running_pid(&folder)).ok_or("the server has no process")?;
        let started = Self { kind, place, folder, port, version, pid };
        started.prepare()?;
        Ok(started)
    }

    /// Where our clients find one of its databases.
    pub(crate) fn address(&self, database: &str) -> String {
        let address = self.place.target.address().expect("a started server has one");
        match self.kind {
            ServerKind::PostgreSql => format!("{address} dbname={database}"),
            ServerKind::MariaDb => address.replacen("/proofload?", &format!("/{database}?"), 1),
        }
    }

    /// CPU time of the server's processes so far, those that have ended included, s.
    pub(crate) fn cpu(&self) -> f64 {
        processes::cpu(&processes::family(self.pid))
    }

    /// Makes what clients over TCP come by. `root` of MariaDB comes by the socket alone; so does our database, which [`super::watch::Watch`] needs.
    fn prepare(&self) -> Result<(), String> {
        match self.kind {
            ServerKind::PostgreSql => Ok(()),
            ServerKind::MariaDb => self
                .script(
                    "",
                    "CREATE USER IF NOT EXISTS root@'127.0.0.1'; GRANT ALL ON *.* TO root@'127.0.0.1'; CREATE DATABASE IF NOT EXISTS proofload;",
                )
                .map(drop),
        }
    }

    /// Makes a client's own database.
    pub(crate) fn create_database(&self, name: &str) -> Result<(), String> {
        let first = if self.kind == ServerKind::PostgreSql { "postgres" } else { "" };
        self.script(first, &format!("CREATE DATABASE {name};")).map(drop)
    }

    /// Leaves a database that a client has filled as our build leaves ours.
    pub(crate) fn settle(&self, database: &str) -> Result<(), String> {
        match self.kind {
            ServerKind::PostgreSql => self.script(database, "VACUUM (FREEZE, ANALYZE);\nCHECKPOINT;\n").map(drop),
            ServerKind::MariaDb => self.tidy(database),
        }
    }

    /// Leaves a database without dead rows, and little to be written back: what earlier runs left is not this one's
    /// work. MariaDB has no order for that; its purge and its writer are waited for.
    pub(crate) fn tidy(&self, database: &str) -> Result<(), String> {
        match self.kind {
            ServerKind::PostgreSql => self.script(database, "VACUUM ANALYZE;\nCHECKPOINT;\n").map(drop),
            ServerKind::MariaDb => {
                let tables = self.script(database, "SHOW FULL TABLES WHERE Table_type = 'BASE TABLE';")?;
                let tables: Vec<&str> = tables.lines().filter_map(|line| line.split('\t').next()).collect();
                self.script(database, &format!("ANALYZE TABLE {};", tables.join(", ")))?;
                self.script(database, "SET GLOBAL innodb_max_dirty_pages_pct = 0;")?;
                let settled = self.until_settled();
                self.script(database, "SET GLOBAL innodb_max_dirty_pages_pct = 90;")?;
                settled
            }
        }
    }

    /// Waits until MariaDB has purged old rows and written dirty pages, or makes no way any more.
    fn until_settled(&self) -> Result<(), String> {
        let asked = "SELECT sum(variable_value) FROM information_schema.global_status WHERE variable_name IN \
                     ('INNODB_HISTORY_LIST_LENGTH', 'INNODB_BUFFER_POOL_PAGES_DIRTY');";
        let mut last = f64::INFINITY;
        for _ in 0..SETTLING_LOOKS {
            let text = self.script("", asked)?;
            let left: f64 = text.trim().parse().map_err(|error| format!("{asked} answered {text:?}: {error}"))?;
            if left < SETTLED || left >= last {
                break;
            }
            last = left;
            std::thread::sleep(std::time::Duration::from_secs(1));
        }
        Ok(())
    }

    /// Runs a script by the server's own client; what it printed.
    pub(crate) fn script(&self, database: &str, script: &str) -> Result<String, String> {
        match self.kind {
            ServerKind::PostgreSql => self.psql(database, script),
            ServerKind::MariaDb => self.mariadb(database, script),
        }
    }

    fn mariadb(&self, database: &str, script: &str) -> Result<String, String> {
        let mut command = Command::new("mariadb");
        command.args(["--no-defaults", "--batch", "--skip-column-names", "--user=root"]);
        command.arg(format!("--socket={}", self.socket())).arg(format!("--execute={script}"));
        if !database.is_empty() {
            command.arg(database);
        }
        let output =
            command.stdin(Stdio::null()).output().map_err(|error| format!("mariadb does not start: {error}"))?;
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        } else {
            Err(format!("mariadb: {}\n{script}", String::from_utf8_lossy(&output.stderr)))
        }
    }

    /// The folder of PostgreSQL's socket, where our instances have it.
    pub(crate) fn socket_folder(&self) -> String {
        self.folder.join("pg_stat_tmp").display().to_string()
    }

    /// Path of MariaDB's socket.
    pub(crate) fn socket(&self) -> String {
        self.folder.join("mariadbd.sock").display().to_string()
    }

    /// Runs a script by psql; what it printed.
    pub(crate) fn psql(&self, database: &str, script: &str) -> Result<String, String> {
        let mut child = Command::new("psql")
            .args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1"])
            .args(["--username=proofload", "--file=-"])
            .arg(format!("--host={}", self.socket_folder()))
            .arg(format!("--port={}", self.port))
            .arg(format!("--dbname={database}"))
            .env("PGOPTIONS", "-c search_path=proofload -c timezone=UTC -c client_min_messages=warning")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("psql does not start, it belongs to PostgreSQL's client programs: {error}"))?;
        let mut input = child.stdin.take().expect("it is piped");
        // A script that fails is not read to its end; psql then says why.
        let _rest_is_not_wanted = input.write_all(script.as_bytes());
        drop(input);
        let output = child.wait_with_output().map_err(|error| format!("psql: {error}"))?;
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        } else {
            Err(format!("psql: {}\n{script}", String::from_utf8_lossy(&output.stderr)))
        }
    }
}
