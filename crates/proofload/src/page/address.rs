//! Where the live page is served, and who may read it: on loopback everybody of this machine, elsewhere who has the address with its token.

use std::io::Read;
use std::net::{IpAddr, SocketAddr, TcpListener, UdpSocket};

/// Bytes of a token.
const TOKEN_BYTES: usize = 16;

/// Readers that are admitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Access {
    /// Readers on this machine that name it by a loopback address, so that no other site's script can.
    Loopback,
    /// Readers whose address begins with this token.
    Token(String),
}

/// Binds an address such as `127.0.0.1:7070`; also gives the page's address.
///
/// # Errors
/// It is no address and port, is in use, or is none of this machine.
pub(crate) fn bind(text: &str) -> Result<(TcpListener, Access, String), String> {
    let wrong = |why: &str| format!("failed to serve the live page on {text}: {why}");
    // Names of hosts are not looked up, but this one means the same everywhere.
    let numbers = text.strip_prefix("localhost:").map_or_else(|| text.to_owned(), |port| format!("127.0.0.1:{port}"));
    let address: SocketAddr = numbers
        .parse()
        .map_err(|_| wrong("use an IP address and a port, such as 127.0.0.1:7070, [::1]:7070 or localhost:7070"))?;
    let listener = TcpListener::bind(address).map_err(|error| match error.kind() {
        std::io::ErrorKind::AddrInUse => wrong("the port is in use; choose another one, or 0 for any that is free"),
        std::io::ErrorKind::AddrNotAvailable => wrong("this machine does not have the address"),
        _ => wrong(&error.to_string()),
    })?;
    listener.set_nonblocking(true).map_err(|error| wrong(&error.to_string()))?;
    let bound = listener.local_addr().map_err(|error| wrong(&error.to_string()))?;
    if bound.ip().is_loopback() {
        return Ok((listener, Access::Loopback, format!("http://{bound}/")));
    }
    let token = token().map_err(|error| wrong(&format!("no random token: {error}")))?;
    let page = format!("http://{}/{token}/", SocketAddr::new(reachable(bound.ip()), bound.port()));
    Ok((listener, Access::Token(token), page))
}

/// The address that other machines can use: where all are bound, that of the interface by which this machine reaches them. Sends nothing.
fn reachable(bound: IpAddr) -> IpAddr {
    if !bound.is_unspecified() {
        return bound;
    }
    // An address for documentation (RFC 5737): only the way to it is asked for.
    let asked = UdpSocket::bind(("0.0.0.0", 0)).and_then(|socket| {
        socket.connect(("192.0.2.1", 9))?;
        socket.local_addr()
    });
    asked.map_or(bound, |address| address.ip())
}

fn token() -> std::io::Result<String> {
    let mut bytes = [0; TOKEN_BYTES];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

impl Access {
    /// The path below the page of a request that may be answered; `None` for others.
    pub(crate) fn admitted<'p>(&self, host: Option<&str>, path: &'p str) -> Option<&'p str> {
        match self {
            Self::Loopback => host.filter(|host| is_loopback(host)).map(|_| path),
            Self::Token(token) => {
                let (first, rest) = path.strip_prefix('/')?.split_once('/')?;
                // Equal in length, and compared whole, so that the time tells nothing.
                let same = first.len() == token.len()
                    && first.bytes().zip(token.bytes()).fold(0, |all, (one, other)| all | (one ^ other)) == 0;
                same.then(|| &path[path.len() - rest.len() - 1..])
            }
        }
    }
}

/// Whether the host of a request names loopback, with any port.
fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_or_the_token_is_admitted() {
        let loopback = |host: &str| Access::Loopback.admitted(Some(host), "/state");
        assert_eq!(loopback("127.0.0.1:7070"), Some("/state"));
        assert_eq!((loopback("localhost"), loopback("[::1]:80")), (Some("/state"), Some("/state")));
        assert_eq!((loopback("evil.example:7070"), loopback("10.0.0.1")), (None, None));
        assert_eq!(Access::Loopback.admitted(None, "/"), None);
        let token = Access::Token("abcd".to_owned());
        assert_eq!(token.admitted(Some("db1:7070"), "/abcd/state"), Some("/state"));
        assert_eq!(token.admitted(None, "/abcd/"), Some("/"));
        assert_eq!((token.admitted(None, "/abce/state"), token.admitted(None, "/abcd")), (None, None));
    }

    #[test]
    fn an_address_is_bound_or_refused_with_the_reason() {
        let (listener, access, page) = bind("127.0.0.1:0").unwrap();
        assert!(access == Access::Loopback && page.starts_with("http://127.0.0.1:"), "{page}");
        let taken = listener.local_addr().unwrap().to_string();
        assert!(bind(&taken).unwrap_err().contains("in use"));
        assert!(bind("7070").unwrap_err().contains("127.0.0.1:7070"));
        assert!(bind("203.0.113.1:0").unwrap_err().contains("does not have"));
        let (_, access, page) = bind("localhost:0").unwrap();
        assert!(access == Access::Loopback && page.starts_with("http://127.0.0.1:"), "{page}");
        assert!(bind("db1:0").unwrap_err().contains("use an IP address and a port"));
        let (_, access, page) = bind("0.0.0.0:0").unwrap();
        assert!(matches!(&access, Access::Token(token) if token.len() == 32 && page.contains(token)), "{page}");
    }
}
