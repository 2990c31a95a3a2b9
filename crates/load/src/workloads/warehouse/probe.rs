//! Probe queries: one session on a thread of its own, one query at a time, with the engine's count of the bytes read
//! for them. May not judge their cost.

use super::session_opener::SessionOpener;
use super::stream::told;
use super::suite::Dialect;
use crate::workloads::blocking_session::{BlockingSession, integer, runtime};
use proofload_engine::{ErrorClass, Session as _};
use proofload_model::error::Error;
use proofload_model::time::Clock;
use proofload_model::units::Bytes;
use proofload_model::wire::ProbeResult;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;

/// The session, when one is open.
#[derive(Default)]
pub(super) struct Probe(Mutex<Option<ProbeThread>>);

/// A session stays on its thread: queries go in, answers come out.
struct ProbeThread {
    queries: Option<SyncSender<String>>,
    answers: Receiver<Result<ProbeResult, Error>>,
    thread: Option<JoinHandle<()>>,
}

impl Probe {
    fn lock(&self) -> MutexGuard<'_, Option<ProbeThread>> {
        self.0.lock().expect("nobody panics while holding the session of probes")
    }

    /// Closes an earlier session, whose cache may be its own, then opens one like those of the streams.
    pub(super) fn open(&self, opener: &SessionOpener, dialect: &Dialect, clock: &Arc<dyn Clock>) -> Result<(), Error> {
        let mut held = self.lock();
        *held = None;
        let sql = |name: &str| dialect.suite.find(name).map(|statement| statement.sql.clone());
        let reads = ReadStatements { settle: sql("settle"), logical: sql("logical_bytes") };
        let (opener, clock) = (opener.clone(), Arc::clone(clock));
        let ((queries, asked), (answer, answers)) = (sync_channel::<String>(1), sync_channel(1));
        let named = std::thread::Builder::new().name("probe".to_owned());
        let thread = named.spawn(move || match ProbeSession::new(opener, reads, clock) {
            Ok(mut open) => {
                let _nobody_waits = answer.send(Ok(ProbeResult::default()));
                while let Ok(sql) = asked.recv() {
                    let _nobody_waits = answer.send(open.run(&sql));
                }
            }
            Err(error) => drop(answer.send(Err(error))),
        });
        let thread =
            thread.map_err(|error| Error::new(format!("failed to start a thread for probe queries: {error}")))?;
        let probe_thread = ProbeThread { queries: Some(queries), answers, thread: Some(thread) };
        probe_thread.answer()?;
        *held = Some(probe_thread);
        Ok(())
    }

    /// Runs one query to its last row.
    pub(super) fn run(&self, sql: String) -> Result<ProbeResult, Error> {
        let thread = self.lock();
        let thread = thread.as_ref().ok_or_else(|| Error::new("no session for probe queries is open"))?;
        if let Some(queries) = &thread.queries {
            let _told_by_the_answer = queries.send(sql);
        }
        thread.answer()
    }
}

impl ProbeThread {
    fn answer(&self) -> Result<ProbeResult, Error> {
        self.answers.recv().unwrap_or_else(|_| Err(Error::new("the thread of the probe queries failed")))
    }
}

impl Drop for ProbeThread {
    fn drop(&mut self) {
        self.queries = None;
        if let Some(thread) = self.thread.take() {
            let _broke_off = thread.join();
        }
    }
}

/// Statements that read the engine's counters of its reads; `None` where it does not count.
struct ReadStatements {
    settle: Option<String>,
    logical: Option<String>,
}

/// The session on its thread.
struct ProbeSession {
    session: BlockingSession,
    opener: SessionOpener,
    reads: ReadStatements,
    clock: Arc<dyn Clock>,
    /// The engine's counter before the next query.
    read_before: Option<i64>,
}

impl ProbeSession {
    fn new(opener: SessionOpener, reads: ReadStatements, clock: Arc<dyn Clock>) -> Result<Self, Error> {
        let runtime = runtime()?;
        let session = runtime.block_on(opener.session())?;
        let mut open = Self { session: BlockingSession { runtime, session }, opener, reads, clock, read_before: None };
        open.read_before = open.read_so_far()?;
        Ok(open)
    }

    fn run(&mut self, sql: &str) -> Result<ProbeResult, Error> {
        let begun = self.clock.now();
        let answer = self.session.runtime.block_on(self.session.session.query(sql)).map_err(told);
        let took = self.clock.now().since(begun);
        let failed = match answer {
            Ok(_) => None,
            Err(error) if error.class() == ErrorClass::ConnectionLost => return Err(error.into()),
            Err(error) => Some(format!("{}: {error}", error.code())),
        };
        let read = self.read_so_far()?;
        let logical = read.zip(self.read_before).and_then(|(after, before)| u64::try_from(after - before).ok());
        self.read_before = read;
        Ok(ProbeResult { took, logical: logical.map(Bytes), failed })
    }

    /// Bytes that the engine says were asked for up to now, once its counters are up to date.
    fn read_so_far(&mut self) -> Result<Option<i64>, Error> {
        let Some(logical) = &self.reads.logical else { return Ok(None) };
        if let Some(settle) = &self.reads.settle {
            self.session.script(settle)?;
        }
        let row =
            self.session.one_row(logical).map_err(|error| error.context("failed to read the engine's counters"))?;
        // Settling lifts the cap, which is not meant for it.
        self.session.runtime.block_on(self.opener.tell(&mut self.session.session))?;
        integer(&row, 0).map(Some)
    }
}
