//! The server as a process of its own, so that neither its CPU time nor its allocations are counted as the client's: the binary
//! that uses it starts itself once more.

use super::behaviour::Behaviour;
use super::serve::Server;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdout, Command, Stdio};

/// The variable that says that this process is to be the server.
const ASKED: &str = "PROOFLOAD_TEST_SERVER";

/// Serves, if this process is to be the server, until its standard input ends, which it does with its parent.
pub(crate) fn serve_if_asked(behaviour: Behaviour) -> bool {
    if std::env::var_os(ASKED).is_none() {
        return false;
    }
    let server = Server::start(behaviour);
    // A test harness may have written half a line before.
    writeln!(std::io::stdout(), "\n{}", server.url("proofload")).expect("the parent listens");
    std::io::stdin().read_to_end(&mut Vec::new()).expect("standard input can be read");
    true
}

/// A server process; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    /// Open as long as the server may write something.
    _output: BufReader<ChildStdout>,
    /// The URL of its database.
    pub(crate) url: String,
}

impl Process {
    /// Starts this binary with such arguments that it comes to `serve_if_asked`.
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let program = std::env::current_exe().expect("a path of this binary");
        let mut command = Command::new(program);
        command.args(arguments).env(ASKED, "1").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("this binary starts once more");
        let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut lines = output.by_ref().lines().map_while(Result::ok);
        let url = lines.find(|line| line.starts_with("mongodb://")).expect("the server tells its URL");
        Self { child, _output: output, url }
    }

    /// Its process id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
