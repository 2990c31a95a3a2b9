//! The steps of `installation`: checksums first, then every way to install.

use super::ways::WAYS;
use crate::program::{tell, text};
use crate::work_folder::WorkFolder;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Installs and tries what lies in `dist/`, or in the folder that is named.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let dist = match arguments {
        [] => root.join("dist"),
        [folder] => PathBuf::from(folder),
        more => return Err(format!("installation takes one folder, not {more:?}")),
    };
    let dist = std::fs::canonicalize(&dist)
        .map_err(|error| format!("looked for {}: {error}; cargo xtask dist makes it", dist.display()))?;
    text(Command::new("sha256sum").args(["--check", "--quiet", "SHA256SUMS"]).current_dir(&dist))?;
    let folder = WorkFolder::of("installation")?;
    let mut faults = Vec::new();
    for way in WAYS {
        match (way.try_it)(&dist, &folder) {
            Ok(found) => tell(&format!("{}: {found}", way.name)),
            Err(why) => faults.push(format!("{}: {why}", way.name)),
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n")) }
}
