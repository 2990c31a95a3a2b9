//! How a local instance of PostgreSQL is made, started and stopped.
//!
//! The instance listens on no network. Its only socket lies in a folder of its own data folder, which has mode 0700, so that `trust`
//! authentication admits the instance's user and root alone and no password exists that could leak. The server is told that
//! folder without the data folder, a session opens a long path through `/proc/self/fd`, so the 107 bytes of a socket's address suffice.

use super::{configuration, connection, installation};
use crate::contract::{AfterKill, CommandLine, Error, FileToWrite, STOPS_WITHIN, ServerRecipe, SharedSegment};
use crate::engines::program::command_line;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Folder of the data folder in which the socket of an instance lies, since every way of copying a running instance, that of `pg_rewind`
/// included, leaves what is in it alone. Source: PostgreSQL manual, "pg_rewind", "pg_basebackup".
pub(super) const SOCKETS: &str = "pg_stat_tmp";

/// File that says that a server runs.
const LOCK_FILE: &str = "postmaster.pid";

/// The recipe.
#[derive(Debug)]
pub(super) struct Recipe;

/// Interrupt: fast shutdown, sessions are ended and a checkpoint is made.
const SIGINT: i32 = 2;
/// Quit: immediate shutdown, the next start recovers from the log.
const SIGQUIT: i32 = 3;

impl ServerRecipe for Recipe {
    fn unprivileged_users(&self) -> &'static [&'static str] {
        &["postgres", "nobody"]
    }

    /// Byte order for text (`C`), because the by-name middle row of TPROC-C depends on it. Data checksums, because a study of
    /// storage wants to hear of a broken page, and because PostgreSQL 18 has them by default and 17 has not.
    fn create(&self, folder: &Path) -> Result<Vec<CommandLine>, Error> {
        let programs = installation::find()?;
        let arguments = [
            "--locale=C",
            "--encoding=UTF8",
            "--data-checksums",
            "--username=proofload",
            "--auth-local=trust",
            "--auth-host=reject",
            "--pgdata",
        ];
        let arguments = arguments.iter().map(|&argument| argument.to_owned()).chain([folder.display().to_string()]);
        Ok(vec![command_line(programs.folder.join("initdb"), arguments.collect())])
    }

    fn configure(&self, folder: &Path, settings: &[(String, String)], port: u16) -> Result<Vec<FileToWrite>, Error> {
        let file = |path: &str, content| FileToWrite { path: PathBuf::from(path), content };
        let _ = folder;
        Ok(vec![
            file("postgresql.conf", configuration::postgresql_conf(settings, port)?),
            file("pg_hba.conf", configuration::PG_HBA_CONF.to_owned()),
        ])
    }

    fn start(&self, folder: &Path) -> Result<CommandLine, Error> {
        let programs = installation::find()?;
        Ok(command_line(programs.folder.join("postgres"), vec!["-D".to_owned(), folder.display().to_string()]))
    }

    fn address(&self, folder: &Path, port: u16) -> String {
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        let folder = folder.join(SOCKETS).display().to_string().replace('\\', "\\\\").replace('\'', "\\'");
        format!("host='{folder}' port={port} user=proofload dbname=proofload")
    }

    fn probe(&self, address: &str) -> Result<(), Error> {
        connection::probe(address)
    }

    fn stop_signals(&self) -> (i32, i32, Duration) {
        (SIGINT, SIGQUIT, STOPS_WITHIN)
    }

    /// A killed server leaves segments of shared memory, which the next start on its data removes. A check of what it could start with removes
    /// them as well, and starts nothing; it takes no buffers that the host may not have. Source: PostgreSQL's
    /// `bootstrap.c` and `dsm.c`.
    fn after_kill(&self, folder: &Path) -> Result<Option<AfterKill>, Error> {
        let programs = installation::find()?;
        // The first major version that has the option by its name.
        let check: &[&str] = if programs.major() >= 15 { &["--check"] } else { &["--boot", "-x0"] };
        let smallest = ["-c", "shared_buffers=16", "-c", "huge_pages=off", "-D"];
        let arguments = check.iter().chain(&smallest).map(|&argument| argument.to_owned());
        let arguments = arguments.chain([folder.display().to_string()]).collect();
        let command = command_line(programs.folder.join("postgres"), arguments);
        Ok(Some(AfterKill { lock_file: PathBuf::from(LOCK_FILE), command, segment: segment(folder) }))
    }

    /// Source: PostgreSQL manual, "WAL Internals".
    fn log_folder(&self) -> Option<&'static str> {
        Some("pg_wal")
    }

    fn running_pid(&self, folder: &Path) -> Option<u32> {
        std::fs::read_to_string(folder.join(LOCK_FILE)).ok()?.lines().next()?.trim().parse().ok()
    }
}

/// The segment of a server that runs or was killed, or of a check of its data that was, whose process has a minus sign. The file has the process in the first line, and the key and the number of the
/// segment in the seventh, where a key below 0 is written as a number without a sign. Source: PostgreSQL's `pidfile.h` and `sysv_shmem.c`.
fn segment(folder: &Path) -> Option<SharedSegment> {
    let told = std::fs::read_to_string(folder.join(LOCK_FILE)).ok()?;
    let creator = told.lines().next()?.trim().trim_start_matches('-').parse().ok()?;
    let mut numbers = told.lines().nth(6)?.split_ascii_whitespace();
    let key = numbers.next()?.parse::<u64>().ok()?.cast_signed();
    let id = numbers.next()?.parse().ok()?;
    Some(SharedSegment { id, key, creator })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_is_told_by_the_file_of_a_server_or_a_check_and_not_by_that_of_a_start() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(segment(folder.path()), None);
        let begun = "4711\n/data\n1764500000\n5432\n/data/pg_stat_tmp\n\n";
        let segment_of = |key| Some(SharedSegment { id: 32_770, key, creator: 4711 });
        for (told, found) in [
            (begun.to_owned(), None),
            (format!("{begun}       12     32770\nready   \n"), segment_of(12)),
            (format!("{begun}18446744073709551604     32770\n"), segment_of(-12)),
            (format!("-{begun}       12     32770\n"), segment_of(12)),
            (format!("-{begun}"), None),
        ] {
            std::fs::write(folder.path().join(LOCK_FILE), &told).unwrap();
            assert_eq!(segment(folder.path()), found, "{told}");
        }
    }
}
