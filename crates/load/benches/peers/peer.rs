//! What a client under comparison is, and the list of them.

use super::server::Server;
use super::{go_tpc, ours, pgbench};
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

/// One client.
pub(crate) trait Peer {
    /// Name in the table.
    fn name(&self) -> &str;

    /// Version as the client tells it.
    fn version(&self) -> &str;

    /// The command of one run.
    fn command(&self, server: &Server, load: Load) -> Command;

    /// Transactions that the run completed, from its output.
    fn transactions(&self, output: &str) -> u64;
}

/// Finds a client and builds its data, or says why it is left out.
type Find = fn(&Server, Load) -> Result<Box<dyn Peer>, String>;

/// Every client, in the order of the first round.
pub(crate) const PEERS: &[(&str, Find)] = &[
    ("procedures", ours::procedures),
    ("pgbench", pgbench::find),
    ("statements", ours::statements),
    ("go-tpc", go_tpc::find),
    ("hammerdbcli", |_, _| not_driven("hammerdbcli")),
    ("benchbase", |_, _| not_driven("benchbase")),
    ("sysbench", |_, _| not_driven("sysbench")),
];

/// Clients that this bench cannot drive, whether or not they are there.
fn not_driven(program: &str) -> Result<Box<dyn Peer>, String> {
    version(program, &["--version"])?;
    Err("it is on the PATH, but this bench does not drive it".to_owned())
}

/// What a program says of its version; the error says that it is not there.
pub(crate) fn version(program: &str, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{program} is not on the PATH ({error})"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    Ok(text.lines().next().unwrap_or("no version told").trim().to_owned())
}
