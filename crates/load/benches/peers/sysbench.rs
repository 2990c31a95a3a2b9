//! sysbench with the Lua scripts of sysbench-tpcc, in the folder that the variable `SYSBENCH_TPCC` names: one set of
//! tables without foreign keys, as the others have it, and read committed, because its default, repeatable read, fails
//! on PostgreSQL where two users meet.

use super::measure::Ran;
use super::peer::{Completed, Load, Peer, build, folder_of, in_its_schema, version};
use super::server::{Server, ServerKind};
use std::path::{Path, PathBuf};
use std::process::Command;

struct Sysbench {
    version: String,
    scripts: PathBuf,
}

/// Its database.
const DATABASE: &str = "sysbench";

fn command(scripts: &Path, server: &Server, load: Load) -> Command {
    let mut command = Command::new("sysbench");
    // The script loads its parts from where it is started.
    command.current_dir(scripts).arg("tpcc.lua");
    match server.kind {
        ServerKind::PostgreSql => command
            .args(["--db-driver=pgsql", "--pgsql-user=proofload"])
            .arg(format!("--pgsql-host={}", server.socket_folder()))
            .arg(format!("--pgsql-port={}", server.port))
            .arg(format!("--pgsql-db={DATABASE}")),
        ServerKind::MariaDb => command
            .args(["--db-driver=mysql", "--mysql-user=root"])
            .arg(format!("--mysql-socket={}", server.socket()))
            .arg(format!("--mysql-db={DATABASE}")),
    };
    command.args(["--tables=1", "--use_fk=0", "--trx_level=RC"]);
    command.arg(format!("--scale={}", load.warehouses)).arg(format!("--threads={}", load.users));
    command
}

pub(crate) fn find(server: &Server, load: Load) -> Result<Box<dyn Peer>, String> {
    let version = version("sysbench", &["--version"])?;
    let scripts = folder_of("SYSBENCH_TPCC", "tpcc.lua")?;
    build(server, DATABASE, command(&scripts, server, load).arg("prepare"))?;
    Ok(Box::new(Sysbench { version, scripts }))
}

impl Peer for Sysbench {
    fn name(&self) -> &str {
        "sysbench-tpcc, statements"
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn database(&self) -> &str {
        DATABASE
    }

    fn districts(&self, kind: ServerKind) -> String {
        in_its_schema(DATABASE, kind, "district1")
    }

    fn command(&self, server: &Server, load: Load) -> Command {
        let mut run = command(&self.scripts, server, load);
        run.arg(format!("--time={}", load.seconds)).arg("run");
        run
    }

    /// A line such as `transactions:                        4666   (465.34 per sec.)`: every event that ended, those
    /// that its script rolls back for an unused item included.
    fn completed(&self, ran: &Ran, load: Load) -> Option<Completed> {
        let line = ran.output.lines().find_map(|line| line.trim().strip_prefix("transactions:"))?;
        Completed::within(load, line.split_whitespace().next()?.parse().ok()?)
    }
}
