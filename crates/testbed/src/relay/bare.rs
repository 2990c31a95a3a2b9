//! A relay between two sockets' files, for whoever measures what it takes. Knows no instance, and makes no fault.

use super::link::{LinkLaw, Relay};
use proofload_engine::SocketPlace;
use proofload_model::error::Error;
use proofload_model::time::Clock;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Relay without instances. Dropping it breaks off all connections.
#[derive(Debug)]
pub struct BareRelay(Relay);

impl BareRelay {
    /// Listens at a socket's file and leads each connection to another file, at a round trip of so long.
    ///
    /// # Errors
    /// The file cannot be listened at, or nothing passes the relay.
    pub fn start(at: &Path, to: &Path, rtt: Duration, clock: Arc<dyn Clock>) -> Result<Self, Error> {
        let place = |path: &Path| SocketPlace::File(path.to_owned());
        let law = LinkLaw { delay: rtt / 2, rate: None };
        Relay::start(&place(at), place(to), law, clock).map(Self)
    }

    /// CPU time of the threads that relay, since the start.
    pub fn cpu(&self) -> Duration {
        self.0.meter().read().iter().map(|direction| direction.cpu).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_clock::TestClock;
    use std::io::{Read as _, Write as _};
    use std::os::unix::net::{UnixListener, UnixStream};
    use std::time::Instant;

    #[test]
    fn a_bare_relay_takes_its_round_trip_and_counts_its_cpu_time() {
        let folder = tempfile::tempdir().unwrap();
        let [at, to] = ["relay", "server"].map(|name| folder.path().join(name));
        let server = UnixListener::bind(&to).unwrap();
        let relay = BareRelay::start(&at, &to, Duration::from_millis(20), Arc::new(TestClock::new())).unwrap();
        let mut near = UnixStream::connect(&at).unwrap();
        let (mut far, _) = server.accept().unwrap();
        let mut byte = [7];
        let begun = Instant::now();
        near.write_all(&byte).unwrap();
        far.read_exact(&mut byte).unwrap();
        far.write_all(&byte).unwrap();
        near.read_exact(&mut byte).unwrap();
        // What the relay itself takes, at most 120 µs, is part of the round trip.
        assert!(begun.elapsed() >= Duration::from_micros(19_800), "{:?}", begun.elapsed());
        assert_eq!(byte, [7]);
        assert!(relay.cpu() > Duration::ZERO);
    }
}
