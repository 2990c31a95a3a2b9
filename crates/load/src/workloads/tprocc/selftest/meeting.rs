//! Two transactions brought together: a third session holds a lock that the first waits for, so that it stands still
//! with its work done and not committed. The order of events is seen in the server and not hoped for.

use super::super::session_work::SessionWork;
use super::OltpBench;
use crate::workloads::blocking_session::{BlockingSession, integer};
use crate::workloads::dialect::Dialect;
use proofload_model::error::Error;
use std::time::Duration;
use tokio::runtime::Runtime;

/// Keys of a dialect that say how sessions that wait are seen.
pub(in crate::workloads::tprocc) const MEETING_KEYS: &[&str] =
    &["meeting.waiting", "meeting.first", "meeting.end", "meeting.lock"];

/// How often it is looked whether sessions wait for a lock.
const LOOKS: u32 = 200;
/// Longer than a server keeps its list of transactions as it was read last, 0.1 s.
const PAUSE: Duration = Duration::from_millis(150);

/// How sessions that wait for a lock are seen and ended, in the words of a dialect.
#[derive(Debug)]
pub(in crate::workloads::tprocc) struct MeetingWords {
    /// Number of the database's sessions that wait.
    waiting: String,
    /// The one that has waited longest.
    first: String,
    /// Ends the statement of `{session}`.
    end: String,
    /// Locks `{rows}` of `{table}`.
    lock: String,
}

impl MeetingWords {
    /// The words of a dialect; `None` where it has none.
    pub(in crate::workloads::tprocc) fn of(dialect: &Dialect) -> Result<Option<Self>, Error> {
        let mut words = Vec::new();
        for key in MEETING_KEYS {
            let Some(text) = dialect.description.text(key)? else { return Ok(None) };
            words.push(text.to_owned());
        }
        let four: Option<[String; 4]> = words.try_into().ok();
        Ok(four.map(|[waiting, first, end, lock]| Self { waiting, first, end, lock }))
    }

    /// The statement that locks rows.
    pub(super) fn lock(&self, table: &str, rows: &str) -> String {
        self.lock.replace("{table}", table).replace("{rows}", rows)
    }
}

/// Fate of the first transaction.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum First {
    /// It goes on when the lock is released.
    GoesOn,
    /// The server ends it while the second waits.
    IsEnded,
}

/// Rows that are held: the table and which of it.
pub(super) type Held<'a> = (&'a str, &'a str);

/// Holds rows until both transactions wait, the second after the first; returns what they gave back.
pub(super) fn meet<A: Send, B: Send>(
    bench: &OltpBench,
    held: Held<'_>,
    fate: First,
    first: impl FnOnce(&Runtime, &mut SessionWork) -> Result<A, Error> + Send,
    second: impl FnOnce(&Runtime, &mut SessionWork) -> Result<B, Error> + Send,
) -> Result<(A, B), Error> {
    let words = words(bench)?;
    let mut watcher = bench.session()?;
    std::thread::scope(|scope| {
        let mut holder = hold(bench, words, held)?;
        let first = scope.spawn(|| with_terminal(bench, first));
        let mut met = wait_for(&mut watcher, words, 1);
        let second = scope.spawn(|| with_terminal(bench, second));
        met = met.and_then(|()| wait_for(&mut watcher, words, 2));
        if fate == First::IsEnded {
            met = met.and_then(|()| end_the_first(&mut watcher, words)).and_then(|()| wait_for(&mut watcher, words, 1));
        }
        // Released whatever happened, or nobody would come to an end.
        holder.script("COMMIT")?;
        let (first, second) = (first.join().map_err(panicked)?, second.join().map_err(panicked)?);
        met?;
        Ok((first?, second?))
    })
}

/// Holds rows until the first transaction waits and `meanwhile` has run to its end.
pub(super) fn beside<A: Send, B>(
    bench: &OltpBench,
    held: Held<'_>,
    first: impl FnOnce(&Runtime, &mut SessionWork) -> Result<A, Error> + Send,
    meanwhile: impl FnOnce() -> Result<B, Error>,
) -> Result<(A, B), Error> {
    let words = words(bench)?;
    let mut watcher = bench.session()?;
    std::thread::scope(|scope| {
        let mut holder = hold(bench, words, held)?;
        let first = scope.spawn(|| with_terminal(bench, first));
        let seen = wait_for(&mut watcher, words, 1).and_then(|()| meanwhile());
        holder.script("COMMIT")?;
        let first = first.join().map_err(panicked)?;
        let seen = seen?;
        Ok((first?, seen))
    })
}

pub(super) fn panicked(_: Box<dyn std::any::Any + Send>) -> Error {
    Error::new("the thread of a session panicked")
}

/// Work on a session of its own.
pub(super) fn with_terminal<T>(
    bench: &OltpBench,
    task: impl FnOnce(&Runtime, &mut SessionWork) -> Result<T, Error>,
) -> Result<T, Error> {
    let (runtime, mut work) = bench.work()?;
    task(&runtime, &mut work)
}

impl OltpBench {
    /// Fails where the account may not see which sessions wait.
    pub(super) fn can_see_who_waits(&self) -> Result<(), Error> {
        let context = |error: Error| error.context("the account does not see which sessions wait for a lock");
        let look = || integer(&self.session()?.one_row(&words(self)?.waiting)?, 0).map(drop);
        look().map_err(context)
    }
}

fn words(bench: &OltpBench) -> Result<&MeetingWords, Error> {
    let lacking = || Error::new("the dialect does not say how sessions that wait for a lock are seen");
    bench.dialect.meeting.as_ref().ok_or_else(lacking)
}

/// A session that holds rows until it commits.
fn hold(bench: &OltpBench, words: &MeetingWords, (table, rows): Held<'_>) -> Result<BlockingSession, Error> {
    let mut holder = bench.session()?;
    holder.script(&format!("BEGIN; {}", words.lock(table, rows)))?;
    Ok(holder)
}

fn end_the_first(watcher: &mut BlockingSession, words: &MeetingWords) -> Result<(), Error> {
    let session = integer(&watcher.one_row(&words.first)?, 0)?;
    watcher.script(&words.end.replace("{session}", &session.to_string()))
}

/// Returns when so many sessions wait for locks.
fn wait_for(watcher: &mut BlockingSession, words: &MeetingWords, sessions: i64) -> Result<(), Error> {
    let mut seen = 0;
    for _ in 0..LOOKS {
        seen = integer(&watcher.one_row(&words.waiting)?, 0)?;
        if seen == sessions {
            return Ok(());
        }
        std::thread::sleep(PAUSE);
    }
    Err(Error::new(format!(
        "{seen} sessions wait for a lock instead of {sessions}, after {LOOKS} looks {PAUSE:?} apart"
    )))
}
