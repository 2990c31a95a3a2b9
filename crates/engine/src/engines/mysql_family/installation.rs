//! Finds a server's programs on this machine. May not start a server.

use super::flavour::{Flavour, ProgramNames};
use super::version::{ServerUse, ServerVersion};
use crate::contract::Error;
use crate::engines::program::{no_version, on_path, version_text};
use std::path::PathBuf;

/// The programs of one installation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Programs {
    /// The server.
    pub(super) server: PathBuf,
    /// The program that makes a data folder.
    pub(super) install: PathBuf,
    /// Version text, such as `10.11.19`.
    pub(super) version: String,
}

/// The first of each program on the `PATH`, then in the distributions' folders. A server that is too old is passed over, and so is one of
/// another flavour: where one of them is installed, its programs often have the names of the other's as well.
pub(super) fn find(flavour: &Flavour) -> Result<Programs, Error> {
    let ProgramNames { server, install, folders, remedy } = flavour.programs;
    let folders: Vec<PathBuf> = on_path().into_iter().chain(folders.iter().map(PathBuf::from)).collect();
    let programs =
        |name: &'static str| folders.iter().map(move |folder| folder.join(name)).filter(|program| program.is_file());
    let (mut failed, mut other) = (None, None);
    for server in programs(server) {
        let text = match version_text(&server) {
            Ok(text) => text,
            Err(error) => {
                failed = failed.or(Some(error));
                continue;
            }
        };
        let is_new_enough = || flavour.check_use(ServerUse::Instance, ServerVersion::of_text(&text));
        if let Err(error) = flavour.check_version(&text).and_then(|()| is_new_enough()) {
            other = other.or(Some(error.context(server.display().to_string())));
            continue;
        }
        let version = of_text(&text).ok_or_else(|| no_version(&server, &format!("it printed {text:?}")))?;
        // Its messages and plugins lie where the file itself is.
        let server = server.canonicalize().unwrap_or(server);
        let install = install.map_or_else(|| Some(server.clone()), |name| programs(name).next());
        if let Some(install) = install {
            return Ok(Programs { server, install, version });
        }
    }
    if let Some(error) = failed {
        return Err(error);
    }
    let missing = [Some(server), install].into_iter().flatten().collect::<Vec<_>>().join(" and ");
    let other = other.map_or_else(String::new, |error| format!(" ({error})"));
    let are = if install.is_some() { "are neither" } else { "is neither" };
    Err(Error::other(format!(
        "find {}: {missing} {are} on the PATH nor in the folders of distributions, such as /usr/sbin{other}; {remedy}",
        flavour.product
    )))
}

/// The version in what the server program says: `mariadbd  Ver 10.11.19-MariaDB-… for debian-linux-gnu`.
fn of_text(text: &str) -> Option<String> {
    let word = text.split_whitespace().find(|word| word.starts_with(|first: char| first.is_ascii_digit()))?;
    let end = word.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(word.len());
    Some(word[..end].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_what_the_server_says() {
        let debian = "mariadbd  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64 (Debian 12)";
        assert_eq!(of_text(debian).as_deref(), Some("10.11.19"));
        let mysql = "/usr/sbin/mysqld  Ver 9.7.4-2 for Linux on x86_64 ((Debian))";
        assert_eq!(of_text(mysql).as_deref(), Some("9.7.4"));
        assert_eq!(of_text("no version"), None);
    }
}
