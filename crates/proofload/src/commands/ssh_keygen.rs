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

/// Fails where the file of a key cannot be read, before the work begins whose result is signed.
pub(super) fn expect_key(key: &Path) -> Result<(), String> {
    // The program looks for the public key of an agent's key beside the name, too.
    let mut public = key.as_os_str().to_owned();
    public.push(".pub");
    let why = match std::fs::metadata(key) {
        Ok(about) if about.is_dir() => "it is a folder".to_owned(),
        // To open a pipe takes what is in it.
        Ok(about) if !about.is_file() => return Ok(()),
        Ok(_) => match File::open(key) {
            Ok(_) => return Ok(()),
            Err(error) => error.to_string(),
        },
        Err(_) if Path::new(&public).is_file() => return Ok(()),
        Err(error) => error.to_string(),
    };
    Err(format!(
        "failed to read the key {}: {why}; name a private key, or the public key of one in an SSH agent",
        key.display()
    ))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_cannot_be_read_is_told_before_it_is_needed() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let key = folder.path().join("key");
        let absent = expect_key(&key).expect_err("there is none");
        assert!(absent.starts_with("failed to read the key ") && absent.contains("SSH agent"), "{absent}");
        assert!(expect_key(folder.path()).is_err_and(|why| why.contains("it is a folder")));
        std::fs::write(folder.path().join("key.pub"), "").expect("it is written");
        assert_eq!(expect_key(&key), Ok(()), "an agent may have the other half");
        std::fs::write(&key, "").expect("it is written");
        assert_eq!(expect_key(&key), Ok(()));
    }
}
