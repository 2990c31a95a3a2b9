//! A study of a server by way of PgBouncer that pools by transaction: each transaction may meet another process of the server.

/// The conformance suite's places: a started server.
#[path = "../../engine/tests/support/mod.rs"]
mod places;
mod support;

use places::{Place, Special};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use support::waiting::wait_until;
use support::{Bench, postgresql_here, text};

/// Where `scripts/server-needs.sh` unpacks one; that of a stable distribution may be too old to keep prepared statements.
const PROGRAM: &str = "/opt/proofload-test-needs/pgbouncer/bin/pgbouncer";

/// Fewer sessions of the server than users, so that users take turns at them.
const POOL: usize = 2;

/// A running pooler, ended when it is dropped.
struct Pooler {
    child: Child,
    sockets: PathBuf,
}

impl Pooler {
    /// Starts one in front of a server, as the server's user: it refuses to be root.
    fn start(bench: &Bench, server: &str, mode: &str) -> Self {
        let (folder, sockets) = (bench.path("pooler"), bench.path("pooler/sockets"));
        std::fs::create_dir_all(&sockets).expect("the folder takes one");
        let (file, users) = (folder.join("pgbouncer.ini"), folder.join("users"));
        let text = format!(
            "[databases]\n* = {}\n[pgbouncer]\nlisten_port = 6432\nunix_socket_dir = {}\nauth_type = trust\n\
             auth_file = {}\npool_mode = {mode}\ndefault_pool_size = {POOL}\n",
            server.replace(" dbname=proofload", ""),
            sockets.display(),
            users.display(),
        );
        std::fs::write(&file, text).expect("the folder takes a file");
        std::fs::write(&users, "\"proofload\" \"\"\n").expect("the folder takes a file");
        let mut command = Command::new(PROGRAM);
        if rustix::process::geteuid().is_root() {
            let owned = Command::new("chown").args(["-R", "postgres"]).arg(&folder).status();
            assert!(owned.is_ok_and(|status| status.success()));
            command = Command::new("setpriv");
            command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups", PROGRAM]);
        }
        command.arg(&file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let pooler = Self { child: command.spawn().expect("it starts"), sockets };
        wait_until("the pooler listens", || pooler.sockets.join(".s.PGSQL.6432").exists());
        pooler
    }

    fn url(&self) -> String {
        format!("host='{}' port=6432 user=proofload dbname=proofload", self.sockets.display())
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _status = self.child.wait();
    }
}

#[test]
fn users_take_turns_at_the_sessions_of_a_pool() {
    if !postgresql_here("users_take_turns_at_the_sessions_of_a_pool") {
        return;
    }
    if !Path::new(PROGRAM).exists() {
        println!(
            "SKIPPED: there is no PgBouncer that keeps prepared statements; as root on Debian, scripts/server-needs.sh unpacks one"
        );
        return;
    }
    let postgresql = proofload_engine::engine("postgresql").expect("it is built in");
    let place = Place::new(postgresql, &[], &Special::default()).expect("a server");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(postgresql.create_database(&place.target)).expect("a database");
    let bench = Bench::new("pooler");
    let pooler = Pooler::start(&bench, place.target.address().expect("a server"), "transaction");
    let study = bench.study(&format!(
        "[study]\nname = \"pooler\"\ntitle = \"By way of a pooler\"\n\
         [workload]\nkind = \"tprocc\"\nscale = \"toy\"\nwarehouses = 1\nvirtual_users = 6\n\
         [engine]\nkind = \"postgresql\"\nurl = \"{}\"\n\
         [procedure]\nrestore = \"never\"\nwarm_up.at_least = \"1s\"\nmeasure = \"3s\"\n\
         [[factor]]\nsetting = \"workload.form\"\nlevels = [\"statements\", \"procedures\"]\n",
        pooler.url()
    ));
    let ran = bench.run(&["run", study.to_str().expect("a path"), "-o", "x.proof"]);
    // Windows of seconds may be void; every count and audit holds, which exit code 5 would deny.
    assert!(matches!(ran.status.code(), Some(0 | 6)), "{}{}", text(&ran.stdout), text(&ran.stderr));
    let said = text(&ran.stdout);
    assert!(!said.contains("not run"), "{said}");
    let verified = bench.run(&["verify", "x.proof"]);
    assert_eq!(verified.status.code(), Some(0), "{}", text(&verified.stdout));
}
