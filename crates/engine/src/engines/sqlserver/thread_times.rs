//! CPU time of a server's threads by role, added up from what the server tells of each: threads of its pool change their roles. Untested on a
//! real server. Source: Microsoft's documentation, "`sys.dm_os_threads`", "`sys.dm_exec_requests`"; times are taken for milliseconds.

use crate::contract::{OwnedRow, OwnedValue, RoleCpu, Value};
use std::collections::BTreeMap;
use std::time::Duration;

/// Every thread: number, time, whether it is a worker, program of its user, command and wait of what it does. The number is the server's:
/// on Linux, `os_thread_id` is not what `ps`, `top` or `/proc` show ("`sys.dm_os_threads`"), so it tells no thread of the host.
pub(super) const READ: &str = include_str!("threads.sql");

/// Roles of what users ask for, of the observer, and of threads that are no workers.
const SESSION: &str = "session";
const OBSERVER: &str = "observer";
const OTHER: &str = "other";

/// How waits of work without a user begin, and its role: what serves availability groups has no command of its own.
const BY_WAIT: &[(&str, &str)] = &[
    ("HADR_LOGCAPTURE", "log capture"),
    ("HADR_DATABASE_FLOW_CONTROL", "log send"),
    ("HADR_TRANSPORT_FLOW_CONTROL", "log send"),
    ("HADR_LOGSEND", "log send"),
    ("REDO_", "redo"),
    ("PARALLEL_REDO", "redo"),
    ("DPT_ENTRY_LOCK", "redo"),
];

/// How commands of work without a user begin, and its role; the role of any other is the command itself.
const BY_COMMAND: &[(&str, &str)] = &[
    ("HADR_LOGCAPTURE", "log capture"),
    ("HADR_LOG_CAPTURE", "log capture"),
    ("HADR_LOGSEND", "log send"),
    ("HADR_LOG_SEND", "log send"),
    ("REDO", "redo"),
    ("PARALLEL REDO", "redo"),
    ("DB STARTUP", "redo"),
];

/// A thread as it was seen last.
#[derive(Debug, Clone, PartialEq, Eq)]
struct SeenThread {
    time: Duration,
    role: String,
}

/// Threads of a server over all readings.
#[derive(Debug, Default)]
pub(super) struct ThreadTimes {
    seen: BTreeMap<u32, SeenThread>,
    totals: Vec<RoleCpu>,
    has_begun: bool,
    /// The reading is missing, or the one before it is.
    is_gap: bool,
}

impl ThreadTimes {
    /// Takes a reading: rows of `threads.sql`.
    pub(super) fn take(&mut self, rows: &[OwnedRow], observer: &str) {
        let before = std::mem::take(&mut self.seen);
        self.is_gap = !self.has_begun && !self.totals.is_empty();
        self.totals.iter_mut().for_each(|total| total.threads = 0);
        for row in rows {
            let Some((thread, time)) = thread_and_time(row) else { continue };
            let known = before.get(&thread);
            // A worker between two requests is still what it was.
            let role =
                role(row, observer).unwrap_or_else(|| known.map_or(SESSION.to_owned(), |known| known.role.clone()));
            let added = match known {
                _ if !self.has_begun => Duration::ZERO,
                Some(known) => time.checked_sub(known.time).unwrap_or(time),
                None => time,
            };
            self.add(&role, added);
            self.seen.insert(thread, SeenThread { time, role });
        }
        self.has_begun |= !rows.is_empty();
    }

    /// Notes that a reading is missing: the next one is a base anew, so that no second has the time of two.
    pub(super) fn miss(&mut self) {
        (self.has_begun, self.is_gap) = (false, true);
    }

    fn add(&mut self, role: &str, time: Duration) {
        match self.totals.iter_mut().find(|total| total.role == role) {
            Some(total) => {
                total.time += time;
                total.threads += 1;
            }
            None => self.totals.push(RoleCpu { role: role.to_owned(), time, threads: 1 }),
        }
    }

    /// CPU time by role since the first reading, without that of readings that are missing; nothing where this one tells of no time.
    pub(super) fn totals(&self) -> &[RoleCpu] {
        if self.is_gap { &[] } else { &self.totals }
    }
}

fn thread_and_time(row: &OwnedRow) -> Option<(u32, Duration)> {
    let number = |place: usize| row.get(place).map(OwnedValue::as_value).and_then(Value::integer);
    Some((u32::try_from(number(0)?).ok()?, Duration::from_millis(u64::try_from(number(1)?).ok()?)))
}

/// Role of the thread of a row; `None` of a worker that does nothing.
fn role(row: &OwnedRow, observer: &str) -> Option<String> {
    let text = |place: usize| match row.get(place) {
        Some(OwnedValue::Text(text)) => Some(text.trim()),
        _ => None,
    };
    if row.get(2).map(OwnedValue::as_value) == Some(Value::Integer(0)) {
        return Some(OTHER.to_owned());
    }
    if let Some(program) = text(3) {
        return Some(if program == observer { OBSERVER } else { SESSION }.to_owned());
    }
    let command = text(4).filter(|command| !command.is_empty())?;
    let among = |table: &[(&str, &str)], word: &str| {
        table.iter().find(|(begin, _)| word.starts_with(begin)).map(|(_, role)| (*role).to_owned())
    };
    among(BY_WAIT, text(5).unwrap_or_default())
        .or_else(|| among(BY_COMMAND, command))
        .or_else(|| Some(command.to_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ME: &str = "proofload observer";

    /// A row: thread, milliseconds, and what it does; `-` for nothing.
    fn row(thread: i64, time: i64, program: &str, command: &str, wait: &str) -> OwnedRow {
        let text = |text: &str| if text == "-" { OwnedValue::Null } else { OwnedValue::Text(text.to_owned()) };
        let worker = OwnedValue::Integer(i64::from(thread < 900));
        vec![OwnedValue::Integer(thread), OwnedValue::Integer(time), worker, text(program), text(command), text(wait)]
    }

    #[test]
    fn commands_and_waits_tell_roles() {
        let check = |row: OwnedRow, expected: Option<&str>| assert_eq!(role(&row, ME).as_deref(), expected, "{row:?}");
        check(row(1, 0, "proofload", "EXECUTE", "WRITELOG"), Some("session"));
        check(row(1, 0, ME, "SELECT", "-"), Some("observer"));
        check(row(1, 0, "-", "LOG WRITER", "LOGMGR_QUEUE"), Some("log writer"));
        check(row(1, 0, "-", "LAZY WRITER", "LAZYWRITER_SLEEP"), Some("lazy writer"));
        check(row(1, 0, "-", "CHECKPOINT", "CHECKPOINT_QUEUE"), Some("checkpoint"));
        check(row(1, 0, "-", "UNKNOWN TOKEN", "HADR_LOGCAPTURE_WAIT"), Some("log capture"));
        check(row(1, 0, "-", "UNKNOWN TOKEN", "HADR_DATABASE_FLOW_CONTROL"), Some("log send"));
        check(row(1, 0, "-", "DB STARTUP", "REDO_THREAD_PENDING_WORK"), Some("redo"));
        check(row(1, 0, "-", "PARALLEL REDO TASK", "-"), Some("redo"));
        check(row(1, 0, "-", "-", "-"), None);
        check(row(901, 0, "-", "-", "-"), Some("other"));
    }

    #[test]
    fn time_is_added_to_the_role_of_its_thread_and_never_taken_back() {
        let mut times = ThreadTimes::default();
        let totals = |times: &ThreadTimes| -> Vec<(String, u64, u32)> {
            let one = |one: &RoleCpu| (one.role.clone(), u64::try_from(one.time.as_millis()).unwrap(), one.threads);
            times.totals().iter().map(one).collect()
        };
        times.take(&[row(1, 500, "-", "LOG WRITER", "-"), row(2, 90, "-", "-", "-")], ME);
        assert_eq!(totals(&times), [("log writer".to_owned(), 0, 1), ("session".to_owned(), 0, 1)], "the base");
        // The worker has served a session and serves it no more; another has come.
        times.take(
            &[row(1, 510, "-", "LOG WRITER", "-"), row(2, 140, "-", "-", "-"), row(3, 7, "proofload", "SELECT", "-")],
            ME,
        );
        assert_eq!(totals(&times), [("log writer".to_owned(), 10, 1), ("session".to_owned(), 57, 2)]);
        // A number that has begun anew, and a thread that has ended.
        times.take(&[row(1, 4, "-", "LOG WRITER", "-")], ME);
        assert_eq!(totals(&times), [("log writer".to_owned(), 14, 1), ("session".to_owned(), 57, 0)]);
    }

    /// A gap is neither zero nor followed by a second with the time of two.
    #[test]
    fn a_missing_reading_is_a_gap() {
        let mut times = ThreadTimes::default();
        let read = |times: &mut ThreadTimes, time: Option<i64>| -> Option<u128> {
            match time {
                Some(time) => times.take(&[row(1, time, "-", "LOG WRITER", "-")], ME),
                None => times.miss(),
            }
            times.totals().first().map(|total| total.time.as_millis())
        };
        let found = [Some(500), Some(510), None, Some(900), Some(905)].map(|time| read(&mut times, time));
        assert_eq!(found, [Some(0), Some(10), None, None, Some(15)]);
        let mut late = ThreadTimes::default();
        let found = [None, Some(70), Some(80)].map(|time| read(&mut late, time));
        assert_eq!(found, [None, Some(0), Some(10)], "the first reading is a base, also where it comes late");
    }
}
