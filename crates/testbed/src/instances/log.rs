//! The log that a server writes, from the moment that we opened it.

use super::user::User;
use proofload_model::error::Error;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// How much of the end is read, bytes.
const TAIL: u64 = 4096;

/// Lines of it that are shown in an error.
const LINES: usize = 12;

/// A log file and where this run's part begins.
#[derive(Debug, Clone)]
pub(super) struct Log {
    path: PathBuf,
    from: u64,
}

impl Log {
    /// Opens the file for appending; it belongs to the server's user.
    pub(super) fn open(path: &Path, user: Option<&User>) -> Result<(Self, File), Error> {
        let failed = |error: std::io::Error| Error::new(format!("failed to open the log {}: {error}", path.display()));
        let file = OpenOptions::new().create(true).append(true).open(path).map_err(failed)?;
        let from = file.metadata().map_err(failed)?.len();
        user.map_or(Ok(()), |user| user.own(path))?;
        Ok((Self { path: path.to_owned(), from }, file))
    }

    /// The last lines of this run, in one.
    pub(super) fn tail(&self) -> String {
        let text = self.read().unwrap_or_default();
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        match lines.as_slice() {
            [] => format!("its log {} is empty", self.path.display()),
            lines => format!("its log: {}", lines[lines.len().saturating_sub(LINES)..].join(" | ")),
        }
    }

    fn read(&self) -> std::io::Result<String> {
        let mut file = File::open(&self.path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(self.from.max(length.saturating_sub(TAIL))))?;
        let mut bytes = Vec::new();
        file.take(TAIL).read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn only_this_runs_last_lines_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        std::fs::write(&path, "of an earlier run\n").unwrap();
        let (log, mut file) = Log::open(&path, None).unwrap();
        assert!(log.tail().ends_with("is empty"));
        for number in 0..20 {
            writeln!(file, "line {number}").unwrap();
        }
        assert!(log.tail().starts_with("its log: line 8 | ") && log.tail().ends_with("| line 19"), "{}", log.tail());
    }
}
