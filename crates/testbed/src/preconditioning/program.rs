//! The fio program of this machine: where it is, which version. May not run jobs.

use proofload_model::error::Error;
use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A fio that answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fio {
    /// Where it is.
    pub(super) path: PathBuf,
    /// What it calls itself, such as `fio-3.33`.
    pub(super) version: String,
}

impl Fio {
    /// The first fio on the agent's path; `otherwise` is what else an operator can do who has none.
    pub(super) fn find(otherwise: &str) -> Result<Self, Error> {
        Self::find_on(&std::env::var_os("PATH").unwrap_or_default(), otherwise)
    }

    /// The first fio on a search path.
    fn find_on(search: &OsStr, otherwise: &str) -> Result<Self, Error> {
        let candidates = std::env::split_paths(search).map(|folder| folder.join("fio"));
        let path = candidates.into_iter().find(|path| is_program(path)).ok_or_else(|| {
            Error::new(format!(
                "fio is not installed: not found on the PATH ({}); install it on this host (apt-get install fio, dnf \
                 install fio), or {otherwise}",
                search.display()
            ))
        })?;
        // fio is started in another folder than ours.
        Self::ask(std::path::absolute(&path).unwrap_or(path))
    }

    /// The program at a path, once it has told its version.
    pub(super) fn ask(path: PathBuf) -> Result<Self, Error> {
        let failed = |text: String| Error::new(format!("failed to get the version of {}: {text}", path.display()));
        let output = Command::new(&path)
            .arg("--version")
            .stdin(Stdio::null())
            .output()
            .map_err(|error| failed(error.to_string()))?;
        let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        if !output.status.success() || !version.starts_with("fio-") {
            return Err(failed(format!("{version:?}, {}; is this the Flexible I/O Tester?", output.status)));
        }
        Ok(Self { path, version })
    }
}

fn is_program(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WITHOUT: &str = "remove [storage.precondition] from the study";

    fn script(folder: &Path, body: &str, mode: u32) -> PathBuf {
        let path = folder.join("fio");
        std::fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    #[test]
    fn a_missing_fio_is_named_with_its_remedy() {
        let empty = tempfile::tempdir().unwrap();
        script(empty.path(), "echo fio-3.0", 0o644);
        let error = Fio::find_on(empty.path().as_os_str(), WITHOUT).unwrap_err().to_string();
        assert!(error.contains("apt-get install fio") && error.contains("[storage.precondition]"), "{error}");
        assert!(Fio::find_on(OsStr::new(""), WITHOUT).is_err());
    }

    #[test]
    fn another_program_of_that_name_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        script(folder.path(), "echo fio-3.36", 0o755);
        assert_eq!(Fio::find_on(folder.path().as_os_str(), WITHOUT).unwrap().version, "fio-3.36");
        script(folder.path(), "echo usage; exit 2", 0o755);
        let error = Fio::find_on(folder.path().as_os_str(), WITHOUT).unwrap_err().to_string();
        assert!(error.contains("usage") && error.contains("exit status: 2"), "{error}");
    }
}
