//! Finds MariaDB's programs on this machine. May not start a server.

use crate::contract::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

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

/// Where distributions keep the programs beside the folders of the `PATH`.
const FOLDERS: &[&str] =
    &["/usr/sbin", "/usr/bin", "/usr/libexec", "/usr/local/mysql/bin", "/usr/local/mysql/scripts", "/opt/homebrew/opt/mariadb/bin"];

/// The first of each program on the `PATH`, then in the distributions' folders.
pub(super) fn find() -> Result<Programs, Error> {
    let on_path = std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect::<Vec<_>>());
    let folders: Vec<PathBuf> = on_path.into_iter().flatten().chain(FOLDERS.iter().map(PathBuf::from)).collect();
    let find = |name: &str| folders.iter().map(|folder| folder.join(name)).find(|program| program.is_file());
    let (Some(server), Some(install)) = (find("mariadbd"), find("mariadb-install-db")) else {
        return Err(Error::other(
            "find MariaDB: mariadbd and mariadb-install-db are neither on the PATH nor in /usr/sbin or /usr/libexec; install the \
             server package (Debian: apt install mariadb-server-core mariadb-client-core; Red Hat: dnf install mariadb-server) \
             or give engine.url",
        ));
    };
    let version = version(&server)?;
    Ok(Programs { server, install, version })
}

/// The version that the server program tells: `mariadbd  Ver 10.11.19-MariaDB-… for debian-linux-gnu` gives `10.11.19`.
fn version(server: &Path) -> Result<String, Error> {
    let failed = |text: String| Error::other(format!("ask {} for its version: {text}", server.display()));
    let output = Command::new(server).arg("--version").output().map_err(|error| failed(error.to_string()))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    of_text(&text).ok_or_else(|| failed(format!("it says {text:?}")))
}

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
        assert_eq!(of_text("no version"), None);
    }
}
