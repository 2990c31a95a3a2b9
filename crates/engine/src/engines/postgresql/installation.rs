//! Finds PostgreSQL's programs on this machine. May not start a server.

use crate::contract::Error;
use crate::engines::program::{ANSWERS_WITHIN, no_version, on_path, said_within, version_text};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The programs of one installation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Programs {
    /// Folder with `postgres` and `initdb`.
    pub(super) folder: PathBuf,
    /// Version text, such as `15.18`.
    pub(super) version: String,
}

impl Programs {
    /// Major version, such as 15; 0 where the text has none.
    pub(super) fn major(&self) -> u32 {
        let digits = self.version.split(|next: char| !next.is_ascii_digit()).next();
        digits.and_then(|digits| digits.parse().ok()).unwrap_or(0)
    }
}

/// Where distributions keep versioned installations: `<base>/<version>/bin` (Debian) or `<base>-<version>/bin` (Red Hat).
const BASES: &[(&str, &str)] = &[("/usr/lib/postgresql", ""), ("/usr", "pgsql-"), ("/usr/local", "pgsql-")];

/// The first installation on the `PATH`, then what `pg_config` says, then the newest in the distributions' folders.
pub(super) fn find() -> Result<Programs, Error> {
    let candidates = on_path().into_iter().chain(by_pg_config()).chain(versioned());
    let folder = candidates.into_iter().find(|folder| is_complete(folder)).ok_or_else(|| {
        Error::other(
            "failed to find PostgreSQL: no folder has both postgres and initdb (searched the PATH, pg_config and \
             /usr/lib/postgresql); install the server package (Debian: apt install postgresql; Red Hat: dnf install \
             postgresql-server) or set engine.url",
        )
    })?;
    let version = version(&folder)?;
    Ok(Programs { folder, version })
}

/// Programs that a failover manager calls beside the server.
const FOR_MANAGERS: &[&str] = &["postgres", "pg_ctl", "pg_controldata", "pg_basebackup", "pg_rewind", "psql"];

/// The folder of the installation that has all programs for a failover manager.
pub(super) fn for_managers() -> Result<PathBuf, Error> {
    with(FOR_MANAGERS)
}

/// The folder of the installation that has these programs: that of the server, or the one that its link leads to.
pub(super) fn with(programs: &[&str]) -> Result<PathBuf, Error> {
    let folder = find()?.folder;
    let behind = std::fs::canonicalize(folder.join("postgres")).ok().and_then(|path| path.parent().map(Path::to_owned));
    let has_all = |folder: &PathBuf| programs.iter().all(|program| folder.join(program).is_file());
    std::iter::once(folder.clone()).chain(behind).find(has_all).ok_or_else(|| {
        Error::other(format!(
            "failed to find the programs beside the server: {} does not have all of {}; install the server and client \
             packages",
            folder.display(),
            programs.join(", ")
        ))
    })
}

fn is_complete(folder: &Path) -> bool {
    ["postgres", "initdb"].iter().all(|program| folder.join(program).is_file())
}

fn by_pg_config() -> Option<PathBuf> {
    let mut command = Command::new("pg_config");
    command.arg("--bindir");
    Some(PathBuf::from(said_within(command, ANSWERS_WITHIN).ok()?.stdout.trim()))
}

/// Folders of the distributions, newest version first.
fn versioned() -> Vec<PathBuf> {
    let mut found: Vec<(u32, PathBuf)> = Vec::new();
    for (base, prefix) in BASES {
        for entry in std::fs::read_dir(base).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let version = name.to_str().and_then(|name| name.strip_prefix(prefix)?.parse().ok());
            found.extend(version.map(|version| (version, entry.path().join("bin"))));
        }
    }
    found.sort_by_key(|(version, _)| std::cmp::Reverse(*version));
    found.into_iter().map(|(_, folder)| folder).collect()
}

/// The version that the server program tells: `postgres (PostgreSQL) 15.18 (Debian …)` gives `15.18`.
fn version(folder: &Path) -> Result<String, Error> {
    let program = folder.join("postgres");
    let text = version_text(&program)?;
    let version = text.split_whitespace().find(|word| word.starts_with(|first: char| first.is_ascii_digit()));
    version.map(str::to_owned).ok_or_else(|| no_version(&program, &format!("it printed {text:?}")))
}
