//! Runs a command of a manager to its end, as its user, and takes what it says.

use crate::instances::User;
use crate::sys::{self, Spawn};
use proofload_engine::CommandLine;
use proofload_model::error::Error;
use proofload_model::time::Clock;
use std::io::{Read as _, Seek as _};
use std::path::Path;
use std::process::Child;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

const KILL: i32 = 9;

/// How often is looked whether it has ended.
const GLANCE: Duration = Duration::from_millis(5);

/// Files for answers so far, so that each has a name of its own.
static ANSWERS: AtomicU64 = AtomicU64::new(0);

/// Whoever runs commands of managers.
#[derive(Clone)]
pub(crate) struct Tools {
    /// User to run them as; `None`: ourselves.
    pub(crate) user: Option<User>,
    pub(crate) clock: Arc<dyn Clock>,
}

impl Tools {
    /// Runs a command in a folder to its end; what it said.
    ///
    /// # Errors
    /// It did not end within the time, or not well, with what it said.
    pub(crate) fn run(&self, command: &CommandLine, folder: &Path, within: Duration) -> Result<String, Error> {
        Tool::start(command, folder, self.user.as_ref())?.finish(within, &*self.clock)
    }
}

/// A command under way.
struct Tool {
    child: Child,
    output: std::fs::File,
    name: String,
}

impl Tool {
    /// Starts it.
    fn start(command: &CommandLine, folder: &Path, user: Option<&User>) -> Result<Self, Error> {
        let name = format!("{} {}", command.program.display(), command.arguments.first().map_or("", String::as_str));
        let failed = |error: std::io::Error| Error::new(format!("failed to run {name}: {error}"));
        // An order and a question may run in one folder at once.
        let number = ANSWERS.fetch_add(1, Ordering::Relaxed);
        let path = folder.join(format!("answer.{}.{number}", std::process::id()));
        let mut file = std::fs::OpenOptions::new();
        let output = file.create(true).truncate(true).read(true).write(true).open(&path).map_err(failed)?;
        // Open is enough; nobody else reads it.
        std::fs::remove_file(&path).map_err(failed)?;
        let child = sys::spawn(Spawn {
            program: &command.program,
            arguments: &command.arguments,
            environment: &command.environment,
            folder,
            log: &output,
            groups: Vec::new(),
            cores: None,
            user: user.map(User::numbers),
            at_our_death: KILL,
        })?;
        Ok(Self { child, output, name })
    }

    /// Waits for its end; what it said.
    fn finish(mut self, within: Duration, clock: &dyn Clock) -> Result<String, Error> {
        let begun = clock.now();
        let status = loop {
            match self.child.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) if clock.now().since(begun) < within => clock.sleep(GLANCE),
                Ok(None) => {
                    let _gone = self.child.kill().and_then(|()| self.child.wait());
                    return Err(Error::new(format!(
                        "failed to run {}: it had not finished after {within:?}",
                        self.name
                    )));
                }
                Err(error) => return Err(Error::new(format!("failed to run {}: {error}", self.name))),
            }
        };
        let mut text = String::new();
        let read = self.output.rewind().and_then(|()| self.output.read_to_string(&mut text));
        read.map_err(|error| Error::new(format!("failed to read the output of {}: {error}", self.name)))?;
        if status.success() {
            return Ok(text);
        }
        Err(Error::new(format!("failed to run {}: it exited with {status}: {}", self.name, text.trim())))
    }
}
