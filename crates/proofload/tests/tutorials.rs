//! The tutorials, carried out as they are written: every block of shell in order, in one shell and a temporary folder, and what a page shows
//! after a block is looked for in what the block said.
//!
//! A block marked `sh` is run, one marked `text` after it holds lines that its output has in this order, where `…` stands for anything. A comment
//! `<!-- test: CODE -->` is shell that the test alone runs at this place: smaller sizes, a port. `RUN_ALSO` is added to each `proofload run`.
//! `sudo -u postgres` is `runuser` and reaches the test's own server; `ssh db1` is a folder of this machine, by an sshd of the test's own if one is
//! installed.

mod support;

use proofload_engine::free_port;
use std::fmt::Write as _;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use support::{Bench, postgresql_here, text};

/// Begins the output of a block.
const BLOCK: &str = "@@ block ";

/// Codes of `run` with which a tutorial goes on: a toy on a shared host may come to no result.
const NO_RESULT: &str = "6";

/// A part of a page.
#[derive(Debug, PartialEq)]
enum Step {
    /// Shell that the page shows.
    Shown(String),
    /// Shell of the test alone.
    Hidden(String),
    /// Lines that the page shows of the last output.
    Expected(Vec<String>),
}

/// Takes a page apart.
fn steps(page: &str) -> Vec<Step> {
    let (mut steps, mut open): (Vec<Step>, Option<(&str, Vec<&str>)>) = (Vec::new(), None);
    for line in page.lines() {
        match (line.strip_prefix("```"), open.take()) {
            (Some(_), Some(("sh", lines))) => steps.push(Step::Shown(lines.join("\n"))),
            (Some(_), Some(("text", lines))) => {
                steps.push(Step::Expected(lines.into_iter().map(str::to_owned).collect()));
            }
            (Some(_), Some(_)) => {}
            (Some(kind), None) => open = Some((kind, Vec::new())),
            (None, Some((kind, mut lines))) => {
                lines.push(line);
                open = Some((kind, lines));
            }
            (None, None) => {
                let code = line.strip_prefix("<!-- test: ").and_then(|rest| rest.strip_suffix(" -->"));
                steps.extend(code.map(|code| Step::Hidden(code.to_owned())));
            }
        }
    }
    assert!(open.is_none(), "a block is not closed");
    steps
}

/// The page as one script, in which each block says its number first.
fn script(steps: &[Step]) -> String {
    let mut script = "set -eu\n".to_owned();
    for (index, step) in steps.iter().enumerate() {
        match step {
            Step::Shown(code) => writeln!(script, "printf '\\n{BLOCK}{index}\\n'\n{code}").expect("a text takes text"),
            Step::Hidden(code) => writeln!(script, "{code}").expect("a text takes text"),
            Step::Expected(_) => {}
        }
    }
    script + "printf '\\n@@ end\\n'\n"
}

/// Whether a line is one that a page shows.
fn is_shown(shown: &str, line: &str) -> bool {
    let mut parts = shown.split('…');
    let Some(mut rest) = line.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

/// Looks for what the page shows of each block.
#[track_caller]
fn expect_shown(steps: &[Step], said: &str) {
    let output_of = |block: usize| {
        let (_, rest) =
            said.split_once(&format!("{BLOCK}{block}\n")).unwrap_or_else(|| panic!("no block {block}: {said}"));
        rest.split("\n@@ ").next().unwrap_or_default()
    };
    let mut last = None;
    for (index, step) in steps.iter().enumerate() {
        match step {
            Step::Shown(_) => last = Some(index),
            Step::Hidden(_) => {}
            Step::Expected(lines) => {
                let output = output_of(last.expect("a block before its output"));
                let mut found = output.lines().map(str::trim_end);
                for line in lines.iter().filter(|line| *line != "…") {
                    assert!(
                        found.any(|said| is_shown(line, said)),
                        "{line:?} is not said, or not at its place:\n{output}"
                    );
                }
            }
        }
    }
}

/// Folders of a tutorial: programs that stand in for others, a home, the other host, the place of work.
fn folders(bench: &Bench) {
    for folder in ["bin", "home", "db1", "work"] {
        std::fs::create_dir_all(bench.path(folder)).expect("the folder takes one");
    }
}

/// A program in the folder that stands first in the path of a tutorial.
fn program(bench: &Bench, name: &str, script: &str) {
    let path = bench.path("bin").join(name);
    std::fs::write(&path, format!("#!/bin/sh\n{script}")).expect("the folder takes a file");
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("it is ours");
}

/// Carries a page out, with these variables.
fn carry_out(bench: &Bench, page: &str, variables: &[(&str, String)]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tutorials").join(page);
    let steps = steps(&std::fs::read_to_string(path).expect("the page is there"));
    assert!(steps.iter().filter(|step| matches!(step, Step::Shown(_))).count() > 5, "{page} has blocks to run");
    folders(bench);
    let real = env!("CARGO_BIN_EXE_proofload");
    let wrapper = format!(
        "case \"$* \" in 'run '*' --plan '*) exec {real} \"$@\" ;; 'run '*) ;; *) exec {real} \"$@\" ;; esac\n\
         eval \"{real} \\\"\\$@\\\" ${{RUN_ALSO:-}}\" || case $? in {NO_RESULT}) exit 0 ;; *) exit 1 ;; esac\n"
    );
    program(bench, "proofload", &wrapper);
    let server = "if [ \"$1\" = -u ]; then shift 2; exec runuser -u postgres -- env PGHOST=\"$TEST_SOCKETS\" PGPORT=\"$TEST_PORT\" \"$@\"; fi\nexec \"$@\"\n";
    program(bench, "sudo", server);
    let mut command = Command::new("sh");
    let marked = bench.command(&[]);
    command.envs(marked.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let path = std::env::var("PATH").unwrap_or_default();
    command.arg("-c").arg(script(&steps) + "\n").current_dir(bench.path("work")).env("HOME", bench.path("home"));
    command.env("PATH", format!("{}:{path}", bench.path("bin").display()));
    command.envs(variables.iter().map(|(name, value)| (name, value)));
    let log = bench.path("said");
    let to = std::fs::File::create(&log).expect("the folder takes a file");
    let status = command.stdin(Stdio::null()).stdout(to.try_clone().expect("a file")).stderr(to).status();
    let said = std::fs::read_to_string(&log).expect("it is text");
    assert!(status.is_ok_and(|status| status.success()) && said.ends_with("@@ end\n"), "{page}:\n{said}");
    expect_shown(&steps, &said);
    bench.expect_no_process();
}

/// A PostgreSQL of the user `postgres` with a network, which lets nobody in but by its socket, until it is dropped.
struct Server {
    programs: PathBuf,
    data: PathBuf,
    sockets: PathBuf,
    port: u16,
}

impl Server {
    #[track_caller]
    fn start(bench: &Bench) -> Self {
        let engine = proofload_engine::engine("postgresql").expect("it is built in");
        let programs = PathBuf::from(engine.locate().expect("it is installed").place);
        let port = free_port(Ipv4Addr::LOCALHOST.into()).expect("a port");
        let server = Self { programs, data: bench.path("server"), sockets: bench.path("sockets"), port };
        for folder in [&server.data, &server.sockets] {
            std::fs::create_dir(folder).expect("the folder takes one");
            expect_good(Command::new("chown").arg("postgres").arg(folder));
        }
        expect_good(server.program("initdb").arg("-D").arg(&server.data).args([
            "-A",
            "reject",
            "--auth-local",
            "trust",
        ]));
        let options = format!(
            "-c listen_addresses=127.0.0.1 -c port={port} -c fsync=off -c unix_socket_directories='{}'",
            server.sockets.display()
        );
        let log = server.sockets.join("log");
        let mut start = server.program("pg_ctl");
        start.arg("-D").arg(&server.data).args(["start", "-w", "-t", "240", "-s", "-o", &options, "-l"]).arg(&log);
        // Its output goes to the log: a pipe would stay open with the server.
        let started = start.stdout(Stdio::null()).stderr(Stdio::null()).status();
        let said = std::fs::read_to_string(&log).unwrap_or_default();
        assert!(started.is_ok_and(|status| status.success()), "{said}");
        server
    }

    fn program(&self, name: &str) -> Command {
        let mut command = Command::new("runuser");
        command.args(["-u", "postgres", "--"]).arg(self.programs.join(name)).current_dir("/tmp").stdin(Stdio::null());
        command
    }

    fn variables(&self) -> Vec<(&'static str, String)> {
        vec![("TEST_PORT", self.port.to_string()), ("TEST_SOCKETS", self.sockets.display().to_string())]
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let mut stop = self.program("pg_ctl");
        stop.arg("-D").arg(&self.data).args(["stop", "-m", "immediate", "-s"]);
        let _ended = stop.stdout(Stdio::null()).stderr(Stdio::null()).status();
    }
}

/// An sshd of the test's own on this machine, which stands for the host `db1`, until it is dropped.
struct SshServer(std::process::Child);

impl SshServer {
    /// Puts `ssh` into the path of the tutorial; `None` where sshd is not installed and a local command stands for it.
    fn start(bench: &Bench) -> Option<Self> {
        folders(bench);
        let sshd = std::env::var("PROOFLOAD_SSHD").unwrap_or_else(|_| "/usr/sbin/sshd".to_owned());
        if !Path::new(&sshd).exists() {
            say_skipped(&sshd);
            let db1 = bench.path("db1").display().to_string();
            let local = "while [ \"${1#-}\" != \"$1\" ]; do shift; done\n[ \"$1\" = db1 ] || exit 255\nshift\n";
            program(bench, "ssh", &format!("{local}cd {db1} && exec sh -c \"$*\"\n"));
            return None;
        }
        let at = |name: &str| bench.path(name).display().to_string();
        for key in ["host-key", "user-key"] {
            expect_good(Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f", &at(key)]));
        }
        let port = free_port(Ipv4Addr::LOCALHOST.into()).expect("a port");
        let marked = bench.command(&[]);
        let (mark, value) = marked
            .get_envs()
            .next()
            .and_then(|(name, value)| Some((name.to_str()?, value?.to_str()?)))
            .expect("a mark");
        let served = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {}\nAuthorizedKeysFile {}\nPasswordAuthentication no\nStrictModes no\n\
             UsePAM no\nPidFile none\nPermitRootLogin yes\nAcceptEnv {mark}\nForceCommand cd {} && exec sh -c \"$SSH_ORIGINAL_COMMAND\"\n",
            at("host-key"),
            at("user-key.pub"),
            at("db1")
        );
        let asks = format!(
            "Host db1\n  HostName 127.0.0.1\n  Port {port}\n  IdentityFile {}\n  IdentitiesOnly yes\n  BatchMode yes\n  StrictHostKeyChecking no\n  \
             UserKnownHostsFile /dev/null\n  LogLevel ERROR\n  SetEnv \"{mark}={value}\"\n",
            at("user-key")
        );
        std::fs::write(bench.path("sshd_config"), served).expect("the folder takes a file");
        std::fs::write(bench.path("ssh_config"), asks).expect("the folder takes a file");
        program(bench, "ssh", &format!("exec /usr/bin/ssh -F {} \"$@\"\n", at("ssh_config")));
        let mut server = Command::new(sshd);
        server.args(["-D", "-e", "-f", &at("sshd_config")]).stdin(Stdio::null()).stdout(Stdio::null());
        let log = std::fs::File::create(bench.path("sshd.log")).expect("the folder takes a file");
        let server = Self(server.stderr(log).spawn().expect("it is installed"));
        let begun = std::time::Instant::now();
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            let said = std::fs::read_to_string(bench.path("sshd.log")).unwrap_or_default();
            assert!(begun.elapsed().as_secs() < 180, "sshd does not answer: {said}");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        Some(server)
    }
}

impl Drop for SshServer {
    fn drop(&mut self) {
        let _killed = self.0.kill();
        let _ended = self.0.wait();
    }
}

#[expect(clippy::print_stdout, reason = "a skipped part of a test says so")]
fn say_skipped(sshd: &str) {
    println!("SKIPPED: two_hosts_by_ssh: a local command stands for ssh, since {sshd} is not installed");
}

#[track_caller]
fn expect_good(command: &mut Command) {
    let output = command.output().expect("it is installed");
    assert!(output.status.success(), "{command:?}: {}{}", text(&output.stdout), text(&output.stderr));
}

#[test]
fn a_page_is_taken_apart_and_its_lines_are_found() {
    let page = "Text\n```sh\na\nb\n```\n<!-- test: c -->\n```text\nx …\n```\n```toml\n[d]\n```\n";
    let expected =
        [Step::Shown("a\nb".to_owned()), Step::Hidden("c".to_owned()), Step::Expected(vec!["x …".to_owned()])];
    assert_eq!(steps(page), expected);
    assert!(is_shown("x …", "x 1") && is_shown("… b … d", "a b c d") && is_shown("x", "x"));
    assert!(!is_shown("x …", "y 1") && !is_shown("… b", "b c") && !is_shown("x", "x y"));
    let shown = std::panic::catch_unwind(|| expect_shown(&expected, "\n@@ block 0\ny 1\n@@ end\n"));
    assert!(shown.is_err(), "what a page shows and a block does not say is a fault");
}

#[test]
fn a_first_study_on_a_laptop() {
    carry_out(&Bench::new("laptop"), "laptop.md", &[]);
}

#[test]
fn a_postgresql_of_ones_own() {
    if !postgresql_here("a_postgresql_of_ones_own") {
        return;
    }
    let bench = Bench::new("own-server");
    let server = Server::start(&bench);
    carry_out(&bench, "your-postgresql.md", &server.variables());
}

#[test]
fn two_hosts_by_ssh() {
    if !postgresql_here("two_hosts_by_ssh") {
        return;
    }
    let bench = Bench::new("two-hosts");
    let server = Server::start(&bench);
    let _ssh = SshServer::start(&bench);
    // Servers that Proofload starts as root run as another user, who needs the folder.
    let data = [("TEST_DATA", bench.path("data").display().to_string())];
    carry_out(&bench, "two-hosts.md", &[server.variables(), data.to_vec()].concat());
}
