//! The round trip of a link, measured: bytes that go through it and come back.

use super::connection::RelayedConnection;
use super::direction::Direction;
use super::ends::Stream;
use proofload_model::error::Error;
use proofload_model::time::Clock;
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

/// Time of each of so many round trips, one after the other; `patience`: longest time for one.
pub(super) fn round_trips(
    directions: &[Arc<Direction>; 2],
    count: u32,
    patience: Duration,
    clock: &dyn Clock,
) -> Result<Vec<Duration>, Error> {
    let failed = |error: std::io::Error| Error::new(format!("failed to measure the round trip of the link: {error}"));
    let (mut near, near_end) = UnixStream::pair().map_err(failed)?;
    let (far_end, mut far) = UnixStream::pair().map_err(failed)?;
    let connection = RelayedConnection::start([Stream::Unix(near_end), Stream::Unix(far_end)], directions.clone());
    let connection = connection.map_err(failed)?;
    let echo = std::thread::spawn(move || {
        let mut byte = [0];
        while far.read_exact(&mut byte).is_ok() && far.write_all(&byte).is_ok() {}
    });
    near.set_read_timeout(Some(patience)).map_err(failed)?;
    let mut byte = [1];
    let mut trip = || {
        let sent = clock.now();
        near.write_all(&byte).and_then(|()| near.read_exact(&mut byte)).map_err(failed)?;
        Ok(clock.now().since(sent))
    };
    let trips = (0..count).map(|_| trip()).collect();
    connection.end();
    let _ended = echo.join();
    trips
}

/// Whether a byte arrives within a time, for each direction. Does not wait for threads that are held.
pub(super) fn passes(directions: &[Arc<Direction>; 2], within: Duration) -> [bool; 2] {
    let ends = || Some((UnixStream::pair().ok()?, UnixStream::pair().ok()?));
    let Some(((mut near, near_end), (far_end, mut far))) = ends() else { return [false; 2] };
    let started = RelayedConnection::start([Stream::Unix(near_end), Stream::Unix(far_end)], directions.clone());
    let Ok(connection) = started else { return [false; 2] };
    let arrives = |from: &mut UnixStream, to: &mut UnixStream| {
        let sent = to.set_read_timeout(Some(within)).and_then(|()| from.write_all(&[1]));
        sent.and_then(|()| to.read_exact(&mut [0])).is_ok()
    };
    let arrived = [arrives(&mut near, &mut far), arrives(&mut far, &mut near)];
    connection.break_off();
    arrived
}

/// Time from the first of so many bytes to the answer to the last.
pub(super) fn transfer(directions: &[Arc<Direction>; 2], bytes: usize, clock: &dyn Clock) -> Result<Duration, Error> {
    let failed = |error: std::io::Error| Error::new(format!("failed to measure the rate of the link: {error}"));
    let (mut near, near_end) = UnixStream::pair().map_err(failed)?;
    let (far_end, mut far) = UnixStream::pair().map_err(failed)?;
    let connection = RelayedConnection::start([Stream::Unix(near_end), Stream::Unix(far_end)], directions.clone());
    let connection = connection.map_err(failed)?;
    let sink = std::thread::spawn(move || {
        let mut content = vec![0; bytes];
        far.read_exact(&mut content).and_then(|()| far.write_all(&[1]))
    });
    let begun = clock.now();
    let answered = near.write_all(&vec![0; bytes]).and_then(|()| near.read_exact(&mut [0]));
    let took = clock.now().since(begun);
    connection.end();
    let _ended = sink.join();
    answered.map(|()| took).map_err(failed)
}
