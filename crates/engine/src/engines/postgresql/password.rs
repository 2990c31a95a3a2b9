//! Passwords, found in the environment or the password file of the load host.
//! Source of the rules: PostgreSQL manual, "The Password File".

use crate::contract::Error;
use crate::engines::wire::{Password, expect_private};
use std::path::PathBuf;

/// Whom a password is for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Account<'a> {
    /// Host name, address, or `localhost` for a socket.
    pub(super) host: &'a str,
    /// Port.
    pub(super) port: u16,
    /// Database.
    pub(super) database: &'a str,
    /// User.
    pub(super) user: &'a str,
}

/// `PGPASSWORD`, else the fitting line of `PGPASSFILE` or `~/.pgpass`; `None` without any of them.
pub(super) fn find(account: Account<'_>) -> Result<Option<Password>, Error> {
    if let Ok(password) = std::env::var("PGPASSWORD") {
        return Ok(Some(Password::new(password)));
    }
    let file = std::env::var_os("PGPASSFILE").map(PathBuf::from);
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".pgpass"));
    let Some(file) = file.or_else(home) else { return Ok(None) };
    let Ok(about) = std::fs::metadata(&file) else { return Ok(None) };
    expect_private(&file, &about)?;
    let lines = std::fs::read_to_string(&file)
        .map_err(|error| Error::other(format!("failed to read password file {}: {error}", file.display())))?;
    Ok(lines.lines().find_map(|line| password_of(line, account)))
}

/// The password of a line `host:port:database:user:password` that fits; `*` fits all, `\` takes the next letter as it is.
fn password_of(line: &str, account: Account<'_>) -> Option<Password> {
    if line.starts_with('#') {
        return None;
    }
    let mut fields = vec![String::new()];
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => fields.last_mut()?.extend(letters.next()),
            ':' if fields.len() < 5 => fields.push(String::new()),
            other => fields.last_mut()?.push(other),
        }
    }
    let [host, port, database, user, password] = <[String; 5]>::try_from(fields).ok()?;
    let fits = |field: &str, value: &str| field == "*" || field == value;
    let all = fits(&host, account.host)
        && fits(&port, &account.port.to_string())
        && fits(&database, account.database)
        && fits(&user, account.user);
    all.then_some(Password::new(password))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: Option<&str>) {
        let account = Account { host: "db1", port: 5432, database: "proofload", user: "me" };
        let found = password_of(line, account);
        assert_eq!(found.as_ref().map(Password::reveal), expected, "{line}");
    }

    #[test]
    fn lines_of_a_password_file_are_matched() {
        check("db1:5432:proofload:me:s3cret", Some("s3cret"));
        check("*:*:*:me:a:b\\:c\\\\", Some("a:b:c\\"));
        check("db2:5432:proofload:me:x", None);
        check("db1:5433:*:me:x", None);
        check("# db1:5432:proofload:me:x", None);
        check("db1:5432", None);
    }
}
