//! The password that the accounts of one cluster share: made anew for each start, written into files of mode 0600 of the study's folder, and nowhere
//! else.

use proofload_model::error::Error;
use std::fmt::Write as _;
use std::io::Read as _;

/// Bytes of chance in a password.
const BYTES: usize = 24;

/// A password. Has no `Debug`, `Display`, `Clone` or serialisation on purpose.
pub(crate) struct Password(String);

impl Password {
    /// Makes one of the kernel's chance: hexadecimal digits, which need quotes nowhere.
    pub(crate) fn make() -> Result<Self, Error> {
        let mut bytes = [0; BYTES];
        let read = std::fs::File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes));
        read.map_err(|error| Error::new(format!("make a password of /dev/urandom: {error}")))?;
        let mut text = String::new();
        bytes.iter().for_each(|byte| write!(text, "{byte:02x}").expect("a string takes all text"));
        Ok(Self(text))
    }

    /// The text, for files of mode 0600 and for the server.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_differ_and_need_no_quotes() {
        let (one, other) = (Password::make().unwrap(), Password::make().unwrap());
        assert_ne!(one.reveal(), other.reveal());
        assert!(one.reveal().len() == 2 * BYTES && one.reveal().chars().all(|letter| letter.is_ascii_hexdigit()));
    }
}
