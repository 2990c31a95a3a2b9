//! Passwords and access tokens, found in the environment of the load host or in a file that it names.

use super::address::Authentication;
use crate::contract::Error;
use crate::engines::wire::{Password, expect_private};
use std::path::Path;

/// The variable that Microsoft's own client reads, and that of a file with the password.
const VARIABLE: &str = "SQLCMDPASSWORD";
const FILE_VARIABLE: &str = "SQLCMDPASSWORD_FILE";
/// The same for access tokens.
const TOKEN_VARIABLE: &str = "PROOFLOAD_SQLSERVER_TOKEN";
const TOKEN_FILE_VARIABLE: &str = "PROOFLOAD_SQLSERVER_TOKEN_FILE";
/// What helps where no token is found, or an old one.
pub(super) const TOKEN_REMEDY: &str =
    "set PROOFLOAD_SQLSERVER_TOKEN, or name a file in PROOFLOAD_SQLSERVER_TOKEN_FILE, for the load agent";

/// `SQLCMDPASSWORD`, else the first line of the file that `SQLCMDPASSWORD_FILE` names; `None` without either. For tokens
/// `PROOFLOAD_SQLSERVER_TOKEN` and `PROOFLOAD_SQLSERVER_TOKEN_FILE`; the file is read anew for each connection, as tokens expire.
pub(super) fn find(authentication: Authentication) -> Result<Option<Password>, Error> {
    let (variable, file_variable) = match authentication {
        Authentication::Password => (VARIABLE, FILE_VARIABLE),
        Authentication::Token => (TOKEN_VARIABLE, TOKEN_FILE_VARIABLE),
    };
    if let Ok(password) = std::env::var(variable) {
        return Ok(Some(Password::new(password)));
    }
    std::env::var_os(file_variable).map(|file| of_file(Path::new(&file))).transpose()
}

/// The first line of a file that nobody else can read.
fn of_file(file: &Path) -> Result<Password, Error> {
    let wrong = |error| Error::other(format!("read the password or token in the file {}: {error}", file.display()));
    expect_private(file, &std::fs::metadata(file).map_err(wrong)?)?;
    let text = std::fs::read_to_string(file).map_err(wrong)?;
    Ok(Password::new(text.lines().next().unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn a_password_file_is_read_unless_others_can_read_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("password");
        std::fs::write(&file, "s 3cret\nmore\n").expect("a file");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).expect("it is ours");
        let found = of_file(&file).expect("it is closed to others");
        assert_eq!(found.reveal(), "s 3cret");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).expect("it is ours");
        let error = of_file(&file).expect_err("its group reads it").to_string();
        assert!(error.contains("chmod 600"), "{error}");
    }
}
