//! Passwords: found in the environment of the load host, or in a file that it names; held in a type that does not print itself.

use crate::contract::Error;
use std::fmt;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// The variable that Microsoft's own client reads, and that of a file with the password.
const VARIABLE: &str = "SQLCMDPASSWORD";
const FILE_VARIABLE: &str = "SQLCMDPASSWORD_FILE";

/// A password. Has no `Display` and no serialisation on purpose.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Password(String);

impl Password {
    /// A password that an agent was given.
    pub(super) fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// The text, for the login alone.
    pub(super) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(…)")
    }
}

/// `SQLCMDPASSWORD`, else the first line of the file that `SQLCMDPASSWORD_FILE` names; `None` without either.
pub(super) fn find() -> Result<Option<Password>, Error> {
    if let Ok(password) = std::env::var(VARIABLE) {
        return Ok(Some(Password(password)));
    }
    std::env::var_os(FILE_VARIABLE).map(|file| of_file(Path::new(&file))).transpose()
}

/// The first line of a file that nobody else can read.
fn of_file(file: &Path) -> Result<Password, Error> {
    let wrong = |error| Error::other(format!("read the password file {}: {error}", file.display()));
    let mode = std::fs::metadata(file).map_err(wrong)?.permissions().mode();
    if mode & 0o077 != 0 {
        let text = format!("the password file {} can be read by others; run chmod 600 on it", file.display());
        return Err(Error::other(text));
    }
    let text = std::fs::read_to_string(file).map_err(wrong)?;
    Ok(Password(text.lines().next().unwrap_or_default().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_file_is_read_unless_others_can_read_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("password");
        std::fs::write(&file, "s 3cret\nmore\n").expect("a file");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).expect("it is ours");
        let found = of_file(&file).expect("it is closed to others");
        assert_eq!(found.reveal(), "s 3cret");
        assert!(!format!("{found:?}").contains("3cret"));
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).expect("it is ours");
        let error = of_file(&file).expect_err("its group reads it").to_string();
        assert!(error.contains("chmod 600"), "{error}");
    }
}
