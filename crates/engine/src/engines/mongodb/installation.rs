//! Finds `mongod` on this machine. May not start a server.

use crate::contract::Error;
use crate::engines::program::{no_version, on_path, version_text};
use std::path::PathBuf;

/// The program of one installation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Program {
    /// Path of `mongod`.
    pub(super) path: PathBuf,
    /// Version text, such as `5.0.3`.
    pub(super) version: String,
}

/// Where packages and archives put it, besides the folders of the `PATH`.
const FOLDERS: &[&str] =
    &["/usr/bin", "/usr/local/bin", "/opt/mongodb/bin", "/usr/local/mongodb/bin", "/opt/homebrew/bin"];

/// The first on the `PATH`, then in the usual folders.
pub(super) fn find() -> Result<Program, Error> {
    let folders = on_path().into_iter().chain(FOLDERS.iter().map(PathBuf::from));
    let path = folders.map(|folder| folder.join("mongod")).find(|path| path.is_file()).ok_or_else(|| {
        Error::other(
            "failed to find MongoDB: no mongod on the PATH or in the usual folders; set engine.url to use an existing \
             server, or install MongoDB's own packages (few distributions have one)",
        )
    })?;
    let text = version_text(&path)?;
    let version = version(&text).ok_or_else(|| no_version(&path, &format!("it printed {text:?}")))?;
    Ok(Program { version: version.to_owned(), path })
}

/// The version in what `mongod --version` says: `db version v5.0.3` gives `5.0.3`.
fn version(text: &str) -> Option<&str> {
    text.lines().find_map(|line| line.trim().strip_prefix("db version v")).filter(|version| !version.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_found_in_the_text() {
        assert_eq!(version("db version v5.0.3\nBuild Info: {\n    \"version\": \"5.0.3\",\n}\n"), Some("5.0.3"));
        assert_eq!(version("mongos version v5.0.3\n"), None);
    }
}
