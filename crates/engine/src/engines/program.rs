//! Programs beside a server: where they are looked for, how they are called, and what one says that is run to its end; one that hangs is not
//! waited for. May not know an engine.

use crate::contract::{CommandLine, Error};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// How long a program may take that tells its version or reads a small file: it starts slowly beside a busy disk, and on a file system
/// that hangs it never ends.
pub(in crate::engines) const ANSWERS_WITHIN: Duration = Duration::from_secs(30);

/// What a program said until its end.
#[derive(Debug)]
pub(in crate::engines) struct ProgramOutput {
    pub(in crate::engines) status: ExitStatus,
    pub(in crate::engines) stdout: String,
    pub(in crate::engines) stderr: String,
}

/// Folders of the `PATH`, in its order.
pub(in crate::engines) fn on_path() -> Vec<PathBuf> {
    std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default()
}

/// A call with the environment that keeps messages and dates the same everywhere.
pub(in crate::engines) fn command_line(program: PathBuf, arguments: Vec<String>) -> CommandLine {
    let environment = [("LC_ALL", "C"), ("TZ", "UTC")].map(|(name, value)| (name.to_owned(), value.to_owned()));
    CommandLine { program, arguments, environment: environment.into() }
}

/// Text in which a program tells its version.
pub(in crate::engines) fn version_text(program: &Path) -> Result<String, Error> {
    let mut command = Command::new(program);
    command.arg("--version");
    let said = said_within(command, ANSWERS_WITHIN).map_err(|error| no_version(program, &error.to_string()))?;
    if said.status.success() { Ok(said.stdout) } else { Err(no_version(program, said.stderr.trim())) }
}

/// The error of a program that tells no version, with what came back.
pub(in crate::engines) fn no_version(program: &Path, text: &str) -> Error {
    Error::other(format!("failed to get the version of {}: {text}", program.display()))
}

/// Runs a program to its end. One that takes longer is killed, and its end is not waited for: it may hang in the kernel.
///
/// # Errors
/// It cannot be started, or took longer.
pub(in crate::engines) fn said_within(mut command: Command, limit: Duration) -> io::Result<ProgramOutput> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().and_then(|child| end_within(child, limit))
}

/// The same of a program that was started.
fn end_within(mut child: Child, limit: Duration) -> io::Result<ProgramOutput> {
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let (sender, said) = mpsc::channel();
    std::thread::spawn(move || {
        // Both at once: a program that fills one waits for its reader.
        let beside = std::thread::spawn(move || text_of(stderr));
        let stdout = text_of(stdout);
        let stderr = beside.join().unwrap_or_else(|_| Err(io::Error::other("the reader of stderr panicked")));
        // Nobody listens after the limit.
        drop(sender.send((stdout, stderr)));
    });
    if let Ok((stdout, stderr)) = said.recv_timeout(limit) {
        return Ok(ProgramOutput { status: child.wait()?, stdout: stdout?, stderr: stderr? });
    }
    let killed = child.kill();
    std::thread::spawn(move || child.wait());
    killed?;
    let text = format!("it was killed after {limit:?} without an end; does a file system hang that it reads?");
    Err(io::Error::new(io::ErrorKind::TimedOut, text))
}

fn text_of(from: Option<impl Read>) -> io::Result<String> {
    let mut bytes = Vec::new();
    from.map_or(Ok(0), |mut from| from.read_to_end(&mut bytes))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_program_that_hangs_is_not_waited_for() {
        let said = said_within(shell("echo told >&2; echo shown; exit 3"), ANSWERS_WITHIN).expect("it ends");
        assert_eq!((said.status.code(), said.stdout.as_str(), said.stderr.as_str()), (Some(3), "shown\n", "told\n"));
        let hangs = said_within(shell("exec sleep 600"), Duration::from_millis(100)).expect_err("it hangs");
        assert!(hangs.kind() == io::ErrorKind::TimedOut && hangs.to_string().contains("100ms"), "{hangs}");
    }

    #[test]
    fn much_on_both_outputs_is_read_to_its_end() {
        let line = "0123456789".repeat(4);
        let script = format!("i=0; while [ $i -lt 3000 ]; do echo {line}; echo {line} >&2; i=$((i+1)); done");
        let said = said_within(shell(&script), ANSWERS_WITHIN).expect("it ends");
        assert_eq!((said.stdout.lines().count(), said.stderr.lines().count()), (3000, 3000));
    }
}
