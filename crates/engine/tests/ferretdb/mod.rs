//! FerretDB as a real server for tests: built once by Go, started on a free port of the loopback, stopped when it is dropped.
//!
//! It speaks MongoDB's protocol over SQLite or PostgreSQL. It shows that a client is right, never how fast a MongoDB server is.

pub(crate) mod postgresql;

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A test that must not be skipped is run with this variable set.
const REQUIRE: &str = "PROOFLOAD_REQUIRE_FERRETDB";
/// A server says its address within this time, and ends within it.
const PATIENCE: Duration = Duration::from_secs(120);
/// What the program is made from.
const SOURCES: [&str; 3] = ["go.mod", "go.sum", "main.go"];

/// Where the documents are kept.
#[derive(Debug, Clone, Copy)]
pub(crate) enum BackEnd<'a> {
    /// SQLite files in the server's own temporary folder.
    Sqlite,
    /// A PostgreSQL database by URL.
    Postgresql(&'a str),
}

/// A running server.
#[derive(Debug)]
pub(crate) struct FerretDb {
    /// Its address, `mongodb://127.0.0.1:<port>/`.
    url: String,
    child: Child,
    _folder: TempDir,
}

impl FerretDb {
    /// Starts a server; the error says why it cannot be built here. Panics where the environment requires it.
    pub(crate) fn start(back_end: BackEnd<'_>) -> Result<Self, String> {
        let program = program();
        let is_required = std::env::var_os(REQUIRE).is_some();
        assert!(program.is_ok() || !is_required, "FerretDB is required: {program:?}");
        program.map(|program| Self::run(&program, back_end))
    }

    /// URL of a database of its.
    pub(crate) fn database(&self, name: &str) -> String {
        format!("{}{name}", self.url)
    }

    fn run(program: &Path, back_end: BackEnd<'_>) -> Self {
        let folder = tempfile::Builder::new().prefix("proofload-ferretdb-").tempdir().expect("a temporary folder");
        let log = folder.path().join("log");
        let mut command = Command::new(program);
        match back_end {
            BackEnd::Sqlite => command.args(["-handler", "sqlite", "-folder"]).arg(folder.path()),
            BackEnd::Postgresql(url) => command.args(["-handler", "postgresql", "-postgresql", url]),
        };
        let output = File::create(&log).expect("a log");
        // The pipe to its standard input ends with this process, however it ends, and the server with the pipe.
        let spawned = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(output).spawn();
        let mut child = spawned.expect("FerretDB starts");
        let url = first_line(&mut child).unwrap_or_else(|| {
            let _ = child.kill();
            panic!("FerretDB says no address: {}", std::fs::read_to_string(&log).unwrap_or_default())
        });
        Self { url, child, _folder: folder }
    }
}

impl Drop for FerretDb {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The first line of its output, if it comes in time.
fn first_line(child: &mut Child) -> Option<String> {
    let output = child.stdout.take()?;
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut line = String::new();
        if BufReader::new(output).read_line(&mut line).is_ok() {
            let _ = sender.send(line.trim_end().to_owned());
        }
    });
    receiver.recv_timeout(PATIENCE).ok().filter(|line| !line.is_empty())
}

/// The program, built when it is not there or not from these sources. The error says what is missing.
fn program() -> Result<PathBuf, String> {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../engine/tests/ferretdb");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ferretdb");
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let lock = File::create(folder.join("lock")).map_err(|error| error.to_string())?;
    lock.lock().map_err(|error| error.to_string())?;
    let (program, stamp) = (folder.join("ferretdb"), folder.join("built-from"));
    let wanted: String =
        SOURCES.iter().map(|name| std::fs::read_to_string(sources.join(name)).unwrap_or_default()).collect();
    if program.exists() && std::fs::read_to_string(&stamp).is_ok_and(|found| found == wanted) {
        return Ok(program);
    }
    build(&sources, &program)?;
    std::fs::write(&stamp, wanted).map_err(|error| error.to_string())?;
    Ok(program)
}

fn build(sources: &Path, program: &Path) -> Result<(), String> {
    let go = go().ok_or("Go is not installed; it builds the test server")?;
    let output = Command::new(go).args(["build", "-o"]).arg(program).arg(".").current_dir(sources).output();
    let output = output.map_err(|error| format!("start Go: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.success() {
        Ok(())
    } else {
        Err(format!("go build ended with {}: {}", output.status, said.trim_end()))
    }
}

/// Go's command, from `PATH` or where its own packages put it.
fn go() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/local/go/bin".into(), "/usr/lib/go/bin".into()]);
    folders.map(|folder| folder.join("go")).find(|program| program.is_file())
}
