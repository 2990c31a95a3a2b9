//! A server of a pool of the cache tier inside the machine: started until it is ready, stopped, killed, and ended whatever comes.

use super::programs::{PROOFLOAD, expect, line};
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Where it is spoken to.
pub(super) const SOCKET: &str = "/run/pool";

/// How long something may take of which the failure would be to hang.
pub(super) const BOUND: Duration = Duration::from_secs(60);

/// A server that is ready.
pub(super) struct TierServer {
    child: Child,
    /// What it said until it was ready.
    pub(super) said: String,
}

impl TierServer {
    /// Starts one on this cache, these origins, and with these options.
    pub(super) fn start(words: &str) -> Result<Self, String> {
        let words = format!("tier serve {words} --control {SOCKET}");
        let mut command = Command::new(PROOFLOAD);
        command.args(words.split_ascii_whitespace()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().map_err(|error| format!("{words}: {error}"))?;
        let mut server = Self { child, said: String::new() };
        let mut lines = BufReader::new(server.child.stdout.take().ok_or("no pipe")?);
        while !server.said.contains("\n  control ") {
            if lines.read_line(&mut server.said).map_err(|error| format!("{words}: {error}"))? == 0 {
                let last_words = server.last_words();
                return Err(format!("{words}: it ended: {}{last_words}", server.said));
            }
        }
        // The pipe stays open to the end of the server.
        std::thread::spawn(move || lines.read_to_string(&mut String::new()));
        Ok(server)
    }

    fn last_words(&mut self) -> String {
        let mut said = String::new();
        if let Some(pipe) = self.child.stderr.as_mut() {
            let _as_much_as_came = pipe.read_to_string(&mut said);
        }
        said
    }

    /// Kills it without warning.
    pub(super) fn kill(mut self) -> Result<(), String> {
        self.child.kill().and_then(|()| self.child.wait()).map(drop).map_err(|error| format!("killing it: {error}"))
    }

    /// Stops it within the bound; what it said of its end.
    pub(super) fn stop(mut self) -> Result<String, String> {
        line(&format!("{PROOFLOAD} tier stop {SOCKET} --within 60s"))?;
        let status = ended(&mut self.child, "the server")?;
        let said = self.last_words();
        expect(status.success(), || format!("the server: {status}: {said}"))?;
        Ok(said)
    }
}

/// Whatever a failed case leaves is ended.
impl Drop for TierServer {
    fn drop(&mut self) {
        let _gone_already = self.child.kill().and_then(|()| self.child.wait());
    }
}

/// Waits for the end of a process within the bound.
pub(super) fn ended(child: &mut Child, name: &str) -> Result<ExitStatus, String> {
    let end = Instant::now() + BOUND;
    loop {
        if let Some(status) = child.try_wait().map_err(|error| format!("{name}: {error}"))? {
            return Ok(status);
        }
        expect(Instant::now() < end, || format!("{name} hangs"))?;
        std::thread::sleep(Duration::from_millis(50));
    }
}
