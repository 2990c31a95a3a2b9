//! The program by which the kernel's network is changed: `ip` of iproute2.

use proofload_model::error::Error;
use std::process::{Command, Stdio};

/// The program.
const IP: &str = "ip";

/// Runs it with words that have spaces between.
pub(super) fn ip(words: &str) -> Result<(), Error> {
    let failed = |text: &str| Error::new(format!("{IP} {words}: {text}"));
    let done = Command::new(IP).args(words.split(' ')).stdin(Stdio::null()).output();
    let done = done.map_err(|error| failed(&error.to_string()))?;
    if done.status.success() { Ok(()) } else { Err(failed(String::from_utf8_lossy(&done.stderr).trim())) }
}
