//! Passwords, found in the environment of the load host or in a file that it names.

use crate::contract::Error;
use crate::engines::wire::{Password, expect_private};
use std::path::Path;

/// The variable that Microsoft's own client reads, and that of a file with the password.
const VARIABLE: &str = "SQLCMDPASSWORD";
const FILE_VARIABLE: &str = "SQLCMDPASSWORD_FILE";

/// `SQLCMDPASSWORD`, else the first line of the file that `SQLCMDPASSWORD_FILE` names; `None` without either.
pub(super) fn find() -> Result<Option<Password>, Error> {
    if let Ok(password) = std::env::var(VARIABLE) {
        return Ok(Some(Password::new(password)));
    }
    std::env::var_os(FILE_VARIABLE).map(|file| of_file(Path::new(&file))).transpose()
}

/// The first line of a file that nobody else can read.
fn of_file(file: &Path) -> Result<Password, Error> {
    let wrong = |error| Error::other(format!("read the password file {}: {error}", file.display()));
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
