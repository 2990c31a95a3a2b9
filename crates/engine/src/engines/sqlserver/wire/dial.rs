//! Opens the socket of a connection. The addresses of a host's name are tried one after another, or dialled at once, as the listener of an
//! availability group in several subnets needs it: all but one of its addresses are silent. Source: Microsoft's documentation,
//! "`MultiSubnetFailover`".

use crate::contract::{Error, ErrorClass};
use crate::engines::sqlserver::address::ServerAddress;
use crate::engines::wire::{Place, Socket, open};
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::Poll;
use tokio::net::lookup_host;

/// Addresses that a name may have where all are dialled at once; Microsoft's drivers take no more either.
const MOST_ADDRESSES: usize = 64;

/// An attempt that is under way.
type Attempt<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>>;

/// Opens a socket to the server.
pub(super) async fn dial(address: &ServerAddress) -> Result<Socket, Error> {
    match &address.place {
        Place::Tcp { address: host, port, name } if address.every_address => {
            let failed =
                |error| Error::new(ErrorClass::ConnectionLost, "", format!("look up the addresses of {host}: {error}"));
            let found: Vec<SocketAddr> = lookup_host((host.as_str(), *port)).await.map_err(failed)?.collect();
            let places = each_place(&found, name)?;
            let attempts = places.iter().map(|place| Box::pin(open(place, &address.options)) as Attempt<'_, Socket>);
            first_of(attempts.collect()).await
        }
        place => open(place, &address.options).await,
    }
}

/// A place for each address.
fn each_place(found: &[SocketAddr], name: &str) -> Result<Vec<Place>, Error> {
    if found.len() > MOST_ADDRESSES {
        let text = format!(
            "multi-subnet-failover dials at most {MOST_ADDRESSES} addresses at once, and {name} has {}: leave it out",
            found.len()
        );
        return Err(Error::other(text));
    }
    let place =
        |one: &SocketAddr| Place::Tcp { address: one.ip().to_string(), port: one.port(), name: name.to_owned() };
    Ok(found.iter().map(place).collect())
}

/// What the first attempt brings that succeeds; the others are given up. The first error where all fail.
async fn first_of<T>(mut attempts: Vec<Attempt<'_, T>>) -> Result<T, Error> {
    let mut failed = None;
    std::future::poll_fn(move |context| {
        let mut place = 0;
        while let Some(attempt) = attempts.get_mut(place) {
            match attempt.as_mut().poll(context) {
                Poll::Ready(Ok(found)) => return Poll::Ready(Ok(found)),
                Poll::Ready(Err(error)) => {
                    failed.get_or_insert(error);
                    drop(attempts.remove(place));
                }
                Poll::Pending => place += 1,
            }
        }
        if !attempts.is_empty() {
            return Poll::Pending;
        }
        Poll::Ready(Err(failed.take().unwrap_or_else(|| Error::other("the name resolves to no address"))))
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempt(outcome: Option<Result<u8, &'static str>>) -> Attempt<'static, u8> {
        Box::pin(async move {
            match outcome {
                Some(outcome) => outcome.map_err(Error::other),
                None => std::future::pending().await,
            }
        })
    }

    async fn first(outcomes: &[Option<Result<u8, &'static str>>]) -> Result<u8, String> {
        let attempts = outcomes.iter().map(|outcome| attempt(*outcome)).collect();
        first_of(attempts).await.map_err(|error| error.to_string())
    }

    /// An address that is silent for ever does not keep one that answers from being found, in whatever order.
    #[tokio::test]
    async fn all_addresses_are_dialled_at_once() {
        assert_eq!(first(&[None, None, Some(Ok(3))]).await, Ok(3));
        assert_eq!(first(&[Some(Err("refused")), None, Some(Ok(3)), None]).await, Ok(3));
        assert_eq!(first(&[Some(Err("first")), Some(Err("second"))]).await, Err("first".to_owned()));
        assert_eq!(first(&[]).await, Err("the name resolves to no address".to_owned()));
    }

    #[test]
    fn each_address_is_a_place_with_the_name_of_the_certificate() {
        let found: Vec<SocketAddr> =
            ["10.0.0.1:1433", "[::1]:1433"].map(|one| one.parse::<SocketAddr>().expect("an address")).into();
        let places = each_place(&found, "listener").expect("two places");
        let told: Vec<String> = places.iter().map(|place| format!("{place:?}")).collect();
        assert!(told[0].contains("10.0.0.1") && told[1].contains("::1"), "{told:?}");
        assert!(told.iter().all(|place| place.contains("1433") && place.contains("listener")), "{told:?}");
        let error = each_place(&[found[0]; 65], "listener").expect_err("too many").to_string();
        assert!(error.contains("at most 64"), "{error}");
    }
}
