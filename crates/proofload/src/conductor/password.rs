//! The password of one attempt: made of the kernel's chance, told to agents, written nowhere.

use proofload_model::error::Error;
use proofload_model::secret::Secret;
use std::io::Read as _;

/// Bytes of chance in a password.
const BYTES: usize = 24;

/// Makes one.
pub(super) fn random_password() -> Result<Secret, Error> {
    let mut chance = [0; BYTES];
    let read = std::fs::File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut chance));
    read.map_err(|error| Error::new(format!("make a password of /dev/urandom: {error}")))?;
    Ok(Secret::of(&chance))
}
