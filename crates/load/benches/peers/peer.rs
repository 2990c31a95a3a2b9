//! What a client under comparison is, the list of them, and what their drivers share.

use super::measure::Ran;
use super::server::{Server, ServerKind};
use super::{benchbase, go_tpc, hammerdb, mariadb_slap, ours, pgbench, sysbench};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// How every client is loaded: saturated, no waits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Load {
    pub(crate) seconds: u32,
    pub(crate) warehouses: u32,
    pub(crate) users: u32,
}

impl Load {
    /// Client threads of a client that lets us choose: one per core, as ours.
    pub(crate) fn threads(self) -> u32 {
        std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32).min(self.users)
    }
}

/// What a client completed in one run, intended rollbacks included.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Completed {
    pub(crate) transactions: u64,
    pub(crate) per_second: f64,
}

impl Completed {
    /// The result of a client that loads for exactly the seconds that it is given.
    pub(crate) fn within(load: Load, transactions: u64) -> Option<Self> {
        (transactions > 0).then(|| Self { transactions, per_second: transactions as f64 / f64::from(load.seconds) })
    }
}

/// One client.
pub(crate) trait Peer {
    /// Name in the table.
    fn name(&self) -> &str;

    /// Version as the client tells it.
    fn version(&self) -> &str;

    /// The database that it loads.
    fn database(&self) -> &str;

    /// The table there, with its schema, whose `d_next_o_id` its New-Orders raise.
    fn districts(&self, kind: ServerKind) -> String {
        in_its_schema(self.database(), kind, "district")
    }

    /// The command of one run. Its process must wait for those that it starts: CPU is counted of the children that were
    /// waited for.
    fn command(&self, server: &Server, load: Load) -> Command;

    /// Transactions of the run; `None` when it does not report them.
    fn completed(&self, ran: &Ran, load: Load) -> Option<Completed>;
}

/// A table of a client's own database, where clients put it: PostgreSQL's schema `public`, or the database itself.
pub(crate) fn in_its_schema(database: &str, kind: ServerKind, table: &str) -> String {
    match kind {
        ServerKind::PostgreSql => format!("public.{table}"),
        ServerKind::MariaDb => format!("{database}.{table}"),
    }
}

/// Finds a client and builds its data, or says why it is left out.
type Find = fn(&Server, Load) -> Result<Box<dyn Peer>, String>;

/// Every client with the servers that it is driven on, in the order of the first round.
pub(crate) const PEERS: &[(&str, &[ServerKind], Find)] = &[
    ("procedures", BOTH, ours::procedures),
    ("pgbench", &[ServerKind::PostgreSql], pgbench::find),
    ("mariadb-slap", &[ServerKind::MariaDb], mariadb_slap::find),
    ("compatible", BOTH, ours::compatible),
    ("hammerdb", BOTH, hammerdb::find),
    ("statements", BOTH, ours::statements),
    ("benchbase", &[ServerKind::PostgreSql], benchbase::find),
    ("go-tpc", BOTH, go_tpc::find),
    ("sysbench", BOTH, sysbench::find),
];

const BOTH: &[ServerKind] = &[ServerKind::PostgreSql, ServerKind::MariaDb];

/// What a program prints with these arguments; the error says that it is not there.
pub(crate) fn told(program: &str, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{program} is not on the PATH ({error})"))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr))
}

/// The first line of that: what a program says of its version.
pub(crate) fn version(program: &str, arguments: &[&str]) -> Result<String, String> {
    Ok(told(program, arguments)?.lines().next().unwrap_or("no version told").trim().to_owned())
}

/// The folder that an environment variable names; the error says that it does not, or that the file is not in it.
pub(crate) fn folder_of(variable: &str, file: &str) -> Result<PathBuf, String> {
    let folder = std::env::var_os(variable).map(PathBuf::from);
    folder
        .filter(|folder| folder.join(file).is_file())
        .ok_or_else(|| format!("{variable} does not name a folder with {file}"))
}

/// A database of a client's own: makes it, lets a command fill it, then vacuums and analyses it and writes it to disk,
/// as our build does with ours. What the command printed.
pub(crate) fn build(server: &Server, database: &str, fill: &mut Command) -> Result<String, String> {
    server.create_database(database)?;
    let output = fill.stdin(Stdio::null()).output().map_err(|error| format!("starting {fill:?}: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("its data were not built: {fill:?}: {}: {}", output.status, end(&text)));
    }
    server.settle(database)?;
    Ok(text)
}

/// The last lines of what a program printed, where it says what went wrong.
pub(crate) fn end(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(5)..].join(" / ")
}
