//! HammerDB by its command line, timed, with its functions or procedures, which are its default. `hammerdbcli` is looked
//! for on the PATH and started in its own folder, where its parts are.
//!
//! Its users load from before its window until they notice the end of it, so its NOPM and TPM are not all that it did.
//! A call is one transaction, so what its database ended during the run is counted; that includes a dozen of each user's
//! connecting. The rate is its own: TPM, the transactions of the whole server in the window. The window
//! is a whole number of 6 s, the step of its clock, without ramp-up.

use super::measure::Ran;
use super::peer::{Completed, Load, Peer, build, end};
use super::server::{Server, ServerKind};
use std::path::{Path, PathBuf};
use std::process::Command;

struct HammerDb {
    version: String,
    program: PathBuf,
    script: PathBuf,
}

/// Its program and its database.
const PROGRAM: &str = "hammerdbcli";
const DATABASE: &str = "hammerdb";

pub(crate) fn find(server: &Server, load: Load) -> Result<Box<dyn Peer>, String> {
    let program = on_the_path().ok_or_else(|| format!("{PROGRAM} is not on the PATH"))?;
    let place = server.folder.with_file_name("hammerdb");
    std::fs::create_dir_all(&place).map_err(|error| format!("making {}: {error}", place.display()))?;
    let write = |name: &str, text: String| {
        let path = place.join(name);
        std::fs::write(&path, settings(server) + &text)
            .map_err(|error| format!("writing {}: {error}", path.display()))?;
        Ok::<_, String>(path)
    };
    let script = write("run.tcl", run(server.kind, load))?;
    let told = build(server, DATABASE, &mut command(&program, &write("build.tcl", building(server.kind, load))?))?;
    if told.contains("FINISHED FAILED") || !told.contains("ALL VIRTUAL USERS COMPLETE") {
        return Err(format!("its data were not built: {}", end(&told)));
    }
    let version = told.lines().find_map(|line| line.strip_prefix("HammerDB CLI ")).unwrap_or("no version told");
    Ok(Box::new(HammerDb { version: version.to_owned(), program, script }))
}

/// The program itself, not a link to it: it looks for its parts where it stands.
fn on_the_path() -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    let found = std::env::split_paths(&folders).map(|folder| folder.join(PROGRAM)).find(|path| path.is_file())?;
    found.canonicalize().ok()
}

fn command(program: &Path, script: &Path) -> Command {
    let mut command = Command::new(program);
    command.args(["auto", &script.display().to_string()]);
    command.current_dir(program.parent().unwrap_or(Path::new("/")));
    // Where it keeps its settings from one run to the next.
    command.env("TMP", script.parent().unwrap_or(Path::new("/tmp")));
    command
}

/// What its settings of a server begin with.
fn prefix(kind: ServerKind) -> &'static str {
    match kind {
        ServerKind::PostgreSql => "pg",
        ServerKind::MariaDb => "maria",
    }
}

/// What both scripts begin with.
fn settings(server: &Server) -> String {
    let own = match server.kind {
        ServerKind::PostgreSql => format!(
            "diset connection pg_host {{{}}}\ndiset connection pg_sslmode disable
diset tpcc pg_superuser proofload\ndiset tpcc pg_superuserpass none\ndiset tpcc pg_defaultdbase postgres
diset tpcc pg_user proofload\ndiset tpcc pg_pass none\n",
            server.socket_folder(),
        ),
        ServerKind::MariaDb => format!(
            "diset connection maria_host 127.0.0.1\ndiset connection maria_socket {{{}}}
diset tpcc maria_user root\ndiset tpcc maria_pass null\n",
            server.socket(),
        ),
    };
    let (prefix, port) = (prefix(server.kind), server.port);
    format!(
        "dbset db {prefix}\ndbset bm TPC-C\n{own}diset connection {prefix}_port {port}\ndiset tpcc {prefix}_dbase {DATABASE}\n"
    )
}

fn building(kind: ServerKind, load: Load) -> String {
    let (prefix, builders) = (prefix(kind), load.threads().min(load.warehouses));
    format!("diset tpcc {prefix}_count_ware {}\ndiset tpcc {prefix}_num_vu {builders}\nbuildschema\n", load.warehouses)
}

/// Errors are raised, else a call that fails is not told. Windows of less than a minute need a wait of our own.
fn run(kind: ServerKind, load: Load) -> String {
    let prefix = prefix(kind);
    format!(
        "diset tpcc {prefix}_driver timed\ndiset tpcc {prefix}_rampup 0\ndiset tpcc {prefix}_duration {}\ndiset tpcc {prefix}_raiseerror true
loadscript\nvuset vu {}\nvucreate\nvurun
while {{![vucomplete]}} {{ after 200 {{ set looked 1 }}; vwait looked }}\nvudestroy\n",
        minutes(load.seconds),
        load.users
    )
}

/// The whole number of 6 s that is nearest, min. It waits until steps of 6,000 ms come to exactly `minutes * 60000`, so
/// a number whose product is rounded would never end; the next smaller one is taken then.
fn minutes(seconds: u32) -> String {
    let exact = |steps: &u32| (f64::from(*steps) / 10.0 * 60_000.0).to_bits() == f64::from(steps * 6_000).to_bits();
    let steps = (1..=(seconds + 3) / 6).rev().find(exact).unwrap_or(1);
    format!("{:.1}", f64::from(steps) / 10.0)
}

impl Peer for HammerDb {
    fn name(&self) -> &str {
        "HammerDB, its functions or procedures"
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn database(&self) -> &str {
        DATABASE
    }

    fn command(&self, _: &Server, _: Load) -> Command {
        command(&self.program, &self.script)
    }

    /// A line such as `TEST RESULT : System achieved 45815.0 NOPM from 97965.0 PostgreSQL TPM`; a user that failed
    /// spoils it.
    fn completed(&self, ran: &Ran, _: Load) -> Option<Completed> {
        let line = ran.output.lines().find(|line| line.contains("TEST RESULT"))?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let tpm: f64 = words.iter().skip_while(|word| **word != "from").nth(1)?.parse().ok()?;
        let transactions = u64::try_from(ran.transactions).ok().filter(|count| *count > 0)?;
        (!ran.output.contains("FINISHED FAILED")).then_some(Completed { transactions, per_second: tpm / 60.0 })
    }
}
