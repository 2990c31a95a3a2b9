//! The one server of a comparison, its CPU time, and scripts for it.

use super::processes;
use super::support::{Place, Special};
use proofload_engine::engine;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Settings beside those of any instance of ours. Runs are shorter than the periods of checkpoints and of autovacuum,
/// which would meet one client's run and not the next one's: [`Server::tidy`] does their work before each run instead.
/// Autovacuum spreads its visits to the databases over its period, and each peer has one.
const SETTINGS: &[(&str, &str)] = &[
    ("shared_buffers", "1GiB"),
    ("max_wal_size", "8GiB"),
    ("checkpoint_timeout", "1h"),
    ("autovacuum_naptime", "1d"),
    ("max_connections", "200"),
];

/// A running PostgreSQL.
pub(crate) struct Server {
    pub(crate) place: Place,
    /// The folder of its socket.
    pub(crate) folder: PathBuf,
    pub(crate) port: u16,
    pub(crate) version: String,
    pid: u32,
}

impl Server {
    /// Starts it; the error says what is missing. It also listens on the loopback address for clients that cannot use
    /// its socket.
    pub(crate) fn start() -> Result<Self, String> {
        let postgresql = engine("postgresql").expect("it is registered");
        let version = postgresql.locate().map_err(|error| error.to_string())?.version;
        let listener = std::net::TcpListener::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
        let port = listener.local_addr().map_err(|error| error.to_string())?.port();
        drop(listener);
        let added = [
            ("postgresql.conf", "listen_addresses = '127.0.0.1'\n".to_owned()),
            ("pg_hba.conf", "host all all 127.0.0.1/32 trust\n".to_owned()),
        ];
        let place = Place::new(postgresql, SETTINGS, &Special { prefix: "proofload-peers-", added: &added, port })?;
        let folder = Path::new(&place.target.place.folder).join("instance");
        let pid =
            postgresql.server().and_then(|recipe| recipe.running_pid(&folder)).ok_or("the server has no process")?;
        Ok(Self { place, folder, port, version, pid })
    }

    /// CPU time of the server's processes so far, those that have ended included, s.
    pub(crate) fn cpu(&self) -> f64 {
        processes::cpu(&processes::family(self.pid))
    }

    /// Leaves a database without dead rows, and nothing to be written back: what earlier runs left is not this one's
    /// work.
    pub(crate) fn tidy(&self, database: &str) -> Result<(), String> {
        self.psql(database, "VACUUM ANALYZE;\nCHECKPOINT;\n").map(drop)
    }

    /// Runs a script by psql; what it printed.
    pub(crate) fn psql(&self, database: &str, script: &str) -> Result<String, String> {
        let mut child = Command::new("psql")
            .args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1"])
            .args(["--username=proofload", "--file=-"])
            .arg(format!("--host={}", self.folder.display()))
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
