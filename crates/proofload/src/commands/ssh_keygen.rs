//! Signatures by the user's own `ssh-keygen`, over the bytes of a file. May not read keys itself.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// What signatures are for: one made for anything else does not fit.
const NAMESPACE: &str = "proofload-record";

const PROGRAM: &str = "ssh-keygen";

/// Signs a file; gives the armoured signature. The program asks for a passphrase by itself.
pub(super) fn sign(file: &Path, key: &Path) -> Result<Vec<u8>, String> {
    let mut command = Command::new(PROGRAM);
    command.args(["-Y", "sign", "-n", NAMESPACE, "-f"]).arg(key);
    let output = run(&mut command, file)?;
    if output.status.success() && output.stdout.starts_with(b"-----BEGIN SSH SIGNATURE-----") {
        return Ok(output.stdout);
    }
    Err(format!("{PROGRAM} failed to sign {}: {}", file.display(), last_words(&output)))
}

/// The signer of a file, in the words of the program. Without allowed signers only the key is known.
pub(super) fn signer(
    file: &Path,
    signature: &Path,
    allowed: Option<&Path>,
    identity: Option<&str>,
) -> Result<String, String> {
    let Some(allowed) = allowed else {
        let mut command = Command::new(PROGRAM);
        command.args(["-Y", "check-novalidate", "-n", NAMESPACE, "-s"]).arg(signature);
        let good = good(run(&mut command, file)?, signature)?;
        return Ok(format!("{good}; the signer was not checked (--allowed-signers)"));
    };
    let identity = match identity {
        Some(identity) => identity.to_owned(),
        None => principal(signature, allowed)?,
    };
    let mut command = Command::new(PROGRAM);
    command.args(["-Y", "verify", "-n", NAMESPACE, "-I", &identity, "-f"]).arg(allowed).arg("-s").arg(signature);
    let found = good(run(&mut command, file)?, signature);
    found.map_err(|why| by_another(file, signature, &identity).unwrap_or(why))
}

/// What is said of a signature that fits the file, but is not of the signer who is asked for; `None` where it does not fit.
fn by_another(file: &Path, signature: &Path, identity: &str) -> Option<String> {
    let mut command = Command::new(PROGRAM);
    command.args(["-Y", "check-novalidate", "-n", NAMESPACE, "-s"]).arg(signature);
    let found = good(run(&mut command, file).ok()?, signature).ok()?;
    let key = found.split_once(" with ").map_or(found.as_str(), |(_, key)| key);
    Some(format!("not signed by {identity}: {} is made with {key}", signature.display()))
}

/// The principal whose key a signature is made with, as the file of allowed signers names it.
fn principal(signature: &Path, allowed: &Path) -> Result<String, String> {
    let mut command = Command::new(PROGRAM);
    command.args(["-Y", "find-principals", "-f"]).arg(allowed).arg("-s").arg(signature);
    let output = command.stdin(Stdio::null()).output().map_err(|error| missing(&error))?;
    let named = String::from_utf8_lossy(&output.stdout);
    match named.lines().next().filter(|_| output.status.success()) {
        // A list of names stands in the file as one word with commas.
        Some(name) => Ok(name.split(',').next().unwrap_or(name).to_owned()),
        None => {
            Err(format!("no signer in {} made {}: {}", allowed.display(), signature.display(), last_words(&output)))
        }
    }
}

fn good(output: Output, signature: &Path) -> Result<String, String> {
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
    }
    Err(format!("{} does not match: {}", signature.display(), last_words(&output)))
}

fn run(command: &mut Command, file: &Path) -> Result<Output, String> {
    let message = File::open(file).map_err(|error| format!("failed to read {}: {error}", file.display()))?;
    command.stdin(message).output().map_err(|error| missing(&error))
}

fn missing(error: &std::io::Error) -> String {
    format!("failed to start {PROGRAM}: {error}; signatures need OpenSSH 8.2 or newer")
}

fn last_words(output: &Output) -> String {
    let text = [&output.stderr[..], &output.stdout[..]].concat();
    // Some of its lines end with a return as well.
    String::from_utf8_lossy(&text).trim().lines().map(str::trim_end).collect::<Vec<_>>().join("; ")
}
