//! The places of a configuration of the driver, and how its sockets are opened.

use crate::contract::Error;
use crate::engines::wire::{Place, SocketOptions};
use socket2::TcpKeepalive;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use tokio_postgres::Config;
use tokio_postgres::config::{Host, LoadBalanceHosts};

/// The places of a configuration in the order in which they are tried.
pub(super) fn places(config: &Config) -> Result<Vec<Place>, Error> {
    let (hosts, addresses, ports) = (config.get_hosts(), config.get_hostaddrs(), config.get_ports());
    let count = hosts.len().max(addresses.len());
    if !hosts.is_empty() && !addresses.is_empty() && hosts.len() != addresses.len() {
        let text = format!("{} hosts but {} host addresses are given", hosts.len(), addresses.len());
        return Err(Error::other(text));
    }
    if ports.len() > 1 && ports.len() != count {
        return Err(Error::other(format!("{} ports but {count} hosts are given", ports.len())));
    }
    let port = |index: usize| ports.get(index).or(ports.first()).copied().unwrap_or(5432);
    let place = |index: usize| match (addresses.get(index), hosts.get(index)) {
        (Some(address), host) => {
            let name = match host {
                Some(Host::Tcp(name)) => name.clone(),
                _ => address.to_string(),
            };
            Place::Tcp { address: address.to_string(), port: port(index), name }
        }
        (None, Some(Host::Unix(folder))) => Place::Unix(folder.join(format!(".s.PGSQL.{}", port(index)))),
        (None, Some(Host::Tcp(name))) => Place::Tcp { address: name.clone(), port: port(index), name: name.clone() },
        (None, None) => unreachable!("the count is that of the longer list"),
    };
    let mut places: Vec<Place> = (0..count).map(place).collect();
    if config.get_load_balance_hosts() == LoadBalanceHosts::Random {
        // One draw from the standard library's random keys is enough to begin somewhere else each time.
        let draw = RandomState::new().build_hasher().finish();
        let first = usize::try_from(draw % places.len().max(1) as u64).expect("below the count");
        places.rotate_left(first);
    }
    Ok(places)
}

/// How sockets of a configuration are opened and kept.
pub(super) fn options(config: &Config) -> SocketOptions {
    let keepalive = || {
        let mut keepalive = TcpKeepalive::new().with_time(config.get_keepalives_idle());
        if let Some(interval) = config.get_keepalives_interval() {
            keepalive = keepalive.with_interval(interval);
        }
        if let Some(retries) = config.get_keepalives_retries() {
            keepalive = keepalive.with_retries(retries);
        }
        keepalive
    };
    SocketOptions {
        patience: config.get_connect_timeout().copied(),
        user_timeout: config.get_tcp_user_timeout().copied(),
        keepalive: config.get_keepalives().then(keepalive),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(config: &str, expected: Option<&[&str]>) {
        let found = places(&config.parse().expect("a configuration")).ok();
        let text = |place: &Place| match place {
            Place::Tcp { address, port, .. } => format!("{address} {port}"),
            Place::Unix(path) => path.display().to_string(),
        };
        let found: Option<Vec<String>> = found.map(|places| places.iter().map(text).collect());
        assert_eq!(found, expected.map(|list| list.iter().map(|&place| place.to_owned()).collect()), "{config}");
    }

    #[test]
    fn hosts_addresses_and_ports_make_places() {
        check("host=a,b port=1,2", Some(&["a 1", "b 2"]));
        check("host=a,/run/pg port=7", Some(&["a 7", "/run/pg/.s.PGSQL.7"]));
        check("host=a hostaddr=10.0.0.1", Some(&["10.0.0.1 5432"]));
        check("hostaddr=10.0.0.1,10.0.0.2", Some(&["10.0.0.1 5432", "10.0.0.2 5432"]));
        check("host=a,b port=1,2,3", None);
        check("host=a,b hostaddr=10.0.0.1", None);
    }
}
