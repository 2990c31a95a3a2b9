//! Runs a program of the system within a time. It starts no shell and leaves no process.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::waiting::until;
use crate::error::Error;

/// Time between two looks at the program.
const LOOK: Duration = Duration::from_millis(20);
/// Looks at a program, at most: 10 s.
const MOST_LOOKS: u32 = 500;

/// Runs a program; returns what it wrote on standard output.
pub(super) fn run(program: &'static str, arguments: &[&str]) -> Result<String, Error> {
    let shown = || format!("{program} {}", arguments.join(" "));
    let failed =
        |came: String| Error::program("ran", shown(), came, "is it installed, and does this user have permission?");
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| failed(error.to_string()))?;
    if !ends(&mut child) {
        // One that waits for a device in the kernel cannot be waited for either.
        drop(child.kill());
        return Err(failed("it had not finished after 10 s".to_owned()));
    }
    let output = child.wait_with_output().map_err(|error| failed(error.to_string()))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(failed(format!("{}, {}", output.status, String::from_utf8_lossy(&output.stderr).trim()))),
    }
}

/// Whether a program ended in time. What it writes is short, so that no pipe is ever full.
fn ends(child: &mut Child) -> bool {
    until(MOST_LOOKS, LOOK, || !matches!(child.try_wait(), Ok(None)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_says_is_returned_and_its_failure_is_told() {
        assert_eq!(run("echo", &["a", "b"]).unwrap(), "a b\n");
        let failed = run("ls", &["/no/such/folder"]).unwrap_err().to_string();
        assert!(failed.contains("ran ls /no/such/folder") && failed.contains("No such file"), "{failed}");
        assert!(run("no-such-program", &[]).is_err());
    }
}
