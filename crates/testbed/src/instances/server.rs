//! A running server: watched until it ends, stopped by signals. The thread that started it waits for it, because the kernel's signal
//! at our death counts from the end of that thread.

use super::log::Log;
use crate::agents::EventSink;
use crate::host::{InstanceRemains, kill_managed, served_by};
use crate::limits::Cgroup;
use crate::sys;
use proofload_model::deployment::InstanceName;
use proofload_model::error::Error;
use proofload_model::time::Clock;
use proofload_model::wire::Event;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, ExitStatus};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

const KILL: i32 = 9;

/// How long a server that was told to end at once may take, when it is not waited for with patience.
const HASTE: Duration = Duration::from_secs(2);

/// How long the kernel may take to end what was killed.
const DYING: Duration = Duration::from_secs(10);

const GLANCE: Duration = Duration::from_millis(20);

/// How far a server's life has come.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Life {
    /// Has not answered yet: its end is the starter's business.
    Starting,
    /// Answers: its end is told as an event.
    Serving,
    /// We told it to end.
    Stopping,
    /// Ended; unasked, with the reason.
    Ended(Option<String>),
}

/// Life of one server; shared by the watching thread and the role.
#[derive(Debug)]
pub(super) struct InstanceWatch {
    instance: InstanceName,
    life: Mutex<Life>,
    /// Signal that it died of, as soon as it has ended; `None`: it exited by itself.
    died_of: OnceLock<Option<i32>>,
    log: Log,
    group: Option<Cgroup>,
    kills_before: u64,
}

impl InstanceWatch {
    pub(super) fn new(instance: InstanceName, log: Log, group: Option<Cgroup>) -> Self {
        let kills_before = group.as_ref().and_then(crate::limits::kills).unwrap_or(0);
        Self { instance, life: Mutex::new(Life::Starting), died_of: OnceLock::new(), log, group, kills_before }
    }

    /// Waits for the end of the server and tells it when nobody asked for it.
    pub(super) fn until_end(&self, mut child: Child, events: &EventSink) {
        let status = child.wait();
        let _set_once = self.died_of.set(status.as_ref().ok().and_then(ExitStatusExt::signal));
        let mut life = self.life();
        let before = life.clone();
        *life = Life::Ended((before != Life::Stopping).then(|| self.reason(status)));
        if let (Life::Serving, Life::Ended(Some(reason))) = (before, life.clone()) {
            drop(life);
            events(Event::InstanceEnded { instance: self.instance.clone(), reason });
        }
    }

    fn reason(&self, status: std::io::Result<ExitStatus>) -> String {
        let status = status.map_or_else(|error| error.to_string(), |status| status.to_string());
        let kills = self.group.as_ref().and_then(crate::limits::kills).unwrap_or(0);
        let memory = if kills > self.kills_before { "; killed by the memory limit, which is too small" } else { "" };
        format!("{status}{memory}; {}", self.log.tail())
    }

    /// Reason for which it ended unasked; `None` while it lives.
    pub(super) fn ended(&self) -> Option<String> {
        match &*self.life() {
            Life::Ended(reason) => Some(reason.clone().unwrap_or_else(|| "it was stopped".to_owned())),
            Life::Starting | Life::Serving | Life::Stopping => None,
        }
    }

    /// Tells whether it has ended, and by our own doing.
    fn was_asked_to_end(&self) -> bool {
        *self.life() == Life::Ended(None)
    }

    pub(super) fn tail(&self) -> String {
        self.log.tail()
    }

    /// Marks it as serving: from now on its end is reported.
    pub(super) fn is_serving(&self) {
        let mut life = self.life();
        if *life == Life::Starting {
            *life = Life::Serving;
        }
    }

    fn life(&self) -> MutexGuard<'_, Life> {
        self.life.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Signals by which it is stopped: a polite one, and a firmer one when it has not ended after a time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StopSignals {
    pub(crate) polite: i32,
    pub(crate) firm: i32,
    pub(crate) patience: Duration,
}

/// A server that was started, or the program that runs one. Dropping it ends it at once.
pub(crate) struct Server {
    pub(super) signals: StopSignals,
    pub(super) process: u32,
    pub(super) port: u16,
    /// Data folder of the server that the process runs beside itself; `None`: the process is the server.
    pub(super) runs: Option<PathBuf>,
    pub(super) address: String,
    pub(super) watch: Arc<InstanceWatch>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) remains: Arc<InstanceRemains>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("process", &self.process).field("address", &self.address).finish_non_exhaustive()
    }
}

impl Server {
    /// First process of the server; where a manager runs it and it is down, that of the manager.
    pub(crate) fn process(&self) -> u32 {
        self.runs.as_deref().and_then(served_by).unwrap_or(self.process)
    }

    /// The process that we started, and where that runs a server, the first process of the server.
    pub(crate) fn roots(&self) -> Vec<u32> {
        let mut roots = vec![self.process];
        roots.extend(self.runs.as_deref().and_then(served_by).filter(|process| *process != self.process));
        roots
    }

    /// Waits until its end has been noted, where it has ended: the kernel tells that before the thread that waits for it.
    pub(super) fn notice_end(&self) {
        if !sys::is_running(self.process) {
            self.ends_within(DYING);
        }
    }

    /// Tells whether its first process has exited, for whatever reason.
    pub(crate) fn has_exited(&self) -> bool {
        self.notice_end();
        self.watch.ended().is_some()
    }

    /// The last lines of its log.
    pub(crate) fn log_tail(&self) -> String {
        self.watch.tail()
    }

    /// Tells whether a manager runs it.
    pub(crate) const fn is_managed(&self) -> bool {
        self.runs.is_some()
    }

    /// Port that it was given.
    pub(crate) const fn port(&self) -> u16 {
        self.port
    }

    /// Where it answers, without secrets.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Stops it cleanly, so that its files are a snapshot's source.
    ///
    /// # Errors
    /// It had ended before, died of another signal than the polite one, or did not end at that within the recipe's patience and was made to.
    pub(crate) fn stop(self) -> Result<(), Error> {
        self.expect_not_ended()?;
        let StopSignals { polite, patience, .. } = self.signals;
        self.tell(polite);
        if self.ends_within(patience) {
            self.end_what_it_ran();
            return match self.watch.died_of.get().copied().flatten().filter(|signal| *signal != polite) {
                None => Ok(()),
                Some(signal) => Err(Error::new(format!(
                    "failed to stop the server: it died of signal {signal} while it stopped; its files are not a clean copy; {}",
                    self.watch.tail()
                ))),
            };
        }
        // Dropping it does what is left to do.
        Err(Error::new(format!(
            "failed to stop the server: it did not exit within {patience:?} of signal {polite} and was killed; its files are not a clean copy; {}",
            self.watch.tail()
        )))
    }

    /// Ends it at once, with all its processes: its files are a copy of nothing.
    ///
    /// # Errors
    /// It had ended before, or did not end within the recipe's patience of being killed.
    pub(crate) fn end_at_once(self) -> Result<(), Error> {
        self.expect_not_ended()?;
        if let Some(data) = &self.runs {
            // A manager that is told to end stops its server in order, and starts one again that ends before it.
            self.expect_end();
            kill_managed(data);
        }
        let (process, patience, watch) = (self.process, self.signals.patience, Arc::clone(&self.watch));
        self.tell(self.signals.firm);
        if !self.ends_within(HASTE) {
            self.kill();
            // What waits for a slow disk dies when that has answered.
            self.ends_within(patience);
        }
        drop(self);
        match watch.ended() {
            Some(_) => Ok(()),
            None => Err(Error::new(format!(
                "failed to end the server at once: process {process} did not end within {patience:?} of being killed; \
                 does its disk answer?"
            ))),
        }
    }

    fn expect_not_ended(&self) -> Result<(), Error> {
        self.notice_end();
        match self.watch.ended() {
            None => Ok(()),
            Some(reason) => Err(Error::new(format!("failed to stop the server: it had already exited: {reason}"))),
        }
    }

    /// Tells whether it has ended by our own doing; where its process is gone, waits until that has been noticed.
    pub(crate) fn has_ended(&self) -> bool {
        !sys::is_running(self.process) && self.ends_within(DYING) && self.watch.was_asked_to_end()
    }

    /// Notes that it is about to end by our own doing, so that nobody is told of it.
    pub(crate) fn expect_end(&self) {
        self.notice_end();
        let mut life = self.watch.life();
        if !matches!(*life, Life::Ended(_)) {
            *life = Life::Stopping;
        }
    }

    /// Notes that it is expected to go on after all, where it has not ended.
    pub(crate) fn expect_to_serve(&self) {
        self.notice_end();
        let mut life = self.watch.life();
        if *life == Life::Stopping {
            *life = Life::Serving;
        }
    }

    /// Tells it to stop cleanly, and does not wait.
    pub(crate) fn tell_to_stop(&self) {
        self.tell(self.signals.polite);
    }

    /// Kills what a manager has left running, and waits until the server has ended.
    fn end_what_it_ran(&self) {
        let Some(data) = &self.runs else { return };
        kill_managed(data);
        let begun = self.clock.now();
        while served_by(data).is_some() && self.clock.now().since(begun) < DYING && !self.remains.is_abandoned() {
            self.clock.sleep(GLANCE);
        }
    }

    /// Kills it with all that descends from it.
    fn kill(&self) {
        for process in sys::descendants(self.process) {
            sys::signal(process, KILL);
        }
    }

    fn tell(&self, signal: i32) {
        self.notice_end();
        let mut life = self.watch.life();
        if !matches!(*life, Life::Ended(_)) {
            *life = Life::Stopping;
            // Under the lock: the process is not waited for yet, so its number is its own.
            sys::signal(self.process, signal);
        }
    }

    /// Waits for its end, not at all when the conductor is gone.
    fn ends_within(&self, patience: Duration) -> bool {
        let begun = self.clock.now();
        while self.watch.ended().is_none() {
            if self.clock.now().since(begun) > patience || self.remains.is_abandoned() {
                return false;
            }
            self.clock.sleep(GLANCE);
        }
        true
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.watch.ended().is_none() {
            self.tell(self.signals.firm);
            if !self.ends_within(HASTE) {
                self.kill();
                self.ends_within(DYING);
            }
        }
        self.end_what_it_ran();
        self.remains.set_server(None);
        self.remains.set_served(None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_clock::TestClock;
    use proofload_model::time::{Moment, WallTime};
    use std::path::Path;
    use std::process::Command;
    use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

    const PATIENCE: Duration = Duration::from_secs(180);

    /// A process whose end nobody waits for yet.
    fn born(folder: &Path) -> (Child, Arc<InstanceWatch>) {
        let child = Command::new("sleep").arg("600").spawn().unwrap();
        let (log, _file) = Log::open(&folder.join("log"), None).unwrap();
        let watch = Arc::new(InstanceWatch::new(InstanceName::primary(), log, None));
        watch.is_serving();
        (child, watch)
    }

    fn server(process: u32, watch: Arc<InstanceWatch>, clock: Arc<dyn Clock>) -> Server {
        Server {
            signals: StopSignals { polite: 15, firm: KILL, patience: PATIENCE },
            process,
            port: 0,
            runs: None,
            address: String::new(),
            watch,
            clock,
            remains: Arc::default(),
        }
    }

    /// A server that was killed, whose end is noted later, and the number of ends that were told.
    fn killed(folder: &Path, before: impl FnOnce(&Server)) -> (Server, Arc<AtomicU32>) {
        let (mut child, watch) = born(folder);
        let server = server(child.id(), Arc::clone(&watch), Arc::new(TestClock::new()));
        before(&server);
        child.kill().unwrap();
        while sys::is_running(child.id()) {
            std::thread::sleep(GLANCE);
        }
        let told = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&told);
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(300));
            let events: EventSink = Arc::new(move |_| {
                count.fetch_add(1, Ordering::SeqCst);
            });
            watch.until_end(child, &events);
        });
        (server, told)
    }

    #[test]
    fn a_server_that_ended_as_expected_is_not_expected_to_serve_again() {
        let folder = tempfile::tempdir().unwrap();
        let (server, told) = killed(folder.path(), Server::expect_end);
        server.expect_to_serve();
        assert!(server.has_ended(), "it ended by our own doing");
        assert_eq!(told.load(Ordering::SeqCst), 0);
    }

    /// A clock of its own time, in whose second minute a process ends.
    struct LateEnd {
        nanoseconds: AtomicU64,
        child: Mutex<Option<Child>>,
        watch: Arc<InstanceWatch>,
    }

    impl Clock for LateEnd {
        fn now(&self) -> Moment {
            Moment(self.nanoseconds.load(Ordering::SeqCst))
        }
        fn wall(&self) -> WallTime {
            WallTime(0)
        }
        fn sleep(&self, time: Duration) {
            self.nanoseconds.fetch_add(u64::try_from(time.as_nanos()).unwrap(), Ordering::SeqCst);
            if self.now() > Moment(60_000_000_000) {
                let child = self.child.lock().unwrap().take();
                let events: EventSink = Arc::new(|_| ());
                child.into_iter().for_each(|child| self.watch.until_end(child, &events));
            }
        }
    }

    #[test]
    fn an_end_at_once_waits_for_what_dies_late() {
        let folder = tempfile::tempdir().unwrap();
        let (child, watch) = born(folder.path());
        let process = child.id();
        let (nanoseconds, child) = (AtomicU64::new(0), Mutex::new(Some(child)));
        let clock = LateEnd { nanoseconds, child, watch: Arc::clone(&watch) };
        server(process, watch, Arc::new(clock)).end_at_once().unwrap();
    }

    #[test]
    fn a_server_that_ended_unasked_is_told_by_an_end_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let (server, _told) = killed(folder.path(), |_| ());
        let error = server.end_at_once().unwrap_err().to_string();
        assert!(error.contains("had already exited"), "{error}");
    }

    #[test]
    fn a_server_that_ended_unasked_is_not_taken_for_one_that_was_told_to() {
        let tells: [fn(&Server); 2] = [Server::expect_end, Server::tell_to_stop];
        for tell in tells {
            let folder = tempfile::tempdir().unwrap();
            let (server, _told) = killed(folder.path(), |_| ());
            tell(&server);
            assert!(server.has_exited() && !server.has_ended(), "nobody told it to end");
        }
    }
}
