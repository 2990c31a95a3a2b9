//! The endpoints of a database: asked anew at each attempt to connect, so that a user comes back wherever the database answers now.

use super::engine::Target;
use super::error::Error;
use proofload_model::secret::Secret;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Addresses of started instances, or of the hosts of a URL that names several, in the order in which they are tried. Clones
/// share whose turn it is: a session that finds an address dead spares the others the attempt.
#[derive(Debug, Clone, Default)]
pub struct Endpoints {
    addresses: Arc<[String]>,
    turn: Arc<AtomicUsize>,
    /// Whether another instance may have become the one that takes writes.
    role_moves: bool,
    /// Password of instances that are reached over the network.
    password: Option<Secret>,
}

impl Endpoints {
    /// The endpoint whose turn it is.
    pub fn address(&self) -> Option<&str> {
        self.at(self.turn.load(Ordering::Relaxed))
    }

    /// The same, come to by a password.
    #[must_use]
    pub fn with_password(self, password: Option<Secret>) -> Self {
        Self { password, ..self }
    }

    /// Password of started instances that are reached over the network; `None`: what the load host knows, if anything.
    pub fn password(&self) -> Option<&Secret> {
        self.password.as_ref()
    }

    /// Tells whether a connection must make sure that its instance is the one that takes writes.
    pub fn role_moves(&self) -> bool {
        self.role_moves
    }

    /// Each endpoint alone, in order.
    pub fn each(&self) -> impl Iterator<Item = Self> + '_ {
        let alone = |address: &String| {
            let password = self.password.clone();
            Self { role_moves: self.role_moves, password, ..Some(address.clone()).into() }
        };
        self.addresses.iter().map(alone)
    }

    /// Each endpoint alone, in order, whether it takes writes or not.
    pub fn each_in_any_role(&self) -> impl Iterator<Item = Self> + '_ {
        self.each().map(|alone| Self { role_moves: false, ..alone })
    }

    fn at(&self, turn: usize) -> Option<&str> {
        let count = self.addresses.len().max(1);
        self.addresses.get(turn % count).map(String::as_str)
    }
}

impl PartialEq for Endpoints {
    fn eq(&self, other: &Self) -> bool {
        self.addresses == other.addresses
    }
}

impl Eq for Endpoints {}

impl From<Vec<String>> for Endpoints {
    fn from(addresses: Vec<String>) -> Self {
        let role_moves = addresses.len() > 1;
        Self { addresses: addresses.into(), turn: Arc::default(), role_moves, password: None }
    }
}

impl From<Option<String>> for Endpoints {
    fn from(address: Option<String>) -> Self {
        address.into_iter().collect::<Vec<_>>().into()
    }
}

/// An attempt at an endpoint: unless it succeeds, also when it is dropped half-way, the turn goes to the next.
struct Attempt<'a> {
    endpoints: &'a Endpoints,
    turn: usize,
    has_succeeded: bool,
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        if !self.has_succeeded {
            let next = self.turn.wrapping_add(1);
            // Somebody else may have passed it on meanwhile; then it is not passed on twice.
            let _passed = self.endpoints.turn.compare_exchange(self.turn, next, Ordering::Relaxed, Ordering::Relaxed);
        }
    }
}

impl Target {
    /// Connects by `connect` at the endpoint whose turn it is, and at the others in turn while that fails: each at most once.
    ///
    /// # Errors
    /// That of the last attempt.
    pub async fn connect<T>(&self, connect: impl AsyncFn(&Self) -> Result<T, Error>) -> Result<T, Error> {
        let mut left = self.endpoints.addresses.len().max(1);
        loop {
            let turn = self.endpoints.turn.load(Ordering::Relaxed);
            let mut attempt = Attempt { endpoints: &self.endpoints, turn, has_succeeded: false };
            let connected = connect(self).await;
            attempt.has_succeeded = connected.is_ok();
            left -= 1;
            if connected.is_ok() || left == 0 {
                return connected;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::ErrorClass;
    use proofload_model::wire::DataLocation;
    use std::cell::RefCell;
    use std::net::{Ipv4Addr, TcpListener, TcpStream};

    fn target(addresses: &[&str]) -> Target {
        let place = DataLocation {
            engine: "test".to_owned(),
            folder: String::new(),
            url: None,
            settings: Vec::new(),
            tier: None,
        };
        let addresses: Vec<String> = addresses.iter().map(|address| (*address).to_owned()).collect();
        Target { place, endpoints: addresses.into() }
    }

    async fn dial(target: &Target) -> Result<String, Error> {
        let address = target.address().expect("there is one").to_owned();
        let lost = |error: std::io::Error| Error::new(ErrorClass::ConnectionLost, "", error.to_string());
        TcpStream::connect(&address).map(|_| address).map_err(lost)
    }

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
    }

    #[test]
    fn a_dead_endpoint_is_passed_over_once_and_for_all_clones() {
        let alive = TcpListener::bind("127.0.0.1:0").unwrap();
        let alive = alive.local_addr().map(|address| (alive, address.to_string())).unwrap();
        let dead = format!("127.0.0.1:{}", crate::free_port(Ipv4Addr::LOCALHOST.into()).unwrap());
        let target = target(&[&dead, &alive.1]);
        assert_eq!(target.address(), Some(dead.as_str()), "the first is tried first");
        assert_eq!(block_on(target.connect(dial)).unwrap(), alive.1);
        assert_eq!(target.clone().address(), Some(alive.1.as_str()), "and nobody asks the dead one again");
        drop(alive.0);
        assert_eq!(block_on(target.connect(dial)).unwrap_err().class(), ErrorClass::ConnectionLost);
        assert_eq!(target.address(), Some(alive.1.as_str()), "both were asked; the round is over");
    }

    #[test]
    fn one_endpoint_is_asked_once_and_so_is_a_url() {
        for addresses in [&["a"][..], &[]] {
            let asked = RefCell::new(Vec::new());
            let target = target(addresses);
            let refuse = async |target: &Target| -> Result<(), Error> {
                asked.borrow_mut().push(target.address().map(str::to_owned));
                Err(Error::other("no"))
            };
            assert!(block_on(target.connect(refuse)).is_err());
            assert_eq!(asked.into_inner(), [addresses.first().map(|address| (*address).to_owned())]);
        }
    }

    #[test]
    fn an_attempt_that_is_given_up_passes_the_turn_on() {
        let target = target(&["silent", "other"]);
        let hang = async |_: &Target| -> Result<(), Error> { std::future::pending().await };
        let wait = std::time::Duration::from_millis(1);
        assert!(block_on(async { tokio::time::timeout(wait, target.connect(hang)).await }).is_err());
        assert_eq!(target.address(), Some("other"));
    }
}
