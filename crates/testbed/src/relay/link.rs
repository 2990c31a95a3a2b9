//! A relay: listens in the place of the instance that a standby follows, and leads to it.

use super::connection::RelayedConnection;
use super::direction::Direction;
use super::echo::{passes, round_trips, transfer};
use super::ends::{Stream, listen};
use proofload_engine::SocketPlace;
use proofload_model::error::Error;
use proofload_model::time::Clock;
use proofload_model::units::BytesPerSecond;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// What a link does to bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LinkLaw {
    /// Time that each byte takes in each direction.
    pub(crate) delay: Duration,
    /// Bytes per second in each direction, all connections together.
    pub(crate) rate: Option<BytesPerSecond>,
}

/// Bytes by which a rate is measured.
const LEAST_MEASURED: u64 = 64 << 10;
const MOST_MEASURED: u64 = 8 << 20;

/// Round trips by which the time of the relay itself is found.
const OWN_TRIPS: u32 = 20;

/// The most of it that is taken off the delay, there and back: beside others it is longer, which no later trip may be made shorter for.
const OWN_AT_MOST: Duration = Duration::from_micros(120);

/// Delay beside which that time is nothing.
const LONGEST_MENDED: Duration = Duration::from_millis(100);

/// Longest time for a round trip beside the delay itself.
const PATIENCE: Duration = Duration::from_secs(5);

/// A relay at work. Dropping it breaks off all connections.
pub(crate) struct Relay {
    link: Arc<Link>,
    file: PathBuf,
    listener: Option<JoinHandle<()>>,
}

/// What all connections of a relay have in common.
struct Link {
    clock: Arc<dyn Clock>,
    law: LinkLaw,
    directions: [Arc<Direction>; 2],
    connections: Mutex<Vec<RelayedConnection>>,
    stopped: AtomicBool,
}

impl std::fmt::Debug for Relay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Relay").field("file", &self.file).field("law", &self.link.law).finish_non_exhaustive()
    }
}

impl Relay {
    /// Listens at a socket's file and leads each connection to a place. What the relay itself takes is part of the delay.
    ///
    /// # Errors
    /// The file cannot be listened at, or nothing passes the relay.
    pub(crate) fn start(at: &Path, to: SocketPlace, law: LinkLaw, clock: Arc<dyn Clock>) -> Result<Self, Error> {
        let listener = listen(at)?;
        let direction = || Arc::new(Direction::new(Arc::clone(&clock), law.rate));
        let directions = [direction(), direction()];
        let (connections, stopped) = (Mutex::default(), AtomicBool::new(false));
        let link = Arc::new(Link { clock, law, directions, connections, stopped });
        let accepting = Arc::clone(&link);
        let listener = std::thread::spawn(move || accepting.accept(&listener, &to));
        let relay = Self { link, file: at.to_owned(), listener: Some(listener) };
        relay.set_delay()?;
        Ok(relay)
    }

    /// Adds as much delay as is missing beside what the relay itself takes, timers included, at its quickest.
    fn set_delay(&self) -> Result<(), Error> {
        let asked = self.link.law.delay;
        let set = |delay: Duration| self.link.directions.iter().for_each(|direction| direction.set_delay(delay));
        set(asked);
        if asked > LONGEST_MENDED {
            return Ok(());
        }
        let shortest = self.round_trips(OWN_TRIPS)?.into_iter().min().unwrap_or_default();
        let own = shortest.saturating_sub(2 * asked).min(OWN_AT_MOST);
        set(asked.saturating_sub(own / 2));
        Ok(())
    }

    /// Holds both directions: nothing passes and nothing is closed. Let go on, what an end sent that has died meanwhile is lost, as where
    /// nobody is left to send it again.
    pub(crate) fn hold(&self, held: bool) {
        if !held {
            let connections = self.link.connections.lock().unwrap_or_else(PoisonError::into_inner);
            connections.iter().filter(|one| one.has_lost_an_end()).for_each(RelayedConnection::break_off);
        }
        self.link.directions.iter().for_each(|direction| direction.hold(held));
    }

    /// Tells whether a byte comes back through the link within a time beside its delay.
    pub(crate) fn passes(&self, within: Duration) -> bool {
        passes(&self.link.directions, within + 2 * self.link.law.delay)
    }

    /// Measures round trips through the link.
    ///
    /// # Errors
    /// One does not come back.
    pub(crate) fn round_trips(&self, count: u32) -> Result<Vec<Duration>, Error> {
        let patience = PATIENCE + 2 * self.link.law.delay;
        round_trips(&self.link.directions, count, patience, &*self.link.clock)
    }
}

impl Relay {
    /// Measures the rate in one direction; `None` where the link has no limit.
    ///
    /// # Errors
    /// The bytes do not arrive.
    pub(crate) fn bandwidth(&self) -> Result<Option<BytesPerSecond>, Error> {
        let Some(rate) = self.link.law.rate else { return Ok(None) };
        // Half a second of it, and at most 8 MiB.
        let bytes = (rate.0 / 2).clamp(LEAST_MEASURED, MOST_MEASURED);
        let took = transfer(&self.link.directions, bytes as usize, &*self.link.clock)?;
        let took = took.saturating_sub(2 * self.link.law.delay);
        Ok(Some(BytesPerSecond((bytes as f64 / took.as_secs_f64().max(1e-9)) as u64)))
    }
}

impl Link {
    fn accept(&self, listener: &UnixListener, to: &SocketPlace) {
        for accepted in listener.incoming() {
            if self.stopped.load(Ordering::Acquire) {
                return;
            }
            // A connection that cannot be made is closed: the standby tries again.
            if let Ok(accepted) = accepted {
                let _closed = self.lead(accepted, to);
            }
        }
    }

    fn lead(&self, accepted: UnixStream, to: &SocketPlace) -> Result<(), Error> {
        let ends = [Stream::Unix(accepted), Stream::connect(to)?];
        let connection = RelayedConnection::start(ends, self.directions.clone());
        let connection = connection.map_err(|error| Error::new(format!("relay a connection: {error}")))?;
        let mut connections = self.connections.lock().unwrap_or_else(PoisonError::into_inner);
        connections.retain(|one| !one.has_ended());
        connections.push(connection);
        Ok(())
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.link.stopped.store(true, Ordering::Release);
        self.link.directions.iter().for_each(|direction| direction.end());
        // Wakes the listener, which then ends.
        let woken = Stream::connect(&SocketPlace::File(self.file.clone()));
        if let Some(listener) = self.listener.take().filter(|_| woken.is_ok()) {
            let _ended = listener.join();
        }
        let connections = std::mem::take(&mut *self.link.connections.lock().unwrap_or_else(PoisonError::into_inner));
        connections.into_iter().for_each(RelayedConnection::end);
        let _gone = std::fs::remove_file(&self.file);
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
