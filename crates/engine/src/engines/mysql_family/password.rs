//! Passwords: found in the environment or the option file of the load host, held in a type that does not print itself.

use super::flavour::Flavour;
use crate::contract::Error;
use std::fmt;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

/// A password. Has no `Display` and no serialisation on purpose.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Password(String);

impl Password {
    /// A password that an agent was given.
    pub(super) fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// The text, for the proof alone.
    pub(super) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(…)")
    }
}

/// `MYSQL_PWD`, else `password` of `[client]` in `~/.my.cnf`; `None` without either.
pub(super) fn find(flavour: &Flavour) -> Result<Option<Password>, Error> {
    if let Ok(password) = std::env::var("MYSQL_PWD") {
        return Ok(Some(Password(password)));
    }
    let Some(file) = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".my.cnf")) else { return Ok(None) };
    let Ok(about) = std::fs::metadata(&file) else { return Ok(None) };
    let text = std::fs::read_to_string(&file)
        .map_err(|error| Error::other(format!("read the option file {}: {error}", file.display())))?;
    let found = of_options(&text, flavour.client_group);
    if found.is_some() && about.permissions().mode() & 0o077 != 0 {
        let text =
            format!("the option file {} has a password and can be read by others; run chmod 600 on it", file.display());
        return Err(Error::other(text));
    }
    Ok(found)
}

/// The password of the group `[client]`, or of another that the server's own client reads.
fn of_options(text: &str, group: &str) -> Option<Password> {
    let mut is_client = false;
    let mut found = None;
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            is_client = line == "[client]" || line == group;
        } else if is_client
            && let Some((name, value)) = line.split_once('=')
            && name.trim() == "password"
        {
            let value = value.trim();
            let quoted = |quote: char| value.strip_prefix(quote).and_then(|value| value.strip_suffix(quote));
            found = Some(Password(quoted('"').or_else(|| quoted('\'')).unwrap_or(value).to_owned()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_password_of_a_client_is_found_and_does_not_print_itself() {
        let found = of_options("[mysqld]\npassword=no\n[client]\nuser = me\npassword = 's3 cret'\n", "[mysql]")
            .expect("there is one");
        assert_eq!(found.reveal(), "s3 cret");
        assert!(!format!("{found:?}").contains("s3"));
        assert_eq!(of_options("[client]\n# password=x\n[client-mariadb]\npassword=x", "[mysql]").map(|_| ()), None);
        assert_eq!(of_options("[mysql]\npassword=a=b", "[mysql]").expect("there is one").reveal(), "a=b");
    }
}
