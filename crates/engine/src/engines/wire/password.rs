//! Passwords of servers: in a type that does not print itself, from files that nobody else may read. Knows no engine's rules.

use crate::contract::Error;
use std::fmt;
use std::fs::Metadata;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// A password. Has no `Display` and no serialisation on purpose.
#[derive(Clone, PartialEq, Eq)]
pub(in crate::engines) struct Password(String);

impl Password {
    /// A password that was found, or that an agent was given.
    pub(in crate::engines) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text, for the proof of who we are alone.
    pub(in crate::engines) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(…)")
    }
}

/// Refuses a file with a password that others may read.
pub(in crate::engines) fn expect_private(file: &Path, about: &Metadata) -> Result<(), Error> {
    if about.permissions().mode() & 0o077 == 0 {
        return Ok(());
    }
    let text = format!("the file {} has passwords and can be read by others; run chmod 600 on it", file.display());
    Err(Error::other(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails to compile when `Password` gets one of the traits: then `item` is ambiguous.
    macro_rules! lacks {
        ($($wanted:path),+) => {$({
            trait Ambiguous<A> { fn item() {} }
            impl<T> Ambiguous<()> for T {}
            struct Has;
            impl<T: $wanted> Ambiguous<Has> for T {}
            let _ = <Password as Ambiguous<_>>::item;
        })+};
    }

    #[test]
    fn a_password_neither_prints_nor_serialises() {
        lacks!(fmt::Display, serde::Serialize);
        assert!(!format!("{:?}", Password::new("s3cret")).contains("s3c"));
    }

    #[test]
    fn a_file_that_others_may_read_is_refused() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let check = |mode: u32| {
            std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(mode)).expect("it is ours");
            expect_private(file.path(), &std::fs::metadata(file.path()).expect("it is there"))
        };
        assert!(check(0o600).is_ok() && check(0o400).is_ok());
        let error = check(0o640).expect_err("its group reads it").to_string();
        assert!(error.contains("chmod 600"), "{error}");
    }
}
