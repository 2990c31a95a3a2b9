//! A relay: listens in the place of the instance that a standby follows, and leads to it.

use super::connection::RelayedConnection;
use super::direction::Direction;
use super::echo::{passes, round_trips, transfer};
use super::ends::{Listener, Stream};
use super::meter::RelayMeter;
use crate::sys;
use proofload_engine::SocketPlace;
use proofload_model::error::Error;
use proofload_model::time::Clock;
use proofload_model::units::BytesPerSecond;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
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

/// Pause after a connection could not be taken.
const PAUSE: Duration = Duration::from_millis(50);

/// Longest time for a round trip beside the delay itself.
const PATIENCE: Duration = Duration::from_secs(5);

/// A relay at work. Dropping it breaks off all connections.
pub(crate) struct Relay {
    link: Arc<Link>,
    at: SocketPlace,
    to: SocketPlace,
    /// What the study asks for; a fault changes it for a while.
    asked: LinkLaw,
    /// What the relay itself adds to a round trip at its quickest.
    own: Duration,
    listener: Mutex<Option<JoinHandle<()>>>,
}

/// Where bytes of a link go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// Way from the standby to the instance that it follows.
    ToPrimary,
    /// Way back.
    ToStandby,
}

impl Way {
    /// Both, in the order in which a relay keeps them.
    pub(crate) const BOTH: [Self; 2] = [Self::ToPrimary, Self::ToStandby];
}

/// What all connections of a relay have in common.
struct Link {
    clock: Arc<dyn Clock>,
    law: Mutex<LinkLaw>,
    directions: [Arc<Direction>; 2],
    connections: Mutex<Vec<RelayedConnection>>,
    /// Connections that were asked for while nothing passes: the other end knows nothing of them.
    waiting: Mutex<Vec<Stream>>,
    /// Whether nobody listens.
    closed: AtomicBool,
}

impl std::fmt::Debug for Relay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Relay").field("at", &self.at).field("asked", &self.asked).finish_non_exhaustive()
    }
}

impl Relay {
    /// Listens at a place and leads each connection to another. What the relay itself takes is part of the delay.
    ///
    /// # Errors
    /// The place cannot be listened at, or nothing passes the relay.
    pub(crate) fn start(at: &SocketPlace, to: SocketPlace, law: LinkLaw, clock: Arc<dyn Clock>) -> Result<Self, Error> {
        let listener = Listener::at(at)?;
        let direction = || Arc::new(Direction::new(Arc::clone(&clock), law.rate));
        let directions = [direction(), direction()];
        let (connections, waiting, closed) = (Mutex::default(), Mutex::default(), AtomicBool::new(false));
        let link = Arc::new(Link { clock, law: Mutex::new(law), directions, connections, waiting, closed });
        let own = Duration::ZERO;
        let mut relay = Self { link, at: at.clone(), to, asked: law, own, listener: Mutex::default() };
        relay.accept_at(listener);
        relay.set_delay(law.delay);
        if law.delay <= LONGEST_MENDED {
            let shortest = relay.round_trips(OWN_TRIPS)?.into_iter().min().unwrap_or_default();
            relay.own = shortest.saturating_sub(2 * law.delay).min(OWN_AT_MOST);
            relay.set_delay(law.delay);
        }
        Ok(relay)
    }

    fn accept_at(&self, listener: Listener) {
        let (accepting, to) = (Arc::clone(&self.link), self.to.clone());
        let listener = std::thread::spawn(move || accepting.accept(&listener, &to));
        *self.listener.lock().unwrap_or_else(PoisonError::into_inner) = Some(listener);
    }

    /// Adds as much delay as is missing beside what the relay itself takes, timers included, at its quickest.
    fn set_delay(&self, asked: Duration) {
        let added = asked.saturating_sub(self.own / 2);
        self.link.directions.iter().for_each(|direction| direction.set_delay(added, asked.saturating_sub(added)));
    }

    /// What the study asks for.
    pub(crate) const fn asked(&self) -> LinkLaw {
        self.asked
    }

    /// What the link does to bytes now.
    pub(crate) fn law(&self) -> LinkLaw {
        *self.link.law.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes what the link does to bytes that arrive from now on.
    pub(crate) fn set_law(&self, law: LinkLaw) {
        *self.link.law.lock().unwrap_or_else(PoisonError::into_inner) = law;
        self.set_delay(law.delay);
        self.link.directions.iter().for_each(|direction| direction.set_rate(law.rate));
    }

    /// Bytes that have passed in each direction since the link was made.
    pub(crate) fn passed(&self) -> [u64; 2] {
        [0, 1].map(|way: usize| self.link.directions[way].passed())
    }

    /// A handle of what is counted while bytes pass.
    pub(crate) fn meter(&self) -> RelayMeter {
        RelayMeter::of(&self.link.directions)
    }

    /// Holds some ways, or lets them go on: nothing passes and nothing is closed. Let go on, what an end sent that has died meanwhile is
    /// lost, as where nobody is left to send it again.
    pub(crate) fn hold(&self, ways: &[Way], held: bool) {
        if !held {
            let connections = self.link.connections.lock().unwrap_or_else(PoisonError::into_inner);
            connections.iter().filter(|one| one.has_lost_an_end()).for_each(RelayedConnection::break_off);
        }
        for (way, direction) in Way::BOTH.iter().zip(&self.link.directions) {
            if ways.contains(way) {
                direction.hold(held);
            }
        }
        if !self.link.is_parted() {
            self.link.lead_waiting(&self.to);
        }
    }

    /// Tells whether a way is held.
    pub(crate) fn holds(&self, way: Way) -> bool {
        Way::BOTH.iter().zip(&self.link.directions).any(|(one, direction)| *one == way && direction.is_held())
    }

    /// Tells by which ways a byte arrives within a time beside its delay.
    pub(crate) fn passes(&self, within: Duration) -> Vec<Way> {
        let arrived = passes(&self.link.directions, within + self.law().delay);
        Way::BOTH.into_iter().zip(arrived).filter(|(_, arrived)| *arrived).map(|(way, _)| way).collect()
    }

    /// Measures round trips through the link.
    ///
    /// # Errors
    /// One does not come back.
    pub(crate) fn round_trips(&self, count: u32) -> Result<Vec<Duration>, Error> {
        let patience = PATIENCE + 2 * self.law().delay;
        round_trips(&self.link.directions, count, patience, &*self.link.clock)
    }
}

impl Relay {
    /// Measures the rate in one direction; `None` where the link has no limit.
    ///
    /// # Errors
    /// The bytes do not arrive.
    pub(crate) fn bandwidth(&self) -> Result<Option<BytesPerSecond>, Error> {
        self.law().rate.map(|rate| self.transferred(rate)).transpose()
    }

    /// Measures the rate in one direction, whether there is a limit or not, by what a rate transfers in half a second, at most 8 MiB.
    ///
    /// # Errors
    /// The bytes do not arrive.
    pub(crate) fn transferred(&self, rate: BytesPerSecond) -> Result<BytesPerSecond, Error> {
        let bytes = (rate.0 / 2).clamp(LEAST_MEASURED, MOST_MEASURED);
        let took = transfer(&self.link.directions, bytes as usize, &*self.link.clock)?;
        let took = took.saturating_sub(2 * self.law().delay);
        Ok(BytesPerSecond((bytes as f64 / took.as_secs_f64().max(1e-9)) as u64))
    }
}

impl Relay {
    /// Closes all connections and refuses new ones.
    pub(crate) fn close(&self) {
        self.end_listener();
        let connections = self.link.connections.lock().unwrap_or_else(PoisonError::into_inner);
        connections.iter().for_each(RelayedConnection::break_off);
        self.link.waiting.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Listens again where it has refused, under the same rights.
    ///
    /// # Errors
    /// The place cannot be listened at any more.
    pub(crate) fn open(&self) -> Result<(), Error> {
        if !self.link.closed.load(Ordering::Acquire) {
            return Ok(());
        }
        let listener = match &self.at {
            SocketPlace::File(file) => listen_as_before(&self.at, file)?,
            SocketPlace::Host { .. } => Listener::at(&self.at)?,
        };
        self.link.closed.store(false, Ordering::Release);
        self.accept_at(listener);
        Ok(())
    }

    /// Tells whether a new connection is refused.
    pub(crate) fn refuses(&self) -> bool {
        Stream::connect(&self.at).is_err()
    }

    fn end_listener(&self) {
        self.link.closed.store(true, Ordering::Release);
        // Wakes the listener, which then ends.
        let woken = Stream::connect(&self.at);
        let listener = self.listener.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(listener) = listener.filter(|_| woken.is_ok()) {
            let _ended = listener.join();
        }
    }
}

impl Link {
    fn accept(&self, listener: &Listener, to: &SocketPlace) {
        loop {
            let accepted = listener.accept();
            if self.closed.load(Ordering::Acquire) {
                return;
            }
            match accepted {
                // A connection that cannot be made is closed: whoever asked tries again.
                Ok(accepted) => drop(self.keep_waiting(accepted).map(|accepted| self.lead(accepted, to))),
                // Too many files are open: the next is taken when some are closed.
                Err(_) => self.clock.sleep(PAUSE),
            }
        }
    }

    /// Whether nothing passes in either direction.
    fn is_parted(&self) -> bool {
        self.directions.iter().all(|direction| direction.is_held())
    }

    /// Keeps a new connection while nothing passes, and forgets those that gave up; gives it back otherwise.
    fn keep_waiting(&self, accepted: Stream) -> Option<Stream> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.is_parted() {
            return Some(accepted);
        }
        waiting.retain(|one| !sys::peer_has_closed(one));
        waiting.push(accepted);
        None
    }

    /// Leads what has waited and is still there.
    fn lead_waiting(&self, to: &SocketPlace) {
        let waiting = std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner));
        for one in waiting.into_iter().filter(|one| !sys::peer_has_closed(one)) {
            let _closed = self.lead(one, to);
        }
    }

    fn lead(&self, accepted: Stream, to: &SocketPlace) -> Result<(), Error> {
        let ends = [accepted, Stream::connect(to)?];
        let connection = RelayedConnection::start(ends, self.directions.clone());
        let connection = connection.map_err(|error| Error::new(format!("failed to relay a connection: {error}")))?;
        let mut connections = self.connections.lock().unwrap_or_else(PoisonError::into_inner);
        connections.retain(|one| !one.has_ended());
        connections.push(connection);
        Ok(())
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.link.directions.iter().for_each(|direction| direction.end());
        self.end_listener();
        let connections = std::mem::take(&mut *self.link.connections.lock().unwrap_or_else(PoisonError::into_inner));
        connections.into_iter().for_each(RelayedConnection::end);
        if let SocketPlace::File(file) = &self.at {
            let _gone = std::fs::remove_file(file);
        }
    }
}

/// Listens at a socket's file under the rights that it has.
fn listen_as_before(at: &SocketPlace, file: &Path) -> Result<Listener, Error> {
    let failed = |error: std::io::Error| Error::new(format!("failed to change access to {}: {error}", file.display()));
    let before = std::fs::metadata(file).map_err(failed)?;
    let listener = Listener::at(at)?;
    std::fs::set_permissions(file, before.permissions()).map_err(failed)?;
    sys::set_owner(file, before.uid(), before.gid())?;
    Ok(listener)
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
