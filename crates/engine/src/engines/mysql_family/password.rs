//! Passwords, found in the environment or the option file of the load host.

use super::flavour::Flavour;
use crate::contract::Error;
use crate::engines::wire::{Password, expect_private};
use std::path::PathBuf;

/// `MYSQL_PWD`, else `password` of `[client]` in `~/.my.cnf`; `None` without either.
pub(super) fn find(flavour: &Flavour) -> Result<Option<Password>, Error> {
    if let Ok(password) = std::env::var("MYSQL_PWD") {
        return Ok(Some(Password::new(password)));
    }
    let Some(file) = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".my.cnf")) else { return Ok(None) };
    let Ok(about) = std::fs::metadata(&file) else { return Ok(None) };
    let text = std::fs::read_to_string(&file)
        .map_err(|error| Error::other(format!("read the option file {}: {error}", file.display())))?;
    let found = of_options(&text, flavour.client_group);
    if found.is_some() {
        expect_private(&file, &about)?;
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
            found = Some(Password::new(quoted('"').or_else(|| quoted('\'')).unwrap_or(value)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_password_of_a_client_is_found() {
        let found = of_options("[mysqld]\npassword=no\n[client]\nuser = me\npassword = 's3 cret'\n", "[mysql]")
            .expect("there is one");
        assert_eq!(found.reveal(), "s3 cret");
        assert_eq!(of_options("[client]\n# password=x\n[client-mariadb]\npassword=x", "[mysql]").map(|_| ()), None);
        assert_eq!(of_options("[mysql]\npassword=a=b", "[mysql]").expect("there is one").reveal(), "a=b");
    }
}
