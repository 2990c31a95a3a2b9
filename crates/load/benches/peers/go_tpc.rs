//! go-tpc; over TCP, because its URL takes no socket folder. Its own check after the build is left out: before the
//! tables are analysed it takes minutes for each warehouse.

use super::measure::Ran;
use super::peer::{Completed, Load, Peer, build, told};
use super::server::{Server, ServerKind};
use std::process::Command;

struct GoTpc {
    version: String,
}

/// Its database.
const DATABASE: &str = "go_tpc";

fn command(action: &str, server: &Server, load: Load) -> Command {
    let mut command = Command::new("go-tpc");
    command.args(["tpcc", action, "--host", "127.0.0.1", "--db", DATABASE]);
    match server.kind {
        ServerKind::PostgreSql => {
            command.args(["--driver", "postgres", "--user", "proofload", "--conn-params", "sslmode=disable"])
        }
        ServerKind::MariaDb => command.args(["--driver", "mysql", "--user", "root", "--isolation", "2"]),
    };
    command.args(["--warehouses", &load.warehouses.to_string(), "--threads", &load.users.to_string()]);
    command.args(["--port", &server.port.to_string()]);
    command
}

pub(crate) fn find(server: &Server, load: Load) -> Result<Box<dyn Peer>, String> {
    let told = told("go-tpc", &["version"])?;
    let version = told.lines().find_map(|line| line.strip_prefix("Git Commit Hash: ")).unwrap_or("no version told");
    build(server, DATABASE, command("prepare", server, load).arg("--no-check"))?;
    Ok(Box::new(GoTpc { version: version.to_owned() }))
}

impl Peer for GoTpc {
    fn name(&self) -> &str {
        "go-tpc, statements, TCP"
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn database(&self) -> &str {
        DATABASE
    }

    fn command(&self, server: &Server, load: Load) -> Command {
        let mut run = command("run", server, load);
        run.args(["--time", &format!("{}s", load.seconds)]);
        run
    }

    /// Lines such as `[Summary] NEW_ORDER - Takes(s): 19.9, Count: 3344, TPM: …`; those of `_ERR` are what the end of
    /// the time cut off.
    fn completed(&self, ran: &Ran, load: Load) -> Option<Completed> {
        let counts = ran.output.lines().filter(|line| line.starts_with("[Summary]") && !line.contains("_ERR"));
        let count = |line: &str| line.split("Count: ").nth(1)?.split(',').next()?.trim().parse::<u64>().ok();
        Completed::within(load, counts.filter_map(count).sum())
    }
}
