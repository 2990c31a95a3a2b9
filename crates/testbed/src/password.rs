//! Passwords of chance, for accounts that come over the network: made anew for each start, and written nowhere but into files of mode 0600.

use proofload_model::error::Error;
use proofload_model::secret::Secret;
use std::io::Read as _;

/// Bytes of chance in a password.
const BYTES: usize = 24;

/// Makes one of the kernel's chance.
///
/// # Errors
/// The kernel gives none.
pub fn random_password() -> Result<Secret, Error> {
    let mut chance = [0; BYTES];
    let read = std::fs::File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut chance));
    read.map_err(|error| Error::new(format!("failed to create a password from /dev/urandom: {error}")))?;
    Ok(Secret::of(&chance))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_differ_and_need_no_quotes() {
        let (one, other) = (random_password().unwrap(), random_password().unwrap());
        assert_ne!(one.reveal(), other.reveal());
        assert!(one.reveal().len() == 2 * BYTES && one.reveal().chars().all(|letter| letter.is_ascii_hexdigit()));
    }
}
