//! go-tpc, with data of its own in a database of its own; over TCP, because its URL takes no socket folder.

use super::peer::{Load, Peer, version};
use super::server::Server;
use std::process::{Command, Stdio};

struct GoTpc {
    version: String,
}

/// Its database.
const DATABASE: &str = "go_tpc";

fn command(action: &str, server: &Server, load: Load) -> Command {
    let mut command = Command::new("go-tpc");
    command.args([
        "tpcc",
        action,
        "--driver",
        "postgres",
        "--host",
        "127.0.0.1",
        "--user",
        "proofload",
        "--db",
        DATABASE,
    ]);
    command.args(["--conn-params", "sslmode=disable", "--warehouses", &load.warehouses.to_string()]);
    command.args(["--port", &server.port.to_string(), "--threads", &load.users.to_string()]);
    command
}

pub(crate) fn find(server: &Server, load: Load) -> Result<Box<dyn Peer>, String> {
    let version = version("go-tpc", &["version"])?;
    let create = Command::new("psql")
        .args(["--username=proofload", "--dbname=postgres", "--quiet", "--command"])
        .arg(format!("CREATE DATABASE {DATABASE}"))
        .arg(format!("--host={}", server.folder.display()))
        .arg(format!("--port={}", server.port))
        .status();
    if !create.is_ok_and(|status| status.success()) {
        return Err("psql did not make its database".to_owned());
    }
    let built =
        command("prepare", server, load).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    if built.is_ok_and(|status| status.success()) {
        Ok(Box::new(GoTpc { version }))
    } else {
        Err("its data were not built".to_owned())
    }
}

impl Peer for GoTpc {
    fn name(&self) -> &str {
        "go-tpc, own schema, over TCP"
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn command(&self, server: &Server, load: Load) -> Command {
        let mut run = command("run", server, load);
        run.args(["--time", &format!("{}s", load.seconds)]);
        run
    }

    /// Lines such as `[Summary] NEW_ORDER - Takes(s): 19.9, Count: 3344, TPM: …`.
    fn transactions(&self, output: &str) -> u64 {
        let counts = output.lines().filter(|line| line.starts_with("[Summary]") && !line.contains("_ERR"));
        counts.filter_map(|line| line.split("Count: ").nth(1)?.split(',').next()?.trim().parse::<u64>().ok()).sum()
    }
}
