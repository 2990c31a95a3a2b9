//! Ports for servers that are started here. Asks the kernel alone; may not know an engine.

use std::hash::{BuildHasher as _, RandomState};
use std::net::{IpAddr, TcpListener};
use std::ops::Range;

/// Range from which the kernel gives ports to connections, as two numbers: `ip(7)`, `ip_local_port_range`.
const PORTS_OF_CONNECTIONS: &str = "/proc/sys/net/ipv4/ip_local_port_range";
/// Lowest port that we take; most of the ports that services are known by are below.
const LOWEST: u16 = 10_240;
/// Fewest ports that are worth a choice among them.
const FEWEST: usize = 256;
/// Choices before the kernel is asked for any port.
const TRIES: usize = 64;

/// A port at an address of this host on which nobody listens, and which no connection is given while its server is down.
///
/// Any free port where the kernel leaves too few to servers.
///
/// # Errors
/// The address is not one of this host.
pub fn free_port(at: IpAddr) -> std::io::Result<u16> {
    let taken = std::fs::read_to_string(PORTS_OF_CONNECTIONS).unwrap_or_default();
    let is_free = |port: &u16| TcpListener::bind((at, *port)).is_ok();
    let chosen = ports_of_servers(&taken).and_then(|ports| (0..TRIES).map(|_| chance(&ports)).find(is_free));
    chosen.map_or_else(|| Ok(TcpListener::bind((at, 0))?.local_addr()?.port()), Ok)
}

/// The ports outside the range of connections; `None` where they are too few or the range is not known.
fn ports_of_servers(taken: &str) -> Option<Range<u16>> {
    let mut ends = taken.split_whitespace().map(str::parse::<u16>);
    let (Some(Ok(first)), Some(Ok(last))) = (ends.next(), ends.next()) else { return None };
    let (below, above) = (LOWEST..first, last.saturating_add(1).max(LOWEST)..u16::MAX);
    [above, below].into_iter().max_by_key(ExactSizeIterator::len).filter(|ports| ports.len() >= FEWEST)
}

/// One of some ports, by a new key of the standard library's hash.
fn chance(ports: &Range<u16>) -> u16 {
    let drawn = RandomState::new().hash_one(ports.start) % u64::from(ports.end - ports.start);
    ports.start + u16::try_from(drawn).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_get_the_larger_side_of_what_connections_leave() {
        assert_eq!(ports_of_servers("32768\t60999\n"), Some(10_240..32_768));
        assert_eq!(ports_of_servers("1024 40000"), Some(40_001..u16::MAX));
        for taken in ["1024 65535", "10300 65535", "", "32768", "a b"] {
            assert_eq!(ports_of_servers(taken), None, "{taken}");
        }
    }

    #[test]
    fn a_port_is_free_and_another_each_time() {
        let at = "127.0.0.1".parse().unwrap();
        let ports: std::collections::HashSet<u16> = (0..20).map(|_| free_port(at).unwrap()).collect();
        assert!(ports.len() > 10, "{ports:?}");
        assert!(ports.iter().all(|port| TcpListener::bind((at, *port)).is_ok()), "{ports:?}");
        let taken = std::fs::read_to_string(PORTS_OF_CONNECTIONS).unwrap_or_default();
        if let Some(of_servers) = ports_of_servers(&taken) {
            assert!(ports.iter().all(|port| of_servers.contains(port)), "{ports:?}");
        }
        assert!(free_port("192.0.2.1".parse().unwrap()).is_err(), "an address of nobody");
    }
}
