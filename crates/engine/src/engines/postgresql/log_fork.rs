//! The fork that a promotion makes of the log: where the new timeline began, and where the log of the old primary ends. Source: PostgreSQL
//! manual, "Timelines", "`pg_waldump`"; `timeline.c` for the file of a timeline's history.

use super::failure::failed;
use super::installation;
use super::replication::ask;
use crate::contract::{Error, Target};
use crate::engines::program::said_within;
use proofload_model::drill::LogFork;
use proofload_model::units::Bytes;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// How long a promoted instance is asked: it is loaded, and a new connection to it may take several seconds.
const WITHIN: Duration = Duration::from_secs(10);

/// The timeline that a primary writes, as the names of its log's files begin, and the history of such a one.
const TIMELINE: &str = "SELECT left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)";
const HISTORY: &str = "SELECT pg_read_file('pg_wal/' || $1::text || '.history')";

/// The first timeline, which has no history.
const FIRST: u32 = 1;

/// Program that reads a log's files, and folder of these.
const PROGRAM: &str = "pg_waldump";
const LOG_FOLDER: &str = "pg_wal";

/// How long the program may read: a file system that hangs must not hold a drill.
const READING: Duration = Duration::from_secs(30);

/// What the program says where a log ends: nothing follows a place, or what follows the last whole record is none.
const NOTHING_AFTER: &str = "could not find a valid record after ";
const LAST_RECORD: &str = "error in WAL record at ";

/// Words before the place at which the next record should begin.
const PLACES: &[&str] = &[" at ", ", LSN "];

/// Asks a promoted instance; `None` for one that never was.
pub(super) fn read(promoted: &Target) -> Result<Option<LogFork>, Error> {
    let told = ask(promoted, WITHIN, async |client| {
        let row = client.query_one(TIMELINE, &[]).await.map_err(failed)?;
        let timeline: String = row.try_get(0).map_err(failed)?;
        if u32::from_str_radix(&timeline, 16) == Ok(FIRST) {
            return Ok(None);
        }
        let row = client.query_one(HISTORY, &[&timeline]).await.map_err(failed)?;
        let history: String = row.try_get(0).map_err(failed)?;
        Ok(Some((timeline, history)))
    });
    let context = "failed to read where the promoted instance's timeline began";
    let Some((timeline, history)) = told.map_err(|error| error.context(context))? else { return Ok(None) };
    let fork = fork_of(&timeline, &history);
    fork.map(Some).ok_or_else(|| Error::other(format!("{context}: the history of {timeline} is {history:?}")))
}

/// The fork by which a timeline began: the last line of its history has the timeline before and the place.
fn fork_of(timeline: &str, history: &str) -> Option<LogFork> {
    let timeline = u32::from_str_radix(timeline, 16).ok()?;
    let is_entry = |line: &&str| line.trim_start().starts_with(|first: char| first.is_ascii_digit());
    let mut words = history.lines().rfind(is_entry)?.split_whitespace();
    let (timeline_before, at) = (words.next()?.parse().ok()?, place(words.next()?)?);
    Some(LogFork { timeline_before, timeline, at, old_end: None })
}

/// Reads the old primary's log from the fork on, record by record, until there is none. What was written and not flushed counts as
/// well, as long as the host lives.
pub(super) fn old_end(folder: &Path, fork: &LogFork) -> Result<Bytes, Error> {
    let program = installation::with(&[PROGRAM])?.join(PROGRAM);
    let failed = |text: &str| {
        Error::other(format!("failed to read where the log of {} ends after the fork: {text}", folder.display()))
    };
    let mut command = Command::new(&program);
    command
        .arg("--quiet")
        .arg(format!("--path={}", folder.join(LOG_FOLDER).display()))
        .arg(format!("--timeline={}", fork.timeline_before))
        .arg(format!("--start={:X}/{:X}", fork.at.0 >> 32, fork.at.0 & 0xFFFF_FFFF))
        .env("LC_ALL", "C");
    let ended = said_within(command, READING);
    let said = ended.map_err(|error| failed(&format!("{}: {error}", program.display())))?;
    let text = said.stderr;
    end_of(&text, fork).ok_or_else(|| failed(&format!("{PROGRAM} ended with {}: {}", said.status, text.trim())))
}

/// The end of a log by what the program says; the begin of the last whole record where it does not say where the next one should be.
fn end_of(text: &str, fork: &LogFork) -> Option<Bytes> {
    if text.contains(NOTHING_AFTER) {
        return Some(fork.at);
    }
    let (_, told) = text.split_once(LAST_RECORD)?;
    let last = place(told)?;
    let after = PLACES.iter().flat_map(|words| told.split(*words).skip(1)).filter_map(place);
    Some(after.fold(last, Bytes::max))
}

/// A place in the log, such as `0/3000148`, at the begin of a text.
fn place(text: &str) -> Option<Bytes> {
    let text = text.split(|next: char| !next.is_ascii_hexdigit() && next != '/').next()?;
    let (high, low) = text.split_once('/')?;
    let [high, low] = [high, low].map(|half| u32::from_str_radix(half, 16).ok().map(u64::from));
    Some(Bytes((high? << 32) | low?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORK: LogFork = LogFork { timeline_before: 1, timeline: 2, at: Bytes(0x15A_8B20), old_end: None };

    #[test]
    fn the_last_line_of_a_history_is_the_fork() {
        let history = "1\t0/15A8B20\tno recovery target specified\n\n2\t1/A0000028\tno recovery target specified\n";
        let second = fork_of("00000002", history.lines().next().unwrap_or_default());
        assert_eq!(second, Some(FORK));
        let third = LogFork { timeline_before: 2, timeline: 3, at: Bytes(0x1_A000_0028), old_end: None };
        assert_eq!(fork_of("00000003", history), Some(third));
        assert_eq!([fork_of("00000002", ""), fork_of("2x", history), fork_of("00000002", "1\tnone")], [None; 3]);
    }

    #[track_caller]
    fn check(text: &str, expected: Option<u64>) {
        assert_eq!(end_of(&format!("pg_waldump: {text}\n"), &FORK), expected.map(Bytes), "{text}");
    }

    #[test]
    fn the_end_of_a_log_is_where_the_next_record_should_be() {
        let last = "error: error in WAL record at 0/15A9100: ";
        check(&format!("{last}invalid record length at 0/15A91B0: wanted 24, got 0"), Some(0x15A_91B0));
        check(&format!("{last}invalid record length at 0/15A91B0: expected at least 24, got 0"), Some(0x15A_91B0));
        let chain = format!("{last}record with incorrect prev-link 0/C0FFEE at 0/15A91B0");
        check(&chain, Some(0x15A_91B0));
        let page =
            "unexpected pageaddr 0/5A8000 in WAL segment 000000010000000000000001, LSN 0/15AA000, offset 5939200";
        check(&format!("{last}{page}"), Some(0x15A_A000));
    }

    #[test]
    fn a_log_that_does_not_say_so_ends_with_its_last_record_or_is_not_known() {
        let last = "error: error in WAL record at 0/15A9100: ";
        let magic = format!("{last}invalid magic number 0000 in log segment 000000010000000000000001, offset 5939200");
        check(&magic, Some(0x15A_9100));
        check("error: could not find a valid record after 0/15A8B20", Some(FORK.at.0));
        check("error: could not find file \"000000010000000000000001\": No such file or directory", None);
        check("error: error in WAL record at nowhere", None);
        check("", None);
    }
}
